# SPDX-License-Identifier: Apache-2.0
"""What `parshall watch --state` keeps from one run to the next.

usage: test_state.py PARSHALL [unittest arguments]
"""

import csv
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest

PROGRAM = sys.argv.pop(1)
PATIENCE_S = 20  # on a busy machine
TRAFFIC = ["-g", "flows=64", "--count", "1000"]
GOES_ON = ["-g", "flows=64,pace=1000", "-o", "/dev/null"]


class State(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "link.state")

    def watch(self, *arguments):
        return subprocess.run([PROGRAM, "watch", *arguments], capture_output=True, text=True, timeout=PATIENCE_S * 3)

    def begin(self):
        """A run that goes on, whose state is there."""
        before = self.kept()["runs"] if self.file.exists() and self.file.stat().st_size else 0
        run = subprocess.Popen([PROGRAM, "watch", *GOES_ON, "--state", self.file], stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        self.wait_until(
            lambda: (
                run.poll() is not None
                or self.file.exists()
                and self.file.stat().st_size
                and self.kept()["runs"] > before
            )
        )
        self.assertIsNone(run.poll())
        return run

    def wait_until(self, holds):
        until = time.monotonic() + PATIENCE_S
        while not holds():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)

    def kept(self):
        return tomllib.loads(self.file.read_text())

    def flow_ids(self, *arguments):
        run = self.watch("-q", *TRAFFIC, "--format", "csv", "--columns", "+flow_id", "--sort", "packets", *arguments)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return {row["flow_id"] for row in csv.DictReader(run.stdout.splitlines())}

    def test_what_a_flow_is_called_outlives_the_run(self):
        first = self.flow_ids("--state", self.file)
        self.assertEqual(self.flow_ids("--state", self.file), first)
        self.assertFalse(self.flow_ids() & first, "of another seed")

    def test_a_seed_that_is_given_is_the_one_that_is_kept(self):
        given = self.flow_ids("--state", self.file, "--seed", "7")
        self.assertEqual(int(self.kept()["seed"], 16), 7)
        self.assertEqual(self.flow_ids("--state", self.file), given)

    def test_says_for_how_long_nobody_watched(self):
        first = self.begin()
        first.send_signal(signal.SIGTERM)
        self.assertEqual(first.wait(PATIENCE_S), 0)
        ended = time.time()
        self.assertTrue(self.kept()["ended"])
        time.sleep(0.4)
        second = self.begin()
        second.send_signal(signal.SIGTERM)
        said = second.stderr.read()
        most_s = time.time() - ended
        self.assertNotIn("no run watched", first.stderr.read())
        self.assertRegex(said, r"run 2: the one before ended at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ; no run watched for ")
        unwatched_s = float(said.split("no run watched for ")[1].split()[0])
        self.assertTrue(0.3 <= unwatched_s <= most_s + 0.1, (unwatched_s, most_s))

    def test_a_run_that_is_killed_was_watching_a_second_ago(self):
        killed = self.begin()
        begun = self.kept()["watched_until_ns"]
        self.wait_until(lambda: self.kept()["watched_until_ns"] > begun)
        killed.kill()
        killed.wait(PATIENCE_S)
        self.assertLess(time.time() - self.kept()["watched_until_ns"] / 1e9, 5)  # 1 where nobody else is busy
        self.assertIn(
            "run 2: the one before was interrupted at",
            self.watch(*TRAFFIC, "-o", "/dev/null", "--state", self.file).stderr,
        )

    def test_nobody_else_reads_it(self):
        self.flow_ids("--state", self.file)
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)

    def test_two_runs_do_not_share_it(self):
        self.begin()
        second = self.watch(*GOES_ON, "--state", self.file)
        self.assertEqual(second.returncode, 2)
        self.assertIn("another run uses it", second.stderr)

    def test_what_is_something_else_stays_as_it_is(self):
        for text in (
            "important\n",
            "x" * 512,
            "seed = 1\n".ljust(512, "\n"),
            self.strange(runs="0"),
            self.strange(ended="7"),
            self.strange(seed='"0x12"'),
        ):
            with self.subTest(text=text):
                self.file.write_text(text)
                run = self.watch(*TRAFFIC, "--state", self.file)
                self.assertEqual(run.returncode, 2)
                self.assertIn(f"--state {self.file}: is not a state file", run.stderr)
                self.assertEqual(self.file.read_text(), text)

    def test_any_time_in_it_can_be_told(self):
        for until in (-(2**63), 0, 2**63 - 1):
            with self.subTest(until=until):
                self.file.write_text(self.strange(watched_until_ns=str(until)))
                run = self.watch(*TRAFFIC, "-o", "/dev/null", "--state", self.file)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn("the clock was set back since" if until > 0 else "no run watched for", run.stderr)

    @staticmethod
    def strange(**other):
        keys = {"seed": '"0x0000000000000007"', "runs": "1", "watched_until_ns": "5", "ended": "true"} | other
        return "".join(f"{key} = {value}\n" for key, value in keys.items()).ljust(512, "\n")

    def test_it_is_no_output_and_no_folder(self):
        for arguments, said in (
            (["--state", self.file, "-o", self.file], "--state"),
            (["--state", self.file.parent], "directory"),
            (["--state", "/dev/null"], "is not a regular file"),
        ):
            with self.subTest(arguments=arguments):
                run = self.watch(*TRAFFIC, *arguments)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(said, run.stderr)

    def test_a_run_that_does_not_begin_is_none(self):
        self.assertNotEqual(self.watch("-r", "/nowhere", "--state", self.file).returncode, 0)
        self.flow_ids("--state", self.file)
        self.assertEqual(self.kept()["runs"], 1)


if __name__ == "__main__":
    unittest.main(verbosity=1)
