# SPDX-License-Identifier: Apache-2.0
"""Mistakes on the command line: statuses, and messages that say what, where and what to do.

usage: test_errors.py PARSHALL [unittest arguments]
"""

import json
import os
import shutil
import struct
import subprocess
import unittest

from program import DAMAGED, DONE, FAILED, FILE_HEADER, PROGRAM, USAGE, Case, Run, packet, run


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

    def test_a_thread_model_that_is_none(self):
        self.assert_says(
            run("watch", "-q", "-r", self.capture(), "--threads", "pipe"), USAGE, "--threads", "run-to-completion"
        )

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
        done = subprocess.run(
            [
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                program,
                "watch",
                "-q",
                "-i",
                "lo",
                "--duration",
                "1",
            ],
            capture_output=True,
            timeout=60,
            check=False,
            env={**os.environ, "TMPDIR": "/tmp"},
        )
        self.assert_says(Run(done.returncode, done.stdout, done.stderr), FAILED, "lo")
        # Without DPDK no right would help, and the message says what does.
        self.assertRegex(done.stderr.decode(), r"(?i)root|CAP_NET_RAW|permi|built without DPDK; install libdpdk-dev")

    def test_a_pci_device_that_is_not_there(self):
        self.assert_says(run("watch", "-q", "-i", "0000:ff:1f.7"), FAILED, "0000:ff:1f.7")

    def test_a_table_for_no_flows(self):
        self.assert_says(run("watch", "-q", "-r", self.capture(), "--flows", "0"), USAGE, "--flows", "0")

    def test_a_statistic_that_nobody_knows(self):
        self.assert_says(run("watch", "-q", "-r", self.capture(), "--columns", "+gap_meen"), USAGE, "gap_meen")

    def test_a_filter_with_a_mistake(self):
        self.assert_says(run("watch", "-q", "-r", self.capture(), "tcp", "prot", "80"), USAGE, "prot")

    def test_a_filter_that_does_not_apply_to_the_packets(self):
        """Wrong usage where that is known before them; else what it left out is said, once, and how much of it."""
        frames = [b"\x02\0\0\0" + frame[30:] for frame in (packet(i, 10) for i in range(1000))]
        loopback = (
            FILE_HEADER[:20]
            + bytes(4)
            + b"".join(struct.pack("<IIII", 1600000000, 0, len(frame), len(frame)) + frame for frame in frames)
        )
        with open(self.path("loopback.pcap"), "wb") as file:
            file.write(loopback)
        self.assert_says(
            run("watch", "-q", "-r", self.path("loopback.pcap"), "tcp or vlan"),
            USAGE,
            "no VLAN support for BSD loopback",
            lines=1,
        )
        self.assert_says(
            run("watch", "-q", "-r", self.capture(), "inbound"),
            USAGE,
            "inbound/outbound not supported on Ethernet",
            lines=1,
        )
        self.assert_says(
            run("watch", "-q", "-r", self.capture(), "type data"),
            USAGE,
            "802.11 link-layer types supported only on 802.11",
            lines=1,
        )
        for workers in ("1", "2"):
            with self.subTest(workers=workers):
                done = run(
                    "watch", "-q", "-r", "-", "tcp or vlan", "--workers", workers, "--format", "json", stdin=loopback
                )
                self.assert_says(
                    done, DONE, "BSD loopback", "no VLAN support for BSD loopback", "left out: 1000", lines=1
                )
                self.assertEqual(json.loads(done.out)["summary"]["accounting"]["filtered"], 1000)
        radio = (
            FILE_HEADER[:20]
            + struct.pack("<I", 105)
            + struct.pack("<IIII", 1600000000, 0, 24, 24)
            + b"\x08\0"
            + bytes(22)
        )
        done = run("watch", "-q", "-r", "-", "type data", "--format", "json", stdin=radio)
        self.assertEqual(
            (done.status, done.err, json.loads(done.out)["summary"]["accounting"]["filtered"]), (DONE, b"", 0)
        )

    def test_a_column_to_sort_by_that_is_not_there(self):
        done = run("watch", "-q", "-r", self.capture(), "--sort", "gap_p99", "--format", "csv")
        self.assert_says(done, USAGE, "gap_p99")

    def test_other_words_that_mean_nothing(self):
        good = self.capture()
        for words in (
            ["--format", "xml"],
            ["--every", "soon"],
            ["--duration", "-1"],
            ["--workers", "0"],
            ["--top", "-3"],
            ["--key", "colour"],
            ["--model", "magic"],
            ["--identity", "exact", "--table", "nosuch"],
            ["--count", "many"],
            ["--quantile-error", "0.9"],
            ["--nosuchoption"],
            ["--seed", "x"],
            ["--batch", "0"],
            ["--packets-only", "--threads", "pipeline"],
        ):
            with self.subTest(words=words):
                done = run("watch", "-q", "-r", good, *words)
                self.assert_says(done, USAGE)
                self.assertEqual(done.out, b"")

    def test_a_hash_that_nobody_knows_or_that_cannot_be(self):
        self.assert_says(
            run("watch", "-r", self.capture(), "--hash", "md5"), USAGE, 'no hash "md5"', "aes", "list hashes)"
        )
        self.assert_says(
            run("watch", "-r", self.capture(), "--hash", "xxh3", "--identity", "nic-hash"),
            USAGE,
            "leave out --hash xxh3",
        )

    def test_numbers_below_the_least(self):
        for words, said in (
            (["watch", "-r", self.capture(), "--top", "-1"], "-1 is below 0"),
            (["send", "-g", "flows=1", "--null", "--loops", "-1"], "-1 is below 0"),
            (["test", "run", "--through", "wire", "--seed", "-1"], "-1 is below 0"),
            (["watch", "-r", self.capture(), "--cores", "9999"], "--cores 9999: this machine has cores 0 to"),
            (["watch", "-r", self.capture(), "--descriptors", "0"], "give a number from 1 to 16777216\n"),
        ):
            with self.subTest(words=words):
                done = run(*words)
                self.assertEqual(done.status, USAGE)
                self.assertIn(said, done.err.decode())

    def test_keys_of_so_many_parts_that_a_parser_would_end(self):
        deep = self.path("deep.toml")
        with open(deep, "w") as file:
            file.write("# a comment, don't mind\n" + 'x = [ {x = """a"b""", ' + ".".join("a" * 200000) + " = 1} ]\n")
        for words in (
            ["watch", "-r", self.capture(), "--config", deep],
            ["watch", "-r", self.capture(), "--states", deep],
            ["watch", "-r", self.capture(), "--model", deep],
        ):
            with self.subTest(words=words[3:]):
                self.assert_says(run(*words), USAGE, "deep.toml, line 2, column", "more than 10000 dots")

    def test_a_configuration_that_cannot_be_read(self):
        for path, why in (
            (self.folder, "Is a directory"),
            (self.path("none.toml"), "none.toml: No such file or directory"),
            ("/dev/zero", "longer than 1 MB"),
        ):
            with self.subTest(path=path):
                self.assert_says(run("watch", "-r", self.capture(), "--config", path), FAILED, "--config", why)

    def test_a_configuration_may_come_by_a_pipe(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        writer = subprocess.Popen(["sh", "-c", f"echo 'format = \"csv\"' > {pipe}"])
        done = run("watch", "-q", "-r", self.capture(), "--config", pipe)
        writer.wait(10)
        self.assertEqual((done.status, done.out[:10]), (DONE, b"ip_version"))

    def test_a_mark_of_byte_order_before_a_configuration_says_nothing(self):
        with open(self.path("bom.toml"), "wb") as file:
            file.write(b'\xef\xbb\xbfformat = "csv"\n')
        done = run("watch", "-q", "-r", self.capture(), "--config", self.path("bom.toml"))
        self.assertEqual((done.status, done.out[:10]), (DONE, b"ip_version"))

    def test_closed_standard_descriptors_are_no_files(self):
        capture, sent, flows = self.capture(), self.path("sent.pcap"), self.path("flows.csv")
        shell = lambda command: subprocess.run(["sh", "-c", command + " >&- 2>&-"], timeout=60, check=False).returncode
        shell(f"{PROGRAM} send -g flows=3,packets=1000 --count 10 -w {sent}")
        self.assertEqual(run("watch", "-q", "-r", sent).status, DONE, "nothing but packets")
        shell(f"{PROGRAM} watch -r {capture} --export csv:{flows}")
        with open(flows, "rb") as file:
            self.assertEqual(
                sorted(file), sorted(run("watch", "-q", "-r", capture, "--format", "csv").out.splitlines(True))
            )

    def test_a_list_that_nobody_could_read_is_an_error(self):
        with open("/dev/full", "wb") as full:
            for words in (["list", "tasks"], ["--help"], ["--version"], ["watch", "--help"]):
                with self.subTest(words=words):
                    self.assert_says(run(*words, stdout=full), FAILED, "cannot write", "No space left on device")

    def test_hashes_of_a_card_that_there_is_none_of(self):
        for source in (("-r", self.capture()), ("-g", "flows=10"), ("-i", "lo")):
            with self.subTest(source=source):
                self.assert_says(
                    run("watch", *source, "--identity", "nic-hash"),
                    USAGE,
                    "--identity nic-hash takes a device that DPDK reads",
                    "--identity fingerprint",
                )

    def test_no_source_or_two_of_them(self):
        self.assert_says(run("watch", "-q"), USAGE, "-r")
        self.assert_says(run("watch", "-q", "-r", self.capture(), "-g", "flows=10"), USAGE, "-r")
        self.assert_says(run("nonsense"), USAGE)

    def test_traffic_that_nobody_understands(self):
        for text in ("flows=banana", "flows=10,flood=2", "flows=10,nosuch=1", "flows=10,swing=100"):
            with self.subTest(text=text):
                self.assert_says(run("watch", "-q", "-g", text), USAGE, text.rsplit("=", 1)[0].split(",")[-1])

    def test_a_pace_for_several_queues_or_half_of_one(self):
        self.assert_says(
            run("watch", "-q", "-g", "flows=10,pace=1000", "--workers", "2", "--count", "10"),
            USAGE,
            "pace",
            "--workers",
        )
        self.assert_says(run("watch", "-q", "-g", "flows=10,swing=100"), USAGE, "pace=PPS")

    def test_queues_that_do_not_go_with_the_workers(self):
        self.assert_says(
            run("watch", "-q", "-i", "lo", "--queues", "2", "--workers", "3"), USAGE, "2 queues for 3 workers"
        )
        self.assert_says(
            run("watch", "-q", "-i", "lo", "--workers", "2", "--count", "10"), USAGE, "--count", "--queues 1"
        )


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
        self.assertEqual(
            account["counted"],
            account["live_flow_packets"] + account["ended_record_packets"] + account["kept_out_packets"],
        )
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
        for model in (
            [],
            ["--workers", "2"],
            ["--workers", "2", "--threads", "pipeline"],
            ["--table", "robin-hood"],
            ["--tasks", "count"],
        ):
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
        self.assertRegex(text, r"\nflood      filter active in [0-9.]+ of [0-9.]+ s: \d+ packets not in the table\n")

    def test_without_a_flood_or_a_filter_nothing_is_kept_out(self):
        for arguments in (
            ("-g", "flows=1000", "--flood-filter", "128"),
            ("-g", "flows=1000,flood=0.8"),
            ("-g", "flows=1000,flood=1", "--flood-filter", "0"),
        ):
            with self.subTest(arguments=arguments):
                summary = self.summary(*arguments, "--count", "1000000")
                self.assertEqual(summary["accounting"]["kept_out_packets"], 0)
                self.assertEqual("flood_filter" in summary, arguments[-1] == "128")

    def test_states_with_lighter_ones_have_a_filter_unless_told_otherwise(self):
        with open(self.path("states.toml"), "w", encoding="ascii") as file:
            file.write(self.STATES)
        states = ("--states", self.path("states.toml"), "--duration", "200ms")
        for source, more, filter_bytes in (
            ("pace=100000", [], 128),
            ("pace=100000", ["--flood-filter", "300"], 300),
            ("pace=100000", ["--flood-filter", "0"], None),
            ("pace=100000", ["--overload", "off"], None),
            ("pace=100000", ["--overload", "off", "--flood-filter", "64"], 64),
            ("rate=100000", [], None),
        ):
            with self.subTest(source=source, more=more):
                summary = self.summary("-g", "flows=100,protocol=connections," + source, *states, *more)
                self.assertEqual(summary.get("flood_filter", {}).get("bytes"), filter_bytes)

    def test_what_cannot_be_is_refused(self):
        for filter_bytes in ("-1", "1048577", "many"):
            self.assert_says(run("watch", "-g", "flows=10", "--flood-filter", filter_bytes), USAGE, "--flood-filter")
        self.assert_says(
            run("watch", "-g", "flows=10", "--packets-only", "--flood-filter", "64"), USAGE, "leave out --flood-filter"
        )
        self.assertIn(b"flood=0..1", run("watch", "-q", "-g", "flows=10,flood=1.1").err)
        self.assertIn(b"leave out flood", run("bench", "tables", "-g", "flows=10,flood=0.5").err)


if __name__ == "__main__":
    unittest.main()
