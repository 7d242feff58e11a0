# SPDX-License-Identifier: Apache-2.0
"""Libraries that only some runs load: others do not notice that they are missing, and those say so before they begin.

usage: test_late_libraries.py PARSHALL [unittest arguments]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
from linked_packages import late_sonames

PROGRAM = None
USES = {
    "libcurl": ("--task", "any:window=10ms:packets > 0", "--export", "webhook:http://127.0.0.1:9/"),
    "librdkafka": ("--export", "kafka:127.0.0.1:9/flows"),
    "libndpi": ("--label", "all"),
}


class LateLibraries(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def spoil(self, soname):
        """An empty file comes before the library, so that it cannot be loaded."""
        (self.folder / soname).touch()

    def run_program(self, *arguments):
        environment = os.environ | {"LD_LIBRARY_PATH": str(self.folder)}
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment, timeout=60)

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
                (self.folder / soname).unlink()


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    if not late_sonames(PROGRAM):
        print("SKIPPED: this build links its libraries")
        sys.exit(77)
    unittest.main(verbosity=1)
