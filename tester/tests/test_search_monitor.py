#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`parshall test search --monitor`: a monitor is the device under test. Usage: test_search_monitor.py PARSHALL"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import searching

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/live"))
import netns
import side_by_side


class Monitors(unittest.TestCase):
    @side_by_side.alone
    def test_a_monitor_is_searched_by_way_of_a_ring_and_has_every_packet_that_the_ring_took(self):
        done = searching.search(
            "--monitor",
            "--columns +gap_p99 --flows 4Ki --descriptors 8192",
            "-g",
            "flows=1000,size=64",
            "--goal",
            searching.QUICK.replace("width=3%", "width=20%,loss=5%"),
            "--trials",
            "12",
            "--format",
            "json",
            "-q",
        )
        found = json.loads(done.stdout)
        self.assertIsNone(found["failure"], "its books balance")
        self.assertIn("parshall watch --columns +gap_p99", found["device"])
        self.assertIn("8192 packets", found["device"])
        self.assertIn("flow records", found["terms"]["received"])
        trials = found["sizes"][0]["searches"][0]["trials"]
        self.assertGreaterEqual(len(trials), 2, "the first one failed, so another one follows")
        for trial in trials:
            self.assertEqual(trial["received"], trial["sent"], "what the ring took was counted")
            self.assertLessEqual(trial["sent"] + trial["unsent"], trial["offered"])
            self.assertGreaterEqual(trial["offered"], int(trial["load_pps"] * trial["duration_s"]))
        self.assertGreater(trials[0]["loss_ratio"], 0.01, "the generator is faster than ring and monitor")

    @side_by_side.thorough
    @side_by_side.alone
    def test_records_of_flows_that_ended_in_a_monitor_take_no_room(self):
        """200,000 flows in a table of 1,000: a record for nearly every packet."""
        before = shutil.disk_usage(tempfile.gettempdir()).used
        process = subprocess.Popen(
            [
                searching.PARSHALL,
                "test",
                "search",
                "--monitor",
                "--flows 1000",
                "-g",
                "flows=200000",
                "--min",
                "500kpps",
                "--max",
                "1Mpps",
                "--goal",
                "name=x,trial=2s,sum=4s,initial=2s",
                "--trials",
                "3",
                "-q",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        most = 0
        while process.poll() is None:
            most = max(most, shutil.disk_usage(tempfile.gettempdir()).used - before)
            time.sleep(0.1)
        out, _ = process.communicate()
        self.assertEqual(process.returncode, 0, out)
        self.assertLess(most, 200e6, "bytes of temporary files")

    def test_a_monitor_that_cannot_be_is_told_before_any_trial(self):
        for words, more, status, said in (
            ("--bogus", [], 2, "--bogus"),
            ("--key nonsense", [], 2, "nonsense"),
            ("-g flows=10", [], 2, "--generate"),
            ("--workers 2", [], 2, "--workers"),
            ("--duration 1s", [], 2, "--duration"),
            ("--live", [], 2, "--live"),
            ("", ["-i", "lo"], 2, "leave out -i"),
            ("", ["--sizes", "64,9000"], 1, "not of 9000"),
        ):
            done = searching.search("--monitor", words, *more, status=status)
            self.assertIn(said, done.stderr, words)
            self.assertNotIn(" received", done.stderr, words)


if __name__ == "__main__":
    searching.PARSHALL = os.path.abspath(sys.argv.pop(1))
    reason = netns.why_not()
    if reason:
        print("SKIPPED searches of a monitor:", reason)
        sys.exit(0)
    side_by_side.main(searching.PARSHALL)
