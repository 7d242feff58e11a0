#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dependency rule of ARCHITECTURE.md: a stage includes `base`, itself and the stages to its left. Also: every source
begins with its SPDX line, and rte_* stays in the folders that may know DPDK. Prints what breaks it."""
import pathlib
import re
import sys

STAGES = ["capture", "decode", "flow", "measure", "report"]
SPDX = "SPDX-License-Identifier: Apache-2.0"


def layer(path):
    """(name, what it may include) of a file or include path below src/."""
    parts = pathlib.PurePath(path).parts
    if parts[0] == "base":
        return "base", {"base"}
    if parts[0] == "pipeline" and len(parts) > 2:
        stage = parts[1]
        return stage, {"base", *STAGES[: STAGES.index(stage) + 1]}
    if parts[0] == "pipeline":
        return "pipeline", {"base", "pipeline", "control", *STAGES}
    if parts[0] == "generate":
        return "generate", {"base", "generate", "capture", "decode"}
    if parts[0] == "tester":
        return "tester", {"base", "tester", "generate", "capture", "decode"}
    if parts[0] in ("control", "classify"):
        return parts[0], {"base", "measure", "flow", "decode", parts[0]}
    return parts[0], {"base", "pipeline", "generate", "control", "classify", "lab", "tester", parts[0], *STAGES}


def problems(root):
    for path in sorted((root / "src").rglob("*.[ch]pp")):
        name = path.relative_to(root / "src")
        text = path.read_text()
        if SPDX not in text.split("\n", 1)[0]:
            yield f"{name}: the first line must be // {SPDX}"
        own, allowed = layer(name)
        for line_number, line in enumerate(text.split("\n"), 1):
            include = re.match(r'#include "([^"]+)"', line)
            # report speaks of the accounting, which stands beside the stages as plain data
            if include and include[1] not in ("pipeline/accounting.hpp",) and layer(include[1])[0] not in allowed:
                yield f"{name}:{line_number}: {own} must not include {include[1]}"
            if re.search(r"#include <rte_", line) and "dpdk" not in name.parts:
                yield f"{name}:{line_number}: rte_* belongs in the dpdk folders"
    for path in sorted([*(root / "tests").rglob("*.[ch]pp"), *(root / "bench").rglob("*.[ch]pp"), *(root / "tools").glob("*.sh")]):
        if SPDX not in "\n".join(path.read_text().split("\n")[:2]):
            yield f"{path.relative_to(root)}: no SPDX line"


if __name__ == "__main__":
    found = list(problems(pathlib.Path(__file__).resolve().parents[1]))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
