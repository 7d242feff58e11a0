#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`parshall test watch-loss`: monitors that count, and those that fail, hang or say nothing. Usage: test_watch_loss.py
PARSHALL"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import netns
import side_by_side

PARSHALL = "parshall"
PACKETS = 5000
SOON = ("--settle", "300ms")  # of monitors that do not hold packets back, as libpcap does


def namespaces():
    """Those that bear the number of a process which is no more."""
    lines = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout.splitlines()
    makers = {line: re.match(r"parshall-(\d+)-", line) for line in lines}
    return [line for line, maker in makers.items() if maker and not os.path.exists(f"/proc/{maker[1]}")]


class WatchLoss(unittest.TestCase):
    def setUp(self):
        self.before = namespaces()

    def tearDown(self):
        for _ in range(100):  # one that was listed may have gone with its process since
            if set(namespaces()) <= set(self.before):
                break
            time.sleep(0.05)
        self.assertEqual(set(namespaces()) - set(self.before), set())

    def run_it(self, *arguments, runs=3, timeout=90):
        return subprocess.run(
            [PARSHALL, "test", "watch-loss", "-q", "--runs", str(runs), "--count", str(PACKETS), *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def report(self, *arguments, **more):
        done = self.run_it("--format", "json", *arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def assert_fails(self, status, *words, arguments):
        done = self.run_it("--rate", "1Mpps", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)

    @side_by_side.alone
    def test_watch_counts_all_at_a_low_rate(self):
        report = self.report("--rate", "20kpps", *SOON)
        self.assertEqual([run["counted"] for run in report["runs"]], [PACKETS] * 3)
        self.assertEqual([run["kernel"]["received"] for run in report["runs"]], [PACKETS] * 3)
        self.assertEqual((report["lost"], report["loss_ratio"], report["offered"]), (0, 0, 3 * PACKETS))
        self.assertEqual(report["loss_ratio_upper95_of_none"], 3 / (3 * PACKETS))
        for name in ("loss_ratio_low95", "loss_ratio_high95", "not_known"):
            self.assertIsNone(report[name], name)
        self.assertIn("watch-loss", report["command"])

    @side_by_side.alone
    def test_what_a_slow_watch_loses_is_what_it_says(self):
        report = self.report(
            "--rate",
            "asap",
            "--monitor",
            f"{PARSHALL} watch -i {{interface}} --descriptors 64 --top 1",
            *SOON,
        )
        self.assertGreater(report["lost"], 0)
        for run in report["runs"]:
            self.assertEqual(run["lost"], run["offered"] - run["counted"])
            self.assertEqual(run["drops_told"], run["lost"])
        ratios = [run["loss_ratio"] for run in report["runs"]]
        self.assertAlmostEqual(report["loss_ratio"], sum(ratios) / 3)
        self.assertLessEqual(report["loss_ratio_low95"], report["loss_ratio"])
        self.assertGreater(report["loss_ratio_high95"], report["loss_ratio"])
        self.assertIsNone(report["loss_ratio_upper95_of_none"])

    @unittest.skipUnless(shutil.which("tcpdump"), "SKIPPED: no tcpdump")
    @side_by_side.alone
    def test_tcpdump(self):
        report = self.report(
            "--rate",
            "20kpps",
            "--monitor",
            "tcpdump -n -i {interface} -w /dev/null",
            "--counts",
            "([0-9]+) packets captured",
            "--drops",
            "([0-9]+) packets dropped by kernel",
        )
        for run in report["runs"]:
            self.assertEqual(run["counted"] + run["drops_told"], PACKETS)
        self.assertLess(report["loss_ratio"], 0.01)

    def test_one_run_has_no_interval(self):
        report = self.report("--rate", "100kpps", *SOON, runs=1)
        self.assertIsNone(report["loss_ratio_high95"])

    @side_by_side.alone
    def test_interfaces_of_the_user(self):
        with netns.VethPair() as pair:
            subprocess.run(["ip", "-n", pair.tx_space, "link", "set", "wire0", "netns", pair.rx_space], check=True)
            subprocess.run(["ip", "-n", pair.rx_space, "link", "set", "wire0", "up"], check=True)
            running = pair.watch(
                PARSHALL,
                "test",
                "watch-loss",
                "-q",
                "-i",
                "wire0,tap0",
                "--runs",
                "2",
                "--count",
                str(PACKETS),
                "--rate",
                "20kpps",
                *SOON,
                "--format",
                "json",
            )
            told, errors = running.communicate(timeout=60)
        self.assertEqual((running.returncode, errors), (0, ""))
        self.assertEqual([run["counted"] for run in json.loads(told)["runs"]], [PACKETS] * 2)

    @side_by_side.alone
    def test_other_traffic_hides_what_was_lost(self):
        with netns.VethPair() as pair:
            subprocess.run(["ip", "-n", pair.tx_space, "link", "set", "wire0", "netns", pair.rx_space], check=True)
            subprocess.run(["ip", "-n", pair.rx_space, "link", "set", "wire0", "up"], check=True)
            others = pair.watch(
                PARSHALL, "send", "-q", "-i", "wire0", "-g", "flows=3", "--rate", "1kpps", "--duration", "60s"
            )
            try:
                reports = []
                for form in ("json", "text"):
                    running = pair.watch(
                        PARSHALL,
                        "test",
                        "watch-loss",
                        "-q",
                        "-i",
                        "wire0,tap0",
                        "--runs",
                        "2",
                        "--count",
                        str(PACKETS),
                        "--rate",
                        "20kpps",
                        *SOON,
                        "--format",
                        form,
                    )
                    told, errors = running.communicate(timeout=60)
                    self.assertEqual((running.returncode, errors), (0, ""))
                    reports.append(told)
            finally:
                others.send_signal(signal.SIGINT)
                others.communicate(timeout=20)
        report = json.loads(reports[0])
        for run in report["runs"]:
            self.assertGreater(run["kernel"]["received"], run["sent"])
            self.assertIsNone(run["loss_ratio"])
        for name in ("loss_ratio", "loss_ratio_low95", "loss_ratio_high95", "loss_ratio_upper95_of_none"):
            self.assertIsNone(report[name], name)
        self.assertIn("other traffic", report["not_known"])
        self.assertRegex(reports[1], r"loss ratio  unknown: in 2 of 2 runs.*other traffic")

    def test_a_monitor_that_ends_at_once(self):
        self.assert_fails(
            1,
            "run 1: the monitor (true) ended with status 0 before",
            arguments=["--monitor", "true", "--counts", "([0-9]+)"],
        )
        self.assert_fails(1, "No such file", arguments=["--monitor", "no-such-monitor", "--counts", "([0-9]+)"])

    def test_a_monitor_that_says_nothing(self):
        self.assert_fails(
            1,
            "printed no count",
            "it printed nothing",
            arguments=["--monitor", "sleep 100", "--ready", "", "--counts", "([0-9]+)"],
        )

    def test_a_monitor_that_never_captures(self):
        self.assert_fails(1, "is not ready", "--ready", arguments=["--monitor", "sleep 100", "--counts", "([0-9]+)"])

    def test_a_monitor_that_prints_garbage(self):
        self.assert_fails(
            1,
            "printed no count",
            "it printed: garbage",
            arguments=[
                "--monitor",
                "sh -c 'echo garbage; exec sleep 100'",
                "--ready",
                "garb",
                "--counts",
                "([0-9]+) packets",
            ],
        )

    @side_by_side.thorough
    def test_a_monitor_that_does_not_end(self):
        self.assert_fails(
            1,
            "does not end",
            arguments=[
                "--monitor",
                "sh -c 'trap \"\" INT; echo 5 packets; while :; do sleep 1; done'",
                "--ready",
                "packets",
                "--counts",
                "([0-9]+) packets",
            ],
        )

    def test_a_monitor_that_fails_after_it_counted(self):
        self.assert_fails(
            1,
            "ended with status 4",
            arguments=[
                "--monitor",
                "sh -c 'trap \"echo 5 packets; exit 4\" INT; echo on; sleep 100'",
                "--ready",
                "on",
                "--counts",
                "([0-9]+) packets",
            ],
        )

    def test_mistakes(self):
        self.assert_fails(2, "--counts", arguments=["--monitor", "tcpdump -i {interface}"])
        self.assert_fails(2, "parentheses", arguments=["--counts", "packets"])
        self.assert_fails(2, "--rate", arguments=["--rate", "fast"])
        self.assert_fails(2, "built-in traffic", arguments=["-g", "flows=many"])

    def test_ctrl_c_reports_the_runs_so_far_and_removes_the_namespaces(self):
        running = subprocess.Popen(
            [PARSHALL, "test", "watch-loss", "--runs", "1000", "--count", "2000", "--format", "json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.stderr.readline()
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        told, _ = running.communicate(timeout=20)
        self.assertEqual(running.returncode, 0)
        self.assertGreaterEqual(len(json.loads(told)["runs"]), 1)


if __name__ == "__main__":
    PARSHALL = os.path.abspath(sys.argv.pop(1))
    if netns.why_not():
        print(f"SKIPPED: {netns.why_not()}")
    else:
        side_by_side.main(PARSHALL)
