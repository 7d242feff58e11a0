# SPDX-License-Identifier: Apache-2.0
"""What runs say of table 1 of the paper on classification at wire speed: the rate, and the factor to off-line
learners."""

from comparing import estimate, reaches
from judge import Comparison, Estimate
from paper import NotYet, Seen
from wirespeed_judges import cores_here, shape, with_cores

PACKETS = 5  # of a flow, in figure 3
FACTOR = 93


def table_1(runs):
    """The row that the paper adds to its list: what it classifies a second."""
    row = shape(runs["worst-case"], "1I-2Q-2P")
    inline = shape(runs["worst-case"], "1I-2Q-inline")
    return Seen(
        f"1I-2Q-2P {row['classified_kfps'] / 1e3:.2f} Mflows/s; run to completion {inline['classified_kfps'] / 1e3:.2f}"
        f"; the earlier work's best are "
        "0.03 (offline, on a CPU) and 1 (flow handling on six cores)",
        (
            reaches(
                "two queues classify 2.8 Mflows/s",
                with_cores(runs["worst-case"], row),
                2800,
                "classified_kfps",
                headline=True,
            ),
            reaches("more than the best earlier work", with_cores(runs["worst-case"], row), 1000, "classified_kfps"),
        ),
        "the other rows are of the literature; the paper's machine had eight cores, " + cores_here(runs["worst-case"]),
    )


def per_cpu_second(row):
    """Thousand flows that a row of figure 3 classifies in a second of CPU time of all its threads."""
    ns = estimate(row, "cpu_ns")
    value, low, high = (1e6 / PACKETS / end for end in (ns.value, ns.high, ns.low))
    return Estimate(value, low, high, ns.of, "Kflows/s")


def factor(runs):
    """Flows on line to flows off line: those of a machine to those of a thread, and both in a second of CPU time."""
    off_line = runs["off-line"]
    if not off_line.all:
        raise NotYet(f"it takes Weka: {off_line.documents[0]['missing']}")
    weka, row = off_line.one(row="NaiveBayes"), shape(runs["worst-case"], "1I-2Q-2P")
    theirs, cpu = estimate(weka, "kfps"), per_cpu_second(row)
    return Seen(
        f"1I-2Q-2P {row['classified_kfps'] / 1e3:.2f} Mflows/s on line, Weka's naive Bayes {theirs.value:.0f} Kflows/s "
        f"off line: {row['classified_kfps'] / theirs.value:.1f} "
        f"times. In a second of CPU time {cpu.value:.0f} Kflows: {cpu.value / theirs.value:.1f} times",
        (
            Comparison(
                f"{FACTOR} times as many flows on line as off line, per second",
                theirs.times(FACTOR),
                estimate(with_cores(runs["worst-case"], row), "classified_kfps"),
                or_equal=True,
                headline=True,
            ),
            Comparison("more per second of CPU time", theirs, cpu),
        ),
        "differs here: Weka classifies flows that are in memory, with ten generated classes, on one core of this "
        "machine, after its virtual machine has compiled it. The paper's 0.03 Mflows/s are from another study. The "
        "accuracy of naive Bayes: [the confusion matrix](../accuracy-classes.md#confusion-matrix)",
    )
