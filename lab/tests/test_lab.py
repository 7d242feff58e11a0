# SPDX-License-Identifier: Apache-2.0
"""Experiments on tables, sketches and hashes, as users of the lab meet them.

usage: test_lab.py PARSHALL [unittest arguments]
"""

import json
import pathlib
import signal
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/cli"))
from program import DONE, FAILED, PROGRAM, USAGE, Case, rows, run


def catches(process, number):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        caught = next(line.split()[1] for line in file if line.startswith("SigCgt:"))
    return int(caught, 16) >> (number - 1) & 1


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
        self.assertTrue(
            {"count-array-keys", "count-min", "space-saving", "heavy-keeper", "bucketed-count"} < set(names), names
        )
        for row in found:
            self.assertTrue(0 <= float(row["precision"]) <= 1 and 0 <= float(row["recall"]) <= 1, row)
        done = run(
            "bench",
            "sketches",
            "--tables",
            "bucketed,space-saving",
            "--flows",
            "100",
            "--rounds",
            "3",
            "--format",
            "csv",
        )
        self.assertEqual([row["table"] for row in rows(done.out)], ["bucketed", "space-saving"], done.err)

    def test_heavy_hitters_are_found_by_all_flows_and_by_sketches(self):
        traffic = "flows=2000,dist=zipf:1.1,packets=200000,rate=1000000"
        done = run(
            "bench",
            "heavy-hitters",
            "-g",
            traffic,
            "--window",
            "10ms,50ms",
            "--width",
            "1Ki,16Ki",
            "--one-in",
            "1,4",
            "--threshold",
            "0.01",
            "--rounds",
            "3",
            "--format",
            "csv",
        )
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        ways = [("all-flows", ""), ("worker", "")] + [
            (way, width) for way in ("heavy-keeper", "space-saving") for width in ("1024", "16384")
        ]
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
            (("--threshold",), ["--threshold", "2"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "heavy-hitters", *arguments), USAGE, *words)
        self.assert_says(run("bench", "heavy-hitters", "-r", "/no/such/file"), FAILED, "/no/such/file")
        self.assert_says(
            run("bench", "heavy-hitters", "-g", "flows=10,packets=1000,rate=1000000"),
            FAILED,
            "shorter than two windows",
        )
        with open(self.path("arp.pcap"), "wb") as file:
            frame = bytes(12) + b"\x08\x06" + bytes(46)
            file.write(
                struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + struct.pack("<IIII", 1, 0, 60, 60) + frame
            )
        self.assert_says(run("bench", "heavy-hitters", "-r", self.path("arp.pcap")), FAILED, "shorter than two windows")

    def test_every_combination_is_measured(self):
        done = self.bench(
            "--tables", "linear", "--flows", "50", "--zipf", "0,1", "--value-bytes", "8,64", "--format", "json"
        )
        self.assertEqual(done.status, DONE, done.err)
        documents = [json.loads(line) for line in done.out.decode().splitlines()]
        self.assertEqual(
            [(d["flows"], d["zipf"], d["rows"][0]["value_bytes"]) for d in documents],
            [(flows, zipf, size) for flows in (100, 50) for zipf in (0, 1) for size in (8, 64)],
        )
        self.assertTrue(documents[0]["machine"]["cores"])

    def test_captures_and_built_in_traffic_are_played(self):
        for traffic, flows in (["-r", self.capture(flows=30)], "30"), (["-g", "flows=70,packets=1000"], "70"):
            with self.subTest(traffic=traffic):
                done = run(
                    "bench", "tables", "--tables", "linear,bucketed", "--rounds", "3", "--format", "csv", *traffic
                )
                self.assertEqual(done.status, DONE, done.err)
                for row in rows(done.out):
                    self.assertEqual((row["flows"], row["size"]), (flows, flows))
                    self.assertEqual([float(row[name]) for name in ("precision", "recall", "count_error")], [1, 1, 0])

    def test_steps_and_batches_of_the_monitor_are_measured(self):
        done = run(
            "bench",
            "pipeline",
            "-g",
            "flows=100,packets=2000",
            "--columns",
            "none,gap_mean+iat_sd",
            "--rounds",
            "3",
            "--tables",
            "bucketed,linear",
            "--format",
            "csv",
        )
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual(
            [row["monitor"] for row in rows(done.out)],
            ["poll", "parse and hash", "bucketed", "bucketed, gap_mean+iat_sd", "linear", "linear, gap_mean+iat_sd"],
        )
        done = run(
            "bench", "batch", "-r", self.capture(flows=30), "--batch", "16,64", "--rounds", "3", "--format", "csv"
        )
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual([(row["batch"], row["flows"]) for row in rows(done.out)], [("16", "30"), ("64", "30")])
        for words, arguments in (
            (("no table",), ["--tables", "nosuch"]),
            (("gap_colour",), ["--columns", "gap_colour"]),
            (("--flows many",), ["--flows", "many"]),
            (("--batch",), ["--batch", "0"]),
            (("flows=many",), ["-g", "flows=many"]),
            (("--queue",), ["--queue", "0"]),
        ):
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
        for words, arguments in (
            (("-r FILE",), []),
            (("--memory none",), ["-r", capture, "--memory", "none"]),
            (("gap_colour",), ["-r", capture, "--columns", "gap_colour"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "advise", *arguments), USAGE, *words)
        self.assert_says(run("bench", "advise", "-r", "/no/such/file"), FAILED, "/no/such/file")
        self.assert_says(run("bench", "advise", "-r", capture, "--rounds", "6", "--memory", "1"), FAILED, "no table")
        for nowhere in ("/no/such/file", "/dev/full"):
            with self.subTest(output=nowhere):
                done = run("bench", "advise", "-r", capture, "--rounds", "6", "-o", nowhere)
                self.assert_says(done, FAILED, nowhere, "standard output")
                self.assertIn("\nbatch = ", done.out.decode(), "what was measured is lost")

    def test_all_tables_are_measured_without_a_choice(self):
        done = self.bench()
        self.assertEqual(done.status, DONE, done.err)
        for table in ("bucketed", "cuckoo-4", "simd-tags", "unordered-map"):
            self.assertIn(table, done.out.decode())

    def test_mistakes_are_named(self):
        for words, arguments in (
            (('no table "linea"', "linear-index"), ["--tables", "linea"]),
            (("--flows 0", "from 1"), ["--flows", "0"]),
            (("--flows many", "64Ki"), ["--flows", "many"]),
            (("--zipf 9",), ["--zipf", "9"]),
            (("--value-bytes 5", "4, 8, 16"), ["--value-bytes", "5"]),
            (("--key-bytes 12", "8, 16, 40"), ["--key-bytes", "12"]),
            (("--key-bytes 40", "--task count"), ["--key-bytes", "40", "--task", "change"]),
            (("--key-bytes 8", "--value-bytes 16"), ["--key-bytes", "8", "--value-bytes", "64"]),
            (('no task "hh"', "heavy-hitter"), ["--task", "hh"]),
            (('no neighbour "tv"', "cache"), ["--beside", "tv"]),
            (("--load 0",), ["--load", "0"]),
            (("--batch 0",), ["--batch", "0"]),
            (('no size of pages "1G"', "2M, 4k"), ["--pages", "1G"]),
            (("--offered 0",), ["--offered", "0"]),
            (("--queue 0",), ["--queue", "0"]),
            (("--cores 0",), ["--cores", "0"]),
            (("--heavy 1",), ["--heavy", "1"]),
            (("--epoch none",), ["--epoch", "none"]),
            (("flows=many",), ["-g", "flows=many"]),
            (("excludes",), ["-g", "flows=10", "--flows", "10"]),
            ((".svg", ".png"), ["--plot", "cost.pdf"]),
            (("--rounds",), ["--rounds", "0"]),
            (("--format",), ["--format", "xml"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "tables", *arguments), USAGE, *words)
        self.assert_says(run("bench"), USAGE, "parshall bench --help")
        self.assert_says(run("bench", "tables", "-r", "/no/such/file"), FAILED, "/no/such/file")
        self.assert_says(self.bench("-o", "/no/such/file"), FAILED, "/no/such/file")
        self.assert_says(self.bench("-o", "/dev/full"), FAILED, "/dev/full")

    def test_what_an_earlier_run_left_stays_where_nothing_is_measured(self):
        with open(self.path("costs.csv"), "w", encoding="utf-8") as file:
            file.write("of an earlier run\n")
        process = subprocess.Popen(
            [
                PROGRAM + "-lab",
                "bench",
                "tables",
                "--flows",
                "1Mi",
                "--rounds",
                "10000",
                "--format",
                "csv",
                "-o",
                self.path("costs.csv"),
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            while not catches(process, signal.SIGINT):
                self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
        self.assertIn("stopped after 0 of 1", said)
        with open(self.path("costs.csv"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "of an earlier run\n")
        done = self.bench("--format", "csv", "-o", self.path("costs.csv"))
        self.assertEqual(done.status, DONE, done.err)
        with open(self.path("costs.csv"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("traffic,"))

    def test_hashes_are_compared_with_the_first_of_them(self):
        done = run(
            "bench", "hashes", "--hashes", "murmur3,xor,toeplitz", "--keys", "4096", "--rounds", "3", "--format", "csv"
        )
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        self.assertEqual(
            [(row["ip_version"], row["input"], row["hash"]) for row in found],
            [
                (ip, of, name)
                for ip in ("4", "6")
                for of in ("addresses", "ports", "5tuple")
                for name in ("murmur3", "xor", "toeplitz")
                if (of, name) != ("5tuple", "toeplitz")
            ],
        )
        for row in found:
            self.assertTrue(0 < float(row["low_ns"]) <= float(row["ns"]) <= float(row["high_ns"]))
            self.assertEqual(float(row["ratio"]) == 1, row["hash"] == "murmur3")
            self.assertEqual(float(row["consecutive_collided_share"]) > 0.9, row["hash"] == "xor")

    def test_mistakes_in_comparing_hashes_are_named(self):
        for words, arguments in (
            (('no hash "md5"', "murmur3"), ["--hashes", "md5"]),
            (("--keys 1", "from 2"), ["--keys", "1"]),
            (("--keys many", "64Ki"), ["--keys", "many"]),
            (("none of these hashes",), ["--hashes", "toeplitz", "--input", "5tuple"]),
            (("--input",), ["--input", "payload"]),
            (("--ip",), ["--ip", "5"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "hashes", *arguments), USAGE, *words)
        self.assert_says(run("bench", "hashes", "-o", "/no/such/file"), FAILED, "/no/such/file")

    def test_ways_to_share_a_table_between_cores_are_compared(self):
        done = run(
            "bench",
            "contention",
            "--flows",
            "100",
            "--rounds",
            "3",
            "--cores",
            "1",
            "--sharing",
            "same,split",
            "--format",
            "csv",
        )
        self.assertEqual(done.status, DONE, done.err)
        found = rows(done.out)
        ways = ["separate", "separate-merge", "shared-cas", "shared-add", "shared-racy", "array-separate", "array-cas"]
        self.assertEqual(
            [(row["sharing"], row["way"]) for row in found],
            [(sharing, way) for sharing in ("same", "split") for way in ways],
        )
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
            (('no sharing "none"', "same, split"), ["--sharing", "none"]),
            (("--flows 0",), ["--flows", "0"]),
            (("--zipf 9",), ["--zipf", "9"]),
            (("--epoch none",), ["--epoch", "none"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "contention", *arguments), USAGE, *words)

    def test_a_signal_keeps_what_was_measured(self):
        process = subprocess.Popen(
            [
                PROGRAM,
                "bench",
                "tables",
                "--tables",
                "linear",
                "--flows",
                ",".join(["1000"] * 500),
                "--rounds",
                "3",
                "--format",
                "csv",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        process.stderr.readline()  # one combination is done
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, DONE, err)
        self.assertTrue(1 <= len(rows(out)) < 500)


if __name__ == "__main__":
    unittest.main()
