# SPDX-License-Identifier: Apache-2.0
"""What `make reproduce` makes of comparisons."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reproduce"))
from comparing import at_most, below, counted, difference, estimate, over, reaches, under, untold, widened
from judge import FAILS, HOLDS, IN_PART, NOT_DECIDED, Answer, Comparison, Conclusion, Estimate, Of

AGREES, OPEN, DISAGREES = Answer.AGREES, Answer.OPEN, Answer.DISAGREES


def cost(low, median, high, column="ns"):
    return {column: median, f"low_{column}": low, f"high_{column}": high}


def about(value, column="ns", share=0.02):
    return cost((1 - share) * value, value, (1 + share) * value, column)


def order(less, more):
    return below("x", less, more).answer()


def verdict(*comparisons):
    return Conclusion(comparisons).verdict()


class Comparisons(unittest.TestCase):
    def test_an_order_is_told_where_intervals_do_not_meet(self):
        self.assertEqual(order(cost(1, 2, 3), cost(4, 5, 6)), AGREES)
        self.assertEqual(order(cost(4, 5, 6), cost(1, 2, 3)), DISAGREES)
        self.assertEqual(order(cost(1, 2, 4), cost(4, 5, 6)), OPEN)
        self.assertEqual(order({"ns": 1}, {"ns": 2}), AGREES, "without intervals the figures are compared")
        self.assertEqual(order({"ns": 2}, {"ns": 2}), OPEN)

    def test_cycles_of_neighbouring_buckets_are_no_order(self):
        def p99(less, more):
            return below(
                "x", *(cost(cycles, cycles, cycles, "p99_cycles") for cycles in (less, more)), "p99_cycles"
            ).answer()

        self.assertEqual([p99(20, 22), p99(20, 24), p99(24, 20)], [OPEN, AGREES, DISAGREES])

    def test_a_factor_is_kept_or_not_or_it_cannot_be_told(self):
        def kept(less, more, factor):
            return at_most("x", less, more, factor).answer()

        self.assertEqual(kept(cost(1, 2, 3), cost(3, 4, 5), 1), AGREES)
        self.assertEqual(kept(cost(7, 8, 9), cost(3, 4, 5), 1.25), DISAGREES)
        self.assertEqual(kept(cost(4, 5, 6), cost(3, 4, 5), 1.25), OPEN)

    def test_nothing_is_no_share_of_nothing(self):
        self.assertEqual(at_most("x", {"lost": 0}, {"lost": 0}, 0.5, "lost").answer(), OPEN)
        self.assertEqual(at_most("x", {"lost": 0}, cost(0, 2, 3, "lost"), 0.5, "lost").answer(), OPEN)
        self.assertEqual(at_most("x", {"lost": 0}, cost(1, 2, 3, "lost"), 0.5, "lost").answer(), AGREES)

    def test_what_was_measured_without_an_interval_is_open_unless_it_is_counted(self):
        lost, kept = ({"lost": lost, "exact": frozenset()} for lost in (1, 2))
        self.assertEqual(below("x", lost, kept, "lost").answer(), OPEN)
        self.assertEqual(below("x", *({**row, "exact": {"lost"}} for row in (lost, kept)), "lost").answer(), AGREES)
        self.assertEqual(below("x", *({**row, "exact": {"lost"}} for row in (kept, lost)), "lost").answer(), DISAGREES)

    def test_a_bound_is_kept_or_not_or_it_cannot_be_told(self):
        row = cost(1, 2, 3)
        self.assertEqual([under("x", row, most).answer() for most in (4, 2.5, 0.5)], [AGREES, OPEN, DISAGREES])
        self.assertEqual([over("x", row, least).answer() for least in (0.5, 2.5, 4)], [AGREES, OPEN, DISAGREES])
        self.assertEqual([reaches("x", {"ns": 0.99}, least, "ns").answer() for least in (0.99, 1)], [AGREES, DISAGREES])

    def test_a_difference_is_as_wide_as_both_intervals_allow(self):
        self.assertEqual({**cost(1, 4, 6), "of": Of.ROUNDS}, difference(cost(5, 6, 7), cost(1, 2, 4)))
        self.assertEqual(cost(5, 10, 20), widened(cost(10, 10, 10), 2))

    def test_what_cannot_be_measured_is_open_and_what_is_counted_is_not(self):
        self.assertEqual(order({"ns": None}, {"ns": 1}), OPEN)
        self.assertEqual(untold("x").answer(), OPEN)
        self.assertEqual([counted("x", truth).answer() for truth in (True, False)], [AGREES, DISAGREES])

    def test_an_interval_says_what_it_is_of(self):
        rows = (
            {"ns": 1},
            cost(1, 2, 3),
            {**cost(1, 2, 3), "interval_of": "RUNS"},
            {**cost(1, 2, 3), "of": Of.CAPTURES},
            {"ns": None},
        )
        self.assertEqual(
            [estimate(row, "ns").of for row in rows], [Of.COUNT, Of.ROUNDS, Of.RUNS, Of.CAPTURES, Of.COUNT]
        )

    def test_an_interval_without_its_value_is_refused(self):
        with self.assertRaisesRegex(ValueError, "not within its interval"):
            Estimate(1, 2, 3, Of.RUNS)
        with self.assertRaisesRegex(ValueError, "factor"):
            Comparison("x", Estimate(1, 1, 1, Of.RUNS), Estimate(1, 1, 1, Of.RUNS), factor=0)


class Verdicts(unittest.TestCase):
    YES, NO, MAYBE = (
        below(name, *rows)
        for name, rows in (
            ("yes", ({"ns": 1}, {"ns": 2})),
            ("no", ({"ns": 2}, {"ns": 1})),
            ("maybe", ({"ns": 1}, {"ns": 1})),
        )
    )
    HEAD_YES, HEAD_NO = (counted(name, truth, headline=True) for name, truth in (("head", True), ("head", False)))
    HEAD_MAYBE = untold("head", headline=True)

    def answers(self, expected, *comparisons):
        self.assertEqual(verdict(*comparisons).answer, expected)

    def test_a_conclusion_holds_with_its_headline_and_most_of_the_others(self):
        self.answers(HOLDS, self.HEAD_YES)
        self.answers(HOLDS, self.HEAD_YES, self.YES, self.YES, self.MAYBE)
        self.answers(IN_PART, self.HEAD_YES, self.YES, self.MAYBE)
        self.answers(IN_PART, self.HEAD_YES, self.YES, self.YES, self.YES, self.NO)

    def test_nothing_holds_whose_headline_is_the_other_way(self):
        self.answers(FAILS, self.HEAD_NO, self.YES, self.YES, self.YES)
        self.answers(IN_PART, self.HEAD_NO, self.HEAD_YES)

    def test_an_open_headline_decides_nothing_whatever_the_others_say(self):
        self.answers(NOT_DECIDED, self.HEAD_MAYBE, self.YES, self.YES)
        self.answers(NOT_DECIDED, self.HEAD_MAYBE, self.NO)
        self.answers(IN_PART, self.HEAD_MAYBE, self.HEAD_YES)
        self.answers(FAILS, self.HEAD_MAYBE, self.HEAD_NO)

    def test_the_sentence_has_the_claims_by_their_answer_with_numbers(self):
        self.assertEqual(
            verdict(self.HEAD_YES, self.YES, self.NO, self.MAYBE).why,
            "**head** (counted), yes (1 ns against 2 ns). Refuted: no (2 ns against 1 ns). Undecided: 1 claim.",
        )
        self.assertEqual(
            verdict(self.HEAD_YES, *4 * [self.YES]).why, "**head** (counted), yes (1 ns against 2 ns), and 3 more."
        )
        self.assertEqual(
            verdict(self.HEAD_NO, *4 * [self.NO]).why, "**head** (counted), no (2 ns against 1 ns), and 3 more."
        )

    def test_a_verdict_begins_with_the_claims_that_decide_it(self):
        self.assertTrue(verdict(self.HEAD_NO, self.YES).why.startswith("**head** (counted). Confirmed: 1 claim."))
        self.assertTrue(
            verdict(self.HEAD_MAYBE, self.YES, self.NO).why.startswith(
                "**head** (not measured). Confirmed: 1 claim. Refuted: no (2 ns against 1 ns)."
            )
        )

    def test_a_limit_and_a_difference_are_named(self):
        self.assertEqual(
            verdict(
                under(
                    "the longest takes 10 us at most", cost(27, 28, 29, "longest_us"), 10, "longest_us", headline=True
                )
            ).why,
            "**the longest takes 10 us at most** (28 us, limit 10 us).",
        )
        self.assertEqual(
            verdict(over("a tenth is lost", {"lost_share": 0.2}, 0.1, "lost_share", headline=True)).why,
            "**a tenth is lost** (20 %, limit 10 %).",
        )

    def test_a_conclusion_without_a_headline_is_refused(self):
        with self.assertRaisesRegex(ValueError, "headline"):
            Conclusion((self.YES,))


class RowsThatContradictedTheirVerdicts(unittest.TestCase):
    """What pages once called `holds`, by the figures that stood beside it."""

    def test_two_queues_do_not_lose_least_where_one_costs_least(self):
        rows = {queues: widened(about(ns), 1.04) for queues, ns in ((1, 1.9), (2, 2.5), (4, 2.9), (8, 3.4))}
        told = verdict(
            *(
                below(f"two queues below {queues}", rows[2], row, headline=queues == 1)
                for queues, row in rows.items()
                if queues != 2
            )
        )
        self.assertEqual(told.answer, FAILS)
        self.assertIn("**two queues below 1** (2.5 ns against 1.9 ns). Confirmed: 2 claims.", told.why)

    def test_an_order_of_models_that_is_reversed_does_not_hold(self):
        rows = {"run-to-completion": about(65.6, "mpps"), "pipeline": about(45.4, "mpps")}
        told = verdict(
            below(
                "run to completion below the pipeline",
                rows["run-to-completion"],
                rows["pipeline"],
                "mpps",
                headline=True,
            ),
            at_most(
                "SCHED_OTHER loses a thousandth of SCHED_DEADLINE",
                {"loss": 1e-6},
                {"loss": 0.57},
                1e-3,
                "loss",
                headline=True,
            ),
        )
        self.assertEqual(told.answer, IN_PART)
        self.assertIn("Refuted: **run to completion below the pipeline** (65.6 Mpps against 45.4 Mpps).", told.why)

    def test_watching_that_takes_a_quarter_of_the_connections_disturbs(self):
        pairs = {1: (10428, 14856), 100: (24589, 18261), 1000: (29372, 16656)}
        told = verdict(
            *(
                at_most(
                    f"{clients} clients",
                    about(alone, "per_s"),
                    about(watched, "per_s"),
                    1 / 0.9,
                    "per_s",
                    headline=clients != 1,
                )
                for clients, (alone, watched) in pairs.items()
            )
        )
        self.assertEqual(told.answer, FAILS)
        self.assertIn("**100 clients** (24,589/s against 1.11 × 18,261/s), **1000 clients**", told.why)


if __name__ == "__main__":
    unittest.main()
