# SPDX-License-Identifier: Apache-2.0
"""`parshall profile` as users meet it.

usage: test_profile.py PARSHALL [unittest arguments]
"""

import json
import os
import signal
import stat
import subprocess
import threading
import tomllib
import unittest

from program import DONE, FAILED, PROGRAM, USAGE, Case, run


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
            for name in (
                "mean_ns",
                "scale_ns",
                "batched_ns",
                "shape" if entry["model"] == "weibull" else "location_ns",
            ):
                self.assertTrue(0 < entry[name] < 1e9, found)
            self.assertGreaterEqual(entry["samples"], 10000)
        self.assertTrue(
            found["retrieval"]["cached"]["mean_ns"] < found["retrieval"]["uncached"]["mean_ns"] or b"warning" in err,
            err,
        )
        self.assertTrue(found["machine"]["cores"] >= 1 and found["machine"]["table"] == "bucketed")

    def test_a_profile_is_of_this_machine_and_goes_where_configurations_are(self):
        done = self.profile("--format", "json", env={"XDG_CONFIG_HOME": self.path("config")})
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual(os.listdir(self.path("config/parshall")), ["profile.toml"])
        found = self.read(self.path("config/parshall/profile.toml"))
        self.assert_finite(found, done.err)
        self.assertEqual(found["machine"]["program"], run("--version").out.decode().strip())
        self.assertNotIn("state", found)
        self.assert_costs(
            found["work"], ["window rows", "iat", "tcp", "rtt_history"] + [entry["name"] for entry in found["work"][4:]]
        )
        summary = json.loads(done.out)
        self.assertTrue(summary["machine"]["cores"])
        rows_of = {row["what"]: row for row in summary["rows"]}
        self.assertEqual(
            round(rows_of["poll, decode and hash a packet"]["ns"], 2), round(found["packet"]["input_ns"], 2)
        )
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
        files = {
            "states.toml": states,
            "others.toml": states.replace("bursty", "retransmissions"),
            "more.toml": states + '[[state]]\nname = "third"\n',
        }
        for name, text in files.items():
            with open(self.path(name), "w", encoding="ascii") as file:
                file.write(text)
        done = self.profile("--states", self.path("states.toml"), "-o", self.path("profile.toml"))
        self.assertEqual(done.status, DONE, done.err)

        def watch(name, profile="profile.toml"):
            return run(
                "watch",
                "-g",
                "flows=100,protocol=connections,pace=100000",
                "--duration",
                "0.2s",
                "--states",
                self.path(name),
                "--profile",
                self.path(profile),
            )

        self.assertEqual(watch("states.toml").status, DONE, watch("states.toml").err)
        self.assert_says(watch("others.toml"), USAGE, "state deep has other tasks", "parshall profile --states")
        self.assert_says(watch("more.toml"), USAGE, "no state third")
        with open(self.path("profile.toml"), encoding="ascii") as file:
            text = file.read()
        with open(self.path("elsewhere.toml"), "w", encoding="ascii") as file:
            file.write(text.replace('cpu = "', 'cpu = "another '))
        self.assert_says(watch("states.toml", "elsewhere.toml"), USAGE, "elsewhere.toml", "another")
        self.assert_says(watch("states.toml", "none.toml"), USAGE, "none.toml")
        self.assert_says(
            run("watch", "-g", "flows=10", "--count", "10", "--profile", self.path("profile.toml")), USAGE, "--states"
        )

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
                process = subprocess.Popen(
                    [
                        PROGRAM,
                        "profile",
                        "--memory",
                        "64Mi",
                        "-g",
                        "flows=1000,packets=100000",
                        "--rounds",
                        rounds,
                        "-o",
                        self.path("profile.toml"),
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
                self.assertEqual((process.returncode, out), (FAILED, b""), err)
                self.assertIn(b"no profile was written", err)
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
            ((".svg", ".png"), ["--plot", "times.pdf"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_says(run("profile", "-o", self.path("profile.toml"), *arguments), USAGE, *words)
        self.assert_says(run("profile", env={"XDG_CONFIG_HOME": "", "HOME": ""}), USAGE, "HOME", "-o")
        self.assert_says(run("profile", "-o", self.folder), FAILED, self.folder, "directory")
        self.assert_says(
            run("profile", "-o", self.path("states.toml/profile.toml")), FAILED, "states.toml/profile.toml"
        )
        self.assert_says(
            run("profile", "--memory", "1Mi", "--rounds", "3", "-g", "flows=10", "-o", self.path("profile.toml")),
            FAILED,
            "--memory",
            "too small",
            lines=6,
        )
        self.assertEqual(os.listdir(self.folder), ["states.toml"])


if __name__ == "__main__":
    unittest.main()
