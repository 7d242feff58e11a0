# SPDX-License-Identifier: Apache-2.0
"""What may not grow while a monitor runs, by how much it may all the same, and whether it did."""

import dataclasses

import trend

MOST_WARM_UP_S = 1200
LEAST_RUN_S = 1200  # queues, pages and buffers fill for minutes
CALM_S = 60  # descriptors and threads: the least in so long, so that clients which come and go do not count


@dataclasses.dataclass(frozen=True)
class Quantity:
    name: str
    column: str
    unit: str
    scale: float  # of the column to the unit
    bound: float  # growth over the run, in the unit, that passes as none
    visited: bool = False  # others make it larger for a while


QUANTITIES = (
    Quantity("heap (malloc)", "heap_kb", "MB", 1 / 1024, 4),
    Quantity("resident memory (RSS)", "rss_kb", "MB", 1 / 1024, 16),
    Quantity("proportional memory (PSS)", "pss_kb", "MB", 1 / 1024, 16),
    Quantity("descriptors", "fds", "", 1, 0.5, visited=True),
    Quantity("threads", "threads", "", 1, 0.5, visited=True),
    Quantity("temporary space", "temporary_bytes", "MB", 1 / (1 << 20), 4),
)


def warm_up(seconds):
    """How much of a run of this length is left out: a quarter, 20 minutes at most."""
    return min(MOST_WARM_UP_S, seconds / 4)


@dataclasses.dataclass(frozen=True)
class Growth:
    quantity: Quantity
    trend: trend.Trend | None

    def verdict(self):
        return self.trend.verdict(self.quantity.bound) if self.trend else "too short to tell"

    def holds(self):
        return self.verdict() != "grows"


def of_run(data):
    """The trend of each quantity after the warm-up, in its unit."""
    if data.seconds() < LEAST_RUN_S:
        return [Growth(quantity, None) for quantity in QUANTITIES]
    found = []
    for quantity in QUANTITIES:
        times, values = data.series(quantity.column, since=warm_up(data.seconds()))
        if quantity.visited:
            times, values = trend.least_of(times, values, CALM_S)
        found.append(Growth(quantity, trend.of_series(times, [value * quantity.scale for value in values])))
    return found
