# SPDX-License-Identifier: Apache-2.0
"""Judges of the paper on classification at wire speed, on made-up rows; and the samples that Weka learns from."""

import csv
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reproduce"))
import weka
from judge import Answer
from paper import NotYet
from rows import Rows
from wirespeed_judges import figure_3_simplest, figure_3_wire_speed, figure_5
from wirespeed_table import factor, per_cpu_second

EIGHT_CORES = [{"machine": {"cores": "8"}}]
AGREES, OPEN, DISAGREES = Answer.AGREES, Answer.OPEN, Answer.DISAGREES


def known(noise=0.001, **columns):
    """A row whose values have intervals."""
    return {
        name: value
        for column, middle in columns.items()
        for name, value in (
            (column, middle),
            (f"low_{column}", middle * (1 - noise)),
            (f"high_{column}", middle * (1 + noise)),
        )
    }


def answers(seen):
    return {one.what: one.answer() for one in seen.comparisons}


class Stages(unittest.TestCase):
    def judged(self, sniffed, handled, affinity="any"):
        rates = known(
            noise=0.0002,
            offered_mpps=14.2,
            sniffed_mpps=sniffed,
            handled_mpps=handled,
            classified_mpps=handled,
            classified_kfps=handled * 200,
        )
        row = {
            "row": "1I-1Q-1P",
            "shape": "1I-1Q-1P",
            **rates,
            "cpu": 1.0,
            "sniffing_cpu": 0.3,
            "handling_cpu": 0.5,
            "classifying_cpu": 0.2,
            "source_ns": 4.0,
            "sniffing_ns": 20.0,
            "lossless_mpps": 9.0,
            "threads": 3,
            "affinity": affinity,
        }
        told = answers(
            figure_3_simplest(
                dict.fromkeys(("worst-case", "worst-case-any", "worst-case-lossless"), Rows([row], EIGHT_CORES))
            )
        )
        return told["on one core sniffing handles less than is sent"], told[
            "on one core flow handling handles less than sniffing"
        ]

    def test_each_module_takes_less_or_all(self):
        self.assertEqual(self.judged(12.1, 7.9), (AGREES, AGREES))
        self.assertEqual(self.judged(12.1, 12.1), (AGREES, DISAGREES))
        self.assertEqual(self.judged(14.2, 14.2), (DISAGREES, DISAGREES))

    def test_what_takes_less_on_one_core_stays_open(self):
        self.assertEqual(self.judged(12.1, 7.9, "0,0,0"), (OPEN, OPEN))
        self.assertEqual(self.judged(4.0, 7.9, "0,0,0")[0], AGREES)  # three times as much would be less

    def test_a_loss_that_counts_as_none_is_none(self):
        self.assertNotEqual(self.judged(14.19, 14.18)[0], AGREES)


class WireSpeed(unittest.TestCase):
    @staticmethod
    def judged(lost, affinity, cores=2):
        row = {
            "shape": "1I-2Q-2P",
            "row": "1I-2Q-2P",
            "threads": 6,
            "affinity": affinity,
            "source_ns": 4.0,
            "cpu_ns": 100.0,
            "sniffing_cpu": None,
            "cpu": 1.0,
            **known(lost_share=lost, noise=0.01),
            **known(
                sniffed_mpps=14.2,
                handled_mpps=14.2,
                classified_mpps=14.2,
                classified_kfps=2800,
                lossless_mpps=14.2 * (1 - lost),
            ),
        }
        run = Rows([row, {**row, "shape": "1I-2Q-inline"}], [{"machine": {"cores": str(cores)}}])
        return list(answers(figure_3_wire_speed(dict.fromkeys(("worst-case", "worst-case-lossless"), run))).values())

    def test_what_threads_lose_that_share_a_core_stays_open(self):
        self.assertEqual(self.judged(0.3, "0,1,0,1,0,1"), [OPEN, OPEN])
        self.assertEqual(self.judged(0.3, "any"), [OPEN, OPEN])
        self.assertEqual(self.judged(0.3, "any", cores=6), [DISAGREES, DISAGREES])
        self.assertEqual(self.judged(0.0, "0,1,0,1,0,1"), [AGREES, AGREES])

    def test_what_is_lost_beyond_that_does_not(self):
        self.assertEqual(self.judged(0.7, "0,1,0,1,0,1"), [DISAGREES, DISAGREES])


class CappedFrames(unittest.TestCase):
    def judged(self, rates):
        rows = [
            {
                "row": "1I-1Q-1P",
                "shape": "1I-1Q-1P",
                "cap": cap,
                "line_mpps": line,
                "traffic": "made",
                "threads": 3,
                "affinity": "any",
                **known(lossless_mpps=rate),
            }
            for cap, line, rate in rates
        ]
        return answers(figure_5({"headers-capped": Rows(rows, EIGHT_CORES)}))

    def test_the_most_of_any_cap_counts(self):
        self.assertEqual(self.judged([(64, 14.5, 5.0), (1500, 4.7, 3.0)]), {"1I-1Q-1P reaches 3.8 Mpps": AGREES})
        self.assertEqual(self.judged([(64, 14.5, 3.0), (1500, 4.7, 3.5)]), {"1I-1Q-1P reaches 3.8 Mpps": DISAGREES})

    def test_a_line_is_asked_for_where_the_paper_has_it(self):
        told = self.judged([(64, 14.5, 5.0), (500, 3.7, 3.0), (1500, 1.6, 1.6)])
        self.assertEqual(
            (told["it has its line with frames up to 500"], told["it has its line with frames up to 1500"]),
            (DISAGREES, AGREES),
        )


class Factor(unittest.TestCase):
    WORST = {"shape": "1I-2Q-2P", "threads": 6, "affinity": "any", **known(classified_kfps=2800.0, cpu_ns=100.0)}

    def judged(self, kfps):
        return answers(
            factor(
                {
                    "worst-case": Rows([self.WORST], EIGHT_CORES),
                    "off-line": Rows([{"row": "NaiveBayes", **known(kfps=kfps)}]),
                }
            )
        )

    def test_is_of_flows_in_a_second(self):
        self.assertEqual(list(self.judged(30.0).values()), [AGREES, AGREES])
        self.assertEqual(list(self.judged(1000.0).values()), [DISAGREES, AGREES])
        self.assertEqual(list(self.judged(5000.0).values()), [DISAGREES, DISAGREES])

    def test_less_cpu_is_more_flows(self):
        told = per_cpu_second({"cpu_ns": 100.0, "low_cpu_ns": 50.0, "high_cpu_ns": 200.0})
        self.assertEqual((told.value, told.low, told.high), (2000, 1000, 4000))

    def test_without_weka_it_is_not_yet_run(self):
        lacks = Rows([], [{"missing": "no java"}])
        with self.assertRaisesRegex(NotYet, "no java"):
            factor({"worst-case": Rows([self.WORST]), "off-line": lacks})
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(weka.shutil, "which", return_value=None):
            path = pathlib.Path(folder) / "run.json"
            weka.OFF_LINE.measure("parshall", path)
            self.assertEqual(
                (Rows.read(path).all, Rows.read(path).documents[0]["missing"]),
                ([], "no java and no mvn (Debian: default-jdk-headless, maven)"),
            )


class Samples(unittest.TestCase):
    def test_are_sizes_of_first_packets_by_class(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "samples.csv"
            weka.write_samples(path)
            rows = list(csv.DictReader(path.read_text().splitlines()))
        self.assertEqual((len(rows), len({row["class"] for row in rows})), (weka.CLASSES * weka.FLOWS, weka.CLASSES))
        self.assertTrue(
            all(40 <= int(row[f"size_{place}"]) <= 1500 for row in rows for place in range(1, weka.PACKETS + 1))
        )
        first = [row for row in rows if row["class"] == "class 0"]
        self.assertLess(max(int(row["size_1"]) for row in first) - min(int(row["size_1"]) for row in first), 310)


if __name__ == "__main__":
    unittest.main()
