# SPDX-License-Identifier: Apache-2.0
"""What judges of MONA share: names of tasks and modes, and estimates that stand for several rows."""

import math
import statistics

from comparing import estimate
from judge import Estimate, Of
from rows import MissingRows

TASKS = {"heavy-hitters": "HH", "retransmissions": "RTx", "bursty": "Bursty", "latency-change": "LatChange"}
FIRST = next(iter(TASKS))  # a row of each run, where all have the same
NO_ADAPT, ADAPT, CONTROL = "off", "mona-adapt", "mona"  # as the paper has it
OURS = "adapt"  # the default policy of Parshall
THRESHOLD = 0.75  # of recall, as in the paper
NOTHING = 1e-3  # share of packets
KEPT = (
    "heavy hitters follow all flows in configuration 1, where a state without them saves no time. In configuration 2 "
    "they leave out the flows that move to the lightest state. Lost packets cost few of them, because the threshold is "
    "a fraction of the counted packets (in the paper: of bytes)"
)


def percent(share):
    """With two digits at least."""
    return whole(share) if share >= 0.1 else f"{100 * share:.2g} %"


def whole(share):
    return f"{100 * share:.0f} %"


def _of(estimates):
    """What they are of: of those that have an interval."""
    return next((one.of for one in estimates if one.of is not Of.COUNT), Of.COUNT)


def pooled(rows, column, function=statistics.fmean):
    """One row of several: what `function` makes of them in each run, where all have values in the same runs; else of
    each of their ends."""
    if not rows:
        raise MissingRows("none of the rows that this is about")
    each = [row.get("each", {}).get(column, ()) for row in rows]
    if min(map(len, each)) > 0 and len(set(map(len, each))) == 1:
        return _over_runs(column, [function(of_run) for of_run in zip(*each)], {row["same_processes"] for row in rows})
    known_of = [estimate(row, column) for row in rows]
    value, low, high = (function([getattr(one, end) for one in known_of]) for end in ("value", "low", "high"))
    if function is statistics.fmean and {one.of for one in known_of} == {Of.WINDOWS}:  # each by chance of its own
        low, high = (
            value + sign * math.hypot(*(one.high - one.value for one in known_of)) / len(rows) for sign in (-1, 1)
        )
    return {column: value, f"low_{column}": low, f"high_{column}": high, "of": _of(known_of)}


def _over_runs(column, values, processes):
    return {
        column: statistics.median(values),
        f"low_{column}": min(values),
        f"high_{column}": max(values),
        "of": Of.RUNS,
        "each": {column: values},
        "same_processes": next(iter(processes)) if len(processes) == 1 else frozenset(processes),
    }


def sum_of(estimates):
    """The sum of each of their ends."""
    return Estimate(
        *(sum(getattr(one, end) for one in estimates) for end in ("value", "low", "high")),
        _of(estimates),
        estimates[0].unit,
    )


def minus(one, other):
    """The widest that both allow."""
    return Estimate(one.value - other.value, one.low - other.high, one.high - other.low, _of([one, other]), one.unit)


def known(rows, column):
    """Those that have a value; where some have one in each of enough runs, these alone: of others no interval is
    known."""
    found = [row for row in rows if row[column] is not None]
    return [row for row in found if f"low_{column}" in row or column in row.get("exact", ())] or found


def in_each_run(row, column):
    """Values, or None, of a column; of one run alone, its own."""
    return row["each_known"].get(column, [None] * row["runs"]) if "runs" in row else [row[column]]


def between(points, x):
    """Of points (x, y) in order, the y at x, on the line between the two next to it; None outside of them."""
    at = next((y for place, y in points if place == x), None)
    if at is not None:
        return at
    for (left, before), (right, after) in zip(points, points[1:]):
        if left < x < right:
            return before + (after - before) * (x - left) / (right - left)
    return None
