# SPDX-License-Identifier: Apache-2.0
"""Comparisons of rows of runs, by columns: a column `ns` has its interval in `low_ns` and `high_ns`."""
from judge import UNKNOWN, Comparison, Estimate, Of

BUCKET_CYCLES = 2  # of the histogram that quantiles are read from: less is no difference


def estimate(row, column):
    """What a row says of a column, or UNKNOWN."""
    value = row.get(column)
    if value is None:
        return UNKNOWN
    low, high = row.get(f"low_{column}", value), row.get(f"high_{column}", value)
    return Estimate(value, min(low, value), max(high, value), of_interval(row, column))


def of_interval(row, column):
    """What a row's interval is of; a run that is made of processes of its own says so (`interval_of`)."""
    if "of" in row:
        return row["of"]
    return Of.COUNT if f"low_{column}" not in row else Of[row.get("interval_of", "ROUNDS")]


def bound(value):
    return Estimate(value, value, value, Of.BOUND)


def _slack(column):
    return BUCKET_CYCLES if column.endswith("_cycles") else 0


def below(what, a, b, column="ns", headline=False):
    """That a is below b."""
    return Comparison(what, estimate(a, column), estimate(b, column), slack=_slack(column), headline=headline)


def at_most(what, a, b, factor, column="ns", headline=False):
    """That a is at most `factor` times b."""
    return Comparison(what, estimate(a, column), estimate(b, column), factor=factor, or_equal=True, headline=headline)


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
    """a - b as a row: the widest that both intervals allow."""
    left, right = estimate(a, column), estimate(b, column)
    return {column: left.value - right.value, f"low_{column}": left.low - right.high, f"high_{column}": left.high - right.low,
            "of": of_interval(a, column)}


def widened(row, factor, column="ns"):
    """A row whose interval is wider by a factor at both ends."""
    of = estimate(row, column)
    return {**row, f"low_{column}": of.low / factor, f"high_{column}": of.high * factor}
