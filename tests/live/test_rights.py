#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/rights.md of what each source takes, row by row: with just that it is watched, without any one of
it an error says what is missing, and afterwards no thread has more than the table says. Usage: test_rights.py PARSHALL
[unittest arguments]"""

import contextlib
import os
import pathlib
import pwd
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import netns

PARSHALL = sys.argv.pop(1)
TABLE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "rights.md"
HEADING = "| source | to open it | afterwards |"
NOBODY = pwd.getpwnam("nobody")
NUMBERS = {
    name: number
    for number, name in enumerate(
        "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE "
        "NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE "
        "SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE".split()
    )
}


def rows():
    """(words of watch, capabilities to open it, capabilities afterwards) of each source that can be tried anywhere."""
    lines = TABLE.read_text().split(HEADING, 1)[1].splitlines()[2:]
    for line in lines:
        if not line.startswith("|"):
            return
        sources, opens, afterwards = line.strip("|").split("|")[:3]
        for words in re.findall(r"`([^`]*)`", sources):
            if "PCI" not in words and "--" not in words.split()[0]:
                yield words.split(), re.findall(r"CAP_(\w+)", opens), re.findall(r"CAP_(\w+)", afterwards)


def capabilities(pid):
    """Those that any thread has, in whatever way."""
    found = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it has ended
            for line in re.findall("^Cap(?:Eff|Prm|Inh|Amb):(.*)", (task / "status").read_text(), re.MULTILINE):
                found |= int(line, 16)
    return {name for name, number in NUMBERS.items() if found >> number & 1} | (
        {"more"} if found >> len(NUMBERS) else set()
    )


class Rights(unittest.TestCase):
    def setUp(self):
        if (why := netns.why_not()) is not None:
            self.skipTest(why)
        if shutil.which("setpriv") is None:
            self.skipTest("no setpriv")
        folder = tempfile.TemporaryDirectory(prefix="parshall-rights-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.chmod(self.folder, 0o755)
        self.program = self.folder / "parshall"  # where anybody may run it
        shutil.copy(PARSHALL, self.program)
        self.capture = self.folder / "a.pcap"
        netns.write_pcap(self.capture, netns.udp_frames(100))
        self.home = self.folder / "home"
        self.home.mkdir()
        os.chown(self.home, NOBODY.pw_uid, NOBODY.pw_gid)

    def start(self, link, words, having):
        given = ",".join(["-all", *(f"+{name.lower()}" for name in having)])
        own = {
            "FILE": str(self.capture),
            "NAME": "tap0",
            "SOCKET": str(self.home / "socket"),
            "SPEC": "flows=9,pace=1000",
            "NEW": "new0",
        }
        watched = [re.sub("FILE|NAME|SOCKET|SPEC|NEW", lambda found: own[found[0]], word) for word in words]
        command = [
            "ip",
            "netns",
            "exec",
            link.rx_space,
            "setpriv",
            "--reuid",
            "nobody",
            "--regid",
            str(NOBODY.pw_gid),
            "--clear-groups",
            "--inh-caps",
            given,
            "--ambient-caps",
            given,
            "--bounding-set",
            given,
            str(self.program),
            "watch",
            *watched,
            "--flows",
            "1024",
            "--duration",
            "60s",
            "-o",
            "/dev/null",
        ]
        with open(self.capture if "-" in words else os.devnull, "rb") as stdin:
            process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                cwd=self.home,
                env=os.environ | {"HOME": str(self.home)},
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (8 << 20, 8 << 20)),
            )
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        return process

    def test_the_table_is_what_sources_take(self):
        known = subprocess.run(
            [PARSHALL, "watch", "-i", "vdev:net_null0", "--count", "1", "-o", "/dev/null", "--duration", "100ms"],
            capture_output=True,
            text=True,
            check=False,
        ).stderr
        tried = 0
        for words, opens, afterwards in rows():
            is_dpdk = "vdev" in words[1] or "--via" in words
            if is_dpdk and "without DPDK" in known:
                continue
            tried += 1
            with self.subTest(source=" ".join(words), having=opens), netns.VethPair() as link:
                process = self.start(link, words, opens)
                if words[0] == "-i" or words[0] == "-g":
                    self.assertIn(" MB for ", said := process.stderr.readline(), said)
                    self.assertEqual(capabilities(process.pid), set(afterwards))
                    process.send_signal(signal.SIGTERM)
                guard = threading.Timer(60, process.kill)
                guard.start()
                self.assertEqual(process.wait(), 0, process.stderr.read())
                guard.cancel()
                self.assertNotIn(
                    "prog/xdp",
                    subprocess.run(
                        ["ip", "-n", link.rx_space, "-d", "link", "show", "dev", "tap0"],
                        capture_output=True,
                        text=True,
                        check=True,
                    ).stdout,
                )
            for missing in opens:
                with self.subTest(source=" ".join(words), missing=missing), netns.VethPair() as link:
                    process = self.start(link, words, [name for name in opens if name != missing])
                    _, said = process.communicate(timeout=60)
                    self.assertEqual(process.returncode, 1, said)
                    self.assertIn(f"CAP_{missing}", said)
        self.assertGreaterEqual(tried, 4)


if __name__ == "__main__":
    unittest.main()
