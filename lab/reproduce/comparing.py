# SPDX-License-Identifier: Apache-2.0
"""Comparisons of rows of runs, by columns: a column `ns` has its interval in `low_ns` and `high_ns`. A column of a
measured row that has none, and that its run does not declare as counted, is known to no interval: comparisons with it
stay open.

Where intervals overlap, two rows of the same runs, of which there are enough, are compared by their ratio in each run,
or the difference: what one process has of luck in where its memory lies, and what else the machine does, both have.
"""

import dataclasses
import math
import statistics

from judge import UNKNOWN, Answer, Comparison, Estimate, Of
from wording import RATIO, unit_of

# Student's t, 99 % of both sides, by degrees of freedom; of more, what 10 have.
T_99 = {4: 4.604, 5: 4.032, 6: 3.707, 7: 3.499, 8: 3.355, 9: 3.250, 10: 3.169}
BUCKET_CYCLES = 2  # of the histogram that quantiles are read from: less is no difference


def estimate(row, column):
    """What a row says of a column, or UNKNOWN."""
    value = row.get(column)
    if value is None:
        return UNKNOWN
    widest = (value, value) if _is_exact(row, column) else (-math.inf, math.inf)
    low, high = (row.get(f"{end}_{column}", otherwise) for end, otherwise in zip(("low", "high"), widest))
    return Estimate(value, min(low, value), max(high, value), of_interval(row, column), unit_of(column))


def _is_exact(row, column):
    """A row that a judge makes says just what it has."""
    return "exact" not in row or column in row["exact"]


def of_interval(row, column):
    """What a row's interval is of; a run that is made of processes of its own says so (`interval_of`)."""
    if f"low_{column}" not in row:
        return Of.COUNT
    return row["of"] if "of" in row else Of[row.get("interval_of", "ROUNDS")]


def bound(value, unit=""):
    return Estimate(value, value, value, Of.BOUND, unit)


def _slack(column):
    return BUCKET_CYCLES if column.endswith("_cycles") else 0


def _pairs(a, b, column, of_b=None):
    """a's column and b's (of_b, where that is another) in each run that both are of; none where there are too few."""
    if a.get("same_processes") is None or a["same_processes"] != b.get("same_processes"):
        return []
    return list(zip(a["each"].get(column, ()), b["each"].get(of_b or column, ())))


def _ratios(pairs):
    """The first of each to the second; nothing where any is not above 0."""
    return [one / other for one, other in pairs] if all(one > 0 and other > 0 for one, other in pairs) else []


def _mean_interval(values):
    """Mean, low and high (99 %, by Student's t) of five or more."""
    middle = statistics.fmean(values)
    half = T_99[min(len(values) - 1, 10)] * statistics.stdev(values) / math.sqrt(len(values))
    return middle, middle - half, middle + half


def mean_ratio(ratios):
    """Their geometric mean, with its interval (99 %, by Student's t of the logarithms); five or more."""
    return Estimate(*map(math.exp, _mean_interval([math.log(ratio) for ratio in ratios])), Of.PAIRS, RATIO)


def _by_ratio(compared, pairs):
    """The same of the ratio within each run; nothing where there is none."""
    ratios = _ratios(pairs)
    if not ratios:
        return []
    resolved = compared.slack / statistics.median(other for _, other in pairs)
    return [dataclasses.replace(compared, less=mean_ratio(ratios), more=bound(1), slack=resolved)]


def _answered(compared, others):
    """The first that is answered, or the first."""
    return next((one for one in (compared, *others) if one.answer() is not Answer.OPEN), compared)


def below(what, a, b, column="ns", headline=False):
    """That a is below b."""
    compared = Comparison(what, estimate(a, column), estimate(b, column), slack=_slack(column), headline=headline)
    pairs = _pairs(a, b, column)
    by_difference = [dataclasses.replace(compared, less=bound(0), more=more(a, b, column))] if pairs else []
    return _answered(compared, _by_ratio(compared, pairs) or by_difference)


def at_most(what, a, b, factor, column="ns", headline=False):
    """That a is at most `factor` times b; open where a is 0 and b may be, which says nothing of a factor."""
    of_a, of_b = estimate(a, column), estimate(b, column)
    if of_a.high <= 0 and of_b.low <= 0:
        return untold(what, headline)
    compared = Comparison(what, of_a, of_b, factor=factor, or_equal=True, headline=headline)
    return _answered(compared, _by_ratio(compared, _pairs(a, b, column)))


def between(what, row, less, other, factor=1, headline=False):
    """That one column of a row is below `factor` times another."""
    compared = Comparison(what, estimate(row, less), estimate(row, other), factor=factor, headline=headline)
    return _answered(compared, _by_ratio(compared, _pairs(row, row, less, other)))


def under(what, row, most, column="ns", headline=False):
    """That a row is below a value."""
    return Comparison(what, estimate(row, column), bound(most), headline=headline)


def over(what, row, least, column="ns", headline=False):
    """That a row is above a value."""
    return Comparison(what, bound(least), estimate(row, column), headline=headline)


def reaches(what, row, least, column, headline=False):
    """That a row is no less than a value."""
    return Comparison(what, bound(least), estimate(row, column), or_equal=True, headline=headline)


def counted(what, truth, headline=False):
    """What has no noise: counts, and shares of packets."""
    return Comparison(what, bound(0 if truth else 1), bound(1 if truth else 0), headline=headline)


def untold(what, headline=False):
    """What cannot be measured here: it stays open."""
    return Comparison(what, UNKNOWN, UNKNOWN, headline=headline)


def difference(a, b, column="ns"):
    """a - b as a row: in each run, where both are of the same; else the widest that both intervals allow."""
    pairs = _pairs(a, b, column)
    if pairs:
        each = [of_a - of_b for of_a, of_b in pairs]
        found = more(b, a, column)
        return {
            column: found.value,
            f"low_{column}": found.low,
            f"high_{column}": found.high,
            "of": found.of,
            "same_processes": a["same_processes"],
            "each": {column: each},
        }
    left, right = estimate(a, column), estimate(b, column)
    return {
        column: left.value - right.value,
        f"low_{column}": left.low - right.high,
        f"high_{column}": left.high - right.low,
        "of": of_interval(a, column),
    }


def more(a, b, column="ns"):
    """What b has above a: the mean of what it is in each run, with its interval (99 %, by Student's t), where both are
    of the same; else what both intervals allow."""
    pairs = _pairs(a, b, column)
    if pairs:
        return Estimate(*_mean_interval([of_b - of_a for of_a, of_b in pairs]), Of.PAIRS, unit_of(column))
    row = difference(b, a, column)
    return Estimate(row[column], row[f"low_{column}"], row[f"high_{column}"], row["of"], unit_of(column))


def widened(row, factor, column="ns"):
    """A row whose interval is wider by a factor at both ends."""
    of = estimate(row, column)
    widened_row = {**row, f"low_{column}": of.low / factor, f"high_{column}": of.high * factor}
    widened_row.pop("same_processes", None)
    return widened_row
