# SPDX-License-Identifier: Apache-2.0
"""How comparisons are answered, and what a figure's comparisons say together.

An answer is 1: as the paper concludes, beyond the noise; -1: the other way round; 0: cannot be told.
"""
HOLDS, PARTLY, FAILS, ABSENT = "holds", "holds in part", "does not hold here", "cannot be measured here"
TOLD = "holds where it can be told"
OPEN = "cannot be told: the difference is within the noise"
BUCKET_CYCLES = 2  # of the histogram that quantiles are read from: less is no difference


def interval(row, column):
    return row.get(f"low_{column}", row[column]), row.get(f"high_{column}", row[column])


def below(a, b, column="ns"):
    """That a is below b, by their 95 % intervals."""
    slack = BUCKET_CYCLES if column.endswith("_cycles") else 0
    (a_low, a_high), (b_low, b_high) = interval(a, column), interval(b, column)
    if a_high + slack < b_low:
        return 1
    return -1 if b_high + slack < a_low else 0


def at_most(a, b, factor, column="ns"):
    """That a is at most `factor` times b."""
    (a_low, a_high), (b_low, b_high) = interval(a, column), interval(b, column)
    if a_high <= factor * b_low:
        return 1
    return -1 if a_low > factor * b_high else 0


def under(row, most, column="ns"):
    """That a row is under a value."""
    low, high = interval(row, column)
    return 1 if high < most else -1 if low > most else 0


def difference(a, b, column="ns"):
    """a - b as a row: the widest that both intervals allow."""
    (a_low, a_high), (b_low, b_high) = interval(a, column), interval(b, column)
    return {column: a[column] - b[column], f"low_{column}": a_low - b_high, f"high_{column}": a_high - b_low}


def sure(truth):
    """Of what has no noise: counts, and shares of packets."""
    return 1 if truth else -1


def agreed(passes):
    """Answers that all passes gave alike; where they differ, 0."""
    return [answers[0] if len(set(answers)) == 1 else 0 for answers in zip(*passes, strict=True)]


def conclusion(answers):
    with_it, against = answers.count(1), answers.count(-1)
    if with_it == len(answers):
        return HOLDS
    if with_it == 0:
        return FAILS if against else OPEN
    if against:
        return f"{PARTLY} ({with_it} of {len(answers)} comparisons, {against} the other way)"
    return f"{TOLD} ({with_it} of {len(answers)} comparisons)"
