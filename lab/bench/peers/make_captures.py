#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes four seeded capture files, and beside each what a right answer to it is.

  uniform   65,536 random five-tuples, every packet one of them at random: the worst case for caches
  zipf      1,000,000 ranks of popularity, exponent 1.1
  short     flows of five packets (SYN ... FIN), 1,000 of them interleaved at a time
  mix       conversations as on an access link: handshakes, segments up to 1,514 bytes, ACKs, FINs, UDP,
            DNS, retransmissions, over about 150 s, cut to 96 bytes per packet

Classic pcap, microseconds, Ethernet, IPv4. In the first three a packet is a frame of 60 bytes, captured whole: TCP
of 40 IP bytes and Ethernet padding (so counting frames is not counting IP bytes), or UDP of 46; one packet per
microsecond; 75 % of the flows TCP; ports from 10,000 up, so no tool meets a port it gives special treatment (only
mix has DNS). IPv4 header checksums are right, TCP and UDP checksums are zero.

The truth is FILE.json: packets, flows (unidirectional five-tuples), conversations (flows of both directions joined),
ip_bytes, frame_bytes (no FCS), and flow_digest over the exact count of every flow (see flow_digest).
"""

import argparse
import hashlib
import heapq
import json
import math
import os
import random
import struct
import sys
import time

FORMAT_VERSION = 1  # raise it when the bytes written change: kept captures are then made anew
START_SECONDS = 1_700_000_000
PCAP_MAGIC_MICROSECONDS = 0xA1B2C3D4
LINKTYPE_ETHERNET = 1
ETHERNET_HEADER = bytes.fromhex("0200000000020200000000010800")
ETHERNET_MINIMUM = 60
TCP, UDP = 6, 17
FIN, SYN, PSH, ACK = 0x01, 0x02, 0x08, 0x10
DONT_FRAGMENT = 0x4000
MIX_SNAP = 96
MIX_SECONDS = 150
CHUNK = 50_000  # packets joined per write


def flow_digest(flows):
    """Order-free digest of (protocol, src_ip, src_port, dst_ip, dst_port, packets, ip_bytes) text tuples.

    Sum modulo 2^64 of one hash per flow: equal only if every flow has its exact counts and appears once.
    """
    total = 0
    for flow in flows:
        total += int.from_bytes(hashlib.blake2b(",".join(flow).encode(), digest_size=8).digest(), "little")
    return f"{total & 0xFFFFFFFFFFFFFFFF:016x}"


def dotted(address):
    return f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"


def ipv4_header(key, ip_bytes, pack=struct.Struct(">BBHHHBBHII").pack):
    protocol, src, _, dst, _ = key
    # RFC 791 checksum of the ten words; only the lower half of the second word pair varies in TTL and protocol.
    total = 0x4500 + ip_bytes + DONT_FRAGMENT + (64 << 8) + protocol
    total += (src >> 16) + (src & 0xFFFF) + (dst >> 16) + (dst & 0xFFFF)
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return pack(0x45, 0, ip_bytes, 0, DONT_FRAGMENT, 64, protocol, total ^ 0xFFFF, src, dst)


def tcp_header(key, seq, ack, flags, pack=struct.Struct(">HHIIBBHHH").pack):
    return pack(key[2], key[4], seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x50, flags, 64_240, 0, 0)


def udp_header(key, payload_bytes, pack=struct.Struct(">HHHH").pack):
    return pack(key[2], key[4], 8 + payload_bytes, 0)


def record(frame_bytes, captured):
    """A capture record without its eight bytes of time. Payload is zeros and ends at frame_bytes."""
    return struct.pack("<II", len(captured), frame_bytes) + captured


def random_key(rng, taken):
    """A five-tuple (protocol, src, src_port, dst, dst_port) not handed out before, from 10/8 to 172.16/12."""
    while True:
        bits = rng.getrandbits(76)
        protocol = UDP if rng.random() < 0.25 else TCP
        key = (
            protocol,
            0x0A000000 | bits & 0xFFFFFF,
            10_000 + (bits >> 24 & 0xFFFF) % 55_536,
            0xAC100000 | bits >> 40 & 0xFFFFF,
            10_000 + (bits >> 60 & 0xFFFF) % 55_536,
        )
        if key not in taken:
            taken.add(key)
            return key


def small_ip_bytes(protocol):
    return 40 if protocol == TCP else 46


def small_packet(key, flags=ACK, seq=1):
    protocol = key[0]
    layer4 = tcp_header(key, seq, 1, flags) if protocol == TCP else udp_header(key, 18)
    packet = ETHERNET_HEADER + ipv4_header(key, small_ip_bytes(protocol)) + layer4
    return record(ETHERNET_MINIMUM, packet.ljust(ETHERNET_MINIMUM, b"\0"))


class Capture:
    """A capture file being written, and the exact counts of what went into it."""

    def __init__(self, path, snap):
        self.file = open(path, "wb")
        self.file.write(struct.pack("<IHHiIII", PCAP_MAGIC_MICROSECONDS, 2, 4, 0, 0, snap, LINKTYPE_ETHERNET))
        self.packets = 0

    def write_spaced(self, records, pack=struct.Struct("<II").pack):
        """Records of one chunk, one microsecond apart."""
        seconds, micros = divmod(self.packets, 1_000_000)
        assert micros + len(records) <= 1_000_000, "a chunk must not cross a second"
        seconds += START_SECONDS
        self.file.write(b"".join([pack(seconds, at) + r for at, r in enumerate(records, micros)]))
        self.packets += len(records)

    def write_timed(self, timed, pack=struct.Struct("<II").pack):
        """(microseconds since the start, record) pairs."""
        self.file.write(b"".join([pack(START_SECONDS + at // 1_000_000, at % 1_000_000) + r for at, r in timed]))
        self.packets += len(timed)

    def truth(self, counts, conversations, frame_bytes):
        """counts: (key, packets, ip_bytes) per flow seen."""
        self.file.close()
        assert self.packets == sum(packets for _, packets, _ in counts)
        return {
            "packets": self.packets,
            "flows": len(counts),
            "conversations": conversations,
            "ip_bytes": sum(ip_bytes for _, _, ip_bytes in counts),
            "frame_bytes": frame_bytes,
            "flow_digest": flow_digest(
                (str(key[0]), dotted(key[1]), str(key[2]), dotted(key[3]), str(key[4]), str(packets), str(ip_bytes))
                for key, packets, ip_bytes in counts
            ),
        }


def chunk_sizes(packets):
    whole, rest = divmod(packets, CHUNK)
    return [CHUNK] * whole + ([rest] if rest else [])


def one_way_truth(capture, keyed_packets):
    counts = [(key, packets, packets * small_ip_bytes(key[0])) for key, packets in keyed_packets if packets]
    return capture.truth(counts, len(counts), capture.packets * ETHERNET_MINIMUM)


def drawn_capture(path, rng, packets, flows, draw):
    """Packets of flows that draw(count) picks; a flow is made when it is first picked."""
    capture = Capture(path, 65_535)
    keys, frames, counts = [None] * flows, [None] * flows, [0] * flows
    taken = set()
    for size in chunk_sizes(packets):
        picked = draw(size)
        for flow in picked:
            if not counts[flow]:
                keys[flow] = random_key(rng, taken)
                frames[flow] = small_packet(keys[flow])
            counts[flow] += 1
        capture.write_spaced([frames[flow] for flow in picked])
    return one_way_truth(capture, zip(keys, counts))


def make_uniform(path, rng, packets):
    flows = range(65_536)
    return drawn_capture(path, rng, packets, len(flows), lambda count: rng.choices(flows, k=count))


def make_zipf(path, rng, packets):
    ranks = range(1_000_000)
    cumulative, total = [], 0.0
    for rank in ranks:
        total += (rank + 1) ** -1.1
        cumulative.append(total)
    return drawn_capture(
        path, rng, packets, len(ranks), lambda count: rng.choices(ranks, cum_weights=cumulative, k=count)
    )


def make_short(path, rng, packets):
    steps = [(SYN, 1), (ACK, 2), (PSH | ACK, 2), (ACK, 2), (FIN | ACK, 2)]
    together = 1_000
    capture = Capture(path, 65_535)
    taken, keys = set(), []
    flows = max(1, packets // len(steps))
    for first in range(0, flows, together):
        group = []
        while len(group) < min(together, flows - first):
            key = random_key(rng, taken)
            if key[0] == TCP:
                group.append(key)
        # Ethernet and IPv4 headers are the same in all five packets.
        heads = [
            (struct.pack("<II", ETHERNET_MINIMUM, ETHERNET_MINIMUM) + ETHERNET_HEADER + ipv4_header(key, 40), key)
            for key in group
        ]
        for flags, seq in steps:
            capture.write_spaced([head + tcp_header(key, seq, 1, flags) + bytes(6) for head, key in heads])
        keys += group
    return one_way_truth(capture, ((key, len(steps)) for key in keys))


class Mix:
    """Conversations as generators of (time_us, record), merged in the order of time."""

    def __init__(self, rng):
        self.rng = rng
        self.counts = {}  # key -> [packets, ip_bytes]
        self.frame_bytes = 0
        self.retransmissions = 0

    def packet(self, key, layer4, payload_bytes):
        ip_bytes = 20 + len(layer4) + payload_bytes
        count = self.counts.setdefault(key, [0, 0])
        count[0] += 1
        count[1] += ip_bytes
        frame_bytes = max(ETHERNET_MINIMUM, 14 + ip_bytes)
        self.frame_bytes += frame_bytes
        packet = ETHERNET_HEADER + ipv4_header(key, ip_bytes) + layer4
        return record(frame_bytes, packet.ljust(min(MIX_SNAP, frame_bytes), b"\0"))

    def tcp(self, key, seq, ack, flags, payload_bytes=0):
        return self.packet(key, tcp_header(key, seq, ack, flags), payload_bytes)

    def segments(self):
        """Data segments of one response: bounded Pareto, mean about 25."""
        return min(6_000, int(3.7 * self.rng.paretovariate(1.12)))

    def tcp_conversation(self, at, key, back):
        rng = self.rng
        rtt = int(rng.lognormvariate(math.log(25_000), 0.7))
        client, server = rng.getrandbits(32), rng.getrandbits(32)
        yield at, self.tcp(key, client, 0, SYN)
        at += rtt
        yield at, self.tcp(back, server, client + 1, SYN | ACK)
        at += rtt // 20
        client, server = client + 1, server + 1
        yield at, self.tcp(key, client, server, ACK)
        request = rng.randrange(80, 1_000)
        yield at + 50, self.tcp(key, client, server, PSH | ACK, request)
        client += request
        at += rtt + 50
        wanted = self.segments()
        # Between two bursts of four segments; short enough that the longest responses end with the capture.
        left = MIX_SECONDS * 1_000_000 - at
        pause = min(rtt + int(rng.expovariate(1 / 60_000)), left * 4 // 5 // (1 + wanted // 4))
        for index in range(wanted):
            last = index + 1 == wanted
            size = rng.randrange(1, 1_461) if last else 1_460
            yield at, self.tcp(back, server, client, PSH | ACK if last else ACK, size)
            if rng.random() < 0.009:
                at += 200_000 + rtt
                self.retransmissions += 1
                yield at, self.tcp(back, server, client, ACK, size)
            server += size
            at += 12
            if index % 2 or last:
                yield at, self.tcp(key, client, server, ACK)
            if index % 4 == 3:
                at += pause
        at += rtt
        yield at, self.tcp(key, client, server, FIN | ACK)
        yield at + rtt, self.tcp(back, server, client + 1, FIN | ACK)
        yield at + rtt + rtt // 20, self.tcp(key, client + 1, server + 1, ACK)

    def udp(self, key, payload_bytes):
        return self.packet(key, udp_header(key, payload_bytes), payload_bytes)

    def udp_conversation(self, at, key, back):
        rng = self.rng
        if key[4] == 53:
            yield at, self.udp(key, rng.randrange(30, 60))
            yield at + rng.randrange(500, 40_000), self.udp(back, rng.randrange(60, 400))
            return
        pause = min(rng.randrange(5_000, 40_000), (MIX_SECONDS * 1_000_000 - at) // 2_000)
        for _ in range(min(2_000, int(3 * rng.paretovariate(1.3)))):
            yield at, self.udp(key, rng.randrange(40, 200))
            yield at + pause // 3, self.udp(back, rng.randrange(200, 1_250))
            at += pause

    def conversation(self, at, taken):
        protocol, src, src_port, dst, dst_port = random_key(self.rng, taken)
        tcp = self.rng.random() < 0.8
        dst_port = self.rng.choice([443, 443, 443, 80, 22, 8080] if tcp else [53, 53, 443, dst_port])
        key = (TCP if tcp else UDP, src, src_port, dst, dst_port)
        if key in self.counts:  # another conversation drew the same addresses and client port
            return self.conversation(at, taken)
        back = (key[0], dst, dst_port, src, src_port)
        self.counts[key], self.counts[back] = [0, 0], [0, 0]
        return (self.tcp_conversation if tcp else self.udp_conversation)(at, key, back)


def make_mix(path, rng, packets):
    """About packets / 3 packets of packets / 100 conversations, each of them two flows."""
    capture = Capture(path, MIX_SNAP)
    mix, taken = Mix(rng), set()
    conversations = max(1, packets // 100)
    starts = sorted((rng.randrange(MIX_SECONDS * 950_000) for _ in range(conversations)), reverse=True)
    live, timed, serial = [], [], 0
    while live or starts:
        if starts and (not live or starts[-1] <= live[0][0]):
            serial += 1
            generator = mix.conversation(starts.pop(), taken)
            at, packet = next(generator)
            heapq.heappush(live, (at, serial, packet, generator))
            continue
        at, number, packet, generator = live[0]
        timed.append((at, packet))
        following = next(generator, None)
        if following:
            heapq.heapreplace(live, (following[0], number, following[1], generator))
        else:
            heapq.heappop(live)
        if len(timed) == CHUNK:
            capture.write_timed(timed)
            timed = []
    capture.write_timed(timed)
    counts = [(key, count[0], count[1]) for key, count in mix.counts.items()]
    truth = capture.truth(counts, conversations, mix.frame_bytes)
    return truth | {"retransmissions": mix.retransmissions}


MAKERS = {"uniform": make_uniform, "zipf": make_zipf, "short": make_short, "mix": make_mix}


def ensure_capture(folder, name, packets, seed):
    """Path and truth of a capture, made unless the folder already holds it with the same settings."""
    path = os.path.join(folder, f"{name}-{packets}.pcap")
    settings = {"name": name, "wanted_packets": packets, "seed": seed, "format_version": FORMAT_VERSION}
    try:
        with open(path + ".json", encoding="utf-8") as file:
            truth = json.load(file)
        if truth["settings"] == settings and os.path.getsize(path) == truth["file_bytes"]:
            return path, truth
    except (OSError, ValueError, KeyError):
        pass  # absent, cut or of another version: made anew
    os.makedirs(folder, exist_ok=True)
    began = time.monotonic()
    truth = MAKERS[name](path, random.Random(f"{seed}/{name}"), packets)
    truth |= {"file_bytes": os.path.getsize(path), "settings": settings}
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump(truth, file, indent=2)
    print(
        f"{path}: {truth['packets']:,} packets, {truth['flows']:,} flows, {time.monotonic() - began:.1f} s",
        file=sys.stderr,
    )
    return path, truth


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default="/tmp/parshall-peers")
    parser.add_argument("--packets", type=int, default=5_000_000, help="per capture (mix: about a third of it)")
    parser.add_argument("--only", choices=MAKERS, action="append", help="may be repeated; all four if absent")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.packets < 5:
        parser.error("--packets must be 5 or more")
    for name in options.only or MAKERS:
        ensure_capture(options.folder, name, options.packets, options.seed)


if __name__ == "__main__":
    main()
