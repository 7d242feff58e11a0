# SPDX-License-Identifier: Apache-2.0
"""Which of three distributions fits the times of single lookups best, by BIC: `parshall bench profile` fits them."""

import json
import pathlib

from runs import bench

ARGUMENTS = ["profile", "--rounds", "3"]
COMMANDS = f"parshall bench {' '.join(ARGUMENTS)}"


def version():
    return pathlib.Path(__file__).read_text()


def measure(parshall, path):
    """A row for each kind of time; a column for each model: by how much its BIC is above the best one's."""
    bench(parshall, ARGUMENTS, path)
    profile = json.loads(path.read_text(encoding="utf-8"))
    rows = {}
    for row in profile["rows"]:
        times, _, model = row["what"].partition(" as ")
        if model:
            rows.setdefault(times, {"times": times})[model.lower()] = row["bic_more"] or 0
    path.write_text(
        json.dumps({"experiment": "fits", "machine": profile["machine"], "rows": list(rows.values())}) + "\n",
        encoding="utf-8",
    )
