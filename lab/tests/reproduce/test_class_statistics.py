# SPDX-License-Identifier: Apache-2.0
"""What lab/docs/accuracy-classes.md says of flows told right: shares, intervals by captures, and which flows have a
label.

usage: test_class_statistics.py [unittest arguments]; SKIPPED without NumPy
"""

import gzip
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "reproduce"))

try:
    import numpy
except ImportError:
    print("SKIPPED: no NumPy")
    sys.exit(0)

import class_flows
import class_models
import class_statistics as statistics


class Intervals(unittest.TestCase):
    def test_are_of_captures_and_not_of_flows(self):
        """400 flows all alike within 4 captures are 4 observations; in 400 captures they are 400."""
        right = numpy.repeat([1.0, 1.0, 0.0, 1.0], 100)
        few = statistics.share(statistics.Draws(numpy.repeat(list("abcd"), 100)), right)
        many = statistics.share(statistics.Draws(numpy.arange(400)), right)
        self.assertEqual(few[0], 0.75)
        self.assertEqual((few[1], few[2]), (0.25, 1.0))
        self.assertAlmostEqual(many[1], 0.75 - 1.96 * (0.75 * 0.25 / 400) ** 0.5, delta=0.01)
        self.assertAlmostEqual(many[2], 0.75 + 1.96 * (0.75 * 0.25 / 400) ** 0.5, delta=0.01)

    def test_of_a_difference_are_of_the_same_draws(self):
        """Two models of which one is right where the other is, and in each tenth capture besides: their own intervals
        overlap."""
        chance = numpy.random.default_rng(2)
        a = chance.random(500) < 0.5
        b = a & (numpy.arange(500) % 10 != 0)
        draws = statistics.Draws(numpy.arange(500))
        value, low, high = statistics.difference(draws, a, b)
        self.assertAlmostEqual(value, a.mean() - b.mean())
        self.assertGreater(low, 0)
        self.assertGreater(statistics.share(draws, b)[2], statistics.share(draws, a)[1])
        self.assertLess(high, 0.1)

    def test_shares_by_weight_count_what_flows_carry(self):
        draws = statistics.Draws(numpy.array(list("aabb")))
        self.assertEqual(
            statistics.share(draws, numpy.array([True, False, True, False]), numpy.array([3.0, 1, 3, 1])),
            (0.75, 0.75, 0.75),
        )

    def test_macro_f1_is_the_mean_of_classes_and_unknown_is_no_class(self):
        """Class 0: 2 hits, 3 taken, 2 there: 0.8. Class 1: 1 hit, 1 taken, 3 there: 0.5. Class 2 has no flows."""
        classes, predicted = numpy.array([0, 0, 1, 1, 1]), numpy.array([0, 0, 0, 1, -1])
        for count in (2, 3):
            self.assertAlmostEqual(
                statistics.macro_f1(statistics.Draws(numpy.arange(5)), classes, predicted, count)[0], 0.65
            )

    def test_reject_leaves_out_what_is_less_probable(self):
        right, likeliest = numpy.array([True, False, True, True]), numpy.array([0.9, 0.5, 0.7, 0.3])
        self.assertEqual(
            statistics.reject_curve(right, likeliest, (0, 0.5, 0.7, 0.95)),
            [(1, 0.75), (0.75, 2 / 3), (0.5, 1), (0, None)],
        )


class Flows(unittest.TestCase):
    def test_have_the_label_of_their_connection_in_either_direction_unless_lines_differ(self):
        head = "file\tproto\tclient\tcport\tserver\tsport\tmaster"
        lines = [
            "a.pcap\t6\t10.0.0.1\t1000\t10.0.0.2\t80\tHTTP",
            "a.pcap\t17\tfe80::0:1\t5\tfe80::2\t53\tDNS",
            "a.pcap\t6\t10.0.0.1\t7\t10.0.0.2\t8\tTLS",
            "a.pcap\t6\t10.0.0.2\t8\t10.0.0.1\t7\tSSH",
            "a.pcap\t6\t10.0.0.9\t1\t10.0.0.2\t8\tUnknown",
        ]
        with tempfile.TemporaryDirectory() as folder:
            with gzip.open(pathlib.Path(folder) / "labels.tsv.gz", "wt") as file:
                file.write("\n".join([head, *lines]) + "\n")
            classes = class_flows.classes_by_connection(pathlib.Path(folder))
        find = lambda protocol, *ends: classes.get(class_flows.connection("a.pcap", protocol, *ends), "absent")
        self.assertEqual(find("6", ("10.0.0.2", "80"), ("10.0.0.1", "1000")), "HTTP")
        self.assertEqual(find("17", ("fe80::2", "53"), ("fe80::1", "5")), "DNS")
        self.assertIsNone(find("6", ("10.0.0.1", "7"), ("10.0.0.2", "8")))
        self.assertEqual(find("6", ("10.0.0.9", "1"), ("10.0.0.2", "8")), "absent")
        self.assertEqual(find("17", ("10.0.0.2", "80"), ("10.0.0.1", "1000")), "absent")


class Others(unittest.TestCase):
    def test_never_tell_flows_by_their_own_fold(self):
        """A flow's sizes say its class, but each class is in one fold alone: none can be right."""
        folds = numpy.repeat(numpy.arange(class_models.FOLDS), 4)
        sizes = numpy.tile(100 + folds[:, None], (1, class_models.PACKETS))
        told = class_models.Told([str(fold) for fold in range(class_models.FOLDS)], folds, folds, folds, None)
        for name in ("majority", "histograms", "backing-off"):
            self.assertEqual(
                (class_models.cross_validated(class_models.OTHERS[name], sizes, told) == folds).sum(), 0, name
            )

    def test_tell_what_they_have_seen_in_other_folds(self):
        classes = numpy.tile([0, 1, 2], 20)
        sizes = 60 + 10 * classes[:, None] + numpy.arange(class_models.PACKETS)
        told = class_models.Told(list("abc"), classes, classes, numpy.arange(60) % class_models.FOLDS, None)
        for name in ("histograms", "backing-off"):
            self.assertEqual(
                (class_models.cross_validated(class_models.OTHERS[name], sizes, told) == classes).sum(), 60, name
            )


if __name__ == "__main__":
    unittest.main()
