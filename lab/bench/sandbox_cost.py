#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does `--sandbox on` cost a run? CPU time of `parshall watch` with it and without, in turns, of a capture, of
built-in traffic, and of a link
(AF_PACKET over a veth pair, as root). Prints the ratio of the medians, and how far apart half of the rounds' ratios
are.

usage: sandbox_cost.py PARSHALL [ROUNDS]"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "live"))
import netns

PARSHALL, ROUNDS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 11
PACKETS = 8_000_000
LINK_FRAMES = 200_000


def cpu_s(words, during=None):
    """Of all its threads, in user and kernel mode, and what it said."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if during:
        process.stderr.readline()
        during()
        time.sleep(0.2)
        process.terminate()
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{words}: {said}")
    return used.ru_utime + used.ru_stime


def compare(what, words, during=None):
    rounds = []
    for number in range(ROUNDS):
        pair = {}
        for kept in ("off", "on") if number % 2 == 0 else ("on", "off"):
            pair[kept] = cpu_s([*words, "--sandbox", kept, "-o", "/dev/null"], during)
        rounds.append(pair)
    off, on = (statistics.median(pair[kept] for pair in rounds) for kept in ("off", "on"))
    low, _, high = statistics.quantiles((pair["on"] / pair["off"] for pair in rounds), n=4)
    print(
        f"{what:<16} off {off:.3f} s, on {on:.3f} s of CPU: on / off {on / off:.3f} (half of {ROUNDS} rounds {low:.3f} "
        f"to {high:.3f})",
        flush=True,
    )


def main():
    with tempfile.TemporaryDirectory() as folder:
        capture = f"{folder}/a.pcap"
        subprocess.run(
            [PARSHALL, "send", "-q", "-g", "flows=100000,dist=zipf:1.1", "--count", str(PACKETS), "-w", capture],
            check=True,
            capture_output=True,
        )
        compare("capture", [PARSHALL, "watch", "-q", "-r", capture])
        compare(
            "records to CSV",
            [PARSHALL, "watch", "-q", "-r", capture, "--idle", "1ms", "--export", f"csv:{folder}/flows.csv"],
        )
    compare(
        "built-in traffic", [PARSHALL, "watch", "-q", "-g", "flows=100000,dist=zipf:1.1", "--count", str(10 * PACKETS)]
    )
    if (why := netns.why_not()) is not None:
        return print(f"link: SKIPPED ({why})")
    frames = netns.udp_frames(LINK_FRAMES)
    with netns.VethPair() as link:
        compare(
            "link",
            [
                "ip",
                "netns",
                "exec",
                link.rx_space,
                PARSHALL,
                "watch",
                "-i",
                "tap0",
                "--descriptors",
                "16384",
                "--flows",
                "65536",
            ],
            lambda: link.deliver(frames),
        )


if __name__ == "__main__":
    main()
