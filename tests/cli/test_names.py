# SPDX-License-Identifier: Apache-2.0
"""Words on the command line that name something: sources without an option, misspelt names, files of strange names, one
file by several names.

usage: test_names.py PARSHALL [unittest arguments]
"""

import json
import os
import pathlib
import re
import socket
import threading
import time
import unittest

from program import DAMAGED, DONE, FAILED, USAGE, Case, packets_in, rows, run

STRANGE = b"a\x1b[31mb\nc\xff.pcap"
SHOWN = r"a\x1b[31mb\nc\xff.pcap"
INTERFACES = [name for _, name in socket.if_nameindex()]


class Sources(Case):
    """The first word is the source, where no option names one."""

    def watch(self, *words, **more):
        return run("watch", "-q", *words, "--format", "csv", cwd=self.folder, **more)

    def test_a_file_by_its_name_alone_and_a_filter_behind_it(self):
        path = self.capture()
        whole = self.watch("-r", path)
        for words in (
            ["good.pcap"],
            [path],
            ["good.pcap", "udp port 53"],
            ["good.pcap", "udp", "port", "53"],
            ["good.pcap", "--filter", "udp port 53"],
        ):
            with self.subTest(words=words):
                done = self.watch(*words)
                self.assertEqual(
                    (done.status, done.err, sorted(done.out.splitlines())), (DONE, b"", sorted(whole.out.splitlines()))
                )
        one = self.watch("good.pcap", "src host 10.0.0.3")
        self.assertEqual(packets_in(rows(one.out)), 100)
        self.assertEqual(
            packets_in(rows(self.watch("-r", path, "src", "host", "10.0.0.3").out)),
            100,
            "with -r all words are the filter's",
        )

    def test_standard_input(self):
        with open(self.capture(), "rb") as file:
            done = self.watch("-", "src host 10.0.0.3", stdin=file.read())
        self.assertEqual((done.status, packets_in(rows(done.out))), (DONE, 100))

    def test_a_file_wins_over_an_interface_of_its_name(self):
        self.capture(name="lo")
        done = self.watch("lo")
        self.assertEqual((done.status, packets_in(rows(done.out))), (DONE, 1000))

    @unittest.skipUnless(os.geteuid() == 0 and "lo" in INTERFACES, "needs root and an interface")
    def test_an_interface_by_its_name_alone(self):
        done = run("watch", "lo", "--duration", "100ms", "--format", "json", cwd=self.folder)
        self.assertEqual(done.status, DONE, done.err)
        self.assertIn(b"capturing lo", done.err)

    def test_classify_and_send_take_it_too(self):
        self.capture()
        self.assert_says(
            run("classify", "nosuch.pcap", "--model", "x", cwd=self.folder), USAGE, "nothing named nosuch.pcap"
        )
        done = run("send", "-q", "good.pcap", "-w", "sent.pcap", cwd=self.folder)
        self.assertEqual(done.status, DONE, done.err)
        self.assertEqual(*(sorted(self.watch(name).out.splitlines()) for name in ("sent.pcap", "good.pcap")))
        self.assert_says(
            run("send", "nosuch.pcap", "--null", cwd=self.folder), USAGE, "nothing named nosuch.pcap: no such file"
        )
        self.assert_says(
            run("send", "good.pcap", "-g", "flows=1", "--null", cwd=self.folder),
            USAGE,
            "good.pcap is a second source",
        )

    def test_what_is_neither_a_file_nor_an_interface(self):
        done = self.watch("nosuch")
        self.assert_says(
            done,
            USAGE,
            "nothing named nosuch: no file, no interface",
            "interfaces here: " + ", ".join(INTERFACES[:8]),
            lines=1,
        )
        self.assert_says(self.watch("nosuch", "tcp"), USAGE, "nothing named nosuch")

    def test_a_filter_without_a_source_is_told_what_would_work(self):
        for words in (["tcp port 443"], ["tcp", "port", "443"]):
            with self.subTest(words=words):
                done = self.watch(*words)
                self.assert_says(done, USAGE, "'tcp port 443' is a filter", lines=1)
                self.assertIn(re.search(r"parshall watch (\S+) 'tcp port 443'$", done.lines[0])[1], INTERFACES)
        self.assert_says(self.watch("flows=10,size=64"), USAGE, "parshall watch -g flows=10,size=64")
        self.assert_says(self.watch("host nowhere.invalid"), USAGE, "'host nowhere.invalid' is a filter")

    def test_without_any_word_the_short_form_is_told(self):
        self.assert_says(
            run("watch", "-q"), USAGE, "name a source: parshall watch FILE, parshall watch INTERFACE", lines=1
        )

    def test_help_shows_where_it_goes(self):
        for command in ("watch", "classify"):
            self.assertRegex(
                run(command, "--help").out.decode(),
                rf"Usage: parshall {command} \[OPTIONS\] \[SOURCE\] \[FILTER\.\.\.\]",
            )
        self.assertIn("Usage: parshall send [OPTIONS] [SOURCE]", run("send", "--help").out.decode())


class Misspelt(Case):
    """What there is not: what it is like, at most five names of what there is, and where all of them are."""

    def test_each_is_answered_by_what_it_is_like(self):
        capture = self.capture()
        watch = ["watch", "-r", capture]
        with open(self.path("states.toml"), "w", encoding="ascii") as file:
            file.write(
                'default = "deep"\nstate = [ { name = "deep", tasks = ["count"] }, { name = "shallow", lighter = "dep" '
                "} ]\n"
            )
        for words, said in (
            (["wach"], "parshall: no command wach; did you mean watch?"),
            (["watch", "--column", "rate"], "no option --column; did you mean --columns?"),
            ([*watch, "--biflwo"], "parshall watch: no option --biflwo; did you mean --biflow?"),
            (["bench", "tabels"], "did you mean tables?"),
            ([*watch, "--columns", "+gap_meen"], 'no column "gap_meen"; did you mean gap_mean?'),
            ([*watch, "--columns", "pakets_total"], "did you mean packets_total?"),
            ([*watch, "--sort", "wire_bites"], "did you mean wire_bytes?"),
            ([*watch, "--tasks", "heavy-hiters"], "did you mean heavy-hitters?"),
            ([*watch, "--task", "heavy-hitters:treshold=3"], "did you mean threshold?"),
            ([*watch, "--task", "slow=rate_ps > 3"], "no field rate_ps; did you mean rate_pps?"),
            ([*watch, "--states", self.path("states.toml")], "no state dep; did you mean deep?"),
            ([*watch, "--format", "jsn"], "did you mean json?"),
            ([*watch, "--export", "cvs:x"], "did you mean csv?"),
            (["list", "colums"], "did you mean columns?"),
            ([*watch, "--key", "srcdst"], "did you mean src-dst?"),
            (["watch", "-g", "flow=3"], "did you mean flows?"),
            (["watch", "-i", "nosuch0"], "nosuch0: no such interface here"),
            ([*watch, "--table", "bucketd"], "did you mean bucketed?"),
        ):
            with self.subTest(words=words):
                done = run(*words)
                self.assert_says(done, FAILED if "-i" in words else USAGE, said, lines=2)
                self.assertLess(max(map(len, done.lines)), 400, "no wall of names")
                shown = re.search(r"[Tt]here (?:is|are) ([^(]*)", done.err.decode())
                self.assertLessEqual(shown[1].split("\n")[0].count(","), 5)

    def test_what_is_like_nothing_has_no_guess(self):
        self.assertNotIn(b"did you mean", run("watch", "-r", self.capture(), "--columns", "+nonsense").err)
        self.assert_says(run("watch", "-r", self.capture(), "--columns", "+nonsense"), USAGE, "(parshall list columns)")

    def test_help_is_a_command_too(self):
        for words, same in (
            (["help"], ["--help"]),
            (["help", "watch"], ["watch", "--help"]),
            (["help", "bench", "tables"], ["bench", "tables", "--help"]),
            (["test", "help", "search"], ["test", "search", "--help"]),
        ):
            with self.subTest(words=words):
                self.assertEqual((run(*words).status, run(*words).out), (DONE, run(*same).out))
        self.assert_says(run("help", "wach"), USAGE, "no command wach; did you mean watch?")


class StrangeNames(Case):
    """Nothing that a file is called reaches the terminal, or ends a line there."""

    def setUp(self):
        super().setUp()
        self.strange = os.fsencode(self.folder) + b"/" + STRANGE
        os.rename(self.capture(), self.strange)

    def assert_clean(self, text):
        self.assertNotIn(b"\x1b[31m", text)
        self.assertNotIn(b"\xff", text)
        self.assertIn(SHOWN.encode(), text)
        text.decode()

    def test_in_reports_and_messages(self):
        done = run("watch", "-r", self.strange)
        self.assertEqual(done.status, DONE, done.err)
        self.assert_clean(done.out)
        self.assert_clean(done.err)
        done = run("watch", "-q", "-r", self.strange, "--format", "json")
        self.assertEqual(json.loads(done.out)["summary"]["source"].rsplit("/", 1)[1], SHOWN)
        done = run("watch", "-r", self.strange, "--export", b"csv:" + self.strange + b".csv")
        self.assert_clean(done.out)
        os.truncate(self.strange, 110)
        done = run("watch", "-r", self.strange)
        self.assertEqual(done.status, DAMAGED)
        self.assert_clean(done.err)
        os.remove(self.strange)
        for words in (
            ["watch", "-r", self.strange],
            ["watch", self.strange],
            ["watch", "-r", self.strange, "--config", self.strange],
            ["verify", self.strange],
            ["compare", self.strange, self.strange + b"2"],
            ["train", "-r", self.strange, "-o", "/dev/null", "--labels", self.strange],
            ["classify", "-g", "flows=1", "--model", self.strange],
            ["watch", "-g", "flows=1", "--states", self.strange],
            ["send", "-r", self.strange, "--null"],
            ["watch", "-i", self.strange],
            ["watch", self.strange + b"\n\x1b[31m"],
            ["watch", "-g", self.strange],
            ["watch", b"--\x1b[31m\xff" + STRANGE],
            [STRANGE],
        ):
            with self.subTest(words=words):
                done = run(*words)
                self.assertIn(done.status, (FAILED, USAGE))
                self.assert_clean(done.err)
                self.assertLessEqual(len(done.lines), 2, done.err)

    def test_in_what_is_said_of_what_was_sent(self):
        done = run("send", "-r", self.strange, "-w", self.strange + b".pcap")
        self.assertEqual(done.status, DONE, done.err)
        self.assert_clean(done.out)
        self.assert_clean(done.err)
        json.loads(run("send", "-q", "-r", self.strange, "--null", "--format", "json").out)

    def test_in_what_verify_says(self):
        path = self.strange + b".jsonl"
        run("watch", "-q", "-r", self.strange, "--export", b"jsonl:" + path)
        done = run("verify", path)
        self.assertEqual(done.status, DONE, done.err)
        self.assert_clean(done.out)


class SameFiles(Case):
    """Two outputs, or an output and an input, that are one file by two names."""

    def refuse(self, *words, said="same file"):
        done = run("watch", "-q", *words, cwd=self.folder)
        self.assert_says(done, USAGE, said)
        self.assertEqual(done.out, b"")

    def test_outputs_that_are_not_there_yet(self):
        capture = self.capture()
        os.symlink("x", self.path("link"))
        os.symlink("link", self.path("chain"))
        os.mkdir(self.path("in"))
        os.symlink("in", self.path("folder"))
        for one, other in (
            ("x", "./x"),
            ("x", self.path("x")),
            ("x", "link"),
            ("chain", "./x"),
            ("link", "chain"),
            ("in/x", "folder/x"),
            ("in/../x", "x"),
        ):
            with self.subTest(one=one, other=other):
                self.refuse("-r", capture, "--export", f"csv:{one}", "--export", f"jsonl:{other}")
                self.refuse("-r", capture, "-o", one, "--export", f"jsonl:{other}")
        self.assertFalse(os.path.exists(self.path("x")))
        done = run("watch", "-q", "-r", capture, "-o", "x", "--export", "csv:y", cwd=self.folder)
        self.assertEqual(done.status, DONE, done.err)

    def test_an_output_onto_what_is_read(self):
        capture = self.capture()
        config, states, token = (self.path(name) for name in ("watch.toml", "states.toml", "token"))
        for path, text in (
            (config, "quiet = true\n"),
            (states, 'default = "a"\nstate = [ { name = "a", tasks = ["count"] } ]\n'),
            (token, "0123456789abcdef\n"),
        ):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        before = {path: pathlib.Path(path).read_bytes() for path in (capture, config, states, token)}
        for words, path in (
            (["-r", capture], capture),
            (["-r", capture, "--config", config], config),
            (["-r", capture, "--states", states], states),
            (["-r", capture, "--web", "0", "--web-token", token], token),
        ):
            for output in (["-o", path], ["--export", f"csv:{os.path.dirname(path)}/./{os.path.basename(path)}"]):
                with self.subTest(words=words, output=output):
                    self.refuse(*words, *output, said="itself: name another file")
        for path, text in before.items():
            self.assertEqual(pathlib.Path(path).read_bytes(), text, path)

    def test_what_is_sent_and_trained(self):
        self.capture()
        done = run("send", "-q", "-r", "good.pcap", "-w", "x", "-o", "./x", cwd=self.folder)
        self.assert_says(done, USAGE, "x is the capture to write")
        done = run(
            "train", "-r", "good.pcap", "--labels", "good.pcap", "-o", "x", "--confusion", "./x", cwd=self.folder
        )
        self.assert_says(done, USAGE, "is named for two outputs")


class Secrets(Case):
    def test_a_state_that_others_own_or_can_write_is_refused(self):
        path = self.path("link.state")
        watch = ("watch", "-q", "-g", "flows=3", "--count", "10", "-o", "/dev/null", "--state", path)
        self.assertEqual(run(*watch).status, DONE)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        for mode in (0o620, 0o602, 0o666):
            os.chmod(path, mode)
            self.assert_says(run(*watch), USAGE, "other users can write it", "chmod 600")
        os.chmod(path, 0o644)
        self.assertEqual(run(*watch).status, DONE)
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)
            self.assert_says(run(*watch), USAGE, "another user owns it")

    def test_a_token_is_read_as_far_as_it_goes(self):
        watch = ("watch", "-g", "flows=3", "--count", "10", "-o", "/dev/null", "--web", "127.0.0.1:0", "--web-token")
        self.assert_says(run(*watch, "/dev/zero", timeout=20), USAGE, "--web-token /dev/zero: its first line")
        os.mkfifo(self.path("pipe"))
        began = time.monotonic()
        self.assert_says(run(*watch, self.path("pipe"), timeout=20), USAGE, "pipe: cannot read a line of it")
        self.assertLess(time.monotonic() - began, 15, "nobody writes there")

        def write():
            with open(self.path("pipe"), "w", encoding="ascii") as pipe:
                time.sleep(0.3)
                pipe.write("0123456789abcdef\n")

        writer = threading.Thread(target=write)
        writer.start()
        done = run(*watch, self.path("pipe"), timeout=20)
        writer.join()
        self.assertEqual(done.status, DONE, done.err)
        self.assert_says(run(*watch, self.path("absent")), USAGE, "No such file")
        self.assert_says(run(*watch, "/dev/null"), USAGE, "it is empty")


if __name__ == "__main__":
    unittest.main()
