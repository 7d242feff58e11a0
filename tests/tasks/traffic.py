# SPDX-License-Identifier: Apache-2.0
"""Packets with planted events, and captures of them."""

import collections
import functools
import ipaddress
import itertools
import random
import struct

Packet = collections.namedtuple(
    "Packet", "time_ns src dst protocol src_port dst_port ip_bytes wire_bytes tcp_flags tcp", defaults=(None,)
)
Tcp = collections.namedtuple("Tcp", "seq ack window truth", defaults=(1, 1, 1024, None))

TCP, UDP = 6, 17
SECOND = 10**9
BEGIN_NS = 1_600_000_000 * SECOND + 250_000_000  # not where a window begins


def packet(time_ns, src, dst, protocol=UDP, src_port=1000, dst_port=53, payload=64, tcp_flags=0x10, tcp=None):
    header = 40 if ":" in src else 20
    ip_bytes = header + (20 if protocol == TCP else 8) + payload
    flags = tcp_flags if protocol == TCP else 0
    return Packet(time_ns, src, dst, protocol, src_port, dst_port, ip_bytes, 14 + ip_bytes, flags, tcp)


@functools.cache
def packed(address):
    return ipaddress.ip_address(address).packed


def frame(p):
    if p.protocol == TCP:
        tcp = p.tcp or Tcp()
        transport = struct.pack(
            ">HHIIBBHHH", p.src_port, p.dst_port, tcp.seq, tcp.ack, 0x50, p.tcp_flags, tcp.window, 0, 0
        )
    else:
        transport = struct.pack(">HHHH", p.src_port, p.dst_port, p.ip_bytes - (40 if ":" in p.src else 20), 0)
    src, dst = packed(p.src), packed(p.dst)
    if len(src) == 16:
        ip = struct.pack(">IHBB", 0x60000000, p.ip_bytes - 40, p.protocol, 64) + src + dst
        ether = b"\x86\xdd"
    else:
        ip = struct.pack(">BBHHHBBH", 0x45, 0, p.ip_bytes, 0, 0, 64, p.protocol, 0) + src + dst
        ether = b"\x08\x00"
    whole = b"\x02" * 12 + ether + ip + transport
    return whole + bytes(p.wire_bytes - len(whole))


def write_capture(path, packets):
    """Time stamps in nanoseconds."""
    with open(path, "wb", buffering=1 << 20) as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for p in packets:
            data = frame(p)
            file.write(struct.pack("<IIII", p.time_ns // SECOND, p.time_ns % SECOND, len(data), len(data)) + data)


def background(rng, begin_ns, seconds, per_second, flows=400):
    """Flows of unlike weight, IPv4 and IPv6, TCP and UDP."""
    kinds = []
    for _ in range(flows):
        six = rng.random() < 0.2
        address = (
            (lambda net: f"2001:db8:{net:x}::{rng.randrange(1, 2000):x}")
            if six
            else (lambda net: f"10.{net}.{rng.randrange(4)}.{rng.randrange(1, 255)}")
        )
        kinds.append(
            (
                address(rng.randrange(1, 5)),
                address(rng.randrange(5, 9)),
                rng.choice([TCP, UDP]),
                rng.randrange(1024, 65536),
                rng.choice([53, 80, 443, 8080]),
            )
        )
    weights = [1 / (i + 1) for i in range(flows)]
    count = int(seconds * per_second)
    for i, (src, dst, protocol, src_port, dst_port) in enumerate(rng.choices(kinds, weights, k=count)):
        yield packet(
            begin_ns + int(i * SECOND / per_second) + rng.randrange(1000),
            src,
            dst,
            protocol,
            src_port,
            dst_port,
            rng.choice([0, 10, 100, 700, 1400]),
        )


def spread(begin_ns, seconds, packets):
    """The packets, evenly over this time."""
    packets = list(packets)
    return [p._replace(time_ns=begin_ns + int(i * seconds * SECOND / len(packets))) for i, p in enumerate(packets)]


def bursts(seed):
    """Flows of trains, and of single packets between; one in fifty late."""
    rng = random.Random(seed)
    packets = []
    for flow in range(40):
        time_ns, end_ns = BEGIN_NS + rng.randrange(SECOND), BEGIN_NS + 4 * SECOND
        train, within_ns, pause_ns = (
            rng.randrange(1, 12),
            rng.choice([20_000, 300_000, 2_000_000]),
            rng.choice([60, 200, 600]) * 10**6,
        )
        while time_ns < end_ns:
            for _ in range(train):
                packets.append(
                    packet(time_ns, f"10.1.0.{flow + 1}", "10.6.0.1", rng.choice([UDP] * 20 + [TCP]), 1000 + flow)
                )
                time_ns += rng.randrange(1, within_ns)
            time_ns += rng.randrange(1, pause_ns)
    packets.sort(key=lambda p: p.time_ns)
    return tuple(
        p._replace(time_ns=max(BEGIN_NS, p.time_ns - rng.choice([10**4, 10**6, 4 * 10**8])))
        if rng.random() < 0.02
        else p
        for p in packets
    )


def planted(seed):
    """Seven seconds, one of them silent, with an event or two in most."""
    rng = random.Random(seed)
    second = lambda n: BEGIN_NS // SECOND * SECOND + int(n * SECOND)
    parts = [background(rng, BEGIN_NS, 3.75, 3000), background(rng, second(5), 3.1, 3000)]
    # A heavy hitter; a scan of 300 hosts; one of 40 ports; an attack from 500 sources; a host that grows tenfold.
    parts.append(
        spread(second(1), 0.9, (packet(0, "10.1.77.1", "10.6.0.9", TCP, 5000, 443, 1400) for _ in range(2500)))
    )
    parts.append(
        spread(
            second(2),
            0.9,
            (packet(0, "10.2.99.9", f"10.7.{i // 200}.{i % 200 + 1}", TCP, 6000 + i, 22, 0, 2) for i in range(300)),
        )
    )
    parts.append(
        spread(second(2), 0.5, (packet(0, "10.2.99.10", "10.7.0.1", TCP, 7000, 1 + i, 0, 2) for i in range(40)))
    )
    parts.append(
        spread(
            second(3),
            0.7,
            (packet(0, f"10.3.{i // 250}.{i % 250 + 1}", "10.8.8.8", UDP, 9000, 123, 400) for i in range(500)),
        )
    )
    for n, count in ((0.3, 30), (1, 40), (2, 45), (3, 40), (5, 42), (6, 600), (7, 40)):
        parts.append(
            spread(second(n), 0.6, (packet(0, "10.4.44.4", "10.5.55.5", UDP, 4444, 5555, 500) for _ in range(count)))
        )
    packets = sorted(itertools.chain.from_iterable(parts), key=lambda p: p.time_ns)
    # One in a hundred comes late, some by more than a window.
    return tuple(
        p._replace(time_ns=max(BEGIN_NS, p.time_ns - rng.choice([1000, 10**6, 3 * 10**8, 2 * SECOND])))
        if rng.random() < 0.01 and p.time_ns > BEGIN_NS + SECOND
        else p
        for p in packets
    )
