# SPDX-License-Identifier: Apache-2.0
"""What the launcher becomes, among programs that only say which they are.

usage: test_launcher.py LAUNCHER [unittest arguments]
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LAUNCHER = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
# What each needs of /proc/cpuinfo, from the best on: an oracle that shares nothing with the compiler's.
NEEDS = {
    "avx512": "avx512f avx512bw avx512cd avx512dq avx512vl aes pclmulqdq vaes vpclmulqdq gfni avx512vbmi",
    "avx2": "avx2 bmi1 bmi2 fma f16c movbe abm aes pclmulqdq",
    "sse4.2": "sse4_2 sse4_1 ssse3 popcnt cx16",
}


def here():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            flags = set(line.split())
            return [isa for isa, needs in NEEDS.items() if set(needs.split()) <= flags]
    raise AssertionError("no flags in /proc/cpuinfo")


class Launcher(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "bin").mkdir()
        shutil.copy(LAUNCHER, self.root / "bin" / "parshall")

    def put(self, *isas, program="parshall"):
        for isa in isas:
            folder = self.root / "lib" / "parshall" / isa
            folder.mkdir(parents=True, exist_ok=True)
            (folder / program).write_text(f'#!/bin/sh\necho "{isa}" "$@"\nexit 7\n')
            (folder / program).chmod(0o755)

    def run_it(self, *arguments, isa=None, program="parshall", **environment):
        environment = {**os.environ, **environment}
        environment.pop("PARSHALL_ISA", None)
        if isa is not None:
            environment["PARSHALL_ISA"] = isa
        done = subprocess.run(
            [self.root / "bin" / program, *arguments], capture_output=True, text=True, env=environment, check=False
        )
        return done.returncode, done.stdout.strip(), done.stderr.strip()

    def test_it_becomes_the_best_with_its_arguments_and_status(self):
        self.put(*NEEDS)
        self.assertEqual(self.run_it("watch", "a b"), (7, f"{here()[0]} watch a b", ""))
        self.assertEqual(self.run_it(isa=""), (7, here()[0], ""))

    def test_each_can_be_asked_for(self):
        self.put(*NEEDS)
        for isa in here():
            self.assertEqual(self.run_it(isa=isa), (7, isa, ""))

    def test_what_the_processor_has_not_is_refused(self):
        self.put(*NEEDS)
        for isa in set(NEEDS) - set(here()):
            status, out, error = self.run_it(isa=isa)
            self.assertEqual((status, out), (1, ""))
            self.assertEqual(error, f"parshall: this CPU does not support {isa}; it supports {', '.join(here())}")

    def test_an_unknown_one_is_wrong_usage(self):
        self.put(*NEEDS)
        status, out, error = self.run_it(isa="avx1024")
        self.assertEqual((status, out), (2, ""))
        self.assertEqual(error, f"parshall: PARSHALL_ISA=avx1024 is unknown; this CPU supports {', '.join(here())}")

    def test_where_the_best_is_not_installed_the_next_is_taken(self):
        self.put(here()[-1])
        self.assertEqual(self.run_it(), (7, here()[-1], ""))

    def test_one_asked_for_that_is_not_installed_is_an_error(self):
        status, out, error = self.run_it(isa=here()[-1])
        self.assertEqual((status, out), (1, ""))
        self.assertIn("No such file", error)

    def test_one_that_cannot_be_run_is_an_error_and_not_passed_over(self):
        self.put(*NEEDS)
        (self.root / "lib" / "parshall" / here()[0] / "parshall").write_bytes(b"\x7fELF")
        status, out, error = self.run_it()
        self.assertEqual((status, out), (1, ""))
        self.assertIn("Exec format error", error)

    def test_nothing_installed_is_an_error(self):
        status, out, error = self.run_it()
        self.assertEqual((status, out), (1, ""))
        folder = self.root / "lib" / "parshall"
        self.assertEqual(
            error, f"parshall: no build for this CPU ({', '.join(here())}) is in {folder}/; install Parshall again"
        )

    def test_each_program_has_a_launcher_of_its_name(self):
        self.put(*NEEDS)
        self.put(*NEEDS, program="parshall-lab")
        (self.root / "lib" / "parshall" / here()[0] / "parshall-lab").write_text("#!/bin/sh\necho lab\n")
        shutil.copy(LAUNCHER, self.root / "bin" / "parshall-lab")
        self.assertEqual(self.run_it(program="parshall-lab"), (0, "lab", ""))

    def test_a_link_of_another_name_starts_the_same_program(self):
        self.put(*NEEDS)
        (self.root / "bin" / "flows").symlink_to("parshall")
        self.assertEqual(self.run_it("watch", program="flows"), (7, f"{here()[0]} watch", ""))

    def test_it_is_found_through_a_link_from_elsewhere_and_by_path(self):
        self.put(*NEEDS)
        elsewhere = self.root / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "parshall").symlink_to(self.root / "bin" / "parshall")
        done = subprocess.run(
            ["parshall"], capture_output=True, text=True, env={"PATH": f"{elsewhere}:/bin:/usr/bin"}, check=False
        )
        self.assertEqual(done.stdout.strip(), here()[0])


if __name__ == "__main__":
    unittest.main()
