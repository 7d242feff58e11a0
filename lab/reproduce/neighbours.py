#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a table costs while other processes, each on a core of its own, copy memory: by how many they are.

Run as a program this is such a neighbour: neighbours.py BYTES.
"""

import ctypes
import json
import mmap
import os
import pathlib
import subprocess
import sys

TABLES = "count-array,linear,cuckoo-4,cuckoo-1"
BENCH = [
    "tables",
    "--tables",
    TABLES,
    "--task",
    "heavy-hitter",
    "--key-bytes",
    "8",
    "--batch",
    "64",
    "--flows",
    "1Mi",
    "--zipf",
    "1.1",
    "--rounds",
    "9",
]
MEMORY_MB = 512
STRETCH = 256 << 10  # bytes that are copied at a time


def fight(size):
    """Copies memory of `size` bytes, half to half, in order, until it is ended."""
    memory = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    ctypes.memset(begin, 1, size)
    print("ready", flush=True)
    at, half = 0, size // 2
    while True:
        ctypes.memmove(begin + half + at, begin + at, STRETCH)
        at = (at + STRETCH) % half


class Neighbours:
    """A number of them, from when their memory is theirs; a context."""

    def __init__(self, size, cores):
        self._size, self._cores = size, cores
        self._running = []

    def __enter__(self):
        try:
            for core in self._cores:
                self._running.append(
                    subprocess.Popen(
                        [sys.executable, __file__, str(self._size)],
                        stdout=subprocess.PIPE,
                        text=True,
                        preexec_fn=lambda core=core: os.sched_setaffinity(0, {core}),
                    )
                )
            if any(one.stdout.readline().strip() != "ready" for one in self._running):
                raise RuntimeError(f"a neighbour of {self._size} bytes does not begin")
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for one in self._running:
            one.kill()
            one.wait()
            one.stdout.close()


def bench(parshall, core):
    """The rows of one run of BENCH that has the core."""
    done = subprocess.run(
        [parshall, "bench", *BENCH, "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    if done.returncode != 0:
        raise RuntimeError(f"parshall bench tables ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class ByNumber:
    """A run: a table beside none, one, and as many neighbours as there are other cores."""

    COMMANDS = (
        f"taskset -c 0 parshall bench {' '.join(BENCH)}, beside lab/reproduce/neighbours.py {MEMORY_MB << 20}"
        f" "
        f"on other cores"
    )

    def version(self):
        return pathlib.Path(__file__).read_text()

    def measure(self, parshall, path):
        cores = sorted(os.sched_getaffinity(0))
        missing = None if len(cores) > 1 else "one core: a neighbour needs one of its own"
        rows, machine = [], None
        for number in range(len(cores)) if missing is None else ():
            with Neighbours(MEMORY_MB << 20, cores[1 : 1 + number]):
                document = bench(parshall, cores[0])
            machine = machine or document["machine"]
            rows += [{**row, "neighbours": number} for row in document["rows"]]
        path.write_text(
            json.dumps({"experiment": "neighbours", "machine": machine, "missing": missing, "rows": rows}) + "\n",
            encoding="utf-8",
        )


NUMBER = ByNumber()

if __name__ == "__main__":
    fight(int(sys.argv[1]))
