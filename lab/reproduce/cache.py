# SPDX-License-Identifier: Apache-2.0
"""Misses of the last-level cache while packets are counted, in caches as large as the paper's machines had them:
simulated by valgrind's cachegrind. What a packet costs is the difference of a long run and a short one, so that start
and first touches cancel. Valgrind does not know
AVX-512: where this build has it, a portable one is asked for.
"""

import hashlib
import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

SIZES_MB = {
    25: 25,
    30: 30,
    # of the testbed that loses, of one that does not, and of the third: associativity, so that sets are a power of two
}
SHORT, LONG = 400_000, 1_600_000  # packets
WATCH = ["watch", "-q", "-g", "flows=65536", "--flows", "64Ki", "--top", "1"]
PORTABLE = pathlib.Path(__file__).resolve().parents[2] / "build-portable" / "avx2" / "parshall"  # of tools/portable.sh
TOO_NEW = (
    "this build has instructions that valgrind does not know: `ISAS=avx2 PROGRAMS=parshall tools/portable.sh` "
    "makes one that it knows"
)
NO_VALGRIND = "valgrind is not installed: tools/setup.sh valgrind"
COMMANDS = f"valgrind --tool=cachegrind --LL=SIZE,WAYS,64 parshall {' '.join(WATCH)} --count {SHORT} and {LONG}"


def version():
    portable = hashlib.sha256(PORTABLE.read_bytes()).hexdigest() if PORTABLE.exists() else ""
    return f"{pathlib.Path(__file__).read_text()} {shutil.which('valgrind')} {portable}"


class TooNew(RuntimeError):
    """Instructions that valgrind does not know."""


def counts(parshall, size_mb, ways, packets):
    """Instructions, references to the last-level cache and misses of it."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                "valgrind",
                "--tool=cachegrind",
                f"--LL={size_mb << 20},{ways},64",
                f"--cachegrind-out-file={folder}/out",
                parshall,
                *WATCH,
                "--count",
                str(packets),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode == -signal.SIGILL:
        raise TooNew(TOO_NEW)
    if done.returncode != 0:
        raise RuntimeError(f"valgrind ended with {done.returncode}: {done.stderr[-500:]}")

    def total(name):
        return int(re.search(rf"{name}:\s+([\d,]+)", done.stderr)[1].replace(",", ""))

    return total(r"I\s+refs"), total(r"LL refs"), total(r"LL misses")


def simulated(parshall):
    for size_mb, ways in SIZES_MB.items():
        short, long = (counts(parshall, size_mb, ways, packets) for packets in (SHORT, LONG))
        instructions, references, misses = (b - a for a, b in zip(short, long))
        packets = LONG - SHORT
        yield {
            "llc_mb": size_mb,
            "instructions_per_packet": instructions / packets,
            "references_per_1000": 1e3 * references / packets,
            "misses_per_1000": 1e3 * misses / packets,
        }


def measure(parshall, path):
    missing, rows = None, []
    if shutil.which("valgrind") is None:
        missing = NO_VALGRIND
    else:
        try:
            rows = list(simulated(str(PORTABLE) if PORTABLE.exists() else parshall))
        except TooNew as reason:
            missing = str(reason)
    path.write_text(json.dumps({"experiment": "cache", "missing": missing, "rows": rows}) + "\n", encoding="utf-8")
