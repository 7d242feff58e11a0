# SPDX-License-Identifier: Apache-2.0
"""What a queue of 4096 packets loses, by flow table: a distribution over processes, each with memory placed anew, at a
rate that the middle one of the paper's three tables just takes."""

import json
import pathlib
import subprocess

from judge import Of

TABLES = "double-hash,combined,chained,bucketed"
PROCESSES = 15
BENCH = ["tables", "--tables", TABLES, "--flows", "65536", "--zipf", "0", "--rounds", "5"]
COMMANDS = (
    f"parshall bench {' '.join(BENCH)} --offered MPPS, in {PROCESSES} processes, at the rate that the combined "
    f"table takes in the first"
)


def version():
    return pathlib.Path(__file__).read_text()


def bench(parshall, *more):
    done = subprocess.run(
        [parshall, "bench", *BENCH, *more, "--format", "json"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"parshall bench tables ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def measure(parshall, path):
    first = bench(parshall)
    offered = round(1e3 / next(row["ns"] for row in first["rows"] if row["table"] == "combined"))
    losses = {}
    for number in range(PROCESSES):
        for row in bench(parshall, "--offered", str(offered), "--seed", str(number + 1))["rows"]:
            losses.setdefault(row["table"], []).append(row["modelled_loss"])
    rows = [
        {"table": table, "offered_mpps": offered, "losses": shares, "interval_of": Of.RUNS.name}
        for table, shares in losses.items()
    ]
    path.write_text(
        json.dumps({"experiment": "losses", "machine": first["machine"], "rows": rows}) + "\n", encoding="utf-8"
    )
