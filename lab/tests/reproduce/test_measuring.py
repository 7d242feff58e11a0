# SPDX-License-Identifier: Apache-2.0
"""What `make reproduce` measures by itself, on what is known of it."""

import json
import os
import pathlib
import random
import stat
import struct
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reproduce"))
import cache
import cache_hits
import devices
import neighbours
import receivers


def program(folder, name, text):
    """A shell script that stands for a program."""
    path = pathlib.Path(folder) / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


class CacheHits(unittest.TestCase):
    """By Gumbel's distribution with means of 90 and 200 ns and variations of 0.11 and 0.225."""

    def test_a_hit_and_a_miss_are_alike_at_one_time(self):
        limit = cache_hits.threshold()
        self.assertAlmostEqual(limit, 123.7, delta=0.1)
        self.assertAlmostEqual(cache_hits.below(limit, *cache_hits.gumbel(*cache_hits.MISS)), 0.0071, delta=0.0002)
        self.assertAlmostEqual(1 - cache_hits.below(limit, *cache_hits.gumbel(*cache_hits.HIT)), 0.0071, delta=0.0002)

    def test_the_error_is_that_of_the_two_distributions_and_of_chance(self):
        cache_hits.WINDOWS, before = 200, cache_hits.WINDOWS
        self.addCleanup(setattr, cache_hits, "WINDOWS", before)
        for share, expected in ((0, 0.0072), (0.5, 0.0133)):
            mean, low, high = cache_hits.interval(cache_hits.errors(share, cache_hits.threshold(), random.Random(1)))
            self.assertLess(low, expected * 1.1)
            self.assertGreater(high, expected * 0.9)
            self.assertLess(low, mean)


class Receivers(unittest.TestCase):
    def test_a_capture_is_repeated_packet_for_packet(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.pcap"
            packet = struct.pack("<IIII", 1, 2, 4, 4) + b"abcd"
            path.write_bytes(bytes(24) + 3 * packet)
            self.assertEqual(receivers.repeated(path, 5), 5 * devices.FLOWS)
            self.assertEqual(path.read_bytes(), bytes(24) + 15 * packet)

    def test_a_program_that_fails_gives_no_time(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertGreaterEqual(receivers.cpu_seconds([str(program(folder, "good", "true"))]), 0)
            with self.assertRaisesRegex(RuntimeError, "ended with 3: no file"):
                receivers.cpu_seconds([str(program(folder, "bad", "echo no file >&2; exit 3"))])


class Caches(unittest.TestCase):
    SAYS = (
        'echo "==1== I   refs:      20,550,228\n==1== LL refs:          306,122  (x)\n==1== LL misses:         '
        '60,269  (y)" >&2'
    )

    def counts(self, text):
        with tempfile.TemporaryDirectory() as folder:
            program(folder, "valgrind", text)
            before = os.environ["PATH"]
            os.environ["PATH"] = f"{folder}:{before}"
            try:
                return cache.counts("parshall", 25, 25, 1000)
            finally:
                os.environ["PATH"] = before

    def test_what_valgrind_says_is_read(self):
        self.assertEqual(self.counts(self.SAYS), (20550228, 306122, 60269))

    def test_instructions_that_it_does_not_know_are_said(self):
        with self.assertRaisesRegex(cache.TooNew, "tools/portable.sh"):
            self.counts("kill -ILL $$")
        with self.assertRaisesRegex(RuntimeError, "ended with 1: no memory"):
            self.counts("echo no memory >&2; exit 1")

    def test_sets_of_each_size_are_a_power_of_two(self):
        for size_mb, ways in cache.SIZES_MB.items():
            sets = (size_mb << 20) / 64 / ways
            self.assertEqual(sets, 2 ** round(sets).bit_length() / 2)


class Neighbours(unittest.TestCase):
    def test_they_run_from_when_their_memory_is_theirs_to_the_end_of_the_context(self):
        core = sorted(os.sched_getaffinity(0))[-1]
        with neighbours.Neighbours(4 << 20, [core]) as running:
            one = running._running[0]
            self.assertIsNone(one.poll())
            self.assertEqual(os.sched_getaffinity(one.pid), {core})
        self.assertIsNotNone(one.poll())

    def test_a_table_is_measured_beside_none_to_all_that_have_a_core(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.json"
            parshall = program(
                folder, "parshall", 'echo \'{"machine": {"cores": "2"}, "rows": [{"table": "linear"}]}\''
            )
            with mock.patch.object(neighbours, "MEMORY_MB", 4):
                neighbours.NUMBER.measure(str(parshall), path)
            told = json.loads(path.read_text())
        cores = len(os.sched_getaffinity(0))
        self.assertEqual([row["neighbours"] for row in told["rows"]], list(range(cores)) if cores > 1 else [])
        self.assertEqual(told["missing"] is None, cores > 1)


if __name__ == "__main__":
    unittest.main()
