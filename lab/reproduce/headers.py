# SPDX-License-Identifier: Apache-2.0
"""Real headers to replay: a capture that the project's traces make, where they are; else built-in traffic."""

import os
import pathlib
import subprocess
import sys

PLACE = "@headers"  # among the arguments of a run
NAME, PACKETS = "headers.pcap", 4_000_000
MIX = ["-g", "flows=1000,dist=trains:49,size=748", "--gbps", "10"]  # the mean frame and flow of the paper's trace


def _tool():
    traces = pathlib.Path(
        os.environ.get("PARSHALL_TRACES") or pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "traces"
    )
    return traces / "tools" / "build_bench.py"


def version(arguments):
    """What a run with these arguments depends on."""
    return f"{arguments} {_tool().exists() if PLACE in arguments else ''}"


def _arguments(folder):
    tool, path = _tool(), folder / NAME
    if not tool.exists():
        print(
            f"no {tool}: built-in traffic in place of real headers (PARSHALL_TRACES names the folder)", file=sys.stderr
        )
        return MIX
    if not path.exists():
        part = path.with_suffix(".part")
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [sys.executable, tool, "--packets", str(PACKETS), "--out", part], stdout=subprocess.DEVNULL, check=True
        )
        part.rename(path)
    return ["-r", str(path), "--packets", str(PACKETS)]


def expanded(arguments, folder):
    """With what stands for PLACE in it."""
    if PLACE not in arguments:
        return arguments
    at = arguments.index(PLACE)
    return arguments[:at] + _arguments(folder) + arguments[at + 1 :]
