# SPDX-License-Identifier: Apache-2.0
"""What is run for the SOSR paper."""

import neighbours
from paper import Run

BATCH = ("--batch", "64")
HEAVY = ("--task", "heavy-hitter", "--key-bytes", "8", *BATCH)  # as the paper has it: pairs of addresses
ROUNDS, QUICK = ("--rounds", "9"), ("--rounds", "5")
SIZED = "count-array,count-min,linear,cuckoo-1,cuckoo-4,bucketed"
TASKED = "count-array,linear,cuckoo-1,cuckoo-4,bucketed"
HEAPS = "linear,count-array,heap,heap-values,space-saving"
COUNTED = ("precision", "recall", "memory_mb", "rejected_share", "reportable_flows")


def tables(arguments, x=None, y="ns", quick=None):
    """A run whose accuracy is the same each time; its tails go by the time stamp counter."""
    return Run(arguments, x, y, quick, by_clock=True, counted=COUNTED)


def task(name, loads, quick=None, tasked=TASKED):
    arguments = (
        "tables",
        "--tables",
        tasked,
        "--task",
        name,
        "--key-bytes",
        "8",
        *BATCH,
        "--flows",
        "65536",
        "--zipf",
        "1.1",
        "--load",
    )
    return tables((*arguments, loads, *ROUNDS), "memory_mb", "p99_cycles", quick and (*arguments, quick, *QUICK))


RUNS = {
    "sizes": tables(
        (
            "tables",
            "--tables",
            SIZED,
            *HEAVY,
            "--flows",
            "131072",
            "--zipf",
            "1.1",
            "--load",
            "1,0.25,0.0625,0.015625",
            *ROUNDS,
        ),
        "memory_mb",
        quick=("tables", "--tables", SIZED, *HEAVY, "--flows", "131072", "--zipf", "1.1", "--load", "1,0.0625", *QUICK),
    ),
    "data-sizes": tables(
        (
            "tables",
            "--tables",
            "count-array,linear,heap",
            *HEAVY,
            "--flows",
            "1Mi",
            "--zipf",
            "1.1",
            "--load",
            "2,1,0.5,0.25,0.125",
            *ROUNDS,
        ),
        "memory_mb",
    ),
    "small-sizes": tables(
        (
            "tables",
            "--tables",
            "count-array,heap",
            *HEAVY,
            "--flows",
            "1Mi",
            "--zipf",
            "1.1",
            "--load",
            "64,16,4",
            *ROUNDS,
        ),
        "memory_mb",
    ),
    "accuracy": tables(
        (
            "sketches",
            "--tables",
            "count-array-keys,count-array-replace,count-array,count-min,count-min-conservative,heavy-keeper,heap",
            *HEAVY,
            "--flows",
            "131072",
            "--zipf",
            "1.1",
            "--load",
            "8,2,1,0.5,0.25,0.0625",
            *ROUNDS,
        ),
        "p99_cycles",
        "precision",
        quick=(
            "sketches",
            "--tables",
            "count-array-keys,count-array-replace,count-min,heap",
            *HEAVY,
            "--flows",
            "131072",
            "--zipf",
            "1.1",
            "--load",
            "8,1,0.25",
            *QUICK,
        ),
    ),
    "heap": tables(
        ("tables", "--tables", HEAPS, *HEAVY, "--flows", "1Ki,16Ki,128Ki,1Mi", "--zipf", "0.75,1.1,1.5,2", *ROUNDS),
        "zipf",
        quick=("tables", "--tables", HEAPS, *HEAVY, "--flows", "1Ki,128Ki", "--zipf", "0.75,1.5", *QUICK),
    ),
    "skew": tables(
        (
            "tables",
            "--tables",
            "count-array,count-min,linear,heap,bucketed",
            *HEAVY,
            "--flows",
            "4Mi",
            "--zipf",
            "0.75,1.1,1.25,1.5,1.75",
            *ROUNDS,
        ),
        "zipf",
        "p99_cycles",
    ),
    "array": tables(
        (
            "tables",
            "--tables",
            "count-array",
            *HEAVY,
            "--flows",
            "4Ki,64Ki,1Mi,16Mi",
            "--zipf",
            "0.75,1.1,1.5",
            *ROUNDS,
        ),
        "flows",
    ),
    "superspreader": task("superspreader", "1,0.25,0.0625"),
    "change": task("change", "1,0.25,0.03125", "1,0.03125", f"{TASKED},heap-values"),
    "values": tables(
        (
            "tables",
            "--tables",
            "linear,linear-index,count-array-values,heap-values",
            *BATCH,
            "--flows",
            "1Mi",
            "--zipf",
            "0.75,1.1,1.25,1.75",
            "--value-bytes",
            "4,16,64",
            *ROUNDS,
        ),
        "value_bytes",
        "p99_cycles",
    ),
    "contention": Run(
        ("contention", "--cores", "2", "--flows", "1Ki,64Ki,1Mi", "--zipf", "1.1", *ROUNDS),
        "flows",
        by_clock=True,
        counted=("memory_mb",),
        quick=("contention", "--cores", "2", "--flows", "64Ki", "--zipf", "1.1", *QUICK),
    ),
    "footprint": tables(
        (
            "tables",
            "--tables",
            neighbours.TABLES,
            *HEAVY,
            "--flows",
            "1Mi",
            "--zipf",
            "1.1",
            "--beside",
            "none,count-1MB,count-4MB,count-16MB,count-64MB,count-256MB",
            *ROUNDS,
        ),
        "footprint_mb",
    ),
    "neighbours": Run(x="neighbours", module=neighbours.NUMBER, by_clock=True),
    "beside": tables(
        (
            "tables",
            "--tables",
            neighbours.TABLES,
            *HEAVY,
            "--flows",
            "1Mi",
            "--zipf",
            "1.1",
            "--beside",
            "none,cache,memory",
            *ROUNDS,
        )
    ),
}
