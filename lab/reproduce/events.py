# SPDX-License-Identifier: Apache-2.0
"""What the kernel counts while flows are counted: pages that are touched for the first time, and switches to other
threads, by
`perf stat`. What a packet adds is the difference of a long run and a short one."""

import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile

EVENTS = ("task-clock", "page-faults", "context-switches")
SHORT, LONG, ROUNDS = 20_000_000, 120_000_000, 7
WATCH = ["watch", "-q", "-g", "flows=65536", "--flows", "64Ki", "--top", "1"]
COMMANDS = f"perf stat -e {','.join(EVENTS)} parshall {' '.join(WATCH)} --count {SHORT} and {LONG}"


def version():
    return f"{pathlib.Path(__file__).read_text()} {shutil.which('perf')}"


def counts(parshall, packets):
    """Of one run, by event; ms of task-clock."""
    with tempfile.NamedTemporaryFile("r") as told:
        done = subprocess.run(
            ["perf", "stat", "-x,", "-e", ",".join(EVENTS), "-o", told.name, parshall, *WATCH, "--count", str(packets)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        fields = [line.split(",") for line in told.read().splitlines() if line and not line.startswith("#")]
    found = {line[2]: float(line[0]) for line in fields if len(line) > 2 and line[0].replace(".", "", 1).isdigit()}
    if done.returncode != 0 or set(found) != set(EVENTS):
        raise RuntimeError(
            f"perf stat ended with {done.returncode}: {done.stderr.strip() or 'an event was not counted'}"
        )
    return found


def measure(parshall, path):
    missing = None if shutil.which("perf") else "perf is not installed"
    samples = []
    for _ in range(ROUNDS if missing is None else 0):
        short, long = (counts(parshall, packets) for packets in (SHORT, LONG))
        samples.append({event: long[event] - short[event] for event in EVENTS})
    millions = (LONG - SHORT) / 1e6
    row = {"row": "flows, parshall", "interval_of": "RUNS"}
    for event, column in zip(EVENTS, ("ms_per_million", "faults_per_million", "switches_per_million")):
        values = sorted(sample[event] / millions for sample in samples)
        if values:
            row |= {column: statistics.median(values), f"low_{column}": values[0], f"high_{column}": values[-1]}
    path.write_text(
        json.dumps({"experiment": "events", "missing": missing, "rows": [row] if samples else []}) + "\n",
        encoding="utf-8",
    )
