# SPDX-License-Identifier: Apache-2.0
"""A command that runs when an alarm begins or ends: each has its run, one after the other.

usage: test_hook.py PARSHALL [unittest arguments]
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from program import PROGRAM

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tasks"))
import traffic

TASK = "any:window=10ms,hold-off=5ms:packets > 0"
FLOWS = 25


class Hook(unittest.TestCase):
    MESSAGE = re.compile(
        r"the command of --hook ran (\d+) times? \((\d+) failed\)(?:; (\d+) alarms? came too late for a run)?"
    )

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="parshall-hook-")
        self.out = os.path.join(self.folder.name, "out")
        self.alarms_file = os.path.join(self.folder.name, "alarms")
        self.capture = os.path.join(self.folder.name, "it.pcap")
        step_ns = 20_000_000
        begin_ns = traffic.BEGIN_NS // step_ns * step_ns
        packets = [traffic.packet(begin_ns + i * step_ns, f"10.1.0.{i}", "10.2.0.1") for i in range(FLOWS)]
        traffic.write_capture(self.capture, packets)

    def tearDown(self):
        self.folder.cleanup()

    def watch(self, command, *arguments, source=None, timeout=60, task=TASK, **environment):
        """Sets the alarms that began or ended, runs, failed, too_late, elapsed_s, and what was written."""
        began = time.monotonic()
        done = subprocess.run(
            [
                PROGRAM,
                "watch",
                *(source or ["-r", self.capture]),
                "--task",
                task,
                "--export",
                f"alarms:{self.alarms_file}",
                "--hook",
                command,
                "--format",
                "json",
                "--top",
                "1",
                "--flows",
                "1024",
                *arguments,
            ],
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, "OUT": self.out, **environment},
        )
        self.elapsed_s = time.monotonic() - began
        self.stdout, self.stderr, self.failed = done.stdout, done.stderr, 0
        with open(self.alarms_file) as file:
            lines = file.read().splitlines()
        self.told = [line for line in lines if json.loads(line)["alarm"] != "open" and not json.loads(line)["muted"]]
        if said := self.MESSAGE.search(done.stderr):
            self.runs, self.failed, self.too_late = (int(number or 0) for number in said.groups())
            self.assertEqual(self.runs + self.too_late, len(self.told), "every alarm has a run, or is counted")
        self.assertEqual(bool(said), self.failed != 0 or "--quiet" not in arguments)
        self.assertEqual(done.returncode, int(self.failed + self.too_late != 0) if said else 0, done.stderr)

    def written(self):
        with open(self.out) as file:
            return file.read().splitlines()

    def live(self, seconds):
        """Traffic of ten flows for so many seconds of the clock."""
        return ["-g", "flows=10,pace=2000", "--duration", f"{seconds}s"]

    def account(self):
        (output,) = (output for output in json.loads(self.stdout)["summary"]["outputs"] if output["name"] == "hook")
        return [output[state]["findings"] for state in ("offered", "written", "dropped")]

    def test_the_alarm_is_in_the_environment_as_it_is_in_the_file(self):
        self.watch(r'printf "%s\n%s\n%s\n" "$PARSHALL_ALARM" "$PARSHALL_TEXT" "$PARSHALL_STATE" >> "$OUT"')
        lines = self.written()
        self.assertEqual(lines[::3], self.told, "in their order, each once")
        alarms = [json.loads(line) for line in self.told]
        self.assertEqual(lines[2::3], [alarm["alarm"] for alarm in alarms])
        for text, alarm in zip(lines[1::3], alarms):
            self.assertIn(f"warning  any  {alarm['key_text']}", text)
        self.assertEqual([lines[2::3].count(state) for state in ("began", "ended")], [FLOWS, FLOWS - 1])
        self.assertEqual((self.runs, self.failed, self.account()), (2 * FLOWS - 1, 0, [2 * FLOWS - 1] * 2 + [0]))

    def test_variables_that_are_inherited_are_not_taken_for_the_alarms(self):
        """As where the monitor was itself started for an alarm."""
        self.watch('echo "$PARSHALL_STATE" >> "$OUT"', PARSHALL_STATE="inherited", PARSHALL_ALARM="inherited")
        self.assertNotIn("inherited", self.written())

    def test_every_alarm_of_a_capture_has_a_run_however_slow(self):
        self.watch('sleep 0.02; echo "$PARSHALL_ALARM" >> "$OUT"')
        self.assertEqual(self.written(), self.told)

    def test_muted_alarms_have_no_run(self):
        self.watch('echo >> "$OUT"', "--alarms", "mute=10.1.0.0/28")
        self.assertEqual(len(self.written()), len(self.told))
        self.assertEqual(sum(json.loads(line)["alarm"] == "began" for line in self.told), FLOWS - 16)

    def test_a_slow_command_does_not_hold_up_a_link(self):
        self.watch('sleep 0.7; echo >> "$OUT"', source=self.live(1))
        self.assertLess(self.elapsed_s, 15)
        self.assertLess(len(self.written()), len(self.told), "one at a time")
        self.assertEqual(len(self.written()), self.runs - self.failed)
        self.assertEqual(self.account(), [len(self.told), self.runs - self.failed, self.too_late + self.failed])

    def test_a_command_that_fails_is_an_error_of_the_run_and_in_its_account(self):
        self.watch('test "$(date +%N | cut -c9)" = x', "--quiet")
        self.assertEqual(self.failed, len(self.told), "said in any case")
        self.assertEqual(self.account(), [len(self.told), 0, len(self.told)])
        self.assertIn("hook: the command ended with status 1", self.stderr)
        self.watch('echo >> "$OUT"; test $(wc -l < "$OUT") != 3')
        self.assertEqual(self.failed, 1, "the third of them")

    def test_a_failing_command_is_counted(self):
        for command in ("exit 3", "/nowhere/command", "kill -9 $$"):
            with self.subTest(command=command):
                self.watch(command)
                self.assertEqual((self.runs, self.failed), (len(self.told), len(self.told)))
                self.assertEqual(self.account()[2], len(self.told))

    def test_a_command_that_hangs_is_ended_with_a_run_that_is_told_to_end(self):
        process = subprocess.Popen(
            [PROGRAM, "watch", "-r", self.capture, "--task", TASK, "--hook", 'echo >> "$OUT"; sleep 300']
            + ["-o", os.devnull],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OUT": self.out},
        )
        until = time.monotonic() + 20
        while not os.path.exists(self.out) and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        said = process.communicate(timeout=30)[1]
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(process.returncode, 1, said)
        self.assertEqual(self.MESSAGE.search(said)[2], "1", said)

    def test_a_command_that_never_ends_is_ended_and_what_it_began_too(self):
        self.watch('sleep 300 & echo $! >> "$OUT"; wait', source=self.live(0.5))
        self.assertLess(self.elapsed_s, 15)
        pid = int(self.written()[0])
        for _ in range(100):
            if not self.is_running(pid):
                break
            time.sleep(0.02)
        self.assertFalse(self.is_running(pid))

    def test_a_command_that_will_not_end_when_asked_is_ended(self):
        self.watch('trap "" TERM; sleep 7; sleep 7', source=self.live(0.5))
        self.assertLess(self.elapsed_s, 15)

    @staticmethod
    def is_running(pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_what_a_command_writes_is_not_in_the_report(self):
        self.watch("echo said; echo complained >&2; cat")
        self.assertIn("said\n", self.stderr)
        self.assertIn("complained\n", self.stderr)
        json.loads(self.stdout)

    def test_quiet_says_nothing(self):
        self.watch('echo >> "$OUT"', "--quiet")
        self.assertEqual(self.stderr, "")
        self.assertTrue(self.written())

    def test_without_an_alarm_nothing_is_run(self):
        self.watch('echo >> "$OUT"', task="heavy-hitters:threshold=1G")
        self.assertEqual((self.runs, self.failed, self.told), (0, 0, []))
        self.assertFalse(os.path.exists(self.out))

    def test_errors(self):
        done = subprocess.run(
            [PROGRAM, "watch", "-r", self.capture, "--hook", "true"], capture_output=True, text=True, timeout=60
        )
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--hook: name what to look for", done.stderr)


if __name__ == "__main__":
    unittest.main()
