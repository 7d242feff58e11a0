#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`parshall test run` where something goes wrong: it says so. Usage: test_device_faults.py PARSHALL"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import device_runs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/live"))
import netns
import processes
import side_by_side


class Faults(device_runs.DeviceTest):
    def test_a_fair_queue_without_nft_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("ip", "tc", "tee"):
                os.symlink(shutil.which(name), f"{folder}/{name}")
            done = subprocess.run(
                [device_runs.PARSHALL, "test", "run", "--through", "fair-queue:rate=1mbit,flows=2", "--count", "100"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
                env={**os.environ, "PATH": folder},
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn("nft", done.stderr)
        self.assertIn("nftables", done.stderr)

    def test_a_report_that_cannot_be_written_and_a_link_that_is_none_are_errors_and_leave_nothing(self):
        done = subprocess.run(
            [
                device_runs.PARSHALL,
                "test",
                "run",
                "--through",
                "wire",
                "--count",
                "100",
                "--settle",
                "100ms",
                "-o",
                "/dev/full",
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/full", done.stderr)
        for link in ("link:los=1", "link:delay=soon", "link:loss=200"):
            done = subprocess.run(
                [device_runs.PARSHALL, "test", "run", "--through", link, "--count", "100"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertEqual(done.returncode, 1, link)

    def test_an_interrupted_test_waits_for_what_is_under_way(self):
        process = subprocess.Popen(
            [
                device_runs.PARSHALL,
                "test",
                "run",
                "--through",
                "link:delay=300ms,limit=100000",
                "--rate",
                "1kpps",
                "--duration",
                "60s",
                "--settle",
                "1s",
                "--format",
                "json",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        process.stderr.readline()
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, said)
        found = json.loads(out)
        self.assertTrue(found["interrupted"])
        self.assertGreater(found["summary"]["sent_frames"], 500)
        self.assertEqual(found["summary"]["lost_frames"], 0)

    @side_by_side.alone
    def test_what_a_killed_test_left_goes_with_the_next(self):
        process = subprocess.Popen(
            [device_runs.PARSHALL, "test", "run", "--through", "link:delay=1ms", "--duration", "60s"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        process.stderr.readline()
        time.sleep(1)
        link = processes.links_of(process.pid)
        process.kill()
        process.communicate()
        self.assertEqual(len(link), 1)
        for _ in range(100):
            if not os.path.exists(f"/proc/{link[0]}"):
                break
            time.sleep(0.05)
        self.assertFalse(os.path.exists(f"/proc/{link[0]}"), "the link goes with who started it")
        left = {name for name in self.there() if name.startswith(f"parshall-{process.pid}-")}
        self.assertEqual(len(left), 1)
        self.check_nothing_lost("--through", "router", "--rate", "1kpps", "--count", "100")
        self.assertFalse(left & self.there())

    def test_a_device_that_passes_nothing_on_is_an_error_that_says_so(self):
        with netns.VethPair() as pair:
            done = subprocess.run(
                [
                    "ip",
                    "netns",
                    "exec",
                    pair.tx_space,
                    device_runs.PARSHALL,
                    "test",
                    "run",
                    "-i",
                    "wire0",
                    "--learn",
                    "1s",
                    "--duration",
                    "1s",
                ],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("nothing comes back", done.stderr)

    def test_wrong_usage_is_told(self):
        for arguments, said in (
            (["--through", "nothing"], "scenarios"),
            (["--through", "tbf"], "rate=10mbit"),
            (["--through", "wire:x=1"], "no settings"),
            (["--through", "fair-queue:rate=1mbit"], "flows"),
            (["--through", "fair-queue:rate=fast,flows=2"], "rate=fast"),
            (["--through", "fair-queue:rate=1mbit,flows=70000"], "flows=70000"),
            (["--through", "fair-queue:rate=1mbit,flows=2,flow=3"], "NAME=VALUE"),
            (["--through", "fair-queue:rate=1mbit,flows=2,flows=3"], "twice"),
            ([], "--through"),
            (["--through", "wire", "-g", "protocol=tcp,size=64"], "74"),
            (["--through", "wire", "--rate", "1"], "--rate"),
            (["--through", "wire", "--duration", "0"], "--duration"),
        ):
            done = subprocess.run(
                [device_runs.PARSHALL, "test", "run", *arguments],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertIn(done.returncode, (1, 2), arguments)
            self.assertIn(said, done.stderr, arguments)


if __name__ == "__main__":
    device_runs.PARSHALL = os.path.abspath(sys.argv.pop(1))
    reason = netns.why_not()
    if reason:
        print("SKIPPED devices under test:", reason)
        sys.exit(0)
    side_by_side.main(device_runs.PARSHALL, lanes=8)
