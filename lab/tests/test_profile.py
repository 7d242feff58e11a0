# SPDX-License-Identifier: Apache-2.0
"""`parshall bench profile` as users meet it.

usage: test_profile.py PARSHALL [unittest arguments]
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/cli"))
from program import DONE, FAILED, PROGRAM, USAGE, Case, rows, run

LOOKUPS = [
    f"{what}, {how}"
    for what in ("find a flow, in cache", "find a flow, from memory", "start a flow, in memory")
    for how in ("one at a time", "in batches")
]
MODELS = [f"{where} as {name}" for where in ("in cache", "from memory") for name in ("Normal", "Weibull", "Gumbel")]
PACKET = ["poll, decode and hash a packet", "also count it, without tasks"]
STATES = """default = "light"
[[state]]
name = "light"
tasks = ["count:window=10ms"]
[[state]]
name = "deep \\"er\\""
tasks = ["count:window=10ms", "big:window=10ms:packets > 3"]
[[rule]]
state = "light"
port = 80
"""


def number(cell):
    """Returns the number in a cell of CSV or JSON; None if it is empty."""
    return None if cell in ("", None) else float(cell)


class Profile(Case):
    """parshall bench profile"""

    QUICK = ("--rounds", "3", "--memory", "64Mi", "-g", "flows=1000,protocol=connections")

    def profile(self, *arguments, **more):
        return run("bench", "profile", *self.QUICK, *arguments, **more)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)
        return self.path(name)

    def assert_finite(self, row, *columns):
        for column in columns:
            self.assertTrue(0 < number(row[column]) < 1e9, row)

    def assert_rows(self, found, workloads, err):
        """Checks what every profile has; `workloads` is the start of the rows of states or of kinds of work."""
        times = [row for row in found if not row["what"].startswith(tuple(MODELS))]
        names = [row["what"] for row in times]
        self.assertEqual(names[: len(PACKET + LOOKUPS)], PACKET + LOOKUPS)
        self.assertEqual(names[len(PACKET + LOOKUPS) :][: len(workloads)], workloads)
        for row in times:
            self.assertTrue(0 <= number(row["low_ns"]) <= number(row["ns"]) <= number(row["high_ns"]) < 1e9, row)
            self.assertIsNone(number(row["bic_more"]), row)
            self.assertGreater(number(row["samples"]) + number(row["dropped"]), 0, row)
        rows_of = {row["what"]: row for row in found}
        for name in PACKET + LOOKUPS:
            self.assert_finite(rows_of[name], "ns")
        for name in LOOKUPS:
            self.assert_finite(rows_of[name], "mean_ns")
        for where in ("in cache", "from memory"):
            self.assertGreaterEqual(number(rows_of[f"find a flow, {where}, one at a time"]["samples"]), 10000)
        cached, uncached = (
            number(rows_of[f"find a flow, {where}, one at a time"]["mean_ns"]) for where in ("in cache", "from memory")
        )
        self.assertTrue(cached < uncached or b"warning" in err, err)
        self.assertEqual({row["what"] for row in found[len(times) :]}, set(MODELS))
        for where in ("in cache", "from memory"):
            models = [row for row in found if row["what"].startswith(f"{where} as ")]
            more = [number(row["bic_more"]) for row in models]
            self.assertEqual((more[0], more), (0, sorted(more)), "the best model is first")
            self.assertGreater(more[-1], 0)
            for row in models:
                has_shape = row["what"].endswith("Weibull")
                self.assert_finite(row, "ns", "mean_ns", "scale_ns", "shape" if has_shape else "location_ns")
                self.assertIsNone(number(row["location_ns" if has_shape else "shape"]), row)
                self.assertIsNone(number(row["samples"]), row)

    def test_lookups_and_kinds_of_work_are_measured(self):
        done = self.profile("--format", "json")
        self.assertEqual(done.status, DONE, done.err)
        (line,) = done.out.decode().splitlines()
        document = json.loads(line)
        self.assertEqual(document["experiment"], "profile")
        self.assertTrue(document["machine"]["cores"])
        for words in ("in cache: ", "from memory: ", "a lookup in a batch takes "):
            self.assertIn(words, document["verdict"])
        kinds = [f"more for {kind}" for kind in ("window rows", "iat", "tcp", "rtt_history")]
        self.assert_rows(document["rows"], kinds, done.err)
        self.assertGreater(sum(row["what"].startswith("more for ") for row in document["rows"]), len(kinds))
        self.assertNotIn("more in state", line)

    def test_states_are_measured_in_place_of_kinds_of_work(self):
        done = self.profile(
            "--states", self.write("states.toml", STATES), "--format", "csv", "-o", self.path("profile.csv")
        )
        self.assertEqual((done.status, done.out), (DONE, b""), done.err)
        with open(self.path("profile.csv"), encoding="ascii") as file:
            text = file.read()
        self.assert_rows(rows(text), ["more in state light", 'more in state deep "er"'], done.err)
        self.assertEqual(text.count("more in state"), 2)
        self.assertNotIn("more for", text)
        self.assertEqual(sorted(os.listdir(self.folder)), ["profile.csv", "states.toml"])

    def test_a_full_disk_is_named(self):
        done = self.profile("--states", self.write("states.toml", STATES), "-o", "/dev/full")
        self.assertEqual(done.status, FAILED, done.err)
        self.assertIn("/dev/full", done.lines[-1])

    def test_a_signal_ends_it_and_old_results_stay(self):
        self.write("profile.csv", "precious")
        for words, rounds in (b"filling", "2000"), (b"monitors", "60"):
            with self.subTest(after=words):
                process = subprocess.Popen(
                    [
                        PROGRAM,
                        "bench",
                        "profile",
                        "--memory",
                        "64Mi",
                        "-g",
                        "flows=1000,packets=100000",
                        "--rounds",
                        rounds,
                        "--format",
                        "csv",
                        "-o",
                        self.path("profile.csv"),
                    ],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
                self.addCleanup(process.stdout.close)
                self.addCleanup(process.stderr.close)
                self.addCleanup(process.kill)
                while words not in process.stderr.readline():
                    self.assertIsNone(process.poll(), "it ended by itself")
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=20)
                self.assertEqual((process.returncode, out), (DONE, b""), err)
                self.assertIn(b"stopped after 0 of 1", err)
                self.assertEqual(os.listdir(self.folder), ["profile.csv"])
                with open(self.path("profile.csv"), encoding="ascii") as file:
                    self.assertEqual(file.read(), "precious")

    def test_mistakes_are_named(self):
        self.write("states.toml", 'default = "a"\n[[state]]\nname = "a"\ntasks = ["nosuch"]\n')
        for words, arguments in (
            (("states.toml", "nosuch"), ["--states", self.path("states.toml")]),
            (("/no/such/file", "No such file"), ["--states", "/no/such/file"]),
            (("flows=many",), ["-g", "flows=many"]),
            (("pace",), ["-g", "flows=10,pace=1000"]),
            (("--window soon",), ["--window", "soon"]),
            (("--memory much", "512Mi"), ["--memory", "much"]),
            (("--memory 0", "512Mi"), ["--memory", "0"]),
            (("--rounds",), ["--rounds", "0"]),
            (("--format",), ["--format", "toml"]),
            ((".svg", ".png"), ["--plot", "times.pdf"]),
            (('no column "colour"',), ["--plot", "times.svg", "--plot-y", "colour"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("bench", "profile", "-o", self.path("profile.csv"), *arguments), USAGE, *words)
        self.assert_says(run("bench", "profile", "-o", self.folder), FAILED, self.folder, "directory")
        self.assert_says(
            run("bench", "profile", "-o", self.path("states.toml/profile.csv")), FAILED, "states.toml/profile.csv"
        )
        self.assert_says(
            run("bench", "profile", "--memory", "1Mi", "--rounds", "3", "-g", "flows=10"),
            FAILED,
            "--memory",
            "too small",
            lines=6,
        )
        self.assertEqual(os.listdir(self.folder), ["states.toml"])


if __name__ == "__main__":
    unittest.main()
