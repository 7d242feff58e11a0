# SPDX-License-Identifier: Apache-2.0
"""What the program is built with against memory errors, and who may read what it writes.

usage: test_hardening.py PARSHALL [unittest arguments]
"""

import os
import re
import subprocess
import tempfile
import unittest

from program import DONE, PROGRAM, Case, run


def readelf(what):
    return subprocess.run(["readelf", "--wide", what, PROGRAM], capture_output=True, text=True, check=True).stdout


class Build(unittest.TestCase):
    def setUp(self):
        self.symbols = readelf("--dyn-syms")
        if re.search(r"__(asan|tsan|ubsan)_", self.symbols):
            self.skipTest("sanitizers check by themselves")

    def test_functions_check_their_stack_and_calls_of_the_c_library(self):
        self.assertIn("__stack_chk_fail", self.symbols)
        self.assertRegex(self.symbols, r"__\w+_chk@")

    def test_addresses_of_libraries_are_read_only_once_it_runs(self):
        self.assertIn("GNU_RELRO", readelf("--program-headers"))
        self.assertRegex(readelf("--dynamic"), r"BIND_NOW|FLAGS_1.*NOW")

    def test_it_is_loaded_anywhere_and_no_stack_is_executable(self):
        self.assertRegex(readelf("--file-header"), r"Type:\s+DYN")
        self.assertNotRegex(readelf("--program-headers"), r"GNU_STACK.*RWE")

    def test_places_that_indirect_jumps_may_lead_to_are_marked(self):
        """A note of the file says so only where the C library's own objects are marked, too: Debian 12 has one that is
        not."""
        endbr64 = b"\xf3\x0f\x1e\xfa"
        with open(PROGRAM, "rb") as file:
            self.assertGreater(file.read().count(endbr64), 1000)


class Modes(Case):
    def test_what_is_written_is_for_the_user_and_the_group_alone(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        with tempfile.TemporaryDirectory() as folder:
            capture = f"{folder}/sent.pcap"
            self.assertEqual(run("send", "-g", "flows=10,packets=100", "--count", "100", "-w", capture).status, DONE)
            done = run(
                "watch",
                "-q",
                "-r",
                capture,
                "--export",
                f"csv:{folder}/records.csv",
                "--export",
                f"parquet:{folder}/a/b",
                "--export",
                f"events:{folder}/events",
                "--task",
                "count",
                "-o",
                f"{folder}/report",
            )
            self.assertEqual(done.status, DONE, done.lines)
            for path, folders, files in os.walk(folder):
                for name in files:
                    self.assertEqual(os.stat(f"{path}/{name}").st_mode & 0o777, 0o640, name)
                for name in folders:
                    self.assertEqual(os.stat(f"{path}/{name}").st_mode & 0o777, 0o750, name)
            self.assertTrue(os.path.isdir(f"{folder}/a/b"))


if __name__ == "__main__":
    unittest.main()
