# SPDX-License-Identifier: Apache-2.0
"""Full disks, readers that go, signals and damaged input: nothing that was measured is lost, and no program hangs.

usage: test_nothing_lost.py PARSHALL [unittest arguments]
"""

import contextlib
import gzip
import json
import lzma
import os
import shutil
import signal
import struct
import subprocess
import threading
import time
import unittest
import zlib

from program import (
    DAMAGED,
    DONE,
    FAILED,
    FILE_HEADER,
    PROGRAM,
    READER_GONE,
    Case,
    packet,
    packets_in,
    program_for,
    rows,
    run,
    wait_until_it_measures,
)


class NothingLost(Case):
    """However the run ends, what was measured is reported."""

    def rescued(self, done):
        line = next((line for line in done.lines if "the final report is in " in line), None)
        self.assertIsNotNone(line, done.err)
        path = line.split("the final report is in ")[1].strip()
        self.addCleanup(lambda: os.path.exists(path) and os.remove(path))
        with open(path, encoding="ascii") as file:
            return file.read()

    def test_a_full_disk(self):
        done = run(
            "watch", "-q", "-r", self.capture(), "--format", "csv", "-o", "/dev/full", env={"TMPDIR": self.folder}
        )
        self.assert_says(done, FAILED, "/dev/full", "No space left")
        self.assertEqual(packets_in(rows(self.rescued(done))), 1000)

    def test_a_full_disk_and_no_folder_for_temporary_files(self):
        done = run(
            "watch", "-q", "-r", self.capture(), "--format", "csv", "-o", "/dev/full", env={"TMPDIR": "/no/such/folder"}
        )
        self.assert_says(done, FAILED, "/dev/full", "1000 counted")

    def test_a_reader_that_wants_no_more_ends_the_program_in_silence(self):
        """As `| head` does; nothing is left behind."""
        good = self.capture(packets=200000, flows=100000)
        for command in (
            ["watch", "-q", "-r", good, "--format", "csv"],
            ["watch", "-q", "-r", good, "--format", "json", "--every", "1ms"],
            [
                "watch",
                "-q",
                "-r",
                good,
                "--task",
                "big=packets > 0",
                "--window",
                "10ms",
                "--export",
                "events:-",
                "-o",
                os.devnull,
            ],
            [
                "watch",
                "-q",
                "-g",
                "flows=20000,packets=100000",
                "--flows",
                "1000",
                "--every",
                "20ms",
                "--count",
                "2M",
                "--format",
                "csv",
            ],
            ["send", "-q", "-g", "flows=50000", "--null", "--count", "100000", "--per-flow", "--format", "csv"],
        ):
            for read in (0, 100):
                with self.subTest(command=command, read=read):
                    process = subprocess.Popen(
                        [PROGRAM, *command],
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        env={**os.environ, "TMPDIR": self.folder},
                    )
                    os.read(process.stdout.fileno(), read) if read else None
                    process.stdout.close()
                    err = process.stderr.read()
                    process.stderr.close()
                    self.assertEqual((process.wait(timeout=60), err), (READER_GONE, b""))
                    self.assertEqual(os.listdir(self.folder), [os.path.basename(good)])

    def test_records_of_earlier_reports_that_a_full_disk_did_not_take(self):
        """Records that ended before, and are in no report, are in the file of last resort."""
        done = run(
            "watch",
            "-q",
            "-g",
            "flows=20000,packets=100000",
            "--flows",
            "1000",
            "--every",
            "20ms",
            "--count",
            "2M",
            "--format",
            "csv",
            "-o",
            "/dev/full",
            env={"TMPDIR": self.folder},
        )
        self.assert_says(done, FAILED, "/dev/full")
        counted = int(next(line for line in done.lines if " counted" in line).split(" counted")[0].split()[-1])
        self.assertEqual(packets_in(rows(self.rescued(done))), counted)
        self.assertNotIn("BALANCE", done.err.decode())

    def test_reports_of_a_capture_are_of_intervals_of_its_own_time(self):
        """The n-th has all packets before that time and no other, whoever reads; an interval without packets has
        none."""
        times = [*range(1000), *range(5000, 5300), 5100, *range(7000, 7050)]  # microseconds
        data = FILE_HEADER
        for number, time_us in enumerate(times):
            data += struct.pack("<II", 1600000000, time_us) + packet(number, 50)[8:]
        with open(self.path("gaps.pcap"), "wb") as file:
            file.write(data)
        begin, expected = 250, []
        for i, time_us in enumerate(times):
            if time_us >= begin:
                expected.append(i)
                begin += (time_us - begin) // 250 * 250 + 250
        expected.append(len(times))
        self.assertEqual(len(expected), 4 + 2 + 1)
        for threads in (
            [],
            ["--workers", "3"],
            ["--workers", "2", "--threads", "pipeline"],
            ["--threads", "cooperative"],
            ["--batch", "7"],
        ):
            for source in (["-r", self.path("gaps.pcap")], ["-r", "-"]):
                with self.subTest(threads=threads, source=source):
                    done = run("watch", "-q", *source, "--every", "250us", "--format", "json", *threads, stdin=data)
                    self.assertEqual((done.status, done.err), (DONE, b""))
                    reports = [json.loads(line) for line in done.out.splitlines()]
                    self.assertEqual([report["summary"]["packets"] for report in reports], expected)
                    for report in reports:
                        self.assertTrue(report["summary"]["accounting"]["balanced"])
                        self.assertEqual(packets_in(report["flows"]), report["summary"]["packets"])

    def test_time_that_leaps_to_its_end_makes_no_endless_reports(self):
        data = FILE_HEADER + b"".join(
            struct.pack("<II", seconds, 0) + packet(0, 1)[8:] for seconds in (0, 1, 0xFFFFFFFF, 0xFFFFFFFF, 5)
        )
        done = run("watch", "-q", "-r", "-", "--every", "1ns", "--format", "json", stdin=data)
        self.assertEqual([json.loads(line)["summary"]["packets"] for line in done.out.splitlines()], [1, 2, 5])

    def test_standard_error_that_cannot_be_written(self):
        good = self.capture()
        with open("/dev/full", "wb") as full:
            done = run("watch", "-r", good, "--format", "csv", stderr=full)
        self.assertEqual(done.status, DONE)
        self.assertEqual(packets_in(rows(done.out)), 1000)
        closed = subprocess.run(
            ["sh", "-c", '"$0" watch -r "$1" --format csv 2>&-', PROGRAM, good],
            stdout=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        self.assertEqual(closed.returncode, DONE)
        self.assertEqual(packets_in(rows(closed.stdout)), 1000)

    def test_a_file_name_that_is_not_utf8(self):
        path = os.fsencode(self.folder) + b"/caf\xe9.pcap"
        shutil.copy(self.capture(), path)
        done = run("watch", "-q", "-r", path, "--format", "json")
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual(packets_in(json.loads(done.out)["flows"]), 1000)

    def interrupted(self, number, *arguments):
        process = subprocess.Popen(
            [
                program_for(PROGRAM, arguments),
                "watch",
                "-g",
                "flows=500,packets=10000",
                "--flows",
                "4096",
                *arguments,
                "--format",
                "json",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        wait_until_it_measures(process)
        time.sleep(0.2)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, DONE, err)
        return json.loads(out)

    def test_one_signal_ends_with_a_balanced_report(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for threads in (
                [],
                ["--workers", "2"],
                ["--workers", "2", "--threads", "pipeline"],
                ["--threads", "cooperative"],
                ["--packets-only"],
            ):
                with self.subTest(signal=number, threads=threads):
                    report = self.interrupted(number, *threads)
                    accounting = report["summary"]["accounting"]
                    self.assertTrue(accounting["balanced"], accounting)
                    self.assertTrue(report["summary"]["final"])
                    self.assertGreater(accounting["counted"], 1000)
                    if threads != ["--packets-only"]:
                        self.assertEqual(packets_in(report["flows"]), accounting["counted"])

    def at_a_pace(self, traffic, seconds, *arguments):
        done = run(
            "watch",
            "-q",
            "-g",
            f"flows=500,packets=10000,{traffic}",
            "--flows",
            "4096",
            "--duration",
            f"{seconds}s",
            "--format",
            "json",
            *arguments,
        )
        self.assertEqual(done.status, DONE, done.err)
        accounting = json.loads(done.out)["summary"]["accounting"]
        self.assertTrue(accounting["balanced"], accounting)
        return accounting

    def test_what_comes_too_fast_is_missed_and_counted(self):
        for arguments in (
            [],
            ["--packets-only"],
            ["--threads", "pipeline", "--workers", "2"],
            ["--threads", "cooperative"],
        ):
            with self.subTest(arguments=arguments):
                accounting = self.at_a_pace("pace=1e9", 0.5, *arguments)
                self.assertGreater(accounting["nic_missed"], accounting["counted"])
                self.assertGreater(accounting["counted"], 100_000)
                self.assertEqual(
                    accounting["offered"],
                    accounting["nic_missed"] + (accounting["ring_full"] or 0) + accounting["counted"],
                )
                self.assertGreater(accounting["offered"], 0.3e9)
                self.assertLess(accounting["offered"], 2e9)

    def test_what_comes_slowly_is_all_counted(self):
        for traffic, least, most in (
            ("pace=20000,queue=65536", 15_000, 30_000),
            ("pace=40000,swing=50,queue=65536", 15_000, 30_000),
        ):
            with self.subTest(traffic=traffic):
                accounting = self.at_a_pace(traffic, 1)
                self.assertEqual(accounting["nic_missed"], 0)
                self.assertTrue(least < accounting["counted"] < most, accounting)

    def test_a_second_signal_that_follows_at_once_loses_nothing(self):
        """timeout(1) signals its child, and then the group that both are in."""
        for between in (0, 0.02):
            with self.subTest(between=between):
                process = subprocess.Popen(
                    [PROGRAM, "watch", "-g", "flows=50000,packets=100000", "--format", "json"],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
                wait_until_it_measures(process)
                time.sleep(0.2)
                process.send_signal(signal.SIGTERM)
                time.sleep(between)
                process.send_signal(signal.SIGTERM)
                out, err = process.communicate(timeout=20)
                self.assertEqual(process.returncode, DONE, err)
                self.assertTrue(json.loads(out)["summary"]["final"])

    def test_two_signals_end_at_once(self):
        reading, writing = os.pipe()
        process = subprocess.Popen(
            [PROGRAM, "watch", "-g", "flows=50000,packets=100000", "--format", "csv"],
            stdout=writing,
            stderr=subprocess.PIPE,
        )
        os.close(writing)
        wait_until_it_measures(process)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(1.0)  # nobody reads: the report cannot be finished
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        status = process.wait(timeout=10)
        self.assertLess(time.monotonic() - began, 2)
        self.assertEqual(status, 130)
        self.assertIn(b"ended at once by a second signal", process.stderr.read())
        os.close(reading)
        process.stderr.close()

    def test_a_damaged_capture_is_reported_up_to_the_damage(self):
        for cut, packets in ((1, 999), (60, 999), (61, 999), (76, 999), (77, 998)):
            with self.subTest(cut=cut):
                done = run("watch", "-q", "-r", self.capture(cut=cut), "--format", "csv")
                if cut == 76:
                    self.assertEqual(done.status, DONE)
                else:
                    self.assert_says(done, DAMAGED, "good.pcap")
                self.assertEqual(packets_in(rows(done.out)), packets)
        done = run("watch", "-q", "-r", self.capture(cut=30), "--format", "json", "--workers", "2")
        self.assertEqual(done.status, DAMAGED)
        summary = json.loads(done.out)["summary"]
        self.assertTrue(summary["damage"])
        self.assertTrue(summary["accounting"]["balanced"])
        self.assertEqual(summary["packets"], 999)

    def test_a_damaged_or_cut_compressed_capture_is_reported_up_to_there(self):
        with open(self.capture(packets=20000, flows=500), "rb") as file:
            plain = file.read()
        for name, whole in (("gz", gzip.compress(plain)), ("xz", lzma.compress(plain))):
            damaged = bytearray(whole)
            damaged[len(whole) - 6] ^= 0xFF
            for workers in ("1", "2"):
                for what, data in (("are cut at byte", whole[: len(whole) // 2]), ("damaged", bytes(damaged))):
                    with self.subTest(name=name, workers=workers, what=what):
                        with open(self.path(name), "wb") as file:
                            file.write(data)
                        done = run("watch", "-q", "-r", self.path(name), "--format", "json", "--workers", workers)
                        self.assert_says(done, DAMAGED, name, what, "of the compressed input", " -t", lines=1)
                        summary = json.loads(done.out)["summary"]
                        self.assertTrue(summary["accounting"]["balanced"])
                        self.assertIn(what, summary["damage"])
                        self.assertGreater(summary["packets"], 5000)

    def test_a_compressed_bomb_ends_with_its_count_or_a_signal(self):
        """A capture's header and endless zeros, which are packets without bytes."""
        stream = zlib.compressobj(6, zlib.DEFLATED, 31)
        head = stream.compress(FILE_HEADER) + stream.flush(zlib.Z_FULL_FLUSH)
        zeros = stream.compress(bytes(1 << 24)) + stream.flush(zlib.Z_FULL_FLUSH)  # may be repeated as it is
        with open(self.path("bomb.gz"), "wb") as file:
            file.write(head + 1000 * zeros)  # 16 GB
        began = time.monotonic()
        done = run("watch", "-q", "-r", self.path("bomb.gz"), "--count", "1000", "--format", "json")
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual(json.loads(done.out)["summary"]["accounting"]["offered"], 1000)
        self.assertLess(time.monotonic() - began, 2)

        process = subprocess.Popen(
            [PROGRAM, "watch", "-q", "-r", "-", "--format", "json", "--workers", "2"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

        fed = threading.Semaphore(0)

        def feed():
            try:
                process.stdin.write(head)
                while True:
                    process.stdin.write(zeros)
                    fed.release()
            except BrokenPipeError:
                pass
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()

        self.addCleanup(process.kill)
        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        for _ in range(32):  # each has 1,048,576 packets
            self.assertTrue(fed.acquire(timeout=30), f"it takes no more; its status is {process.poll()}")
        self.assertIsNone(process.poll())
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            peak_kb = int(next(line.split()[1] for line in file if line.startswith("VmHWM")))
        self.assertLess(peak_kb, 1 << 20)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.wait(timeout=10)
        self.assertLess(time.monotonic() - began, 2)
        feeder.join()
        out, err = process.stdout.read(), process.stderr.read()
        self.assertGreater(json.loads(out)["summary"]["accounting"]["offered"], 1000000, err)
        for pipe in (process.stdout, process.stderr):
            pipe.close()

    def test_a_wild_length_in_the_middle(self):
        with open(self.capture(), "rb") as file:
            data = bytearray(file.read())
        at = 24 + 500 * 76
        data[at + 8 : at + 12] = b"\xff\xff\xff\x7f"
        with open(self.path("wild.pcap"), "wb") as file:
            file.write(data)
        done = run("watch", "-q", "-r", self.path("wild.pcap"), "--format", "csv")
        self.assert_says(done, DAMAGED, "wild.pcap")
        self.assertEqual(packets_in(rows(done.out)), 500)


if __name__ == "__main__":
    unittest.main()
