# SPDX-License-Identifier: Apache-2.0
"""Rows over runs, runs that are kept, and the pages that are made of them."""

import csv
import json
import math
import os
import pathlib
import random
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reproduce"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tools"))
import check_links
import quiet
from comparing import at_most, below, between, counted, difference, mean_ratio, under, untold
from data import write_claims, write_runs
from judge import FAILS, HOLDS, NOT_DECIDED, Answer, Comparison, Estimate, Of
from page import page
from paper import NOT_HERE, NOT_YET, Figure, NotYet, Paper, Run, Seen, judged
from passes import Passes, agreement
from plots import script_of, series_of
from rows import Rows, over_runs
from runs import Store, rounds_of
from summary import first_claim, from_here, lines_of, summary
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


def costs(runs):
    cheap, dear = (runs["some"].one(table=name) for name in ("cheap", "dear"))
    return Seen("2 | 1 ns", (below("dear below cheap", dear, cheap, headline=True),), "a note")


class Pages(unittest.TestCase):
    FIGURES = (
        Figure("1", "Drawing.", not_here="a drawing, which states nothing"),
        Figure("2", "Dear costs less.", ("some",), costs, plot="some"),
        Figure("table I", "Later.", ("other",), costs),
        Figure(
            "3",
            "Cheap costs half.",
            ("some",),
            lambda runs: Seen(
                "1, 2 ns",
                (
                    at_most(
                        "cheap", runs["some"].one(table="cheap"), runs["some"].one(table="dear"), 0.5, headline=True
                    ),
                ),
            ),
            ours=True,
        ),
    )
    PAPER = Paper(
        "some",
        "Somebody, *Something*, 2020",
        (),
        FIGURES,
        {"some": Run(("tables",)), "other": Run(("hashes",))},
        title="Some paper",
        doi="10.1/x",
        main=("2", "1"),
    )
    ROWS = {
        "some": Rows(
            [
                {"table": "cheap", "ns": 1.0, "low_ns": 1.0, "high_ns": 1.0},
                {"table": "dear", "ns": 2.0, "low_ns": 2.0, "high_ns": 2.0},
            ],
            [{"machine": {"cpu": "x", "load": "1.5 1 1"}}],
        )
    }

    def page(self):
        return page(self.PAPER, self.ROWS, {"some": 1}, {}, {"some"})[0]

    def test_a_page_has_every_figure_in_order_with_its_verdict(self):
        theirs, ours = lines_of(self.page())
        self.assertEqual(
            [(name, answer) for name, _, answer, _ in theirs], [("1", NOT_HERE), ("2", FAILS), ("table I", NOT_YET)]
        )
        self.assertEqual([(name, answer) for name, _, answer, _ in ours], [("3", HOLDS)])

    def test_a_row_says_what_was_seen_of_what_interval_and_why(self):
        text = self.page()
        self.assertIn(
            "| 2 | Dear costs less. | 2 \\| 1 ns. [numbers](#2) | **refuted**: **dear below cheap** (2 ns against 1 "
            "ns). |",
            text,
        )
        self.assertIn("**not reproducible here**: a drawing, which states nothing", text)
        self.assertIn("**not yet run**: needs other", text)
        self.assertIn("- some: `parshall bench tables`", text)
        self.assertIn("1.5 to 1.5", text)
        self.assertIn(
            "The paper: 1 refuted, 1 not reproducible here, 1 not yet run.\nBeyond the paper: 1 confirmed.\n", text
        )

    def test_a_figure_has_a_section_with_all_that_was_seen_and_the_numbers_of_each_comparison(self):
        text = self.page()
        section = text[text.index("### 2\n") : text.index("### 3\n")]
        for line in (
            "*Dear costs less.*",
            "**Refuted**, by [some](#commands).",
            "Measured: 2 | 1 ns.",
            "A note.",
            "![2](some.svg)",
            "*Intervals: within a run.*",
            "| **dear below cheap** | 2 ns < 1 ns | refuted |",
        ):
            self.assertIn(line + "\n", section)
        self.assertIn("| **cheap** | 1 ns ≤ 0.5 × 2 ns | confirmed |", text)
        self.assertNotIn("### 1\n", text, "nothing was seen of a drawing")

    def test_a_table_has_what_was_seen_where_it_is_short_and_the_way_to_it(self):
        def row(text):
            figure = Figure(
                "2, with size", "Dear costs less.", ("some",), lambda runs: Seen(text, (untold("x", headline=True),))
            )
            return page(Paper("some", "Somebody", (), (figure,), self.PAPER.runs), self.ROWS, {"some": 1}, {}, set())[0]

        self.assertIn("| 1 ns. [numbers](#2-with-size) |", row("1 ns"))
        self.assertIn("| [numbers](#2-with-size) |", row("1 ns " * 100))
        self.assertIn("2-with-size", check_links.anchors(row("1 ns")))

    def test_a_comparison_shows_both_sides_with_their_intervals(self):
        told = lambda less, more, **how: inequality_of(Comparison("x", less, more, **how))
        of = lambda value, low, high, kind=Of.RUNS: Estimate(value, low, high, kind)
        self.assertEqual(
            told(of(1.2345, 1, 1.5), of(23456.7, 20000, 30000)), "1.23 (1 to 1.5) < 23,457 (20,000 to 30,000)"
        )
        self.assertEqual(
            told(of(2, 2, 2), of(4, -math.inf, math.inf), factor=0.5, or_equal=True), "2 ≤ 0.5 × 4 (no interval)"
        )
        self.assertEqual(inequality_of(untold("x")), "not measured")
        self.assertEqual(inequality_of(counted("x", True)), "counted")
        self.assertEqual(told(of(0, -math.inf, math.inf, Of.COUNT), of(5, 5, 5, Of.BOUND)), "not measured < 5")

    def test_a_figure_that_lacks_rows_or_a_tool_is_not_yet_run(self):
        def without_tool(_):
            raise NotYet("it takes a tool")

        for judge, why in (
            (without_tool, "it takes a tool"),
            (
                lambda runs: costs({"some": Rows(runs["some"].all[:1])}),
                "what was run has too few rows: 0 rows where {'table': 'dear'}",
            ),
        ):
            told = judged(Figure("4", "Something.", ("some",), judge), self.ROWS)
            self.assertEqual((told.answer, told.why), (NOT_YET, why))

    def test_the_first_page_counts_what_the_others_say(self):
        with tempfile.TemporaryDirectory() as folder:
            pages = pathlib.Path(folder) / "reproduce"
            pages.mkdir()
            (pages / "some.md").write_text(self.page())
            text = summary([self.PAPER, Paper("absent", "Nobody", (), (), {})], pathlib.Path(folder))
        self.assertIn("| [Some paper](reproduce/some.md) | 0 | 0 | 0 | 1 | 1 | 1 |", text)
        self.assertIn("| absent | 0 | 0 | 0 | 0 | 0 | 0 |", text)
        self.assertIn(
            "1 conclusions were tested: 0 are confirmed, 0 partly confirmed, 1 refuted and 0 undecided. 1 figures", text
        )
        self.assertIn(
            "| [some 3](reproduce/some.md#3) | Cheap costs half. | **confirmed**: cheap (1 ns against 0.5 × 2 ns) |",
            text,
        )
        self.assertIn(
            "## Some paper\n\nSomebody, *Something*, 2020. DOI: [10.1/x](https://doi.org/10.1/x). [All "
            "figures](reproduce/some.md): 1 refuted, 1 not reproducible here, 1 not yet run.\n",
            text,
        )
        self.assertIn(
            "| [2](reproduce/some.md#2) | Dear costs less. | **refuted**: dear below cheap (2 ns against 1 ns) |\n| "
            "[1](reproduce/some.md) | Drawing. | **not reproducible here**: a drawing",
            text,
        )
        self.assertNotIn("## absent", text)

    def test_every_claim_and_every_row_is_in_a_file(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "a").write_text(
                '{"experiment": "x", "machine": {"cpu": "y"}, "rows": [{"table": "t", "ns": 1.5}, {"ns": 2, "lost": '
                "null}]}\n"
            )
            results = page(self.PAPER, self.ROWS, {"some": 1}, {}, set())[1]
            self.assertTrue(write_claims(results, folder / "claims.csv"))
            self.assertTrue(write_runs({"some": [folder / "a"]}, folder / "runs.csv"))
            self.assertFalse(write_runs({}, folder / "none.csv"))
            claims, runs = ([*csv.DictReader((folder / file).open())] for file in ("claims.csv", "runs.csv"))
        self.assertEqual(
            [
                (
                    one["figure"],
                    one["verdict"],
                    one["claim"],
                    one["result"],
                    one["left"],
                    one["relation"],
                    one["factor"],
                    one["right"],
                    one["unit"],
                )
                for one in claims
            ],
            [
                ("2", FAILS, "dear below cheap", "refuted", "2", "<", "1", "1", "ns"),
                ("3", HOLDS, "cheap", "confirmed", "1", "<=", "0.5", "2", "ns"),
            ],
        )
        self.assertEqual(
            runs,
            [
                {"run": "some", "pass": "1", "experiment": "x", "table": "t", "ns": "1.5", "lost": ""},
                {"run": "some", "pass": "1", "experiment": "x", "table": "", "ns": "2", "lost": ""},
            ],
        )
        text = page(self.PAPER, self.ROWS, {"some": 1}, {}, set(), data=("claims",))[0]
        self.assertIn("## Data\n\n- [some-claims.csv](some-claims.csv): every claim with its numbers\n", text)
        self.assertNotIn("## Data", self.page())

    def test_the_first_page_shows_a_figures_first_claim_alone(self):
        self.assertEqual(
            first_claim("**a (b) c** (1 ns against 2 ns), d (counted). Refuted: e (3)."), "a (b) c (1 ns against 2 ns)"
        )
        self.assertEqual(first_claim("a drawing, which states nothing"), "a drawing, which states nothing")

    def test_a_figure_of_the_first_page_has_to_be_there(self):
        with self.assertRaisesRegex(ValueError, "no figure 9 for the first page"):
            Paper("some", "Somebody", (), (), {}, main=("9",))

    def test_links_of_a_papers_page_lead_to_the_same_from_the_first_one(self):
        self.assertEqual(
            from_here("[a](../b.md#c), [d](e.svg), [f](https://g.h/)"),
            "[a](b.md#c), [d](reproduce/e.svg), [f](https://g.h/)",
        )

    def test_a_pass_is_what_shares_a_run_but_for_those_without_noise_or_rows(self):
        paper = Paper(
            "some", "Somebody", (), self.FIGURES, {**self.PAPER.runs, "exact": Run(("steps",), is_noiseless=True)}
        )
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "passes.json"
            for day, drawn in ((1, "abc"), (2, "def"), (2, "de"), (3, "dghijk")):
                files = {name_of: [pathlib.Path(name) / name_of] for name_of in ("exact", "other")} | {
                    "some": [pathlib.Path(name) / each for each in drawn]
                }
                for path in [path for of_run in files.values() for path in of_run]:
                    path.write_text(path.name)
                    os.utime(path, (day * 86400 + 43200, day * 86400 + 43200))
                page(
                    paper,
                    self.ROWS | {"exact": self.ROWS["some"], "other": Rows([])},
                    {"some": 1},
                    files,
                    set(),
                    Passes(file),
                )
            self.assertEqual(
                [(one["day"], len(one["runs"])) for one in Passes(file).all], [("1970-01-02", 3), ("1970-01-03", 6)]
            )

    def test_a_row_says_where_the_pass_before_said_otherwise(self):
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "passes.json"
            raw = [pathlib.Path(name) / f"raw{day}" for day in (3, 1, 2)]
            for path, day in zip(raw, (3, 1, 2)):
                path.write_text(f"run of day {day}")
                os.utime(path, (day * 86400 + 43200, day * 86400 + 43200))
            write = lambda rows, paths: page(
                self.PAPER, {"some": rows}, {"some": 1}, {"some": paths}, set(), Passes(file)
            )[0]
            upside_down = Rows(
                [
                    {**row, "ns": 3 - row["ns"], "low_ns": 3 - row["ns"], "high_ns": 3 - row["ns"]}
                    for row in self.ROWS["some"].all
                ],
                self.ROWS["some"].documents,
            )
            self.assertNotIn("arlier pass", write(upside_down, raw[1:2]))
            self.assertNotIn("arlier pass", write(upside_down, raw[1:]))  # with more runs: the same pass
            second = write(self.ROWS["some"], raw[:1])
            self.assertIn("The earlier pass was on 1970-01-02 (x).", second)
            self.assertIn("**dear below cheap** (2 ns against 1 ns). *Earlier pass: confirmed.* |", second)
            self.assertEqual([answer for _, _, answer, _ in lines_of(second)[0]], [NOT_HERE, FAILS, NOT_YET])
            self.assertNotIn("arlier pass", write(upside_down, raw[1:]))  # the first, judged anew, has none
            passes = Passes(file)
            self.assertEqual(
                [(one["day"], one["answers"]) for one in passes.all],
                [("1970-01-02", {"2": HOLDS, "3": FAILS}), ("1970-01-04", {"2": FAILS, "3": HOLDS})],
            )
            self.assertIn(
                "Two passes judged 2 conclusions, on 1970-01-02 (x, 2 runs) and 1970-01-04 (x, 1 runs). 0 have the "
                "same verdict in both (0 %). 0 were undecided in one of the two, and 2 changed",
                agreement(passes, ["some"]),
            )
            passes.all[0]["answers"]["2"] = FAILS
            self.assertIn("1 have the same verdict in both (50 %)", agreement(passes, ["some", "absent"]))
            passes.all[0]["answers"]["3"] = NOT_DECIDED
            self.assertIn("(50 %). 1 were undecided in one of the two, and 0 changed", agreement(passes, ["some"]))
            passes.all[0]["cpu"] = ""
            self.assertIn(
                "conclusions, on 1970-01-02 (2 runs) and 1970-01-04 (x, 1 runs). ", agreement(passes, ["some"])
            )
            passes.all[0]["day"] = passes.all[1]["day"]
            self.assertIn("conclusions, on 1970-01-04 (x, 3 runs). ", agreement(passes, ["some"]))
            self.assertEqual(agreement(Passes(pathlib.Path(name) / "none"), ["some"]), "")

    def test_a_plot_has_a_line_for_each_name_and_what_varies_beside_it(self):
        rows = Rows(
            [
                {"table": name, "flows": flows, "zipf": zipf, "ns": 1.0}
                for name in "ab"
                for flows in (1, 2)
                for zipf in (0, 1)
            ]
        )
        self.assertEqual(sorted(series_of(rows, "flows", "ns")), ["a skew 0", "a skew 1", "b skew 0", "b skew 1"])

    def test_a_plot_says_its_unit_and_how_sure_it_is(self):
        rows = Rows([{"table": "a", "flows": 4, "ns": 2.0, "low_ns": 1.5, "high_ns": 3.0}])
        along, bars = (script_of(Run(x=x), rows) for x in ("flows", None))
        for script, point in ((along, "4 2.0 1.5 3.0"), (bars, '"a" 2.0 1.5 3.0')):
            self.assertIn('set ylabel "ns a packet"', script)
            self.assertIn(point, script)

    def test_bars_have_what_the_paper_states_beside_them(self):
        rows = Rows([{"hash": name, "ns": 2.0} for name in ("a", "b")])
        script = script_of(Run(papers={"b": 100.0, "c": 7.0}), rows)
        self.assertIn("\n$p << EOD\n1 100.0\nEOD\n", "\n".join(script))
        self.assertIn("$p with points", script[-1])
        self.assertNotIn("$p", "\n".join(script_of(Run(), rows)))

    def test_few_places_along_a_plot_are_marked_as_they_are(self):
        marks = lambda count: [
            line
            for line in script_of(
                Run(x="flows"), Rows([{"table": "a", "flows": float(1 << (20 - at)), "ns": 2.0} for at in range(count)])
            )
            if "xtics" in line
        ]
        self.assertEqual(marks(2), ['set xtics ("524,288" 524288.0, "1,048,576" 1048576.0)'])
        self.assertEqual(marks(11), [])


if __name__ == "__main__":
    unittest.main()
