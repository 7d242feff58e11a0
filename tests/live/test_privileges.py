#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What rights `parshall watch` has left once its source is open, and what each source takes. Usage: test_privileges.py
PARSHALL [unittest arguments]"""

import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import netns

PARSHALL = sys.argv.pop(1)
NOBODY = pwd.getpwnam("nobody")
FRAMES = 2000
CAP_SYS_NICE = 23  # where the limit cannot be raised
# DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, NET_BIND_SERVICE, IPC_LOCK, SYS_RESOURCE
OF_ROOT = sum(1 << number for number in (1, 2, 3, 10, 14, 24))


def rights(pid):
    """Of each thread: who it is, what capabilities it has, and whether a program could give it more."""
    threads = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        status = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line)
        threads.append(
            {
                "uids": set(status["Uid"].split()),
                "gids": set(status["Gid"].split()),
                "groups": status["Groups"].split(),
                "capabilities": int(status["CapEff"], 16)
                | int(status["CapPrm"], 16)
                | int(status["CapAmb"], 16)
                | int(status["CapInh"], 16),
                "no_new": status["NoNewPrivs"] == "1",
            }
        )
    return threads


class Privileges(unittest.TestCase):
    def setUp(self):
        if (why := netns.why_not()) is not None:
            self.skipTest(why)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.chown(self.folder, NOBODY.pw_uid, NOBODY.pw_gid)
        self.program = self.folder / "parshall"  # where anybody may run it
        shutil.copy(PARSHALL, self.program)
        os.chmod(self.folder, 0o755)

    def start(self, *words):
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        return process

    def watched(self, link, process):
        """The rights of its threads while it watches, and its report of the frames that were sent then."""
        said = process.stderr.readline()
        self.assertIn(" MB for ", said, process.stderr.read() if process.poll() is not None else "")
        threads = rights(process.pid)
        link.deliver(
            [
                bytes.fromhex("0200000000020200000000010800")
                + bytes.fromhex("4500002e0000400040110000c0000201c6336401")
                + bytes([0x30, i % 250])
                + bytes.fromhex("0035001a0000")
                + bytes(18)
                for i in range(FRAMES)
            ]
        )
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        report = json.loads(out)
        self.assertTrue(report["summary"]["accounting"]["balanced"])
        account = report["summary"]["accounting"]
        self.assertEqual(account["counted"] + account["nic_missed"], FRAMES)
        return threads

    def assert_has_none(self, threads, user, but=0):
        self.assertGreater(len(threads), 2)
        for thread in threads:
            self.assertEqual(
                (thread["capabilities"] & ~but, thread["no_new"], thread["uids"], thread["gids"]),
                (0, True, {str(user.pw_uid)}, {str(user.pw_gid)}),
            )
            self.assertNotIn("0", thread["groups"])

    def in_space(self, link, *words):
        return self.start("ip", "netns", "exec", link.rx_space, *words)

    def test_as_another_user_it_watches_without_rights_and_outputs_are_his(self):
        with netns.VethPair() as link:
            process = self.in_space(
                link,
                str(self.program),
                "watch",
                "-i",
                "tap0",
                "--user",
                "nobody",
                "--format",
                "json",
                "--descriptors",
                "16384",
                "--export",
                f"csv:{self.folder}/flows.csv",
            )
            self.assert_has_none(self.watched(link, process), NOBODY)
        self.assertEqual((self.folder / "flows.csv").stat().st_uid, NOBODY.pw_uid)
        self.assertEqual(len((self.folder / "flows.csv").read_text().splitlines()), 251)

    def test_what_a_user_was_given_to_open_the_link_is_gone_when_it_is_open(self):
        with netns.VethPair() as link:
            process = self.in_space(
                link,
                "setpriv",
                "--reuid",
                "nobody",
                "--regid",
                str(NOBODY.pw_gid),
                "--clear-groups",
                "--inh-caps",
                "-all,+net_raw",
                "--ambient-caps",
                "-all,+net_raw",
                "--bounding-set",
                "-all,+net_raw",
                str(self.program),
                "watch",
                "-i",
                "tap0",
                "--format",
                "json",
                "--descriptors",
                "16384",
            )
            self.assert_has_none(self.watched(link, process), NOBODY)

    @unittest.skipUnless(shutil.which("setcap"), "SKIPPED: there is no setcap command")
    def test_capabilities_that_its_file_only_permits_are_used_and_gone_when_the_link_is_open(self):
        """A file with effective ones could not be started at all where one of them is out of reach: in a container."""
        subprocess.run(["setcap", "cap_net_raw,cap_net_admin+p", self.program], check=True)
        as_nobody = ["setpriv", "--reuid", "nobody", "--regid", str(NOBODY.pw_gid), "--clear-groups"]
        words = ["--bounding-set", "-all,+net_raw", str(self.program), "watch", "-i", "tap0", "--format", "json"]
        with netns.VethPair() as link:
            process = self.in_space(link, *as_nobody, *words, "--descriptors", "16384")
            self.assert_has_none(self.watched(link, process), NOBODY)

    def test_without_it_a_link_is_refused_with_what_to_do(self):
        with netns.VethPair() as link:
            process = self.in_space(
                link,
                "setpriv",
                "--reuid",
                "nobody",
                "--regid",
                str(NOBODY.pw_gid),
                "--clear-groups",
                "--inh-caps",
                "-all",
                "--bounding-set",
                "-all",
                str(self.program),
                "watch",
                "-i",
                "tap0",
            )
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, err)
            self.assertIn("CAP_NET_RAW", err)

    def test_a_scheduling_class_can_be_taken_with_no_more_than_the_capability_for_that(self):
        with netns.VethPair() as link:
            process = self.in_space(
                link,
                str(self.program),
                "watch",
                "-i",
                "tap0",
                "--user",
                "nobody",
                "--format",
                "json",
                "--descriptors",
                "16384",
                "--scheduler",
                "fifo",
            )
            self.assert_has_none(self.watched(link, process), NOBODY, but=1 << CAP_SYS_NICE)

    def test_root_keeps_what_its_outputs_take(self):
        with netns.VethPair() as link:
            process = self.in_space(
                link,
                str(self.program),
                "watch",
                "-i",
                "tap0",
                "--format",
                "json",
                "--descriptors",
                "16384",
                "--export",
                f"csv:{self.folder}/flows.csv",
            )
            threads = self.watched(link, process)
        self.assertGreater(len(threads), 2)
        self.assertEqual(
            [(hex(thread["capabilities"] & ~OF_ROOT), thread["no_new"], thread["uids"]) for thread in threads],
            [("0x0", True, {"0"})] * len(threads),
        )
        self.assertEqual(len((self.folder / "flows.csv").read_text().splitlines()), 251)  # in a folder of somebody else

    def test_of_root_a_run_has_no_more_than_its_outputs_take_and_commands_of_its_hook_all(self):
        said = self.folder / "said"
        process = self.start(
            str(self.program),
            "watch",
            "-q",
            "-g",
            "flows=9,pace=1000",
            "--duration",
            "30s",
            "--task",
            "any:most=1:packets > 0",
            "--hook",
            f"grep CapEff /proc/self/status > {said}",
        )
        netns.wait_until(lambda: said.exists() and said.read_text(), "what the command says")
        self.assertEqual(
            [thread["capabilities"] & ~OF_ROOT for thread in rights(process.pid)], [0] * len(rights(process.pid))
        )
        own = next(
            line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff")
        )
        self.assertEqual(said.read_text().split(), own.split())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)

    def test_captures_and_built_in_traffic_take_no_rights(self):
        capture = self.folder / "a.pcap"
        subprocess.run(
            [PARSHALL, "send", "-q", "-g", "flows=9", "--count", "100", "-w", str(capture)],
            check=True,
            capture_output=True,
        )
        for source in (["-r", str(capture)], ["-g", "flows=9", "--count", "100"]):
            done = subprocess.run(
                [str(self.program), "watch", "-q", *source, "--user", "nobody", "--format", "json"],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["summary"]["packets"], 100)

    def test_an_output_that_the_user_may_not_write_is_an_error(self):
        os.mkdir(self.folder / "closed", 0o700)
        done = subprocess.run(
            [
                str(self.program),
                "watch",
                "-q",
                "-g",
                "flows=9",
                "--count",
                "100",
                "--user",
                "nobody",
                "--export",
                f"csv:{self.folder}/closed/x.csv",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("closed/x.csv", done.stderr)

    def test_users_who_are_not_there_or_cannot_be_become_are_wrong_usage(self):
        done = subprocess.run(
            [PARSHALL, "watch", "-g", "flows=9", "--count", "9", "--user", "no-such-user"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, "no-such-user" in done.stderr), (2, True), done.stderr)
        done = subprocess.run(
            [
                "setpriv",
                "--reuid",
                "nobody",
                "--clear-groups",
                str(self.program),
                "watch",
                "-g",
                "flows=9",
                "--count",
                "9",
                "--user",
                "root",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, "needs root" in done.stderr), (2, True), done.stderr)

    def test_commands_of_a_hook_may_have_rights_of_their_own_and_the_run_has_not(self):
        said = self.folder / "said"
        process = self.start(
            "setpriv",
            "--reuid",
            "nobody",
            "--clear-groups",
            "--inh-caps",
            "-all",
            str(self.program),
            "watch",
            "-q",
            "-g",
            "flows=9,pace=1000",
            "--duration",
            "30s",
            "--task",
            "any:most=1:packets > 0",
            "--hook",
            f"grep NoNewPrivs /proc/self/status > {said}",
        )
        netns.wait_until(lambda: len(rights(process.pid)) > 3, "its threads")
        self.assertTrue(all(thread["no_new"] for thread in rights(process.pid)))
        netns.wait_until(lambda: said.exists() and said.read_text(), "what the command says")
        self.assertEqual(said.read_text().split(), ["NoNewPrivs:", "0"])
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


if __name__ == "__main__":
    unittest.main()
