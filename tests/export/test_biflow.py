# SPDX-License-Identifier: Apache-2.0
"""Records of both directions: each is made of the two that there are without --biflow, and no packet is lost or invented; in every output.

usage: test_biflow.py PARSHALL [unittest arguments]
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from ipfix import Reader

PROGRAM = None
COUNTS = ("packets", "ip_bytes", "wire_bytes", "tcp_flags")


class Biflows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def watch(self, *arguments, name="flows.csv", status=0):
        done = subprocess.run([PROGRAM, "watch", "-q", "--stats", "tcp_flags", "--format", "json", "--top", "1", "--export", f"csv:{self.folder / name}", *arguments],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        if status:
            return done.stderr
        with open(self.folder / name, newline="") as file:
            self.rows = list(csv.DictReader(file))
        summary = json.loads(done.stdout)["summary"]
        self.assertTrue(summary["accounting"]["balanced"])
        for output in summary["outputs"]:
            self.assertEqual(output["offered"]["records"], output["written"]["records"] + output["dropped"]["records"] + output["merged"]["records"])
            self.assertEqual(output["offered"]["packets"], output["written"]["packets"] + output["dropped"]["packets"])
            self.assertEqual(output["written"]["packets"], summary["accounting"]["counted"])
        return summary

    @staticmethod
    def key(row):
        return tuple(row[name] for name in ("protocol", "src_ip", "src_port", "dst_ip", "dst_port"))

    def compare(self, *traffic):
        """With and without; of flows that have one record each. How many are of both directions."""
        self.watch(*traffic, name="uniflows.csv")
        uniflows = {self.key(row): row for row in self.rows}
        self.assertEqual(len(uniflows), len(self.rows))
        self.watch(*traffic, "--biflow")
        both = 0
        for row in self.rows:
            forward = uniflows.pop(self.key(row))
            self.assertEqual([row[name] for name in COUNTS], [forward[name] for name in COUNTS])
            protocol, src_ip, src_port, dst_ip, dst_port = self.key(row)
            if row["reverse_packets"] == "":
                self.assertEqual(row["biflow_direction"], "0")
                continue
            both += 1
            back = uniflows.pop((protocol, dst_ip, dst_port, src_ip, src_port))
            self.assertEqual([row["reverse_" + name] for name in COUNTS], [back[name] for name in COUNTS])
            self.assertLessEqual(int(row["first_seen_ns"]), int(back["first_seen_ns"]))
            self.assertEqual(row["first_seen_ns"], forward["first_seen_ns"])
            self.assertEqual(int(row["last_seen_ns"]), max(int(each["last_seen_ns"]) for each in (forward, back)))
        self.assertEqual(uniflows, {}, "each is in one")
        return both

    def test_connections_become_records_of_both_directions(self):
        self.assertGreater(self.compare("-g", "flows=5000,packets=300000,protocol=connections", "--count", "300k"), 2000)

    def test_of_two_workers_too(self):
        self.assertGreater(self.compare("-g", "flows=5000,packets=300000,protocol=connections", "--count", "300k", "--workers", "2"), 2000)

    def test_what_goes_one_way_stays_as_it_is(self):
        self.assertEqual(self.compare("-g", "flows=5000,packets=100000", "--count", "100k"), 0)

    def test_records_that_end_while_the_run_goes_on(self):
        summary = self.watch("-g", "flows=5000,packets=300000,protocol=connections", "--count", "300k", "--idle", "1ms", "--active", "10ms", "--biflow")
        merged = [row for row in self.rows if row["reverse_packets"]]
        self.assertGreater(len(merged), len(self.rows) // 2)
        self.assertEqual(len(merged), next(output for output in summary["outputs"] if output["name"].startswith("csv:"))["merged"]["records"])

    def test_a_link_that_does_not_wait(self):
        self.watch("-g", "flows=2000,pace=50000,protocol=connections", "--idle", "200ms", "--duration", "3s", "--biflow")
        self.assertGreater(sum(row["reverse_packets"] != "" for row in self.rows), 100)

    def test_ipfix_and_the_files_that_add_up_have_both(self):
        paths = {kind: self.folder / f"x.{kind}" for kind in ("ipfix", "jsonl", "parquet")}
        exports = [word for kind, path in paths.items() for word in ("--export", f"{kind}:{path}")]
        self.watch("-g", "flows=5000,packets=300000,protocol=sessions", "--count", "300k", "--biflow", *exports)
        for path in paths.values():
            done = subprocess.run([PROGRAM, "verify", path], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        reader = Reader()
        reader.read(paths["ipfix"].read_bytes())
        wanted = sorted((row["src_ip"], int(row["src_port"]), int(row["packets"]), int(row["reverse_packets"]), int(row["reverse_ip_bytes"])) for row in self.rows
                        if row["reverse_packets"])
        seen = sorted((flow["src"], flow["src_port"], flow["packets"], flow["reverse_packets"], flow["reverse_octets"]) for flow in reader.flows
                      if "reverse_packets" in flow)
        self.assertEqual(seen, wanted)
        self.assertEqual({flow["direction"] for flow in reader.flows if "reverse_packets" in flow}, {1})

    def test_what_has_no_other_direction_is_refused(self):
        self.assertIn("--biflow: a flow of one address", self.watch("-g", "flows=10", "--biflow", "--key", "src", status=2))
        self.assertIn("leave out --biflow", self.watch("-g", "flows=10", "--biflow", "--packets-only", status=2))


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
