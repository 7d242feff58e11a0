#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a record costs in each kind of output: CPU time of a run with it, less that of one without, by records; 22 columns. Rounds are interleaved.

usage: exports.py PARSHALL [--rounds N] [--records N] [--only KIND,...]
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

COLUMNS = "identity,totals,duration,tcp_flags"
KINDS = {"none": None, "csv": "csv:{}/flows.csv", "jsonl": "jsonl:{}/flows.jsonl", "ipfix": "ipfix:{}/flows.ipfix", "arrow": "arrow:{}/flows.arrows",
         "parquet": "parquet:{}/flows"}


def run(parshall, kind, records):
    """CPU seconds of a run, its records, and the bytes that it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        words = [parshall, "watch", "-q", "-g", f"dist=trains:2,packets={2 * records},ipv6=0.3", "--count", str(2 * records), "--flows", "64Ki", "--idle", "1ms", "--columns", COLUMNS,
                 "--format", "json", "--top", "1", "--sort", "packets", "-o", f"{folder}/report.json"]
        if KINDS[kind]:
            words += ["--export", KINDS[kind].format(folder)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        summary = json.loads(pathlib.Path(folder, "report.json").read_text())["summary"]
        assert summary["accounting"]["balanced"]
        written = 0
        for output in summary.get("outputs", []):
            assert output["dropped"]["records"] == 0, output
            written = max(written, output["written"]["records"])
        size = sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, written, size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parshall")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--only", default=",".join(KINDS))
    options = parser.parse_args()
    kinds = ["none"] + [kind for kind in options.only.split(",") if kind != "none"]
    seconds, records, sizes = {kind: [] for kind in kinds}, 0, {}
    for _ in range(options.rounds):
        for kind in kinds:
            cpu, written, sizes[kind] = run(options.parshall, kind, options.records)
            seconds[kind].append(cpu)
            records = max(records, written)
    print(f"{records} records, {os.cpu_count()} cores, {options.rounds} rounds")
    print(f"{'output':<10}{'ns/record':>10}{'least':>8}{'most':>8}{'bytes/record':>14}")
    for kind in kinds[1:]:
        costs = [1e9 * (with_it - without) / records for with_it, without in zip(seconds[kind], seconds["none"])]
        print(f"{kind:<10}{statistics.median(costs):>10.0f}{min(costs):>8.0f}{max(costs):>8.0f}{sizes[kind] / records:>14.1f}")


if __name__ == "__main__":
    main()
