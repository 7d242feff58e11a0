#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a table costs while other processes, each on a core of its own, fight for cache or memory: by their footprint, and by how
many they are.

Run as a program this is such a neighbour: neighbours.py cache|memory BYTES.
"""
import ctypes
import json
import mmap
import os
import pathlib
import random
import subprocess
import sys

TABLES = "count-array,linear,cuckoo-4,cuckoo-1"
BENCH = ["tables", "--tables", TABLES, "--task", "heavy-hitter", "--key-bytes", "8", "--batch", "64", "--flows", "1Mi", "--zipf", "1.1", "--rounds", "9"]
FOOTPRINTS_MB = (0, 1, 4, 16, 64, 256, 1024)
MEMORY_MB = 512
PAGE, STRETCH = 4096, 256 << 10  # bytes that are copied at a time


def fight(kind, size):
    """Copies pages of `size` bytes at random (cache), or all of it in order (memory), until it is ended."""
    memory = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    ctypes.memset(begin, 1, size)
    print("ready", flush=True)
    copy, pages, pick = ctypes.memmove, size // PAGE, random.Random(1).random
    at, half = 0, size // 2
    while True:
        if kind == "cache":
            copy(begin + int(pages * pick()) * PAGE, begin + int(pages * pick()) * PAGE, PAGE)
        else:
            copy(begin + half + at, begin + at, STRETCH)
            at = (at + STRETCH) % half


class Neighbours:
    """A number of them, from when their memory is theirs; a context."""

    def __init__(self, kind, size, cores):
        self._kind, self._size, self._cores = kind, size, cores
        self._running = []

    def __enter__(self):
        for core in self._cores:
            self._running.append(subprocess.Popen([sys.executable, __file__, self._kind, str(self._size)], stdout=subprocess.PIPE, text=True,
                                                  preexec_fn=lambda core=core: os.sched_setaffinity(0, {core})))
        for one in self._running:
            if one.stdout.readline().strip() != "ready":
                self.__exit__()
                raise RuntimeError(f"a neighbour of {self._size} bytes does not begin")
        return self

    def __exit__(self, *_):
        for one in self._running:
            one.kill()
            one.wait()
            one.stdout.close()


def bench(parshall, core):
    """The rows of one run of BENCH that has the core."""
    done = subprocess.run([parshall, "bench", *BENCH, "--format", "json"], capture_output=True, text=True, check=False,
                          preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    if done.returncode != 0:
        raise RuntimeError(f"parshall bench tables ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class Sweep:
    """A run: `ways` gives (column's value, kind, bytes, number of neighbours) of each."""

    def __init__(self, experiment, column, ways):
        self._experiment, self._column, self._ways = experiment, column, ways
        self.COMMANDS = f"taskset -c 0 parshall bench {' '.join(BENCH)}, beside tools/reproduce/neighbours.py cache|memory BYTES on other cores"

    def version(self):
        return f"{self._experiment} {pathlib.Path(__file__).read_text()}"

    def measure(self, parshall, path):
        cores = sorted(os.sched_getaffinity(0))
        missing = None if len(cores) > 1 else "one core: a neighbour needs one of its own"
        rows, machine = [], None
        for value, kind, size, number in self._ways(cores) if missing is None else ():
            with Neighbours(kind, size, cores[1:1 + number]):
                document = bench(parshall, cores[0])
            machine = machine or document["machine"]
            rows += [{**row, self._column: value} for row in document["rows"]]
        told = {"experiment": self._experiment, "machine": machine, "missing": missing, "rows": rows}
        path.write_text(json.dumps(told) + "\n", encoding="utf-8")


def _by_footprint(_):
    return [(megabytes, "cache", megabytes * 1_000_000 // PAGE * PAGE, int(megabytes > 0)) for megabytes in FOOTPRINTS_MB]


def _by_number(cores):
    return [(number, "memory", MEMORY_MB << 20, number) for number in range(len(cores))]


FOOTPRINT = Sweep("footprint", "footprint_mb", _by_footprint)
NUMBER = Sweep("neighbours", "neighbours", _by_number)

if __name__ == "__main__":
    fight(sys.argv[1], int(sys.argv[2]))
