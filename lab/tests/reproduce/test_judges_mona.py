# SPDX-License-Identifier: Apache-2.0
"""Rules of MONA's own by which its figures are judged, on rows that are made up."""

import pathlib
import statistics
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reproduce"))
from judge import FAILS, HOLDS, IN_PART, NOT_DECIDED, Answer
from mona_estimates import figure_5a, figure_5b, figure_5c, figure_9a
from mona_losses import HALF_LOST, NOTHING_LOST, figure_7, figure_7_skew, figure_11a
from mona_rows import between, known, pooled
from mona_satisfaction import figure_8, figure_8_all, figure_8_ours
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

    def test_between_two_points_is_what_lies_on_the_line_and_outside_there_is_nothing(self):
        points = [(0.2, 0.8), (0.6, 0.4), (0.8, 0.0)]
        self.assertEqual([round(between(points, x), 9) for x in (0.2, 0.3, 0.7)], [0.8, 0.7, 0.2])
        self.assertEqual([between(points, x) for x in (0.1, 0.9)], [None, None])


def loss_row(mode, lost, **more):
    return {
        "scenario": "skew",
        "queue_packets": 4096,
        "mode": mode,
        "task": "heavy-hitters",
        "missed_later_share": lost,
        **more,
    }


class Losses(unittest.TestCase):
    def of(self, static, adapted):
        return figure_7("skew", "note", NOTHING_LOST, HALF_LOST)(
            {"loss": Rows([loss_row("off", static), loss_row("mona-adapt", adapted)])}
        )

    def test_adaptation_loses_nothing_only_where_there_is_something_to_lose(self):
        self.assertEqual(verdict(self.of(0.2, 0.0005)), HOLDS)
        self.assertEqual(verdict(self.of(0.2, 0.15)), FAILS)
        self.assertEqual(verdict(self.of(0.0009, 0.0)), NOT_DECIDED)

    def test_losses_begin_at_a_lower_skew_and_not_above_1_1(self):
        def begins(static, adapted):
            rows = [loss_row("off", 0.1, skew_at_loss=static), loss_row("mona-adapt", 0.01, skew_at_loss=adapted)]
            return list(answers(figure_7_skew({"loss": Rows(rows)})).values())

        self.assertEqual(begins(1.25, 1.12), [AGREES, AGREES])
        self.assertEqual(begins(1.25, 1.2), [AGREES, DISAGREES])
        self.assertEqual(begins(1.05, 1.08), [DISAGREES, AGREES])
        self.assertEqual(begins(1.25, None), [OPEN, OPEN])

    def test_a_skew_that_no_run_knows_is_not_told_as_0(self):
        rows = [loss_row("off", 0.1, skew_at_loss=1.25), loss_row("mona-adapt", 0.01, skew_at_loss=None)]
        self.assertIn(
            "queue of 4096: 1.25 without adaptation, not known with it", figure_7_skew({"loss": Rows(rows)}).text
        )

    def test_with_a_filter_a_flood_costs_a_hundredth_more_than_none_at_most(self):
        def of(without, filtered, none=0.0):
            rows = [
                {
                    "mode": "mona",
                    "task": "heavy-hitters",
                    "flood_share": share,
                    "filter_bytes": size,
                    "missed_share": lost,
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
                "satisfaction_by_count": 0.5,
            }
            for mode, by_recall in (("off", 1.0), ("mona-adapt", 0.3), ("mona", 1.0))
        ]
        self.assertEqual(
            list(answers(figure_8("chain", "bursty")({"dynamic": Rows(rows)})).values()), [DISAGREES, AGREES]
        )

    def test_nothing_is_no_multiple_of_nothing(self):
        rows = [
            {"mode": mode, "satisfaction_by_recall": 0.0, "satisfaction": 0.0, "satisfaction_by_count": 0.0}
            for mode in ("off", "mona-adapt", "mona")
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
                "satisfaction_by_count": 1 - by_recall,
            }
            for mode, by_recall in (("off", 0.4), ("mona-adapt", 0.3), ("mona", 0.8))
        ]
        self.assertEqual(verdict(figure_8("chain", "bursty")({"dynamic": Rows(rows)})), HOLDS)
        with self.assertRaises(MissingRows):
            figure_8("tree", "bursty")({"dynamic": Rows(rows)})

    def test_the_default_policy_is_compared_by_flows_and_by_each_event(self):
        def of(by_flows, by_count):
            others = [
                {"mode": mode, "satisfaction": 0.5, "satisfaction_by_count": 0.4}
                for mode in ("off", "mona-adapt", "mona")
            ]
            ours = {"mode": "adapt", "satisfaction": by_flows, "satisfaction_by_count": by_count}
            return figure_8_ours({"dynamic": Rows([*others, ours])})

        self.assertEqual(verdict(of(0.6, 0.5)), HOLDS)
        self.assertEqual(verdict(of(0.6, 0.3)), IN_PART, "worse by each event")
        self.assertEqual(verdict(of(0.4, 0.3)), FAILS)
        self.assertIn("Parshall's default 0.60 (0.50), accuracy control 0.50 (0.40)", of(0.6, 0.5).text)
        with self.assertRaises(MissingRows):
            figure_8_ours({"dynamic": Rows([{"mode": "off", "satisfaction": 0.5, "satisfaction_by_count": 0.4}])})


def estimated(task, missing, error, variation=0.1):
    return {"task": task, "mode": "mona", "missing_share": missing, "mean_error": error, "variation": variation}


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
                    "mode": "mona-adapt",
                    "missing_share": share,
                    "recall": 1 - share,
                    "missed_later_share": lost,
                }
                for share, lost in ((0.05, 0.0), (0.2, 0.0), (0.6, 0.01), (0.95, 0.1))
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
            "at 0.9 packets are lost, and it is beyond the rest",
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
