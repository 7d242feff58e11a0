# SPDX-License-Identifier: Apache-2.0
"""Outputs beside the report, as users meet them: records as they end, and an account of each.

usage: test_outputs.py PARSHALL [unittest arguments]
"""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import threading
import time
import unittest

from program import DONE, FAILED, PROGRAM, USAGE, Case, packets_in, rows, run


def arrow_rows(data):
    """Of all batches of an IPC stream together; it must end where it says that it does."""

    def field(table, i):
        vtable = table - struct.unpack_from("<i", data, table)[0]
        offset = (
            struct.unpack_from("<H", data, vtable + 4 + 2 * i)[0]
            if 4 + 2 * i < struct.unpack_from("<H", data, vtable)[0]
            else 0
        )
        return offset and table + offset

    number = lambda at: struct.unpack_from("<q", data, at)[0] if at else 0
    at = count = 0
    while True:
        marker, size = struct.unpack_from("<II", data, at)
        assert marker == 0xFFFFFFFF, f"no message at {at}"
        at += 8
        if size == 0:
            assert at == len(data), f"{len(data) - at} bytes behind the end"
            return count
        message = at + struct.unpack_from("<I", data, at)[0]
        if data[field(message, 1)] == 3:  # a RecordBatch
            batch = field(message, 2)
            count += number(field(batch + struct.unpack_from("<I", data, batch)[0], 0))
        at += size + number(field(message, 3))


class Outputs(Case):
    def ended(self, *arguments, **more):
        """The summary of 200,000 packets of 100,000 flows, that end as there is room for 1,000."""
        return run(
            "watch",
            "-g",
            "flows=100000,dist=uniform,packets=200000",
            "--count",
            "200000",
            "--flows",
            "1000",
            "--seed",
            "1",
            "--format",
            "json",
            *arguments,
            **more,
        )

    def test_records_that_find_no_room_are_counted_and_said_once(self):
        # Its rows take some 2 kB each: without a folder 128 MB of memory are all there is.
        for arguments in (["--spool", "1M"], ["--columns", "+gap_p99,iat_p99,size_p99"]):
            with self.subTest(arguments=arguments):
                done = self.ended(*arguments, env={"TMPDIR": "/no/such/folder"})
                self.assertEqual(done.status, DONE, done.err)
                report = json.loads(done.out)
                summary = report["summary"]
                self.assertTrue(summary["accounting"]["balanced"])
                self.assertGreater(summary["dropped_records"], 0)
                self.assertEqual(
                    len(report["flows"]), summary["live_flows"] + summary["ended_records"] - summary["dropped_records"]
                )
                self.assertEqual(packets_in(report["flows"]), summary["packets"] - summary["dropped_record_packets"])
                self.assertEqual(done.err.decode().count("do not fit in the spool"), 1, done.err)

    def test_records_that_nobody_reads_take_no_room(self):
        """The program's temporary file has no name: so it is looked for among what is open."""
        process = subprocess.Popen(
            [
                PROGRAM,
                "watch",
                "-q",
                "-g",
                "flows=1000000,packets=1000000,pace=500000",
                "--flows",
                "1000",
                "-o",
                os.devnull,
            ],
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": self.folder},
        )
        time.sleep(3)
        files = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in os.listdir(f"/proc/{process.pid}/fd")]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (DONE, b""))
        self.assertEqual([file for file in files if "parshall-" in file], [])

    def test_a_file_may_have_the_name_of_a_number_with_a_unit(self):
        self.capture(packets=1000, name="5k")
        done = run("watch", "-r", "5k", "--format", "csv", "-o", "2M", cwd=self.folder)
        self.assertEqual((done.status, sorted(os.listdir(self.folder))), (DONE, ["2M", "5k"]), done.err)
        self.assertEqual(packets_in(rows(pathlib.Path(self.path("2M")).read_text())), 1000)

    def test_a_start_that_fails_leaves_earlier_files_as_they_are(self):
        old, report, traffic = self.path("old.csv"), self.path("old.json"), ["-g", "flows=10,packets=10"]
        limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))}
        for arguments, said, more in (
            ([*traffic, "-o", "/no/such/folder/report"], "cannot write /no/such/folder/report", {}),
            (
                [*traffic, "-o", report, "--export", "csv:/no/such/folder/flows.csv"],
                "cannot write /no/such/folder/flows.csv",
                {},
            ),
            (["-r", self.capture(), "--filter", "inbound", "-o", report], "inbound", {}),
            ([*traffic, "--flows", "64Mi", "-o", report], "no memory for", limited),
        ):
            with self.subTest(said=said):
                for path in (old, report):
                    pathlib.Path(path).write_text("of an earlier run")
                done = run("watch", "--export", f"csv:{old}", *arguments, **more)
                self.assertNotEqual(done.status, DONE)
                self.assertIn(said, done.err.decode())
                self.assertEqual([pathlib.Path(path).read_text() for path in (old, report)], 2 * ["of an earlier run"])

    def test_a_file_that_may_only_grow_is_refused_at_the_start(self):
        path = self.path("grows.csv")
        pathlib.Path(path).write_text("of an earlier run")
        makes_it_grow = ["chattr", "+a", path]
        if not shutil.which("chattr") or subprocess.run(makes_it_grow, capture_output=True, check=False).returncode:
            self.skipTest("SKIPPED: no file here may be made to grow only")
        self.addCleanup(subprocess.run, ["chattr", "-a", path], check=True)
        done = run("watch", "-g", "flows=10,packets=10", "--count", "10", "--export", f"csv:{path}")
        self.assert_says(done, FAILED, f"cannot write {path}", "cannot be emptied")
        self.assertEqual(pathlib.Path(path).read_text(), "of an earlier run")

    def test_a_run_begins_its_files_anew_before_anything_comes(self):
        paths = [
            pathlib.Path(self.path(name))
            for name in ("flows.csv", "flows.ipfix", "report.csv", "report.json", "top.txt")
        ]
        for path in paths:
            path.write_text("of an earlier run")
        flows, ipfix, report, other, top = map(str, paths)
        process = [
            subprocess.Popen([PROGRAM, "watch", "-q", "-g", "flows=1,packets=1000,pace=1", *arguments])
            for arguments in (
                ["--export", f"csv:{flows}", "--export", f"ipfix:{ipfix}", "-o", os.devnull],
                ["--format", "csv", "-o", report],
                ["--format", "json", "-o", other],
                ["-o", top],
            )
        ]
        self.addCleanup(lambda: [(each.kill(), each.wait()) for each in process])
        end = time.monotonic() + 30
        while any(path.read_text() for path in paths) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual([path.read_text() for path in paths], 5 * [""])

    def test_what_an_earlier_run_left_is_no_loss_of_this_one(self):
        """However much comes at once, in however long writes."""
        for kind in ("csv", "jsonl", "arrow", "ipfix"):
            path = self.path(f"flows.{kind}")
            with self.subTest(kind=kind):
                pathlib.Path(path).write_bytes(b"x" * 100_000_000)
                done = run(
                    "watch",
                    "-q",
                    "-g",
                    "flows=100000,packets=100000",
                    "--count",
                    "100000",
                    "--export",
                    f"{kind}:{path}",
                    "-o",
                    os.devnull,
                )
                self.assertEqual((done.status, done.err), (DONE, b""))
                again = pathlib.Path(path).read_bytes()
                self.assertNotIn(b"xxxxxxxxxxxxxxxx", again)
                os.unlink(path)
                if kind == "arrow":  # which flows share a batch, as it comes, says how far that is filled up
                    self.assertEqual(arrow_rows(again), 100000)
                    continue
                run(
                    "watch",
                    "-q",
                    "-g",
                    "flows=100000,packets=100000",
                    "--count",
                    "100000",
                    "--export",
                    f"{kind}:{path}",
                    "-o",
                    os.devnull,
                )
                new = pathlib.Path(path).read_bytes()
                if kind == "jsonl":  # times in the account have as many digits as they have
                    self.assertIn("outputs", json.loads(again.splitlines()[-1])["summary"])
                    again, new = (b"\n".join(whole.splitlines()[:-1]) for whole in (again, new))
                self.assertEqual(len(again), len(new))

    def test_records_leave_as_they_end(self):
        """Long before the end of the run, and each once."""
        path = self.path("flows.csv")
        process = subprocess.Popen(
            [
                PROGRAM,
                "watch",
                "-q",
                "-g",
                "flows=20000,packets=1000000,pace=100000",
                "--idle",
                "100ms",
                "--flows",
                "64Ki",
                "--count",
                "400k",
                "--format",
                "csv",
                "-o",
                path,
                "--columns",
                "+end_reason",
            ],
            stderr=subprocess.PIPE,
        )
        early = 0
        while early < 10000 and process.poll() is None:
            time.sleep(0.01)
            early = os.path.getsize(path) if os.path.exists(path) else 0
        self.assertIsNone(process.poll(), "the run was over")
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (DONE, b""))
        with open(path, "rb") as file:
            flows = rows(file.read())
        self.assertEqual(packets_in(flows), 400000)
        self.assertGreater(sum(flow["end_reason"] == "idle" for flow in flows), 1000)

    def test_after_a_signal_it_is_said_whose_reader_a_run_waits_for(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        process = subprocess.Popen(
            [
                PROGRAM,
                "watch",
                "-q",
                "-g",
                "flows=20000,packets=1000000",
                "--idle",
                "1ms",
                "--export",
                "csv:" + pipe,
                "--export",
                "csv:" + self.path("flows.csv"),
                "-o",
                "/dev/null",
            ],
            stderr=subprocess.PIPE,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        written = pathlib.Path(self.path("flows.csv"))
        until = time.monotonic() + 60
        while not (written.exists() and written.stat().st_size) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertGreater(written.stat().st_size, 0)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        killer = threading.Timer(20, process.kill)
        killer.start()
        said = process.stderr.readline().decode()
        killer.cancel()
        self.assertIn("waiting for the reader of csv:" + pipe, said)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), 130)

    def stuck(self, *arguments):
        """A run whose export nobody reads."""
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        process = subprocess.Popen(
            [PROGRAM, "watch", "-q", *arguments, "--export", "csv:" + pipe, "-o", "/dev/null"], stderr=subprocess.PIPE
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def assert_waits(self, process):
        killer = threading.Timer(20, process.kill)
        killer.start()
        said = process.stderr.readline().decode()
        killer.cancel()
        self.assertIn("waiting for the reader of csv:" + self.path("pipe"), said)

    def test_after_a_signal_it_is_said_too_while_a_report_waits_for_that_reader(self):
        process = self.stuck("-g", "flows=20000,packets=1000000", "--idle", "1ms", "--every", "100ms")
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        self.assert_waits(process)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), 130)

    def test_it_is_said_whose_reader_takes_no_live_flows_in_the_end(self):
        process = self.stuck("-g", "flows=20000,packets=20000", "--count", "20000")
        self.assert_waits(process)
        for _ in range(2):
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            time.sleep(1)
        self.assertEqual(process.wait(timeout=20), 130)

    def test_a_reader_that_does_not_read_costs_records_of_a_link_and_no_memory(self):
        """What it got and what was dropped is all there was."""
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        process = subprocess.Popen(
            [
                PROGRAM,
                "watch",
                "-g",
                "flows=4000000,packets=8000000,pace=500000",
                "--idle",
                "100ms",
                "--flows",
                "256Ki",
                "--duration",
                "4s",
                "--format",
                "csv",
                "-o",
                pipe,
            ],
            stderr=subprocess.PIPE,
        )
        with open(pipe, "rb") as reader:
            time.sleep(4.5)
            got = reader.read()
        _, err = process.communicate(timeout=60)
        said = err.decode()
        self.assertEqual(process.returncode, DONE, said)
        account = re.search(
            r"(\d+) records? of flows \((\d+) packets?\) = (\d+) \((\d+)\) written \+ (\d+) \((\d+)\) dropped", said
        )
        self.assertTrue(account, said)
        offered, packets, written, written_packets, dropped, dropped_packets = map(int, account.groups())
        self.assertEqual((offered, packets), (written + dropped, written_packets + dropped_packets))
        self.assertGreater(dropped, 1000)
        self.assertEqual(said.count("does not fit in the queue"), 1, said)
        lines = rows(got)
        self.assertEqual((len(lines), packets_in(lines)), (written, written_packets))

    def test_several_outputs_have_the_same_records_and_an_account_each(self):
        csv, lines, events = self.path("flows.csv"), self.path("flows.jsonl"), self.path("events.jsonl")
        done = run(
            "watch",
            "-q",
            "-g",
            "flows=20000,packets=1000000",
            "--count",
            "200k",
            "--idle",
            "1ms",
            "--export",
            "csv:" + csv,
            "--export",
            "jsonl:" + lines,
            "--task",
            "count:window=10000p",
            "--export",
            f"events:{events}",
            "--format",
            "json",
            "--top",
            "3",
            "--seed",
            "1",
        )
        self.assertEqual((done.status, done.err), (DONE, b""))
        report = json.loads(done.out)
        with open(csv, "rb") as file:
            flows = rows(file.read())
        with open(lines) as file:
            objects = [json.loads(line) for line in file]
        with open(events) as file:
            self.assertEqual([json.loads(line) for line in file], report["events"])
        self.assertEqual([entry["event"] for entry in objects if "event" in entry], report["events"])
        written = [entry["flow"] for entry in objects if "flow" in entry]
        self.assertEqual([{name: str(value) for name, value in flow.items()} for flow in written], flows)
        self.assertEqual(packets_in(flows), 200000)
        self.assertGreater(len(flows), 20000, "none ended")
        self.assertEqual(list(objects[-1]), ["summary"], "the summary comes last")
        outputs = {output["name"]: output for output in report["summary"]["outputs"]}
        everything = {"records": len(flows), "packets": 200000}
        for name, expected in (
            ("csv:" + csv, {**everything, "findings": 0}),
            ("jsonl:" + lines, {**everything, "findings": 20}),
            ("events:" + events, {"records": 0, "packets": 0, "findings": 20}),
        ):
            with self.subTest(output=name):
                self.assertEqual(outputs[name]["offered"], expected)
                self.assertEqual(outputs[name]["written"], expected)
                for rest in ("waiting", "dropped"):
                    self.assertEqual(set(outputs[name][rest].values()), {0})

    def test_an_output_beside_them_takes_no_record_from_reports(self):
        traffic = [
            "watch",
            "-q",
            "-g",
            "flows=20000,packets=1000000",
            "--count",
            "200k",
            "--idle",
            "1ms",
            "--export",
            "csv:" + self.path("flows.csv"),
        ]
        for words, flows_of in (
            (["--format", "json"], lambda out: json.loads(out)["flows"]),
            (["--format", "csv", "--sort", "packets"], rows),
        ):
            with self.subTest(words=words):
                done = run(*traffic, *words)
                self.assertEqual((done.status, done.err), (DONE, b""))
                self.assertEqual(packets_in(flows_of(done.out)), 200000)
                with open(self.path("flows.csv"), "rb") as file:
                    self.assertEqual(packets_in(rows(file.read())), 200000)

    def test_reports_on_the_way_have_the_account_of_outputs_too(self):
        csv = self.path("flows.csv")
        done = run(
            "watch",
            "-q",
            "-r",
            self.capture(packets=5000),
            "--idle",
            "1us",
            "--every",
            "100us",
            "--export",
            "csv:" + csv,
            "--format",
            "json",
        )
        self.assertEqual((done.status, done.err), (DONE, b""))
        sums = [json.loads(line)["summary"]["outputs"][0] for line in done.out.splitlines()]
        self.assertGreater(len(sums), 2)
        for output in sums:
            parts = [output[part] for part in ("written", "waiting", "dropped")]
            for what in ("records", "packets"):
                self.assertEqual(output["offered"][what], sum(part[what] for part in parts))
        self.assertGreater(sums[-2]["offered"]["records"], 0, "none on the way")
        self.assertEqual(sums[-1]["written"]["packets"], 5000)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_an_output_that_cannot_be_written_costs_the_others_nothing(self):
        csv = self.path("flows.csv")
        done = run(
            "watch",
            "-q",
            "-g",
            "flows=20000,packets=1000000",
            "--count",
            "200k",
            "--idle",
            "1ms",
            "--export",
            "jsonl:/dev/full",
            "--format",
            "csv",
            "-o",
            csv,
        )
        self.assert_says(done, FAILED, "jsonl:/dev/full", "No space left", "0 (0) written")
        with open(csv, "rb") as file:
            self.assertEqual(packets_in(rows(file.read())), 200000)

    def test_a_file_whose_name_has_a_time_never_takes_the_place_of_another(self):
        for number in range(3):
            done = run(
                "watch",
                "-q",
                "-r",
                self.capture(packets=100 + number),
                "-o",
                "/dev/null",
                "--export",
                "csv:" + self.path("flows-%Y-100%%.csv"),
                "--export",
                "ipfix:" + self.path("flows-%Y%m%d,probe=p"),
                "--task",
                "count:window=1000p",
                "--export",
                f"events:{self.path('%Y.events')}",
            )
            self.assertEqual((done.status, done.err), (DONE, b""))
        (first,) = (name for name in os.listdir(self.folder) if name.endswith("-100%.csv"))
        self.assertRegex(first, r"^flows-20\d\d-100%\.csv$")
        for number, name in enumerate((first, first.replace(".csv", "-2.csv"), first.replace(".csv", "-3.csv"))):
            with open(self.path(name), "rb") as file:
                self.assertEqual(packets_in(rows(file.read())), 100 + number)
        self.assertEqual(sum(name.endswith(".events") for name in os.listdir(self.folder)), 3)
        self.assertEqual(sum(bool(re.fullmatch(r"flows-\d{8}(-\d)?", name)) for name in os.listdir(self.folder)), 3)
        for target, said in (
            ("flows-%Y-100%%.csv", first.replace(".csv", "-4.csv")),
            ("new-100%%.csv", "new-100%.csv"),
            ("plain.csv", None),
        ):
            done = run("watch", "-r", self.capture(), "-o", "/dev/null", "--export", "csv:" + self.path(target))
            lines = [line for line in done.lines if target in line]
            self.assertEqual(
                lines, [] if said is None else [f"parshall watch: csv:{self.path(target)} is {self.path(said)}"]
            )

    def test_one_in_the_working_directory_whose_name_has_a_time_leaves_no_other_file(self):
        done = run(
            "watch", "-q", "-r", self.capture(), "-o", "/dev/null", "--export", "csv:flows-%Y.csv", cwd=self.folder
        )
        self.assertEqual((done.status, done.err), (DONE, b""))
        (name,) = (name for name in os.listdir(self.folder) if name != "good.pcap")
        self.assertRegex(name, r"^flows-20\d\d\.csv$")

    def test_a_limit_of_files_sizes_is_told_as_a_full_disk_is(self):
        limit = 100000
        done = run(
            "watch",
            "-q",
            "-g",
            "flows=20000",
            "--count",
            "100k",
            "--export",
            "csv:" + self.path("flows.csv"),
            "--format",
            "json",
            "--top",
            "1",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        self.assert_says(done, FAILED, "File too large")
        (output,) = (
            output for output in json.loads(done.out)["summary"]["outputs"] if output["name"].startswith("csv")
        )
        self.assertGreater(output["dropped"]["records"], 0)
        with open(self.path("flows.csv"), "rb") as file:
            self.assertEqual(len(rows(file.read())), output["written"]["records"])

    def test_two_outputs_into_one_stream_are_refused_and_into_nothing_are_not(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        traffic = ["watch", "-q", "-g", "flows=10", "--count", "100", "--export"]
        for words, said in (
            (["csv:/dev/stdout"], ["/dev/stdout", "standard output"]),
            (["csv:" + pipe, "--export", "jsonl:" + pipe], ["same file"]),
            (["csv:" + pipe, "-o", pipe], ["same file"]),
        ):
            with self.subTest(words=words):
                self.assert_says(run(*traffic, *words, timeout=10), USAGE, *said)
        with open(self.path("report"), "wb") as report:
            self.assert_says(run(*traffic, "csv:/dev/stdout", stdout=report), USAGE, "standard output")
        done = run(*traffic, "csv:/dev/null", "--export", "jsonl:/dev/null", "-o", "/dev/null")
        self.assertEqual((done.status, done.err), (DONE, b""))

    def test_outputs_that_make_no_sense_are_refused(self):
        capture, both = self.capture(), self.path("both")
        percent = self.capture(name="100%.pcap")
        os.unlink(capture)
        os.link(percent, capture)
        for words, said in (
            (["--export", "flows.csv"], ["csv:flows.csv", "jsonl"]),
            (["--export", "xml:flows.xml"], ['"xml"', "csv"]),
            (["--export", "csv:"], ["csv:flows.csv"]),
            (["--export", "csv:" + capture], ["the capture itself"]),
            (["--export", "csv:" + both, "--export", "jsonl:" + both], ["same file"]),
            (["--export", "csv:" + both, "-o", both], ["same file", "report"]),
            (["--export", "csv:-"], ["standard output"]),
            (["--export", "csv:" + both + "-%q"], ["no %q", "%H"]),
            (["--export", "parquet:" + both + ",evry=1s,level=2"], ['no option "evry"', "every"]),
            (["--export", "ipfix:" + both + ",foo=1"], ['no option "foo"']),
            (["--export", "ipfix:udp://127.0.0.1,mtu=1"], ["mtu=1", "512"]),
            (["--export", "kafka:x"], ["kafka:x"]),
            (["--export", "ipfix:udp://127.0.0.1:99999"], ["a port is a number from 1 to 65535"]),
            (["--export", "prometheus:127.0.0.1:99999"], ["give HOST:PORT"]),
            (["--export", "prometheus:127.0.0.1:9k"], ["give HOST:PORT"]),
            (["--export", "ipfix:" + both + "-100%,probe=x"], ["%%"]),
            (["--export", "csv:" + both + "-%Y", "--export", "jsonl:" + both + "-%Y"], ["same file"]),
            (["--export", "csv:" + percent.replace("%", "%%")], ["the capture itself"]),
            (["--export", "csv:" + both, "--packets-only"], ["--packets-only"]),
            (["--export", "events:" + both], ["--tasks"]),
        ):
            with self.subTest(words=words):
                self.assert_says(run("watch", "-r", capture, *words), USAGE, *said)
                self.assertFalse(os.path.exists(both))

    def test_where_a_report_finds_no_room_at_all_that_is_said_and_nothing_is_left(self):
        capture = self.capture(packets=5000, flows=500)
        done = subprocess.run(
            [
                "sh",
                "-c",
                f"ulimit -f 1; exec {PROGRAM} watch -q -r {capture} --format csv -o {self.path('report.csv')}",
            ],
            capture_output=True,
            timeout=60,
            check=False,
            env={**os.environ, "TMPDIR": self.folder},
        )
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(b"there is no final report", done.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("parshall-")], [])

    def test_times_of_no_packets_are_null(self):
        summary = json.loads(run("watch", "-q", "-r", self.capture(), "--format", "json", "tcp").out)["summary"]
        self.assertEqual((summary["packets"], summary["first_seen_ns"], summary["last_seen_ns"]), (0, None, None))

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_records_that_a_full_disk_did_not_take_are_in_the_rescued_report(self):
        done = run(
            "watch",
            "-q",
            "-g",
            "flows=20000,packets=1000000,rate=100000",
            "--count",
            "200k",
            "--idle",
            "100ms",
            "--flows",
            "64Ki",
            "--format",
            "csv",
            "-o",
            "/dev/full",
            env={"TMPDIR": self.folder},
        )
        self.assertEqual(done.status, FAILED, done.err)
        rescued = re.search(r"the final report is in (\S+)", done.err.decode())
        self.assertTrue(rescued, done.err)
        with open(rescued[1], "rb") as file:
            flows = rows(file.read())
        counted = int(re.search(r"(\d+) counted", done.err.decode())[1])
        self.assertGreater(counted, 1000)
        self.assertEqual(packets_in(flows), counted)


if __name__ == "__main__":
    unittest.main()
