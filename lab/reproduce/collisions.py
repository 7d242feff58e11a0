# SPDX-License-Identifier: Apache-2.0
"""What a queue loses in front of a chained table of few slots, at a rate that one of 500,000 takes with some time to
spare.

Slots are the heads of chains, a power of two; every flow has an entry, so that fewer slots make longer chains and
nothing is left out.
"""

import json

from rows import Rows
from runs import bench

FLOWS, LOADS, AMPLE = 250_000, (0.25, 0.5, 1, 4, 16), 0.5  # flows to slots; of 500,000, or 2^19
BUSY = 0.85  # of the time; runs of a busier one would differ by more than tables do
ARGUMENTS = [
    "tables",
    "--tables",
    "chained-loaded",
    "--flows",
    str(FLOWS),
    "--zipf",
    "1.1",
    "--load",
    ",".join(map(str, LOADS)),
    "--rounds",
    "9",
]
COMMANDS = (
    f"parshall bench {' '.join(ARGUMENTS)} --offered MPPS, at {BUSY} of what {round(FLOWS / AMPLE):,} slots "
    f"take in a run before"
)


def version():
    return f"{ARGUMENTS} {BUSY}"


def measure(parshall, path):
    bench(parshall, ARGUMENTS, path)
    offered = round(BUSY * 1e3 / Rows.read(path).one(load=AMPLE)["ns"], 2)
    bench(parshall, [*ARGUMENTS, "--offered", str(offered)], path)
    documents = [json.loads(line) | {"offered_mpps": offered} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8")
