#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the memory of a Python program that asks for flows grow with the packets, or with the flows that are kept?

Each run is a process of its own that says how much it took at most (VmHWM), before the first record and after the last.
1. A capture of --flows flows, and 4 and 16 times as many packets of the same flows, read from a pipe: as a frame, and
in batches that are forgotten.
   Likewise as a file. A file is mapped: the last 64 to 96 MB that were read of it count as the program's.
2. As many packets in 1, 4 and 16 times as many flows: what a flow takes.
3. --many flows that end while the run goes on (built-in traffic, idle), streamed by batches into a Parquet file, and
into sums by polars; and a tenth of them, to compare.

Exit status: 0, or 1 where what is read is not what was made, or a pipe's 16-fold packets or the streamed tenfold flows
take --slack MB more.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import textwrap

CODE = {
    "frame": "table = parshall.flows(**settings).to_pandas(); flows, packets = len(table), int(table.packets.sum())",
    "batches": """
        flows = packets = 0
        for batch in parshall.flows(**settings).batches():
            table = pyarrow.record_batch(batch)
            flows, packets = flows + table.num_rows, packets + pyarrow.compute.sum(table["packets"]).as_py()""",
    "parquet": """
        flows = packets = 0
        with parshall.flows(**settings) as run, pyarrow.parquet.ParquetWriter(out, pyarrow.schema(run)) as file:
            for batch in run.batches():
                table = pyarrow.record_batch(batch)
                file.write_batch(table)
                flows, packets = flows + table.num_rows, packets + pyarrow.compute.sum(table["packets"]).as_py()
        assert pyarrow.parquet.read_metadata(out).num_rows == flows""",
    "polars": """
        sums = None
        for batch in parshall.flows(**settings).batches():
            of_batch = polars.from_arrow(pyarrow.record_batch(batch)).group_by("dst_port").agg(
                polars.len().alias("flows").cast(polars.Int64), polars.col("packets").sum().cast(polars.Int64))
            both = of_batch if sums is None else polars.concat([sums, of_batch])
            sums = both.group_by("dst_port").agg(polars.col("flows", "packets").sum())
        flows, packets = int(sums["flows"].sum()), int(sums["packets"].sum())""",
}
PROGRAM = """
    import json, resource, sys, time
    import pandas, parshall, polars, pyarrow, pyarrow.compute, pyarrow.parquet
    settings, out = json.loads(sys.argv[1]), sys.argv[2]
    peak = lambda: next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
    before, began = peak(), time.monotonic()
"""


def take(how, folder, capture=None, **settings):
    """What a process that takes the flows so says: flows, packets, MB before and at most, seconds. A capture comes by a
    pipe."""
    say = "print(json.dumps([flows, packets, before, peak(), time.monotonic() - began]))"
    code = textwrap.dedent(PROGRAM) + textwrap.dedent(CODE[how]).strip() + "\n" + say
    command = [
        sys.executable,
        "-c",
        code,
        json.dumps({"source": "-"} if capture else settings),
        os.path.join(folder, "out.parquet"),
    ]
    with subprocess.Popen(["cat", capture or "/dev/null"], stdout=subprocess.PIPE) as pipe:
        done = subprocess.run(command, stdin=pipe.stdout, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def make_capture(folder, flows, packets):
    path = os.path.join(folder, f"{flows}-{packets}.pcap")
    # Every flow comes in the first part already: the longer capture has the same flows again.
    traffic = f"flows={flows},dist=uniform,size=64,seed=1,packets={min(packets, 4 * flows)}"
    subprocess.run(
        [sys.executable, "-m", "parshall", "send", "-g", traffic, "--count", str(packets), "-w", path],
        check=True,
        capture_output=True,
    )
    return path


def row(what, how, flows, packets, result):
    """How many MB more it took at most than before."""
    *read, before, peak, seconds = result
    print(f"| {what} | {how} | {flows:,} | {packets:,} | {before:.0f} | {peak:.0f} | {seconds:.2f} |", flush=True)
    if read != [flows, packets]:
        sys.exit(f"{read[0]:,} flows and {read[1]:,} packets came")
    return peak - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--flows", type=int, default=50_000, help="16 times as many should fit the table (flows=, 1 Mi)"
    )
    parser.add_argument("--many", type=int, default=10_000_000)
    parser.add_argument("--slack", type=float, default=64)
    parser.add_argument("--work-dir", help="for captures of up to 64 packets a flow (a temporary folder)")
    options = parser.parse_args()
    flows = options.flows
    print("| what | taken as | flows | packets | MB before | peak MB | wall s |")
    print("|---|---|---:|---:|---:|---:|---:|")
    by_pipe = {"frame": [], "batches": []}
    streamed = {"parquet": [], "polars": []}
    with tempfile.TemporaryDirectory(dir=options.work_dir) as folder:
        for times in (1, 4, 16):
            packets = 4 * times * flows
            path = make_capture(folder, flows, packets)
            for how, took in by_pipe.items():
                took.append(row(f"{times} x packets, by a pipe", how, flows, packets, take(how, folder, path)))
            row(
                f"{times} x packets, as a file of {os.path.getsize(path) >> 20} MB",
                "batches",
                flows,
                packets,
                take("batches", folder, source=path),
            )
            os.unlink(path)
        of_flows = []
        for times in (1, 4, 16):
            path = make_capture(folder, times * flows, 16 * 4 * flows)
            of_flows.append(
                row(f"{times} x flows, by a pipe", "frame", times * flows, 16 * 4 * flows, take("frame", folder, path))
            )
            os.unlink(path)
        for many in (options.many // 10, options.many):
            settings = {
                "generate": "flows=1000,dist=trains:4,rate=1000000,seed=1",
                "count": 4 * many,
                "idle": "10ms",
                "flows": 65536,
                "seed": 1,
            }
            for how, took in streamed.items():
                took.append(row("streamed", how, many, 4 * many, take(how, folder, **settings)))
    grown = max(took[-1] - took[0] for took in by_pipe.values())
    grown_streamed = max(took[-1] - took[0] for took in streamed.values())
    print(
        f"16 times as many packets take {grown:.1f} MB more at most; 16 times as many flows "
        f"{(of_flows[-1] - of_flows[0]) * 2**20 / (15 * flows):.0f} bytes more each; ",
        end="",
    )
    print(f"ten times as many flows, streamed, {grown_streamed:.1f} MB more")
    return 1 if max(grown, grown_streamed) > options.slack else 0


if __name__ == "__main__":
    sys.exit(main())
