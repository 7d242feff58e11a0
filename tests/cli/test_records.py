# SPDX-License-Identifier: Apache-2.0
"""Records of flows that timeouts part, against an oracle that goes through the packets one by one: of made captures,
and of those of the trace set (PARSHALL_TRACES).

usage: test_records.py PARSHALL [unittest arguments]
"""

import collections
import csv
import io
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None
FIN, SYN, RST, ACK = 1, 2, 4, 16
MS, S = 10**6, 10**9
FILTER = "ip and (tcp or udp) and ip[6:2] & 0x3fff = 0"
Packet = collections.namedtuple("Packet", "key time_ns flags")
Record = collections.namedtuple("Record", "packets first last flow_first number flags")


class Unusable(Exception):
    """The oracle is for plain captures in order of time."""


def frame(key, flags):
    source, destination, source_port, destination_port, protocol = key
    payload = (
        struct.pack(">HHIIBBHHH", source_port, destination_port, 0, 0, 0x50, flags, 0, 0, 0)
        if protocol == 6
        else struct.pack(">HHHH", source_port, destination_port, 20, 0) + bytes(12)
    )
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0, source, destination)
    return b"\x02" * 12 + b"\x08\x00" + ip + payload


def capture(packets):
    """With times in nanoseconds."""
    data = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)]
    for key, time_ns, flags in packets:
        bytes_ = frame(key, flags)
        data.append(struct.pack("<IIII", time_ns // S, time_ns % S, len(bytes_), len(bytes_)) + bytes_)
    return b"".join(data)


def read_packets(data):
    """Those that FILTER leaves."""
    magics = {
        b"\xd4\xc3\xb2\xa1": ("<", 1000),
        b"\xa1\xb2\xc3\xd4": (">", 1000),
        b"\x4d\x3c\xb2\xa1": ("<", 1),
        b"\xa1\xb2\x3c\x4d": (">", 1),
    }
    if data[:4] not in magics:
        raise Unusable
    order, tick_ns = magics[data[:4]]
    if struct.unpack(order + "I", data[20:24])[0] != 1:  # Ethernet
        raise Unusable
    packets, at, latest_ns = [], 24, 0
    while at < len(data):
        if at + 16 > len(data):
            raise Unusable
        seconds, fraction, captured, _ = struct.unpack(order + "IIII", data[at : at + 16])
        bytes_ = data[at + 16 : at + 16 + captured]
        at += 16 + captured
        if len(bytes_) != captured:
            raise Unusable
        if bytes_[12:14] != b"\x08\x00" or len(bytes_) < 34:
            continue
        ip = bytes_[14:]
        length, fragment = struct.unpack(">H", ip[2:4])[0], struct.unpack(">H", ip[6:8])[0] & 0x3FFF
        header = 4 * (ip[0] & 15)
        if ip[9] not in (6, 17) or fragment != 0:
            continue
        time_ns = seconds * S + fraction * tick_ns
        if ip[0] >> 4 != 4 or header < 20 or length < header + 8 or len(ip) < header + 14 or time_ns < latest_ns:
            raise Unusable
        latest_ns = time_ns
        ports = struct.unpack(">HH", ip[header : header + 4])
        packets.append(
            Packet((*struct.unpack(">II", ip[12:20]), *ports, ip[9]), time_ns, ip[header + 13] if ip[9] == 6 else 0)
        )
    return packets


class Oracle:
    """Records by flow: lists of (Record, reason); a live flow's reason is those that it may have in the end."""

    def __init__(self, packets, idle=0, active=0, linger=0):
        self.idle, self.active, self.linger = idle, active, linger
        self.flows, open_ = [], {}
        for key, time_ns, flags in packets:
            flow = open_.get(key)
            reason = self.end_reason(flow, time_ns) if flow else None
            if flow and reason:
                flow["done"].append((self.record(flow), {reason}))
            if not flow or (reason and reason != "active"):
                flow = open_[key] = {"key": key, "done": [], "began": time_ns}
                self.flows.append(flow)
                reason = "new"
            if reason:
                flow.update(packets=0, first=time_ns, flags=0)
            flow.update(packets=flow["packets"] + 1, last=time_ns, flags=flow["flags"] | flags)
        for flow in open_.values():
            quiet = self.quiet_reason(flow, packets[-1].time_ns)  # whoever looked for such flows may have been there
            flow["done"].append((self.record(flow), {"forced", quiet} if quiet else {"forced"}))

    @staticmethod
    def record(flow):
        return Record(flow["packets"], flow["first"], flow["last"], flow["began"], len(flow["done"]), flow["flags"])

    def quiet_reason(self, flow, time_ns):
        quiet_ns = time_ns - flow["last"]
        if self.linger and quiet_ns > self.linger and flow["flags"] & (FIN | RST):
            return "end_of_flow"
        return "idle" if self.idle and quiet_ns > self.idle else None

    def end_reason(self, flow, time_ns):
        return self.quiet_reason(flow, time_ns) or (
            "active" if self.active and time_ns - flow["first"] > self.active else None
        )


def address(text):
    return struct.unpack(">I", bytes(int(part) for part in text.split(".")))[0]


def measure(path, *arguments):
    """Flows by their name: the key, and records in their order."""
    run = subprocess.run(
        [
            PROGRAM,
            "watch",
            "-q",
            "-r",
            path,
            "--format",
            "csv",
            "--columns",
            "+flow_id,record,flow_first_seen,tcp_flags,end_reason,exact,missed_packets_at_most",
            *arguments,
            FILTER,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    flows = collections.defaultdict(list)
    for row in csv.DictReader(io.StringIO(run.stdout)):
        assert row["exact"] == "true" and row["missed_packets_at_most"] == "0", row
        key = (
            address(row["src_ip"]),
            address(row["dst_ip"]),
            int(row["src_port"]),
            int(row["dst_port"]),
            int(row["protocol"]),
        )
        record = Record(
            int(row["packets"]),
            int(row["first_seen_ns"]),
            int(row["last_seen_ns"]),
            int(row["flow_first_seen_ns"]),
            int(row["record"]),
            int(row["tcp_flags"]) & 255,
        )
        flows[row["flow_id"]].append((key, record, row["end_reason"]))
    for records in flows.values():
        records.sort(key=lambda one: one[1].number)
    return flows


def text_ns(ns):
    return f"{ns // MS}ms"


class Case(unittest.TestCase):
    def compare(self, path, packets, arguments=(), **timeouts):
        """The reasons that there were."""
        flows = measure(
            path, *arguments, *(word for name, ns in timeouts.items() if ns for word in (f"--{name}", text_ns(ns)))
        )
        expected = {(flow["key"], flow["began"]): flow["done"] for flow in Oracle(packets, **timeouts).flows}
        self.assertEqual(sum(record.packets for records in flows.values() for _, record, _ in records), len(packets))
        self.assertEqual(len(flows), len(expected), "as many names as flows")
        reasons = collections.Counter()
        for records in flows.values():
            self.assertEqual(len({key for key, _, _ in records}), 1)
            truth = expected.pop((records[0][0], records[0][1].flow_first))
            self.assertEqual([record for _, record, _ in records], [record for record, _ in truth])
            for (_, _, reason), (_, possible) in zip(records, truth):
                self.assertIn(reason, possible)
                reasons[reason] += 1
            self.assertEqual({reason for _, _, reason in records[:-1]} - {"active"}, set())
            self.assertNotEqual(records[-1][2], "active")
        self.assertEqual(expected, {})
        return reasons


class Made(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="parshall-records-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "made.pcap")

    def write(self, packets):
        with open(self.path, "wb") as file:
            file.write(capture(packets))
        self.assertEqual(read_packets(capture(packets)), packets)
        return packets

    def test_a_closed_flow_ends_after_its_linger_time_and_another_of_its_key_is_another_flow(self):
        key, start = (0x0A000001, 0x0A000002, 1000, 80, 6), 1600000000 * S
        times = [(0, SYN), (10, ACK), (20, FIN | ACK), (70, ACK), (171, SYN), (5000, RST), (5100, ACK), (5201, ACK)]
        self.write([Packet(key, start + ms * MS, flags) for ms, flags in times])
        flows = measure(self.path, "--linger", "100ms")
        records = sorted((record.packets, reason) for of in flows.values() for _, record, reason in of)
        self.assertEqual(len(flows), 3)
        self.assertEqual(records, [(1, "forced"), (3, "end_of_flow"), (4, "end_of_flow")])

    def test_random_packets_are_parted_as_an_oracle_parts_them(self):
        chance, now, packets = random.Random(5), 1600000000 * S, []
        for _ in range(20000):
            now += chance.choice([0, 1000, 100000, chance.randrange(3 * MS)])
            number = min(chance.randrange(300), chance.randrange(300))
            protocol = 17 if number % 5 == 0 else 6
            flags = 0 if protocol == 17 else chance.choice([ACK] * 30 + [SYN, FIN | ACK, RST])
            packets.append(Packet((0x0A000000 + number, 0xC0000201, 1000 + number, 53, protocol), now, flags))
        self.write(packets)
        reasons = collections.Counter()
        for timeouts in (
            {"active": 300 * MS},
            {"linger": 50 * MS},
            {"idle": 400 * MS, "linger": 100 * MS},
            {"idle": 300 * MS, "active": 500 * MS, "linger": 20 * MS},
        ):
            for arguments in ((), ("--workers", "2"), ("--threads", "pipeline"), ("--flows", "4096")):
                with self.subTest(timeouts=timeouts, arguments=arguments):
                    reasons += self.compare(self.path, packets, arguments, **timeouts)
        for reason in ("active", "idle", "end_of_flow", "forced"):
            self.assertGreater(reasons[reason], 100, reason)

    def test_packets_that_go_back_by_less_than_a_second_are_in_the_same_records_for_every_seed(self):
        chance, now, packets = random.Random(6), 1600000000 * S, []
        for _ in range(20000):
            now += chance.randrange(4 * MS)
            back = chance.randrange(900 * MS) if chance.random() < 0.1 else 0
            key = (0x0A000000 + min(chance.randrange(300), chance.randrange(300)), 0xC0000201, 1000, 53, 17)
            packets.append(Packet(key, now - back, 0))
        with open(self.path, "wb") as file:
            file.write(capture(packets))
        said = set()
        for seed, workers in ((1, 1), (2, 1), (3, 3)):
            flows = measure(self.path, "--idle", "500ms", "--seed", str(seed), "--workers", str(workers))
            said.add(str(sorted((record, reason) for of in flows.values() for _, record, reason in of)))
        self.assertEqual(len(said), 1)

    def test_statistics_go_along_while_a_table_grows(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/flows.pcap"
            subprocess.run(
                [
                    PROGRAM,
                    "send",
                    "-q",
                    "-g",
                    "flows=150000,dist=zipf:0.8,size=imix,ipv6=0.3",
                    "--count",
                    "600000",
                    "-w",
                    path,
                ],
                check=True,
                capture_output=True,
            )

            def rows(*options):
                done = subprocess.run(
                    [
                        PROGRAM,
                        "watch",
                        "-q",
                        "-r",
                        path,
                        "--seed",
                        "1",
                        "--columns",
                        "+size_mean,gap_mean,iat_p99,first_sizes",
                        "--format",
                        "csv",
                        *options,
                    ],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                return sorted(done.stdout.splitlines())

            grown = rows()
            whole = rows("--every", "1h")  # reports meanwhile: at full size from the start
        self.assertGreater(len(grown), 100_000)
        self.assertEqual(len(grown), len(whole))
        self.assertEqual([pair for pair in zip(grown, whole) if pair[0] != pair[1]][:3], [])

    def test_names_are_the_same_with_the_same_seed_only(self):
        self.write([Packet((1, 2, 3, 4, 17), 1600000000 * S, 0)])
        names = [set(measure(self.path, "--seed", seed)) for seed in ("1", "1", "2")]
        self.assertEqual(names[0], names[1])
        self.assertNotEqual(names[0], names[2])

    def test_what_is_open_at_the_end_of_a_cut_capture_is_not_exact(self):
        key, start = (1, 2, 3, 4, 17), 1600000000 * S
        data = capture([Packet(key, start, 0), Packet(key, start + 10 * S, 0), Packet(key, start + 11 * S, 0)])
        with open(self.path, "wb") as file:
            file.write(data[:-5])
        run = subprocess.run(
            [
                PROGRAM,
                "watch",
                "-q",
                "-r",
                self.path,
                "--idle",
                "1s",
                "--format",
                "csv",
                "--columns",
                "+exact,missed_packets_at_most",
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(run.returncode, 3)
        rows = [
            (row["packets"], row["exact"], row["missed_packets_at_most"])
            for row in csv.DictReader(io.StringIO(run.stdout))
        ]
        self.assertEqual(rows, [("1", "true", "0"), ("1", "false", "")])


class Traces(Case):
    def test_real_captures_are_parted_as_an_oracle_parts_them(self):
        traces = pathlib.Path(
            os.environ.get("PARSHALL_TRACES", pathlib.Path(__file__).resolve().parents[2] / "../shared/traces")
        )
        if not (traces / "MANIFEST.tsv").exists():
            self.skipTest(f"SKIPPED: no traces at {traces} (set PARSHALL_TRACES)")
        reasons, captures = collections.Counter(), 0
        for path in sorted((traces / "pcap").glob("*.pcap")):
            try:
                packets = read_packets(path.read_bytes())
            except Unusable:
                continue
            if len(packets) < 100 or packets[-1].time_ns - packets[0].time_ns < 3 * S:
                continue
            captures += 1
            for timeouts in ({"active": S}, {"idle": 2 * S, "active": S, "linger": 200 * MS}):
                with self.subTest(path=path.name, timeouts=timeouts):
                    reasons += self.compare(str(path), packets, **timeouts)
        print(f"{captures} captures: {dict(reasons)}", file=sys.stderr)
        self.assertGreater(captures, 50)
        for reason in ("active", "idle", "end_of_flow", "forced"):
            self.assertGreater(reasons[reason], 50, reason)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
