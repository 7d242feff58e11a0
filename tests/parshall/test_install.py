#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The installed library: examples/library is compiled against nothing but an installed copy, and counts every packet.
Usage: test_install.py BUILD"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def output_of(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120, **more).stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="parshall-install-")
        root = pathlib.Path(cls.folder.name)
        output_of("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", str(root))
        found = next(root.rglob("parshall.pc"))
        pkg_config = {**os.environ, "PKG_CONFIG_PATH": str(found.parent), "PKG_CONFIG_SYSROOT_DIR": str(root)}
        flags = output_of("pkg-config", "--cflags", "--libs", "parshall", env=pkg_config).split()
        cls.program = str(root / "talkers")
        output_of(
            "c++",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-o",
            cls.program,
            str(ROOT / "examples/library/talkers.cpp"),
            *flags,
            cwd=root,
        )
        cls.env = {**os.environ, "LD_LIBRARY_PATH": str(found.parents[1])}
        cls.capture = str(root / "some.pcap")
        output_of(
            str(BUILD / "parshall"),
            "send",
            "-g",
            "flows=1000,packets=20000,seed=1",
            "--count",
            "20000",
            "-w",
            cls.capture,
            "-q",
        )

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_it(self, *words):
        return subprocess.run(
            [self.program, *words], env=self.env, capture_output=True, text=True, timeout=60, check=False
        )

    def test_a_program_of_others_has_every_packet(self):
        done = self.run_it(self.capture)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        *talkers, last = done.stdout.splitlines()
        self.assertRegex(last, r"^20000 packets counted, 20000 in \d+ records written$")
        counted = output_of(
            str(BUILD / "parshall"), "watch", "-q", "-r", self.capture, "--key", "src", "--format", "csv"
        ).splitlines()[1:]
        self.assertEqual(
            sorted(int(line.split()[1]) for line in talkers), sorted(int(line.split(",")[8]) for line in counted)
        )

    def test_what_is_wrong_is_said(self):
        done = self.run_it("/no/such/file")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/no/such/file", done.stderr)

    def test_one_of_a_broken_capture_is_measured_up_to_there(self):
        broken = self.capture + ".cut"
        with open(self.capture, "rb") as whole, open(broken, "wb") as cut:
            cut.write(whole.read()[:-10])
        done = self.run_it(broken)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("19999 packets counted", done.stdout)
        self.assertIn(broken, done.stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
