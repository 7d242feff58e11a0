# SPDX-License-Identifier: Apache-2.0
"""Captures of floods with spoofed addresses, and of what they may hide, of frames without a payload."""

import struct

SECOND = 10**9
BEGIN_NS = 1_600_000_000 * SECOND
SYN, ACK = 2, 16

RECORD = struct.Struct("<IIII")
FRAME = struct.Struct(">12sHBBHHHBBHIIHHIIBBHHH")


def frame(src, dst, src_port=1024, dst_port=80, flags=SYN):
    """Of TCP over IPv4; addresses are numbers."""
    return FRAME.pack(
        b"\2" * 12, 0x0800, 0x45, 0, 40, 0, 0, 64, 6, 0, src, dst, src_port, dst_port, 1, 1, 0x50, flags, 1024, 0, 0
    )


def spoofed(count, first=0):
    """So many SYNs, each of another source to another destination, from the first-th on."""
    return [frame(0x64000000 + i, 0x14000000 + i) for i in range(first, first + count)]


def scans(hosts, addresses):
    """So many hosts from 192.0.2.1 on that send a SYN to so many addresses each, interleaved."""
    return [frame(0xC0000201 + host, 0x0A000000 + (host << 16) + i) for i in range(addresses) for host in range(hosts)]


def attacks(hosts, sources):
    """Hosts 198.51.100.X to each of which so many sources send a SYN, interleaved."""
    return [frame(0x28000000 + (host << 20) + i, 0xC6336400 + host) for i in range(sources) for host in hosts]


def connections(count, packets, first=0):
    """So many flows from 10.1.0.0 on of so many packets each, from the first-th on."""
    return [
        frame(0x0A010000 + i, 0x0A000002, 5000, 443, ACK) for i in range(first, first + count) for _ in range(packets)
    ]


def write(path, frames, begin_ns=BEGIN_NS + SECOND // 1000, seconds=0.9, append=False):
    """At equal distances."""
    step = int(seconds * SECOND) // len(frames)
    with open(path, "ab" if append else "wb") as file:
        if not append:
            file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for i, data in enumerate(frames):
            file.write(RECORD.pack(*divmod(begin_ns + i * step, SECOND), len(data), len(data)) + data)
