# SPDX-License-Identifier: Apache-2.0
"""What records say of their TCP connections is what a task finds of the same flows, in one window of all the time; of
built-in traffic, and of captures where there are some.

usage: test_tcp_columns.py PARSHALL [unittest arguments]
"""

import collections
import csv
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None
MARKS = (
    "retransmissions",
    "fast_retransmissions",
    "spurious_retransmissions",
    "out_of_order",
    "lost_segments",
    "duplicate_acks",
    "zero_windows",
)
TRACES = pathlib.Path(os.environ.get("PARSHALL_TRACES", pathlib.Path(__file__).resolve().parents[3] / "shared/traces"))
MOST_BYTES = 1 << 20
FLAGS = ("fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr")


def capture_with_flags(path, flows=50, packets=4000):
    """Writes packets of TCP with flags at random, and of UDP; returns {source port: {flag: packets}}."""
    draw = random.Random(1)
    truth = {}
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number in range(packets):
            port, flags = 1000 + draw.randrange(flows), draw.randrange(512)
            is_tcp = port % 5 != 0
            if is_tcp:
                layer4 = struct.pack(">HHIIHHHH", port, 80, number, 0, 5 << 12 | flags, 1000, 0, 0)
            else:
                layer4 = struct.pack(">HHHH", port, 80, 20, 0) + b"\xff" * 12
            counts = truth.setdefault(str(port), dict.fromkeys(FLAGS, 0))
            for bit, flag in enumerate(FLAGS):
                counts[flag] += is_tcp and flags >> bit & 1
            ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40, 0, 0, 64, 6 if is_tcp else 17, 0, 0x0A000001, 0x0A000002)
            frame = bytes(12) + b"\x08\x00" + ip + layer4
            file.write(struct.pack("<IIII", number // 1000, number % 1000 * 1000, len(frame), len(frame)) + frame)
    return truth


class TcpColumns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def watch(self, *traffic, status=(0,)):
        columns = ",".join(["rtt_mean", "rtt_min", *(f"tcp_{mark}" for mark in MARKS)])
        condition = " + ".join(f"tcp_{mark}" for mark in MARKS) + " >= 0"
        done = subprocess.run(
            [
                PROGRAM,
                "watch",
                "-q",
                *traffic,
                "--columns",
                "+" + columns,
                "--export",
                f"csv:{self.folder / 'flows.csv'}",
                "-o",
                os.devnull,
                "--task",
                f"tcp:window=10000h,most=1000000:{condition}",
                "--task",
                "rtt:window=10000h,most=1000000:rtt_mean_ms >= 0",
                "--export",
                f"events:{self.folder / 'events'}",
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertIn(done.returncode, status, done.stderr)
        with open(self.folder / "flows.csv", newline="") as file:
            rows = {
                tuple(row[name] for name in ("src_ip", "src_port", "dst_ip", "dst_port", "protocol")): row
                for row in csv.DictReader(file)
            }
        found = {"tcp": {}, "rtt": {}}
        for line in (self.folder / "events").read_text().splitlines():
            event = json.loads(line)
            if event["type"] == "finding":
                found[event["task"]][
                    tuple(str(event["key"][name]) for name in ("src_ip", "src_port", "dst_ip", "dst_port", "protocol"))
                ] = event["values"]
        return rows, found

    def compare(self, rows, found):
        """How many of each mark there were, and of round-trip times."""
        seen = dict.fromkeys((*MARKS, "rtt"), 0)
        for key, row in rows.items():
            values = found["tcp"].get(key)
            for mark in MARKS:
                if row[f"tcp_{mark}"] == "":
                    self.assertTrue(values is None or values[f"tcp_{mark}"] == 0, (key, mark))
                    continue
                self.assertEqual(int(row[f"tcp_{mark}"]), values[f"tcp_{mark}"], (key, mark))
                seen[mark] += int(row[f"tcp_{mark}"])
            trips = found["rtt"].get(key)
            self.assertEqual(row["rtt_mean_ns"] == "", trips is None, key)
            if trips:
                seen["rtt"] += 1
                self.assertAlmostEqual(
                    float(row["rtt_mean_ns"]), trips["rtt_mean_ms"] * 1e6, delta=1 + 1e-6 * float(row["rtt_mean_ns"])
                )
                self.assertLessEqual(float(row["rtt_min_ns"]), float(row["rtt_mean_ns"]) + 1)
        return seen

    def test_of_packets_with_each_flag(self):
        truth = capture_with_flags(self.folder / "flags.pcap")
        self.assertTrue(any(all(counts.values()) for counts in truth.values()))
        for flags, more in (
            (FLAGS, ()),
            (FLAGS, ("--workers", "2")),
            (FLAGS, ("--active", "1s")),
            (("cwr", "fin"), ()),
        ):
            with self.subTest(flags=flags, more=more):
                columns = "flag_counts" if flags is FLAGS else ",".join(f"tcp_flags_{flag}" for flag in flags)
                subprocess.run(
                    [PROGRAM, "watch", "-q", "-r", self.folder / "flags.pcap", "--columns", "+" + columns, *more]
                    + ["--format", "csv", "-o", self.folder / "flags.csv"],
                    timeout=60,
                    check=True,
                )
                counts = collections.defaultdict(collections.Counter)
                with open(self.folder / "flags.csv", newline="") as file:
                    for row in csv.DictReader(file):
                        counts[row["src_port"]].update({flag: int(row[f"tcp_flags_{flag}"]) for flag in flags})
                self.assertEqual(counts, {port: {flag: of[flag] for flag in flags} for port, of in truth.items()})

    def test_of_built_in_traffic(self):
        for more in ((), ("--threads", "pipeline"), ("--workers", "2")):
            rows, found = self.watch(
                "-g", "flows=200,packets=60000,protocol=connections,resend=0.1,ipv6=0.3", "--count", "60k", *more
            )
            seen = self.compare(rows, found)
            self.assertGreater(seen["retransmissions"], 1000, more)
            self.assertGreater(seen["rtt"], 100, more)

    def test_of_captures(self):
        captures = sorted(path for path in (TRACES / "pcap").glob("*tcp*") if path.stat().st_size < MOST_BYTES)[:60]
        if not captures:
            print("SKIPPED there are no captures")
            return
        all_seen = dict.fromkeys((*MARKS, "rtt"), 0)
        for path in captures:
            with self.subTest(path=path.name):
                for name, count in self.compare(*self.watch("-r", path, status=(0, 3))).items():
                    all_seen[name] += count
        for name in ("retransmissions", "out_of_order", "duplicate_acks", "rtt"):
            self.assertGreater(all_seen[name], 0, all_seen)

    def test_what_cannot_follow_connections_is_refused(self):
        for words, said in ((("--key", "src-dst"), "are of five-tuples"), (("--packets-only",), "leave out rtt_")):
            done = subprocess.run(
                [PROGRAM, "watch", "-q", "-g", "flows=10", "--columns", "+tcp", *words],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
