# SPDX-License-Identifier: Apache-2.0
"""How fast something grows, and how sure that is: the slope of a series by least squares, with a 95 % interval where
samples are correlated.

The series is cut into PARTS stretches of the same length; the line goes through their means, and the interval is
Student's. Means of stretches that are long beside the time over which samples are correlated are nearly independent,
whatever that time is, and nobody has to guess it. Of 1000 autoregressive series of 630 samples 93 to 96 % of the
intervals had the truth in them for correlation times up to a fiftieth of the series, 89 % for a twentieth; Newey's and
West's had it in 84 to 93 % and 65 to 90 %, for bandwidths from a twentieth to a half of the series.
"""

import dataclasses
import math

PARTS = 10
_STUDENT = 2.306  # 97.5 % quantile with PARTS - 2 degrees of freedom
LEAST_SAMPLES = 3 * PARTS


@dataclasses.dataclass(frozen=True)
class Trend:
    """A slope in units a second, and the interval that has the true one in 95 of 100 series."""

    slope: float
    low: float
    high: float
    level: float  # mean of the series
    seconds: float  # that it lasts

    def growth(self):
        """Over the series: as fitted, and at the interval's ends."""
        return tuple(value * self.seconds for value in (self.slope, self.low, self.high))

    def verdict(self, bound):
        """`flat`: the interval has 0 in it, or all of it is below `bound` over the series; `shrinks`: all of it is
        below 0; else `grows`."""
        _, low, high = self.growth()
        if high < 0:
            return "shrinks"
        return "flat" if low <= 0 or high < bound else "grows"


def of_series(times, values):
    """The trend of a series; None of one that is too short to tell."""
    if len(times) < LEAST_SAMPLES or times[-1] <= times[0]:
        return None
    means = _parts(times, values)
    if len(means) < PARTS:  # a hole
        return None
    middle, level = (math.fsum(column) / PARTS for column in zip(*means))
    spread = math.fsum((time - middle) ** 2 for time, _ in means)
    slope = math.fsum((time - middle) * (value - level) for time, value in means) / spread
    rest = math.fsum((value - level - slope * (time - middle)) ** 2 for time, value in means)
    half = _STUDENT * math.sqrt(rest / (PARTS - 2) / spread)
    return Trend(slope, slope - half, slope + half, level, times[-1] - times[0])


def _parts(times, values):
    """Mean time and mean value of each stretch that has samples."""
    begin, length = times[0], (times[-1] - times[0]) / PARTS
    parts = {}
    for time, value in zip(times, values):
        parts.setdefault(min(PARTS - 1, int((time - begin) / length)), []).append((time, value))
    return [tuple(math.fsum(column) / len(part) for column in zip(*part)) for _, part in sorted(parts.items())]


def least_of(times, values, seconds):
    """The smallest value of each stretch of so many seconds: what is there always, without what comes and goes."""
    least = {}
    for time, value in zip(times, values):
        at = int(time // seconds)
        if at not in least or value < least[at][1]:
            least[at] = (time, value)
    return [time for time, _ in least.values()], [value for _, value in least.values()]
