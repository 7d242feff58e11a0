# SPDX-License-Identifier: Apache-2.0
"""Whether this machine has its cores to itself: what goes by the wall clock measures others else."""

import pathlib
import time

MOST = 0.15  # share of all cores that others may have
SECONDS = 2


def _times():
    """Of all cores since the start: busy, and in all."""
    fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    idle = fields[3] + fields[4]  # idle, and waiting for disks
    return sum(fields) - idle, sum(fields)


def share_of_others(seconds=SECONDS):
    """Of all cores' time, while this process sleeps; 0 where the kernel does not say."""
    if not pathlib.Path("/proc/stat").exists():
        return 0.0
    busy, whole = _times()
    time.sleep(seconds)
    busy_after, whole_after = _times()
    return (busy_after - busy) / max(1, whole_after - whole)
