# SPDX-License-Identifier: Apache-2.0
"""What reports say, however packets come and whoever counts them.

usage: test_reports.py PARSHALL [unittest arguments]
"""

import csv
import datetime
import gzip
import io
import json
import lzma
import os
import signal
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from program import DONE, FAILED, FILE_HEADER, HEADER, PROGRAM, USAGE, Case, packet, packets_in, rows, run


class Reports(Case):
    def test_csv_begins_with_the_contract(self):
        done = run("watch", "-q", "-r", self.capture(), "--format", "csv")
        self.assertEqual(done.status, DONE)
        self.assertEqual(done.err, b"")
        lines = done.out.decode().splitlines()
        self.assertEqual(lines[0], HEADER)
        self.assertEqual(len(lines), 11)
        flow = next(flow for flow in rows(done.out) if flow["src_ip"] == "10.0.0.3")
        self.assertEqual(
            flow,
            {
                "ip_version": "4",
                "protocol": "17",
                "src_ip": "10.0.0.3",
                "src_port": "1027",
                "dst_ip": "192.0.2.1",
                "dst_port": "53",
                "packets": "100",
                "ip_bytes": "4600",
                "wire_bytes": "6000",
                "first_seen_ns": "1600000000000003000",
                "last_seen_ns": "1600000000000993000",
            },
        )
        done = run(
            "watch",
            "-q",
            "-r",
            self.capture(),
            "--format",
            "csv",
            "--columns",
            "+gap_mean,iat_max,size_mean,gap_mean_packets,rate",
        )
        self.assertEqual(
            done.out.decode().splitlines()[0], HEADER + ",gap_mean_packets,iat_max_ns,size_mean_bytes,rate_pps,rate_bps"
        )
        for flow in rows(done.out):
            self.assertEqual(
                (flow["gap_mean_packets"], flow["iat_max_ns"], flow["size_mean_bytes"]), ("9", "10000", "60")
            )

    def test_built_in_traffic_is_the_same_for_any_number_of_workers(self):
        """Each has flows of its own, but for what asks all of them to read everything; and all know where on the link a
        packet stood."""
        tasks = ["--task", "heavy-hitters:threshold=2%,window=20000p", "--task", "count:window=10ms"]
        for what, traffic, options in (
            ("one size", "flows=500,size=64,ipv6=0.2", ["--columns", "+gap_mean,gap_p99,iat_sd"]),
            ("sizes", "flows=500,dist=zipf:1.1,size=imix,flood=0.1", ["--columns", "+gap_sd,size_p99"]),
            (
                "connections",
                "flows=300,protocol=sessions,packets=20000,resend=0.05",
                ["--columns", "+rtt_mean,gap_mean,tcp_retransmissions"],
            ),
            ("both ways", "flows=300,protocol=sessions,packets=20000", ["--biflow"]),
            ("a filter", "flows=500", ["--columns", "+gap_mean", "udp"]),
            ("another key", "flows=500", ["--key", "src-dst"]),
            ("trains", "flows=20,dist=trains:5", ["--idle", "1ms"]),
        ):
            seen = []
            for workers in "1", "2", "3":
                with tempfile.TemporaryDirectory() as folder:
                    done = run(
                        "watch",
                        "-q",
                        "-g",
                        traffic,
                        "--count",
                        "200000",
                        "--workers",
                        workers,
                        "--format",
                        "csv",
                        "--flows",
                        "64Ki",
                        "--output",
                        f"{folder}/flows",
                        "--export",
                        f"events:{folder}/events",
                        *tasks,
                        *options,
                    )
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
                done = run(
                    "watch",
                    "-q",
                    "-r",
                    path,
                    "--format",
                    "csv",
                    "--flows",
                    "4096",
                    "--threads",
                    model,
                    "--workers",
                    workers,
                    "--columns",
                    "+gap_mean,iat_sd",
                )
                self.assertEqual(done.status, DONE, done.err)
                seen = sorted(done.out.splitlines()[1:])
                expected = expected or seen
                self.assertEqual(seen, expected, (model, workers))

    def test_workers_who_read_a_capture_for_each_other_report_the_same(self):
        """Of both directions of connections, IPv6, and what is not IP; flows that end meanwhile, statistics, and what
        tasks find of windows."""
        path = self.path("turns.pcap")
        sent = run(
            "send",
            "-q",
            "-g",
            "flows=1500,protocol=sessions,ipv6=0.2,resend=0.01,rate=1000000,seed=3",
            "--count",
            "30000",
            "-w",
            path,
        )
        self.assertEqual(sent.status, DONE, sent.err)
        with open(path, "ab") as file:  # ARP, at the end of the time
            file.write(
                b"".join(
                    struct.pack("<IIII", 1 << 31, 0, 60, 60) + bytes(12) + b"\x08\x06" + bytes(46) for _ in range(3000)
                )
            )
        ways = (
            ["--columns", "+gap_mean,gap_p99,iat_max"],
            ["--idle", "1ms", "--columns", "+gap_mean"],
            ["--count", "17283"],
            ["tcp and src portrange 30000-65535"],
            [
                "--task",
                "retransmissions",
                "--task",
                "heavy-hitters:threshold=1%",
                "--task",
                "latency-change",
                "--window",
                "10ms",
            ],
        )
        for way in ways:
            expected = None
            for workers in (["1"], ["2"], ["5"], ["2", "--batch", "7"]):
                done = run("watch", "-q", "-r", path, "--format", "json", *way, "--workers", *workers)
                self.assertEqual(done.status, DONE, done.err)
                report = json.loads(done.out)
                seen = [sorted(map(json.dumps, report.get(what, []))) for what in ("flows", "events")]
                account = report["summary"][
                    "accounting"
                ]  # whether the last flows end idle, or with the run, goes by when they are looked for
                seen.append([account[what] for what in ("offered", "filtered", "not_ip", "counted", "balanced")])
                expected = expected or seen
                self.assertTrue(seen == expected, (way, workers))
                self.assertTrue(
                    all(worker["accounting"]["balanced"] for worker in report["summary"]["workers"]), (way, workers)
                )
            self.assertGreater(len(expected[0]), 1000, way)
            self.assertEqual(bool(expected[1]), "--task" in way)

    def test_workers_who_read_for_each_other_stop_at_one_packet(self):
        """The report after Ctrl-C is that of the capture's first packets, as many as it says."""
        path = self.path("stopped.pcap")
        sent = run("send", "-q", "-g", "flows=20000,dist=zipf:1.1,size=64,seed=4", "--count", "2M", "-w", path)
        self.assertEqual(sent.status, DONE, sent.err)
        for delay in 0.02, 0.05, 0.005, 0.1, 0, 0.2, 0.01, 0.4:  # until one meets it on its way
            process = subprocess.Popen(
                [
                    PROGRAM,
                    "watch",
                    "-r",
                    path,
                    "--format",
                    "json",
                    "--workers",
                    "3",
                    "--columns",
                    "+gap_p99,iat_p99,size_p99",
                    "--flows",
                    "32Ki",
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
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
        prefix = json.loads(
            run(
                "watch",
                "-q",
                "-r",
                path,
                "--format",
                "json",
                "--count",
                str(offered),
                "--columns",
                "+gap_p99,iat_p99,size_p99",
                "--flows",
                "32Ki",
            ).out
        )
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
            self.assertEqual(
                (summary["live_flows"] == flows, summary["evicted_records"] > 0), (not evicts, evicts), arguments
            )
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
        hashes = [
            line.split()[0]
            for line in run("list", "hashes", lab=True).out.decode().splitlines()
            if "(not available here)" not in line
        ]
        self.assertGreater(len(hashes), 8)
        for name in hashes:
            if name == "nic":
                continue
            for arguments in (
                [],
                ["--workers", "2"],
                ["--threads", "pipeline", "--workers", "2"],
                ["--key", "src-dst"],
            ):
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

    def test_columns_are_the_whole_list_and_a_plus_adds(self):
        def header(*arguments):
            return run("watch", "-q", "-r", self.capture(), "--format", "csv", *arguments).out.decode().splitlines()[0]

        usual = header()
        self.assertEqual(
            header("--columns", "dst_port,packets,rate,src_ip"), "dst_port,packets,rate_pps,rate_bps,src_ip"
        )
        self.assertEqual(header("--columns", "record,default"), "record," + usual)
        self.assertEqual(header("--columns", "+record,rate"), usual + ",record,rate_pps,rate_bps")
        self.assertEqual(header("--columns", "+record,rate"), usual + ",record,rate_pps,rate_bps")
        self.assertTrue(header("--columns", "all").startswith(usual + ",flow_id,"))
        self.assertTrue(header("--columns", "all", "--biflow").endswith(",biflow_direction"))
        listed = [line.split()[0] for line in run("list", "columns").out.decode().splitlines()[1:]]
        of_others = "reverse_", "biflow_", "class", "application"
        names = [name for name in listed if not name.startswith(of_others) and "<" not in name]
        self.assertGreater(len(names), 50)
        # At most 64 statistics at a time.
        for some in names[::2], names[1::2], ["dst_port"], ["rate_pps"], ["end_reason"], ["flow_id"]:
            self.assertEqual(header("--columns", ",".join(some)), ",".join(some))
        self.assertIn(
            "reverse_packets is of biflows: give --biflow",
            run("watch", "-r", self.capture(), "--columns", "reverse_packets").err.decode(),
        )

    def test_every_output_takes_a_list_of_columns(self):
        rows = (
            run(
                "watch",
                "-q",
                "-r",
                self.capture(),
                "--format",
                "csv",
                "--columns",
                "wire_bytes,src_port,dst_ip",
                "--sort",
                "wire_bytes",
                "--top",
                "3",
            )
            .out.decode()
            .splitlines()
        )
        text = (
            run(
                "watch",
                "-q",
                "-r",
                self.capture(),
                "--columns",
                "wire_bytes,src_port,dst_ip",
                "--sort",
                "wire_bytes",
                "--top",
                "3",
            )
            .out.decode()
            .split("\n\n")[1]
            .splitlines()
        )
        self.assertEqual([line.split() for line in text], [row.split(",") for row in rows])
        flows = json.loads(
            run(
                "watch",
                "-q",
                "-r",
                self.capture(),
                "--format",
                "json",
                "--columns",
                "wire_bytes,src_port,dst_ip",
                "--sort",
                "wire_bytes",
                "--top",
                "3",
            ).out
        )["flows"]
        self.assertEqual(
            [[str(value) for value in flow.values()] for flow in flows], [row.split(",") for row in rows[1:]]
        )
        self.assertEqual(list(flows[0]), rows[0].split(","))

    def test_two_runs_print_the_same_lines(self):
        """Whatever the seed: flows that are equal in what they are sorted by come by their keys."""
        for arguments in (
            ("--sort", "packets"),
            ("--sort", "protocol", "--top", "7"),
            ("--columns", "src_ip,dst_ip,packets", "--sort", "packets", "--top", "100000"),
        ):
            with self.subTest(arguments=arguments):
                outs = {run("watch", "-q", "-r", self.capture(), "--format", "csv", *arguments).out for _ in range(4)}
                self.assertEqual(len(outs), 1)
                self.assertGreater(len(outs.pop().splitlines()), 5)

    def test_fields_that_are_not_in_the_key_are_empty(self):
        for key, empty in (
            ("src", {"protocol", "src_port", "dst_ip", "dst_port"}),
            ("dst", {"protocol", "src_ip", "src_port", "dst_port"}),
            ("src-dst", {"protocol", "src_port", "dst_port"}),
            ("5tuple", set()),
        ):
            with self.subTest(key=key):
                rows = list(
                    csv.DictReader(
                        io.StringIO(
                            run("watch", "-q", "-r", self.capture(), "--format", "csv", "--key", key).out.decode()
                        )
                    )
                )
                flows = json.loads(run("watch", "-q", "-r", self.capture(), "--format", "json", "--key", key).out)[
                    "flows"
                ]
                self.assertEqual(len(rows), len(flows))
                for row, flow in zip(rows, flows):
                    self.assertEqual({name for name, value in row.items() if value == ""}, empty)
                    self.assertEqual({name for name, value in flow.items() if value is None}, empty)

    def test_times_and_integers_have_a_form_for_those_who_read_them(self):
        words = ("watch", "-q", "-r", self.capture(), "--sort", "packets", "--top", "5")
        plain = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").out.decode())))
        iso = list(
            csv.DictReader(
                io.StringIO(run(*words, "--format", "csv", "--times", "iso", "--integers", "text").out.decode())
            )
        )
        for ns, text in zip(plain, iso):
            seen = datetime.datetime.fromisoformat(text["first_seen"][:26] + "+00:00")
            self.assertEqual(int(seen.timestamp()) * 10**9 + int(text["first_seen"][20:29]), int(ns["first_seen_ns"]))
            self.assertEqual(ns["packets"], text["packets"], "no quotes in CSV")
        flow = json.loads(run(*words, "--format", "json", "--integers", "text").out)["flows"][0]
        self.assertEqual(
            (flow["first_seen_ns"], flow["packets"], flow["src_port"]),
            (plain[0]["first_seen_ns"], plain[0]["packets"], int(plain[0]["src_port"])),
        )

    def test_every_with_json_is_one_object_a_line(self):
        done = run(
            "watch",
            "-q",
            "-g",
            "flows=300,packets=10000",
            "--flows",
            "4096",
            "--every",
            "50ms",
            "--duration",
            "400ms",
            "--format",
            "json",
        )
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
        process = subprocess.Popen(
            [PROGRAM, "watch", "-q", "-r", "-", "--format", "csv"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        data = FILE_HEADER + b"".join(packet(i, 10) for i in range(60))
        for at in range(0, len(data), 331):
            process.stdin.write(data[at : at + 331])
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
            for arguments, stdin in (
                ((path,), None),
                (("-",), data),
                ((path, "--workers", "2"), None),
                (("-", "--workers", "2"), data),
            ):
                done = run("watch", "-q", "--format", "csv", "-r", *arguments, stdin=stdin)
                self.assertEqual(done.status, DONE, done.err)
                self.assertEqual(sorted(rows(done.out), key=key), sorted(expected, key=key))
            done = run("send", "-q", "-r", path, "--loops", "2", "-w", self.path("sent.pcap"), "--rate", "asap")
            self.assertEqual(done.status, DONE, done.err)
            self.assertEqual(
                packets_in(rows(run("watch", "-q", "-r", self.path("sent.pcap"), "--format", "csv").out)), 10000
            )
        with open(self.path("twice.gz"), "wb") as file:
            file.write(gzip.compress(gzip.compress(plain)))
        self.assert_says(
            run("watch", "-q", "-r", self.path("twice.gz")),
            FAILED,
            "compressed twice",
            "gzip -dc",
            "parshall watch -r -",
        )
        self.assert_says(
            run("watch", "-q", "-r", "-", stdin=gzip.compress(b"Dear Sir or Madam")),
            FAILED,
            "standard input (decompressed)",
            "Dear S",
        )

    def test_a_slow_reader_gets_every_row(self):
        process = subprocess.Popen(
            [
                PROGRAM,
                "watch",
                "-q",
                "-g",
                "flows=3000,packets=100000",
                "--flows",
                "1000",
                "--every",
                "100ms",
                "--count",
                "300k",
                "--format",
                "csv",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
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
                name = tuple(
                    flow[column] for column in ("src_ip", "src_port", "dst_ip", "dst_port", "protocol", "first_seen_ns")
                )
                records[name] = max(records.get(name, 0), int(flow["packets"]))
        self.assertEqual(sum(records.values()), 300_000)

    def test_one_of_a_thing_is_singular(self):
        for packets, words in (
            (1, ("1 record (1 packet) = 1 (1) written", "(60 wire bytes, 46 ip bytes)", "1 window; count 1 event\n")),
            (
                2,
                ("2 records (2 packets) = 2 (2) written", "(120 wire bytes, 92 ip bytes)", "1 window; count 1 event\n"),
            ),
        ):
            with self.subTest(packets=packets):
                exported = self.path(f"{packets}.jsonl")
                done = run(
                    "watch",
                    "-r",
                    self.capture(packets=packets),
                    "--flows",
                    str(packets),
                    "--export",
                    f"jsonl:{exported}",
                    "--tasks",
                    "count",
                )
                for word in words:
                    self.assertIn(word, done.out.decode())
                self.assertRegex(done.out.decode(), r"\nflows .*, memory \d+ MB, flows at most \d+ MB\n")
                self.assertIn(f"for {'1 flow' if packets == 1 else '2 flows'} in 1 worker", done.err.decode())
                self.assertIn(
                    f" of {'1 packet' if packets == 1 else '2 packets'} in 1 file\n",
                    run("verify", exported).out.decode(),
                )

    def test_a_configuration_file_gives_options_and_the_command_line_wins(self):
        config = self.config(
            'generate = "flows=10,packets=100"',
            "count = 100",
            'columns = ["+gap_mean", "size_max"]',
            'format = "csv"',
            "quiet = true",
            'sort = "packets"',
            "top = 2",
            'filter = "udp or tcp"',
        )
        done = run("watch", "--config", config)
        self.assertEqual((done.status, done.err), (DONE, b""))
        self.assertEqual(len(rows(done.out)), 2)
        self.assertIn("gap_mean_packets,size_max_bytes", done.out.decode())
        done = run("watch", "--config", config, "--top", "3", "--columns", "+size_min")
        self.assertEqual(len(rows(done.out)), 3)
        self.assertNotIn("gap_mean", done.out.decode())

    def test_mistakes_in_a_configuration_file_are_named(self):
        for line, words in (
            ('sorte = "packets"', ["watch.toml, line 1, column 9: watch has no option sorte; did you mean sort?"]),
            ('count = "abc"', ["watch.toml, line 1, column 9: --count abc"]),
            ("[flows]\nkey = 1", ["watch.toml, line 1, column 2: flows is a table"]),
            ('model = "fast"', ["fast", "model"]),
            ("this is no toml", ["watch.toml, line 1, column"]),
            ("format = csv", ["line 1, column 10"]),
            ('format = "xml"', ["line 1, column 10: --format: there is no xml"]),
            ('every = "soon"', ["line 1, column 9: --every soon"]),
            ('top = "3"', ["line 1, column 7: top takes a whole number"]),
            ('quiet = "yes"', ["line 1, column 9: quiet takes true or false"]),
            ('key = "src"\nkey = "dst"', ["watch.toml, line 2, column"]),
            ('key = "src" junk', ["watch.toml, line 1, column"]),
        ):
            done = run("watch", "-g", "flows=1", "--count", "1", "--config", self.config(line))
            if "abc" in line:  # the command line's own value counts
                self.assertEqual(done.status, DONE)
                done = run("watch", "-g", "flows=1", "--config", self.config(line))
            self.assert_says(done, USAGE, *words)
        self.assert_says(run("watch", "--config", self.path("nowhere.toml")), FAILED, "nowhere.toml")
        self.assert_says(run("watch", "--config", self.folder), FAILED, self.folder)

    def config(self, *lines):
        with open(self.path("watch.toml"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return self.path("watch.toml")

    def test_every_column_of_a_report_is_listed_with_its_type(self):
        asked = "duration,rate,interval_rate,tcp_flags,end_reason,gap_max,iat_mean,size_skewness,iat_p99,gap_p99,class"
        listed = {line.split()[0]: line for line in run("list", "columns").out.decode().splitlines()}
        header = (
            run("watch", "-q", "-r", self.capture(), "--format", "csv", "--columns", "+" + asked.removesuffix(",class"))
            .out.decode()
            .splitlines()[0]
        )
        for column in header.split(",") + ["class"]:
            self.assertIn(column, listed)
            self.assertRegex(listed[column], r" (u?int|float|enum|flags)\d+ | time | address ")

    def test_list_alone_says_what_there_is_to_list(self):
        for lab in (False, True):
            done = run("list", lab=lab)
            topics = [line.split()[0] for line in done.out.decode().splitlines()]
            self.assertEqual(done.status, DONE)
            self.assertLess({"tables", "tasks", "columns", "hashes"}, set(topics))
            for topic in topics:
                self.assertEqual(run("list", topic, lab=lab).status, DONE)

    def test_list_and_help_and_version(self):
        for topic in (
            "tables",
            "hashes",
            "statistics",
            "columns",
            "sources",
            "traffic",
            "goals",
            "experiments",
            "formats",
            "counters",
        ):
            done = run("list", topic)
            self.assertEqual(done.status, DONE)
            self.assertTrue(done.out)
        self.assertEqual(run("--help").status, DONE)
        self.assertEqual(run("watch", "--help").status, DONE)
        self.assertEqual(run("bench", "tables", "--help").status, DONE)
        self.assertEqual(run("--version").status, DONE)


class Tables(Case):
    """--table: whatever keeps the flows, the same flows come out."""

    def test_every_table_counts_the_same(self):
        capture = self.capture(packets=5000, flows=700)
        names = [
            line.split()[0] for line in run("list", "tables", lab=True).out.decode().splitlines() if " exact " in line
        ]
        self.assertGreaterEqual(len(names), 9)
        results = {}
        for name in names:
            done = run(
                "watch",
                "-q",
                "-r",
                capture,
                "--table",
                name,
                "--flows",
                "10k",
                "--columns",
                "+size_mean",
                "--format",
                "csv",
            )
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


if __name__ == "__main__":
    unittest.main()
