# SPDX-License-Identifier: Apache-2.0
"""The command line as users and their scripts meet it: statuses, messages, and that nothing measured is lost.

usage: test_cli.py PARSHALL [unittest arguments]
"""
import contextlib
import csv
import ctypes
import gzip
import io
import json
import lzma
import os
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import unittest
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from rivals import program_for  # noqa: E402

PROGRAM = None
HEADER = "ip_version,protocol,src_ip,src_port,dst_ip,dst_port,packets,ip_bytes,wire_bytes,first_seen_ns,last_seen_ns"
DONE, FAILED, USAGE, DAMAGED, READER_GONE = 0, 1, 2, 3, 141
FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


def packet(number, flows):
    """Record of a UDP packet of flow `number % flows`, one microsecond after the one before."""
    flow = number % flows
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 46, 0, 0, 64, 17, 0, 0x0A000000 + flow, 0xC0000201)
    frame = b"\x02" * 12 + b"\x08\x00" + ip + struct.pack(">HHHH", 1024 + flow % 60000, 53, 26, 0) + bytes(18)
    return struct.pack("<IIII", 1600000000 + number // 1000000, number % 1000000, len(frame), len(frame)) + frame


class Run:
    """A finished run of the program."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err
        self.lines = err.decode(errors="replace").splitlines()


def run(*arguments, stdin=None, env=None, timeout=60, lab=False, **more):
    done = subprocess.run([PROGRAM + "-lab" if lab else program_for(PROGRAM, arguments), *arguments], input=stdin, stdout=more.pop("stdout", subprocess.PIPE),
                          stderr=more.pop("stderr", subprocess.PIPE), timeout=timeout,
                          env={**os.environ, **(env or {})}, check=False, **more)
    return Run(done.returncode, done.stdout or b"", done.stderr or b"")


def rows(text):
    return list(csv.DictReader(io.StringIO(text.decode() if isinstance(text, bytes) else text)))


def packets_in(flows):
    return sum(int(flow["packets"]) for flow in flows)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="parshall-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        os.chmod(self.folder, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def capture(self, packets=1000, flows=10, name="good.pcap", cut=0):
        data = FILE_HEADER + b"".join(packet(i, flows) for i in range(packets))
        with open(self.path(name), "wb") as file:
            file.write(data[:len(data) - cut])
        return self.path(name)

    def assert_says(self, done, status, *words, lines=4):
        text = done.err.decode(errors="replace")
        self.assertEqual(done.status, status, text)
        self.assertTrue(1 <= len(done.lines) <= lines, f"{len(done.lines)} lines:\n{text}")
        for word in words:
            self.assertIn(word, text)
        for trace in ("terminate called", "what():", "Aborted", "Segmentation", "runtime error", "0x7f"):
            self.assertNotIn(trace, text)


class Errors(Case):
    """Each mistake: its status, and one to four lines that say what, where and what to do."""

    def test_a_file_that_is_not_there(self):
        done = run("watch", "-q", "-r", self.path("missing.pcap"))
        self.assert_says(done, FAILED, "missing.pcap", "No such file")
        self.assertEqual(done.out, b"")

    def test_an_earlier_result_survives_a_mistyped_input(self):
        with open(self.path("result.csv"), "w", encoding="ascii") as file:
            file.write("precious")
        run("watch", "-q", "-r", self.path("missing.pcap"), "--format", "csv", "-o", self.path("result.csv"))
        with open(self.path("result.csv"), encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")

    def test_a_folder_as_capture(self):
        self.assert_says(run("watch", "-q", "-r", self.folder), FAILED, self.folder)

    def test_a_thread_model_by_the_old_option(self):
        done = run("watch", "-r", self.capture(), "--model", "pipeline", "--format", "csv")
        self.assertEqual((done.status, packets_in(rows(done.out))), (DONE, 1000))
        self.assertIn("--model pipeline is called --threads pipeline now", done.err.decode())
        self.assertNotIn(b"called", run("watch", "-q", "-r", self.capture(), "--model", "pipeline").err)
        self.assert_says(run("watch", "-q", "-r", self.capture(), "--threads", "pipe"), USAGE, "--threads", "run-to-completion")
        self.assert_says(run("watch", "-q", "-r", self.capture(), "--model", "pipe"), USAGE, "--model pipe", "--threads")

    def test_an_interface_that_is_not_there(self):
        self.assert_says(run("watch", "-q", "-i", "nosuch0"), FAILED, "nosuch0")

    def test_a_file_that_is_no_capture(self):
        with open(self.path("letter.txt"), "w", encoding="ascii") as file:
            file.write("Dear Sir or Madam, " * 20)
        self.assert_says(run("watch", "-q", "-r", self.path("letter.txt")), FAILED, "letter.txt")

    def test_an_empty_file(self):
        open(self.path("empty.pcap"), "wb").close()
        done = run("watch", "-q", "-r", self.path("empty.pcap"))
        self.assertIn(done.status, (FAILED, DAMAGED))
        self.assert_says(done, done.status, "empty.pcap")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs to be root to become nobody")
    def test_no_rights_to_the_interface(self):
        program = self.path("parshall")
        shutil.copy(PROGRAM, program)
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "watch", "-q", "-i", "lo", "--duration", "1"],
                              capture_output=True, timeout=60, check=False, env={**os.environ, "TMPDIR": "/tmp"})
        self.assert_says(Run(done.returncode, done.stdout, done.stderr), FAILED, "lo")
        # Without DPDK no right would help, and the message says what does.
        self.assertRegex(done.stderr.decode(), r"(?i)root|CAP_NET_RAW|permi|built without DPDK; install libdpdk-dev")

    def test_a_pci_device_that_is_not_there(self):
        self.assert_says(run("watch", "-q", "-i", "0000:ff:1f.7"), FAILED, "0000:ff:1f.7")

    def test_a_table_for_no_flows(self):
        self.assert_says(run("watch", "-q", "-r", self.capture(), "--flows", "0"), USAGE, "--flows", "0")

    def test_a_statistic_that_nobody_knows(self):
        self.assert_says(run("watch", "-q", "-r", self.capture(), "--stats", "gap_meen"), USAGE, "gap_meen")

    def test_a_filter_with_a_mistake(self):
        self.assert_says(run("watch", "-q", "-r", self.capture(), "tcp", "prot", "80"), USAGE, "prot")

    def test_a_column_to_sort_by_that_is_not_there(self):
        done = run("watch", "-q", "-r", self.capture(), "--sort", "gap_p99", "--format", "csv")
        self.assert_says(done, USAGE, "gap_p99")

    def test_other_words_that_mean_nothing(self):
        good = self.capture()
        for words in (["--format", "xml"], ["--every", "soon"], ["--duration", "-1"], ["--workers", "0"], ["--top", "-3"], ["--key", "colour"],
                      ["--model", "magic"], ["--identity", "exact", "--table", "nosuch"], ["--count", "many"], ["--quantile-error", "0.9"],
                      ["--nosuchoption"], ["--seed", "x"], ["--batch", "0"], ["--packets-only", "--threads", "pipeline"]):
            with self.subTest(words=words):
                done = run("watch", "-q", "-r", good, *words)
                self.assert_says(done, USAGE)
                self.assertEqual(done.out, b"")

    def test_a_hash_that_nobody_knows_or_that_cannot_be(self):
        self.assert_says(run("watch", "-r", self.capture(), "--hash", "md5"), USAGE, "no hash \"md5\"", "aes", "murmur3", "softrss")
        self.assert_says(run("watch", "-r", self.capture(), "--hash", "xxh3", "--identity", "nic-hash"), USAGE, "leave out --hash xxh3")

    def test_no_source_or_two_of_them(self):
        self.assert_says(run("watch", "-q"), USAGE, "-r")
        self.assert_says(run("watch", "-q", "-r", self.capture(), "-g", "flows=10"), USAGE, "-r")
        self.assert_says(run("nonsense"), USAGE)

    def test_traffic_that_nobody_understands(self):
        for text in ("flows=banana", "flows=10,flood=2", "flows=10,nosuch=1", "flows=10,swing=100"):
            with self.subTest(text=text):
                self.assert_says(run("watch", "-q", "-g", text), USAGE, text.rsplit("=", 1)[0].split(",")[-1])

    def test_a_pace_for_several_queues_or_half_of_one(self):
        self.assert_says(run("watch", "-q", "-g", "flows=10,pace=1000", "--workers", "2", "--count", "10"), USAGE, "pace", "--workers")
        self.assert_says(run("watch", "-q", "-g", "flows=10,swing=100"), USAGE, "pace=PPS")

    def test_queues_that_do_not_go_with_the_workers(self):
        self.assert_says(run("watch", "-q", "-i", "lo", "--queues", "2", "--workers", "3"), USAGE, "2 queues for 3 workers")
        self.assert_says(run("watch", "-q", "-i", "lo", "--workers", "2", "--count", "10"), USAGE, "--count", "--queues 1")


class Floods(Case):
    """Packets that each begin a flow, and the filter that keeps them out of the table."""

    STATES = """default = "deep"
state = [ { name = "light", tasks = ["count"] }, { name = "deep", tasks = ["count", "bursty"], lighter = "light" } ]
"""

    def summary(self, *arguments):
        done = run("watch", "-q", *arguments, "--flows", "64Ki", "--format", "json", "--top", "1")
        self.assertEqual(done.status, DONE, done.err)
        summary = json.loads(done.out)["summary"]
        account = summary["accounting"]
        self.assertTrue(account["balanced"], account)
        self.assertEqual(account["counted"], account["live_flow_packets"] + account["ended_record_packets"] + account["kept_out_packets"])
        return summary

    def test_a_worker_that_has_little_to_do_is_not_busy(self):
        for model in ([], ["--threads", "pipeline"]):
            with self.subTest(model=model):
                summary = self.summary("-g", "flows=100,pace=1000", "--count", "1500", *model)
                (worker,) = summary["workers"]
                self.assertGreater(worker["busy_share"], 0)
                self.assertLess(worker["busy_share"], 0.1, "its naps are no work")

    def test_what_is_kept_out_is_told(self):
        flood = ("-g", "flows=1000,flood=0.8", "--count", "1000000", "--flood-filter", "128")
        for model in ([], ["--workers", "2"], ["--workers", "2", "--threads", "pipeline"], ["--table", "robin-hood"], ["--tasks", "count"]):
            with self.subTest(model=model):
                summary = self.summary(*flood, *model)
                told = summary["flood_filter"]
                self.assertEqual(told["bytes"], 128)
                self.assertEqual(told["kept_out_packets"], summary["accounting"]["kept_out_packets"])
                self.assertGreater(told["kept_out_packets"], 400_000)
                self.assertLessEqual(told["kept_out_packets"], 810_000)
                self.assertEqual(told["kept_out_wire_bytes"], 60 * told["kept_out_packets"])
                self.assertLess(0.5 * told["seconds"], told["seconds_on"])
                self.assertEqual(summary["wire_bytes"], 60_000_000)
                if "--tasks" in model:
                    self.assertTrue(summary["tasks"]["windows_balanced"])
        text = run("watch", "-q", *flood).out.decode()
        self.assertRegex(text, r"1000000 counted, of which \d+ kept_out\n")
        self.assertRegex(text, r"\nflood      filter on in [0-9.]+ of [0-9.]+ s: kept \d+ packets out\n")

    def test_without_a_flood_or_a_filter_nothing_is_kept_out(self):
        for arguments in (("-g", "flows=1000", "--flood-filter", "128"), ("-g", "flows=1000,flood=0.8"), ("-g", "flows=1000,flood=1", "--flood-filter", "0")):
            with self.subTest(arguments=arguments):
                summary = self.summary(*arguments, "--count", "1000000")
                self.assertEqual(summary["accounting"]["kept_out_packets"], 0)
                self.assertEqual("flood_filter" in summary, arguments[-1] == "128")

    def test_flows_that_give_way_have_a_filter_unless_told_otherwise(self):
        with open(self.path("states.toml"), "w", encoding="ascii") as file:
            file.write(self.STATES)
        states = ("--states", self.path("states.toml"), "--duration", "200ms")
        for source, more, filter_bytes in (("pace=100000", [], 128), ("pace=100000", ["--flood-filter", "300"], 300), ("pace=100000", ["--flood-filter", "0"], None),
                                           ("pace=100000", ["--no-adapt"], None), ("pace=100000", ["--no-adapt", "--flood-filter", "64"], 64), ("rate=100000", [], None)):
            with self.subTest(source=source, more=more):
                summary = self.summary("-g", "flows=100,protocol=connections," + source, *states, *more)
                self.assertEqual(summary.get("flood_filter", {}).get("bytes"), filter_bytes)

    def test_what_cannot_be_is_refused(self):
        for filter_bytes in ("-1", "1048577", "many"):
            self.assert_says(run("watch", "-g", "flows=10", "--flood-filter", filter_bytes), USAGE, "--flood-filter")
        self.assert_says(run("watch", "-g", "flows=10", "--packets-only", "--flood-filter", "64"), USAGE, "leave out --flood-filter")
        self.assertIn(b"flood=0..1", run("watch", "-q", "-g", "flows=10,flood=1.1").err)
        self.assertIn(b"leave out flood", run("bench", "tables", "-g", "flows=10,flood=0.5").err)


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
        done = run("watch", "-q", "-r", self.capture(), "--format", "csv", "-o", "/dev/full", env={"TMPDIR": self.folder})
        self.assert_says(done, FAILED, "/dev/full", "No space left")
        self.assertEqual(packets_in(rows(self.rescued(done))), 1000)

    def test_a_full_disk_and_no_folder_for_temporary_files(self):
        done = run("watch", "-q", "-r", self.capture(), "--format", "csv", "-o", "/dev/full", env={"TMPDIR": "/no/such/folder"})
        self.assert_says(done, FAILED, "/dev/full", "1000 counted")

    def test_a_reader_that_wants_no_more_ends_the_program_in_silence(self):
        """As `| head` does; nothing is left behind."""
        good = self.capture(packets=200000, flows=100000)
        for command in (["watch", "-q", "-r", good, "--format", "csv"], ["watch", "-q", "-r", good, "--format", "json", "--every", "1ms"],
                        ["watch", "-q", "-r", good, "--task", "big=packets > 0", "--window", "10ms", "--events", "-", "-o", os.devnull],
                        ["watch", "-q", "-g", "flows=20000,packets=100000", "--flows", "1000", "--every", "20ms", "--count", "2M", "--format", "csv"],
                        ["send", "-q", "-g", "flows=50000", "--null", "--count", "100000", "--per-flow", "--format", "csv"]):
            for read in (0, 100):
                with self.subTest(command=command, read=read):
                    process = subprocess.Popen([PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": self.folder})
                    os.read(process.stdout.fileno(), read) if read else None
                    process.stdout.close()
                    err = process.stderr.read()
                    process.stderr.close()
                    self.assertEqual((process.wait(timeout=60), err), (READER_GONE, b""))
                    self.assertEqual(os.listdir(self.folder), [os.path.basename(good)])

    def test_records_of_earlier_reports_that_a_full_disk_did_not_take(self):
        """Records that ended before, and are in no report, are in the file of last resort."""
        done = run("watch", "-q", "-g", "flows=20000,packets=100000", "--flows", "1000", "--every", "20ms", "--count", "2M", "--format", "csv",
                   "-o", "/dev/full", env={"TMPDIR": self.folder})
        self.assert_says(done, FAILED, "/dev/full")
        counted = int(next(line for line in done.lines if " counted" in line).split(" counted")[0].split()[-1])
        self.assertEqual(packets_in(rows(self.rescued(done))), counted)
        self.assertNotIn("BALANCE", done.err.decode())

    def ended(self, *arguments, **more):
        """The summary of 200,000 packets of 100,000 flows, that end as there is room for 1,000."""
        return run("watch", "-g", "flows=100000,dist=uniform,packets=200000", "--count", "200000", "--flows", "1000", "--seed", "1",
                   "--format", "json", *arguments, **more)

    def test_records_that_find_no_room_are_counted_and_said_once(self):
        # Its rows take some 2 kB each: without a folder 128 MB of memory are all there is.
        for arguments in (["--spool", "1M"], ["--stats", "gap_p99,iat_p99,size_p99"]):
            with self.subTest(arguments=arguments):
                done = self.ended(*arguments, env={"TMPDIR": "/no/such/folder"})
                self.assertEqual(done.status, DONE, done.err)
                report = json.loads(done.out)
                summary = report["summary"]
                self.assertTrue(summary["accounting"]["balanced"])
                self.assertGreater(summary["dropped_records"], 0)
                self.assertEqual(len(report["flows"]), summary["live_flows"] + summary["ended_records"] - summary["dropped_records"])
                self.assertEqual(packets_in(report["flows"]), summary["packets"] - summary["dropped_record_packets"])
                self.assertEqual(done.err.decode().count("find no room"), 1, done.err)

    def test_records_that_nobody_reads_take_no_room(self):
        """The program's temporary file has no name: so it is looked for among what is open."""
        process = subprocess.Popen([PROGRAM, "watch", "-q", "-g", "flows=1000000,packets=2000000,pace=2000000", "--flows", "1000", "-o", os.devnull],
                                   stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": self.folder})
        time.sleep(4)
        files = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in os.listdir(f"/proc/{process.pid}/fd")]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (DONE, b""))
        self.assertEqual([file for file in files if "parshall-" in file], [])

    def test_records_leave_as_they_end(self):
        """Long before the end of the run, and each once."""
        path = self.path("flows.csv")
        process = subprocess.Popen([PROGRAM, "watch", "-q", "-g", "flows=20000,packets=1000000,pace=100000", "--idle", "100ms", "--flows", "64Ki",
                                    "--count", "400k", "--format", "csv", "-o", path, "--stats", "end_reason"], stderr=subprocess.PIPE)
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
        process = subprocess.Popen([PROGRAM, "watch", "-q", "-g", "flows=20000,packets=1000000", "--idle", "1ms", "--export", "csv:" + pipe, "--export",
                                    "csv:" + self.path("flows.csv"), "-o", "/dev/null"], stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        killer = threading.Timer(20, process.kill)
        killer.start()
        said = process.stderr.readline().decode()
        killer.cancel()
        self.assertIn("waiting for who reads csv:" + pipe, said)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), 130)

    def stuck(self, *arguments):
        """A run whose export nobody reads."""
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        process = subprocess.Popen([PROGRAM, "watch", "-q", *arguments, "--export", "csv:" + pipe, "-o", "/dev/null"], stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def assert_waits(self, process):
        killer = threading.Timer(20, process.kill)
        killer.start()
        said = process.stderr.readline().decode()
        killer.cancel()
        self.assertIn("waiting for who reads csv:" + self.path("pipe"), said)

    def test_after_a_signal_it_is_said_too_while_a_report_waits_for_that_reader(self):
        process = self.stuck("-g", "flows=20000,packets=1000000", "--idle", "1ms", "--every", "100ms")
        time.sleep(3)
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
            time.sleep(0.2)
        self.assertEqual(process.wait(timeout=20), 130)

    def test_a_reader_that_does_not_read_costs_records_of_a_link_and_no_memory(self):
        """What it got and what was dropped is all there was."""
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        process = subprocess.Popen([PROGRAM, "watch", "-g", "flows=4000000,packets=8000000,pace=500000", "--idle", "100ms", "--flows", "256Ki",
                                    "--duration", "4s", "--format", "csv", "-o", pipe], stderr=subprocess.PIPE)
        with open(pipe, "rb") as reader:
            time.sleep(4.5)
            got = reader.read()
        _, err = process.communicate(timeout=60)
        said = err.decode()
        self.assertEqual(process.returncode, DONE, said)
        account = re.search(r"(\d+) records of flows \((\d+) packets\) = (\d+) \((\d+)\) written \+ (\d+) \((\d+)\) dropped", said)
        self.assertTrue(account, said)
        offered, packets, written, written_packets, dropped, dropped_packets = map(int, account.groups())
        self.assertEqual((offered, packets), (written + dropped, written_packets + dropped_packets))
        self.assertGreater(dropped, 1000)
        self.assertEqual(said.count("find no room"), 1, said)
        lines = rows(got)
        self.assertEqual((len(lines), packets_in(lines)), (written, written_packets))

    def test_several_outputs_have_the_same_records_and_an_account_each(self):
        csv, lines, events = self.path("flows.csv"), self.path("flows.jsonl"), self.path("events.jsonl")
        done = run("watch", "-q", "-g", "flows=20000,packets=1000000", "--count", "200k", "--idle", "1ms", "--export", "csv:" + csv, "--export",
                   "jsonl:" + lines, "--task", "count:window=10000p", "--events", events, "--format", "json", "--top", "3", "--seed", "1")
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
        for name, expected in (("csv:" + csv, {**everything, "findings": 0}), ("jsonl:" + lines, {**everything, "findings": 20}),
                               ("events:" + events, {"records": 0, "packets": 0, "findings": 20})):
            with self.subTest(output=name):
                self.assertEqual(outputs[name]["offered"], expected)
                self.assertEqual(outputs[name]["written"], expected)
                for rest in ("waiting", "dropped"):
                    self.assertEqual(set(outputs[name][rest].values()), {0})

    def test_an_output_beside_them_takes_no_record_from_reports(self):
        traffic = ["watch", "-q", "-g", "flows=20000,packets=1000000", "--count", "200k", "--idle", "1ms", "--export", "csv:" + self.path("flows.csv")]
        for words, flows_of in ((["--format", "json"], lambda out: json.loads(out)["flows"]), (["--format", "csv", "--sort", "packets"], rows)):
            with self.subTest(words=words):
                done = run(*traffic, *words)
                self.assertEqual((done.status, done.err), (DONE, b""))
                self.assertEqual(packets_in(flows_of(done.out)), 200000)
                with open(self.path("flows.csv"), "rb") as file:
                    self.assertEqual(packets_in(rows(file.read())), 200000)

    def test_reports_on_the_way_have_the_account_of_outputs_too(self):
        csv = self.path("flows.csv")
        done = run("watch", "-q", "-r", self.capture(packets=5000), "--idle", "1us", "--every", "100us", "--export", "csv:" + csv, "--format", "json")
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
        done = run("watch", "-q", "-g", "flows=20000,packets=1000000", "--count", "200k", "--idle", "1ms", "--export", "jsonl:/dev/full", "--format", "csv",
                   "-o", csv)
        self.assert_says(done, FAILED, "jsonl:/dev/full", "No space left", "0 (0) written")
        with open(csv, "rb") as file:
            self.assertEqual(packets_in(rows(file.read())), 200000)

    def test_a_file_whose_name_has_a_time_never_takes_the_place_of_another(self):
        for number in range(3):
            done = run("watch", "-q", "-r", self.capture(packets=100 + number), "-o", "/dev/null", "--export", "csv:" + self.path("flows-%Y-100%%.csv"),
                       "--export", "ipfix:" + self.path("flows-%Y%m%d,probe=p"), "--task", "count:window=1000p", "--events", self.path("%Y.events"))
            self.assertEqual((done.status, done.err), (DONE, b""))
        (first,) = (name for name in os.listdir(self.folder) if name.endswith("-100%.csv"))
        self.assertRegex(first, r"^flows-20\d\d-100%\.csv$")
        for number, name in enumerate((first, first.replace(".csv", "-2.csv"), first.replace(".csv", "-3.csv"))):
            with open(self.path(name), "rb") as file:
                self.assertEqual(packets_in(rows(file.read())), 100 + number)
        self.assertEqual(sum(name.endswith(".events") for name in os.listdir(self.folder)), 3)
        self.assertEqual(sum(bool(re.fullmatch(r"flows-\d{8}(-\d)?", name)) for name in os.listdir(self.folder)), 3)
        for target, said in (("flows-%Y-100%%.csv", first.replace(".csv", "-4.csv")), ("new-100%%.csv", "new-100%.csv"), ("plain.csv", None)):
            done = run("watch", "-r", self.capture(), "-o", "/dev/null", "--export", "csv:" + self.path(target))
            lines = [line for line in done.lines if target in line]
            self.assertEqual(lines, [] if said is None else [f"parshall watch: csv:{self.path(target)} is {self.path(said)}"])

    def test_one_in_the_working_directory_whose_name_has_a_time_leaves_no_other_file(self):
        done = run("watch", "-q", "-r", self.capture(), "-o", "/dev/null", "--export", "csv:flows-%Y.csv", cwd=self.folder)
        self.assertEqual((done.status, done.err), (DONE, b""))
        (name,) = (name for name in os.listdir(self.folder) if name != "good.pcap")
        self.assertRegex(name, r"^flows-20\d\d\.csv$")

    def test_a_limit_of_files_sizes_is_told_as_a_full_disk_is(self):
        limit = 100000
        done = run("watch", "-q", "-g", "flows=20000", "--count", "100k", "--export", "csv:" + self.path("flows.csv"), "--format", "json", "--top", "1",
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assert_says(done, FAILED, "File too large")
        (output,) = (output for output in json.loads(done.out)["summary"]["outputs"] if output["name"].startswith("csv"))
        self.assertGreater(output["dropped"]["records"], 0)
        with open(self.path("flows.csv"), "rb") as file:
            self.assertEqual(len(rows(file.read())), output["written"]["records"])

    def test_two_outputs_into_one_stream_are_refused_and_into_nothing_are_not(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        traffic = ["watch", "-q", "-g", "flows=10", "--count", "100", "--export"]
        for words, said in ((["csv:/dev/stdout"], ["/dev/stdout", "standard output"]), (["csv:" + pipe, "--export", "jsonl:" + pipe], ["same file"]),
                            (["csv:" + pipe, "-o", pipe], ["same file"])):
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
        for words, said in ((["--export", "flows.csv"], ["csv:flows.csv", "jsonl"]), (["--export", "xml:flows.xml"], ['"xml"', "csv"]),
                            (["--export", "csv:"], ["KIND:FILE"]), (["--export", "csv:" + capture], ["the capture itself"]),
                            (["--export", "csv:" + both, "--export", "jsonl:" + both], ["same file"]),
                            (["--export", "csv:" + both, "-o", both], ["same file", "report"]), (["--export", "csv:-"], ["standard output"]),
                            (["--export", "csv:" + both + "-%q"], ["no %q", "%H"]), (["--export", "ipfix:" + both + "-100%,probe=x"], ["%%"]),
                            (["--export", "csv:" + both + "-%Y", "--export", "jsonl:" + both + "-%Y"], ["same file"]),
                            (["--export", "csv:" + percent.replace("%", "%%")], ["the capture itself"]),
                            (["--export", "csv:" + both, "--packets-only"], ["--packets-only"]), (["--export", "events:" + both], ["--tasks"])):
            with self.subTest(words=words):
                self.assert_says(run("watch", "-r", capture, *words), USAGE, *said)
                self.assertFalse(os.path.exists(both))

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_records_that_a_full_disk_did_not_take_are_in_the_rescued_report(self):
        done = run("watch", "-q", "-g", "flows=20000,packets=1000000,rate=100000", "--count", "200k", "--idle", "100ms", "--flows", "64Ki", "--format", "csv",
                   "-o", "/dev/full", env={"TMPDIR": self.folder})
        self.assertEqual(done.status, FAILED, done.err)
        rescued = re.search(r"the final report is in (\S+)", done.err.decode())
        self.assertTrue(rescued, done.err)
        with open(rescued[1], "rb") as file:
            flows = rows(file.read())
        counted = int(re.search(r"(\d+) counted", done.err.decode())[1])
        self.assertGreater(counted, 1000)
        self.assertEqual(packets_in(flows), counted)

    def test_reports_of_a_capture_are_of_intervals_of_its_own_time(self):
        """The n-th has all packets before that time and no other, whoever reads; an interval without packets has none."""
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
        for threads in ([], ["--workers", "3"], ["--workers", "2", "--threads", "pipeline"], ["--threads", "cooperative"], ["--batch", "7"]):
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
        data = FILE_HEADER + b"".join(struct.pack("<II", seconds, 0) + packet(0, 1)[8:] for seconds in (0, 1, 0xffffffff, 0xffffffff, 5))
        done = run("watch", "-q", "-r", "-", "--every", "1ns", "--format", "json", stdin=data)
        self.assertEqual([json.loads(line)["summary"]["packets"] for line in done.out.splitlines()], [1, 2, 5])

    def test_standard_error_that_cannot_be_written(self):
        good = self.capture()
        with open("/dev/full", "wb") as full:
            done = run("watch", "-r", good, "--format", "csv", stderr=full)
        self.assertEqual(done.status, DONE)
        self.assertEqual(packets_in(rows(done.out)), 1000)
        closed = subprocess.run(["sh", "-c", '"$0" watch -r "$1" --format csv 2>&-', PROGRAM, good], stdout=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(closed.returncode, DONE)
        self.assertEqual(packets_in(rows(closed.stdout)), 1000)

    def test_a_file_name_that_is_not_utf8(self):
        path = os.fsencode(self.folder) + b"/caf\xe9.pcap"
        shutil.copy(self.capture(), path)
        done = run("watch", "-q", "-r", path, "--format", "json")
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual(packets_in(json.loads(done.out)["flows"]), 1000)

    def interrupted(self, number, *arguments):
        process = subprocess.Popen([program_for(PROGRAM, arguments), "watch", "-q", "-g", "flows=500,packets=10000", "--flows", "4096", *arguments, "--format", "json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.4)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, DONE, err)
        return json.loads(out)

    def test_one_signal_ends_with_a_balanced_report(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for threads in ([], ["--workers", "2"], ["--workers", "2", "--threads", "pipeline"], ["--threads", "cooperative"], ["--packets-only"]):
                with self.subTest(signal=number, threads=threads):
                    report = self.interrupted(number, *threads)
                    accounting = report["summary"]["accounting"]
                    self.assertTrue(accounting["balanced"], accounting)
                    self.assertTrue(report["summary"]["final"])
                    self.assertGreater(accounting["counted"], 1000)
                    if threads != ["--packets-only"]:
                        self.assertEqual(packets_in(report["flows"]), accounting["counted"])

    def at_a_pace(self, traffic, seconds, *arguments):
        done = run("watch", "-q", "-g", f"flows=500,packets=10000,{traffic}", "--flows", "4096", "--duration", f"{seconds}s", "--format", "json",
                   *arguments)
        self.assertEqual(done.status, DONE, done.err)
        accounting = json.loads(done.out)["summary"]["accounting"]
        self.assertTrue(accounting["balanced"], accounting)
        return accounting

    def test_what_comes_too_fast_is_missed_and_counted(self):
        for arguments in ([], ["--packets-only"], ["--threads", "pipeline", "--workers", "2"], ["--threads", "cooperative"]):
            with self.subTest(arguments=arguments):
                accounting = self.at_a_pace("pace=1e9", 0.5, *arguments)
                self.assertGreater(accounting["nic_missed"], accounting["counted"])
                self.assertGreater(accounting["counted"], 100_000)
                self.assertEqual(accounting["offered"], accounting["nic_missed"] + (accounting["ring_full"] or 0) + accounting["counted"])
                self.assertGreater(accounting["offered"], 0.3e9)
                self.assertLess(accounting["offered"], 2e9)

    def test_what_comes_slowly_is_all_counted(self):
        for traffic, least, most in (("pace=20000,queue=65536", 15_000, 30_000), ("pace=40000,swing=50,queue=65536", 15_000, 30_000)):
            with self.subTest(traffic=traffic):
                accounting = self.at_a_pace(traffic, 1)
                self.assertEqual(accounting["nic_missed"], 0)
                self.assertTrue(least < accounting["counted"] < most, accounting)

    def test_two_signals_end_at_once(self):
        reading, writing = os.pipe()
        process = subprocess.Popen([PROGRAM, "watch", "-q", "-g", "flows=50000,packets=100000", "--format", "csv"], stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        time.sleep(0.8)
        process.send_signal(signal.SIGINT)
        time.sleep(1.0)  # nobody reads: the report cannot be finished
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        status = process.wait(timeout=10)
        self.assertLess(time.monotonic() - began, 2)
        self.assertEqual(status, 130)
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
            damaged[len(whole) - 6] ^= 0xff
            for workers in ("1", "2"):
                for what, data in (("are cut at byte", whole[:len(whole) // 2]), ("damaged", bytes(damaged))):
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

        process = subprocess.Popen([PROGRAM, "watch", "-q", "-r", "-", "--format", "json", "--workers", "2"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def feed():
            try:
                process.stdin.write(head)
                while True:
                    process.stdin.write(zeros)
            except BrokenPipeError:
                pass
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        time.sleep(1)
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
        data[at + 8:at + 12] = b"\xff\xff\xff\x7f"
        with open(self.path("wild.pcap"), "wb") as file:
            file.write(data)
        done = run("watch", "-q", "-r", self.path("wild.pcap"), "--format", "csv")
        self.assert_says(done, DAMAGED, "wild.pcap")
        self.assertEqual(packets_in(rows(done.out)), 500)


class Reports(Case):
    def test_csv_begins_with_the_contract(self):
        done = run("watch", "-q", "-r", self.capture(), "--format", "csv")
        self.assertEqual(done.status, DONE)
        self.assertEqual(done.err, b"")
        lines = done.out.decode().splitlines()
        self.assertEqual(lines[0], HEADER)
        self.assertEqual(len(lines), 11)
        flow = next(flow for flow in rows(done.out) if flow["src_ip"] == "10.0.0.3")
        self.assertEqual(flow, {"ip_version": "4", "protocol": "17", "src_ip": "10.0.0.3", "src_port": "1027", "dst_ip": "192.0.2.1", "dst_port": "53",
                                "packets": "100", "ip_bytes": "4600", "wire_bytes": "6000", "first_seen_ns": "1600000000000003000",
                                "last_seen_ns": "1600000000000993000"})
        done = run("watch", "-q", "-r", self.capture(), "--format", "csv", "--stats", "gap_mean,iat_max,size_mean,gap_mean_packets,rate")
        self.assertEqual(done.out.decode().splitlines()[0], HEADER + ",gap_mean_packets,iat_max_ns,size_mean_bytes,rate_pps,rate_bps")
        for flow in rows(done.out):
            self.assertEqual((flow["gap_mean_packets"], flow["iat_max_ns"], flow["size_mean_bytes"]), ("9", "10000", "60"))

    def test_built_in_traffic_is_the_same_for_any_number_of_workers(self):
        """Each has flows of its own, but for what asks all of them to read everything; and all know where on the link a packet stood."""
        tasks = ["--task", "heavy-hitters:threshold=2%,window=20000p", "--task", "count:window=10ms"]
        for what, traffic, options in (
                ("one size", "flows=500,size=64,ipv6=0.2", ["--stats", "gap_mean,gap_p99,iat_sd"]),
                ("sizes", "flows=500,dist=zipf:1.1,size=imix,flood=0.1", ["--stats", "gap_sd,size_p99"]),
                ("connections", "flows=300,protocol=sessions,packets=20000,resend=0.05", ["--stats", "rtt_mean,gap_mean,tcp_retransmissions"]),
                ("both ways", "flows=300,protocol=sessions,packets=20000", ["--biflow"]),
                ("a filter", "flows=500", ["--stats", "gap_mean", "udp"]),
                ("another key", "flows=500", ["--key", "src-dst"]),
                ("trains", "flows=20,dist=trains:5", ["--idle", "1ms"])):
            seen = []
            for workers in "1", "2", "3":
                with tempfile.TemporaryDirectory() as folder:
                    done = run("watch", "-q", "-g", traffic, "--count", "300000", "--workers", workers, "--format", "csv", "--flows", "64Ki",
                               "--output", f"{folder}/flows", "--events", f"{folder}/events", *tasks, *options)
                    self.assertEqual(done.status, DONE, (what, done.lines))
                    with open(f"{folder}/flows", encoding="utf-8") as flows:
                        records = sorted(flows.read().splitlines())
                    with open(f"{folder}/events", encoding="utf-8") as lines:
                        events = sorted(lines.read().splitlines())
                seen.append((records, events))
            self.assertGreater(min(map(len, seen[0])), 1, what)
            for workers in 1, 2:
                self.assertEqual(seen[workers], seen[0], (what, workers + 1))

    def test_every_model_and_number_of_workers_reports_the_same(self):
        path = self.capture(packets=20000, flows=700)
        expected = None
        for model in ("run-to-completion", "pipeline", "cooperative"):
            for workers in ("1", "2", "4"):
                done = run("watch", "-q", "-r", path, "--format", "csv", "--flows", "4096", "--model", model, "--workers", workers, "--stats", "gap_mean,iat_sd")
                self.assertEqual(done.status, DONE, done.err)
                seen = sorted(done.out.splitlines()[1:])
                expected = expected or seen
                self.assertEqual(seen, expected, (model, workers))

    def test_workers_who_read_a_capture_for_each_other_report_the_same(self):
        """Of both directions of connections, IPv6, and what is not IP; flows that end meanwhile, statistics, and what tasks find of windows."""
        path = self.path("turns.pcap")
        sent = run("send", "-q", "-g", "flows=3000,protocol=sessions,ipv6=0.2,resend=0.01,rate=1000000,seed=3", "--count", "60000", "-w", path)
        self.assertEqual(sent.status, DONE, sent.err)
        with open(path, "ab") as file:  # ARP, at the end of the time
            file.write(b"".join(struct.pack("<IIII", 1 << 31, 0, 60, 60) + bytes(12) + b"\x08\x06" + bytes(46) for _ in range(3000)))
        ways = (["--stats", "gap_mean,gap_p99,iat_max"], ["--idle", "1ms", "--stats", "gap_mean"], ["--count", "34567"], ["tcp and src portrange 30000-65535"],
                ["--task", "retransmissions", "--task", "heavy-hitters:threshold=1%", "--task", "latency-change", "--window", "10ms"])
        for way in ways:
            expected = None
            for workers in (["1"], ["2"], ["5"], ["2", "--batch", "7"]):
                done = run("watch", "-q", "-r", path, "--format", "json", *way, "--workers", *workers)
                self.assertEqual(done.status, DONE, done.err)
                report = json.loads(done.out)
                seen = [sorted(map(json.dumps, report.get(what, []))) for what in ("flows", "events")]
                account = report["summary"]["accounting"]  # whether the last flows end idle, or with the run, goes by when they are looked for
                seen.append([account[what] for what in ("offered", "filtered", "not_ip", "counted", "balanced")])
                expected = expected or seen
                self.assertTrue(seen == expected, (way, workers))
                self.assertTrue(all(worker["accounting"]["balanced"] for worker in report["summary"]["workers"]), (way, workers))
            self.assertGreater(len(expected[0]), 1000, way)
            self.assertEqual(bool(expected[1]), "--task" in way)

    def test_workers_who_read_for_each_other_stop_at_one_packet(self):
        """The report after Ctrl-C is that of the capture's first packets, as many as it says."""
        path = self.path("stopped.pcap")
        sent = run("send", "-q", "-g", "flows=20000,dist=zipf:1.1,size=64,seed=4", "--count", "2M", "-w", path)
        self.assertEqual(sent.status, DONE, sent.err)
        for delay in 0.02, 0.05, 0.005, 0.1, 0, 0.2, 0.01, 0.4:  # until one meets it on its way
            process = subprocess.Popen([PROGRAM, "watch", "-r", path, "--format", "json", "--workers", "3", "--stats", "gap_p99,iat_p99,size_p99", "--flows", "32Ki"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertIn(b" MB for ", process.stderr.readline())  # its workers run
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, DONE, err)
            report = json.loads(out)
            self.assertTrue(all(worker["accounting"]["balanced"] for worker in report["summary"]["workers"]))
            offered = report["summary"]["accounting"]["offered"]
            if 0 < offered < 2_000_000:
                break
        self.assertTrue(0 < offered < 2_000_000, offered)
        self.assertEqual(sum(flow["packets"] for flow in report["flows"]), offered)
        prefix = json.loads(run("watch", "-q", "-r", path, "--format", "json", "--count", str(offered), "--stats", "gap_p99,iat_p99,size_p99", "--flows", "32Ki").out)
        self.assertEqual(sorted(map(json.dumps, report["flows"])), sorted(map(json.dumps, prefix["flows"])))

    def test_of_a_capture_no_flow_makes_room_for_another_unless_it_was_asked_for(self):
        flows = 1_100_000
        path = self.path("many.pcap")
        sent = run("send", "-q", "-g", f"flows={flows},dist=trains:1,size=64", "--count", str(flows), "-w", path)
        self.assertEqual(sent.status, DONE, sent.err)
        for arguments, evicts in (([], False), (["--workers", "2"], False), (["--flows", "1Mi"], True)):
            done = run("watch", "-q", "-r", path, "--format", "json", "--top", "1", *arguments)
            self.assertEqual(done.status, DONE, done.err)
            summary = json.loads(done.out)["summary"]
            self.assertEqual((summary["live_flows"] == flows, summary["evicted_records"] > 0), (not evicts, evicts), arguments)
            self.assertTrue(summary["accounting"]["balanced"])

    def test_a_long_capture_takes_no_more_memory_than_a_short_one(self):
        peaks_kb = []
        for packets in 1_500_000, 6_000_000:  # 114 and 456 MB
            path = self.path("long.pcap")
            sent = run("send", "-q", "-g", "flows=1000,size=64,seed=1", "--count", str(packets), "-w", path)
            self.assertEqual(sent.status, DONE, sent.err)
            process = subprocess.Popen([PROGRAM, "watch", "-q", "-r", path, "--top", "1"], stdout=subprocess.DEVNULL)
            peaks_kb.append(os.wait4(process.pid, 0)[2].ru_maxrss)
            process.returncode = 0
        self.assertLess(peaks_kb[1], peaks_kb[0] + 32_000)

    def test_every_hash_reports_the_same(self):
        path = self.capture(packets=20000, flows=700)
        expected = sorted(run("watch", "-q", "-r", path, "--format", "csv").out.splitlines())
        hashes = [line.split()[0] for line in run("list", "hashes", lab=True).out.decode().splitlines() if "(not here)" not in line]
        self.assertGreater(len(hashes), 8)
        for name in hashes:
            if name == "nic":
                continue
            for arguments in ([], ["--workers", "2"], ["--threads", "pipeline", "--workers", "2"], ["--key", "src-dst"]):
                done = run("watch", "-q", "-r", path, "--format", "csv", "--hash", name, *arguments)
                self.assertEqual(done.status, DONE, done.err)
                if arguments[:1] != ["--key"]:
                    self.assertEqual(sorted(done.out.splitlines()), expected, (name, arguments))
                self.assertEqual(packets_in(rows(done.out)), 20000)

    def test_a_table_that_grows_under_another_hash_splits_no_flow(self):
        path = self.capture(packets=80000, flows=40000)  # from 32,768 on it grows
        expected = sorted(run("watch", "-q", "-r", path, "--format", "csv").out.splitlines())
        self.assertEqual(len(expected), 40001)
        seen = sorted(run("watch", "-q", "-r", path, "--format", "csv", "--hash", "murmur3").out.splitlines())
        self.assertTrue(seen == expected, f"{len(seen)} lines")

    def test_top_and_sort(self):
        data = FILE_HEADER + b"".join(packet(i, 10) for flow in range(10) for i in range(flow, 10 * (flow + 1), 10))
        with open(self.path("steps.pcap"), "wb") as file:
            file.write(data)
        done = run("watch", "-q", "-r", self.path("steps.pcap"), "--format", "csv", "--top", "3", "--sort", "packets")
        self.assertEqual([flow["packets"] for flow in rows(done.out)], ["10", "9", "8"])
        done = run("watch", "-q", "-r", self.path("steps.pcap"), "--format", "csv", "--top", "0")
        self.assertEqual(len(rows(done.out)), 10)
        many = self.capture(packets=200, flows=100)
        text = run("watch", "-q", "-r", many).out.decode()
        self.assertEqual(text.count("10.0.0."), 20, "text shows the top 20")
        self.assertEqual(run("watch", "-q", "-r", many, "--top", "0").out.decode().count("10.0.0."), 100)

    def test_every_with_json_is_one_object_a_line(self):
        done = run("watch", "-q", "-g", "flows=300,packets=10000", "--flows", "4096", "--every", "50ms", "--duration", "400ms", "--format", "json")
        self.assertEqual(done.status, DONE, done.err)
        reports = [json.loads(line) for line in done.out.decode().splitlines()]
        self.assertGreater(len(reports), 2)
        before = 0
        for i, report in enumerate(reports):
            summary = report["summary"]
            self.assertEqual(summary["report"], i + 1)
            self.assertEqual(summary["final"], i + 1 == len(reports))
            self.assertTrue(summary["accounting"]["balanced"])
            self.assertGreaterEqual(summary["packets"], before)
            self.assertEqual(packets_in(report["flows"]), summary["packets"])
            before = summary["packets"]

    def test_a_slow_pipe_as_input(self):
        process = subprocess.Popen([PROGRAM, "watch", "-q", "-r", "-", "--format", "csv"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        data = FILE_HEADER + b"".join(packet(i, 10) for i in range(60))
        for at in range(0, len(data), 331):
            process.stdin.write(data[at:at + 331])
            process.stdin.flush()
            time.sleep(0.01)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, DONE, err)
        self.assertEqual(packets_in(rows(out)), 60)

    def test_a_compressed_capture_is_read_wherever_a_capture_is(self):
        with open(self.capture(packets=5000, flows=50), "rb") as file:
            plain = file.read()
        expected = rows(run("watch", "-q", "-r", self.path("good.pcap"), "--format", "csv").out)
        for name, data in (("gz", gzip.compress(plain)), ("xz", lzma.compress(plain))):
            path = self.path("good.pcap." + name)
            with open(path, "wb") as file:
                file.write(data)
            key = lambda row: sorted(row.items())
            for arguments, stdin in (((path,), None), (("-",), data), ((path, "--workers", "2"), None), (("-", "--workers", "2"), data)):
                done = run("watch", "-q", "--format", "csv", "-r", *arguments, stdin=stdin)
                self.assertEqual(done.status, DONE, done.err)
                self.assertEqual(sorted(rows(done.out), key=key), sorted(expected, key=key))
            done = run("send", "-q", "-r", path, "--loops", "2", "-w", self.path("sent.pcap"), "--rate", "asap")
            self.assertEqual(done.status, DONE, done.err)
            self.assertEqual(packets_in(rows(run("watch", "-q", "-r", self.path("sent.pcap"), "--format", "csv").out)), 10000)
        with open(self.path("twice.gz"), "wb") as file:
            file.write(gzip.compress(gzip.compress(plain)))
        self.assert_says(run("watch", "-q", "-r", self.path("twice.gz")), FAILED, "compressed twice", "gzip -dc", "parshall watch -r -")
        self.assert_says(run("watch", "-q", "-r", "-", stdin=gzip.compress(b"Dear Sir or Madam")), FAILED, "standard input (decompressed)", "Dear S")

    def test_a_slow_reader_gets_every_row(self):
        process = subprocess.Popen([PROGRAM, "watch", "-q", "-g", "flows=3000,packets=100000", "--flows", "1000", "--every", "100ms", "--count", "300k",
                                    "--format", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        errors = []
        thread = threading.Thread(target=lambda: errors.append(process.stderr.read()))
        thread.start()
        pieces = []
        while piece := os.read(process.stdout.fileno(), 65536):
            pieces.append(piece)
            if len(pieces) < 40:
                time.sleep(0.02)
        status = process.wait(timeout=30)
        thread.join()
        process.stdout.close()
        process.stderr.close()
        self.assertEqual(status, DONE, errors)
        reports = b"".join(pieces).decode().split("\n\n")
        final = rows(reports[-1])
        self.assertTrue(final)
        self.assertTrue(all(report.startswith(HEADER) for report in reports))
        records = {}  # a record shows as live until it has ended: its last and largest count is the one
        for report in reports:
            for flow in rows(report):
                name = tuple(flow[column] for column in ("src_ip", "src_port", "dst_ip", "dst_port", "protocol", "first_seen_ns"))
                records[name] = max(records.get(name, 0), int(flow["packets"]))
        self.assertEqual(sum(records.values()), 300_000)

    def test_a_configuration_file_gives_options_and_the_command_line_wins(self):
        config = self.config('generate = "flows=10,packets=100"', 'count = 100', 'stats = ["gap_mean", "size_max"]',
                             'format = "csv"', 'quiet = true', 'sort = "packets"', 'top = 2', 'filter = "udp or tcp"')
        done = run("watch", "--config", config)
        self.assertEqual((done.status, done.err), (DONE, b""))
        self.assertEqual(len(rows(done.out)), 2)
        self.assertIn("gap_mean_packets,size_max_bytes", done.out.decode())
        done = run("watch", "--config", config, "--top", "3", "--stats", "size_min")
        self.assertEqual(len(rows(done.out)), 3)
        self.assertNotIn("gap_mean", done.out.decode())

    def test_mistakes_in_a_configuration_file_are_named(self):
        for line, words in (('sorte = "packets"', ["sorte", "no option of watch"]), ('count = "abc"', ["--count abc"]),
                            ("[flows]\nkey = 1", ["[flows]"]), ('model = "fast"', ["fast", "model"]),
                            ("this is no toml", ["this is no toml"])):
            done = run("watch", "-g", "flows=1", "--count", "1", "--config", self.config(line))
            if "abc" in line:  # the command line's own value counts
                self.assertEqual(done.status, DONE)
                done = run("watch", "-g", "flows=1", "--config", self.config(line))
            self.assert_says(done, USAGE, *words)
        self.assert_says(run("watch", "--config", self.path("nowhere.toml")), USAGE, "nowhere.toml")
        self.assert_says(run("watch", "--config", self.folder), USAGE, self.folder)

    def config(self, *lines):
        with open(self.path("watch.toml"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return self.path("watch.toml")

    def test_every_column_of_a_report_is_listed_with_its_type(self):
        asked = "duration,rate,interval_rate,tcp_flags,end_reason,gap_max,iat_mean,size_skewness,iat_p99,gap_p99,class"
        listed = {line.split()[0]: line for line in run("list", "columns").out.decode().splitlines()}
        header = run("watch", "-q", "-r", self.capture(), "--format", "csv", "--stats", asked.removesuffix(",class")).out.decode().splitlines()[0]
        for column in header.split(",") + ["class"]:
            self.assertIn(column, listed)
            self.assertRegex(listed[column], r" (u?int|float|enum|flags)\d+ | time | address ")

    def test_list_alone_says_what_there_is_to_list(self):
        for lab in (False, True):
            done = run("list", lab=lab)
            topics = done.out.decode().split()
            self.assertEqual(done.status, DONE)
            self.assertLess({"tables", "tasks", "columns", "hashes"}, set(topics))
            for topic in topics:
                self.assertEqual(run("list", topic, lab=lab).status, DONE)

    def test_list_and_help_and_version(self):
        for topic in ("tables", "hashes", "statistics", "columns", "sources", "traffic", "goals", "experiments", "formats", "counters"):
            done = run("list", topic)
            self.assertEqual(done.status, DONE)
            self.assertTrue(done.out)
        self.assertEqual(run("--help").status, DONE)
        self.assertEqual(run("watch", "--help").status, DONE)
        self.assertEqual(run("bench", "tables", "--help").status, DONE)
        self.assertEqual(run("--version").status, DONE)


class Programs(Case):
    """parshall becomes parshall-lab and parshall-test, and carries nothing of theirs."""

    def test_bench_and_test_are_programs_of_their_own(self):
        for words, more in ((["bench", "tables", "--help"], "Usage: parshall bench tables"), (["test", "search", "--help"], "Usage: parshall test search"),
                            (["list", "goals"], "rfc2544"), (["list", "experiments"], "contention")):
            done = run(*words)
            self.assertEqual(done.status, DONE, done.err)
            self.assertIn(more, done.out.decode())
        for program, words in ((PROGRAM + "-lab", ["bench", "tables", "--help"]), (PROGRAM + "-test", ["search", "--help"]),
                               (PROGRAM + "-test", ["test", "search", "--help"])):
            done = subprocess.run([program, *words], capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, DONE)
            self.assertIn(b"Usage: " + os.path.basename(program).encode() + b" ", done.stdout)

    def test_a_program_that_is_not_there_is_named(self):
        alone = shutil.copy(PROGRAM, self.path("parshall"))
        for words, program in ((["bench", "tables"], "parshall-lab"), (["test", "run"], "parshall-test"), (["list", "goals"], "parshall-test")):
            done = subprocess.run([alone, *words], capture_output=True, timeout=60, check=False, env={"PATH": self.folder})
            self.assertEqual(done.returncode, FAILED)
            self.assertIn(program, done.stderr.decode())
        link = self.path("parshall-test")
        os.symlink(PROGRAM + "-test", link)
        done = subprocess.run([alone, "test", "search", "--help"], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, DONE, "beside it")
        os.mkdir(self.path("bin"))
        os.rename(link, self.path("bin/parshall-test"))
        done = subprocess.run([alone, "test", "search", "--help"], capture_output=True, timeout=60, check=False, env={"PATH": self.path("bin")})
        self.assertEqual(done.returncode, DONE, "in PATH")

    def test_the_product_has_no_rivals_and_says_who_has(self):
        with open(PROGRAM, "rb") as file:
            words = file.read()
        for rival in (b"robin-hood", b"murmur3", b"SpookyHash", b"tst009"):
            self.assertNotIn(rival, words)
        with open(PROGRAM + "-lab", "rb") as file:
            self.assertIn(b"robin-hood", file.read())
        capture = self.capture()
        for arguments, topic in ((["--table", "robin-hood"], "tables"), (["--hash", "xxh3"], "hashes")):
            done = subprocess.run([PROGRAM, "watch", "-r", capture, *arguments], capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn(f"parshall-lab list {topic}", done.stderr.decode())
        done = subprocess.run([PROGRAM, "watch", "-r", capture, "--threads", "cooperative"], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("run-to-completion,pipeline", done.stderr.decode())


class Tables(Case):
    """--table: whatever keeps the flows, the same flows come out."""

    def test_every_table_counts_the_same(self):
        capture = self.capture(packets=5000, flows=700)
        names = [line.split()[0] for line in run("list", "tables", lab=True).out.decode().splitlines() if " exact " in line]
        self.assertGreaterEqual(len(names), 9)
        results = {}
        for name in names:
            done = run("watch", "-q", "-r", capture, "--table", name, "--flows", "10k", "--stats", "size_mean", "--format", "csv")
            self.assertEqual(done.status, DONE, done.err)
            results[name] = sorted(map(tuple, (row.values() for row in rows(done.out))))
        for name in names:
            if name != "double-hash":  # ends a flow where two others have its bucket
                self.assertEqual(results[name], results["bucketed"], name)

    def test_a_full_table_ends_records_and_loses_no_packet(self):
        capture = self.capture(packets=5000, flows=700)
        for line in run("list", "tables", lab=True).out.decode().splitlines():
            if " exact " not in line:
                continue
            name = line.split()[0]
            done = run("watch", "-q", "-r", capture, "--table", name, "--flows", "100", "--format", "json")
            self.assertEqual(done.status, DONE, done.err)
            document = json.loads(done.out)
            self.assertTrue(document["summary"]["accounting"]["balanced"], name)
            self.assertEqual(packets_in(document["flows"]), 5000, name)


class Tasks(Case):
    def test_wrong_tasks_are_refused_with_what_there_is(self):
        cases = {"nope": ("nope", "heavy-hitters"), "heavy-hitters:foo=1": ("foo=1", "threshold"), "heavy-hitters:key=colour": ("colour", "src-port"),
                 "heavy-hitters:threshold=0": ("threshold=0",), "heavy-hitters:threshold=200%": ("threshold=200%",),
                 "heavy-hitters:top=-1": ("top=-1",), "heavy-hitters:by=": ("by=", "packets"), "count:window=1us": ("1us", "10ms"),
                 "count:window=10p": ("10p", "1000p"), "count:name=a b": ("a b",), "entropy:key=src/33": ("src/33",),
                 "superspreaders:key=dst": ("give src",), "change:method=guess": ("guess", "ewma"), "quantiles:of=colour": ("colour", "list fields"),
                 "slow=packets >": ("packets >", "position"), "slow=colour > 1": ("colour", "rate_pps"), "slow=packets = 3": ("==",),
                 "slow=3 > 2": ("no field",), "slow=(packets > 1": ("parenthesis",), "=packets > 1": ("name",), "": ("name",)}
        for spec, words in cases.items():
            with self.subTest(task=spec):
                self.assert_says(run("watch", "-g", "flows=10", "--task", spec), USAGE, *words)
        self.assert_says(run("watch", "-g", "flows=10", "--tasks", "count,count"), USAGE, "two tasks", "name=other")
        self.assert_says(run("watch", "-g", "flows=10", "--tasks", "heavy-hitters", "--key", "dst"), USAGE, "key=src", "--key")
        self.assert_says(run("watch", "-g", "flows=10", "--tasks", "count", "--packets-only"), USAGE, "--packets-only")
        self.assert_says(run("watch", "-g", "flows=10", "--events", "x"), USAGE, "--tasks")

    def test_events_never_overwrite_the_capture_or_the_report(self):
        capture = self.capture()
        size = os.path.getsize(capture)
        self.assert_says(run("watch", "-r", capture, "--tasks", "count", "--events", capture), USAGE, "capture itself")
        self.assertEqual(os.path.getsize(capture), size)
        both = self.path("both")
        self.assert_says(run("watch", "-r", capture, "--tasks", "count", "--events", both, "-o", both), USAGE, "--events")
        self.assert_says(run("watch", "-r", capture, "--tasks", "count", "--events", "-"), USAGE, "standard output")

    def test_events_go_where_they_are_asked_and_into_the_report(self):
        capture = self.capture(packets=5000)
        report = self.path("report.json")
        done = run("watch", "-r", capture, "--task", "count:window=1000p", "--events", "-", "-o", report, "--format", "json", "--quiet")
        self.assertEqual(done.status, DONE)
        events = [json.loads(line) for line in done.out.splitlines()]
        self.assertEqual([event["values"]["packets"] for event in events], [1000] * 5)
        with open(report) as file:
            self.assertEqual(json.load(file)["events"], events)
        text = run("watch", "-r", capture, "--task", "count:window=1000p")
        self.assertIn("5 windows; count 5 events", text.out.decode())

    def test_events_that_cannot_be_written_are_in_the_report_and_said_to_be_lost(self):
        done = run("watch", "-r", self.capture(packets=5000), "--task", "count:window=1000p", "--events", "/dev/full", "--format", "json")
        self.assert_says(done, FAILED, "cannot write /dev/full", "counted, and not written", "5 dropped")
        self.assertEqual(len(json.loads(done.out)["events"]), 5)
        self.assert_says(run("watch", "-r", self.capture(), "--tasks", "count", "--events", "/no/such/file"), FAILED, "/no/such/file")

    def test_lists_say_what_tasks_and_fields_there_are(self):
        tasks = run("list", "tasks").out.decode()
        for name in ("heavy-hitters", "superspreaders", "victims", "change", "entropy", "flow-sizes", "quantiles", "count", "threshold", "window"):
            self.assertIn(name, tasks)
        self.assertIn("rate_pps", run("list", "fields").out.decode())


class Traffic(Case):
    def retransmissions(self, traffic):
        done = run("watch", "-g", f"protocol=connections,{traffic}", "--count", "400000", "--tasks", "retransmissions:most=100000",
                   "--window", "10ms", "--format", "json", "--top", "1")
        self.assertEqual(done.status, 0, done.err)
        return sum(event["values"]["tcp_retransmissions"] for event in json.loads(done.out)["events"])

    def test_connections_send_nothing_again_however_often_their_packets_are_played(self):
        for traffic in ("flows=5000,packets=60000,dist=zipf:1.1", "flows=1000,packets=3000", "flows=5001,packets=40000,ipv6=0.5",
                        "flows=3,packets=5", "flows=5000,packets=60000,dist=zipf:1.1,flood=0.3"):
            with self.subTest(traffic=traffic):
                self.assertEqual(self.retransmissions(traffic), 0)
        self.assertGreater(self.retransmissions("flows=500,packets=60000,resend=0.01"), 1000)

    def test_connections_have_nothing_that_a_monitor_of_tcp_finds_wrong_but_what_is_sent_again(self):
        names = ["tcp_data_packets", "tcp_retransmissions", "tcp_out_of_order", "tcp_lost_segments", "tcp_acked_unseen", "tcp_zero_windows"]
        for traffic, share in (("sessions,size=imix", 0), ("sessions,size=imix,resend=0.1,ipv6=0.5,vlan=100.200,addresses=benchmark", 0.1),
                               ("connections,size=imix,packets=20000", 0), ("connections,size=300,resend=0.1,ipv6=0.5,packets=20000", None),
                               ("sessions,size=imix,packets=20000", 0)):
            with self.subTest(traffic=traffic):
                packets = "" if "packets=" in traffic else ",packets=50000"
                done = run("watch", "-g", f"protocol={traffic},flows=100,rate=100000{packets}", "--count", "50000", "--window", "1000s",
                           "--task", "all=" + " and ".join(f"{name} > -1" for name in names), "--format", "json", "--top", "1")
                self.assertEqual(done.status, DONE, done.err)
                report = json.loads(done.out)
                found = {name: sum(event["values"][name] for event in report["events"]) for name in names}
                data, again = found.pop("tcp_data_packets"), found.pop("tcp_retransmissions")
                self.assertEqual(set(found.values()), {0}, found)
                self.assertEqual(len(report["events"]), 100)
                if share is not None:  # of connections each flow has its own
                    self.assertAlmostEqual(again / (data - again), share, delta=share / 10)

    @unittest.skipUnless(shutil.which("tshark"), "SKIPPED: no tshark")
    def test_tshark_finds_nothing_wrong_with_connections_that_repeat(self):
        for traffic in ("connections", "connections,size=imix,addresses=benchmark", "sessions,size=imix"):
            with self.subTest(traffic=traffic):
                done = run("send", "-q", "-g", f"protocol={traffic},flows=200,packets=5000", "--count", "15000", "-w", self.path("c.pcap"))
                self.assertEqual(done.status, DONE, done.err)
                fields = [word for name in ("_ws.expert.message", "_ws.expert.severity") for word in ("-e", name)]
                found = subprocess.run(["tshark", "-r", self.path("c.pcap"), "-Y", "_ws.expert && !tcp.flags.syn == 1 && !tcp.flags.fin == 1", "-T", "fields",
                                        *fields], capture_output=True, text=True, timeout=60, check=True).stdout
                self.assertEqual(found, "")

    def test_tags_change_no_flow(self):
        def flows(traffic):
            done = run("watch", "-g", f"flows=500,packets=5000,ipv6=0.3,{traffic}", "--count", "10000", "--format", "json", "--top", "1000")
            self.assertEqual(done.status, DONE, done.err)
            return {tuple(str(flow[name]) for name in ("src_ip", "dst_ip", "src_port", "dst_port", "protocol", "packets", "ip_bytes"))
                    for flow in json.loads(done.out)["flows"]}
        plain = flows("size=200")
        self.assertEqual(len(plain), 500)
        self.assertEqual(flows("size=204,vlan=100"), plain)
        self.assertEqual(flows("size=208,vlan=100.200"), plain)


class Profile(Case):
    """parshall profile"""

    QUICK = ("--rounds", "3", "--memory", "64Mi", "-g", "flows=1000,protocol=connections")

    def profile(self, *arguments, **more):
        return run("profile", *self.QUICK, *arguments, **more)

    def read(self, path):
        with open(path, "rb") as file:
            return tomllib.load(file)

    def assert_costs(self, entries, names):
        self.assertEqual([entry["name"] for entry in entries], names)
        for entry in entries:
            self.assertTrue(0 <= entry["low_ns"] <= entry["cost_ns"] <= entry["high_ns"] < 1e9, entry)

    def assert_finite(self, found, err):
        self.assertEqual(found["version"], 1)
        for name in ("input_ns", "new_flow_ns", "new_flow_batched_ns"):
            self.assertTrue(0 < found["packet"][name] < 1e9, found)
        for where in ("cached", "uncached"):
            entry = found["retrieval"][where]
            self.assertIn(entry["model"], ("normal", "weibull", "gumbel"))
            for name in ("mean_ns", "scale_ns", "batched_ns", "shape" if entry["model"] == "weibull" else "location_ns"):
                self.assertTrue(0 < entry[name] < 1e9, found)
            self.assertGreaterEqual(entry["samples"], 10000)
        self.assertTrue(found["retrieval"]["cached"]["mean_ns"] < found["retrieval"]["uncached"]["mean_ns"] or b"warning" in err, err)
        self.assertTrue(found["machine"]["cores"] >= 1 and found["machine"]["table"] == "bucketed")

    def test_a_profile_is_of_this_machine_and_goes_where_configurations_are(self):
        done = self.profile("--format", "json", env={"XDG_CONFIG_HOME": self.path("config")})
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual(os.listdir(self.path("config/parshall")), ["profile.toml"])
        found = self.read(self.path("config/parshall/profile.toml"))
        self.assert_finite(found, done.err)
        self.assertEqual(found["machine"]["program"], run("--version").out.decode().strip())
        self.assertNotIn("state", found)
        self.assert_costs(found["work"], ["window rows", "iat", "tcp", "rtt_history"] + [entry["name"] for entry in found["work"][4:]])
        summary = json.loads(done.out)
        self.assertTrue(summary["machine"]["cores"])
        rows_of = {row["what"]: row for row in summary["rows"]}
        self.assertEqual(round(rows_of["poll, decode and hash a packet"]["ns"], 2), round(found["packet"]["input_ns"], 2))
        for where in ("in cache", "from memory"):
            models = [rows_of[f"{where} as {name}"]["bic_more"] for name in ("Normal", "Weibull", "Gumbel")]
            self.assertEqual(min(models), 0)
            self.assertGreater(max(models), 0)
            self.assertGreaterEqual(rows_of[f"find a flow, {where}, one at a time"]["samples"], 10000)

    def test_states_are_measured_in_place_of_kinds_of_work(self):
        with open(self.path("states.toml"), "w", encoding="ascii") as file:
            file.write("""default = "light"
[[state]]
name = "light"
tasks = ["count:window=10ms"]
[[state]]
name = "deep \\"er\\""
tasks = ["count:window=10ms", "big:window=10ms:packets > 3"]
[[rule]]
state = "light"
port = 80
""")
        with open(self.path("profile.toml"), "w", encoding="ascii") as file:
            file.write("old")
        os.chmod(self.path("profile.toml"), 0o640)
        os.symlink("profile.toml", self.path("link.toml"))
        done = self.profile("--states", self.path("states.toml"), "-o", self.path("link.toml"))
        self.assertEqual(done.status, DONE, done.err)
        self.assertIn("find a flow, in cache, in batches", done.out.decode())
        self.assertTrue(os.path.islink(self.path("link.toml")), "the link itself was replaced")
        self.assertEqual(os.stat(self.path("profile.toml")).st_mode & 0o777, 0o640)
        found = self.read(self.path("profile.toml"))
        self.assert_finite(found, done.err)
        self.assertNotIn("work", found)
        self.assert_costs(found["state"], ["light", 'deep "er"'])
        self.assertEqual(found["state"][1]["tasks"], ["count:window=10ms", "big:window=10ms:packets > 3"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["link.toml", "profile.toml", "states.toml"])

    def test_watch_decides_by_it_where_it_is_of_the_same_states_and_machine(self):
        states = """default = "deep"
[[state]]
name = "light"
tasks = ["count:window=10ms"]
[[state]]
name = "deep"
lighter = "light"
tasks = ["count:window=10ms", "bursty:window=10ms"]
"""
        files = {"states.toml": states, "others.toml": states.replace("bursty", "retransmissions"), "more.toml": states + '[[state]]\nname = "third"\n'}
        for name, text in files.items():
            with open(self.path(name), "w", encoding="ascii") as file:
                file.write(text)
        done = self.profile("--states", self.path("states.toml"), "-o", self.path("profile.toml"))
        self.assertEqual(done.status, DONE, done.err)

        def watch(name, profile="profile.toml"):
            return run("watch", "-g", "flows=100,protocol=connections,pace=100000", "--duration", "0.2s", "--states", self.path(name),
                       "--profile", self.path(profile))
        self.assertEqual(watch("states.toml").status, DONE, watch("states.toml").err)
        self.assert_says(watch("others.toml"), USAGE, "state deep has other tasks", "parshall profile --states")
        self.assert_says(watch("more.toml"), USAGE, "no state third")
        with open(self.path("profile.toml"), encoding="ascii") as file:
            text = file.read()
        with open(self.path("elsewhere.toml"), "w", encoding="ascii") as file:
            file.write(text.replace('cpu = "', 'cpu = "another '))
        self.assert_says(watch("states.toml", "elsewhere.toml"), USAGE, "elsewhere.toml", "another")
        self.assert_says(watch("states.toml", "none.toml"), USAGE, "none.toml")
        self.assert_says(run("watch", "-g", "flows=10", "--count", "10", "--profile", self.path("profile.toml")), USAGE, "--states")

    def test_what_cannot_be_kept_goes_to_standard_output(self):
        os.mkfifo(self.path("pipe"))
        said = []

        def read():
            with open(self.path("pipe"), "rb") as pipe:
                said.append(pipe.read())
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        done = self.profile("-o", self.path("pipe"))
        reader.join(timeout=60)
        self.assertEqual(done.status, DONE, done.err)
        self.assert_finite(tomllib.loads(said[0].decode()), done.err)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode), "the pipe was replaced by a file")
        done = self.profile("-o", "-")
        self.assertEqual(done.status, DONE, done.err)
        self.assert_finite(tomllib.loads(done.out.decode()), done.err)
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.profile("-o", self.path("kept.toml"), stdout=full).status, FAILED)
        self.assert_finite(self.read(self.path("kept.toml")), b"warning")

    def test_a_signal_ends_it_and_nothing_is_written(self):
        with open(self.path("profile.toml"), "w", encoding="ascii") as file:
            file.write("precious")
        for words, rounds in (b"filling", "2000"), (b"monitors", "60"):
            with self.subTest(after=words):
                process = subprocess.Popen([PROGRAM, "profile", "--memory", "64Mi", "-g", "flows=1000,packets=100000", "--rounds", rounds,
                                            "-o", self.path("profile.toml")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.addCleanup(process.stdout.close)
                self.addCleanup(process.stderr.close)
                self.addCleanup(process.kill)
                while words not in process.stderr.readline():
                    self.assertIsNone(process.poll(), "it ended by itself")
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=20)
                self.assertEqual((process.returncode, out), (FAILED, b""), err)
                self.assertIn(b"nothing was written", err)
                self.assertEqual(os.listdir(self.folder), ["profile.toml"])
                with open(self.path("profile.toml"), encoding="ascii") as file:
                    self.assertEqual(file.read(), "precious")

    def test_mistakes_are_named(self):
        with open(self.path("states.toml"), "w", encoding="ascii") as file:
            file.write('default = "a"\n[[state]]\nname = "a"\ntasks = ["nosuch"]\n')
        for words, arguments in (
                (("states.toml", "nosuch"), ["--states", self.path("states.toml")]),
                (("/no/such/file", "No such file"), ["--states", "/no/such/file"]),
                (("flows=many",), ["-g", "flows=many"]),
                (("pace",), ["-g", "flows=10,pace=1000"]),
                (("--window soon",), ["--window", "soon"]),
                (("--memory much", "512Mi"), ["--memory", "much"]),
                (("--rounds",), ["--rounds", "2"]),
                (("--format",), ["--format", "xml"]),
                ((".svg", ".png"), ["--plot", "times.pdf"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("profile", "-o", self.path("profile.toml"), *arguments), USAGE, *words)
        self.assert_says(run("profile", env={"XDG_CONFIG_HOME": "", "HOME": ""}), USAGE, "HOME", "-o")
        self.assert_says(run("profile", "-o", self.folder), FAILED, self.folder, "directory")
        self.assert_says(run("profile", "-o", self.path("states.toml/profile.toml")), FAILED, "states.toml/profile.toml")
        self.assert_says(run("profile", "--memory", "1Mi", "--rounds", "3", "-g", "flows=10", "-o", self.path("profile.toml")),
                         FAILED, "--memory", "too small", lines=6)
        self.assertEqual(os.listdir(self.folder), ["states.toml"])


class Lab(Case):
    """parshall bench"""

    def bench(self, *arguments, **more):
        return run("bench", "tables", "--flows", "100", "--rounds", "3", *arguments, **more)

    def test_tables_are_compared_with_the_first_of_them(self):
        done = self.bench("--tables", "linear,bucketed,double-hash", "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        self.assertEqual([row["table"] for row in found], ["linear", "bucketed", "double-hash"])
        self.assertEqual(float(found[0]["ratio"]), 1)
        for row in found:
            self.assertTrue(0 < float(row["low_ratio"]) <= float(row["ratio"]) <= float(row["high_ratio"]))
            self.assertTrue(0 < float(row["p50_cycles"]) <= float(row["p99_cycles"]))
            self.assertEqual(row["flows"], "100")

    def test_sketches_are_compared_among_themselves_or_with_tables(self):
        done = run("bench", "sketches", "--flows", "100", "--rounds", "3", "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        names = [row["table"] for row in found]
        self.assertEqual((names[0], "linear" in names), ("count-array", False))
        self.assertTrue({"count-array-keys", "count-min", "space-saving", "heavy-keeper", "bucketed-count"} < set(names), names)
        for row in found:
            self.assertTrue(0 <= float(row["precision"]) <= 1 and 0 <= float(row["recall"]) <= 1, row)
        done = run("bench", "sketches", "--tables", "bucketed,space-saving", "--flows", "100", "--rounds", "3", "--format", "csv")
        self.assertEqual([row["table"] for row in rows(done.out)], ["bucketed", "space-saving"], done.err)

    def test_heavy_hitters_are_found_by_all_flows_and_by_sketches(self):
        traffic = "flows=2000,dist=zipf:1.1,packets=200000,rate=1000000"
        done = run("bench", "heavy-hitters", "-g", traffic, "--window", "10ms,50ms", "--width", "1Ki,16Ki", "--one-in", "1,4", "--threshold",
                   "0.01", "--rounds", "3", "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        ways = [("all-flows", ""), ("worker", "")] + [(way, width) for way in ("heavy-keeper", "space-saving") for width in ("1024", "16384")]
        ways += [("nitro", width) for width in ("1024", "16384") for _ in (1, 4)]
        self.assertEqual([(row["way"], row["width"]) for row in found], 2 * ways)
        for row in found:
            if row["way"] == "worker":
                self.assertEqual((row["windows"], row["recall"]), ("0", ""))
                continue
            self.assertEqual(row["windows"], "19" if row["window_ms"] == "10" else "3", "the last one is cut off")
            self.assertGreater(float(row["ns"]), 0)
            if row["way"] in ("all-flows", "space-saving"):
                self.assertEqual((float(row["recall"]), float(row["precision"])), (1, 1), row)
            self.assertGreater(float(row["recall"]), 0.5, row)
        for words, arguments in (
                (("no way", "nitro"), ["--way", "magic"]),
                (("--window", "1ms"), ["--window", "1us"]),
                (("--width",), ["--width", "wide"]),
                (("--one-in",), ["--one-in", "0"]),
                (("flows=many",), ["-g", "flows=many"]),
                (("--threshold",), ["--threshold", "2"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "heavy-hitters", *arguments), USAGE, *words)
        self.assert_says(run("bench", "heavy-hitters", "-r", "/no/such/file"), FAILED, "/no/such/file")
        self.assert_says(run("bench", "heavy-hitters", "-g", "flows=10,packets=1000,rate=1000000"), FAILED, "shorter than two windows")
        with open(self.path("arp.pcap"), "wb") as file:
            frame = bytes(12) + b"\x08\x06" + bytes(46)
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + struct.pack("<IIII", 1, 0, 60, 60) + frame)
        self.assert_says(run("bench", "heavy-hitters", "-r", self.path("arp.pcap")), FAILED, "shorter than two windows")

    def test_what_states_cost_beside_their_tasks_is_told(self):
        done = run("bench", "states", "--states", "2,10", "--flows", "60", "--rate", "200000", "--rounds", "1", "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual([(row["states"], row["flows"], row["window_packets"], row["way"]) for row in rows(done.out)],
                         [(states, "60", "2000", way) for states in ("2", "10") for way in ("one-state", "counted", "decided", "changing", "estimates")])
        for words, arguments in ((("--states",), ["--states", "65"]), (("--states",), ["--states", "1"]), (("--flows 0",), ["--flows", "0"]), (("--rate",), ["--rate", "10"]),
                                 (("--tasks",), ["--tasks", "0"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "states", *arguments), USAGE, *words)

    def test_how_far_flows_give_way_is_played(self):
        small = ["--states", "chain", "--flows", "500", "--packets", "32Ki", "--seconds", "0.3", "--warm-up", "0.1"]
        done = run("bench", "adaptive", "--scenario", "rates", "--load", "2", "--mode", "no-adapt,accuracy", "--slots", "64,4Ki", *small, "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        tasks = ("heavy-hitters", "retransmissions", "bursty", "latency-change")
        found = rows(done.out)
        self.assertEqual([(row["slots"], row["mode"], row["task"]) for row in found],
                         [(slots, mode, task) for slots in ("64", "4096") for mode in ("no-adapt", "accuracy") for task in tasks])
        self.assertTrue(all(0 <= float(row["recall"]) <= 1 for row in found))
        for words, arguments in ((("no scenario", "rates"), ["--scenario", "calm"]), (("no states", "chain"), ["--states", "ring"]), (("no mode", "accuracy"), ["--mode", "magic"]),
                                 (("--slots 0",), ["--slots", "0"]), (("--queue 0",), ["--queue", "0"]), (("--load",), ["--load", "0"]), (("--flows many",), ["--flows", "many"]),
                                 (("--stretches 9",), ["--stretches", "9", "--seconds", "2"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "adaptive", *arguments), USAGE, *words)

    def test_ways_to_change_a_step_are_compared(self):
        done = run("bench", "steps", "--policy", "MM,AA", "--first-step", "0.0025,0.1", "--cases", "200", "--rounds", "2", "--format", "json")
        self.assertEqual(done.status, DONE, done.err)
        first, second = (json.loads(line)["rows"] for line in done.out.decode().splitlines())
        self.assertEqual([(row["policy"], row["first_step"]) for row in first], [("MM", 0.0025), ("AA", 0.0025), ("MM", 0.1), ("AA", 0.1)])
        self.assertTrue(all(row["low_windows"] < row["windows"] < row["high_windows"] for row in first + second))
        self.assertNotEqual(first, second, "each round has cases of its own")
        for words, arguments in ((("no policy", "MM, MA, AM, AA"), ["--policy", "XX"]), (("--cases",), ["--cases", "0"]), (("--error",), ["--error", "2"]),
                                 (("--first-step",), ["--first-step", "0.5"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "steps", *arguments), USAGE, *words)

    def test_every_combination_is_measured(self):
        done = self.bench("--tables", "linear", "--flows", "50", "--zipf", "0,1", "--value-bytes", "8,64", "--format", "json")
        self.assertEqual(done.status, DONE, done.err)
        documents = [json.loads(line) for line in done.out.decode().splitlines()]
        self.assertEqual([(d["flows"], d["zipf"], d["rows"][0]["value_bytes"]) for d in documents],
                         [(flows, zipf, size) for flows in (100, 50) for zipf in (0, 1) for size in (8, 64)])
        self.assertTrue(documents[0]["machine"]["cores"])

    def test_captures_and_built_in_traffic_are_played(self):
        for traffic, flows in (["-r", self.capture(flows=30)], "30"), (["-g", "flows=70,packets=1000"], "70"):
            with self.subTest(traffic=traffic):
                done = run("bench", "tables", "--tables", "linear,bucketed", "--rounds", "3", "--format", "csv", *traffic)
                self.assertEqual(done.status, DONE, done.err)
                for row in rows(done.out):
                    self.assertEqual((row["flows"], row["size"]), (flows, flows))
                    self.assertEqual([float(row[name]) for name in ("precision", "recall", "count_error")], [1, 1, 0])

    def test_steps_and_batches_of_the_monitor_are_measured(self):
        done = run("bench", "pipeline", "-g", "flows=100,packets=2000", "--stats", "none,gap_mean+iat_sd", "--rounds", "3",
                   "--tables", "bucketed,linear", "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual([row["monitor"] for row in rows(done.out)],
                         ["poll", "parse and hash", "bucketed", "bucketed, gap_mean+iat_sd", "linear", "linear, gap_mean+iat_sd"])
        done = run("bench", "batch", "-r", self.capture(flows=30), "--batch", "16,64", "--rounds", "3", "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual([(row["batch"], row["flows"]) for row in rows(done.out)], [("16", "30"), ("64", "30")])
        for words, arguments in ((("no table",), ["--tables", "nosuch"]), (("gap_colour",), ["--stats", "gap_colour"]),
                                 (("--flows many",), ["--flows", "many"]), (("--batch",), ["--batch", "0"]),
                                 (("flows=many",), ["-g", "flows=many"]), (("--queue",), ["--queue", "0"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "pipeline", *arguments), USAGE, *words)
        self.assert_says(run("bench", "batch", "-r", "/no/such/file"), FAILED, "/no/such/file")

    def test_advice_is_a_configuration_that_watch_takes(self):
        capture = self.capture(flows=300, packets=3000)
        done = run("bench", "advise", "-r", capture, "--rounds", "6", "--rate", "1k", "-o", self.path("advice.toml"))
        self.assertEqual(done.status, DONE, done.err)
        done = run("watch", "-q", "-r", capture, "--config", self.path("advice.toml"), "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual(len(rows(done.out)), 300)
        for words, arguments in ((("-r FILE",), []), (("--memory none",), ["-r", capture, "--memory", "none"]),
                                 (("gap_colour",), ["-r", capture, "--stats", "gap_colour"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "advise", *arguments), USAGE, *words)
        self.assert_says(run("bench", "advise", "-r", "/no/such/file"), FAILED, "/no/such/file")
        self.assert_says(run("bench", "advise", "-r", capture, "--rounds", "6", "--memory", "1"), FAILED, "no table")
        for nowhere in ("/no/such/file", "/dev/full"):
            with self.subTest(output=nowhere):
                done = run("bench", "advise", "-r", capture, "--rounds", "6", "-o", nowhere)
                self.assert_says(done, FAILED, nowhere, "standard output")
                self.assertIn("table = ", done.out.decode(), "what was measured is lost")

    def test_all_tables_are_measured_without_a_choice(self):
        done = self.bench()
        self.assertEqual(done.status, DONE, done.err)
        for table in ("bucketed", "cuckoo-4", "simd-tags", "unordered-map"):
            self.assertIn(table, done.out.decode())

    def test_mistakes_are_named(self):
        for words, arguments in (
                (("no table \"linea\"", "linear-index"), ["--tables", "linea"]),
                (("--flows 0", "from 1"), ["--flows", "0"]),
                (("--flows many", "64Ki"), ["--flows", "many"]),
                (("--zipf 9",), ["--zipf", "9"]),
                (("--value-bytes 5", "4, 8, 16"), ["--value-bytes", "5"]),
                (("--key-bytes 12", "8, 16, 40"), ["--key-bytes", "12"]),
                (("--key-bytes 40", "--task count"), ["--key-bytes", "40", "--task", "change"]),
                (("--key-bytes 8", "--value-bytes 16"), ["--key-bytes", "8", "--value-bytes", "64"]),
                (("no task \"hh\"", "heavy-hitter"), ["--task", "hh"]),
                (("no neighbour \"tv\"", "cache"), ["--beside", "tv"]),
                (("--load 0",), ["--load", "0"]),
                (("--batch 0",), ["--batch", "0"]),
                (("no size of pages \"1G\"", "2M, 4k"), ["--pages", "1G"]),
                (("--offered 0",), ["--offered", "0"]),
                (("--queue 0",), ["--queue", "0"]),
                (("--cores 0",), ["--cores", "0"]),
                (("--heavy 1",), ["--heavy", "1"]),
                (("--epoch none",), ["--epoch", "none"]),
                (("flows=many",), ["-g", "flows=many"]),
                (("excludes",), ["-g", "flows=10", "--flows", "10"]),
                ((".svg", ".png"), ["--plot", "cost.pdf"]),
                (("--rounds",), ["--rounds", "0"]),
                (("--format",), ["--format", "xml"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "tables", *arguments), USAGE, *words)
        self.assert_says(run("bench"), USAGE, "parshall bench --help")
        self.assert_says(run("bench", "tables", "-r", "/no/such/file"), FAILED, "/no/such/file")
        self.assert_says(self.bench("-o", "/no/such/file"), FAILED, "/no/such/file")
        self.assert_says(self.bench("-o", "/dev/full"), FAILED, "/dev/full")

    def test_hashes_are_compared_with_the_first_of_them(self):
        done = run("bench", "hashes", "--hashes", "murmur3,xor,toeplitz", "--keys", "4096", "--rounds", "3", "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        self.assertEqual([(row["ip_version"], row["input"], row["hash"]) for row in found],
                         [(ip, of, name) for ip in ("4", "6") for of in ("addresses", "ports", "5tuple")
                          for name in ("murmur3", "xor", "toeplitz") if (of, name) != ("5tuple", "toeplitz")])
        for row in found:
            self.assertTrue(0 < float(row["low_ns"]) <= float(row["ns"]) <= float(row["high_ns"]))
            self.assertEqual(float(row["ratio"]) == 1, row["hash"] == "murmur3")
            self.assertEqual(float(row["consecutive_collided_share"]) > 0.9, row["hash"] == "xor")

    def test_mistakes_in_comparing_hashes_are_named(self):
        for words, arguments in (
                (("no hash \"md5\"", "murmur3"), ["--hashes", "md5"]),
                (("--keys 1", "from 2"), ["--keys", "1"]),
                (("--keys many", "64Ki"), ["--keys", "many"]),
                (("none of these hashes",), ["--hashes", "toeplitz", "--input", "5tuple"]),
                (("--input",), ["--input", "payload"]),
                (("--ip",), ["--ip", "5"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "hashes", *arguments), USAGE, *words)
        self.assert_says(run("bench", "hashes", "-o", "/no/such/file"), FAILED, "/no/such/file")

    def test_ways_to_share_a_table_between_cores_are_compared(self):
        done = run("bench", "contention", "--flows", "100", "--rounds", "3", "--cores", "1", "--sharing", "same,split",
                   "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        ways = ["separate", "separate-merge", "shared-cas", "shared-add", "shared-racy", "array-separate", "array-cas"]
        self.assertEqual([(row["sharing"], row["way"]) for row in found],
                         [(sharing, way) for sharing in ("same", "split") for way in ways])
        for row in found:
            self.assertEqual((row["flows"], row["cores"], float(row["lost_share"])), ("100", "1", 0))
            self.assertTrue(0 < float(row["low_ns"]) <= float(row["ns"]) <= float(row["high_ns"]))
            self.assertAlmostEqual(float(row["all_mpps"]), 1e3 / float(row["ns"]))
            self.assertEqual(row["merge_ns"] != "", row["way"] == "separate-merge")
            self.assertEqual(row["together"], "")
        listed = run("list", "experiments").out.decode()
        for way in ways:
            self.assertIn(way, listed)
        for words, arguments in (
                (("--cores 0",), ["--cores", "0"]),
                (("--cores 4096", "this process may use"), ["--cores", "1,4096"]),
                (("no sharing \"none\"", "same, split"), ["--sharing", "none"]),
                (("--flows 0",), ["--flows", "0"]),
                (("--zipf 9",), ["--zipf", "9"]),
                (("--epoch none",), ["--epoch", "none"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "contention", *arguments), USAGE, *words)

    def test_a_signal_keeps_what_was_measured(self):
        process = subprocess.Popen([PROGRAM, "bench", "tables", "--tables", "linear", "--flows", ",".join(["1000"] * 500),
                                    "--rounds", "3", "--format", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stderr.readline()  # one combination is done
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, DONE, err)
        self.assertTrue(1 <= len(rows(out)) < 500)

    def test_parsing_is_compared_with_the_descriptor(self):
        done = run("bench", "parse", "--memory", "64k", "--rounds", "3", "--traffic", "vlan,ipv6", "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        for traffic in ("vlan", "ipv6"):
            self.assertEqual([(row["reads"], row["prefetch"]) for row in found if row["traffic"] == traffic],
                             [("descriptor", "")] + [(reads, prefetch) for reads in
                              ("addresses", "ports", "five-tuple", "hashed", "general") for prefetch in ("on", "off")])
        for row in found:
            self.assertTrue(0 < float(row["low_ns"]) <= float(row["ns"]) <= float(row["high_ns"]))
            self.assertTrue(float(row["ratio"]) > 0 and float(row["cycles"]) > 0)
            self.assertEqual(row["memory_bytes"], "64000")

    def test_mistakes_of_bench_parse_are_named(self):
        for words, arguments in (
                (("no access \"ip\"", "addresses"), ["--access", "ip"]),
                (("no traffic \"arp\"", "vlan"), ["--traffic", "arp"]),
                (("--memory 1", "64000"), ["--memory", "1"]),
                (("--memory much", "1G"), ["--memory", "1M,much"]),
                (("--prefetch maybe", "on, off"), ["--prefetch", "maybe"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "parse", *arguments), USAGE, *words)
        self.assert_says(run("bench", "parse", "--memory", "1000000G"), FAILED, "are available", "--memory")

    def test_queues_and_pools_are_compared_with_the_first(self):
        done = run("bench", "receive", "--queues", "1,3", "--cache", "0,64", "--burst", "32", "--arrivals", "2,100", "--buffers", "2048",
                   "--rounds", "3", "--format", "csv")
        self.assertIn("parshall bench receive", run("list", "experiments").out.decode())
        if b"built without DPDK" in done.err:
            self.assert_says(done, FAILED, "libdpdk-dev")
            return
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        self.assertEqual([(row["cache"], row["arrivals"], row["queues"], row["pools"]) for row in found],
                         [(cache, arrivals, queues, pools) for cache in ("0", "64") for arrivals in ("2", "100")
                          for queues in ("1", "3") for pools in ("shared", "own")])
        for row in found:
            self.assertTrue(0 < float(row["low_ns"]) <= float(row["ns"]) <= float(row["high_ns"]))
            self.assertTrue(float(row["polling_cycles"]) > 0 and float(row["pool_cycles"]) > 0)
            self.assertAlmostEqual(float(row["all_mpps"]), 1e3 / float(row["ns"]))
            self.assertEqual(float(row["empty_polls"]) > 0, row["queues"] == "3")
            self.assertEqual((row["cores"], row["burst"], row["buffers"], row["together"]), ("1", "32", "2048", ""))

    def test_mistakes_of_bench_receive_are_named(self):
        for words, arguments in (
                (("--queues 0", "from 1 to 64"), ["--queues", "0"]),
                (("--queues 1000000000", "from 1 to 64"), ["--queues", "1,1000000000"]),
                (("--queues",), ["--queues", "99999999999999999999999"]),
                (("--queues",), ["--queues=-1"]),
                (("--queues",), ["--queues", "many"]),
                (("no pools \"none\"", "shared, own"), ["--pools", "none"]),
                (("--burst 0", "from 1 to 4096"), ["--burst", "0"]),
                (("--burst 4097", "from 1 to 4096"), ["--burst", "4097"]),
                (("--cache 513", "from 0 to 512"), ["--cache", "513"]),
                (("1024 are needed", "--cache 512"), ["--cache", "512", "--buffers", "800", "--pools", "shared"]),
                (("--arrivals 0",), ["--arrivals", "0"]),
                (("--buffers 0",), ["--buffers", "0"]),
                (("--buffers many", "64Ki"), ["--buffers", "many"]),
                (("256 buffers a pool", "--queues 64"), ["--queues", "64"]),
                (("at most 512",), ["--queues", ",".join(["64"] * 9), "--cache", "0", "--pools", "shared"]),
                (("--cores 0", "this process may use"), ["--cores", "0"]),
                (("--cores 4096", "this process may use"), ["--cores", "1,4096"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "receive", *arguments), USAGE, *words)

    def models(self, *arguments, **more):
        return run("bench", "models", "--packets", "20k", "-g", "flows=100,packets=1000", "--rounds", "3", *arguments, **more)

    def test_thread_models_are_compared_with_the_first(self):
        done = self.models("--workers", "1,2", "--oversubscribe", "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        self.assertEqual([(row["model"], row["workers"], row["threads"]) for row in found],
                         [("run-to-completion", "1", "1"), ("pipeline", "1", "2"), ("cooperative", "1", "1"),
                          ("run-to-completion", "2", "2"), ("pipeline", "2", "3"), ("cooperative", "2", "2")])
        for row in found:
            self.assertTrue(0 < float(row["low_mpps"]) <= float(row["mpps"]) <= float(row["high_mpps"]))
            self.assertTrue(0 < float(row["p999_gap_us"]) <= float(row["max_gap_us"]))
            self.assertTrue(0 <= float(row["modelled_loss"]) < 1)
            self.assertEqual((row["packets"], row["lost_packets"], row["scheduler"]), ("20000", "0", "other"))

    def classify(self, *arguments):
        return run("bench", "classify", "--seconds", "0.03", "--rounds", "2", "--flows", "64Ki", "--format", "csv", *arguments)

    def test_configurations_that_classify_are_compared(self):
        done = self.classify()
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        self.assertEqual([(row["row"], row["threads"]) for row in found],
                         [("1I-1Q-1P", "3"), ("1I-2Q-1P", "5"), ("1I-2Q-1P-chunk", "5"), ("1I-2Q-2P", "6"), ("2I-1Q-2P", "6"),
                          ("1I-1Q-inline", "1"), ("1I-2Q-inline", "2"), ("2I-1Q-inline", "2")])
        for row in found:
            self.assertTrue(float(row["offered_mpps"]) >= float(row["sniffed_mpps"]) > 0)
            self.assertTrue(0 < float(row["low_handled_mpps"]) <= float(row["handled_mpps"]) <= float(row["high_handled_mpps"]))
            self.assertEqual(row["sniffing_cpu"] == "", "inline" in row["row"])
            self.assertEqual((row["line_mpps"], row["lossless_mpps"], row["samples"]), ("14.2", "", "2"))

    def test_headers_of_a_capture_are_classified_as_a_line_brings_them(self):
        done = self.classify("-r", self.capture(), "--gbps", "0.01", "--find-rate", "--cap", "0,64", "--shape", "1I-2Q-2P,1I-1Q-inline",
                             "--placement", "any")
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        self.assertEqual([(row["cap"], row["row"]) for row in found],
                         [(cap, shape + ", any") for cap in ("0", "64") for shape in ("1I-2Q-2P", "1I-1Q-inline")])
        self.assertIn("headers of good.pcap: 1000 packets of 10 flows", found[0]["traffic"])
        for row in found:
            self.assertEqual(float(row["lossless_gbps"]), 0.01)
        self.assertGreaterEqual(float(found[2]["line_mpps"]), float(found[0]["line_mpps"]))

    def test_mistakes_of_bench_classify_are_named(self):
        for words, arguments in (
                (("no configuration \"3I\"", "2I-1Q-2P"), ["--shape", "3I"]),
                (("no placement \"here\"", "any"), ["--placement", "here"]),
                (("dist=trains",), ["-g", "flows=5"]),
                (("--cap", "--gbps"), ["--cap", "64"]),
                (("--idle soon", "15s"), ["--idle", "soon"]),
                (("--rate",), ["--rate", "0"]),
                (("--gbps",), ["--gbps", "-1"]),
                (("no kind of model", "c45"), ["--model-kind", "best"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "classify", *arguments), USAGE, *words)
        self.assert_says(run("bench", "classify", "-r", "/no/such/file"), FAILED, "/no/such/file")
        self.assert_says(run("bench", "classify", "--flows", "256Mi"), FAILED, "are available", "--flows")

    def test_a_scheduler_that_is_refused_has_no_rows(self):
        def without_sys_nice():
            libc = ctypes.CDLL(None)
            libc.prctl(24, 23, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_SYS_NICE
            resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))

        done = self.models("--workers", "1", "--scheduler", "fifo,other,rr", "--format", "csv", preexec_fn=without_sys_nice)
        self.assert_says(done, DONE, "no rows for fifo", "no rows for rr", "CAP_SYS_NICE")
        self.assertEqual({row["scheduler"] for row in rows(done.out)}, {"other"})
        self.assert_says(self.models("--scheduler", "fifo", preexec_fn=without_sys_nice), FAILED, "no rows for fifo")

    def test_a_signal_keeps_the_rounds_that_were_done(self):
        process = subprocess.Popen([PROGRAM, "bench", "models", "--workers", "1", "--model", "cooperative", "--rounds", "10000",
                                    "--packets", "20k", "-g", "flows=100,packets=1000", "--format", "csv"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, DONE, err)
        self.assertIn(b"of 10000 rounds", err)
        self.assertTrue(1 <= int(rows(out)[0]["samples"]) < 10000)

    def test_mistakes_of_bench_models_are_named(self):
        for words, arguments in (
                (("no model \"pipe\"", "cooperative"), ["--model", "pipe"]),
                (("no scheduler \"idle\"", "fifo"), ["--scheduler", "idle"]),
                (("--workers 0",), ["--workers", "0"]),
                (("--packets none", "8M"), ["--packets", "none"]),
                (("flows=many",), ["-g", "flows=many"])):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "models", *arguments), USAGE, *words)
        self.assert_says(self.models("--workers", "200"), FAILED, "200 workers", "--oversubscribe")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
