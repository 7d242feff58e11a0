# SPDX-License-Identifier: Apache-2.0
"""MONA's estimate of P, the share of lookups that the cache answers, on simulated times.

Times of hits and misses are Gumbel's, with the paper's means and coefficients of variation. A sample counts as a hit if
its time is more likely to be exceeded by a hit than reached by a miss: below the one time where both are alike. The
naive way takes the nearer mean.
"""

import json
import math
import pathlib
import random
import statistics

from judge import Of

HIT, MISS = (90.0, 0.11), (200.0, 0.225)  # ns, coefficient of variation
SAMPLES, WINDOWS = 1000, 1000
SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
EULER = 0.5772156649015329
COMMANDS = f"simulated by lab/reproduce/cache_hits.py: {WINDOWS} windows of {SAMPLES} samples for each share"


def version():
    return pathlib.Path(__file__).read_text()


def gumbel(mean, variation):
    """Location and scale."""
    scale = mean * variation * math.sqrt(6) / math.pi
    return mean - EULER * scale, scale


def below(time, location, scale):
    return math.exp(-math.exp(-(time - location) / scale))


def threshold():
    """The time at which 1 - F of hits is F of misses, by bisection."""
    low, high = 0.0, 1000.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if 1 - below(middle, *gumbel(*HIT)) >= below(middle, *gumbel(*MISS)):
            low = middle
        else:
            high = middle
    return low


def errors(share, limit, rng):
    """|estimate - share| of WINDOWS windows, whose samples are hits by chance."""
    draws = {True: gumbel(*HIT), False: gumbel(*MISS)}
    found = []
    for _ in range(WINDOWS):
        hits = 0
        for _ in range(SAMPLES):
            location, scale = draws[rng.random() < share]
            hits += location - scale * math.log(-math.log(rng.random() or 0.5)) <= limit
        found.append(abs(hits / SAMPLES - share))
    return found


def interval(values):
    """Mean with its 95 % interval."""
    middle, half = statistics.fmean(values), 1.96 * statistics.stdev(values) / len(values) ** 0.5
    return middle, middle - half, middle + half


def measure(_, path):
    rng = random.Random(1)
    rows = []
    for share in SHARES:
        row = {"row": "share", "interval_of": Of.WINDOWS.name, "hit_share": share}
        for name, limit in (("error", threshold()), ("naive_error", (HIT[0] + MISS[0]) / 2)):
            row[name], row[f"low_{name}"], row[f"high_{name}"] = interval(errors(share, limit, rng))
        rows.append(row)
    path.write_text(json.dumps({"experiment": "cache-hits", "rows": rows}) + "\n", encoding="utf-8")
