# SPDX-License-Identifier: Apache-2.0
"""Rules of MONA's own by which its figures are judged, on rows that are made up: costs."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reproduce"))
import oracle
import states
from judge import FAILS, HOLDS, IN_PART, NOT_DECIDED, Answer
from mona_costs import figure_10b
from mona_overhead import OF_STATES, OF_TASKS, SIZES, figure_12a, figure_12b, figure_12c, figure_12d, table_2
from mona_rows import TASKS
from mona_steps import figure_5d
from rows import MissingRows, Rows, over_runs
from verdicts import answers, verdict

AGREES, OPEN, DISAGREES = Answer.AGREES, Answer.OPEN, Answer.DISAGREES


class Slots(unittest.TestCase):
    def of(self, recalls, losses=(0.3, 0.0)):
        return figure_10b(
            {
                "slots": Rows(
                    [
                        {
                            "slots": slots,
                            "mode": mode,
                            "task": task,
                            "recall": recall,
                            "missed_later_share": loss,
                            "exact": {"recall", "missed_later_share"},
                        }
                        for mode in ("off", "mona")
                        for slots, recall, loss in zip((16, 512), recalls, losses)
                        for task in TASKS
                    ]
                )
            }
        )

    def test_few_have_to_lower_the_recall_and_many_not(self):
        self.assertEqual(verdict(self.of((0.4, 0.96))), HOLDS)
        self.assertEqual(verdict(self.of((0.4, 0.9))), IN_PART)
        self.assertEqual(verdict(self.of((0.97, 0.96))), IN_PART)
        self.assertEqual(verdict(self.of((0.4, 0.96), losses=(0.0, 0.3))), IN_PART)


class Steps(unittest.TestCase):
    def test_a_policy_is_the_mean_of_its_first_steps_and_compared_in_each_run(self):
        def run_of(windows, reached, noise):
            return Rows(
                [
                    {
                        "policy": policy,
                        "first_step": step,
                        "windows": noise * (mean + 1000 * step),
                        "low_windows": 0,
                        "high_windows": 99,
                        "interval_of": "CASES",
                        "reached_share": noise * reached.get(policy, 0.4),
                        "low_reached_share": 0,
                        "high_reached_share": 1,
                    }
                    for policy, mean in windows.items()
                    for step in (0.001, 0.003)
                ]
            )

        def of(runs, reached=None, **windows):
            return figure_5d(
                {
                    "steps": over_runs(
                        [run_of(windows, {"MM": 0.5} | (reached or {}), 1 + number / 10) for number in range(runs)]
                    )
                }
            )

        self.assertEqual(verdict(of(5, MM=10, MA=11, AM=12, AA=13)), HOLDS, "whatever runs differ by")
        self.assertEqual(verdict(of(5, MM=10, MA=11, AM=9, AA=13)), FAILS, "one that is sooner")
        self.assertEqual(
            verdict(of(5, {"AM": 0.6}, MM=10, MA=11, AM=12, AA=13)),
            IN_PART,
            "one that is later comes to it in more cases",
        )
        self.assertEqual(verdict(of(1, MM=10, MA=11, AM=12, AA=13)), NOT_DECIDED, "the intervals of one run overlap")
        self.assertIn("MM 12.0, MA 13.0", of(1, MM=10, MA=11, AM=12, AA=13).text)


def state_rows(window_packets, flows, ns):
    """Rows of `bench states`, by numbers of states; `ns(states, flows)`: what counting takes, and what changing does,
    of a packet."""

    def of(states, flows, way, value):
        return {
            "states": states,
            "flows": flows,
            "window_packets": window_packets,
            "way": way,
            "ns": value,
            "exact": {"ns"},
        }

    rows = []
    for count in (5, 10, 20, 40, 64):
        for of_flows in flows:
            counting, changing = ns(count, of_flows)
            rows += [
                of(count, of_flows, "one-state", 20),
                of(count, of_flows, "counted", 20 + counting),
                of(count, of_flows, "decided", 21 + counting),
                of(count, of_flows, "changing", 21 + counting + changing),
                of(count, of_flows, "estimates", 0.05),
            ]
    return Rows(rows)


class Overhead(unittest.TestCase):
    def rows(self, share_of, counting=lambda states: 0.0, changing=lambda states, flows: 0.0):
        return {
            "deciding": Rows(
                [
                    {
                        "states": states,
                        "mode": mode,
                        "task": "HH-0",
                        "overhead_share": share_of(states),
                        "exact": {"overhead_share"},
                    }
                    for mode in ("mona-adapt", "mona")
                    for states in (*[size for size, *_ in SIZES], *OF_STATES.values())
                ]
            ),
            "state-costs": state_rows(148_800, (1000,), lambda states, _: (counting(states), 0)),
            "state-changes": state_rows(
                4000, (10, 100, 500, 1000), lambda states, flows: (counting(states), changing(states, flows))
            ),
        }

    def test_each_size_has_its_own_budget_of_all_overhead(self):
        def deciding(most):
            return lambda states: {"20x40": most, "40x40": 0.015}.get(states, 0.004)

        changing = lambda states, flows: 8 * flows / 250 if states == 40 else 0.0  # noqa: E731
        self.assertEqual(
            verdict(table_2(self.rows(deciding(0.015), changing=changing))),
            IN_PART,
            "1.28 % more for 40 states of 1,000 flows, 0.64 % of 500: more than 2 %",
        )
        changing = lambda states, flows: 4 * flows / 250 if states == 40 else 0.0  # noqa: E731
        self.assertEqual(verdict(table_2(self.rows(deciding(0.015), changing=changing))), HOLDS)
        self.assertEqual(verdict(table_2(self.rows(lambda states: 0.021))), FAILS)
        found = answers(table_2(self.rows(deciding(0.015), counting=lambda states: 1.0)))
        self.assertEqual(
            found["10x10 and 1,000 flows take less than 1 %"], OPEN, "1 ns of packets of 64 bytes is 1.5 %, at most"
        )
        self.assertEqual(found["20x20 and 1,000 flows take less than 1 %"], AGREES, "and 0.5 % of packets of 250")

    def test_counting_is_what_a_packet_takes_more_than_in_one_state(self):
        self.assertEqual(
            verdict(figure_12c(self.rows(lambda _: 0, counting=lambda states: states / 70))),
            IN_PART,
            "that 64 take more an upper bound does not say",
        )
        found = figure_12c(self.rows(lambda _: 0, counting=lambda states: states / 50))
        self.assertEqual(answers(found)["40 states take 1 % at most"], OPEN)
        self.assertIn("5: 0.22 %", found.text, "0.1 ns a packet, and 7 us a window")

    def test_changing_is_what_a_window_takes_more_than_one_that_stays_as_it_is(self):
        def of(changing, same=0.0):
            return figure_12d(
                self.rows(
                    lambda _: 0, counting=lambda _: 9, changing=lambda states, flows: same + changing(states, flows)
                )
            )

        self.assertEqual(
            verdict(of(lambda states, flows: 0.4 * states * flows / 1000)), HOLDS, "64 states of 1,000 flows: 102 us"
        )
        self.assertEqual(
            verdict(of(lambda states, flows: 0.4 * states * flows / 1000, same=50.0)),
            HOLDS,
            "what few flows take, too, is none of it",
        )
        self.assertEqual(
            answers(of(lambda states, flows: 0.7 * states * flows / 1000))["40 states of 1,000 flows take 1 % at most"],
            DISAGREES,
        )
        self.assertEqual(answers(of(lambda states, flows: 1.0))["64 states take more than 5 of 1,000 flows"], OPEN)

    def test_a_decision_takes_its_share_of_a_window(self):
        found = figure_12a(self.rows(lambda states: {"64x4": 0.0019}.get(states, 0.0005)))
        self.assertEqual(verdict(found), HOLDS, "19 us for 64 states, 5 for fewer")
        self.assertEqual(
            answers(figure_12a(self.rows(lambda states: {"64x4": 0.0021}.get(states, 0.0005))))[
                "64 states take 20 us at most"
            ],
            DISAGREES,
        )
        with self.assertRaises(MissingRows):
            figure_12a({"deciding": Rows([])})

    def test_accuracy_control_is_what_it_takes_more_than_adaptation_alone(self):
        def of(control):
            rows = [
                {
                    "states": states,
                    "mode": mode,
                    "task": "HH-0",
                    "overhead_share": 0.0017 + (control(tasks) if mode == "mona" else 0.0),
                }
                for tasks, states in OF_TASKS.items()
                for mode in ("mona-adapt", "mona")
            ]
            return figure_12b({"deciding": Rows(rows)})

        self.assertEqual(verdict(of(lambda tasks: 0.00003 * tasks)), HOLDS, "15 us for 50, beside 17 of adaptation")
        self.assertEqual(answers(of(lambda tasks: 0.00005 * tasks))["50 tasks take 20 us at most"], DISAGREES)
        self.assertEqual(answers(of(lambda tasks: 0.0001))["the time grows from 4 to 50 tasks"], OPEN)


class States(unittest.TestCase):
    def test_the_file_has_each_state_with_its_tasks(self):
        text = states.text()
        self.assertEqual(text.count("[[state]]"), 9)
        self.assertEqual(text.count("latency-change"), 2, "the last state of both")
        self.assertEqual(len(TASKS), 4)

    def test_costs_are_read_from_the_rows_of_states(self):
        profile = {
            "rows": [
                {"what": "find a flow, in cache, in batches", "ns": 9.0},
                {"what": "more in state s", "ns": 0.0},
                {"what": "more in state s02", "ns": 80.5},
                {"what": "in cache as Gumbel", "ns": 30.0},
            ]
        }
        costs = {state: row["ns"] for state, row in oracle.costs_of_states(profile).items()}
        self.assertEqual(costs, {oracle.name_of(()): 0, oracle.name_of((oracle.NAMES[0], oracle.NAMES[2])): 80.5})


if __name__ == "__main__":
    unittest.main()
