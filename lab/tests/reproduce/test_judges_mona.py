# SPDX-License-Identifier: Apache-2.0
"""Rules of MONA's own by which its figures are judged, on rows that are made up."""

import pathlib
import statistics
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reproduce"))
from judge import FAILS, HOLDS, NOT_DECIDED, Answer
from mona_estimates import figure_5a, figure_5b, figure_5c, figure_9a
from mona_losses import HALF_LOST, NOTHING_LOST, figure_7, figure_7_skew, figure_11a
from mona_rows import between, known, pooled, total
from mona_satisfaction import figure_8, figure_8_all
from paper import NotYet
from rows import MissingRows, Rows, over_runs
from verdicts import answers, verdict

AGREES, OPEN, DISAGREES = Answer.AGREES, Answer.OPEN, Answer.DISAGREES


class Estimates(unittest.TestCase):
    def test_rows_of_the_same_runs_are_pooled_within_each(self):
        """Two that go up and down against each other: their mean stays."""
        runs = [
            Rows([{"task": "a", "s": 1.0 + way}, {"task": "b", "s": 3.0 - way}]) for way in (0.1, 0.5, 0.2, 0.4, 0.3)
        ]
        mean, middle = (pooled(over_runs(runs).all, "s", of) for of in (statistics.fmean, max))
        self.assertEqual([round(mean[name], 9) for name in ("s", "low_s", "high_s")], [2, 2, 2])
        self.assertEqual([round(middle[name], 9) for name in ("s", "low_s", "high_s")], [2.7, 2.5, 2.9])
        other = over_runs(runs).all
        self.assertEqual(
            pooled([*over_runs(runs).all, *other], "s")["each"]["s"], mean["each"]["s"], "of two runs of a pass"
        )

    def test_others_by_each_of_their_ends(self):
        rows = [{"s": value, "low_s": value - 1, "high_s": value + 2} for value in (5, 1, 2)]
        found = pooled(rows, "s", statistics.median)
        self.assertEqual([found[name] for name in ("s", "low_s", "high_s")], [2, 1, 4])
        with self.assertRaises(MissingRows):
            pooled([], "s")

    def test_the_chances_of_what_is_simulated_make_up_for_each_other(self):
        rows = [
            {"s": value, "low_s": value - half, "high_s": value + half, "interval_of": "WINDOWS"}
            for value, half in ((1, 0.3), (2, 0.4))
        ]
        found = pooled(rows, "s")
        self.assertEqual([round(found[name], 9) for name in ("s", "low_s", "high_s")], [1.5, 1.25, 1.75])

    def test_rows_of_which_too_few_runs_know_a_value_are_left_out_where_there_are_others(self):
        none, few, enough, same = {"e": None}, {"e": 1}, {"e": 2, "low_e": 1, "high_e": 3}, {"e": 4, "exact": {"e"}}
        self.assertEqual(known([none, few, enough, same], "e"), [enough, same])
        self.assertEqual(known([none, few], "e"), [few])

    def test_shares_add_up_in_each_run_else_with_their_ends(self):
        one = total({"a": 0.2, "low_a": 0.1, "high_a": 0.4, "b": 0.05}, "a", "b")
        self.assertEqual([round(one[end], 9) for end in ("total", "low_total", "high_total")], [0.25, 0.15, 0.45])
        runs = [Rows([{"task": "x", "a": 0.1 * number, "b": 0.5 - 0.1 * number, "c": 0.0}]) for number in range(5)]
        one = total(over_runs(runs).all[0], "a", "b", "c")
        self.assertEqual([round(one[end], 9) for end in ("total", "low_total", "high_total")], [0.5, 0.5, 0.5])

    def test_between_two_points_is_what_lies_on_the_line_and_outside_there_is_nothing(self):
        points = [(0.2, 0.8), (0.6, 0.4), (0.8, 0.0)]
        self.assertEqual([round(between(points, x), 9) for x in (0.2, 0.3, 0.7)], [0.8, 0.7, 0.2])
        self.assertEqual([between(points, x) for x in (0.1, 0.9)], [None, None])


def loss_row(mode, lost, shed=0.0, **more):
    return {
        "scenario": "skew",
        "queue_packets": 4096,
        "mode": mode,
        "task": "heavy-hitters",
        "missed_later_share": lost,
        "shed_share": shed,
        **more,
    }


class Losses(unittest.TestCase):
    def of(self, static, adapted, shed=0.0):
        return figure_7("skew", "note", NOTHING_LOST, HALF_LOST)(
            {"loss": Rows([loss_row("no-adapt", static), loss_row("adapt-only", adapted, shed)])}
        )

    def test_adaptation_loses_nothing_only_where_there_is_something_to_lose(self):
        self.assertEqual(verdict(self.of(0.2, 0.0005)), HOLDS)
        self.assertEqual(verdict(self.of(0.2, 0.15)), FAILS)
        self.assertEqual(verdict(self.of(0.0009, 0.0)), NOT_DECIDED)

    def test_what_is_shed_is_lost(self):
        self.assertEqual(verdict(self.of(0.2, 0.0, shed=0.15)), FAILS)

    def test_losses_begin_at_a_lower_skew_and_not_above_1_1(self):
        def begins(static, adapted):
            rows = [loss_row("no-adapt", 0.1, skew_at_loss=static), loss_row("adapt-only", 0.01, skew_at_loss=adapted)]
            return list(answers(figure_7_skew({"loss": Rows(rows)})).values())

        self.assertEqual(begins(1.25, 1.12), [AGREES, AGREES])
        self.assertEqual(begins(1.25, 1.2), [AGREES, DISAGREES])
        self.assertEqual(begins(1.05, 1.08), [DISAGREES, AGREES])
        self.assertEqual(begins(1.25, None), [OPEN, OPEN])

    def test_a_skew_that_no_run_knows_is_not_told_as_0(self):
        rows = [loss_row("no-adapt", 0.1, skew_at_loss=1.25), loss_row("adapt-only", 0.01, skew_at_loss=None)]
        self.assertIn(
            "queue of 4096: 1.25 without adaptation, not known with it", figure_7_skew({"loss": Rows(rows)}).text
        )

    def test_with_a_filter_a_flood_costs_a_hundredth_more_than_none_at_most(self):
        def of(without, filtered, none=0.0):
            rows = [
                {
                    "mode": "accuracy",
                    "task": "heavy-hitters",
                    "flood_share": share,
                    "filter_bytes": size,
                    "missed_share": lost,
                    "shed_share": 0.0,
                }
                for share, size, lost in ((0.0, 0, none), (0.0, 128, none), (0.8, 0, without), (0.8, 128, filtered))
            ]
            return answers(figure_11a({"flood": Rows(rows)}))[
                "with a filter a flood of 80 % costs no more than none and a hundredth of the packets"
            ]

        self.assertEqual(
            [of(0.5, 0.005), of(0.0, 0.02), of(0.5, 0.105, none=0.1), of(0.5, 0.12, none=0.1)],
            [AGREES, DISAGREES, AGREES, DISAGREES],
        )


class Satisfaction(unittest.TestCase):
    def test_no_control_is_better_than_what_finds_enough_all_the_time(self):
        rows = [
            {
                "states": "chain",
                "task": "bursty",
                "load": 2.2,
                "mode": mode,
                "satisfaction_by_recall": by_recall,
                "satisfaction": 0.5,
            }
            for mode, by_recall in (("no-adapt", 1.0), ("adapt-only", 0.3), ("accuracy", 1.0))
        ]
        self.assertEqual(
            list(answers(figure_8("chain", "bursty")({"dynamic": Rows(rows)})).values()), [DISAGREES, AGREES]
        )

    def test_nothing_is_no_multiple_of_nothing(self):
        rows = [
            {"mode": mode, "satisfaction_by_recall": 0.0, "satisfaction": 0.0}
            for mode in ("no-adapt", "adapt-only", "accuracy")
        ]
        self.assertEqual(list(answers(figure_8_all({"dynamic": Rows(rows)})).values()), [DISAGREES, OPEN, OPEN])

    def test_it_goes_by_recall_whatever_the_precision(self):
        rows = [
            {
                "states": "chain",
                "task": "bursty",
                "load": 2.2,
                "mode": mode,
                "satisfaction_by_recall": by_recall,
                "satisfaction": 1 - by_recall,
            }
            for mode, by_recall in (("no-adapt", 0.4), ("adapt-only", 0.3), ("accuracy", 0.8))
        ]
        self.assertEqual(verdict(figure_8("chain", "bursty")({"dynamic": Rows(rows)})), HOLDS)
        with self.assertRaises(MissingRows):
            figure_8("tree", "bursty")({"dynamic": Rows(rows)})


def estimated(task, missing, error, variation=0.1):
    return {"task": task, "mode": "accuracy", "missing_share": missing, "mean_error": error, "variation": variation}


class MissingFlows(unittest.TestCase):
    def test_the_error_of_few_missing_flows_is_compared_with_that_of_many(self):
        def of(errors):
            rows = [estimated("bursty", 0.1 * (number + 1), error) for number, error in enumerate(errors)]
            return {"dynamic": Rows(rows[::2]), "constant": Rows(rows[1::2])}

        rising = [0.01, 0.01, 0.01, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1]
        self.assertEqual(verdict(figure_5b(of(rising))), HOLDS)
        self.assertEqual(verdict(figure_5b(of(rising[::-1]))), FAILS)
        with self.assertRaises(NotYet):
            figure_5b(of(rising[:8]))

    def test_both_what_varies_and_what_errs_is_compared(self):
        def of(**tasks):
            return answers(
                figure_5c(
                    {
                        "dynamic": Rows(
                            [
                                estimated(task.replace("_", "-"), 0.5, error, variation)
                                for task, (error, variation) in tasks.items()
                            ]
                        ),
                        "constant": Rows([]),
                    }
                )
            )

        found = of(bursty=(0.1, 0.3), retransmissions=(0.2, 0.2), latency_change=(0.3, 0.4))
        self.assertEqual(
            found,
            {
                "Bursty varies less than RTx": DISAGREES,
                "Bursty varies less than LatChange": AGREES,
                "Bursty has a smaller error than RTx": AGREES,
                "Bursty has a smaller error than LatChange": AGREES,
            },
        )

    def test_heavy_hitters_are_compared_with_others_where_as_many_flows_are_missing(self):
        def of(hitters, runs=5):
            others = [
                {
                    "states": "tree",
                    "task": "bursty",
                    "mode": "adapt-only",
                    "missing_share": share,
                    "recall": 1 - share,
                    "shed_share": shed,
                }
                for share, shed in ((0.05, 0.0), (0.2, 0.0), (0.6, 0.0), (0.95, 0.1))
            ]
            simulated = [
                {"spread": spread, "missing": missing, "threshold": 0.05, "recall": recall}
                for missing, of in hitters.items()
                for spread, recall in zip("ab", of)
            ]
            return list(
                answers(
                    figure_9a({"constant": over_runs([Rows(others)] * runs), "missing-flows": Rows(simulated)})
                ).values()
            )

        self.assertEqual(
            of({0.1: (0.8, 0.7), 0.5: (0.6, 0.7), 0.9: (0.0, 0.0)}),
            [AGREES, DISAGREES],
            "0.9 is shed, and beyond the rest",
        )
        self.assertEqual(
            [of({0.5: (0.1, 0.1)}, runs) for runs in (1, 4, 5)],
            [[OPEN], [OPEN], [AGREES]],
            "of too few there is no interval",
        )
        self.assertEqual(of({0.5: (0.4, 0.6)}), [OPEN], "one way to spread bytes has it so")

    def test_the_worst_run_is_that_of_all_and_not_of_their_medians(self):
        def of(*errors):
            runs = [
                Rows(
                    [
                        {**estimated("bursty", 0.5, error), "worst_error": error},
                        {**estimated("retransmissions", 0.5, 0.01), "worst_error": 0.01},
                        {**estimated("latency-change", 0.0005, 0.9), "worst_error": 0.9},
                    ]
                )
                for error in errors
            ]
            return answers(figure_5a({"dynamic": over_runs(runs), "constant": Rows([])}))[
                "every run's mean error is 20 % at most"
            ]

        self.assertEqual(of(0.01, 0.02, 0.1, 0.03, 0.01), AGREES, "of what misses next to nothing nothing is asked")
        for errors in ((0.01, 0.02, 0.3, 0.03, 0.01), (0.01, 0.02, 0.3, 0.03, None), (0.01, 0.3, 0.02), (0.3,)):
            self.assertEqual(of(*errors), DISAGREES)


if __name__ == "__main__":
    unittest.main()
