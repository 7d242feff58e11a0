#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py against stand-ins for parshall that are right, or wrong in one way each. Run: python3 test_compare.py"""

import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import make_captures

HERE = Path(__file__).resolve().parent

# Reads a capture by its own code, so that the truth files are held against a second opinion.
STAND_IN = """#!{python}
import collections, socket, struct, sys
arguments = sys.argv[1:]
assert arguments[0] == "watch" and arguments[arguments.index("--format") + 1] == "csv"
data = open(arguments[arguments.index("-r") + 1], "rb").read()
flows, at = collections.OrderedDict(), 24
while at < len(data):
    captured, = struct.unpack_from("<I", data, at + 8)
    ip = data[at + 30:at + 16 + captured]
    key = (ip[9], ip[12:16], ip[16:20], ip[20:24])
    count = flows.setdefault(key, [0, 0])
    count[0] += 1
    count[1] += struct.unpack_from(">H", ip, 2)[0]
    at += 16 + captured
rows = []
for (protocol, src, dst, ports), (packets, ip_bytes) in flows.items():
    src_port, dst_port = struct.unpack(">HH", ports)
    rows.append([4, protocol, socket.inet_ntoa(src), socket.inet_ntoa(dst), src_port, dst_port, packets, ip_bytes, 0])
{damage}
with open(arguments[arguments.index("--output") + 1], "w") as out:
    out.write("ip_version,protocol,src_ip,dst_ip,src_port,dst_port,packets,ip_bytes,wire_bytes\\n")
    out.writelines(",".join(map(str, row)) + "\\n" for row in rows)
"""


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def compare(self, damage="", *arguments):
        stand_in = Path(self.folder.name) / "parshall"
        stand_in.write_text(STAND_IN.format(python=sys.executable, damage=damage))
        stand_in.chmod(0o755)
        return subprocess.run(
            [
                sys.executable,
                HERE / "compare.py",
                "--check",
                "--packets",
                "3000",
                "--tools",
                "parshall",
                "--parshall",
                stand_in,
                "--work-dir",
                self.folder.name,
                *arguments,
            ],
            capture_output=True,
            text=True,
            check=False,
        )

    def assert_wrong(self, damage, sentence):
        done = self.compare(damage)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(sentence, done.stdout)
        self.assertIn("WRONG on: uniform, zipf, short, mix", done.stderr)

    def test_right_answers_on_all_captures_pass(self):
        done = self.compare()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("| exact: flows, packets, ip_bytes, flow_digest |"), 4)

    def test_one_lost_packet_is_wrong(self):
        self.assert_wrong("rows[-1][6] -= 1", "packets ")

    def test_a_flow_split_into_two_rows_is_wrong(self):
        self.assert_wrong("rows.append([*rows[0][:6], 0, 0, 0])", "flows ")

    def test_a_packet_counted_for_another_flow_is_wrong_though_all_sums_hold(self):
        self.assert_wrong("rows[0][6] += 1; rows[1][6] -= 1", "exact: flows, packets, ip_bytes |")

    def test_a_failing_program_is_wrong(self):
        self.assert_wrong("sys.exit('no such file')", "FAILED with status 1: no such file")

    def test_an_answer_without_the_columns_is_wrong(self):
        self.assert_wrong("open(arguments[-1], 'w').close(); sys.exit(0)", "unreadable answer")

    def test_a_missing_parshall_is_wrong_usage(self):
        done = self.compare("", "--parshall", "/nonexistent/parshall")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is not there", done.stderr)

    def test_a_tool_that_is_not_installed_is_named_with_its_package(self):
        done = subprocess.run(
            [
                sys.executable,
                HERE / "compare.py",
                "--check",
                "--tools",
                "argus",
                "--captures",
                "mix",
                "--packets",
                "3000",
                "--work-dir",
                self.folder.name,
            ],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PATH": "/nonexistent"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("SKIPPED: argus is not installed (apt-get install argus-server)", done.stdout)


class Captures(unittest.TestCase):
    def test_the_same_seed_writes_the_same_bytes_and_another_seed_does_not(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            for name in make_captures.MAKERS:
                path, _ = make_captures.ensure_capture(first, name, 500, seed=1)
                again, _ = make_captures.ensure_capture(second, name, 500, seed=1)
                self.assertEqual(Path(path).read_bytes(), Path(again).read_bytes())
                other, _ = make_captures.ensure_capture(second, name, 500, seed=2)
                self.assertNotEqual(Path(path).read_bytes(), Path(other).read_bytes())

    def test_every_ipv4_header_sums_to_ones_and_time_never_goes_back(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in make_captures.MAKERS:
                path, truth = make_captures.ensure_capture(folder, name, 20_000, seed=1)
                data, at, packets, before = Path(path).read_bytes(), 24, 0, (0, 0)
                while at < len(data):
                    seconds, micros, captured, length = struct.unpack_from("<IIII", data, at)
                    self.assertGreaterEqual((seconds, micros), before)
                    self.assertLessEqual(captured, length)
                    total = sum(struct.unpack_from(">10H", data, at + 30))
                    self.assertEqual((total & 0xFFFF) + (total >> 16), 0xFFFF)
                    at, packets, before = at + 16 + captured, packets + 1, (seconds, micros)
                self.assertEqual(packets, truth["packets"])

    def test_a_cut_capture_is_made_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            path, truth = make_captures.ensure_capture(folder, "short", 500, seed=1)
            os.truncate(path, 1_000)
            self.assertEqual(make_captures.ensure_capture(folder, "short", 500, seed=1)[1], truth)
            self.assertEqual(os.path.getsize(path), truth["file_bytes"])


if __name__ == "__main__":
    unittest.main()
