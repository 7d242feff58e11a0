# SPDX-License-Identifier: Apache-2.0
"""First commands of somebody who knows other programs: each mistake is answered with the command that was meant.

usage: test_hints.py PARSHALL [unittest arguments]
"""

import os
import shlex
import unittest

from program import DONE, USAGE, Case, run
from test_names import INTERFACES


class Hints(Case):
    """Each table has a command line, and what its answer says."""

    def setUp(self):
        super().setUp()
        self.capture(name="cap.pcap")

    def refuse(self, table, **more):
        for line, *said in table:
            with self.subTest(line=line):
                done = run(*shlex.split(line), cwd=self.folder, **more)
                self.assert_says(done, USAGE, *said, lines=2)
                self.assertEqual(done.out, b"")
                self.assertLess(max(map(len, done.lines)), 400)
                self.assertNotIn("parshall: parshall", done.err.decode())

    def test_an_output_to_an_address_has_a_url(self):
        self.refuse(
            (
                (
                    "watch cap.pcap --export ipfix:collector:4739",
                    "give ipfix:udp://collector:4739;",
                    "give ./collector:4739",
                ),
                ("watch cap.pcap --export ipfix:192.0.2.1", "give ipfix:udp://192.0.2.1:4739;"),
                ("watch cap.pcap --export ipfix:::1", "give ipfix:udp://[::1]:4739;"),
                ("watch cap.pcap --export ipfix:127.0.0.1:99999", "is an address"),
                ("watch cap.pcap --export netflow9:127.0.0.1", "udp://HOST:PORT"),
                ("watch cap.pcap --export csv:127.0.0.1:99", "csv writes to files alone"),
            )
        )
        self.assertEqual(os.listdir(self.folder), ["cap.pcap"])
        for name in ("./collector:4739", "flows-12:30"):
            self.assertEqual(
                run(
                    "watch", "-q", "cap.pcap", "--export", ("ipfix:" if "/" in name else "csv:") + name, cwd=self.folder
                ).status,
                DONE,
            )
            self.assertTrue(os.path.exists(self.path(name)))

    def test_a_long_option_with_one_dash_is_that_option(self):
        for name in ("format", "columns", "tasks", "export", "window"):
            self.refuse(((f"watch cap.pcap -{name} x", f"did you mean --{name}?"),))

    def test_a_command_line_that_is_shown_can_be_pasted(self):
        self.refuse(
            (("-r cap.pcap --task 'x=packets > 3'", "did you mean: parshall watch -r cap.pcap --task 'x=packets > 3'"),)
        )
        os.mkdir(self.path("tests"))
        self.refuse((("tests", "did you mean test?"),))

    def test_each_topic_of_list_has_a_text_of_its_own(self):
        lines = run("list").out.decode().splitlines()
        self.assertEqual(len(lines), len({line.split(maxsplit=1)[1] for line in lines}), lines)

    def test_a_sort_order_that_is_shown_works(self):
        words = ["watch", "-q", "cap.pcap", "--format", "csv"]
        for order in ("iat_p99", "rate_pps"):
            said = run(*words, "--sort", order, cwd=self.folder).err.decode()
            done = run(*words, *said.partition("give ")[2].split(), cwd=self.folder)
            self.assertEqual((done.status, len(done.out.splitlines())), (DONE, 11), said)
        self.assert_says(
            run(*words, "--columns", "+iat_p99", "--sort", "iat_p99", cwd=self.folder),
            USAGE,
            "it is called iat_p99_ns here",
        )
        self.assert_says(
            run(*words, "--columns", "src_ip", "--sort", "rate_bps", cwd=self.folder),
            USAGE,
            "add rate_bps to --columns",
        )

    def test_a_target_that_is_missing_is_shown(self):
        self.refuse(
            (
                ("watch cap.pcap --export csv", "the target is missing: csv:flows.csv"),
                ("watch cap.pcap --export ipfix", "ipfix:udp://HOST:4739"),
                ("watch cap.pcap --export parquet:", "--export parquet: the target is missing: parquet:FOLDER"),
                ("watch cap.pcap --export kafka", "kafka:HOST:9092/TOPIC"),
            )
        )

    def test_a_second_source_is_no_filter(self):
        self.refuse(
            (
                ("watch cap.pcap cap.pcap", "cap.pcap is a second source beside -r cap.pcap"),
                ("watch cap.pcap -rt", "cap.pcap is a second source beside -r t"),
                ("watch cap.pcap nosuch.pcap", "nosuch.pcap would be a second source"),
                ("watch 'tcp port 80' cap.pcap", "parshall watch cap.pcap 'tcp port 80'"),
                ("watch tcp port 80 cap.pcap", "parshall watch cap.pcap 'tcp port 80'"),
            )
        )
        many = run("watch", "cap.pcap", *["x" * 40] * 1000, cwd=self.folder)
        self.assert_says(many, USAGE, 'xxx..."')
        self.assertLess(len(many.err), 300)

    @unittest.skipUnless(len(INTERFACES) > 1, "needs two interfaces")
    def test_two_interfaces_go_together(self):
        one, other = INTERFACES[:2]
        self.refuse(((f"watch cap.pcap {one}", f"{one} is a second source"),))
        if os.geteuid() == 0:
            done = run("watch", "lo", [name for name in INTERFACES if name != "lo"][0], cwd=self.folder)
            self.assert_says(done, USAGE, f"-i lo,{other}")

    def test_a_filter_by_its_option_leaves_the_source(self):
        for words in (
            "--filter udp cap.pcap",
            "cap.pcap --filter udp",
            "-r cap.pcap --filter udp port 53",
            "--filter udp port 53 cap.pcap",
        ):
            with self.subTest(words=words):
                done = run("watch", "-q", *words.split(), "--format", "csv", cwd=self.folder)
                self.assertEqual((done.status, len(done.out.splitlines())), (DONE, 11), done.err)

    def test_the_rest_of_a_value_is_no_filter(self):
        self.refuse(
            (
                ("watch cap.pcap --duration 10 s", "write --duration 10s"),
                ("watch cap.pcap --count 5 M", "write --count 5M"),
                ("watch cap.pcap --columns +iat_p99 iat_p50 --top 1", "write --columns +iat_p99,iat_p50"),
                ("watch cap.pcap --hook echo hi", "write --hook 'echo hi'"),
                ("watch cap.pcap --top 1 tcp prt 443", "did you mean port?"),
            )
        )

    def test_filters_in_other_languages(self):
        self.refuse(
            (
                ("watch cap.pcap 'ip.addr == 192.0.2.1'", "display filter of Wireshark", "host 192.0.2.1"),
                ("watch cap.pcap tcp prt 443", "did you mean port?"),
                ("watch cap.pcap -q5", "-5 is not an option"),
            )
        )

    def test_files_and_interfaces_are_told_apart(self):
        self.refuse(
            (
                ("watch -i cap.pcap", "give -r cap.pcap"),
                ("watch -r lo", "give -i lo"),
                ("watch lo:1", "lo:1 is an address of lo"),
                ("watch ca.pcap", "did you mean cap.pcap?"),
                ("watch help", "parshall watch --help"),
                ("send cap.pcap eth9", "-i eth9"),
                ("send -r cap.pcap -i lo,lo", "send takes one interface"),
                ("send -g flows=10 --null -w y.pcap", "-w y.pcap and --null are given"),
                ("send -g 'flows=10 size=64' --null", "put commas between settings"),
            )
        )

    def test_columns_by_other_names(self):
        near = {
            "pakets": "packets",
            "src_pi": "src_ip",
            "protocl": "protocol",
            "wire_byts": "wire_bytes",
            "wire_byte": "wire_bytes",
            "ip_bytse": "ip_bytes",
            "dst_prt": "dst_port",
            "PACKETS": "packets",
        }
        self.refuse(
            [
                (f"watch cap.pcap --columns {typed}", f"did you mean {meant}?", "There are ip_version,")
                for typed, meant in near.items()
            ]
        )
        called = {
            "src": "src_ip",
            "destination": "dst_ip",
            "proto": "protocol",
            "bytes": "wire_bytes or ip_bytes",
            "iat_avg": "iat_mean",
        }
        self.refuse(
            [
                (f"watch cap.pcap {option} {typed}", f"it is called {meant} here")
                for typed, meant in called.items()
                for option in ("--columns", "--sort")
            ]
        )
        self.refuse(
            (
                ("watch cap.pcap --columns +iat_p101", "a percentile is below 100"),
                ("watch cap.pcap --sort iat_p99", "give --columns +iat_p99 --sort iat_p99_ns"),
                ("watch cap.pcap --sort byts", "there are packets, ip_bytes, wire_bytes"),
            )
        )

    def test_tasks(self):
        self.refuse(
            (
                (
                    "watch cap.pcap --tasks heavy-hitters:threshold=1%,key=dst",
                    "--task 'heavy-hitters:threshold=1%,key=dst'",
                ),
                ("watch cap.pcap --tasks heavy-hitters,key=dst", "--task 'heavy-hitters:key=dst'"),
                ("watch cap.pcap --task heavy-hitters,key=dst", "write heavy-hitters:key=dst"),
                ("watch cap.pcap --task 'wire_bytes > 1e6'", "big=wire_bytes > 1e6"),
                ("watch cap.pcap --task 'x=src_ip == 10.10.10.10'", "addresses are not compared"),
                ("watch cap.pcap --task x=", "the condition is missing"),
                ("watch cap.pcap --task 'x=packets >> 3'", "compare fields with numbers"),
            )
        )

    def test_a_command_that_is_missing(self):
        self.refuse(
            (
                ("cap.pcap", "did you mean: parshall watch cap.pcap"),
                ("-r cap.pcap", "parshall watch -r cap.pcap"),
                ("lo", "parshall watch lo"),
                ("--watch lo", "parshall watch lo"),
                ("WATCH", "did you mean watch?"),
                ("help tasks", "parshall list tasks"),
                ("list stats", "parshall list: there is no stats; did you mean statistics?"),
                ("", "name a command: watch, classify"),
                ("test", "parshall test: name a command: run"),
                ("bench", "name a command: tables"),
                ("test link", "--interface is missing"),
                ("verify", "parshall verify FILES"),
            )
        )
        self.assertEqual(run("version").out, run("--version").out)
        for line in run("list").out.decode().splitlines():
            self.assertRegex(line, r"^\w+ +\w+.* \w+")

    def test_options_of_other_programs(self):
        for option, instead in {
            "-n": "leave it out",
            "-nn": "leave it out",
            "-c 10": "--count",
            "-f tcp": "--filter",
            "-w x": "--export",
            "-s0": "leave it out",
            "-T x": "--format",
            "--limit 3": "--count",
            "--interval 3": "--every",
            "--json": "--format json",
            "--tcp": "filter tcp",
            "--TOP 3": "did you mean --top?",
        }.items():
            self.refuse(((f"watch cap.pcap {option}", f"parshall watch: no option {option.split()[0]}", instead),))

    def test_values_that_are_missing_or_of_another_type(self):
        self.refuse(
            (
                ("watch cap.pcap --top", "--top needs a whole number"),
                ("watch cap.pcap --columns", "--columns needs a value"),
                ("--config", "--config needs a value"),
                ("watch cap.pcap --top 2.5", "--top 2.5: give a whole number"),
                ("watch cap.pcap --quiet=maybe", "--quiet takes no value"),
                ("watch -r a -r b", "--read is given more than once"),
                ("watch cap.pcap --format CSV", "did you mean csv?"),
                ("watch cap.pcap --workers two", "give a number from 1 to 256\n"),
                ("watch cap.pcap --count 1O", "such as 1000, 64Ki or 1M\n"),
                ("send -g flows=1 --null --burst 0", "give a number from 1 to 1048576"),
            )
        )
        self.assertEqual(run("watch", "-q", "cap.pcap", "--top", "5k", cwd=self.folder).status, DONE)

    def test_configurations(self):
        for text, *said in (
            ("format = csv", "this is not TOML", "texts in quotes"),
            ('[watch]\nformat = "csv"', "leave [watch] out"),
            ('[[exports]]\nkind = "csv"', "write [[export]]"),
            ('[[export]]\nkid = "csv"\ntarget = "x"', "takes a kind in quotes, and not kid"),
        ):
            with open(self.path("a.toml"), "w", encoding="ascii") as file:
                file.write(text)
            self.refuse((("watch cap.pcap --config a.toml", *said),))

    def test_options_without_effect_are_told(self):
        done = run("watch", "cap.pcap", "--window", "2", "--via", "af_xdp", "-o", "/dev/null", cwd=self.folder)
        self.assertEqual(done.status, DONE)
        for said in ("--window is of tasks", "a file is read without them"):
            self.assertIn(said, done.err.decode())


if __name__ == "__main__":
    unittest.main()
