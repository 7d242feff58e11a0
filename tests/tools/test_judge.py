# SPDX-License-Identifier: Apache-2.0
"""What `make reproduce` makes of figures."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools" / "reproduce"))
from judge import FAILS, HOLDS, OPEN, agreed, at_most, below, conclusion, difference, sure, under  # noqa: E402


def cost(low, median, high, column="ns"):
    return {column: median, f"low_{column}": low, f"high_{column}": high}


class Judge(unittest.TestCase):
    def test_an_order_is_told_where_intervals_do_not_meet(self):
        self.assertEqual(below(cost(1, 2, 3), cost(4, 5, 6)), 1)
        self.assertEqual(below(cost(4, 5, 6), cost(1, 2, 3)), -1)
        self.assertEqual(below(cost(1, 2, 4), cost(4, 5, 6)), 0)
        self.assertEqual(below({"ns": 1}, {"ns": 2}), 1, "without intervals the figures are compared")

    def test_cycles_of_neighbouring_buckets_are_no_order(self):
        def p99(cycles):
            return cost(cycles, cycles, cycles, "p99_cycles")
        self.assertEqual(below(p99(20), p99(22), "p99_cycles"), 0)
        self.assertEqual(below(p99(20), p99(24), "p99_cycles"), 1)
        self.assertEqual(below(p99(24), p99(20), "p99_cycles"), -1)

    def test_a_factor_is_kept_or_not_or_it_cannot_be_told(self):
        self.assertEqual(at_most(cost(1, 2, 3), cost(3, 4, 5), 1), 1)
        self.assertEqual(at_most(cost(7, 8, 9), cost(3, 4, 5), 1.25), -1)
        self.assertEqual(at_most(cost(4, 5, 6), cost(3, 4, 5), 1.25), 0)

    def test_a_bound_is_kept_or_not_or_it_cannot_be_told(self):
        self.assertEqual([under(cost(1, 2, 3), most) for most in (4, 2.5, 0.5)], [1, 0, -1])

    def test_a_difference_is_as_wide_as_both_intervals_allow(self):
        self.assertEqual(difference(cost(5, 6, 7), cost(1, 2, 4)), cost(1, 4, 6))

    def test_only_what_all_passes_say_counts(self):
        self.assertEqual(agreed([[1, 1, -1, 0, -1], [1, 0, -1, 0, 1]]), [1, 0, -1, 0, 0])
        with self.assertRaises(ValueError):
            agreed([[1], [1, 1]])

    def test_conclusions(self):
        self.assertEqual(conclusion([1, 1]), HOLDS)
        self.assertEqual(conclusion([0, 0]), OPEN)
        self.assertEqual(conclusion([-1, 0]), FAILS)
        self.assertIn("1 of 3 comparisons, 1 the other way", conclusion([1, 0, -1]))
        self.assertEqual(conclusion([1, 1, 0]), "holds where it can be told (2 of 3 comparisons)")
        self.assertEqual([sure(True), sure(False)], [1, -1])


if __name__ == "__main__":
    unittest.main()
