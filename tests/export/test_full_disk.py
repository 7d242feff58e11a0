# SPDX-License-Identifier: Apache-2.0
"""Files on a disk that is full for a while: what was written before and after is whole, what was lost is told, to the
record.

usage: test_full_disk.py PARSHALL [unittest arguments]
"""

import collections
import contextlib
import csv
import importlib
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = None
TRAFFIC = [
    "-g",
    "flows=20000,pace=5000,protocol=connections",
    "--idle",
    "10ms",
    "--flows",
    "8Ki",
    "--duration",
    "60s",
    "--columns",
    "+identity,tcp_flags",
    "--task",
    "heavy-hitters:window=20ms,threshold=0.1%",
]
MB = 1 << 20


class Disk:
    """A file system of so many MB, in a mount namespace of its own; root's."""

    def __init__(self, folder, mb):
        script = f'mount -t tmpfs -o size={mb}m tmpfs "$0" && echo mounted && exec sleep 300'
        self._keeper = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", script, folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.is_there = self._keeper.stdout.readline() == "mounted\n"
        self.path = pathlib.Path(f"/proc/{self._keeper.pid}/root{folder}")  # as others see it
        self._ballast = self.path / "ballast"

    def inside(self, *command):
        return ["nsenter", "--mount", "--target", str(self._keeper.pid), *map(str, command)]

    def fill(self):
        with open(self._ballast, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))

    def fill_but(self, room):
        with open(self._ballast, "wb", buffering=0) as file:
            file.write(bytes(os.statvfs(self.path).f_bavail * os.statvfs(self.path).f_frsize - room))

    def free(self):
        self._ballast.unlink()

    def end(self):
        self._keeper.kill()
        self._keeper.wait()
        self._keeper.stdout.close()


class FullDisk(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("SKIPPED a full disk takes root to make")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.disk = Disk(self.folder, 256)  # more than is written in the time
        self.addCleanup(self.disk.end)
        if not self.disk.is_there:
            self.skipTest("SKIPPED no file system can be mounted here")

    def start(self, *kinds, more=()):
        exports = [word for kind in kinds for word in ("--export", f"{kind}:{self.folder}/{kind}")]
        self.process = subprocess.Popen(
            self.disk.inside(PROGRAM, "watch", *TRAFFIC, *exports, *more, "--format", "json", "--top", "1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(
            lambda: (self.process.kill(), self.process.wait(), self.process.stdout.close(), self.process.stderr.close())
        )
        self.said = []
        self.listener = threading.Thread(target=lambda: self.said.extend(iter(self.process.stderr.readline, "")))
        self.listener.start()

    def wait_for(self, words, times=1):
        until = time.monotonic() + 20
        while sum(words in line for line in self.said) < times:
            self.assertLess(time.monotonic(), until, f"{words}: {self.said}")
            time.sleep(0.02)

    def finish(self):
        self.process.send_signal(signal.SIGTERM)
        summary = json.loads(self.process.stdout.read())["summary"]
        status = self.process.wait(30)
        self.listener.join()
        self.assertTrue(summary["accounting"]["balanced"])
        outputs = {output["name"].split(":")[0]: output for output in summary["outputs"]}
        for output in outputs.values():
            for unit in ("records", "packets", "findings"):
                self.assertEqual(
                    output["offered"][unit], output["written"][unit] + output["dropped"][unit], output["name"]
                )
        return status, outputs

    def in_file(self, kind):
        """Records and findings; each line has to be whole."""
        path = self.disk.path / kind
        if kind == "csv":
            return len(path.read_text().splitlines()) - 1, 0
        if kind == "events":
            return 0, len([json.loads(line) for line in path.read_text().splitlines()])
        if kind == "jsonl":
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            return sum("flow" in line for line in lines), sum("event" in line for line in lines)
        if kind == "arrow":
            return sum(
                batch.num_rows for batch in importlib.import_module("pyarrow.ipc").open_stream(path.read_bytes())
            ), 0
        done = subprocess.run([PROGRAM, "verify", path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return int(done.stdout.split(": ", 1)[1].split(" records")[0]), 0

    def test_files_go_on_once_there_is_room_and_have_what_they_are_said_to_have(self):
        kinds = ["csv", "jsonl", "events", "ipfix", "arrow"]
        self.start(*kinds)
        self.wait_for("at most")
        for _ in (1, 2):
            time.sleep(1)
            self.disk.fill()
            self.wait_for("No space left on device", len(kinds))  # said once a minute
            time.sleep(0.5)
            self.disk.free()
            self.wait_for("it works again", len(kinds))
        time.sleep(1)
        status, outputs = self.finish()
        self.assertEqual(status, 1, "something was lost")
        if not importlib.util.find_spec("pyarrow"):
            print("SKIPPED pyarrow is not installed: the Arrow stream is not read")
            kinds.remove("arrow")
        for kind in kinds:
            unit = "findings" if kind == "events" else "records"
            self.assertGreater(outputs[kind]["dropped"][unit], 0, kind)
            self.assertGreater(outputs[kind]["written"][unit], outputs[kind]["dropped"][unit] / 10, kind)
            self.assertEqual(
                self.in_file(kind), (outputs[kind]["written"]["records"], outputs[kind]["written"]["findings"]), kind
            )
        done = subprocess.run(
            [PROGRAM, "verify", self.disk.path / "jsonl"], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_disk_that_is_full_from_the_start_gets_whole_files_later(self):
        self.disk.fill()
        kinds = ["csv", "jsonl", "ipfix"]
        self.start(*kinds)
        self.wait_for("No space left on device", len(kinds))
        self.disk.free()
        self.wait_for("it works again", len(kinds))
        time.sleep(0.5)
        _, outputs = self.finish()
        for kind in kinds:
            self.assertGreater(outputs[kind]["written"]["records"], 0, kind)
            self.assertEqual(self.in_file(kind)[0], outputs[kind]["written"]["records"], kind)
        self.assertTrue((self.disk.path / "csv").read_text().startswith("ip_version,"))

    def test_one_that_is_full_in_the_end_has_no_half_line_and_says_so(self):
        self.start("jsonl")
        self.wait_for("at most")
        time.sleep(1)
        self.disk.fill()
        self.wait_for("No space left on device")
        status, outputs = self.finish()
        self.assertEqual(status, 1)
        self.assertEqual(
            self.in_file("jsonl"), tuple(outputs["jsonl"]["written"][unit] for unit in ("records", "findings"))
        )

    @staticmethod
    def packets_by_flow(*texts):
        """Of both directions; a line that the end of a disk cut is none."""
        found = collections.Counter()
        for text in texts:
            for row in csv.DictReader(text[: text.rindex("\n") + 1].splitlines()):
                ends = [(row["src_ip"], row["src_port"]), (row["dst_ip"], row["dst_port"])]
                found[row["protocol"], *ends] += int(row["packets"])
                if row.get("reverse_packets"):
                    found[row["protocol"], *reversed(ends)] += int(row["reverse_packets"])
        return found

    def test_what_a_report_lacks_is_in_the_one_that_is_rescued(self):
        def watch(*more):
            return [
                PROGRAM,
                "watch",
                "-q",
                "-g",
                "flows=20000,packets=1000000,protocol=connections,rate=1000000",
                "--idle",
                "20ms",
                "--seed",
                "1",
                "--format",
                "csv",
                *more,
            ]

        for more in ([], ["--biflow"]):
            with self.subTest(more=more), tempfile.TemporaryDirectory() as rescue:
                self.disk.fill_but(3 * MB)
                done = subprocess.run(
                    self.disk.inside(*watch("--count", "400k", "-o", f"{self.folder}/report.csv", *more)),
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=60,
                    env={**os.environ, "TMPDIR": rescue},
                )
                self.assertEqual(done.returncode, 1, done.stderr)
                report, rescued = (
                    self.disk.path / "report.csv",
                    pathlib.Path(re.search(r"the final report is in (\S+)", done.stderr)[1]),
                )
                found = self.packets_by_flow(report.read_text(), rescued.read_text())
                self.assertGreater(report.stat().st_size, 2 * MB)
                counted = re.search(r"(\d+) counted", done.stderr)[1]  # it ended when it could not write
                whole = self.packets_by_flow(
                    subprocess.run(
                        watch("--count", counted), capture_output=True, text=True, check=True, timeout=60
                    ).stdout
                )
                self.assertEqual([flow for flow, packets in whole.items() if found[flow] < packets], [])
                report.unlink()
                self.disk.free()

    def test_of_flows_that_are_live_in_the_end_what_finds_room_is_written(self):
        kinds = ["csv", "jsonl", "ipfix"]
        for kind in kinds:
            with self.subTest(kind=kind):
                path = self.disk.path / kind
                process = self.disk.inside(
                    PROGRAM,
                    "watch",
                    "-q",
                    "-g",
                    "flows=400000",
                    "--count",
                    "600k",
                    "--export",
                    f"{kind}:{self.folder}/{kind}",
                    "--format",
                    "json",
                    "--top",
                    "1",
                )
                self.disk.fill_but(8 * MB)
                done = subprocess.run(process, capture_output=True, text=True, check=False, timeout=60)
                (output,) = (
                    output
                    for output in json.loads(done.stdout)["summary"]["outputs"]
                    if output["name"].startswith(kind)
                )
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertGreater(path.stat().st_size, 6 * MB)
                self.assertGreater(output["dropped"]["records"], 0)
                self.disk.free()
                self.assertEqual(self.in_file(kind)[0], output["written"]["records"])
                path.unlink()

    def test_a_file_that_is_cut_to_make_room_is_begun_again(self):
        self.start("csv")
        self.wait_for("at most")
        time.sleep(0.5)
        self.disk.fill()
        self.wait_for("No space left on device")
        with open(self.disk.path / "csv", "w"):
            pass
        self.disk.free()
        self.wait_for("it works again")
        time.sleep(0.5)
        _, outputs = self.finish()
        text = (self.disk.path / "csv").read_text()
        self.assertTrue(text.startswith("ip_version,"))
        self.assertNotIn("\0", text)
        self.assertGreater(self.in_file("csv")[0], 0)
        self.assertLess(self.in_file("csv")[0], outputs["csv"]["written"]["records"])

    def test_that_it_is_full_is_told_soon_after_it_was_cut(self):
        self.start("csv")
        self.wait_for("at most")
        time.sleep(0.5)
        with open(self.disk.path / "csv", "w"):
            pass
        self.wait_for("it works again")
        self.disk.fill()
        self.wait_for("No space left on device")
        self.disk.free()
        time.sleep(0.5)
        status, _ = self.finish()
        self.assertEqual(status, 1)
        self.assertEqual(sum("No space left on device" in line for line in self.said), 1, self.said)

    def test_what_one_that_goes_loses_last_is_in_the_status(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "watch.toml"
            config.write_text("")
            self.start(more=("--config", config))
            self.wait_for("at most")
            accounts = []
            while not any("No space left on device" in line for line in accounts):
                self.assertLess(len(accounts), 10, accounts)
                config.write_text(f'[[export]]\nkind = "csv"\ntarget = "{self.folder}/csv"\n')
                self.process.send_signal(signal.SIGHUP)
                self.wait_for("was added as an output", len(accounts) + 1)
                time.sleep(0.3)
                config.write_text("")
                self.disk.fill()
                self.process.send_signal(signal.SIGHUP)  # mostly before it was seen that nothing can be written
                self.wait_for("was removed as an output", len(accounts) + 1)
                self.disk.free()
                accounts = [line for line in self.said if "was removed as an output" in line]
            status, _ = self.finish()
        self.assertEqual(status, 1)

    def test_an_ipfix_file_that_somebody_empties_can_be_read_from_there(self):
        self.start("ipfix")
        self.wait_for("at most")
        time.sleep(0.5)
        with open(self.disk.path / "ipfix", "w"):
            pass
        self.wait_for("somebody else cut")
        time.sleep(0.5)
        _, outputs = self.finish()
        done = subprocess.run(
            [PROGRAM, "verify", self.disk.path / "ipfix"], capture_output=True, text=True, check=False
        )
        self.assertNotIn("BROKEN", done.stdout)
        records = int(done.stdout.split(": ", 1)[1].split(" records")[0])
        self.assertTrue(0 < records < outputs["ipfix"]["written"]["records"], records)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
