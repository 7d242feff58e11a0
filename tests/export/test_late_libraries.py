# SPDX-License-Identifier: Apache-2.0
"""Libraries that only some runs load: others do not notice that they are missing, and those say so before they begin.

usage: test_late_libraries.py PARSHALL [unittest arguments]
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
from linked_packages import late_files, late_sonames

PROGRAM = None
USES = {
    "libcrypto": ("--columns", "+ja4"),
    "libcurl": ("--task", "any:window=10ms:packets > 0", "--export", "webhook:http://me:word@127.0.0.1:9/secret"),
    "librdkafka": ("--export", "kafka:127.0.0.1:9/flows"),
    "libmaxminddb": ("--geo", str(pathlib.Path(__file__).with_name("places.mmdb"))),
    "libndpi": ("--label", "all"),
    "libpcap": ("--filter", "udp"),
    "libssl": ("--export", "ipfix:tls://127.0.0.1:9"),
}


class LateLibraries(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/var/tmp")  # which a sandbox hides
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def spoil(self, soname):
        """An empty file comes before the library, so that it cannot be loaded."""
        (self.folder / soname).touch()

    def run_program(self, *arguments):
        environment = os.environ | {"LD_LIBRARY_PATH": str(self.folder)}
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment, timeout=60)

    def test_a_webhook_of_https_is_refused_without_what_libcurl_needs(self):
        task = ("--task", "any:window=10ms:packets > 0")
        for soname in late_sonames(PROGRAM):
            if soname.startswith(("libcrypto.", "libcurl.", "libssl.")):
                with self.subTest(soname=soname):
                    self.spoil(soname)
                    done = self.watch(*task, "--export", "webhook:https://127.0.0.1:9/x")
                    self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
                    self.assertIn("needs libcurl.", done.stderr)
                    (self.folder / soname).unlink()

    def watch(self, *options):
        return self.run_program("watch", "-q", "-g", "flows=2", "--count", "100", *options)

    def test_runs_that_need_none_work_without_all(self):
        for soname in late_sonames(PROGRAM):
            self.spoil(soname)
        for done in (self.run_program("--version"), self.run_program("list"), self.watch()):
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_run_that_needs_one_names_it_before_it_begins(self):
        for soname in late_sonames(PROGRAM):
            with self.subTest(soname=soname):
                self.spoil(soname)
                done = self.watch(*USES[soname.split(".")[0]])
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
                self.assertIn(f"needs {soname}", done.stderr)
                self.assertNotRegex(done.stderr, "word|secret")
                (self.folder / soname).unlink()

    def test_one_from_a_folder_that_the_sandbox_hides(self):
        """The loader takes another one, from a folder that is not hidden, if it comes too late."""
        for soname in late_sonames(PROGRAM):
            with self.subTest(soname=soname):
                (file,) = (path for path in late_files(PROGRAM) if f"/{soname.split('.')[0]}." in path)
                own = shutil.copy(file, self.folder / soname)
                self.assertEqual(self.loaded_by_a_run(soname), {str(own)})
                own.unlink()

    def loaded_by_a_run(self, soname):
        """Returns the files of that name that a run in a sandbox has loaded."""
        silent = socket.create_server(("127.0.0.1", 0))  # no answer ends the run
        self.addCleanup(silent.close)
        use = [
            word.replace("tls://127.0.0.1:9", f"tls://127.0.0.1:{silent.getsockname()[1]}")
            for word in USES[soname.split(".")[0]]
        ]
        sandbox = "on" if soname.startswith("librdkafka.") else "require"  # names of hosts are read from /etc
        command = [PROGRAM, "watch", "-q", "-g", "flows=2,pace=1000", "--duration", "20s", "--sandbox", sandbox]
        environment = os.environ | {"LD_LIBRARY_PATH": str(self.folder)}
        with subprocess.Popen(
            [*command, *use], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as running:
            self.addCleanup(running.kill)
            maps = pathlib.Path(f"/proc/{running.pid}/maps")
            until = time.monotonic() + 15
            loaded = set()
            while not loaded and running.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
                loaded = {line.split()[-1] for line in maps.read_text().splitlines() if soname in line}
            running.kill()
            said = running.stderr.read().decode()
        if "no Landlock" in said:
            self.skipTest("SKIPPED: " + said.strip())
        return loaded or said


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    if not late_sonames(PROGRAM):
        print("SKIPPED: this build links its libraries")
        sys.exit()
    unittest.main(verbosity=1)
