# SPDX-License-Identifier: Apache-2.0
"""What judges of MONA share: names of tasks and modes, and estimates that stand for several rows."""
import statistics

from comparing import estimate
from judge import Estimate, Of
from rows import MissingRows

TASKS = {"heavy-hitters": "HH", "retransmissions": "RTx", "bursty": "Bursty", "latency-change": "LatChange"}
FIRST = next(iter(TASKS))  # a row of each run, where all have the same
NO_ADAPT, ADAPT, CONTROL = "no-adapt", "adapt-only", "accuracy"  # as the paper has it
THRESHOLD = 0.75  # of recall, as in the paper
NOTHING = 1e-3  # share of packets
KEPT = "heavy hitters go by counts that flows keep in any state here: they miss none by adaptation, but where packets are shed"


def percent(share):
    """With two digits at least."""
    return whole(share) if share >= 0.1 else f"{100 * share:.2g} %"


def whole(share):
    return f"{100 * share:.0f} %"


def _of(estimates):
    """What they are of: of those that have an interval."""
    return next((one.of for one in estimates if one.of is not Of.COUNT), Of.COUNT)


def _by_ends(function, estimates):
    if not estimates:
        raise MissingRows("none of the rows that this is about")
    return Estimate(*(function([getattr(one, end) for one in estimates]) for end in ("value", "low", "high")), _of(estimates))


def mean_of(estimates):
    """The mean of each of their ends."""
    return _by_ends(statistics.fmean, estimates)


def sum_of(estimates):
    """The sum of each of their ends."""
    return _by_ends(sum, estimates)


def minus(one, other):
    """The widest that both allow."""
    return Estimate(one.value - other.value, one.low - other.high, one.high - other.low, _of([one, other]))


def mean(rows, column):
    return mean_of([estimate(row, column) for row in rows])


def middle(rows, column):
    """The median of each of their ends."""
    return _by_ends(statistics.median, [estimate(row, column) for row in rows])


def total(row, *columns):
    """Of shares of the same."""
    return _by_ends(sum, [estimate(row, column) for column in columns])


def known(rows, column):
    """Those that have a value; where some have one in each of enough runs, these alone: of others no interval is known."""
    found = [row for row in rows if row[column] is not None]
    return [row for row in found if f"low_{column}" in row or column in row.get("exact", ())] or found


def between(points, x):
    """Of points (x, Estimate) in order, the one at x, or what lies on the line between the two next to it; None outside of them."""
    at = next((point for place, point in points if place == x), None)
    if at is not None:
        return at
    for (left, before), (right, after) in zip(points, points[1:]):
        if left < x < right:
            part = (x - left) / (right - left)
            ends = ((1 - part) * getattr(before, end) + part * getattr(after, end) for end in ("value", "low", "high"))
            return Estimate(*ends, _of([before, after]))
    return None
