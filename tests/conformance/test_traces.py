#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every capture of the trace set through the whole program, against its flow truth.

test_traces.py PARSHALL [--matrix]: each capture in one thread arrangement, file and standard input in turn, and by one
table in turn. One that has tunnels is read outermost and innermost, any other one or the other in turn, and both where
PARSHALL_THOROUGH is set. With --matrix all are read both ways in every arrangement, by the default table too. Prints
what differs; exit status 1 when an AGREE capture does.
"""

import argparse
import concurrent.futures
import csv
import gzip
import itertools
import json
import lzma
import os
import pathlib
import subprocess
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [TESTS, os.path.join(TESTS, "live")]
from rivals import program_for
from side_by_side import is_thorough

ARRANGEMENTS = [
    (model, workers, stdin)
    for model, workers, stdin in itertools.product(
        ["run-to-completion", "pipeline", "cooperative"], [1, 2, 4], [False, True]
    )
]
COLUMNS = ["ip_version", "protocol", "src_ip", "dst_ip", "src_port", "dst_port"]


# Innermost headers that only tshark finds, inside what is no tunnel: decompressed IPComp, sampled headers, OpenFlow.
ACCEPTED_INNERMOST = {
    "libpcap__filter_AH-IPcomp-IPv4.pcap",
    "libpcap__filter_AH-IPcomp-IPv6.pcap",
    "nDPI__sflow.pcap",
    "tcpdump__of13_ericsson.pcapng",
}
# Link types that neither of the programs behind the truth knows: tags of switches.
ACCEPTED_LINK_TYPE = {"libpcap__filter_brcm-tag.pcap", "tcpdump__dsa.pcap"}


def find_traces():
    """The folder of the trace set; None, having said SKIPPED, where it is missing."""
    traces = pathlib.Path(
        os.environ.get("PARSHALL_TRACES", pathlib.Path(__file__).resolve().parents[2] / "../shared/traces")
    )
    if (traces / "MANIFEST.tsv").exists():
        return traces
    print(f"SKIPPED: no traces at {traces} (set PARSHALL_TRACES)")
    return None


def manifest(traces):
    with open(traces / "MANIFEST.tsv", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def time_ns(text):
    seconds, _, fraction = text.partition(".")
    return int(seconds) * 10**9 + int((fraction + "0" * 9)[:9]) if text else 0


def read_truth(path):
    with gzip.open(path, "rt") as file:
        next(file)
        flows = {}
        for line in file:
            x = line.rstrip("\n").split("\t")
            flows[tuple(x[:6])] = (int(x[6]), int(x[7]), int(x[8]), time_ns(x[9]), time_ns(x[10]))
        return flows


def capture_bytes(path):
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        import zlib

        inflate = zlib.decompressobj(31)
        return inflate.decompress(data) + inflate.flush()
    if data[:6] == b"\xfd7zXZ\0":
        return lzma.decompress(data)
    return None


def measure(parshall, path, inner, arrangement, expected):
    """(flows, summary) as the program reports them; raises on a crash or an unbalanced account. The table has room for
    far more flows than are expected."""
    model, workers, stdin, table = arrangement
    data = capture_bytes(path)
    chosen = [] if table == "bucketed" else ["--table", table]
    command = [
        program_for(parshall, [model, *chosen]),
        "watch",
        "-r",
        "-" if stdin or data is not None else str(path),
        "--format",
        "json",
        "--quiet",
        "--flows",
        "2048" if expected < 64 else "32768",  # room costs most of what a run of few packets costs
        "--workers",
        str(workers),
        "--threads",
        model,
        "--ring",
        "4096",
        *chosen,
    ] + (["--inner"] if inner else [])
    with open(path, "rb") as file:
        if data is not None:
            run = subprocess.run(command, input=data, capture_output=True, timeout=120)
        else:
            run = subprocess.run(command, stdin=file if stdin else subprocess.DEVNULL, capture_output=True, timeout=120)
    if run.returncode not in (0, 3):
        raise RuntimeError(f"exit status {run.returncode}: {run.stderr.decode(errors='replace').strip()}")
    document = json.loads(run.stdout)
    summary = document["summary"]
    if not summary["accounting"]["balanced"] or summary["packets"] != sum(
        flow["packets"] for flow in document["flows"]
    ):
        raise RuntimeError(f"the account does not balance: {summary['accounting']}")
    flows = {}
    for flow in document["flows"]:
        flows[tuple(str(flow[name]) for name in COLUMNS)] = (
            flow["packets"],
            flow["ip_bytes"],
            flow["wire_bytes"],
            flow["first_seen_ns"],
            flow["last_seen_ns"],
        )
    return flows


def differences(truth, ours):
    def same(a, b):
        times = a[3] == 0 or all(x // 1000 == y // 1000 for x, y in zip(a[3:], b[3:]))
        return a[:3] == b[:3] and times

    return [
        f"{key}: truth {truth.get(key)}, parshall {ours.get(key)}"
        for key in set(truth) | set(ours)
        if key not in truth or key not in ours or not same(truth[key], ours[key])
    ]


def empty_capture_problems(parshall, path):
    run = subprocess.run([parshall, "watch", "-r", path], capture_output=True, text=True, timeout=60)
    return (
        []
        if run.returncode == 1 and "is empty" in run.stderr
        else [f"an empty file gave {run.returncode}: {run.stderr}"]
    )


def exact_tables(parshall):
    """All that keep a flow until the end: FloWatcher's double hash has no room for a bucket's third."""
    listed = subprocess.run([parshall + "-lab", "list", "tables"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.splitlines() if " exact " in line and not line.startswith("double-hash")]


def ways(traces, i, row, matrix):
    """Whether innermost headers are read, for each run of capture i."""
    has_tunnels = (traces / "truth" / (row["file"] + ".inner.tsv.gz")).exists()
    return (False, True) if has_tunnels or matrix or is_thorough() else (i % 2 == 1,)


def arrangements(traces, rows, tables, matrix):
    """(capture, arrangement, inner): thread models, file and standard input, and tables take turns."""
    turn = 0
    for i, row in enumerate(rows):
        for inner in ways(traces, i, row, matrix):
            for arrangement in ARRANGEMENTS if matrix else [ARRANGEMENTS[(2 * i + inner) % len(ARRANGEMENTS)]]:
                turn += 1
                yield row, (*arrangement, tables[turn % len(tables)]), inner
                if matrix:
                    yield row, (*arrangement, tables[0]), inner


def check(parshall, traces, row, arrangement, inner):
    path = traces / "pcap" / row["file"]
    truth_path = traces / "truth" / (row["file"] + (".inner.tsv.gz" if inner else ".flows.tsv.gz"))
    if inner and not truth_path.exists():
        truth_path = traces / "truth" / (row["file"] + ".flows.tsv.gz")
    label = (
        f"{row['file']} ({'innermost' if inner else 'outermost'}, {arrangement[0]}, {arrangement[1]} workers, "
        f"{'stdin' if arrangement[2] else 'file'}, {arrangement[3]})"
    )
    if int(row["file_bytes"]) == 0:
        return label, row, False, empty_capture_problems(parshall, path)
    try:
        truth = read_truth(truth_path)
        found = differences(truth, measure(parshall, path, inner, arrangement, len(truth)))
    except (RuntimeError, subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        return label, row, True, [str(error)]
    return label, row, False, found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parshall")
    parser.add_argument("--matrix", action="store_true")
    options = parser.parse_args()
    traces = find_traces()
    if traces is None:
        return 0
    rows = manifest(traces)
    tables = exact_tables(options.parshall)
    jobs = list(arrangements(traces, rows, tables, options.matrix))
    wrong = differing = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for label, row, crashed, found in pool.map(lambda job: check(options.parshall, traces, *job), jobs):
            if not found:
                continue
            accepted = "(innermost" in label and row["file"] in ACCEPTED_INNERMOST or row["file"] in ACCEPTED_LINK_TYPE
            if crashed or (row["crosscheck"] == "AGREE" and not accepted):
                wrong += 1
                print(f"WRONG {label}: {len(found)} differences, e.g. {found[0]}")
            else:
                differing += 1
    agreeing = sum(row["crosscheck"] == "AGREE" for row in rows)
    print(
        f"{len(rows)} captures, {agreeing} of them AGREE, {len(jobs)} runs: {wrong} wrong; "
        f"{differing} runs of DIFFER captures unlike tshark (docs/accuracy-captures.md)"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
