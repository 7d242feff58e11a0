#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""parshall as it is without DPDK: it asks for none of its libraries, counts, and says what it lacks. Usage:
test_without_dpdk.py PROGRAM"""

import subprocess
import sys
import unittest


class WithoutDpdk(unittest.TestCase):
    def test_asks_for_no_library_of_dpdk(self):
        wanted = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
        self.assertIn("libc.so", wanted)
        self.assertNotIn("librte", wanted)

    def test_counts(self):
        done = subprocess.run(
            [PROGRAM, "watch", "-q", "-g", "flows=1000,packets=10000", "--count", "10000", "--format", "csv"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        self.assertEqual(sum(int(line.split(",")[6]) for line in done.stdout.splitlines()[1:]), 10000)

    def test_a_device_of_dpdk_is_refused_with_what_to_do(self):
        done = subprocess.run(
            [PROGRAM, "watch", "-i", "vdev:net_null0"], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("-Ddpdk=enabled", done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
