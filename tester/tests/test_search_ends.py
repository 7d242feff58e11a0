#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`parshall test search` that ends early: what it knows by then is told. Usage: test_search_ends.py PARSHALL"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import searching

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/live"))
import netns
import processes
import side_by_side


class Ends(unittest.TestCase):
    @side_by_side.alone
    def test_a_search_ends_in_time_with_the_bounds_it_has(self):
        began = time.monotonic()
        done = searching.search(
            "--through", searching.TOKEN_BUCKET, "-g", "flows=10", "--sizes", "512", "--max-time", "6s"
        )
        self.assertLess(time.monotonic() - began, 8, "and to begin and end takes some")
        self.assertIn("no more time allowed", done.stdout)
        self.assertRegex(done.stdout, r"relevant lower bound none|pps so far")
        self.assertRegex(done.stdout, r"relevant upper bound .*pps")
        self.assertRegex(
            done.stderr,
            r"size 512: [0-9.]+ [kM]pps for 1 s: "
            r"\d+ of \d+ received.*; ndr (\?|[0-9.]+ k?pps) to [0-9.]+ [kM]pps; pdr .*; "
            r"\d+ s of 6 s\n",
        )
        self.assertIn(
            "--max-time 1ms ended before",
            searching.search("--through", "wire", "-g", "flows=10", "--max-time", "1ms", status=1).stderr,
        )
        self.assertIn(
            "--max-time soon: give a time", searching.search("--through", "wire", "--max-time", "soon", status=2).stderr
        )

    def test_a_search_that_is_stopped_tells_the_bounds_it_has(self):
        process = subprocess.Popen(
            [
                searching.PARSHALL,
                "test",
                "search",
                "--through",
                searching.TOKEN_BUCKET,
                "-g",
                "flows=10",
                "--sizes",
                "512",
                "--settle",
                "150ms",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        trials = 0
        for line in process.stderr:
            trials += " received" in line
            if trials == 3:
                break
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        self.assertIn("interrupted before the end", out)
        self.assertRegex(out, r"relevant upper bound .*pps")
        self.assertNotIn("relevant lower bound none, relevant upper bound none", out)

    def test_what_was_measured_before_the_device_ended_is_reported(self):
        process = subprocess.Popen(
            [
                searching.PARSHALL,
                "test",
                "search",
                "--through",
                "link:loss=0",
                "--goal",
                "name=slow,trial=1s,sum=60s",
                "--max",
                "1kpps",
                "--settle",
                "150ms",
                "--format",
                "json",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            trials = 0
            while trials < 2:
                line = process.stderr.readline()
                self.assertTrue(line, "it ended")
                trials += " received" in line
            links = processes.links_of(process.pid)
            self.assertTrue(links)
            os.kill(links[-1], signal.SIGKILL)
            out, said = process.communicate(timeout=30)
        finally:
            if process.poll() is None:
                process.kill()
        self.assertEqual(process.returncode, 1, said)
        found = json.loads(out)
        self.assertIn("ended by itself", found["failure"])
        self.assertIn("ended by itself", said)
        self.assertGreaterEqual(len(found["sizes"][0]["searches"][0]["trials"]), 2)


if __name__ == "__main__":
    searching.PARSHALL = os.path.abspath(sys.argv.pop(1))
    reason = netns.why_not()
    if reason:
        print("SKIPPED searches of devices under test:", reason)
        sys.exit(0)
    side_by_side.main(searching.PARSHALL)
