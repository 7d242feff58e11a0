# SPDX-License-Identifier: Apache-2.0
"""Heavy hitters that are still found where some flows are not looked at, by threshold: simulated.

A window has FLOWS flows of SOURCES sources, a flow's source by chance, and its share of the bytes by Zipf's law. A source is heavy that has
more than the threshold's share of all bytes; it is found if what is left of its flows has.
"""
import json
import pathlib
import random
import statistics

from judge import Of

FLOWS, SOURCES, ZIPF, WINDOWS = 1000, 100, 1.1, 400
THRESHOLDS = (0.005, 0.01, 0.02, 0.05)
MISSING = (0.1, 0.3, 0.5, 0.7, 0.9)
COMMANDS = f"simulated by tools/reproduce/missing_flows.py: {WINDOWS} windows of {FLOWS} flows of {SOURCES} sources, Zipf {ZIPF}"


def version():
    return pathlib.Path(__file__).read_text()


def window(rng, missing):
    """Shares of the bytes by source: of all flows, and of those that are looked at."""
    weights = [(rank + 1) ** -ZIPF for rank in range(FLOWS)]
    total = sum(weights)
    whole, seen = [0.0] * SOURCES, [0.0] * SOURCES
    for weight in weights:
        source = rng.randrange(SOURCES)
        whole[source] += weight / total
        seen[source] += weight / total if rng.random() >= missing else 0
    return whole, seen


def recalls(rng, missing):
    """By threshold: the recall of each window that has heavy hitters."""
    found = {threshold: [] for threshold in THRESHOLDS}
    for _ in range(WINDOWS):
        whole, seen = window(rng, missing)
        for threshold, shares in found.items():
            heavy = [source for source in range(SOURCES) if whole[source] > threshold]
            if heavy:
                shares.append(sum(seen[source] > threshold for source in heavy) / len(heavy))
    return found


def measure(_, path):
    rng = random.Random(1)
    rows = []
    for missing in MISSING:
        for threshold, values in recalls(rng, missing).items():
            middle, half = statistics.fmean(values), 1.96 * statistics.stdev(values) / len(values) ** 0.5
            rows.append({"row": f"threshold {100 * threshold:g} %", "interval_of": Of.WINDOWS.name, "missing": missing, "threshold": threshold,
                         "recall": middle, "low_recall": middle - half, "high_recall": middle + half})
    path.write_text(json.dumps({"experiment": "missing-flows", "rows": rows}) + "\n", encoding="utf-8")
