#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that are alone: which of those that fail are run again."""

import contextlib
import ctypes
import io
import pathlib
import signal
import sys
import time
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "live"))
import side_by_side


class OneByOne(unittest.TestCase):
    def outcome(self, fails, held_up_s):
        """Of a test that fails so often, each time on a machine that holds it up for so long: whether it passes, how
        often it ran, and what is told."""
        runs, times = [], iter(held_up_s)

        class Sample(unittest.TestCase):
            def test(self):
                runs.append(1)
                self.assertGreater(len(runs), fails)

        @contextlib.contextmanager
        def held_up():
            yield mock.Mock(seconds=next(times))

        said = io.StringIO()
        with mock.patch.object(side_by_side, "HeldUp", held_up), contextlib.redirect_stdout(said):
            result = unittest.TextTestRunner(stream=io.StringIO()).run(side_by_side.OneByOne([Sample("test")]))
        self.assertEqual(result.testsRun, 1)
        return result.wasSuccessful(), len(runs), said.getvalue().count("AGAIN")

    def test_one_that_fails_on_a_quiet_machine_fails(self):
        self.assertEqual(self.outcome(1, [0.001]), (False, 1, 0))

    def test_one_that_fails_while_the_machine_holds_it_up_is_run_again_and_told(self):
        self.assertEqual(self.outcome(2, [0.1, 0.1, 0.1]), (True, 3, 2))

    def test_it_fails_where_it_does_so_on_a_quiet_machine_then(self):
        self.assertEqual(self.outcome(9, [0.1, 0.001]), (False, 2, 1))

    def test_it_is_not_run_for_ever(self):
        self.assertEqual(self.outcome(99, [0.1] * 99), (False, side_by_side.ATTEMPTS, side_by_side.ATTEMPTS - 1))

    def test_one_that_passes_is_not_run_again(self):
        self.assertEqual(self.outcome(0, [0.1]), (True, 1, 0))

    def test_one_that_is_skipped_is_so(self):
        class Sample(unittest.TestCase):
            @unittest.skip("SKIPPED: of a sample")
            def test(self):
                raise AssertionError

        self.assertEqual(
            len(unittest.TextTestRunner(stream=io.StringIO()).run(side_by_side.OneByOne([Sample("test")])).skipped), 1
        )


class HeldUp(unittest.TestCase):
    def test_a_process_that_was_stopped_was_held_up(self):
        with side_by_side.HeldUp() as held_up:
            time.sleep(0.05)
            held_up._watch.send_signal(signal.SIGSTOP)
            time.sleep(0.2)
            held_up._watch.send_signal(signal.SIGCONT)
        self.assertGreater(held_up.seconds, 0.19)

    def test_what_keeps_the_interpreters_lock_holds_up_nothing(self):
        """Were its threads of this process, they would wait for all that is slept here; so they do for what others have
        of the cores."""
        with side_by_side.HeldUp() as held_up:
            ctypes.PyDLL(None).usleep(500_000)
        self.assertLess(held_up.seconds, 0.45)


if __name__ == "__main__":
    unittest.main()
