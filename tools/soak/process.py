# SPDX-License-Identifier: Apache-2.0
"""What a process takes of the machine, as /proc says it."""

import os
import pathlib
import re

_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ (\d+)")
_ARENA_BYTES = 64 << 20


def memory_kb(pid):
    """Resident and proportional size, and what of it is of no file, in kB."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return {
        name.lower(): int(re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)[1]) for name in ("Rss", "Pss", "Pss_Anon")
    }


def heap_kb(pid):
    """Resident part of what malloc has: [heap] and its arenas, which begin at multiples of 64 MB and reserve the rest
    of these. Tables, rings and queues are mapped beside it."""
    resident, arena, pending = 0, False, 0
    end_before, is_heap = None, False
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text(encoding="ascii").splitlines():
        if found := _MAPPING.match(line):
            start, end = int(found[1], 16), int(found[2], 16)
            if arena and found[3] == "---p" and start == end_before and end % _ARENA_BYTES == 0:
                resident += pending
            end_before, is_heap = end, line.rstrip().endswith("[heap]")
            arena, pending = found[3] == "rw-p" and start % _ARENA_BYTES == 0 and found[4] == "0", 0
        elif line.startswith("Rss:") and (is_heap or arena):
            if is_heap:
                resident += int(line.split()[1])
            else:
                pending = int(line.split()[1])
    return resident


def mappings_kb(pid):
    """Resident part of each mapping, by the address where it begins, its size and its name: (size in kB, name, resident
    kB)."""
    found, at = {}, None
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text(encoding="ascii", errors="replace").splitlines():
        if head := _MAPPING.match(line):
            at = head[1]
            found[at] = [(int(head[2], 16) - int(head[1], 16)) >> 10, line[head.end() :].strip(), 0]
        elif line.startswith("Rss:"):
            found[at][2] = int(line.split()[1])
    return found


def descriptors(pid):
    """How many are open, and the bytes on disk of files among them that have no name any more."""
    count = deleted = 0
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(entry.path)
            count += 1
            if target.startswith("/") and target.endswith(" (deleted)"):
                deleted += os.stat(entry.path).st_blocks * 512
        except FileNotFoundError:  # closed meanwhile
            pass
    return count, deleted


def folder_bytes(folder):
    """Bytes on disk of all files under a folder."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def cpu_seconds(pid):
    """Of its threads, by the scheduler's clock: counts of ticks are wrong by a multiple for threads that nap by
    timers."""
    total = 0
    for task in os.scandir(f"/proc/{pid}/task"):
        try:
            total += int(pathlib.Path(task.path, "schedstat").read_text().split()[0])
        except FileNotFoundError:  # ended meanwhile
            pass
    return round(total / 1e9, 3)


def sample(pid, spool):
    """One sample of a process whose temporary files are in `spool`."""
    count, deleted = descriptors(pid)
    taken = memory_kb(pid)
    return {
        "rss_kb": taken["rss"],
        "pss_kb": taken["pss"],
        "anon_kb": taken["pss_anon"],
        "fds": count,
        "threads": len(os.listdir(f"/proc/{pid}/task")),
        "temporary_bytes": folder_bytes(spool) + deleted,
        "cpu_s": cpu_seconds(pid),
    }
