# SPDX-License-Identifier: Apache-2.0
"""Pages that are made of runs."""

import csv
import math
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reproduce"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tools"))
import check_links
from comparing import at_most, below, counted, untold
from data import write_claims, write_runs
from judge import FAILS, HOLDS, NOT_DECIDED, Comparison, Estimate, Of
from page import page
from paper import NOT_HERE, NOT_YET, Figure, NotYet, Paper, Run, Seen, judged
from passes import Passes, agreement
from plots import script_of, series_of
from rows import Rows
from summary import first_claim, from_here, lines_of, summary
from wording import inequality_of


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
