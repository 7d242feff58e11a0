#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what searches of simulated devices cost the reference of RFC 9971 (pip install MLRsearch==1.2.1):
searches.inc, trials and seconds of RUNS searches each. The devices are those of devices.hpp, their rates those of
mlr_search_test.cpp."""

import math

from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal
from verdicts import SplitMix64

RUNS = 100
MIN_LOAD, MAX_LOAD = 9001.0, 14880952.0


def hard_knee(rate):
    return lambda load, duration, random: 0 if load <= rate else 1 - rate / load


def smooth(rate, steepness):
    return lambda load, duration, random: 1 / (1 + math.exp(min(700, steepness * math.log(rate / load))))


def noisy_knee(rate, burst_probability, burst_loss):
    def loss(load, duration, random):
        clean, lossy_s, second = hard_knee(rate)(load, duration, random), 0, 0
        while second < duration:
            if random.uniform() < burst_probability:
                lossy_s += min(1.0, duration - second)
            second += 1
        return clean + (1 - clean) * burst_loss * lossy_s / duration

    return loss


def with_buffer(rate, buffer_frames):
    return lambda load, duration, random: 1 - min(1.0, (rate * duration + buffer_frames) / (load * duration))


DEVICES = {
    "hard knee": hard_knee,
    "gentle": lambda rate: smooth(rate, 5),
    "smooth": lambda rate: smooth(rate, 20),
    "steep": lambda rate: smooth(rate, 400),
    "rare bursts": lambda rate: noisy_knee(rate, 0.01, 0.1),
    "bursts": lambda rate: noisy_knee(rate, 0.1, 0.1),
    "buffer": lambda rate: with_buffer(rate, rate * 0.3),
    "never loses": lambda rate: hard_knee(1e12),
    "always loses": lambda rate: hard_knee(1.0),
}


def goal(loss_ratio, exceed_ratio, final, total):
    return SearchGoal(
        loss_ratio=loss_ratio,
        exceed_ratio=exceed_ratio,
        initial_trial_duration=1.0,
        final_trial_duration=final,
        duration_sum=total,
        fail_fast=False,
    )


RFC2544, TST009 = goal(0.0, 0.0, 60.0, 60.0), goal(0.0, 0.5, 60.0, 120.0)
NDR, PDR = goal(0.0, 0.5, 1.0, 21.0), goal(0.005, 0.5, 1.0, 21.0)
GOALS = {
    "rfc2544": [RFC2544],
    "tst009": [TST009],
    "rfc2544 tst009": [RFC2544, TST009],
    "ndr": [NDR],
    "pdr": [PDR],
    "ndr pdr": [NDR, PDR],
    "tst009 pdr": [TST009, PDR],
}


class Measurer(AbstractMeasurer):
    def __init__(self, device, seed):
        self.device, self.random, self.trials, self.seconds = device, SplitMix64(seed), 0, 0

    def measure(self, intended_duration, intended_load):
        loss_ratio = self.device(intended_load, intended_duration, self.random)
        frames = round(intended_load * intended_duration)
        self.trials += 1
        self.seconds += intended_duration
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=frames,
            loss_count=min(frames, math.ceil(loss_ratio * frames - 1e-6)),
        )


def cost(goals, device):
    trials = seconds = 0
    for seed in range(RUNS):
        rate = 50000 * (14e6 / 50000) ** SplitMix64(seed * 7919 + 1).uniform()
        measurer = Measurer(device(rate), seed)
        config = Config(
            goals=goals, min_load=MIN_LOAD, max_load=MAX_LOAD, warmup_duration=None, search_duration_max=1e9
        )
        MultipleLossRatioSearch(config).search(measurer, debug=lambda text: None)
        trials += measurer.trials
        seconds += measurer.seconds
    return trials, seconds


if __name__ == "__main__":
    print("// SPDX-License-Identifier: Apache-2.0\n// By searches.py.")
    for goals in GOALS:
        for device in DEVICES:
            trials, seconds = cost(GOALS[goals], DEVICES[device])
            print(f'{{"{goals}", "{device}", {trials}, {seconds:.0f}}},', flush=True)
