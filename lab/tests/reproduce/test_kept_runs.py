# SPDX-License-Identifier: Apache-2.0
"""Rows over runs, and runs that are kept."""

import json
import math
import pathlib
import random
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reproduce"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tools"))
import quiet
from comparing import at_most, below, between, difference, mean_ratio, under
from judge import Answer, Of
from paper import Run
from rows import Rows, over_runs
from runs import Store, rounds_of
from wording import inequality_of


def run_of(ns, low=None, high=None, **more):
    return Rows([{"table": "a", "flows": 4096, "ns": ns, "low_ns": low or ns - 1, "high_ns": high or ns + 1, **more}])


class OverRuns(unittest.TestCase):
    def test_one_run_has_its_own_interval(self):
        row = over_runs([run_of(5.0)]).all[0]
        self.assertEqual((row["ns"], row["low_ns"], row["high_ns"], row.get("of")), (5, 4, 6, None))

    def test_few_runs_have_all_that_their_own_intervals_have(self):
        row = over_runs([run_of(5.0), run_of(9.0), run_of(7.0)]).all[0]
        self.assertEqual((row["ns"], row["low_ns"], row["high_ns"], row["of"]), (7, 4, 10, Of.RUNS))

    def test_enough_runs_go_from_their_least_to_their_most(self):
        row = over_runs([run_of(float(ns)) for ns in (5, 6, 7, 8, 9)]).all[0]
        self.assertEqual((row["ns"], row["low_ns"], row["high_ns"]), (7, 5, 9))

    def test_what_is_the_same_in_each_run_stays_as_it_is(self):
        row = over_runs([run_of(5.0, recall=0.5), run_of(6.0, recall=0.5)]).all[0]
        self.assertEqual((row["flows"], row["recall"]), (4096, 0.5))
        self.assertNotIn("low_recall", row)

    def test_what_differs_without_an_interval_gets_one_of_enough_runs_or_where_it_is_counted(self):
        def merged(*recalls, **more):
            row = over_runs([run_of(5.0, recall=recall, **more) for recall in recalls]).all[0]
            return row["recall"], row.get("low_recall"), row.get("high_recall")

        self.assertEqual(merged(0.5, 0.7, 0.6), (0.6, None, None))
        self.assertEqual(merged(0.5, 0.7, 0.6, exact=frozenset({"recall"})), (0.6, 0.5, 0.7))
        self.assertEqual(merged(0.5, 0.7, 0.6, 0.8, 0.9), (0.7, 0.5, 0.9))

    def test_what_one_run_does_not_know_is_of_those_that_do(self):
        self.assertEqual(over_runs([run_of(5.0, lost=lost) for lost in (None, 3.0, 3.0)]).all[0]["lost"], 3)

    def test_what_enough_runs_agree_on_is_exact(self):
        runs = [run_of(5.0, lost=0.0) for _ in range(5)]
        self.assertEqual(under("", over_runs(runs).all[0], 1, "lost").answer(), Answer.AGREES)
        self.assertEqual(under("", over_runs(runs[:4]).all[0], 1, "lost").answer(), Answer.OPEN)

    def test_two_rows_of_enough_runs_are_compared_within_each(self):
        """A machine of two speeds: 9 % less in every run, where the intervals over all overlap."""
        twos = [
            Rows([{"table": "a", "ns": 1.0 * speed}, {"table": "b", "ns": 1.1 * speed}]) for speed in (5, 9, 6, 7, 8)
        ]
        sides = lambda runs: [*over_runs(runs).all]
        for count, answer in ((5, Answer.AGREES), (4, Answer.OPEN)):  # of four there is no interval
            self.assertEqual(below("a below b", *sides(twos[:count])).answer(), answer)
        a, b = sides(twos)
        self.assertEqual(below("", a, b).less.of, Of.PAIRS)
        self.assertAlmostEqual(below("", a, b).less.value, 1 / 1.1)
        self.assertEqual(
            [at_most("", a, b, factor).answer() for factor in (0.95, 0.9)], [Answer.AGREES, Answer.DISAGREES]
        )
        self.assertEqual(below("", a, sides(twos)[1]).answer(), Answer.OPEN)  # of other processes
        self.assertEqual(below("", {**a, "ns": 3 * a["ns"], "same_processes": None}, b).less.of, Of.RUNS)
        twos[2].all[0]["ns"] = 7.0
        self.assertEqual(below("", *sides(twos)).answer(), Answer.OPEN)  # one run has it the other way round

    def test_tails_in_cycles_have_to_be_apart_by_more_than_a_bucket(self):
        for apart, answer in ((3, Answer.AGREES), (2, Answer.OPEN), (-3, Answer.DISAGREES)):
            runs = [
                Rows([{"table": "a", "p99_cycles": cycles}, {"table": "b", "p99_cycles": cycles + apart}])
                for cycles in (20.0, 22.0, 20.0, 24.0, 22.0)
            ]
            compared = below("", *over_runs(runs).all, "p99_cycles")
            self.assertEqual((compared.answer(), compared.slack > 0), (answer, True))
            self.assertEqual(below("", *over_runs(runs[:4]).all, "p99_cycles").answer(), Answer.OPEN)
        self.assertEqual(
            inequality_of(below("", {"p99_cycles": 1}, {"p99_cycles": 5}, "p99_cycles")),
            "1 cycles < 5 cycles, by more than 2 cycles",
        )

    def test_one_run_that_is_far_off_leaves_an_order_that_all_have(self):
        """As p99s are on a machine that others use, too."""
        runs = [
            Rows([{"table": "a", "p99_cycles": a}, {"table": "b", "p99_cycles": b}])
            for a, b in ((26, 42), (30, 162), (26, 52), (22, 60), (22, 54))
        ]
        self.assertEqual(below("", *over_runs(runs).all, "p99_cycles").answer(), Answer.AGREES)

    def test_differences_of_the_same_runs_are_compared_within_each(self):
        runs = [
            Rows([{"table": name, "ns": ns + luck} for name, ns in (("a", 10.0), ("b", 12.0), ("c", 15.0))])
            for luck in (0, 9, 3, 5, 7)
        ]
        a, b, c = over_runs(runs).all
        self.assertEqual(below("", difference(b, a), difference(c, b)).answer(), Answer.AGREES)
        self.assertEqual(below("", difference(c, b), difference(b, a)).answer(), Answer.DISAGREES)
        self.assertEqual(
            below("", difference(a, b), difference(b, a)).answer(), Answer.AGREES
        )  # below 0: there is no ratio
        self.assertEqual(below("", difference(a, b), difference(over_runs(runs[::-1]).all[0], b)).answer(), Answer.OPEN)

    def test_a_column_that_has_a_name_of_ours_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.json"
            path.write_text(json.dumps({"rows": [{"ns": 1}, {"runs": 1, "each": 2}]}) + "\n")
            with self.assertRaisesRegex(ValueError, "run.json: columns have names that are taken: each, runs"):
                Rows.read(path)
            path.write_text(json.dumps({"rows": []}) + "\n")
            self.assertEqual(Rows.read(path).all, [])
        twos = [
            Rows([{"table": name, "ns": ns * speed, "together": 0.99} for name, ns in (("a", 1.0), ("b", 1.1))])
            for speed in (5, 9, 6, 7, 8)
        ]
        self.assertEqual(below("", *over_runs(twos).all).less.of, Of.PAIRS)  # a column of `bench contention`

    def test_two_columns_of_enough_runs_are_compared_within_each(self):
        runs = [run_of(5.0 * speed, into=4.0 * speed, out=3.9 * speed) for speed in (1, 3, 2, 2.5, 1.5)]
        for count, answer in ((5, Answer.AGREES), (4, Answer.OPEN)):
            self.assertEqual(between("", over_runs(runs[:count]).all[0], "out", "into").answer(), answer)
        row = over_runs(runs).all[0]
        self.assertEqual(
            [between("", row, "into", "out", factor).answer() for factor in (1.03, 1.02)],
            [Answer.AGREES, Answer.DISAGREES],
        )

    def test_what_is_alike_is_seldom_told_apart(self):
        """Of 2,000 pairs of five runs that differ by chance alone."""
        chance = random.Random(3)
        told = 0
        for _ in range(2000):
            ratio = mean_ratio([math.exp(chance.gauss(0, 0.05)) for _ in range(5)])
            told += not ratio.low <= 1 <= ratio.high
        self.assertLess(told / 2000, 0.02)
        self.assertGreater(told, 0)

    def test_rows_that_are_alike_are_seldom_told_apart(self):
        """Of 2,000 pairs of rows, by both ways together: where luck is a process's, and where it is a row's."""
        chance = random.Random(5)
        for shared, own in ((0.2, 0.05), (0.0, 0.1)):
            told = 0
            for _ in range(2000):
                runs = []
                for _ in range(5):
                    luck = chance.gauss(0, shared)
                    runs.append(Rows([{"table": name, "ns": math.exp(luck + chance.gauss(0, own))} for name in "ab"]))
                told += below("", *over_runs(runs).all).answer() is not Answer.OPEN
            self.assertLess(told / 2000, 0.025)
            self.assertGreater(told, 0)

    def test_what_is_measured_may_be_told_in_text(self):
        self.assertEqual(
            over_runs([run_of(5.0, thread_cpu=shares) for shares in ("22+63+15", "27+56+17")]).all[0]["runs"], 2
        )

    def test_runs_of_other_things_are_refused(self):
        with self.assertRaisesRegex(LookupError, "differ"):
            over_runs([run_of(5.0), run_of(5.0, table="b")])
        with self.assertRaisesRegex(LookupError, "1, 0 rows"):
            over_runs([run_of(5.0), Rows([])])


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "parshall"
        self.program.write_text("#!/bin/sh\n")
        self.measured = []

        def measure(_, path):
            self.measured.append(path.name)
            path.write_text(json.dumps({"experiment": "x", "rows": [{"table": "a", "ns": len(self.measured)}]}) + "\n")

        self.runs = {"some": Run(module=types.SimpleNamespace(COMMANDS="x", version=lambda: "1", measure=measure))}

    def store(self):
        return Store(self.program, self.folder / "runs")

    def test_each_pass_is_measured_once_for_a_program(self):
        self.assertTrue(self.store().measure(self.runs, 3, 60))
        self.assertTrue(self.store().measure(self.runs, 3, 60))
        self.assertEqual(len(self.measured), 3)
        self.program.write_text("#!/bin/sh\nanother\n")
        self.assertTrue(self.store().measure(self.runs, 1, 60))
        self.assertEqual(len(self.measured), 4)

    def test_again_measures_again(self):
        self.store().measure(self.runs, 1, 60)
        self.store().measure(self.runs, 1, 60, again=True)
        self.assertEqual(len(self.measured), 2)

    def test_what_time_was_not_enough_for_is_measured_later(self):
        self.assertFalse(self.store().measure(self.runs, 2, -1))
        self.assertEqual(self.store().found(self.runs, 2), ({}, {}, {}))
        self.store().measure(self.runs, 2, 60)
        rows, counts, paths = self.store().found(self.runs, 2)
        self.assertEqual((rows["some"].all[0]["ns"], counts, len(paths["some"])), (1.5, {"some": 2}, 2))

    def test_a_run_has_no_more_passes_than_it_asks_for(self):
        self.runs["some"] = Run(module=self.runs["some"].module, passes=1)
        self.store().measure(self.runs, 3, 60)
        self.assertEqual(len(self.measured), 1)

    def test_a_run_that_fails_is_left_out_and_said(self):
        def fail(*_):
            raise RuntimeError("no device")

        runs = {
            "broken": Run(module=types.SimpleNamespace(COMMANDS="x", version=lambda: "1", measure=fail)),
            **self.runs,
        }
        store = self.store()
        self.assertTrue(store.measure(runs, 1, 60))
        self.assertEqual((store.failed, list(store.found(runs, 1)[0])), (["broken"], ["some"]))
        bench_without_program = {"bench": Run(("tables",))}
        store.measure(bench_without_program, 1, 60)
        self.assertEqual(store.failed, ["broken", "bench"])

    def test_what_goes_by_the_wall_clock_waits_while_others_have_the_cores(self):
        runs = {"timed": Run(module=self.runs["some"].module, by_clock=True), **self.runs}
        with mock.patch("quiet.share_of_others", return_value=0.5):
            store = self.store()
            store.measure(runs, 1, 60)
            self.assertEqual((store.waiting, len(self.measured)), (["timed"], 1))
            Store(self.program, self.folder / "runs", is_busy_fine=True).measure(runs, 1, 60)
            self.assertEqual(len(self.measured), 2)
        with mock.patch("quiet.share_of_others", return_value=0.1):
            self.store().measure(runs, 2, 60)
        self.assertEqual(len(self.measured), 4)

    def test_the_share_of_others_is_one(self):
        self.assertTrue(0 <= quiet.share_of_others(0.05) <= 1)

    def test_a_run_that_was_cut_off_is_none(self):
        path = self.store().path("some", self.runs["some"], 1)
        path.parent.mkdir()
        path.with_suffix(".part").write_text('{"experiment": "x", "rows": [')
        self.assertEqual(self.store().found(self.runs, 1), ({}, {}, {}))

    def test_what_could_not_be_measured_is_tried_again_and_counts_for_no_pass(self):
        runs, here = (
            {
                "some": Run(
                    module=types.SimpleNamespace(
                        COMMANDS="x", version=lambda: "1", measure=lambda _, path: path.write_text(here.pop(0))
                    )
                )
            },
            [],
        )
        absent, present = (
            '{"rows": [], "missing": "no tool"}\n',
            '{"rows": [{"table": "a", "ns": 3}], "missing": null}\n',
        )
        here += [absent, absent]
        self.store().measure(runs, 2, 60)
        rows, counts, _ = self.store().found(runs, 2)
        self.assertEqual((rows["some"].all, rows["some"].documents[0]["missing"], counts), ([], "no tool", {"some": 1}))
        here += [absent, present]
        self.store().measure(runs, 2, 60)
        rows, counts, _ = self.store().found(runs, 2)
        self.assertEqual((rows["some"].all[0]["ns"], counts, here), (3, {"some": 1}, []))

    def test_passes_with_other_rows_are_left_out(self):
        rows = [[{"table": "a", "ns": 3}], [{"table": "b", "ns": 3}]]
        runs = {
            "some": Run(
                module=types.SimpleNamespace(
                    COMMANDS="x",
                    version=lambda: "1",
                    measure=lambda _, path: path.write_text(json.dumps({"rows": rows.pop()})),
                )
            )
        }
        store = self.store()
        store.measure(runs, 2, 60)
        self.assertEqual((store.found(runs, 2), store.failed), (({}, {}, {}), ["some"]))

    def test_one_round_has_no_interval(self):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "one"
            path.write_text('{"rows": [{"ns": 3, "low_ns": 3, "high_ns": 3}]}\n')
            self.assertEqual(
                [under("", Rows.read(path, (), is_one).all[0], 4).answer() for is_one in (False, True)],
                [Answer.AGREES, Answer.OPEN],
            )
        self.assertEqual(
            [rounds_of(arguments) for arguments in (("tables", "--rounds", "1"), ("tables",), None)], [1, None, None]
        )

    def test_quick_runs_are_other_files_and_fewer(self):
        runs = {"long": Run(("tables",)), "short": Run(("tables", "--rounds", "9"), quick=("tables", "--rounds", "3"))}
        quick = Store(self.program, self.folder, is_quick=True)
        self.assertEqual(list(quick.wanted(runs)), ["short"])
        self.assertNotEqual(quick.path("short", runs["short"], 1), self.store().path("short", runs["short"], 1))


if __name__ == "__main__":
    unittest.main()
