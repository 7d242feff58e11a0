# SPDX-License-Identifier: Apache-2.0
"""The judges of `make reproduce` on made-up runs: in a world as the papers have it every conclusion holds, and in one
where every cost and rate is turned upside down none does."""

import unittest

from world import World  # first: it says where the modules are

# isort: split

import flowatcher
import flowmon
import measurement
import mona
import wirespeed
from judge import FAILS, HOLDS, IN_PART, NOT_DECIDED, Answer
from paper import NOT_HERE, NOT_YET, Figure, Paper, Seen, judged
from plots import script_of
from rows import Rows

PAPERS = [module.PAPER for module in (flowatcher, measurement, wirespeed, mona, flowmon)]
UNTOLD = dict.fromkeys(
    [*(("flowatcher", name) for name in ("6b", "7b", "table IV")), *(("mona", name) for name in ("11a", "12c", "13b"))],
    IN_PART,
)  # a part cannot be measured
UNTOLD["flowatcher", "table III, models"] = NOT_DECIDED
UPPER_BOUND = ("mona", "12c")  # what it measures has more in it than what it is about
SEED = ("flowatcher", "6c, the seed")  # as many flows are left out as 6c says, or as few as this hopes


class Judges(unittest.TestCase):
    def results(self, upside_down):
        runs = World(upside_down).runs()
        for paper in PAPERS:
            for figure in paper.figures:
                if figure.judge:
                    yield (paper.name, figure.name), judged(figure, runs)

    def test_a_world_as_the_papers_have_it_agrees(self):
        for name, result in self.results(upside_down=False):
            with self.subTest(figure=name):
                if name != SEED:
                    self.assertEqual(result.answer, UNTOLD.get(name, HOLDS), result.why)
                self.assertTrue(result.seen.text)

    def test_a_world_upside_down_does_not(self):
        for name, result in self.results(upside_down=True):
            with self.subTest(figure=name):
                self.assertIn(result.answer, (FAILS, IN_PART, NOT_DECIDED), result.why)
                if name != UPPER_BOUND:
                    self.assertIn(Answer.DISAGREES, [one.answer() for one in result.seen.comparisons], result.why)


class Plots(unittest.TestCase):
    def test_each_plot_can_be_drawn(self):
        rows = World(upside_down=False).runs()
        for paper in PAPERS:
            for name in {figure.plot for figure in paper.figures if figure.plot}:
                with self.subTest(paper=paper.name, run=name):
                    script = script_of(paper.runs[name], rows[name])
                    self.assertTrue(any(line.startswith("plot ") for line in script))
                    self.assertEqual(sum(line.endswith("<< EOD") for line in script), script.count("EOD"))

    def test_what_a_paper_states_is_drawn(self):
        bars = [
            {"hash": "softrss", "input": kind, "ip_version": version, "ns": 80.0}
            for kind in ("addresses", "ports")
            for version in (4, 6)
        ]
        rows = World(upside_down=False).runs() | {"hashes": Rows(bars)}
        stated = {
            ("flowatcher", "hashes"): "\n2 100.0\n",  # 10 million a second
            ("wirespeed", "headers-mix"): "0 95.2",  # 11.9 % of eight cores
            ("wirespeed", "headers-capped"): "500 10",
            ("mona", "dynamic"): "0.75 with lines linetype 3 dashtype 2",
        }
        for paper in PAPERS:
            for name, run in paper.runs.items():
                if (paper.name, name) in stated:
                    with self.subTest(paper=paper.name, run=name):
                        self.assertIn(stated[paper.name, name], "\n".join(script_of(run, rows[name])))


class Papers(unittest.TestCase):
    """What is in the papers, counted there: each has its row, or more, in this order."""

    PARTS = {
        "flowatcher": (
            "1",
            "table I",
            "2",
            "3",
            "4",
            "5a",
            "5b",
            "5c",
            "table II",
            "6a",
            "6b",
            "6c",
            "table III",
            "7a",
            "7b",
            "7c",
            "8a",
            "8b",
            "table IV",
            "9a",
            "9b",
        ),
        "measurement": (
            "table 1",
            "1a",
            "1b",
            "1c",
            "2a",
            "2b",
            "2c",
            "3a",
            "3b",
            "3c",
            "4a",
            "4b",
            "5a",
            "5b",
            "6",
            "7a",
            "7b",
            "8",
            "9a",
            "9b",
        ),
        "wirespeed": ("table 1", "1", "2", "3", "4", "5"),
        "mona": (
            "1a",
            "1b",
            "2",
            "table I",
            "3",
            "4",
            "5a",
            "5b",
            "5c",
            "5d",
            "6",
            "7a",
            "7b",
            "7c",
            "7d",
            *(f"8{letter}" for letter in "abcdefgh"),
            "9a",
            "9b",
            "10a",
            "10b",
            "11a",
            "11b",
            "table II",
            "12a",
            "12b",
            "12c",
            "12d",
            "13a",
            "13b",
        ),
        "flowmon": ("1", "2"),
    }

    def test_every_figure_and_table_has_its_row_in_order(self):
        for paper in PAPERS:
            with self.subTest(paper=paper.name):
                names = [figure.name.split(",")[0] for figure in paper.figures if not figure.ours]
                found = [name for name in dict.fromkeys(names) if name in self.PARTS[paper.name]]
                self.assertEqual(found, list(self.PARTS[paper.name]))

    def test_what_has_no_judge_says_why(self):
        with self.assertRaisesRegex(ValueError, "either a judge, or why"):
            Figure("1", "x")
        for paper in PAPERS:
            for figure in paper.figures:
                self.assertTrue(figure.states)
                self.assertTrue(figure.judge or len(figure.not_here) > 20, figure.name)

    def test_a_figure_whose_runs_are_missing_was_not_yet_run(self):
        figure = Figure("1", "x", ("some",), lambda runs: Seen("", ()))
        self.assertEqual(judged(figure, {}).answer, NOT_YET)
        self.assertEqual(judged(Figure("1", "x", not_here="no network card, which it takes"), {}).answer, NOT_HERE)

    def test_a_figure_of_an_unknown_run_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no run some"):
            Paper("x", "x", (), (Figure("1", "x", ("some",), lambda runs: None),), {})


if __name__ == "__main__":
    unittest.main()
