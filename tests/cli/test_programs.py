# SPDX-License-Identifier: Apache-2.0
"""The programs beside each other: which does what, tasks and built-in traffic on their command lines.

usage: test_programs.py PARSHALL [unittest arguments]
"""

import json
import os
import shutil
import subprocess
import unittest

from program import DONE, FAILED, PROGRAM, USAGE, Case, run
from rivals import LAB_OPTIONS


class Programs(Case):
    """parshall becomes parshall-lab and parshall-test, and carries nothing of theirs."""

    def test_bench_and_test_are_programs_of_their_own(self):
        for words, more in (
            (["bench", "tables", "--help"], "Usage: parshall bench tables"),
            (["test", "search", "--help"], "Usage: parshall test search"),
            (["list", "goals"], "rfc2544"),
            (["list", "experiments"], "contention"),
        ):
            done = run(*words)
            self.assertEqual(done.status, DONE, done.err)
            self.assertIn(more, done.out.decode())
        for program, words in (
            (PROGRAM + "-lab", ["bench", "tables", "--help"]),
            (PROGRAM + "-test", ["search", "--help"]),
            (PROGRAM + "-test", ["test", "search", "--help"]),
        ):
            done = subprocess.run([program, *words], capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, DONE)
            self.assertIn(b"Usage: " + os.path.basename(program).encode() + b" ", done.stdout)

    def test_a_program_that_is_not_there_is_named(self):
        alone = shutil.copy(PROGRAM, self.path("parshall"))
        for words, program in (
            (["bench", "tables"], "parshall-lab"),
            (["test", "run"], "parshall-test"),
            (["list", "goals"], "parshall-test"),
        ):
            done = subprocess.run(
                [alone, *words], capture_output=True, timeout=60, check=False, env={"PATH": self.folder}
            )
            self.assertEqual(done.returncode, FAILED)
            self.assertIn(program, done.stderr.decode())
        link = self.path("parshall-test")
        os.symlink(PROGRAM + "-test", link)
        done = subprocess.run([alone, "test", "search", "--help"], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, DONE, "beside it")
        os.mkdir(self.path("bin"))
        os.rename(link, self.path("bin/parshall-test"))
        done = subprocess.run(
            [alone, "test", "search", "--help"],
            capture_output=True,
            timeout=60,
            check=False,
            env={"PATH": self.path("bin")},
        )
        self.assertEqual(done.returncode, DONE, "in PATH")

    def test_the_product_has_no_rivals_and_says_who_has(self):
        with open(PROGRAM, "rb") as file:
            words = file.read()
        for rival in (b"robin-hood", b"murmur3", b"SpookyHash", b"tst009"):
            self.assertNotIn(rival, words)
        with open(PROGRAM + "-lab", "rb") as file:
            self.assertIn(b"robin-hood", file.read())
        capture = self.capture()
        for option in sorted(LAB_OPTIONS):
            done = subprocess.run(
                [PROGRAM, "watch", "-r", capture, option, "x"], capture_output=True, timeout=60, check=False
            )
            self.assertEqual(done.returncode, USAGE)
            self.assertIn(f"no option {option}", done.stderr.decode())
        done = subprocess.run(
            [PROGRAM, "watch", "-r", capture, "--threads", "cooperative"], capture_output=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("run-to-completion, pipeline", done.stderr.decode())
        done = subprocess.run(
            [PROGRAM, "watch", "-r", capture, "--overload", "mona"], capture_output=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("adapt, off", done.stderr.decode())


class Tasks(Case):
    def test_wrong_tasks_are_refused_with_what_there_is(self):
        cases = {
            "nope": ("nope", "heavy-hitters"),
            "heavy-hitters:foo=1": ("foo=1", "threshold"),
            "heavy-hitters:key=colour": ("colour", "src-port"),
            "heavy-hitters:threshold=0": ("threshold=0",),
            "heavy-hitters:threshold=200%": ("threshold=200%",),
            "heavy-hitters:top=-1": ("top=-1",),
            "heavy-hitters:by=": ("by=", "packets"),
            "count:window=1us": ("1us", "10ms"),
            "count:window=10p": ("10p", "1000p"),
            "count:name=a b": ("a b",),
            "entropy:key=src/33": ("src/33",),
            "superspreaders:key=dst": ("give src",),
            "change:method=guess": ("guess", "ewma"),
            "quantiles:of=colour": ("colour", "list fields"),
            "slow=packets >": ("packets >", "position"),
            "slow=colour > 1": ("colour", "parshall list fields"),
            "slow=packets = 3": ("==",),
            "slow=3 > 2": ("no field",),
            "slow=(packets > 1": ("parenthesis",),
            "=packets > 1": ("name",),
            "": ("name",),
        }
        for spec, words in cases.items():
            with self.subTest(task=spec):
                self.assert_says(run("watch", "-g", "flows=10", "--task", spec), USAGE, *words)
        self.assert_says(run("watch", "-g", "flows=10", "--tasks", "count,count"), USAGE, "two tasks", "name=other")
        self.assert_says(
            run("watch", "-g", "flows=10", "--tasks", "heavy-hitters", "--key", "dst"), USAGE, "key=src", "--key"
        )
        self.assert_says(run("watch", "-g", "flows=10", "--tasks", "count", "--packets-only"), USAGE, "--packets-only")
        self.assert_says(run("watch", "-g", "flows=10", "--export", "events:x"), USAGE, "--tasks")

    def test_events_never_overwrite_the_capture_or_the_report(self):
        capture = self.capture()
        size = os.path.getsize(capture)
        self.assert_says(
            run("watch", "-r", capture, "--tasks", "count", "--export", f"events:{capture}"), USAGE, "capture itself"
        )
        self.assertEqual(os.path.getsize(capture), size)
        both = self.path("both")
        self.assert_says(
            run("watch", "-r", capture, "--tasks", "count", "--export", f"events:{both}", "-o", both),
            USAGE,
            "--export events",
        )
        self.assert_says(
            run("watch", "-r", capture, "--tasks", "count", "--export", "events:-"), USAGE, "standard output"
        )

    def test_events_go_where_they_are_asked_and_into_the_report(self):
        capture = self.capture(packets=5000)
        report = self.path("report.json")
        done = run(
            "watch",
            "-r",
            capture,
            "--task",
            "count:window=1000p",
            "--export",
            "events:-",
            "-o",
            report,
            "--format",
            "json",
            "--quiet",
        )
        self.assertEqual(done.status, DONE)
        events = [json.loads(line) for line in done.out.splitlines()]
        self.assertEqual([event["values"]["packets"] for event in events], [1000] * 5)
        with open(report) as file:
            self.assertEqual(json.load(file)["events"], events)
        text = run("watch", "-r", capture, "--task", "count:window=1000p")
        self.assertIn("5 windows; count 5 events", text.out.decode())

    def test_events_that_cannot_be_written_are_in_the_report_and_said_to_be_lost(self):
        done = run(
            "watch",
            "-r",
            self.capture(packets=5000),
            "--task",
            "count:window=1000p",
            "--export",
            "events:/dev/full",
            "--format",
            "json",
        )
        self.assert_says(done, FAILED, "cannot write /dev/full", "counted but not written", "5 dropped")
        self.assertEqual(len(json.loads(done.out)["events"]), 5)
        self.assert_says(
            run("watch", "-r", self.capture(), "--tasks", "count", "--export", "events:/no/such/file"),
            FAILED,
            "/no/such/file",
        )

    def test_lists_say_what_tasks_and_fields_there_are(self):
        tasks = run("list", "tasks").out.decode()
        for name in (
            "heavy-hitters",
            "superspreaders",
            "victims",
            "change",
            "entropy",
            "flow-sizes",
            "quantiles",
            "count",
            "threshold",
            "window",
        ):
            self.assertIn(name, tasks)
        self.assertIn("rate_pps", run("list", "fields").out.decode())


class Traffic(Case):
    def retransmissions(self, traffic):
        done = run(
            "watch",
            "-g",
            f"protocol=connections,{traffic}",
            "--count",
            "400000",
            "--tasks",
            "retransmissions:most=100000",
            "--window",
            "10ms",
            "--format",
            "json",
            "--top",
            "1",
        )
        self.assertEqual(done.status, 0, done.err)
        return sum(event["values"]["tcp_retransmissions"] for event in json.loads(done.out)["events"])

    def test_connections_send_nothing_again_however_often_their_packets_are_played(self):
        for traffic in (
            "flows=5000,packets=60000,dist=zipf:1.1",
            "flows=1000,packets=3000",
            "flows=5001,packets=40000,ipv6=0.5",
            "flows=3,packets=5",
            "flows=5000,packets=60000,dist=zipf:1.1,flood=0.3",
        ):
            with self.subTest(traffic=traffic):
                self.assertEqual(self.retransmissions(traffic), 0)
        self.assertGreater(self.retransmissions("flows=500,packets=60000,resend=0.01"), 1000)

    def test_connections_have_nothing_that_a_monitor_of_tcp_finds_wrong_but_what_is_sent_again(self):
        names = [
            "tcp_data_packets",
            "tcp_retransmissions",
            "tcp_out_of_order",
            "tcp_lost_segments",
            "tcp_acked_unseen",
            "tcp_zero_windows",
        ]
        for traffic, share in (
            ("sessions,size=imix", 0),
            ("sessions,size=imix,resend=0.1,ipv6=0.5,vlan=100.200,addresses=benchmark", 0.1),
            ("connections,size=imix,packets=20000", 0),
            ("connections,size=300,resend=0.1,ipv6=0.5,packets=20000", None),
            ("sessions,size=imix,packets=20000", 0),
        ):
            with self.subTest(traffic=traffic):
                packets = "" if "packets=" in traffic else ",packets=50000"
                done = run(
                    "watch",
                    "-g",
                    f"protocol={traffic},flows=100,rate=100000{packets}",
                    "--count",
                    "50000",
                    "--window",
                    "1000s",
                    "--task",
                    "all=" + " and ".join(f"{name} > -1" for name in names),
                    "--format",
                    "json",
                    "--top",
                    "1",
                )
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
                done = run(
                    "send",
                    "-q",
                    "-g",
                    f"protocol={traffic},flows=200,packets=5000",
                    "--count",
                    "15000",
                    "-w",
                    self.path("c.pcap"),
                )
                self.assertEqual(done.status, DONE, done.err)
                fields = [word for name in ("_ws.expert.message", "_ws.expert.severity") for word in ("-e", name)]
                found = subprocess.run(
                    [
                        "tshark",
                        "-r",
                        self.path("c.pcap"),
                        "-Y",
                        "_ws.expert && !tcp.flags.syn == 1 && !tcp.flags.fin == 1",
                        "-T",
                        "fields",
                        *fields,
                    ],
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=True,
                ).stdout
                self.assertEqual(found, "")

    def test_tags_change_no_flow(self):
        def flows(traffic):
            done = run(
                "watch",
                "-g",
                f"flows=500,packets=5000,ipv6=0.3,{traffic}",
                "--count",
                "10000",
                "--format",
                "json",
                "--top",
                "1000",
            )
            self.assertEqual(done.status, DONE, done.err)
            return {
                tuple(
                    str(flow[name])
                    for name in ("src_ip", "dst_ip", "src_port", "dst_port", "protocol", "packets", "ip_bytes")
                )
                for flow in json.loads(done.out)["flows"]
            }

        plain = flows("size=200")
        self.assertEqual(len(plain), 500)
        self.assertEqual(flows("size=204,vlan=100"), plain)
        self.assertEqual(flows("size=208,vlan=100.200"), plain)


if __name__ == "__main__":
    unittest.main()
