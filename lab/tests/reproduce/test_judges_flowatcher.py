# SPDX-License-Identifier: Apache-2.0
"""Judges of the FloWatcher paper that have a rule of their own, on made-up rows."""

import unittest

from world import World  # first: it says where the modules are

# isort: split

import closed_loop
import fair_queue
import flowatcher_capture
import flowatcher_devices
import flowatcher_flows
import flowatcher_hashes
import flowatcher_rivals
import flowatcher_threads
import monitor_losses
from judge import Answer
from paper import NotYet
from rows import Rows, over_runs

AGREES, OPEN, DISAGREES = Answer.AGREES, Answer.OPEN, Answer.DISAGREES


def sure(column, value):
    return {column: value, f"low_{column}": value, f"high_{column}": value}


def answers(seen):
    return {one.what: one.answer() for one in seen.comparisons}


class HighestRate(unittest.TestCase):
    RATES = [100, 150, 225, 340, 510, 765, 1150, 1725]

    def found(self, most):
        tried = []

        def losses(rate):
            tried.append(rate)
            return 0.0 if rate <= most else 0.25

        return monitor_losses.highest(losses, self.RATES), len(tried)

    def test_it_is_the_last_that_loses_nothing(self):
        for place, rate in enumerate(self.RATES[:-1]):
            for most in (rate, rate + 1):
                self.assertEqual(self.found(most)[0], (place, 0.25))

    def test_it_is_none_where_all_lose_and_one_trial_where_none_does(self):
        self.assertEqual(self.found(99)[0], (-1, 0.25))
        self.assertEqual(self.found(2000), ((7, 0.0), 1))

    def test_a_row_is_from_one_rate_to_the_next(self):
        def row(most):
            told = monitor_losses.row_of("x", "tuned", lambda rate: 0.0 if rate <= most else 0.25, [1000, 2000, 4000])
            return tuple(told[f"{end}lossless_kpps"] for end in ("low_", "", "high_"))

        self.assertEqual([row(most) for most in (500, 1500, 2500, 4000)], [(0, 0, 1), (1, 1, 2), (2, 2, 4), (4, 4, 4)])

    def test_one_pause_is_nobodys_loss(self):
        shares = iter([0.3, 0.0, 0.1, 0.2])
        self.assertEqual([monitor_losses.least_of(lambda: next(shares)) for _ in range(2)], [0.0, 0.1])

    def test_who_loses_nothing_is_not_told_apart(self):
        def judged(theirs):
            rows = [
                {
                    "row": name,
                    "setting": "default",
                    "highest_kpps": 400.0,
                    **sure("lossless_kpps", kpps),
                    **sure("lost_share", lost),
                }
                for name, kpps, lost in (("flows, parshall", 400, 0.0), ("packets, tcpdump", *theirs))
            ]
            return list(answers(flowatcher_rivals.monitors({"monitor-losses": Rows(rows)})).values())

        self.assertEqual(judged((400, 0.0)), [OPEN, OPEN])
        self.assertEqual(judged((200, 0.3)), [AGREES, AGREES])

    def test_without_a_network_it_was_not_yet_run(self):
        with self.assertRaisesRegex(NotYet, "root"):
            flowatcher_rivals.monitors({"monitor-losses": Rows([], [{"missing": "namespaces are root's"}])})


class Queues(unittest.TestCase):
    @staticmethod
    def run_of(costs):
        return Rows(
            [
                {"cores": cores, "queues": queues, "cache": 256, "pools": "own", **sure("ns", ns)}
                for (cores, queues), ns in costs.items()
            ]
        )

    def test_two_are_a_core_each(self):
        """Two cores that each take as long as one alone have twice its rate; not so where they take more than twice as
        long."""
        costs = {(1, 1): 2.0, (1, 2): 1.0, (2, 1): 2.1, (2, 2): 3.0}
        seen = flowatcher_capture.figure_5b({"receive": self.run_of(costs)})
        self.assertEqual(answers(seen), {"two queues take more than 1": AGREES, "two queues take more than 4": AGREES})
        self.assertIn("1 queue 500, 2 queues 952, 4 queues 667", seen.text)
        contended = flowatcher_capture.figure_5b({"receive": self.run_of({**costs, (2, 1): 4.1})})
        self.assertEqual(set(answers(contended).values()), {DISAGREES})

    def test_ratios_within_runs_are_of_all_cores_too(self):
        runs = [
            self.run_of({(1, 1): 2.0 * speed, (2, 1): 3.0 * speed, (2, 2): 5.0 * speed}) for speed in (1, 2, 3, 4, 5)
        ]
        self.assertEqual(set(answers(flowatcher_capture.figure_5b({"receive": over_runs(runs)})).values()), {AGREES})


class Losses(unittest.TestCase):
    def test_tables_are_compared_in_each_process(self):
        """Runs differ by more than tables do."""
        shares = [number / 20 for number in range(15)]
        self.assertEqual(flowatcher_flows.loses_less("x", shares, [share + 0.01 for share in shares]).answer(), AGREES)
        self.assertEqual(
            flowatcher_flows.loses_less("x", [share + 0.01 for share in shares], shares).answer(), DISAGREES
        )
        self.assertEqual(flowatcher_flows.loses_less("x", shares, shares).answer(), OPEN)

    def test_a_factor_is_of_each_process(self):
        lost = [0.01 * number for number in range(1, 16)]
        kept = [
            flowatcher_flows.loses_less("x", lost, [factor * share for share in lost], 0.1).answer()
            for factor in (12, 8)
        ]
        self.assertEqual(kept, [AGREES, DISAGREES])

    def test_the_middle_has_an_interval_of_the_samples(self):
        found = flowatcher_flows.middle_of(list(range(15)))
        self.assertEqual((found.value, found.low, found.high), (7, 3, 11))


class Hashes(unittest.TestCase):
    def test_costs_are_added_with_their_intervals(self):
        row = flowatcher_hashes.added({"ns": 2, "low_ns": 1, "high_ns": 4}, {"ns": 20, "low_ns": 10, "high_ns": 40})
        self.assertEqual((row["ns"], row["low_ns"], row["high_ns"]), (22, 11, 44))

    def test_the_best_seed_is_judged_of_all_runs(self):
        rows = World(upside_down=False).flowatcher()["hashes"]
        columns = {"exact": frozenset({"random_overflow_share", "consecutive_overflow_share"})}
        runs = [
            Rows([{**row, "random_overflow_share": share, **columns} for row in rows]) for share in (0.1, 0.005, 0.2)
        ]
        self.assertEqual(set(answers(flowatcher_hashes.seed({"hashes": over_runs(runs)})).values()), {AGREES})
        self.assertEqual(set(answers(flowatcher_hashes.seed({"hashes": over_runs(runs[::2])})).values()), {DISAGREES})


class ClosedLoop(unittest.TestCase):
    def rows(self, *miscounted):
        row = {
            name: value for name, value in World(upside_down=False).closed_loop()[0].items() if "miscounted" not in name
        }
        return over_runs([Rows([{**row, "miscounted": one, "exact": frozenset({"miscounted"})}]) for one in miscounted])

    def answer(self, *miscounted):
        return next(iter(answers(flowatcher_devices.same_log({"closed-loop": self.rows(*miscounted)})).values()))

    def test_counts_may_differ_where_packets_were_missed(self):
        seen = {"connections_seen": 100, "missed": 3}
        self.assertIsNone(closed_loop.counted_alike({"connections": 1000}, seen)["miscounted"])
        self.assertEqual(closed_loop.counted_alike({"connections": 1000}, {**seen, "missed": 0})["miscounted"], 900)

    def test_only_runs_without_a_miss_tell(self):
        self.assertEqual(
            [self.answer(0, 0, 0), self.answer(None, None, None), self.answer(7, 9, 8), self.answer(0, 9, 0)],
            [AGREES, OPEN, DISAGREES, OPEN],
        )
        self.assertEqual([self.answer(0, None, 0), self.answer(5, None, 9)], [AGREES, DISAGREES])

    def test_few_clients_are_judged_by_a_flow_too(self):
        rows = [
            {
                "row": "watched",
                "clients": clients,
                **sure("total_mbps", total),
                **sure("flow_mbps", flow),
                "per_s": 1,
                "p50_us": 1,
            }
            for clients, total, flow in ((1, 100, 90), (400, 980, 2))
        ]
        seen = flowatcher_devices.few_clients({"closed-loop": Rows(rows)})
        self.assertEqual(set(answers(seen).values()), {AGREES})
        rows[0] |= sure("flow_mbps", 600)
        self.assertEqual(
            answers(flowatcher_devices.few_clients({"closed-loop": Rows(rows)}))[
                "a flow of 1 client has half of that or less"
            ],
            DISAGREES,
        )

    def test_one_client_is_judged_without_a_monitor_where_that_was_run(self):
        rows = [
            {
                "row": "watched",
                "clients": clients,
                **sure("total_mbps", total),
                **sure("flow_mbps", 1),
                "per_s": 1,
                "p50_us": 1,
            }
            for clients, total in ((1, 900), (100, 980))
        ]
        rows += [{"row": "alone", "clients": clients, **sure("per_s", rate)} for clients, rate in ((1, 40), (100, 98))]
        seen = flowatcher_devices.few_clients({"closed-loop": Rows(rows)})
        self.assertEqual(
            [(each.what, each.answer()) for each in seen.comparisons if each.headline],
            [("1 client: at most half of the most connections a second, without a monitor", AGREES)],
        )
        self.assertNotIn("100 clients: at most half of the maximum", answers(seen), "of itself")


class Schedulers(unittest.TestCase):
    @staticmethod
    def seen(fair, held):
        return answers(
            flowatcher_threads.table_3_schedulers(
                {
                    "models": Rows(
                        [
                            {
                                "model": "run-to-completion",
                                "workers": 1,
                                "scheduler": scheduler,
                                **sure("modelled_loss", loss),
                                **sure("alone_modelled_loss", loss),
                                "alone_max_gap_us": 1,
                            }
                            for scheduler, loss in (("other", fair), ("deadline", held))
                        ]
                    )
                }
            )
        )

    def test_a_thousand_times_nearly_half_is_more_than_all(self):
        what = "a pair on a core loses a thousand times more under SCHED_DEADLINE"
        self.assertEqual(
            [self.seen(*each)[what] for each in ((0.47, 0.56), (1e-4, 0.56), (1e-4, 0.05))], [OPEN, AGREES, DISAGREES]
        )


class FairQueue(unittest.TestCase):
    @staticmethod
    def runs(*received_of):
        """Runs in which flows got what `received_of(sent, fair)` says."""
        made = []
        for received in received_of:
            sent = [20_000 / flow for flow in range(1, fair_queue.FLOWS + 1)]
            seconds = fair_queue.PASSED * sum(sent) / fair_queue.RATE_PPS
            fair = fair_queue.max_min(sent, fair_queue.RATE_PPS * seconds)
            report = {
                "flows": [
                    {
                        "stream": stream,
                        "sent_frames": frames,
                        "received_frames": received(frames, fair),
                        "sent_pps": frames / seconds,
                    }
                    for stream, frames in enumerate(sent)
                ]
            }
            made.append(Rows([{**row, "exact": frozenset()} for row in fair_queue.rows_of(report)]))
        return {"fair-queue": over_runs(made)}

    def test_a_row_says_what_its_flow_has_to_get(self):
        row = self.runs(lambda sent, fair: 0.5 * min(sent, fair))["fair-queue"].all[0]
        self.assertAlmostEqual(row["got_share"], 0.5)
        self.assertAlmostEqual(row["off"], 0.5 * row["fair"])

    def test_the_worst_run_decides_with_the_best(self):
        def right(sent, fair):
            return min(sent, fair)

        def wrong(sent, fair):
            return 0.7 * min(sent, fair)

        for judge in (flowatcher_devices.operates, flowatcher_devices.others):
            found = [
                list(answers(judge(self.runs(*ways))).values())
                for ways in (5 * [right], 5 * [wrong], [*4 * [right], wrong])
            ]
            self.assertEqual(found, [[AGREES], [DISAGREES], [OPEN]])


if __name__ == "__main__":
    unittest.main()
