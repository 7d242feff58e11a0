# SPDX-License-Identifier: Apache-2.0
"""Which of three distributions fits the times of single lookups best, by BIC: `parshall profile` fits them."""

import json
import pathlib
import subprocess
import tempfile

ARGUMENTS = ["profile", "--rounds", "3", "--format", "json"]
COMMANDS = f"parshall {' '.join(ARGUMENTS)}"


def version():
    return pathlib.Path(__file__).read_text()


def measure(parshall, path):
    """A row for each kind of time; a column for each model: by how much its BIC is above the best one's."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [parshall, *ARGUMENTS, "-o", f"{folder}/profile.toml"], capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise RuntimeError(f"parshall profile ended with {done.returncode}: {done.stderr[-500:]}")
    told = json.loads(done.stdout)
    rows = {}
    for row in told["rows"]:
        times, _, model = row["what"].partition(" as ")
        if model:
            rows.setdefault(times, {"times": times})[model.lower()] = row["bic_more"] or 0
    path.write_text(
        json.dumps({"experiment": "fits", "machine": told["machine"], "rows": list(rows.values())}) + "\n",
        encoding="utf-8",
    )
