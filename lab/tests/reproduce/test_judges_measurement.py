# SPDX-License-Identifier: Apache-2.0
"""Judges of the SOSR paper that choose among sizes, on made-up rows."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reproduce"))
import measurement_judges as judges
from judge import Answer
from measurement_sharing import figure_9a
from measurement_tasks import figure_6, figure_7, heap_of_changes, task_by_accuracy, task_by_size
from paper import NotHere
from rows import MissingRows, Rows
from world import World

AGREES, DISAGREES = Answer.AGREES, Answer.DISAGREES


def row(table, memory_mb, ns, p99=None, **more):
    p99 = 10 * ns if p99 is None else p99
    return {
        "table": table,
        "memory_mb": memory_mb,
        "ns": ns,
        "low_ns": ns,
        "high_ns": ns,
        "p99_cycles": p99,
        "low_p99_cycles": p99,
        "high_p99_cycles": p99,
        "precision": 1.0,
        "recall": 1.0,
        "reportable_flows": 5,
        **more,
    }


def answers(seen, headline=None):
    return {one.what: one.answer() for one in seen.comparisons if headline is None or one.headline == headline}


class Sizes(unittest.TestCase):
    ROWS = (
        [row("count-array", memory, 3) for memory in (1, 4, 64)]
        + [row("heap", memory, 20) for memory in (5, 60)]
        + [row("linear", memory, ns) for memory, ns in ((1, 9), (4, 5), (16, 4), (64, 3.5))]
    )

    def test_tables_are_compared_at_one_memory(self):
        found = judges.at_equal_memory(Rows(self.ROWS))
        self.assertEqual([[one["memory_mb"] for one in rows] for rows in found], [[4, 4, 5], [64, 64, 60]])
        with self.assertRaises(MissingRows):
            judges.at_equal_memory(Rows(self.ROWS[:5] + [row("linear", 1000, 1)]))

    def test_a_table_that_is_full_is_none_of_them(self):
        full = [
            {**one, "occupied": 0.95}
            if one["memory_mb"] == 4
            else {**one, "rejected_share": 0.1}
            if one["memory_mb"] == 64
            else one
            for one in self.ROWS
        ]
        self.assertEqual([one["memory_mb"] for one in judges.holding_all(Rows(full), "linear")], [1, 16])

    def test_that_linear_costs_more_is_asked_where_tables_are_smallest(self):
        told = answers(judges.figure_2a({"data-sizes": Rows(self.ROWS)}), headline=True)
        self.assertEqual(
            [what for what in told if "linear" in what and "array" in what], ["count array below linear at 4 MB"]
        )
        self.assertEqual(
            answers(judges.figure_2a({"data-sizes": Rows(self.ROWS)}))["they differ less at 64 MB"], AGREES
        )

    def test_tails_are_compared_from_the_smallest_size_to_the_largest(self):
        rows = {
            "data-sizes": Rows(
                [
                    row(name, memory, 3, p99)
                    for name in ("count-array", "linear")
                    for memory, p99 in ((4, 10), (64, 90), (16, 5))
                ]
                + [row("heap", memory, 3, p99) for memory, p99 in ((4, 90), (64, 70))]
            ),
            "small-sizes": Rows([row("heap", 1, 2, 60)]),
        }
        told = answers(judges.figure_2a_sizes(rows))
        self.assertEqual((told["linear's p99 grows"], told["the heap's p99 falls"]), (AGREES, DISAGREES))


class Accuracy(unittest.TestCase):
    def judged(self, heap):
        return answers(
            self.seen(
                row("count-array-keys", 2, 3, precision=0.997, recall=0.97),
                row("heap", 8, 20, precision=heap, recall=heap),
            )
        )

    @staticmethod
    def seen(*sketches):
        runs = {
            "sizes": Rows(
                [row("linear", 4, 5, load=1), row("linear", 1, 1, load=4, rejected_share=0.1, precision=0.5)]
            ),
            "accuracy": Rows([row("count-array-replace", 2, 3, load=1), *sketches]),
        }
        return judges.figure_2bc("precision")(runs)

    def test_a_heap_that_is_as_right_as_any_is_not_the_worst(self):
        self.assertEqual(self.judged(0.9)["the heap's precision is the worst"], AGREES)
        for share in (0.997, 1.0):
            self.assertEqual(self.judged(share)["the heap's precision is the worst"], DISAGREES)

    def test_linear_is_judged_where_it_has_room(self):
        self.assertEqual(
            self.judged(0.9)["linear has a precision of 100 % at every size with room for all flows"], AGREES
        )

    def test_a_heap_that_is_cheaper_is_told(self):
        told = answers(self.seen(row("count-array-keys", 2, 3), row("heap", 8, 2, precision=0.5)), headline=True)
        self.assertEqual(told["linear's p99 below the heap's"], DISAGREES)

    def test_where_no_size_is_accurate_enough_the_paper_is_contradicted(self):
        told = answers(
            judges.figure_1c({"accuracy": Rows([row("count-array-keys", 2, 3), row("count-min", 2, 3, precision=0.9)])})
        )
        self.assertEqual(list(told.values()), [AGREES, DISAGREES])


class Tasks(unittest.TestCase):
    """A crowded array is cheap and imprecise, a large one precise and dear."""

    ROWS = Rows(
        [row("count-array", 1, 2, precision=0.76, load=1), row("count-array", 16, 4, precision=0.98, load=0.1)]
        + [
            row(name, memory, ns + extra, load=load)
            for memory, load, extra in ((2, 1, 0), (32, 0.1, 5))
            for name, ns in (("linear", 3), ("cuckoo-1", 3.5), ("cuckoo-4", 3.6))
        ]
    )

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


class HeapsOfChangesAndValues(unittest.TestCase):
    """Of changes: linear's cheapest size is the second, the heap's the first."""

    @staticmethod
    def changes(*heaps, linear=(9, 5)):
        return {
            "change": Rows(
                [row("linear", 2**at, ns, load=1 / 2**at) for at, ns in enumerate(linear)]
                + [row("count-array", 2**at, 1, precision=0.1, recall=0.1, load=1 / 2**at) for at in range(2)]
                + [row("heap-values", 4**at, ns, load=1 / 2**at, **more) for at, (ns, more) in enumerate(heaps)]
            )
        }

    def test_a_heap_that_finds_all_and_costs_more_is_as_the_paper_has_it(self):
        seen = heap_of_changes(self.changes((60, {}), (70, {})))
        self.assertEqual(set(answers(seen).values()), {AGREES})
        self.assertEqual(
            answers(seen, headline=True).keys(),
            {"the heap's recall of 100 %", "linear's mean below the heap's", "linear's p99 below the heap's"},
        )
        self.assertIn("the heap takes 55.0 ns more, the paper's 80 to 100", seen.text)

    def test_changes_that_are_missed_or_made_up_at_any_size_are_told(self):
        told = answers(heap_of_changes(self.changes((60, {}), (70, {"recall": 0.999}))))
        self.assertEqual([what for what, answer in told.items() if answer == DISAGREES], ["the heap's recall of 100 %"])
        told = answers(heap_of_changes(self.changes((60, {}), (70, {"precision": 0.999}))))
        self.assertEqual(
            [what for what, answer in told.items() if answer == DISAGREES], ["the heap's precision of 100 %"]
        )

    def test_costs_are_of_the_cheapest_sizes(self):
        told = answers(heap_of_changes(self.changes((6, {}), (70, {}))))
        self.assertEqual(told["linear's mean below the heap's"], AGREES, "5 ns, though it takes 9 at another size")
        told = answers(heap_of_changes(self.changes((90, {}), (4, {}))))
        self.assertEqual(
            (told["linear's mean below the heap's"], told["linear's p99 below the heap's"]), (DISAGREES, DISAGREES)
        )
        told = answers(heap_of_changes(self.changes((60, {"p99": 40}), (70, {}))))
        self.assertEqual(
            (told["linear's mean below the heap's"], told["linear's p99 below the heap's"]), (AGREES, DISAGREES)
        )

    def test_runs_without_the_heap_decide_nothing(self):
        with self.assertRaises(MissingRows):
            heap_of_changes(self.changes((60, {})))

    @staticmethod
    def values(**p99):
        tables = {
            "count-array-values": (10, 20, 30),
            "linear": (10, 20, 30),
            "linear-index": (10, 20, 30),
            "heap-values": (10, 20, 30),
            **p99,
        }
        return {
            "values": Rows(
                [
                    row(table, 1, cycles / 10, cycles, zipf=zipf, value_bytes=size)
                    for table, each in tables.items()
                    for zipf in (0.75, 1.1)
                    for size, cycles in zip((4, 16, 64), each if zipf == 1.1 else (50, 50, 50))
                ]
            )
        }

    def test_tails_of_heap_and_linear_grow_with_their_values(self):
        seen = figure_6(self.values())
        self.assertEqual(set(answers(seen).values()), {AGREES})
        self.assertEqual(
            {what.split("'")[0] for what in answers(seen, headline=True)},
            {"count-array-values", "linear", "heap-values"},
        )
        self.assertIn("heap-values 10, 20, 30", seen.text)

    def test_a_heap_whose_tail_does_not_grow_is_told(self):
        told = answers(figure_6(self.values(**{"heap-values": (30, 40, 20)})), headline=True)
        self.assertEqual(
            [what for what, answer in told.items() if answer == DISAGREES],
            ["heap-values's p99 at 4 below that at 64 bytes"],
        )

    def test_a_heap_whose_figures_are_the_best_changes_no_judge_of_others(self):
        runs = World(upside_down=False).measurement()
        judged = {
            "change": (task_by_size("change"), task_by_accuracy("change", 0.99, 1, "")),
            "values": (figure_7("ns", "mean"), figure_7("p99_cycles", "p99")),
        }
        for name, of_run in judged.items():
            others = [one for one in runs[name] if one["table"] != "heap-values"]
            cheap = [
                {**one, "ns": 0.1, "p99_cycles": 1, "memory_mb": 0.01}
                for one in runs[name]
                if one["table"] == "heap-values"
            ]
            self.assertTrue(cheap)
            for judge in of_run:
                self.assertEqual(judge({name: Rows(others + cheap)}), judge({name: Rows(others)}))


class Heaps(unittest.TestCase):
    def test_any_heap_that_wins_anywhere_is_told(self):
        def of(**cheap):
            costs = {"linear": 9, "count-array": 8, "heap": 30, "heap-values": 20, "space-saving": 25}
            return answers(
                judges.figure_2_heap(
                    {
                        "heap": Rows(
                            [
                                row(
                                    table,
                                    1,
                                    cheap.get(table.replace("-", "_"), ns) if (flows, zipf) == (1024, 2) else ns,
                                    flows=flows,
                                    zipf=zipf,
                                )
                                for flows in (1024, 4096)
                                for zipf in (1.1, 2)
                                for table, ns in costs.items()
                            ]
                        )
                    }
                ),
                headline=True,
            )

        self.assertEqual(set(of().values()), {AGREES})
        for table, name in (
            ("heap", "the heap"),
            ("heap_values", "a heap whose entries are prefetched"),
            ("space_saving", "a heap of 10,000 keys at most"),
        ):
            self.assertEqual(
                [what for what, answer in of(**{table: 7}).items() if answer == DISAGREES],
                [f"linear below {name} at 1024 flows, skew 2"],
            )


class Neighbours(unittest.TestCase):
    ROWS = [
        row(name, 1, ns + (5 if size > 16 else 0), footprint_mb=size)
        for name, ns in (("count-array", 3), ("linear", 4))
        for size in (0, 16, 64)
    ]

    def test_what_is_within_the_cache_is_as_the_machine_tells_it(self):
        run = Rows(self.ROWS)
        run.machine = {"l3": "32768 KB"}
        told = answers(figure_9a({"footprint": run}), headline=True)
        self.assertEqual(set(told.values()), {AGREES})
        self.assertEqual(
            {what for what in told if what.startswith("linear")},
            {"linear at most a quarter slower beside 16 MB", "linear slower beside 64 MB than alone"},
        )
        run.machine = {"l3": "131072 KB"}
        self.assertIn(DISAGREES, answers(figure_9a({"footprint": run})).values())
        run.machine = {}
        with self.assertRaisesRegex(NotHere, "last-level cache"):
            figure_9a({"footprint": run})


if __name__ == "__main__":
    unittest.main()
