# SPDX-License-Identifier: Apache-2.0
"""Judges of the SOSR paper that choose among sizes, on made-up rows."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools" / "reproduce"))
import measurement_judges as judges  # noqa: E402
from judge import Answer  # noqa: E402
from measurement_sharing import figure_9a  # noqa: E402
from measurement_tasks import task_by_accuracy, task_by_size  # noqa: E402
from paper import NotHere  # noqa: E402
from rows import MissingRows, Rows  # noqa: E402

AGREES, DISAGREES = Answer.AGREES, Answer.DISAGREES


def row(table, memory_mb, ns, p99=None, **more):
    p99 = 10 * ns if p99 is None else p99
    return {"table": table, "memory_mb": memory_mb, "ns": ns, "low_ns": ns, "high_ns": ns, "p99_cycles": p99, "low_p99_cycles": p99, "high_p99_cycles": p99,
            "precision": 1.0, "recall": 1.0, "reportable_flows": 5, **more}


def answers(seen, headline=None):
    return {one.what: one.answer() for one in seen.comparisons if headline is None or one.headline == headline}


class Sizes(unittest.TestCase):
    ROWS = [row("count-array", memory, 3) for memory in (1, 4, 64)] + [row("heap", memory, 20) for memory in (5, 60)] + [
        row("linear", memory, ns) for memory, ns in ((1, 9), (4, 5), (16, 4), (64, 3.5))]

    def test_tables_are_compared_at_one_memory(self):
        found = judges.at_equal_memory(Rows(self.ROWS))
        self.assertEqual([[one["memory_mb"] for one in rows] for rows in found], [[4, 4, 5], [64, 64, 60]])
        with self.assertRaises(MissingRows):
            judges.at_equal_memory(Rows(self.ROWS[:5] + [row("linear", 1000, 1)]))

    def test_a_table_that_is_full_is_none_of_them(self):
        full = [{**one, "occupied": 0.95} if one["memory_mb"] == 4 else {**one, "rejected_share": 0.1} if one["memory_mb"] == 64 else one for one in self.ROWS]
        self.assertEqual([one["memory_mb"] for one in judges.holding_all(Rows(full), "linear")], [1, 16])

    def test_that_linear_costs_more_is_asked_where_tables_are_smallest(self):
        told = answers(judges.figure_2a({"data-sizes": Rows(self.ROWS)}), headline=True)
        self.assertEqual([what for what in told if "linear" in what and "array" in what], ["count array below linear at 4 MB"])
        self.assertEqual(answers(judges.figure_2a({"data-sizes": Rows(self.ROWS)}))["they differ less at 64 MB"], AGREES)

    def test_tails_are_compared_from_the_smallest_size_to_the_largest(self):
        rows = {"data-sizes": Rows([row(name, memory, 3, p99) for name in ("count-array", "linear") for memory, p99 in ((4, 10), (64, 90), (16, 5))] +
                                   [row("heap", memory, 3, p99) for memory, p99 in ((4, 90), (64, 70))]),
                "small-sizes": Rows([row("heap", 1, 2, 60)])}
        told = answers(judges.figure_2a_sizes(rows))
        self.assertEqual((told["linear's p99 grows"], told["the heap's p99 falls"]), (AGREES, DISAGREES))


class Accuracy(unittest.TestCase):
    def judged(self, heap):
        return answers(self.seen(row("count-array-keys", 2, 3, precision=0.997, recall=0.97), row("heap", 8, 20, precision=heap, recall=heap)))

    @staticmethod
    def seen(*sketches):
        runs = {"sizes": Rows([row("linear", 4, 5, load=1), row("linear", 1, 1, load=4, rejected_share=0.1, precision=0.5)]),
                "accuracy": Rows([row("count-array-replace", 2, 3, load=1), *sketches])}
        return judges.figure_2bc("precision")(runs)

    def test_a_heap_that_is_as_right_as_any_is_not_the_worst(self):
        self.assertEqual(self.judged(0.9)["the heap's precision is the worst"], AGREES)
        for share in (0.997, 1.0):
            self.assertEqual(self.judged(share)["the heap's precision is the worst"], DISAGREES)

    def test_linear_is_judged_where_it_has_room(self):
        self.assertEqual(self.judged(0.9)["linear has all of the precision wherever it has room"], AGREES)

    def test_a_heap_that_is_cheaper_is_told(self):
        told = answers(self.seen(row("count-array-keys", 2, 3), row("heap", 8, 2, precision=0.5)), headline=True)
        self.assertEqual(told["linear's p99 below the heap's"], DISAGREES)

    def test_where_no_size_is_accurate_enough_the_paper_is_contradicted(self):
        told = answers(judges.figure_1c({"accuracy": Rows([row("count-array-keys", 2, 3), row("count-min", 2, 3, precision=0.9)])}))
        self.assertEqual(list(told.values()), [AGREES, DISAGREES])


class Tasks(unittest.TestCase):
    """A crowded array is cheap and imprecise, a large one precise and dear."""
    ROWS = Rows([row("count-array", 1, 2, precision=0.76, load=1), row("count-array", 16, 4, precision=0.98, load=0.1)] +
                [row(name, memory, ns + extra, load=load) for memory, load, extra in ((2, 1, 0), (32, 0.1, 5)) for name, ns in
                 (("linear", 3), ("cuckoo-1", 3.5), ("cuckoo-4", 3.6))])

    def test_accuracy_is_of_the_size_that_has_it(self):
        told = answers(task_by_accuracy("x", 0.97, 0.99, "")({"x": self.ROWS}))
        self.assertEqual(told["the count array reaches a precision of 97 %"], AGREES)
        self.assertEqual(told["the count array's p99 below linear's"], DISAGREES)
        told = answers(task_by_accuracy("x", 0.99, 0.99, "")({"x": self.ROWS}))
        self.assertEqual(told["the count array reaches a precision of 99 %"], DISAGREES)
        self.assertNotIn("the count array's p99 below linear's", told)

    def test_the_order_is_of_every_size(self):
        told = answers(task_by_size("x")({"x": self.ROWS}), headline=True)
        self.assertEqual({what.split(" at ")[1] for what in told}, {"2 MB", "32 MB"})
        self.assertEqual(set(told.values()), {AGREES})


class Neighbours(unittest.TestCase):
    ROWS = [row(name, 1, ns + (5 if size > 16 else 0), footprint_mb=size) for name, ns in (("count-array", 3), ("linear", 4)) for size in (0, 16, 64)]

    def test_what_is_within_the_cache_is_as_the_machine_tells_it(self):
        run = Rows(self.ROWS)
        run.machine = {"l3": "32768 KB"}
        told = answers(figure_9a({"footprint": run}), headline=True)
        self.assertEqual(set(told.values()), {AGREES})
        self.assertEqual({what for what in told if what.startswith("linear")}, {"linear at most a quarter slower beside 16 MB", "linear slower beside 64 MB than alone"})
        run.machine = {"l3": "131072 KB"}
        self.assertIn(DISAGREES, answers(figure_9a({"footprint": run})).values())
        run.machine = {}
        with self.assertRaisesRegex(NotHere, "last-level cache"):
            figure_9a({"footprint": run})


if __name__ == "__main__":
    unittest.main()
