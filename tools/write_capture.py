#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""write_capture.py FILE: a small nanosecond pcap of 20 TCP and UDP conversations over IPv4 and IPv6, always the
same."""

import ipaddress
import random
import struct
import sys

PACKETS, FLOWS, START_NS = 10_000, 20, 1_600_000_000 * 10**9


def frame(flow, payload_bytes):
    ipv6, tcp = flow % 2 == 1, flow % 4 < 2
    transport = struct.pack(">HH", 40_000 + flow, 443)
    if tcp:
        transport += struct.pack(">IIBBHHH", 0, 0, 5 << 4, 0x18, 65535, 0, 0)
    else:
        transport += struct.pack(">HH", 8 + payload_bytes, 0)
    transport += bytes(payload_bytes)
    protocol = 6 if tcp else 17
    if ipv6:
        addresses = ipaddress.ip_address("2001:db8::1").packed + (ipaddress.ip_address("2001:db8:1::") + flow).packed
        return (
            bytes(12)
            + b"\x86\xdd"
            + struct.pack(">IHBB", 6 << 28, len(transport), protocol, 64)
            + addresses
            + transport
        )
    addresses = ipaddress.ip_address("192.0.2.1").packed + ipaddress.ip_address(f"198.51.100.{flow}").packed
    return (
        bytes(12)
        + b"\x08\x00"
        + struct.pack(">BBHIBBH", 0x45, 0, 20 + len(transport), 0, 64, protocol, 0)
        + addresses
        + transport
    )


def main(path):
    rng = random.Random(1)
    time_ns = START_NS
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for _ in range(PACKETS):
            time_ns += int(rng.expovariate(1 / 20_000))
            data = frame(min(int(rng.paretovariate(1.0)) - 1, FLOWS - 1), rng.choice((0, 0, 512, 1400)))
            file.write(struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, len(data), len(data)) + data)


if __name__ == "__main__":
    main(sys.argv[1])
