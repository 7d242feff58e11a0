# SPDX-License-Identifier: Apache-2.0
"""Experiments on monitoring states and adaptation, as users of the lab meet them.

usage: test_lab_states.py PARSHALL [unittest arguments]
"""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/cli"))
from program import DONE, FAILED, USAGE, Case, rows, run


class LabStates(Case):
    """parshall bench states, adaptive, overload and steps"""

    def test_what_states_cost_beside_their_tasks_is_told(self):
        done = run(
            "bench",
            "states",
            "--states",
            "2,10",
            "--flows",
            "60",
            "--rate",
            "200000",
            "--rounds",
            "1",
            "--format",
            "csv",
        )
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual(
            [(row["states"], row["flows"], row["window_packets"], row["way"]) for row in rows(done.out)],
            [
                (states, "60", "2000", way)
                for states in ("2", "10")
                for way in ("one-state", "counted", "decided", "changing", "estimates")
            ],
        )
        for words, arguments in (
            (("--states",), ["--states", "65"]),
            (("--states",), ["--states", "1"]),
            (("--flows 0",), ["--flows", "0"]),
            (("--rate",), ["--rate", "10"]),
            (("--tasks",), ["--tasks", "0"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "states", *arguments), USAGE, *words)
        self.assert_says(
            run("bench", "states", "--flows", "2001", "--rate", "200000"), FAILED, "2001 flows and 2000 packets"
        )

    def test_policies_under_overload_are_compared(self):
        modes = ("off", "mona-adapt", "mona", "adapt")
        small = ["--states", "chain", "--flows", "500", "--packets", "32Ki", "--seconds", "0.3", "--warm-up", "0.1"]
        done = run(
            "bench",
            "adaptive",
            "--scenario",
            "rates",
            "--mpps",
            "20",
            "--mode",
            ",".join(modes),
            "--slots",
            "64,4Ki",
            *small,
            "--format",
            "csv",
        )
        self.assertEqual(done.status, DONE, done.err)
        tasks = ("heavy-hitters", "retransmissions", "bursty", "latency-change")
        found = rows(done.out)
        self.assertEqual(
            [(row["slots"], row["mode"], row["task"]) for row in found],
            [(slots, mode, task) for slots in ("64", "4096") for mode in modes for task in tasks],
        )
        for row in found:
            self.assertAlmostEqual(float(row["mpps"]), 20, places=3, msg=row)
            for column in ("recall", "satisfaction", "satisfaction_by_count", "missed_share", "reduced_share"):
                self.assertTrue(0 <= float(row[column]) <= 1, row)
            self.assertGreater(float(row["cost_factor"]), 0, row)
            if row["mode"] == "off":
                self.assertEqual((float(row["reduced_share"]), float(row["cost_factor"])), (0, 1), row)
        half = run(
            "bench", "adaptive", "--scenario", "rates", "--load", "0.5", "--mode", "off", *small, "--format", "csv"
        )
        self.assertEqual([float(row["load"]) for row in rows(half.out)], [0.5] * len(tasks), half.err)
        for words, arguments in (
            (("no scenario", "rates"), ["--scenario", "calm"]),
            (("no states", "chain"), ["--states", "ring"]),
            (('no mode "magic"', "adapt, off, mona, mona-adapt"), ["--mode", "magic"]),
            (("--slots 0",), ["--slots", "0"]),
            (("--queue 0",), ["--queue", "0"]),
            (("--load",), ["--load", "0"]),
            (("--mpps", "excludes", "--load"), ["--load", "1", "--mpps", "5"]),
            (("--flows many",), ["--flows", "many"]),
            (("--stretches 9",), ["--stretches", "9", "--seconds", "2"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "adaptive", *arguments), USAGE, *words)
        self.assert_says(
            run("bench", "overload", "--policy", "magic"), USAGE, 'no policy "magic"', "adapt, off, mona, mona-adapt"
        )

    def test_ways_to_change_a_step_are_compared(self):
        done = run(
            "bench",
            "steps",
            "--policy",
            "MM,AA",
            "--first-step",
            "0.0025,0.1",
            "--cases",
            "200",
            "--rounds",
            "2",
            "--format",
            "json",
        )
        self.assertEqual(done.status, DONE, done.err)
        first, second = (json.loads(line)["rows"] for line in done.out.decode().splitlines())
        self.assertEqual(
            [(row["policy"], row["first_step"]) for row in first],
            [("MM", 0.0025), ("AA", 0.0025), ("MM", 0.1), ("AA", 0.1)],
        )
        self.assertTrue(all(row["low_windows"] < row["windows"] < row["high_windows"] for row in first + second))
        self.assertNotEqual(first, second, "each round has cases of its own")
        for words, arguments in (
            (("no policy", "MM, MA, AM, AA"), ["--policy", "XX"]),
            (("--cases",), ["--cases", "0"]),
            (("--error",), ["--error", "2"]),
            (("--first-step",), ["--first-step", "0.5"]),
            (("--add",), ["--add", "0"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "steps", *arguments), USAGE, *words)


if __name__ == "__main__":
    unittest.main()
