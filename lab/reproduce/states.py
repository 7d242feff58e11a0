# SPDX-License-Identifier: Apache-2.0
"""What MONA's monitoring states add to a packet: `parshall profile` of both configurations in one file."""

import json
import pathlib
import subprocess
import tempfile

import oracle

ARGUMENTS = ["profile", "--rounds", "9", "--memory", "256Mi", "-g", oracle.TRAFFIC, "--format", "json"]
COMMANDS = f"parshall {' '.join(ARGUMENTS)} --states FILE, of both configurations of figure 6"
WHAT = "more in state "


def version():
    return f"{ARGUMENTS} {text()}"


def name_of(configuration, number):
    return f"{configuration}-{number}"


def text():
    """TOML of all states, each called by its configuration and number."""
    lines = [f'default = "{name_of("chain", 1)}"']
    for configuration, states in oracle.CONFIGURATIONS.items():
        for number, (_, tasks) in enumerate(states, 1):
            specs = ", ".join(json.dumps(spec) for spec in ("count", *(oracle.TASKS[task] for task in tasks)))
            lines += ["[[state]]", f'name = "{name_of(configuration, number)}"', f"tasks = [{specs}]"]
    return "\n".join(lines) + "\n"


def measure(parshall, path):
    """A row for each state."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "states.toml")
        file.write_text(text(), encoding="utf-8")
        done = subprocess.run(
            [parshall, *ARGUMENTS, "--states", file, "-o", f"{folder}/profile.toml"],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"parshall profile ended with {done.returncode}: {done.stderr[-500:]}")
    told = json.loads(done.stdout)
    rows = [
        {"state": row["what"].removeprefix(WHAT), **{column: row[column] for column in ("ns", "low_ns", "high_ns")}}
        for row in told["rows"]
        if row["what"].startswith(WHAT)
    ]
    path.write_text(
        json.dumps({"experiment": "states", "machine": told["machine"], "rows": rows}) + "\n", encoding="utf-8"
    )
