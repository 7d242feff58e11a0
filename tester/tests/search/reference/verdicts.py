#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what the reference of RFC 9971 (pip install MLRsearch==1.2.1) says of random lists of trials: verdicts.inc.
Two characters a list: L lower bound, U upper bound, ? undecided; and which of LOSSES the conditional throughput is of,
- if none. load_class_test.cpp draws the same lists."""

from MLRsearch.target_spec import TargetSpec
from MLRsearch.target_stat import TargetStat
from MLRsearch.trial_measurement import MeasurementResult

LISTS = 6000
LOSSES = [0, 1, 5, 6, 10, 20, 500, 1000]  # of 1000 frames
MASK = 2**64 - 1


class SplitMix64:  # as in base/random.hpp
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = z = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53

    def below(self, bound):
        return (self.next() * bound) >> 64

    def one_of(self, values):
        return values[self.below(len(values))]


def verdict(random):
    loss_ratio = random.one_of([0.0, 0.005, 0.01])
    exceed_ratio = random.one_of([0.0, 0.1, 0.2, 0.25, 0.5, 0.75])
    final = random.one_of([1.0, 2.0, 10.0, 60.0])
    target = TargetSpec(
        loss_ratio=loss_ratio,
        exceed_ratio=exceed_ratio,
        discrete_width=None,
        trial_duration=final,
        duration_sum=final * random.one_of([1.0, 2.0, 3.0, 21.0]),
        expansion_coefficient=2,
        fail_fast=False,
        preceding=None,
    )
    stat = TargetStat(target)
    short_of_4, lossy_of_8 = random.below(5), random.below(9)
    for _ in range(random.below(32)):
        parts = random.one_of([0.25, 0.5]) if random.below(4) < short_of_4 else random.one_of([1.0, 1.0, 2.0])
        lost = random.one_of(LOSSES[1:]) if random.below(8) < lossy_of_8 else 0
        unsent = random.below(lost + 1)
        stat.add(
            MeasurementResult(
                intended_duration=final * parts,
                intended_load=1.0,
                intended_count=1000,
                offered_count=1000 - unsent,
                forwarding_count=1000 - lost,
            )
        )
    optimistic, pessimistic = stat.estimates()
    load_class = "?" if optimistic != pessimistic else "L" if optimistic else "U"
    if not stat.long_losses:
        return load_class + "-"
    return load_class + str(LOSSES.index(round(stat.pessimistic_loss_ratio * 1000)))


if __name__ == "__main__":
    random = SplitMix64(9971)
    verdicts = "".join(verdict(random) for _ in range(LISTS))
    print("// SPDX-License-Identifier: Apache-2.0\n// By verdicts.py.")
    for at in range(0, len(verdicts), 116):
        print(f'"{verdicts[at : at + 116]}"')
