# SPDX-License-Identifier: Apache-2.0
"""Experiments on parsing, queues, threads and classifiers, as users of the lab meet them.

usage: test_lab_threads.py PARSHALL [unittest arguments]
"""

import ctypes
import pathlib
import resource
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/cli"))
from program import DONE, FAILED, PROGRAM, USAGE, Case, rows, run


class Lab(Case):
    def test_parsing_is_compared_with_the_descriptor(self):
        done = run("bench", "parse", "--memory", "64k", "--rounds", "3", "--traffic", "vlan,ipv6", "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        for traffic in ("vlan", "ipv6"):
            self.assertEqual(
                [(row["reads"], row["prefetch"]) for row in found if row["traffic"] == traffic],
                [("descriptor", "")]
                + [
                    (reads, prefetch)
                    for reads in ("addresses", "ports", "five-tuple", "hashed", "general")
                    for prefetch in ("on", "off")
                ],
            )
        for row in found:
            self.assertTrue(0 < float(row["low_ns"]) <= float(row["ns"]) <= float(row["high_ns"]))
            self.assertTrue(float(row["ratio"]) > 0 and float(row["cycles"]) > 0)
            self.assertEqual(row["memory_bytes"], "64000")

    def test_mistakes_of_bench_parse_are_named(self):
        for words, arguments in (
            (('no access "ip"', "addresses"), ["--access", "ip"]),
            (('no traffic "arp"', "vlan"), ["--traffic", "arp"]),
            (("--memory 1", "64000"), ["--memory", "1"]),
            (("--memory much", "1G"), ["--memory", "1M,much"]),
            (("--prefetch maybe", "on, off"), ["--prefetch", "maybe"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "parse", *arguments), USAGE, *words)
        self.assert_says(run("bench", "parse", "--memory", "1000000G"), FAILED, "are available", "--memory")

    def test_queues_and_pools_are_compared_with_the_first(self):
        done = run(
            "bench",
            "receive",
            "--queues",
            "1,3",
            "--cache",
            "0,64",
            "--burst",
            "32",
            "--arrivals",
            "2,100",
            "--buffers",
            "2048",
            "--rounds",
            "3",
            "--format",
            "csv",
        )
        self.assertIn("parshall bench receive", run("list", "experiments").out.decode())
        if b"built without DPDK" in done.err:
            self.assert_says(done, FAILED, "libdpdk-dev")
            return
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        self.assertEqual(
            [(row["cache"], row["arrivals"], row["queues"], row["pools"]) for row in found],
            [
                (cache, arrivals, queues, pools)
                for cache in ("0", "64")
                for arrivals in ("2", "100")
                for queues in ("1", "3")
                for pools in ("shared", "own")
            ],
        )
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
            (('no pools "none"', "shared, own"), ["--pools", "none"]),
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
            (("--cores 4096", "this process may use"), ["--cores", "1,4096"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "receive", *arguments), USAGE, *words)

    def models(self, *arguments, **more):
        return run(
            "bench", "models", "--packets", "20k", "-g", "flows=100,packets=1000", "--rounds", "3", *arguments, **more
        )

    def test_thread_models_are_compared_with_the_first(self):
        done = self.models("--workers", "1,2", "--oversubscribe", "--format", "csv")
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        self.assertEqual(
            [(row["model"], row["workers"], row["threads"]) for row in found],
            [
                ("run-to-completion", "1", "1"),
                ("pipeline", "1", "2"),
                ("cooperative", "1", "1"),
                ("run-to-completion", "2", "2"),
                ("pipeline", "2", "3"),
                ("cooperative", "2", "2"),
            ],
        )
        for row in found:
            self.assertTrue(0 < float(row["low_mpps"]) <= float(row["mpps"]) <= float(row["high_mpps"]))
            self.assertTrue(0 < float(row["p999_gap_us"]) <= float(row["max_gap_us"]))
            self.assertTrue(0 <= float(row["modelled_loss"]) < 1)
            self.assertEqual((row["packets"], row["lost_packets"], row["scheduler"]), ("20000", "0", "other"))

    def classify(self, *arguments):
        return run(
            "bench", "classify", "--seconds", "0.03", "--rounds", "2", "--flows", "64Ki", "--format", "csv", *arguments
        )

    def test_configurations_that_classify_are_compared(self):
        done = self.classify()
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        self.assertEqual(
            [(row["row"], row["threads"]) for row in found],
            [
                ("1I-1Q-1P", "3"),
                ("1I-2Q-1P", "5"),
                ("1I-2Q-1P-chunk", "5"),
                ("1I-2Q-2P", "6"),
                ("2I-1Q-2P", "6"),
                ("1I-1Q-inline", "1"),
                ("1I-2Q-inline", "2"),
                ("2I-1Q-inline", "2"),
            ],
        )
        for row in found:
            self.assertTrue(float(row["offered_mpps"]) >= float(row["sniffed_mpps"]) > 0)
            self.assertTrue(
                0 < float(row["low_handled_mpps"]) <= float(row["handled_mpps"]) <= float(row["high_handled_mpps"])
            )
            self.assertEqual(row["sniffing_cpu"] == "", "inline" in row["row"])
            self.assertEqual((row["line_mpps"], row["lossless_mpps"], row["samples"]), ("14.2", "", "2"))

    def test_headers_of_a_capture_are_classified_as_a_line_brings_them(self):
        done = self.classify(
            "-r",
            self.capture(),
            "--gbps",
            "0.01",
            "--find-rate",
            "--cap",
            "0,64",
            "--shape",
            "1I-2Q-2P,1I-1Q-inline",
            "--placement",
            "any",
        )
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        self.assertEqual(
            [(row["cap"], row["row"]) for row in found],
            [(cap, shape + ", any") for cap in ("0", "64") for shape in ("1I-2Q-2P", "1I-1Q-inline")],
        )
        self.assertIn("headers of good.pcap: 1000 packets of 10 flows", found[0]["traffic"])
        for row in found:
            self.assertEqual(float(row["lossless_gbps"]), 0.01)
        self.assertGreaterEqual(float(found[2]["line_mpps"]), float(found[0]["line_mpps"]))

    def test_mistakes_of_bench_classify_are_named(self):
        for words, arguments in (
            (('no configuration "3I"', "2I-1Q-2P"), ["--shape", "3I"]),
            (('no placement "here"', "any"), ["--placement", "here"]),
            (("dist=trains",), ["-g", "flows=5"]),
            (("--cap", "--gbps"), ["--cap", "64"]),
            (("--idle soon", "15s"), ["--idle", "soon"]),
            (("--rate",), ["--rate", "0"]),
            (("--gbps",), ["--gbps", "-1"]),
            (("no kind of model", "c45"), ["--model-kind", "best"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "classify", *arguments), USAGE, *words)
        self.assert_says(run("bench", "classify", "-r", "/no/such/file"), FAILED, "/no/such/file")
        self.assert_says(run("bench", "classify", "--flows", "256Mi"), FAILED, "are available", "--flows")

    def test_a_scheduler_that_is_refused_has_no_rows(self):
        def without_sys_nice():
            libc = ctypes.CDLL(None)
            libc.prctl(24, 23, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_SYS_NICE
            resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))

        done = self.models(
            "--workers", "1", "--scheduler", "fifo,other,rr", "--format", "csv", preexec_fn=without_sys_nice
        )
        self.assert_says(done, DONE, "no rows for fifo", "no rows for rr", "CAP_SYS_NICE")
        self.assertEqual({row["scheduler"] for row in rows(done.out)}, {"other"})
        self.assert_says(self.models("--scheduler", "fifo", preexec_fn=without_sys_nice), FAILED, "no rows for fifo")

    def test_a_signal_keeps_the_rounds_that_were_done(self):
        process = subprocess.Popen(
            [
                PROGRAM,
                "bench",
                "models",
                "--workers",
                "1",
                "--model",
                "cooperative",
                "--rounds",
                "10000",
                "--packets",
                "20k",
                "-g",
                "flows=100,packets=1000",
                "--format",
                "csv",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, DONE, err)
        self.assertIn(b"of 10000 rounds", err)
        self.assertTrue(1 <= int(rows(out)[0]["samples"]) < 10000)

    def test_mistakes_of_bench_models_are_named(self):
        for words, arguments in (
            (('no model "pipe"', "cooperative"), ["--model", "pipe"]),
            (('no scheduler "idle"', "fifo"), ["--scheduler", "idle"]),
            (("--workers 0",), ["--workers", "0"]),
            (("--packets none", "8M"), ["--packets", "none"]),
            (("flows=many",), ["-g", "flows=many"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "models", *arguments), USAGE, *words)
        self.assert_says(self.models("--workers", "200"), FAILED, "200 workers", "--oversubscribe")


if __name__ == "__main__":
    unittest.main()
