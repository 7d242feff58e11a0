#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records and events depend on the input alone: each capture of the trace set is run with other seeds, numbers of
workers and thread models, and all must write the same. Timeouts are short, so that flows end and begin again.

test_seeds.py PARSHALL [--all] [--capture NAME]: every twelfth capture and 4 runs of each, or all captures and 12 runs.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import test_traces

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from rivals import program_for

COLUMNS = (
    "duration_ns,tcp_flags,end_reason,community_id,record,flow_first_seen_ns,packets_total,ip_bytes_total,"
    "wire_bytes_total,exact,interface,tcp_retransmissions,tcp_fast_retransmissions,tcp_spurious_retransmissions,"
    "tcp_out_of_order,tcp_lost_segments,tcp_duplicate_acks,tcp_zero_windows,tcp_flags_2,flag_counts,ttl_1,dscp_1,vlan_1,"
    "icmp_type_code_1,rtt_4_ns,gap_2_packets,iat_3_ns,size_4_bytes,ip_size_2_bytes"
)
MOMENTS = [
    f"{measure}_{moment}{'' if moment in ('skewness', 'kurtosis') else unit}"
    for measure, unit in (("gap", "_packets"), ("iat", "_ns"), ("size", "_bytes"), ("rtt", "_ns"))
    for moment in ("last", "min", "max", "mean", "sd", "skewness", "kurtosis", "p50", "p99")
]
TASKS = (
    "count heavy-hitters hierarchical-heavy-hitters superspreaders scans floods beacons new-hosts outages victims "
    "change flow-sizes entropy quantiles bursty retransmissions lost-segments zero-windows latency-change microbursts"
).split()
# The captures take turns.
TIMEOUTS = [
    ["--idle", "2s"],
    ["--idle", "500ms", "--linger", "20ms"],
    ["--idle", "2s", "--active", "3s"],
    ["--idle", "2s", "--linger", "50ms", "--active", "1s"],
    ["--idle", "10s", "--linger", "1s", "--active", "4s", "--biflow"],
]
RUNS = [
    (seed, workers, model)
    for seed, (workers, model) in enumerate(
        [
            (1, "run-to-completion"),
            (1, "run-to-completion"),
            (3, "pipeline"),
            (4, "run-to-completion"),
            (2, "cooperative"),
            (1, "pipeline"),
            (3, "run-to-completion"),
            (4, "pipeline"),
            (1, "run-to-completion"),
            (2, "pipeline"),
            (1, "run-to-completion"),
            (1, "run-to-completion"),
        ],
        1,
    )
]


def written(parshall, traces, name, timeouts, run):
    """Returns the lines of records and events that one run writes, sorted."""
    seed, workers, model = run
    data = test_traces.capture_bytes(traces / "pcap" / name)
    with tempfile.TemporaryDirectory() as folder:
        command = [
            program_for(parshall, [model]),
            "watch",
            "--quiet",
            "-r",
            "-" if data else str(traces / "pcap" / name),
        ]
        command += ["--columns", ",".join(f"+{column}" for column in [*COLUMNS.split(","), *MOMENTS]), *timeouts]
        for task in TASKS:
            command += ["--task", f"{task}:window={'100ms' if task == 'microbursts' else '1000p'}"]
        command += ["--format", "csv", "-o", f"{folder}/records", "--export", f"events:{folder}/events"]
        command += ["--flows", "32768", "--seed", str(seed), "--workers", str(workers), "--threads", model]
        done = subprocess.run(command, input=data, capture_output=True, timeout=300)
        if done.returncode not in (0, 3):
            raise RuntimeError(f"exit status {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
        with open(f"{folder}/records") as records, open(f"{folder}/events") as events:
            return sorted(records), sorted(events)


def difference(first, other):
    """Returns how the lines of two runs differ; None if they do not."""
    for kind, ours, theirs in zip(("record", "event"), first, other):
        if ours != theirs:
            only, others = sorted(set(ours) - set(theirs)), sorted(set(theirs) - set(ours))
            return f"{len(only)} {kind}s differ:\n  {(only or ours)[0].strip()}\n  {(others or theirs)[0].strip()}"
    return None


def check(parshall, traces, row, timeouts, runs):
    """Returns what is wrong; None if nothing is."""
    try:
        first = written(parshall, traces, row["file"], timeouts, runs[0])
        if not first[0]:
            return "no header"
        for run in runs[1:]:
            if wrong := difference(first, written(parshall, traces, row["file"], timeouts, run)):
                return f"runs (seed, workers, thread model) {runs[0]} and {run}: {wrong}"
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parshall")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--capture", default="")
    options = parser.parse_args()
    traces = test_traces.find_traces()
    if traces is None:
        return 0
    rows = [
        row for row in test_traces.manifest(traces) if int(row["file_bytes"]) != 0 and options.capture in row["file"]
    ]
    rows = rows if options.all or options.capture else rows[::12]
    runs = RUNS if options.all or options.capture else RUNS[:4]
    jobs = [(row, TIMEOUTS[i % len(TIMEOUTS)]) for i, row in enumerate(rows)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda job: check(options.parshall, traces, *job, runs), jobs))
    wrong = [(*job, said) for job, said in zip(jobs, found) if said]
    for row, timeouts, said in wrong:
        print(f"WRONG {row['file']} {' '.join(timeouts)}: {said}")
    print(f"{len(jobs)} captures, {len(runs)} runs of each: {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
