# SPDX-License-Identifier: Apache-2.0
"""Heavy hitters that are still found where some flows are not looked at, by threshold: simulated.

A window has FLOWS flows of SOURCES sources. How the bytes spread, which the paper does not say, is tried in two ways:
shares of the flows by Zipf's law, each of a source by chance, so that a heavy source has one large flow; and shares of
the sources so, each of as many flows that are alike. A source is heavy that has more than the threshold's share of all
bytes; it is found if what is left of its flows has.
"""

import json
import pathlib
import random
import statistics

from judge import Of

FLOWS, SOURCES, ZIPF, WINDOWS = 1000, 100, 1.1, 400
THRESHOLDS = (0.005, 0.01, 0.02, 0.05)
MISSING = (0.1, 0.3, 0.5, 0.7, 0.9)
BY_FLOW, BY_SOURCE = "flows of Zipf", "sources of Zipf"
COMMANDS = (
    f"simulated by lab/reproduce/missing_flows.py: {WINDOWS} windows of {FLOWS} flows of {SOURCES} sources, Zipf {ZIPF}"
)


def version():
    return pathlib.Path(__file__).read_text()


def flows_of(rng, spread):
    """(source, share of the bytes) of each flow."""
    if spread == BY_FLOW:
        weights = [(rng.randrange(SOURCES), (rank + 1) ** -ZIPF) for rank in range(FLOWS)]
    else:
        weights = [(flow % SOURCES, (flow % SOURCES + 1) ** -ZIPF) for flow in range(FLOWS)]
    total = sum(weight for _, weight in weights)
    return [(source, weight / total) for source, weight in weights]


def window(rng, spread, missing):
    """Shares of the bytes by source: of all flows, and of those that are looked at."""
    whole, seen = [0.0] * SOURCES, [0.0] * SOURCES
    for source, share in flows_of(rng, spread):
        whole[source] += share
        seen[source] += share if rng.random() >= missing else 0
    return whole, seen


def recalls(rng, spread, missing):
    """By threshold: the recall of each window that has heavy hitters."""
    found = {threshold: [] for threshold in THRESHOLDS}
    for _ in range(WINDOWS):
        whole, seen = window(rng, spread, missing)
        for threshold, shares in found.items():
            heavy = [source for source in range(SOURCES) if whole[source] > threshold]
            if heavy:
                shares.append(sum(seen[source] > threshold for source in heavy) / len(heavy))
    return found


def measure(_, path):
    rng = random.Random(1)
    rows = []
    for spread in (BY_FLOW, BY_SOURCE):
        for missing in MISSING:
            for threshold, values in recalls(rng, spread, missing).items():
                middle, half = statistics.fmean(values), 1.96 * statistics.stdev(values) / len(values) ** 0.5
                rows.append(
                    {
                        "row": f"threshold {100 * threshold:g} %, {spread}",
                        "spread": spread,
                        "interval_of": Of.WINDOWS.name,
                        "missing": missing,
                        "threshold": threshold,
                        "recall": middle,
                        "low_recall": middle - half,
                        "high_recall": middle + half,
                    }
                )
    path.write_text(json.dumps({"experiment": "missing-flows", "rows": rows}) + "\n", encoding="utf-8")
