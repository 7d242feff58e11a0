# SPDX-License-Identifier: Apache-2.0
"""Records as NetFlow version 9, read by what RFC 3954 says: the same as in CSV, with an account of what IANA has
elements for.

usage: test_netflow9.py PARSHALL [unittest arguments]
"""

import csv
import ipaddress
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = None
CASES = pathlib.Path(__file__).resolve().parents[1] / "cases"
TRAFFIC = ["-g", "flows=20000,packets=1000000,ipv6=0.3", "--count", "200k", "--idle", "1ms"]


class Wrong(Exception):
    pass


class Reader:
    def __init__(self):
        self.templates, self.flows, self.options, self.sequence, self.lost, self.longest = {}, [], [], None, 0, 0

    def read(self, data):
        version, count, uptime, seconds, sequence, self.source = struct.unpack(">HHIIII", data[:20])
        if version != 9:
            raise Wrong(f"version {version}")
        if self.sequence is not None:
            self.lost += (sequence - self.sequence) % 2**32
        self.sequence, self.longest = (sequence + 1) % 2**32, max(self.longest, len(data))
        self.boot_ms = seconds * 1000 - uptime
        records, at, before = 0, 20, len(self.flows)
        while at < len(data):
            number, length = struct.unpack(">HH", data[at : at + 4])
            if length < 4 or length % 4 or at + length > len(data):
                raise Wrong(f"flow set {number} of {length} bytes")
            body, at = data[at + 4 : at + length], at + length
            if number in (0, 1):
                records += self.template_set(body, number == 1)
            elif number in self.templates:
                records += self.data_set(body, *self.templates[number])
            else:
                raise Wrong(f"flow set {number} without a template")
        if records != count:
            raise Wrong(f"{count} records are said to be there, and {records} are")
        for flow in self.flows[before:]:
            for by_uptime, told in ((22, 152), (21, 153)):
                if self.boot_ms + int.from_bytes(flow[by_uptime], "big") != int.from_bytes(flow[told], "big"):
                    raise Wrong(f"element {by_uptime} is not {told}, by a header of {seconds} s and {uptime} ms")

    def template_set(self, body, of_options):
        count, at = 0, 0
        while len(body) - at >= (6 if of_options else 4):
            if of_options:
                number, scope, options = struct.unpack(">HHH", body[at : at + 6])
                at, fields, scopes = at + 6, (scope + options) // 4, scope // 4
            else:
                number, fields = struct.unpack(">HH", body[at : at + 4])
                at, scopes = at + 4, 0
            pairs = [struct.unpack(">HH", body[at + 4 * i : at + 4 * i + 4]) for i in range(fields)]
            at += 4 * fields
            if number < 256 or not fields:
                raise Wrong(f"template {number}")
            self.templates[number] = (
                [(None if i < scopes else element, length) for i, (element, length) in enumerate(pairs)],
                of_options,
            )
            count += 1
        return count

    def data_set(self, body, fields, of_options):
        length, count = sum(length for _, length in fields), len(body) // sum(length for _, length in fields)
        for number in range(count):
            at, record = number * length, {}
            for element, size in fields:
                record[element], at = body[at : at + size], at + size
            (self.options if of_options else self.flows).append(record)
        if any(body[count * length :]) or len(body) - count * length > 3:
            raise Wrong("no padding")
        return count


class NetFlow9(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.2)
        self.messages, self.stopping = [], False
        self.thread = threading.Thread(target=self.receive)
        self.thread.start()

    def receive(self):
        while True:
            try:
                self.messages.append(self.socket.recv(65536))
            except TimeoutError:
                if self.stopping:
                    return

    def watch(self, *options, stats="tcp_flags,end_reason,iat_p99,duration", traffic=tuple(TRAFFIC)):
        target = ",".join([f"netflow9:udp://127.0.0.1:{self.socket.getsockname()[1]}", *options])
        done = subprocess.run(
            [
                PROGRAM,
                "watch",
                "-q",
                *traffic,
                "--columns",
                f"+{stats}",
                "--format",
                "json",
                "--top",
                "1",
                "--export",
                target,
                "--export",
                f"csv:{self.folder / 'flows.csv'}",
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.stopping = True
        self.thread.join()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        self.reader = Reader()
        for message in self.messages:
            self.reader.read(message)
        with open(self.folder / "flows.csv", newline="") as file:
            return json.loads(done.stdout)["summary"], list(csv.DictReader(file))

    def test_a_biflow_is_two_records(self):
        """One of each direction, and the account has all packets of both."""
        for case, more in (
            ("biflow_synack_first_in_file.pcap", ()),
            ("biflow_active_timeout_udp.pcap", ("--active", "1s")),
        ):
            with self.subTest(case=case):
                self.setUp()
                summary, rows = self.watch(
                    traffic=("-r", CASES / case, "--biflow", *more), stats="tcp_flags,flow_id,packets_total,duration"
                )
                (output,) = [one for one in summary["outputs"] if one["name"].startswith("netflow9:")]
                self.assertEqual(output["left_out"], [])
                self.assertEqual(
                    output["written"],
                    {"records": len(rows), "packets": summary["accounting"]["counted"], "findings": 0},
                )
                seen, wanted = [], []
                for flow in self.reader.flows:
                    of = [int.from_bytes(flow[element], "big") for element in (2, 1, 6, 239)]
                    seen.append(
                        (str(ipaddress.ip_address(flow[8])), str(ipaddress.ip_address(flow[12])), *of, 148 in flow)
                    )
                for row in rows:
                    known = int(row["biflow_direction"])
                    if row["packets"] != "0":
                        wanted.append(
                            (
                                row["src_ip"],
                                row["dst_ip"],
                                int(row["packets"]),
                                int(row["ip_bytes"]),
                                int(row["tcp_flags"]),
                                known,
                                True,
                            )
                        )
                    if row["reverse_packets"]:
                        wanted.append(
                            (
                                row["dst_ip"],
                                row["src_ip"],
                                int(row["reverse_packets"]),
                                int(row["reverse_ip_bytes"]),
                                int(row["reverse_tcp_flags"]),
                                2 * known,
                                False,
                            )
                        )
                self.assertEqual(sorted(seen), sorted(wanted))
                self.assertTrue(any(one[0] != wanted[0][0] for one in wanted))

    def test_the_reverse_record_has_the_reverse_direction_s_statistics(self):
        summary, rows = self.watch(
            traffic=("-r", CASES / "biflow_synack_first_in_file.pcap", "--biflow"),
            stats="tcp_flags,ip_size_max,reverse_ip_size_max,ip_size_min,reverse_ttl_max",
        )
        (output,) = [one for one in summary["outputs"] if one["name"].startswith("netflow9:")]
        self.assertEqual(output["left_out"], ["reverse_ttl_max"], "no column ttl_max")
        (row,) = rows
        seen = {
            int.from_bytes(flow[239], "big"): [int.from_bytes(flow.get(element, b""), "big") for element in (25, 26)]
            for flow in self.reader.flows
        }
        self.assertEqual(
            seen,
            {
                1: [int(row["ip_size_min_bytes"]), int(row["ip_size_max_bytes"])],
                2: [0, int(row["reverse_ip_size_max_bytes"])],
            },
        )

    def test_what_came_is_what_csv_has(self):
        summary, rows = self.watch("mtu=900", "rate=50M", "domain=7")
        reader = self.reader
        self.assertEqual(reader.lost, 0)
        (output,) = [one for one in summary["outputs"] if one["name"].startswith("netflow9:")]
        self.assertEqual(output["left_out"], ["iat_p99_ns"])
        self.assertEqual(self.said.count("lacks iat_p99_ns\n"), 1, self.said)
        self.assertLessEqual(reader.longest, 900)
        self.assertEqual(reader.source, 7)

        def number(flow, element):
            return int.from_bytes(flow[element], "big")

        def of_flow(flow):
            src, dst = (flow[8], flow[12]) if 8 in flow else (flow[27], flow[28])
            return (
                str(ipaddress.ip_address(src)),
                str(ipaddress.ip_address(dst)),
                *(number(flow, element) for element in (7, 11, 4, 2, 1, 6, 152, 153)),
            )

        def of_row(row):
            return (
                row["src_ip"],
                row["dst_ip"],
                *(int(row[name]) for name in ("src_port", "dst_port", "protocol", "packets", "ip_bytes", "tcp_flags")),
                int(row["first_seen_ns"]) // 10**6,
                int(row["last_seen_ns"]) // 10**6,
            )

        self.assertEqual(sorted(map(of_flow, reader.flows)), sorted(map(of_row, rows)))
        for flow in reader.flows[:1000]:
            self.assertEqual(number(flow, 34), 1)
            self.assertGreaterEqual(number(flow, 21), number(flow, 22))
        account = reader.options[-1]
        self.assertEqual(number(account, 86), summary["accounting"]["counted"])
        self.assertEqual(number(account, 42), len(rows))
        self.assertEqual(number(account, 167), 0)

    def test_times_by_the_uptime_are_those_of_the_record_whatever_ends_first(self):
        for seed in range(1, 7):
            with self.subTest(seed=seed):
                begin = len(self.messages)
                target = f"netflow9:udp://127.0.0.1:{self.socket.getsockname()[1]}"
                subprocess.run(
                    [
                        PROGRAM,
                        "watch",
                        "-q",
                        "-r",
                        CASES / "netflow9_six_hours.pcap",
                        "--seed",
                        str(seed),
                        "-o",
                        "/dev/null",
                        "--export",
                        target,
                    ],
                    check=True,
                    timeout=60,
                )
                time.sleep(0.3)
                reader = Reader()
                for message in self.messages[begin:]:
                    reader.read(message)
                self.assertEqual(len(reader.flows), 36)
        self.stopping = True
        self.thread.join()

    @unittest.skipUnless(shutil.which("nfcapd"), "SKIPPED: there is no nfcapd (nfdump)")
    def test_nfcapd_has_the_times_of_the_capture(self):
        self.stopping = True
        self.thread.join()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        with subprocess.Popen(
            ["nfcapd", "-b", "127.0.0.1", "-p", str(port), "-w", self.folder, "-t", "3600"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as collector:
            try:
                until = time.monotonic() + 30
                while f":{port:04X} " not in pathlib.Path("/proc/net/udp").read_text() and time.monotonic() < until:
                    time.sleep(0.05)
                subprocess.run(
                    [
                        PROGRAM,
                        "watch",
                        "-q",
                        "-r",
                        CASES / "netflow9_fraction.pcap",
                        "-o",
                        "/dev/null",
                        "--export",
                        f"netflow9:udp://127.0.0.1:{port}",
                    ],
                    check=True,
                    timeout=60,
                )
                time.sleep(1)
            finally:
                collector.terminate()
        said = subprocess.run(
            ["nfdump", "-q", "-R", self.folder, "-o", "fmt:%ts|%te"],
            env=os.environ | {"TZ": "UTC"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        times = sorted(
            tuple(part.strip().removeprefix("2023-11-14 22:13:") for part in line.split("|"))
            for line in said.splitlines()
        )
        self.assertEqual(times, [("20.000", "20.000"), ("20.100", "20.100"), ("20.200", "20.900")])


class Targets(unittest.TestCase):
    def test_it_goes_by_udp(self):
        for target in ("tcp://127.0.0.1:1", "file"):
            done = subprocess.run(
                [PROGRAM, "watch", "-q", *TRAFFIC, "--export", f"netflow9:{target}"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertEqual(done.returncode, 2)
            self.assertIn("NetFlow goes by udp://HOST:PORT", done.stderr)

    def test_times_are_in_ms(self):
        done = subprocess.run(
            [PROGRAM, "watch", "-q", *TRAFFIC, "--export", "netflow9:udp://127.0.0.1:1,times=ns"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("times=ns: times of NetFlow 9 are in ms", done.stderr)

    def test_without_a_port_it_goes_where_its_collectors_listen(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as collector:
            collector.bind(("127.0.0.3", 2055))
            collector.settimeout(30)
            subprocess.run(
                [PROGRAM, "watch", "-q", *TRAFFIC, "--export", "netflow9:udp://127.0.0.3"],
                capture_output=True,
                timeout=60,
                check=True,
            )
            self.assertEqual(collector.recv(65536)[:2], b"\0\x09")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
