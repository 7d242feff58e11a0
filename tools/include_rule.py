#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dependency rule of ARCHITECTURE.md: a stage includes `base`, itself and the stages to its left; the table says
what others may.
Also: every source begins with its SPDX line, and rte_* stays in the folders that may know DPDK. Prints what breaks
it."""

import pathlib
import re
import sys

STAGES = ["capture", "decode", "flow", "measure", "output"]
SPDX = "SPDX-License-Identifier: Apache-2.0"
ENGINE = {"base", "control", *STAGES, "engine"}
# What a folder may include, beside what is in it. The lab measures the inside of all; the product includes neither lab
# nor tester.
MAY = {
    "base": set(),
    "launcher": set(),
    "control": {"base"},
    "parquet": {"base"},
    "classify": {"base", "decode", "flow", "measure", "parquet"},
    "engine": ENGINE,
    "traffic": {"base", "capture", "decode"},
    "web": {"base"},
    "parshall": {*ENGINE, "classify", "traffic", "web"},
    "cli": {"base", "output"},
    "compare": {"base", "capture", "decode", "flow", "output", "verify"},
    "verify": {"base", "output", "parquet"},
    "app": {*ENGINE, "classify", "traffic", "parshall", "cli", "compare", "verify", "web"},
    "tester": {*ENGINE, "traffic", "parshall", "cli", "app", "compare"},
    "lab": {*ENGINE, "classify", "traffic", "parshall", "cli", "app"},
}
BESIDE = ["lab", "tester"]  # programs whose folders are beside src
PYTHON_MAY = {"base", "compare", "parshall"}  # of python/, beside its own


def layer(path):
    """(name, what it may include) of a file or include path below src/, or of one of BESIDE."""
    parts = pathlib.PurePath(path).parts
    if parts[0] == "pipeline":
        stage = parts[1]
        return stage, {"base", *STAGES[: STAGES.index(stage) + 1]}
    return parts[0], {parts[0], *MAY[parts[0]]}


def problems(root):
    for path in sorted(
        path for house in (root / "src", *(root / name for name in BESIDE)) for path in house.rglob("*.[ch]pp")
    ):
        name = path.relative_to(root / "src" if path.is_relative_to(root / "src") else root)
        if {"tests", "bench"} & set(name.parts):  # they may include anything
            continue
        text = path.read_text()
        if SPDX not in text.split("\n", 1)[0]:
            yield f"{name}: the first line must be // {SPDX}"
        own, allowed = layer(name)
        for line_number, line in enumerate(text.split("\n"), 1):
            include = re.match(r'#include "([^"]+)"', line)
            if include and layer(include[1])[0] not in allowed:
                yield f"{name}:{line_number}: {own} must not include {include[1]}"
            if re.search(r"#include <rte_", line) and "dpdk" not in name.parts:
                yield f"{name}:{line_number}: rte_* belongs in the dpdk folders"
    for path in sorted((root / "python").glob("*.[ch]pp")):
        for line_number, line in enumerate(path.read_text().split("\n"), 1):
            include = re.match(r'#include "([^"]+)"', line)
            if include and "/" in include[1] and layer(include[1])[0] not in PYTHON_MAY:
                yield f"python/{path.name}:{line_number}: python must not include {include[1]}"
    for path in sorted(
        [
            *(root / "tests").rglob("*.[ch]pp"),
            *(path for name in BESIDE for path in (root / name / "tests").rglob("*.[ch]pp")),
            *(root / "lab/bench").rglob("*.[ch]pp"),
            *(root / "python").glob("*.[ch]pp"),
            *(root / "tools").glob("*.sh"),
        ]
    ):
        if SPDX not in "\n".join(path.read_text().split("\n")[:2]):
            yield f"{path.relative_to(root)}: no SPDX line"


if __name__ == "__main__":
    found = list(problems(pathlib.Path(__file__).resolve().parents[1]))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
