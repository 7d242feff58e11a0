# SPDX-License-Identifier: Apache-2.0
"""Flows that are reduced to lighter states when time is short: what is said about it, and where every packet is.

usage: test_adaptive.py PARSHALL [unittest arguments]
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from rivals import program_for

PROGRAM = None
STATES = """
default = "light"
[[state]]
name = "light"
tasks = ["count"]
[[state]]
name = "middle"
tasks = ["count", "heavy-hitters", "bursty"]
lighter = "light"
[[state]]
name = "heavy"
tasks = ["count", "heavy-hitters", "bursty", "retransmissions:recall=0.5", "latency-change"]
lighter = "middle"
[[rule]]
state = "heavy"
share = 0.9
"""
TRAFFIC = "flows=20000,dist=zipf:1.1,protocol=connections,resend=0.01,packets=1000000"
TOO_MUCH, LITTLE = TRAFFIC + ",pace=60000000", TRAFFIC + ",pace=20000,queue=65536"
WATCHED = {"bursty", "retransmissions", "latency-change"}  # tasks that miss reduced flows
FINDERS = WATCHED | {"heavy-hitters"}


class AdaptiveTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="parshall-adaptive-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    def run_it(self, *arguments, states=STATES):
        return subprocess.run(
            [program_for(PROGRAM, arguments), "watch", "-q", "--states", self.path("states.toml", states), *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def watch(self, traffic, *arguments, seconds=1.5, window="20ms", states=STATES):
        """(summary, events) of a run whose account is in order."""
        events = self.path("events.json")
        done = self.run_it(
            "-g",
            traffic,
            "--window",
            window,
            "--duration",
            f"{seconds}s",
            "--format",
            "json",
            "--top",
            "1",
            "--export",
            f"events:{events}",
            *arguments,
            states=states,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)["summary"]
        accounting = summary["accounting"]
        self.assertTrue(accounting["balanced"])
        self.assertEqual(accounting["offered"], accounting["nic_missed"] + accounting["counted"])
        self.assertTrue(summary["tasks"]["windows_balanced"])
        states = summary["tasks"]["states"]
        self.assertEqual(
            sum(state["packets"] for state in states.values()),
            accounting["counted"] - accounting["kept_out_packets"],
        )
        for state in states.values():
            self.assertLessEqual(state["packets_not_reduced"], state["packets"])
        self.assertEqual(states["light"]["packets_not_reduced"], states["light"]["packets"])
        with open(events) as file:
            return summary, [json.loads(line) for line in file]


class Modes(AdaptiveTest):
    def test_tasks_leave_out_flows_when_too_much_comes(self):
        for arguments, mode in (
            ((), "adapt"),
            (("--overload", "mona"), "mona"),
            (("--overload", "mona-adapt"), "mona-adapt"),
        ):
            with self.subTest(mode=mode):
                summary, events = self.watch(TOO_MUCH, *arguments)
                adaptation, states = summary["adaptation"], summary["tasks"]["states"]
                self.assertEqual(adaptation["mode"], mode)
                self.assertGreater(adaptation["windows"], 5)
                self.assertGreater(adaptation["seconds_reduced"], 0)
                self.assertGreater(adaptation["windows_infeasible"], 0, "there is no time even to count")
                self.assertLess(states["heavy"]["packets_not_reduced"], states["heavy"]["packets"])
                self.assertGreater(summary["accounting"]["nic_missed"], 0)
                if mode == "adapt":
                    self.assertTrue(adaptation["given_up"], "there is time for none")
                for task, given_up in adaptation["given_up"].items():
                    self.assertIn(task, FINDERS)
                    self.assertGreater(given_up["seconds"], 0)
                    self.assertLessEqual(given_up["seconds"], adaptation["seconds"])
                recall = summary["tasks"]["recall"]
                self.assertEqual(set(recall), FINDERS)
                self.assertEqual(recall["retransmissions"]["threshold"], 0.5)
                self.assertEqual(recall["bursty"]["threshold"], 0.75)
                for task in recall.values():
                    self.assertGreater(task["incomplete"], 0)
                    self.assertLess(task["mean"], 1)
                    self.assertLessEqual(task["least_at_95_percent"], task["mean"])
                said = [event for event in events if "flows_missed" in event["values"]]
                self.assertEqual({event["task"] for event in said}, FINDERS)
                for task in WATCHED:
                    self.assertTrue(
                        any(event["values"]["flows_missed"] > 0 for event in said if event["task"] == task), task
                    )
                for event in said:
                    if "recall" in event["values"]:
                        self.assertLessEqual(event["values"]["recall_at_least"], event["values"]["recall"])
                    self.assertTrue(event["key"] is None)
                    self.assertFalse(event["exact"])

    def test_what_only_counts_sees_all_that_was_counted(self):
        summary, events = self.watch(TOO_MUCH)
        counts = [event["values"]["packets"] for event in events if event["task"] == "count"]
        self.assertEqual(sum(counts), summary["accounting"]["counted"])

    def test_no_flow_is_left_out_when_told_so(self):
        summary, events = self.watch(TOO_MUCH, "--overload", "off")
        self.assertEqual(summary["adaptation"]["mode"], "off")
        self.assertEqual(summary["adaptation"]["seconds_reduced"], 0)
        for state in summary["tasks"]["states"].values():
            self.assertEqual(state["packets_not_reduced"], state["packets"])

    def test_no_flow_is_reduced_if_there_is_time(self):
        summary, _ = self.watch(LITTLE)
        if summary["accounting"]["nic_missed"] == 0:  # else this machine was too busy for that little
            states = summary["tasks"]["states"]
            kept = sum(state["packets_not_reduced"] for state in states.values())
            self.assertGreater(kept, 0.9 * sum(state["packets"] for state in states.values()))
        self.assertGreater(summary["adaptation"]["windows"], 0)

    def test_a_source_that_waits_needs_no_adaptation(self):
        done = self.run_it("-g", TRAFFIC, "--count", "200000", "--format", "json", "--top", "1")
        summary = json.loads(done.stdout)["summary"]
        self.assertNotIn("adaptation", summary)
        for state in summary["tasks"]["states"].values():
            self.assertEqual(state["packets_not_reduced"], state["packets"])

    def test_text_says_what_was_left_out_and_what_that_costs(self):
        done = self.run_it("-g", TOO_MUCH, "--window", "20ms", "--duration", "1s", "--top", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^overload   adapt: tasks left out flows in [0-9.]+ of [0-9.]+ s")
        self.assertRegex(
            done.stdout,
            r"(?m)^recall     bursty: [0-9.e-]+ on average, >= [0-9.e-]+ \(95 %\) in the worst of \d+ windows; below "
            r"0\.75 ",
        )
        self.assertRegex(done.stdout, r"(?m)^state      heavy: \d+ packets, [0-9.]+ % of them of reduced flows$")
        self.assertRegex(done.stdout, r"(?m)^state      light: \d+ packets$")


class RecallFile(AdaptiveTest):
    """The recall output: a line for each window of each task that misses flows."""

    NUMBERS = (
        "recall",
        "recall_at_least_95",
        "threshold",
        "flows_seen",
        "flows_missed",
        "packets",
        "packets_missed",
        "packets_left_out_share",
    )

    def recalls(self, *arguments, traffic=TOO_MUCH, seconds=1.5, window="20ms"):
        """(summary, events, lines) of a run, with numbers for texts and None for what is empty."""
        path = self.path("recall.csv")
        summary, events = self.watch(traffic, "--export", f"recall:{path}", *arguments, seconds=seconds, window=window)
        with open(path, newline="") as file:
            lines = list(csv.DictReader(file))
        for line in lines:
            self.assertEqual(len(line), 5 + len(self.NUMBERS))
            for name, text in line.items():
                if name != "task":
                    line[name] = None if not text else int(text) if text.isdigit() else float(text)
        return summary, events, lines

    def test_has_each_window_and_task_once_and_in_order(self):
        summary, events, lines = self.recalls()
        begins = sorted({event["window"]["begin_ns"] for event in events if event["task"] == "count"})
        self.assertGreater(len(begins), 20)
        for task in WATCHED:
            own = [line for line in lines if line["task"] == task]
            self.assertEqual([line["window_begin_ns"] for line in own], begins)
            self.assertEqual(len(own), summary["tasks"]["recall"][task]["windows"])
        self.assertEqual(len(lines), len(FINDERS) * len(begins))
        self.assertEqual([line["window_begin_ns"] for line in lines], sorted(line["window_begin_ns"] for line in lines))
        for line in lines:
            self.assertEqual(line["window_end_ns"] - line["window_begin_ns"], 20e6)
            self.assertIsNone(line["window_begin_packet"])
            self.assertEqual(line["threshold"], 0.5 if line["task"] == "retransmissions" else 0.75)

    def test_agrees_with_the_events_and_the_summary(self):
        summary, events, lines = self.recalls()
        said = {(event["task"], event["window"]["begin_ns"]): event for event in events if event["type"] == "recall"}
        alarms = {(event["task"], event["window"]["begin_ns"]) for event in events if event["type"] == "finding"}
        self.assertEqual({event["task"] for event in events if event["type"] == "summary"}, {"count"})
        packets = {event["window"]["begin_ns"]: event["window"]["packets"] for event in events}
        for line in lines:
            self.assertEqual(line["packets"], packets[line["window_begin_ns"]])
            event = said.pop((line["task"], line["window_begin_ns"]), None)
            if event is None:  # nothing was missed, or there was nothing to be found
                if (line["flows_missed"], line["packets_missed"]) == (0, 0):
                    self.assertEqual([line[name] for name in self.NUMBERS[:2]], [1, 1])
                else:
                    self.assertEqual((line["recall"], (line["task"], line["window_begin_ns"]) in alarms), (1, False))
                continue
            values = event["values"]
            for column, value in (("recall", "recall"), ("recall_at_least_95", "recall_at_least")):
                if value in values:
                    self.assertAlmostEqual(line[column], values[value], 12)
                else:
                    self.assertIsNone(line[column])
            for name in ("flows_seen", "flows_missed", "packets_missed"):
                self.assertEqual(line[name], values[name])
        self.assertEqual(said, {}, "events without a line")
        for task, recall in summary["tasks"]["recall"].items():
            known = [line for line in lines if line["task"] == task and line["recall"] is not None]
            self.assertAlmostEqual(sum(line["recall"] for line in known) / len(known), recall["mean"], 9)
            self.assertAlmostEqual(min(line["recall_at_least_95"] for line in known), recall["least_at_95_percent"], 12)
            self.assertEqual(sum(line["recall"] < line["threshold"] for line in known), recall["below_threshold"])

    def test_says_which_share_of_the_packets_was_left_out(self):
        _, _, lines = self.recalls()
        shares = [line["packets_left_out_share"] for line in lines if line["packets_left_out_share"] is not None]
        self.assertTrue(all(0 <= share <= 1 for share in shares))
        self.assertGreater(max(shares), 0.1)
        _, _, lines = self.recalls("--overload", "off")
        for line in lines:  # of a window in which this process did not run nothing came
            self.assertEqual(line["packets_left_out_share"], None if line["flows_seen"] == 0 else 0)
        self.assertTrue(
            any(line["packets_missed"] for line in lines), "what the device misses is told without reduced flows, too"
        )
        self.assertTrue(any(line["recall"] < 1 for line in lines))

    def test_windows_of_packets_have_bounds_in_packets(self):
        _, _, lines = self.recalls(traffic=LITTLE, seconds=1, window="4000p")
        begins = sorted({line["window_begin_packet"] for line in lines})
        self.assertGreater(len(begins), 2)
        self.assertEqual(begins, [4000 * i for i in range(len(begins))])
        self.assertIn(
            1, {line["recall"] for line in lines}, "of windows in which nothing was missed there are lines too"
        )
        for line in lines:
            self.assertEqual(line["window_end_packet"] - line["window_begin_packet"], 4000)
            if line["packets"] != 0 and line["flows_missed"] == 0 and line["packets_missed"] == 0:
                self.assertEqual(line["packets_left_out_share"], 0 if line["flows_seen"] != 0 else None)
            self.assertIsNone(line["window_begin_ns"])

    def test_no_share_is_told_where_a_task_has_no_flow_of_its_own(self):
        """A short window, as the last of a run may be, can hold the packets of light flows alone."""
        light, path = STATES.replace("share = 0.9", "share = 0"), self.path("recall.csv")
        done = self.run_it(
            "-g", LITTLE, "--window", "4000p", "--count", "4001", "--export", f"recall:{path}", states=light
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, newline="") as file:
            lines = [
                (line["packets"], line["flows_missed"], line["flows_seen"], line["packets_left_out_share"])
                for line in csv.DictReader(file)
                if line["task"] in WATCHED
            ]
        self.assertEqual(lines, [("4000", "0", "0", "")] * len(WATCHED) + [("1", "0", "0", "")] * len(WATCHED))

    def test_goes_to_standard_output_and_says_what_cannot_be_written(self):
        run = ("-g", TOO_MUCH, "--window", "20ms", "--duration", "0.5s", "-o", self.path("report"))
        done = self.run_it(*run, "--export", "recall:-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("window_begin_ns,window_end_ns,"))
        self.assertGreater(len(done.stdout.splitlines()), len(WATCHED))
        done = self.run_it(*run, "--export", "recall:/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("cannot write /dev/full"), 1, done.stderr)
        self.assertRegex(done.stderr, r"recall:/dev/full: \d+ findings? of tasks = 0 written \+ \d+ dropped")
        self.assertEqual(self.run_it(*run, "--export", "recall:/no/such/file").returncode, 1)


class Errors(AdaptiveTest):
    def assert_refused(self, words, *arguments, states=STATES):
        done = self.run_it(*(arguments or ("-g", TOO_MUCH, "--duration", "1s")), states=states)
        self.assertEqual(done.returncode, 2, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_lighter_states_that_do_not_exist_or_are_the_state_itself(self):
        self.assert_refused(
            ["line 9", "no state lihgt", "light, middle, heavy"],
            states=STATES.replace('lighter = "light"', 'lighter = "lihgt"'),
        )
        self.assert_refused(
            ["middle is its own lighter state"], states=STATES.replace('lighter = "light"', 'lighter = "middle"')
        )
        self.assert_refused(
            ["heavy is its own lighter state"], states=STATES.replace('lighter = "light"', 'lighter = "heavy"')
        )
        self.assert_refused(
            ["lighter must be a text in quotes"], states=STATES.replace('lighter = "light"', "lighter = 3")
        )

    def test_shares(self):
        for share in ("1.5", "-0.1", '"half"', "nan", "true"):
            self.assert_refused(
                ["share must be a number from 0 to 1"], states=STATES.replace("share = 0.9", f"share = {share}")
            )

    def test_models_and_modes(self):
        done = subprocess.run(
            [
                PROGRAM,
                "watch",
                "-g",
                TOO_MUCH,
                "--states",
                self.path("states.toml", STATES),
                "--duration",
                "0.5s",
                "--format",
                "json",
                "--top",
                "1",
                "--threads",
                "pipeline",
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no task leaves out flows", done.stderr)
        self.assertNotIn("adaptation", json.loads(done.stdout)["summary"])
        self.assert_refused(["overload", "adapt", "off"], "-g", TOO_MUCH, "--duration", "1s", "--overload", "nobody")
        self.assert_refused(["recall"], states=STATES.replace("recall=0.5", "recall=2"))

    def test_what_a_task_counts(self):
        for task, words in (
            ("bursty:count=each", ["bursty", "count=each", "flows"]),
            ("retransmissions:count=some", ["count=some", "flows, each or both"]),
        ):
            states = (
                STATES.replace('"bursty"', f'"{task}"')
                if task.startswith("bursty")
                else STATES.replace("retransmissions:recall=0.5", task)
            )
            self.assert_refused(words, states=states)
        for counts in ("flows", "each", "both"):
            states = STATES.replace("retransmissions:", f"retransmissions:count={counts},")
            done = self.run_it("-g", LITTLE, "--duration", "0.1s", "-o", self.path("report"), states=states)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_tasks_share_groups_where_there_are_many(self):
        many = ", ".join(f'"bursty:name=b{i}"' for i in range(7))
        states = STATES.replace(
            '"count", "heavy-hitters", "bursty", "retransmissions',
            f'"count", "heavy-hitters", {many}, "retransmissions',
        )
        summary, _ = self.watch(TOO_MUCH, states=states, seconds=0.5)
        self.assertIn("b3", summary["adaptation"]["given_up"])
        command = [PROGRAM, "watch", "-g", TOO_MUCH, "--states", self.path("states.toml"), "--duration", "0.1s"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertIn("under overload 11 tasks leave out flows in 5 groups", done.stderr)

    def test_recall_of_runs_without_reduced_flows(self):
        file = ("--export", f"recall:{self.path('recall.csv')}", "--duration", "1s")
        self.assert_refused(["--export recall", "does not wait", "pace="], "-g", TRAFFIC, *file)
        self.assert_refused(["--export recall", "--threads"], "-g", TOO_MUCH, "--threads", "pipeline", "-q", *file)
        states = STATES.replace('lighter = "light"', "").replace('lighter = "middle"', "")
        self.assert_refused(["--export recall", "lighter"], "-g", TOO_MUCH, *file, states=states)
        states = STATES.replace(', "heavy-hitters", "bursty"', "").replace(
            ', "retransmissions:recall=0.5", "latency-change"', ""
        )
        self.assert_refused(["--export recall", "only count"], "-g", TOO_MUCH, *file, states=states)
        self.assertFalse(os.path.exists(file[1]))
        for arguments in (["--tasks", "count"], []):
            done = subprocess.run(
                [PROGRAM, "watch", "-g", TOO_MUCH, *arguments, *file],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertEqual(done.returncode, 2)
            self.assertIn("--states", done.stderr)

    def test_recall_and_others_in_one_file(self):
        same = self.path("same")
        run = ("-g", TOO_MUCH, "--duration", "0.2s")
        self.assert_refused(["standard output", "--export recall:-"], *run, "--export", "recall:-")
        self.assert_refused(
            ["standard output", "--export recall:-"], *run, "--export", "recall:-", "--export", "events:-", "-o", same
        )
        self.assert_refused(["--export recall"], *run, "--export", f"recall:{same}", "-o", same)
        self.assert_refused(["--export recall"], *run, "--export", f"recall:{same}", "--export", f"events:{same}")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
