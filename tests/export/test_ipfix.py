# SPDX-License-Identifier: Apache-2.0
"""Records as IPFIX, read by what RFC 7011 says: the same as in CSV, by file, UDP and TCP; and what becomes of them
where nobody takes them.

usage: test_ipfix.py PARSHALL [unittest arguments]
"""

import csv
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

from ipfix import Reader

PROGRAM = None
TRAFFIC = ["-g", "flows=20000,packets=1000000,ipv6=0.3", "--count", "50k", "--idle", "1ms"]
RECEIVE_BYTES = 8 << 20
KEY = (
    "ip_version",
    "protocol",
    "src_ip",
    "src_port",
    "dst_ip",
    "dst_port",
    "packets",
    "ip_bytes",
    "wire_bytes",
    "first_seen_ns",
    "last_seen_ns",
    "flow_id",
    "record",
)
OTHER_NAMES = {"iat_mean_ns": "float_10", "size_mean_bytes": "float_14", "ttl_min": "ttl_min", "ttl_max": "ttl_max"}


class Collector(threading.Thread):
    """Reads what comes to a UDP port until it is told to stop, or so many connections of a TCP one."""

    def __init__(self, kind=socket.SOCK_DGRAM, family=socket.AF_INET):
        super().__init__()
        self.socket = socket.socket(family, kind)
        self.socket.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        self.port, self.kind, self.stopping, self.sessions, self.wrong = (
            self.socket.getsockname()[1],
            kind,
            False,
            [],
            None,
        )
        if kind == socket.SOCK_STREAM:
            self.socket.listen()
        else:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        self.socket.settimeout(0.1)
        self.start()

    def run(self):
        try:
            self.datagrams() if self.kind == socket.SOCK_DGRAM else self.connections()
        except Exception as error:  # of what came, for stop() to raise
            self.wrong = error

    def datagrams(self):
        messages = self.messages = []  # read once all are there: that takes longer than they take to come
        while True:
            try:
                messages.append(self.socket.recv(65536))
            except TimeoutError:
                if self.stopping:
                    break
        self.sessions.append(Reader())
        for message in messages:
            self.sessions[0].read(message)

    def connections(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except TimeoutError:
                if self.stopping:
                    return
                continue
            self.sessions.append(Reader())
            with connection:
                connection.settimeout(None)
                data = bytearray()  # read once all of it is there, so that the sender need not wait
                while more := connection.recv(1 << 20):
                    data += more
            begin = 0
            while len(data) >= begin + 4 and len(data) >= begin + (
                length := int.from_bytes(data[begin + 2 : begin + 4], "big")
            ):
                self.sessions[-1].read(bytes(data[begin : begin + length]))
                begin += length

    def stop(self):
        self.stopping = True
        self.join()
        self.socket.close()
        if self.wrong:
            raise self.wrong
        return self.sessions


class IpfixTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def watch(self, *arguments, traffic=tuple(TRAFFIC)):
        done = subprocess.run(
            [
                PROGRAM,
                "watch",
                "-q",
                *traffic,
                "--format",
                "json",
                "--top",
                "1",
                "--export",
                f"csv:{self.folder / 'flows.csv'}",
                *arguments,
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        summary = json.loads(done.stdout)["summary"]
        self.assertTrue(summary["accounting"]["balanced"])
        output = next(output for output in summary["outputs"] if output["name"].startswith("ipfix:"))
        for unit in ("records", "packets"):
            self.assertEqual(
                output["offered"][unit],
                output["written"][unit]
                + output["unconfirmed"][unit]
                + output["waiting"][unit]
                + output["dropped"][unit],
            )
        self.assertEqual(output["offered"]["packets"], summary["accounting"]["counted"])
        return summary, output

    def rows(self):
        with open(self.folder / "flows.csv", newline="") as file:
            return list(csv.DictReader(file))

    @staticmethod
    def of_row(row):
        return (
            row["src_ip"],
            row["dst_ip"],
            int(row["src_port"]),
            int(row["dst_port"]),
            int(row["protocol"]),
            int(row["packets"]),
            int(row["ip_bytes"]),
            int(row["wire_bytes"]),
            int(row["first_seen_ns"]) // 10**6,
            int(row["last_seen_ns"]) // 10**6,
        )

    @staticmethod
    def of_flow(flow):
        return (
            flow["src"],
            flow["dst"],
            flow["src_port"],
            flow["dst_port"],
            flow["protocol"],
            flow["packets"],
            flow["octets"],
            flow["wire_bytes"],
            flow["first_ms"],
            flow["last_ms"],
        )

    def assert_same(self, reader):
        self.assertEqual(reader.gaps, 0)
        seen, wanted = sorted(map(self.of_flow, reader.flows)), sorted(map(self.of_row, self.rows()))
        self.assertEqual(len(seen), len(wanted))
        self.assertIsNone(next((pair for pair in zip(seen, wanted) if pair[0] != pair[1]), None))
        self.assertEqual({flow["sampling"] for flow in reader.flows}, {1})
        self.assertTrue({flow["end_reason"] for flow in reader.flows} <= {1, 4})

    def assert_accounted(self, reader, summary):
        told = reader.accounting()[-1]
        self.assertEqual(told["offered"], summary["accounting"]["offered"])
        self.assertEqual(told["counted"], summary["accounting"]["counted"])
        self.assertEqual(told["offered"], told["counted"] + told["lost"] + told["ignored"])
        self.assertEqual(told["balanced"], 1)
        self.assertEqual(told["records"], len(reader.flows))
        self.assertEqual((told["not_sent"], told["unconfirmed"], told["packets_unconfirmed"]), (0, 0, 0))
        self.assertEqual(sum(flow["packets"] for flow in reader.flows) + told["packets_not_sent"], told["in_flows"])
        self.assertEqual(told["in_flows"], told["counted"])


class Records(IpfixTest):
    def test_a_file_has_what_csv_has(self):
        path = self.folder / "flows.ipfix"
        summary, _ = self.watch("--export", f"ipfix:{path}")
        reader = Reader()
        reader.read(path.read_bytes())
        self.assert_same(reader)
        self.assert_accounted(reader, summary)
        self.assertEqual({flow["ip_version"] for flow in reader.flows}, {4, 6})
        self.assertLessEqual(reader.longest, 16384)

    def test_first_packets_are_lists_and_who_exports_has_a_name(self):
        path = self.folder / "flows.ipfix"
        self.watch(
            "--export",
            f"ipfix:{path},probe=north,domain=7",
            "--columns",
            "+first_sizes,first_times,first_flags",
        )
        reader = Reader()
        reader.read(path.read_bytes())
        rows = sorted(self.rows(), key=self.of_row)
        lengths = set()
        for flow, row in zip(sorted(reader.flows, key=self.of_flow), rows, strict=True):
            for name, columns in (
                ("ip_sizes", [f"ip_size_{n}_bytes" for n in range(1, 5)]),
                ("times_between", [f"iat_{n}_ns" for n in range(1, 4)]),
                ("flags", [f"tcp_flags_{n}" for n in range(1, 5)]),
            ):
                self.assertEqual(flow[name], [int(row[column]) for column in columns if row[column]])
            lengths.add(len(flow["ip_sizes"]))
        self.assertEqual(lengths, {1, 2, 3, 4})
        self.assertIn({"domain": 7, "domain_name": "north"}, reader.options)
        names = {
            (option["pen"], option["element"]): (option["name"], option["type"])
            for option in reader.options
            if "pen" in option
        }
        self.assertEqual(
            (names[32473, 16], names[32473, 17], names[32473, 18]),
            (("ip_size_bytes", 3), ("iat_ns", 4), ("packet_tcp_flags", 2)),
        )

    def test_what_is_absent_has_no_place_and_private_elements_say_what_they_are(self):
        path = self.folder / "flows.ipfix"
        self.watch(
            "--export",
            f"ipfix:{path},times=ns",
            "--columns",
            "+duration,tcp_flags,end_reason,flow_id,record,flow_first_seen,exact,missed_packets_at_most,iat_p99,iat_mean,rate",
        )
        reader = Reader()
        reader.read(path.read_bytes())
        rows = {(row["flow_id"], row["record"]): row for row in self.rows()}
        self.assertEqual(len(rows), len(reader.flows))
        absent = 0
        for flow in reader.flows:
            row = rows[str(flow["flow_id"]), str(flow["record"])]
            self.assertEqual((flow["first_ns"], flow["last_ns"]), (int(row["first_seen_ns"]), int(row["last_seen_ns"])))
            self.assertEqual(flow["flow_first_ns"], int(row["flow_first_seen_ns"]))
            self.assertEqual(flow["duration_ms"], int(row["duration_ns"]) // 10**6)
            self.assertEqual(flow["exact"], 1 if row["exact"] == "true" else 2)
            self.assertEqual("float_12" in flow, row["iat_p99_ns"] != "")
            if "float_12" in flow:
                self.assertAlmostEqual(
                    flow["float_12"], float(row["iat_p99_ns"]), delta=1e-5 * float(row["iat_p99_ns"])
                )
            absent += "float_12" not in flow
        self.assertGreater(absent, 0)
        self.assertLess(absent, len(reader.flows))
        names = {(option["pen"], option["element"]): option["name"] for option in reader.options if "pen" in option}
        self.assertEqual(names[32473, 12], "iat_p99_ns")
        self.assertEqual(names[32473, 41], "missed_packets_at_most")

    def test_every_column_has_an_element_that_says_what_it_is(self):
        path = self.folder / "flows.ipfix"
        columns = [
            f"{variable}_{what}"
            for variable in ("gap", "iat", "size", "ip_size", "ttl")
            for what in ("last", "min", "max", "mean", "sd", "skewness", "kurtosis", "p5", "p99.99")
        ]
        columns += [
            "rate",
            "interval_rate",
            "ttl_2",
            "dscp_1",
            "dscp_3",
            "vlan_1",
            "gap_16",
            "iat_3",
            "tcp_flags_2",
            "icmp_type_code",
        ]
        most = [
            *columns[:45],
            *(f"iat_p{number}" for number in range(11, 30)),
        ]  # more than 64 may be absent, with the others
        for names in (columns[:36], columns[36:], ["rate", "interval_rate", *most]):
            with self.subTest(first=names[0]):
                _, output = self.watch(
                    "--export",
                    f"ipfix:{path}",
                    "--columns",
                    "+" + ",".join(["flow_id", "record", *names]),
                    traffic=("-g", "flows=5000,packets=100000,ipv6=0.3", "--count", "20k", "--idle", "1ms"),
                )
                self.assertEqual(output["left_out"], [])
                reader = Reader()
                reader.read(path.read_bytes())
                rows = {(row["flow_id"], row["record"]): row for row in self.rows()}
                self.assertEqual(len(rows), len(reader.flows))
                asked = [name for name in next(iter(rows.values())) if name not in KEY]
                self.assertGreater(len(asked), 10)
                for flow in reader.flows:
                    row = rows[str(flow["flow_id"]), str(flow["record"])]
                    told = {name: flow.get(OTHER_NAMES.get(name, name)) for name in asked}
                    for name, value in told.items():
                        if row[name] == "" or value is None:
                            self.assertEqual((row[name], value), ("", None), name)
                        else:
                            self.assertAlmostEqual(float(row[name]), value, delta=1e-5 * abs(value), msg=name)

    def test_a_column_without_an_element_is_named(self):
        _, output = self.watch(
            "--export", f"ipfix:{self.folder / 'flows.ipfix'}", "--columns", "+iat_p99.999,size_p12.34,iat_p99"
        )
        self.assertEqual(output["left_out"], ["iat_p99.999_ns", "size_p12.34_bytes"])
        self.assertEqual(self.said.count("lacks iat_p99.999_ns, size_p12.34_bytes\n"), 1, self.said)

    def test_udp_keeps_to_the_mtu_and_sends_templates_again(self):
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "[::1]")):
            with self.subTest(host=host):
                collector = Collector(family=family)
                summary, _ = self.watch(
                    "--export", f"ipfix:udp://{host}:{collector.port},mtu=800,templates=100ms,domain=7,rate=5M"
                )
                (reader,) = collector.stop()
                self.assert_same(reader)
                self.assert_accounted(reader, summary)
                self.assertLessEqual(reader.longest, 800)
                self.assertEqual(reader.domain, 7)
                self.assertGreater(reader.template_messages, 3, "some seconds of 100 ms")

    def test_templates_that_come_with_a_message_leave_no_record_beyond_the_mtu(self):
        """They are due many times here, and fill most of a message: what comes next does not always fit behind them."""
        collector = Collector()
        self.watch(
            "--export",
            f"ipfix:udp://127.0.0.1:{collector.port},mtu=512,templates=100ms,rate=2M",
            "--columns",
            "+identity,totals,shape",
            traffic=["-g", "flows=5000", "--count", "10000"],
        )
        with self.assertRaises(KeyError):  # of elements that this reader does not know
            collector.stop()
        messages = collector.messages
        self.assertGreater(len(messages), 1000)
        self.assertLessEqual(max(len(message) for message in messages), 512)

    def test_who_reads_several_messages_at_a_time_has_their_templates(self):
        """As a collector with two workers does: each message is read before the one that came before it."""
        collector = Collector()
        self.watch(
            "--export",
            f"ipfix:udp://127.0.0.1:{collector.port}",
            "--columns",
            "+identity,iat_p99,iat_mean,size_mean",
            traffic=["-g", "flows=5000,packets=100000,ipv6=0.3", "--count", "50k", "--idle", "1ms"],
        )
        (reader,) = collector.stop()
        messages = collector.messages
        swapped = Reader()
        for earlier, later in zip(messages[::2], messages[1::2]):
            swapped.read(later)
            swapped.read(earlier)
        self.assertEqual(reader.gaps, 0)
        self.assertGreaterEqual(len(reader.flows) + 20, len(swapped.flows))
        self.assertGreaterEqual(len(swapped.flows) + 20, len(reader.flows))
        self.assertLessEqual(reader.longest, 1400)

    def test_tcp(self):
        collector = Collector(socket.SOCK_STREAM)
        summary, _ = self.watch("--export", f"ipfix:tcp://127.0.0.1:{collector.port}")
        (reader,) = collector.stop()
        self.assert_same(reader)
        self.assert_accounted(reader, summary)


class Faults(IpfixTest):
    def test_without_a_collector_all_is_dropped_and_counted(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        _, output = self.watch("--export", f"ipfix:udp://127.0.0.1:{port}")
        self.assertGreater(output["dropped"]["records"], 0.9 * output["offered"]["records"])

    def test_a_tcp_collector_that_goes_and_comes_back(self):
        """Its first connection ends after some bytes; the next one gets templates, and what comes then."""
        server = socket.socket()
        self.addCleanup(server.close)
        server.bind(("127.0.0.1", 0))
        server.listen()
        sessions = []

        def read(data):
            reader, whole = Reader(), 0
            while len(data) >= whole + 4 and len(data) >= whole + (
                length := int.from_bytes(data[whole + 2 : whole + 4], "big")
            ):
                self.assertGreaterEqual(length, 16)
                whole += length
            reader.read(bytes(data[:whole]))
            sessions.append(reader)

        def serve():
            first, _ = server.accept()
            with first:
                data = first.recv(4096)
            read(data)
            second, _ = server.accept()
            with second:
                data = bytearray()
                while more := second.recv(1 << 20):
                    data += more
            read(data)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        _, output = self.watch(
            "--export",
            f"ipfix:tcp://127.0.0.1:{server.getsockname()[1]}",
            traffic=(
                "-g",
                "flows=20000,packets=1000000,pace=50000",
                "--duration",
                "5s",
                "--idle",
                "10ms",
                "--flows",
                "8Ki",
            ),
        )
        thread.join(30)
        self.assertEqual(len(sessions), 2)
        self.assertGreater(len(sessions[1].flows), 0)
        self.assertEqual([session.gaps for session in sessions], [0, 0])
        self.assertGreater(output["dropped"]["records"], 0)
        arrived = sum(len(session.flows) for session in sessions)
        self.assertLessEqual(output["written"]["records"], arrived)
        self.assertLessEqual(arrived, output["written"]["records"] + output["unconfirmed"]["records"])
        self.assertEqual(self.said.count("the connection broke: "), 1, self.said)
        self.assertEqual(self.said.count("it works again; "), 1, self.said)

    def test_a_full_disk(self):
        done = subprocess.run(
            [PROGRAM, "watch", "-q", *TRAFFIC, "-o", "/dev/null", "--export", "ipfix:/dev/full"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/dev/full", done.stderr)

    def test_what_is_refused_at_once(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        for target, words in (
            (f"tcp://127.0.0.1:{port}", ["refused"]),
            ("udp://no.such.host.invalid", ["no.such.host.invalid"]),
            ("sctp://localhost", ["sctp", "udp://"]),
            ("udp://localhost,rat=3", ['"rat"', "rate"]),
            ("udp://localhost,mtu=100", ["512"]),
            ("udp://localhost,mtu=65508", ["65507"]),
            ("udp://::1:4739", ["[]"]),
            ("udp://:4739", ["HOST"]),
            ("udp://localhost,times=us", ["ms or ns"]),
            ("/no/such/folder/flows.ipfix", ["/no/such/folder"]),
        ):
            done = subprocess.run(
                [PROGRAM, "watch", "-q", *TRAFFIC, "-o", "/dev/null", "--export", f"ipfix:{target}"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            with self.subTest(target=target):
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    os.environ.pop("PARSHALL_CONFIG", None)
    unittest.main()
