# SPDX-License-Identifier: Apache-2.0
"""What MONA's monitoring states add to a packet: `parshall bench profile` of both configurations in one file."""

import json
import pathlib
import tempfile

import oracle
from runs import bench

ARGUMENTS = ["profile", "--rounds", "9", "--memory", "256Mi", "-g", oracle.TRAFFIC]
COMMANDS = f"parshall bench {' '.join(ARGUMENTS)} --states FILE, of both configurations of figure 6"


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
        bench(parshall, [*ARGUMENTS, "--states", str(file)], path)
    profile = json.loads(path.read_text(encoding="utf-8"))
    rows = [
        {"state": state, **{column: row[column] for column in ("ns", "low_ns", "high_ns")}}
        for state, row in oracle.costs_of_states(profile).items()
    ]
    path.write_text(
        json.dumps({"experiment": "states", "machine": profile["machine"], "rows": rows}) + "\n", encoding="utf-8"
    )
