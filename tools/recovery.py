#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is what a lossy link does recovered by `parshall test run`? Prints a table: for each ratio, how many of the 99 %
intervals of all seeds have the truth in them, per flow and in all; and of the latency, how far it is from the link's.

The truth is that of the link's settings (see tester/impairment.hpp): of frames drawn for loss and for duplication one
goes on, so loss is l (1 - d), and a frame comes twice with d (1 - l)^2. A frame overtakes where any of its copies that
came was sent at once while one before it waits. Flows are so slow that jitter alone overtakes nothing, even where a
busy machine brings frames up to three milliseconds closer together; so only the frame before it waits in any case,
unless it is lost or a copy of it was sent at once too, and the one before that in half of all cases.

Usage: recovery.py PARSHALL [SEEDS [SECONDS]]"""

import json
import subprocess
import sys

LOSS, DUPLICATE, REORDER, DELAY_MS, JITTER_MS = 0.01, 0.02, 0.05, 10, 1
FLOWS, GAP_MS = 10, 5


def truth():
    loss = LOSS * (1 - DUPLICATE)
    twice = DUPLICATE * (1 - LOSS) ** 2
    of_received = twice / (1 - loss)
    at_once = (1 - of_received) * REORDER + of_received * (1 - (1 - REORDER) ** 2)
    absent = loss + (1 - loss) * at_once
    overtaking = at_once * (1 - absent * (1 - (1 - absent) / 2))
    return {"lost": loss, "duplicate": twice, "overtaking": overtaking}


def run(parshall, seed, seconds):
    link = (
        f"link:loss={100 * LOSS},duplicate={100 * DUPLICATE},reorder={100 * REORDER},delay={DELAY_MS}ms,"
        f"jitter={JITTER_MS}ms,limit=100000,seed={seed}"
    )
    rate = FLOWS * 1000 / GAP_MS
    command = [
        parshall,
        "test",
        "run",
        "-q",
        "--through",
        link,
        "-g",
        f"flows={FLOWS},seed={seed},packets={FLOWS}",
        "--rate",
        f"{rate:.3f}pps",
        "--duration",
        f"{seconds}s",
        "--settle",
        "500ms",
        "--confidence",
        "99",
        "--format",
        "json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=True)
    return json.loads(done.stdout)


def main():
    parshall = sys.argv[1]
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    want = truth()
    flows, alls = {name: [0, 0] for name in want}, {name: [0, 0] for name in want}
    exact, latencies, frames = 0, [], 0
    for seed in range(1, seeds + 1):
        found = run(parshall, seed, seconds)
        total = found["summary"]
        frames += total["sent_frames"]
        for name, value in want.items():
            for row, tally in [(total, alls)] + [(flow, flows) for flow in found["flows"]]:
                tally[name][0] += row[f"{name}_ratio_low"] <= value <= row[f"{name}_ratio_high"]
                tally[name][1] += 1
        did = found["device_did"]["forward"]
        learnt = did["entered"] - total["sent_frames"]
        exact += (
            0 <= did["lost"] - total["lost_frames"] <= learnt
            and 0 <= did["duplicated"] - total["duplicate_frames"] <= learnt
        )
        latencies.append(total["latency_p50_ns"] / 1e6)
    print(f"{seeds} seeds, {frames} frames in {FLOWS} flows each, one in {GAP_MS} ms of each flow")
    print(f"{'':12} {'truth':>8} {'in all':>10} {'per flow':>10}   (99 % intervals that have the truth in them)")
    for name, value in want.items():
        print(
            f"{name:12} {100 * value:6.3f} % {alls[name][0]:5}/{alls[name][1]:<4} {flows[name][0]:5}/"
            f"{flows[name][1]:<4}"
        )
    print(f"lost and duplicated frames are those that the link tells in {exact} of {seeds}")
    latencies.sort()
    print(
        f"median latency: {latencies[0]:.3f} to {latencies[-1]:.3f} ms, where half of all waited {DELAY_MS} ms or less"
    )


if __name__ == "__main__":
    main()
