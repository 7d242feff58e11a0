#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real capture, repeated until it has as many packets: repeat_capture.py CAPTURE OUT [--packets N]

Each repetition comes after the one before it, with other addresses: the upper 16 bits of both IPv4 addresses, and 32
bits of both of IPv6, are XORed with its number. So it has flows of its own, whose directions still belong together. All
else of the frames stays, and the times between them, but for pauses of more than a second, which last one, and time
that goes back, which does not; checksums do not fit. Ethernet alone.
"""

import argparse
import json
import os
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests/python"))
import frames

VERSION = 2
LONGEST_PAUSE_NS = 1_000_000_000


def read(path):
    """(time in ns, frame, length on the wire, where the IP header is) of each packet with one; frames.Unsupported where
    not all are Ethernet."""
    found = []
    for link, time_ns, frame, wire in frames.records(Path(path).read_bytes()):
        if link != 1:
            raise frames.Unsupported(f"link type {link}")
        at = 14
        while frame[at - 2 : at] in (b"\x81\x00", b"\x88\xa8"):
            at += 4
        is_ip = len(frame) >= at + 20 and frame[at - 2 : at] in (b"\x08\x00", b"\x86\xdd")
        found.append((time_ns, frame, wire, at if is_ip else None))
    return found


def with_other_addresses(frame, at, number):
    if at is None or number == 0:
        return frame
    changed = bytearray(frame)
    begins, mask = (
        ((12, 16), struct.pack(">H", number & 0xFFFF)) if frame[at] >> 4 == 4 else ((10, 26), struct.pack(">I", number))
    )
    for begin in begins:
        for i, byte in enumerate(mask):
            changed[at + begin + i] ^= byte
    return bytes(changed)


def write(records, path, packets):
    """How many packets with an IP header the capture then has, and how often it is repeated."""
    counted = sum(at is not None for *_, at in records)
    times = max(1, -(-packets // counted))
    if times > 1 << 16:  # addresses of IPv4 would come again
        raise SystemExit(
            f"{path}: {packets} packets take {times} repetitions of {counted}, and 65,536 can be told apart: take a "
            f"longer capture"
        )
    now, last = 0, records[0][0]
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        for number in range(times):
            for time_ns, frame, wire, at in records:
                now += min(max(time_ns - last, 0), LONGEST_PAUSE_NS)
                last = time_ns
                out.write(
                    struct.pack("<IIII", *divmod(now, 10**9), len(frame), wire)
                    + with_other_addresses(frame, at, number)
                )
    return counted * times, times


def largest(folder, most):
    """The largest captures of a folder that the plain reader is sure of."""
    found = []
    for path in sorted(Path(folder).glob("*.pcap*"), key=lambda path: (-path.stat().st_size, path.name)):
        if len(found) == most:
            break
        try:
            read(path)
            for _ in frames.packets(path.read_bytes()):
                pass
            found.append(path)
        except frames.Unsupported:
            continue
    return found


def ensure_capture(folder, source, packets):
    """Path and truth, made unless the folder already holds it."""
    path = os.path.join(folder, f"{source.name}-{packets}.pcap")
    settings = {"source": source.name, "wanted_packets": packets, "version": VERSION}
    try:
        with open(path + ".json", encoding="utf-8") as file:
            truth = json.load(file)
        if truth["settings"] == settings and os.path.getsize(path) == truth["file_bytes"]:
            return path, truth
    except (OSError, ValueError, KeyError):
        pass
    os.makedirs(folder, exist_ok=True)
    counted, times = write(read(source), path, packets)
    truth = {"packets": counted, "times": times, "file_bytes": os.path.getsize(path), "settings": settings}
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump(truth, file, indent=2)
    print(f"{path}: {counted:,} packets, {times} times", file=sys.stderr)
    return path, truth


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture")
    parser.add_argument("out")
    parser.add_argument("--packets", type=int, default=1_000_000)
    options = parser.parse_args()
    print(
        "{:,} packets with an IP header, {} times".format(*write(read(options.capture), options.out, options.packets))
    )


if __name__ == "__main__":
    main()
