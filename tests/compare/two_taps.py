# SPDX-License-Identifier: Apache-2.0
"""A network between two taps, whose losses, copies and delays are known: it writes what both saw, and tells the truth
in the simplest way."""

import dataclasses
import functools
import ipaddress
import math
import random
import struct

BEGIN_NS = 1_700_000_000 * 10**9
TCP, UDP, ICMP = 6, 17, 1


@dataclasses.dataclass
class Network:
    """What happens on the way; the same in both directions."""

    loss: float = 0.0
    doubled: float = 0.0
    late: float = 0.0  # share of the packets that take longer
    late_ns: int = 3_000_000  # by so much
    delay_ns: int = 2_000_000
    jitter_ns: int = 200_000
    hops: int = 1  # 0: switches
    set_ttl: int = 0  # that packets have which arrive at DOWN
    vlan: int = 0  # tag at DOWN
    dscp: int = 0  # at DOWN
    nat: bool = False  # 10.0.0.0/8 becomes 192.0.2.1 with other ports
    gre: bool = False  # packets at DOWN are in a tunnel
    offset_ns: int = 0  # DOWN's clock
    drift: float = 0.0
    back: float = 0.4  # share of packets that come from DOWN


@dataclasses.dataclass
class Packet:
    number: int
    connection: int
    is_back: bool
    sent_ns: int
    arrivals: list  # true times
    payload: bytes = b""


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@functools.cache
def packed(address):
    return ipaddress.ip_address(address).packed


@functools.cache
def text_of(address):
    return str(ipaddress.ip_address(address))


@functools.cache
def connection_of(number, nat):
    """(src, sport, dst, dport, protocol) there."""
    protocol = (TCP, UDP, TCP)[number % 3]
    if number % 5 == 4:
        return f"2001:db8:1::{number:x}", 40000 + number, "2001:db8:2::1", 443, protocol
    src, sport = (f"10.0.{number // 250}.{number % 250 + 1}", 40000 + number)
    if nat:
        src, sport = "192.0.2.1", 20000 + 7 * number
    return src, sport, f"198.51.100.{number % 9 + 1}", 443, protocol


def frame(packet, at_down, network):
    src, sport, dst, dport, protocol = connection_of(packet.connection, network.nat and at_down)
    if packet.is_back:
        src, sport, dst, dport = dst, dport, src, sport
    if protocol == TCP:
        transport = struct.pack(">HHIIBBHHH", sport, dport, packet.number * 1000, 7, 0x50, 0x18, 500, 0, 0)
    else:
        transport = struct.pack(">HHHH", sport, dport, 8 + len(packet.payload), 0)
    transport += packet.payload
    passed = at_down != packet.is_back  # behind the network
    ttl, tos = 64 - network.hops * passed, network.dscp << 2 if at_down else 0
    if network.set_ttl and at_down and not packet.is_back:
        ttl = network.set_ttl
    source, target = packed(src), packed(dst)
    if len(source) == 16:
        ip = struct.pack(">IHBB", 6 << 28 | tos << 20, len(transport), protocol, ttl) + source + target
        ether = 0x86DD
    else:
        head = struct.pack(
            ">BBHHHBBH", 0x45, tos, 20 + len(transport), packet.number & 0xFFFF, 0x4000, ttl, protocol, 0
        )
        ip = head[:10] + struct.pack(">H", checksum(head + source + target)) + source + target
        ether = 0x0800
    data = ip + transport
    if network.gre and at_down:
        gre = struct.pack(">HH", 0, ether) + data
        outer = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(gre), packet.number & 0xFFFF, 0, 64, 47, 0)
        data, ether = outer + bytes([203, 0, 113, 1, 203, 0, 113, 2]) + gre, 0x0800
    tag = struct.pack(">HH", 0x8100, network.vlan) if network.vlan and at_down else b""
    return b"\x02" * 12 + tag + struct.pack(">H", ether) + data


def write_capture(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for time_ns, data in frames:
            file.write(struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, len(data), len(data)) + data)


def read_capture(path):
    """(time in ns, frame) of each packet that write_capture() wrote."""
    data, at = path.read_bytes(), 24
    while at < len(data):
        seconds, ns, captured, _ = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + ns, data[at + 16 : at + 16 + captured]
        at += 16 + captured


def key_of(data):
    """(src, sport, dst, dport, protocol) of a frame without tags and tunnels."""
    ip = data[14:]
    bytes_of, at, protocol = (4, 12, ip[9]) if ip[0] >> 4 == 4 else (16, 8, ip[6])
    src, dst = (text_of(ip[i : i + bytes_of]) for i in (at, at + bytes_of))
    sport, dport = struct.unpack_from(">HH", ip, at + 2 * bytes_of)
    return src, sport, dst, dport, protocol


def send(network, packets, seed, connections=40, seconds=4):
    rng = random.Random(seed)
    sent = []
    for number in range(packets):
        at_ns = BEGIN_NS + 10**8 + int(number * seconds * 10**9 / packets)
        connection = min(int(rng.paretovariate(0.8)) - 1, connections - 1)
        packet = Packet(number + 1, connection, rng.random() < network.back, at_ns, [])
        packet.payload = struct.pack(">Q", rng.getrandbits(64)) * rng.choice([1, 10, 150])
        of_all = number / packets
        at_edge = min(of_all, 1 - of_all) * seconds < 0.02  # what is lost there may have been missed by the tap
        if rng.random() >= network.loss or at_edge:
            delay_ns = network.delay_ns + rng.randrange(network.jitter_ns + 1)
            delay_ns += network.late_ns if rng.random() < network.late else 0
            packet.arrivals.append(at_ns + delay_ns)
            if rng.random() < network.doubled:
                packet.arrivals.append(at_ns + delay_ns + 1000)
        sent.append(packet)
    return sent


def write_taps(network, packets, up, down):
    """Writes both captures; arrivals become times by the clock of their tap."""

    def at(time_ns, at_down):
        if not at_down:
            return time_ns
        return time_ns + network.offset_ns + round((time_ns - BEGIN_NS) * network.drift)

    taps = {False: [], True: []}
    for packet in packets:
        taps[packet.is_back].append((at(packet.sent_ns, packet.is_back), frame(packet, packet.is_back, network)))
        for arrival_ns in packet.arrivals:
            behind = not packet.is_back
            taps[behind].append((at(arrival_ns, behind), frame(packet, behind, network)))
    for at_down, path in ((False, up), (True, down)):
        write_capture(path, sorted(taps[at_down], key=lambda one: one[0]))


def percentile(values, percent):
    return values[max(math.ceil(len(values) * percent / 100), 1) - 1]


def truth(packets):
    """Of these packets: what is reported of them, with delays by one clock."""
    arrived = sorted((packet for packet in packets if packet.arrivals), key=lambda packet: packet.arrivals[0])
    delays = sorted(packet.arrivals[0] - packet.sent_ns for packet in arrived)
    latest, reordered = {}, 0
    for packet in arrived:
        flow = packet.connection, packet.is_back
        reordered += packet.number < latest.get(flow, 0)
        latest[flow] = max(latest.get(flow, 0), packet.number)
    told = {
        "packets_sent": len(packets),
        "packets_delivered": len(arrived),
        "packets_lost": len(packets) - len(arrived),
        "packets_duplicated": sum(len(packet.arrivals) - 1 for packet in arrived),
        "packets_received": sum(len(packet.arrivals) for packet in arrived),
        "packets_reordered": reordered,
        "packets_extra": 0,
        "packets_outside_sent": 0,
    }
    if delays:
        told |= {
            "delay_packets": len(delays),
            "delay_min_ns": delays[0],
            "delay_p50_ns": percentile(delays, 50),
            "delay_p90_ns": percentile(delays, 90),
            "delay_p99_ns": percentile(delays, 99),
            "delay_max_ns": delays[-1],
            "delay_mean_ns": sum(delays) / len(delays),
        }
    return told
