# SPDX-License-Identifier: Apache-2.0
"""Alarms against an independent account of the events that they are made of, and what quiet traffic raises.

usage: test_alarms.py PARSHALL [unittest arguments]
"""

import collections
import contextlib
import datetime
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

import test_tasks

import traffic
from traffic import SECOND, TCP, UDP

BEGIN_NS = 1_600_000_000 * SECOND
PROGRAM = None
TASKS = (
    "heavy-hitters:threshold=5%,min-packets=20,min-rate=0",
    "heavy-hitters:name=pairs,key=src-dst,window=200ms,threshold=10,by=packets,min-packets=10,min-rate=100k",
    "scans:threshold=20",
    "big:window=100ms:packets > 15",
)
FLOORS = {"heavy-hitters": (20, 0), "pairs": (10, 100_000), "scans": (100, 100_000), "big": (0, 0)}


def alarms_of(events, hold_off_ns, last_ns):
    """Returns (task, key, begin, end, windows, peak, last value, is open) of each alarm, in a plain way."""
    findings = collections.defaultdict(dict)
    windows = collections.defaultdict(set)
    for event in events:
        window = event["window"]["begin_ns"], event["window"]["end_ns"]
        windows[window[1] - window[0]].add(window[0])
        packets, rate = FLOORS[event["task"]]
        values = event["values"]
        if event["type"] != "finding" or values.get("packets", packets) < packets:
            continue
        if 8 * values.get("wire_bytes", 1e18) < rate * (window[1] - window[0]) / SECOND:
            continue
        key = event["task"], json.dumps(event["key"])
        findings[key].setdefault(window, []).append(next(iter(values.values())))
    alarms = []
    for (task, key), found in findings.items():
        run = []
        for window in sorted(found):
            if run and window[0] > run[-1][1] and window[0] - run[-1][1] >= hold_off_ns:
                alarms.append((task, key, run, True))
                run = []
            run.append(window)
        length = run[-1][1] - run[-1][0]
        reached = max(max(windows[length]), last_ns)
        is_over = reached > run[-1][1] and reached - run[-1][1] >= hold_off_ns
        alarms.append((task, key, run, is_over))
    return {
        (
            task,
            key,
            run[0][0],
            run[-1][1],
            len(run),
            max(value for window in run for value in findings[task, key][window]),
            findings[task, key][run[-1]][-1],
            is_over,
        )
        for task, key, run, is_over in alarms
    }


class Alarms(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="parshall-alarms-")
        self.capture = os.path.join(self.folder.name, "it.pcap")
        self.file = os.path.join(self.folder.name, "alarms.jsonl")

    def tearDown(self):
        self.folder.cleanup()

    def watch(self, packets, *arguments):
        """Returns (events, lines of alarms, report)."""
        traffic.write_capture(self.capture, packets)
        events, report = test_tasks.run(self.capture, *arguments, "--export", f"alarms:{self.file}")
        with open(self.file) as file:
            return events, [json.loads(line) for line in file], report

    @staticmethod
    def bursts(seed, seconds=30):
        """Sources that talk now and then, and scanners."""
        rng = random.Random(seed)
        packets = []
        for host in range(12):
            for _ in range(rng.randrange(1, 6)):
                begin_ns = BEGIN_NS + rng.randrange(seconds * SECOND)
                count = rng.randrange(1, 120)
                for i in range(count):
                    at_ns = begin_ns + i * rng.randrange(1, 30_000_000)
                    if host < 3:
                        packets.append(traffic.packet(at_ns, f"10.9.0.{host}", "10.2.0.9", TCP, 999, i + 1, 0, 2))
                    else:
                        payload = rng.randrange(1000)
                        packets.append(traffic.packet(at_ns, f"10.1.0.{host}", "10.2.0.1", UDP, 1000, 53, payload))
        return sorted(packets, key=lambda p: p.time_ns)

    def test_they_are_the_findings_joined_whatever_the_arrangement(self):
        total = 0
        for seed in range(6):
            packets = self.bursts(seed)
            for threads, workers in test_tasks.ARRANGEMENTS if seed == 0 else test_tasks.ARRANGEMENTS[:1]:
                for hold_off in ("0", "300ms", "2s") if seed else ("1s",):
                    tasks = [word for task in TASKS for word in ("--task", task)]
                    events, lines, report = self.watch(
                        packets,
                        *tasks,
                        "--alarms",
                        f"hold-off={hold_off}",
                        "--threads",
                        threads,
                        "--workers",
                        str(workers),
                    )
                    hold_off_ns = {"0": 0, "300ms": 300_000_000, "1s": SECOND, "2s": 2 * SECOND}[hold_off]
                    truth = alarms_of(events, hold_off_ns, packets[-1].time_ns)
                    last = {line["id"]: line for line in lines}
                    told = {
                        (
                            line["task"],
                            json.dumps(line["key"]),
                            line["begin_ns"],
                            line["end_ns"],
                            line["windows"],
                            line["value"]["peak"],
                            line["value"]["last"],
                            line["alarm"] == "ended",
                        )
                        for line in last.values()
                    }
                    self.assertEqual(told, truth, (seed, hold_off, threads, workers))
                    self.check_lines(lines, report)
                    total += len(truth)
        self.assertGreater(total, 200)

    def check_lines(self, lines, report):
        states = collections.defaultdict(list)
        for line in lines:
            states[line["id"]].append(line["alarm"])
        self.assertTrue(all(each in (["began", "ended"], ["began", "open"]) for each in states.values()), states)
        said = report["summary"]["tasks"]["alarms"]
        self.assertEqual(said["begun"], len(states))
        self.assertEqual(said["open"], sum(each[-1] == "open" for each in states.values()))
        ended = [line for line in lines if line["alarm"] != "began"]
        order = sorted(ended, key=lambda line: (line["begin_ns"], line["end_ns"], line["id"]))
        self.assertEqual([alarm["id"] for alarm in report["alarms"]], [line["id"] for line in order])
        self.assertEqual(report["alarms"], order)

    def test_ids_are_the_same_in_every_run(self):
        packets = self.bursts(7)
        ids = []
        for threads, workers in test_tasks.ARRANGEMENTS:
            lines = self.watch(
                packets, "--task", TASKS[0], "--task", TASKS[2], "--threads", threads, "--workers", str(workers)
            )[1]
            ids.append(sorted((line["id"], line["alarm"]) for line in lines))
        self.assertGreater(len(ids[0]), 4)
        self.assertEqual(ids, [ids[0]] * len(ids))

    def test_a_quiet_link_raises_none(self):
        """Two minutes of what is heard on a link at rest: name lookups, ARP-like chatter, pings, a keystroke now and
        then. All tasks that find anything run."""
        rng = random.Random(8)
        packets = []
        for second in range(120):
            for host in range(4):
                at_ns = BEGIN_NS + second * SECOND + rng.randrange(SECOND)
                packets.append(traffic.packet(at_ns, f"10.0.0.{host + 2}", "10.0.0.1", UDP, 5000 + second, 53, 40))
                packets.append(
                    traffic.packet(at_ns + 900_000, "10.0.0.1", f"10.0.0.{host + 2}", UDP, 53, 5000 + second, 90)
                )
                packets.append(traffic.packet(at_ns + 5_000_000, f"10.0.0.{host + 2}", "10.0.0.9", TCP, 999, 22, 36))
        packets.sort(key=lambda p: p.time_ns)
        listed = subprocess.run([PROGRAM, "list", "tasks"], capture_output=True, text=True, check=True).stdout
        tasks = re.findall(r"^([a-z-]+): ", listed, re.MULTILINE)
        self.assertGreater(len(tasks), 18)
        events, lines, report = self.watch(packets, *(word for name in tasks for word in ("--task", name)))
        self.assertGreater(sum(event["type"] == "finding" for event in events), 1000)
        self.assertEqual(lines, [])
        self.assertEqual(report["alarms"], [])

    def test_a_report_in_text_has_times_severity_and_how_long(self):
        packets = [
            traffic.packet(BEGIN_NS + i * 1_000_000, "10.9.0.1", "10.2.0.9", TCP, 9, i + 1, 0, 2) for i in range(3000)
        ]
        traffic.write_capture(self.capture, packets)
        done = subprocess.run(
            [PROGRAM, "watch", "-q", self.capture, "--tasks", "scans", "--top", "1"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        begin = datetime.datetime.fromtimestamp(BEGIN_NS / SECOND, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.assertRegex(done.stdout, r"\nalarms \(1 of 1, 1 open; all with --export alarms:FILE\):\n")
        self.assertRegex(
            done.stdout,
            rf"\n{begin}  warning  scans  10\.9\.0\.1  attempts \d+ .*\(peak 1000, open for 3 s\)\n",
        )

    def test_someone_at_the_terminal_sees_them_begin(self):
        task = "heavy-hitters:key=src,threshold=1,top=5,min-packets=0,min-rate=0,severity="
        for severity, quiet, shown in (("warning", [], True), ("info", [], False), ("warning", ["-q"], False)):
            reading, writing = os.openpty()
            words = [PROGRAM, "watch", "-g", "flows=40,protocol=sessions,pace=20000", "--task", task + severity, *quiet]
            words += ["--window", "200ms", "--duration", "2s", "-o", "/dev/null"]
            with subprocess.Popen(words, stderr=writing) as process:
                os.close(writing)
                said = b""
                with contextlib.suppress(OSError):  # the terminal closes
                    while part := os.read(reading, 65536):
                        said += part
            os.close(reading)
            self.assertEqual(process.returncode, 0)
            lines = re.findall(rb"parshall watch: \d{4}-\d\d-\d\d .* warning +heavy-hitters .*wire_bytes", said)
            self.assertEqual(len(lines) > 5, shown, said)

    def test_what_is_wrong_is_said(self):
        traffic.write_capture(self.capture, [traffic.packet(BEGIN_NS, "10.0.0.1", "10.0.0.2")])
        for arguments, mention in (
            (["--tasks", "scans", "--alarms", "hold-of=1s"], "hold-off"),
            (["--tasks", "scans", "--alarms", "quiet=1-2"], "quiet=1-2"),
            (["--task", "scans:severity=high"], "severity=high"),
        ):
            done = subprocess.run([PROGRAM, "watch", self.capture, *arguments], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(mention, done.stderr)


if __name__ == "__main__":
    PROGRAM = test_tasks.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
