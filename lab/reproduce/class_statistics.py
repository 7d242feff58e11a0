# SPDX-License-Identifier: Apache-2.0
"""Shares of flows told right, and their intervals.

Flows of one capture are alike, so what is drawn anew is captures, each with all its flows: an interval says how far a
figure depends on which captures there happen to be. It does not say how far it depends on the folds, or on networks of
which there is no capture.
"""

import numpy

DRAWS, SEED = 2000, 1
LEVEL = (2.5, 97.5)


class Draws:
    """Captures drawn anew, as many as there are: the same draws for all that is compared."""

    def __init__(self, captures):
        """captures: of each flow, any names."""
        self.names, self.of_flow = numpy.unique(captures, return_inverse=True)
        count = len(self.names)
        self.times = (
            numpy.random.default_rng(SEED).multinomial(count, numpy.full(count, 1 / count), DRAWS).astype(float)
        )

    def sums(self, values):
        """Of each draw, the sum of the flows' values; shape (DRAWS,), or (DRAWS, columns)."""
        by_capture = numpy.zeros((len(self.names), *values.shape[1:]))
        numpy.add.at(by_capture, self.of_flow, values)
        return self.times @ by_capture


def interval(values):
    return tuple(float(bound) for bound in numpy.nanpercentile(values, LEVEL))


def share(draws, right, weights=None):
    """(share told right, low, high), of all flows' weights."""
    weights = numpy.ones(len(right)) if weights is None else weights
    hits = right * weights
    return float(hits.sum() / weights.sum()), *interval(draws.sums(hits) / draws.sums(weights))


def difference(draws, a, b):
    """Of two models that told the same flows: share of a less that of b, with its interval."""
    apart = a.astype(float) - b
    return float(apart.mean()), *interval(draws.sums(apart) / draws.sums(numpy.ones(len(apart))))


def f1(hits, taken, there):
    """Mean over the classes that there are of 2 hits / (taken + there)."""
    with numpy.errstate(invalid="ignore"):
        return numpy.nanmean(numpy.where(there > 0, 2 * hits / (taken + there), numpy.nan), axis=-1)


def macro_f1(draws, classes, predicted, count):
    """classes, predicted: numbers below count; -1: unknown."""
    columns = numpy.eye(count + 1)[:, :count]  # of -1, the last row: none
    there, taken = columns[classes], columns[predicted]
    hits = there * taken
    value = f1(*(part.sum(axis=0) for part in (hits, taken, there)))
    return float(value), *interval(f1(*(draws.sums(part) for part in (hits, taken, there))))


def reject_curve(right, likeliest, limits):
    """For each limit: share of flows whose likeliest class is as probable, and share of those that is right."""
    told = [likeliest >= limit for limit in limits]
    return [(float(some.mean()), float(right[some].mean()) if some.any() else None) for some in told]
