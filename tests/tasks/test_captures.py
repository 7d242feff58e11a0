#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows of real captures: what their flows did in each adds up to the captures' flow truth.

test_captures.py PARSHALL [--all]: every fourth capture of the trace set, or all; window lengths and thread arrangements
take turns.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))
import test_traces

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from rivals import program_for

WINDOWS = ["1s", "1000p", "50ms", "7h", "1234567p"]
ARRANGEMENTS = [("run-to-completion", "1"), ("run-to-completion", "3"), ("pipeline", "2"), ("cooperative", "1")]


def sums(parshall, path, window, model, workers):
    """flow -> packets, IP bytes, wire bytes over all windows; raises when the account does not balance."""
    data = test_traces.capture_bytes(path)
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as events:
        command = [
            program_for(parshall, [model]),
            "watch",
            "-r",
            str(path) if data is None else "-",
            "--quiet",
            "--flows",
            "32768",
            "--format",
            "json",
            "--top",
            "1",
            "--task",
            "heavy-hitters:key=5tuple,threshold=1,by=packets,most=10M",
            "--window",
            window,
            "--export",
            f"events:{events.name}",
            "--threads",
            model,
            "--workers",
            workers,
        ]
        run = subprocess.run(command, input=data, capture_output=True, timeout=120)
        if run.returncode not in (0, 3):
            raise RuntimeError(f"exit status {run.returncode}: {run.stderr.decode(errors='replace').strip()}")
        summary = json.loads(run.stdout)["summary"]
        if not summary["accounting"]["balanced"] or not summary["tasks"]["windows_balanced"]:
            raise RuntimeError(f"the account does not balance: {summary}")
        total = collections.Counter()
        for line in events:
            event = json.loads(line)
            key, values = event["key"], event["values"]
            version = "6" if ":" in key["src_ip"] else "4"
            flow = (version, *(str(key[name]) for name in ("protocol", "src_ip", "dst_ip", "src_port", "dst_port")))
            for i, name in enumerate(("packets", "ip_bytes", "wire_bytes")):
                total[flow, i] += values[name]
        return total


def check(parshall, traces, row, turn):
    window, (model, workers) = WINDOWS[turn % len(WINDOWS)], ARRANGEMENTS[turn % len(ARRANGEMENTS)]
    label = f"{row['file']} (windows of {window}, {model}, {workers} workers)"
    truth = collections.Counter()
    for flow, counts in test_traces.read_truth(traces / "truth" / (row["file"] + ".flows.tsv.gz")).items():
        truth.update({(flow, i): counts[i] for i in range(3)})
    try:
        found = sums(parshall, traces / "pcap" / row["file"], window, model, workers)
    except (RuntimeError, subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        return label, str(error)
    wrong = [key for key in set(truth) | set(found) if truth[key] != found[key]]
    return (
        label,
        f"{len(wrong)} differences, e.g. {wrong[0]}: truth {truth[wrong[0]]}, parshall {found[wrong[0]]}"
        if wrong
        else None,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parshall")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    traces = test_traces.find_traces()
    if traces is None:
        return 0
    rows = [
        row
        for row in test_traces.manifest(traces)
        if row["crosscheck"] == "AGREE"
        and int(row["file_bytes"]) != 0
        and row["file"] not in test_traces.ACCEPTED_LINK_TYPE
    ]
    rows = rows if options.all else rows[::4]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: check(options.parshall, traces, job[1], job[0]), enumerate(rows)))
    wrong = [(label, problem) for label, problem in results if problem]
    for label, problem in wrong:
        print(f"WRONG {label}: {problem}")
    print(f"{len(rows)} captures: {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
