# SPDX-License-Identifier: Apache-2.0
"""Runs `parshall test run` through devices, for tests. They set PARSHALL first."""

import json
import os
import re
import subprocess
import time
import unittest

PARSHALL = "parshall"


def test_run(*arguments, status=0):
    done = subprocess.run(
        [PARSHALL, "test", "run", "--settle", "500ms", *arguments], capture_output=True, text=True, timeout=100
    )
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done


def report(*arguments):
    return json.loads(test_run(*arguments, "--format", "json").stdout)


class DeviceTest(unittest.TestCase):
    """Leaves nothing behind."""

    @staticmethod
    def there():
        """Namespaces, and interfaces of this one, that are named for a process which is no more."""
        names = [
            subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout
            for words in (["netns"], ["-o", "link"])
        ]
        found = [line.split(" (")[0] for line in names[0].splitlines()] + [
            line.split(": ")[1].split("@")[0] for line in names[1].splitlines()
        ]
        makers = {name: re.match(r"(?:parshall-|ps|parsh)(\d+)[-ab]", name) for name in found}
        return {name for name, maker in makers.items() if maker and not os.path.exists(f"/proc/{maker[1]}")}

    def setUp(self):
        self.before = self.there()

    def tearDown(self):
        for _ in range(100):  # the kernel takes its time with the interfaces of a namespace
            if self.there() <= self.before:
                break
            time.sleep(0.05)
        self.assertLessEqual(self.there(), self.before, "nothing is left behind")

    def check_nothing_lost(self, *arguments):
        found = report(*arguments)
        total = found["summary"]
        self.assertEqual(total["received_frames"], total["sent_frames"])
        self.assertEqual(
            (total["lost_frames"], total["duplicate_frames"], total["corrupted_frames"], total["reordered_frames"]),
            (0, 0, 0, 0),
        )
        self.assertGreater(total["latency_min_ns"], 0)
        return found
