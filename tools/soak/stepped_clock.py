# SPDX-License-Identifier: Apache-2.0
"""A clock that steps, for one process and no other: libfaketime (tools/setup.sh libfaketime) reads from a file how far
it is ahead.

Only CLOCK_REALTIME steps, as it does where somebody sets the clock. Time stamps of an AF_PACKET ring are the kernel's
and would not step with it, which no machine ever shows: so whoever has a clock of this kind receives by DPDK's
net_af_packet, whose packets the program stamps itself.
"""

import os
import pathlib

LIBRARY = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
STEPS_S = -86_400, -3600, -600, -5, 5, 600, 3600, 86_400
MOST_S = 2 * 86_400


def is_there():
    return LIBRARY.exists()


class SteppedClock:
    def __init__(self, file):
        self._file, self.ahead_s, self.steps = file, 0, 0
        self._write()

    def command(self, *command):
        """This command, with that clock."""
        return [
            "env",
            f"LD_PRELOAD={LIBRARY}",
            f"FAKETIME_TIMESTAMP_FILE={self._file}",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            "FAKETIME_CACHE_DURATION=1",
            *command,
        ]

    def step(self, random):
        """By how many seconds."""
        seconds = random.choice(STEPS_S)
        if abs(self.ahead_s + seconds) > MOST_S:
            seconds = -seconds
        self.ahead_s += seconds
        self.steps += 1
        self._write()
        return seconds

    def _write(self):
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{self.ahead_s:+d}")
        os.replace(fresh, self._file)
