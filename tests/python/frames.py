# SPDX-License-Identifier: Apache-2.0
"""The packets of a capture, read the plain way: what tests of the Python package compare it with. It shares no code
with parshall."""

import collections
import ipaddress
import struct

import numpy

Packet = collections.namedtuple(
    "Packet", "flow time_ns wire_bytes ip_bytes ttl tcp"
)  # tcp: (flags, sequence, acknowledgement, payload bytes), or None
WITH_PORTS = {6, 17, 33, 132, 136}
NOT_IP = {0x0806, 0x8035, 0x88CC, 0x9000, 0x8863, 0x888E}
IPV6_EXTENSIONS = {0, 43, 44, 51, 60}


class Unsupported(Exception):
    """It is not for this reader."""


def records(data):
    """(link type, time in ns, captured bytes, length on the wire) of each, of pcap and of the usual blocks of
    pcapng."""
    return pcapng_records(data) if data[:4] == b"\x0a\x0d\x0d\x0a" else pcap_records(data)


def pcap_records(data):
    kinds = {
        b"\xd4\xc3\xb2\xa1": ("<", 1000),
        b"\x4d\x3c\xb2\xa1": ("<", 1),
        b"\xa1\xb2\xc3\xd4": (">", 1000),
        b"\xa1\xb2\x3c\x4d": (">", 1),
    }
    if data[:4] not in kinds:
        raise Unsupported("no pcap")
    order, ns = kinds[data[:4]]
    version, _, _, _, _, link = struct.unpack_from(order + "HHiIII", data, 4)
    if version != 2 or link > 0xFFFF:
        raise Unsupported("version, or bits beside the link type")
    at = 24
    while at < len(data):
        if at + 16 > len(data):
            raise Unsupported("cut")
        seconds, part, captured, wire = struct.unpack_from(order + "IIII", data, at)
        at += 16
        if at + captured > len(data):
            raise Unsupported("cut")
        yield link, seconds * 10**9 + part * ns, data[at : at + captured], wire
        at += captured


def pcapng_records(data):
    if data[8:12] != b"\x4d\x3c\x2b\x1a" or data[12:16] not in (b"\x01\0\0\0", b"\x01\0\x02\0"):
        raise Unsupported("big endian, or of another version")
    at, interfaces = 0, []
    while at < len(data):
        if at + 12 > len(data):
            raise Unsupported("cut")
        kind, length = struct.unpack_from("<II", data, at)
        if length < 12 or at + length > len(data) or data[at + length - 4 : at + length] != data[at + 4 : at + 8]:
            raise Unsupported("cut")
        if kind == 1:
            interfaces.append(interface_of(data[at + 8 : at + length - 4]))
        elif kind == 6:
            number, high, low, captured, wire = struct.unpack_from("<IIIII", data, at + 8)
            link, ns = interfaces[number]
            yield link, (high << 32 | low) * ns, data[at + 28 : at + 28 + captured], wire
        elif kind in (2, 3) or (kind == 0x0A0D0D0A and at != 0):
            raise Unsupported(f"block {kind}")
        at += length


def interface_of(block):
    """(link type, ns of a tick)."""
    (link,) = struct.unpack_from("<H", block)
    at, ns = 8, 1000
    while at + 4 <= len(block):
        code, length = struct.unpack_from("<HH", block, at)
        if code == 9:
            if block[at + 4] not in (6, 9):
                raise Unsupported("resolution")
            ns = 10 ** (9 - block[at + 4])
        if code == 14:
            raise Unsupported("offset")
        at += 4 + (length + 3) // 4 * 4
    return link, ns


def packets(data):
    """Those that have a whole IP header, in their order; Unsupported where a frame is none that this reader is sure
    of."""
    for link, time_ns, frame, wire in records(data):
        if link == 1:
            if len(frame) < 14:
                raise Unsupported("cut link header")
            at, kind = 14, int.from_bytes(frame[12:14], "big")
            while kind in (0x8100, 0x88A8):
                at, kind = at + 4, int.from_bytes(frame[at + 2 : at + 4], "big")
            if kind in NOT_IP:
                continue
            if kind not in (0x0800, 0x86DD):
                raise Unsupported(f"Ethernet type {kind:#x}")
        elif link == 101:
            at = 0
        else:
            raise Unsupported(f"link type {link}")
        yield packet_of(frame[at:], time_ns, wire)


def packet_of(ip, time_ns, wire):
    if len(ip) < 20:
        raise Unsupported("cut IP header")
    if ip[0] >> 4 == 4:
        header, total = 4 * (ip[0] & 15), int.from_bytes(ip[2:4], "big")
        if header < 20 or total < header:
            raise Unsupported("IPv4 header")
        src, dst, protocol, ttl = ip[12:16], ip[16:20], ip[9], ip[8]
        begins = int.from_bytes(ip[6:8], "big") & 0x1FFF == 0
    elif ip[0] >> 4 == 6 and len(ip) >= 40:
        header, total = 40, 40 + int.from_bytes(ip[4:6], "big")
        src, dst, protocol, ttl, begins = ip[8:24], ip[24:40], ip[6], ip[7], True
        if protocol in IPV6_EXTENSIONS or total == 40:
            raise Unsupported("IPv6 extension")
    else:
        raise Unsupported("IP header")
    layer4, ports, tcp = ip[header:], (0, 0), None
    if begins and protocol in WITH_PORTS:
        if len(layer4) < 20:
            if len(layer4) < 8 or protocol == 6:
                raise Unsupported("cut layer 4")
        ports = struct.unpack_from(">HH", layer4)
        if protocol == 6:
            sequence, acknowledgement, offset, flags = struct.unpack_from(">IIBB", layer4, 4)
            tcp = (flags | (offset & 1) << 8, sequence, acknowledgement, total - header - 4 * (offset >> 4))
    flow = (str(ipaddress.ip_address(src)), ports[0], str(ipaddress.ip_address(dst)), ports[1], protocol)
    return Packet(flow, time_ns, wire, total, ttl, tcp)


def by_flow(data):
    """flow -> arrays of what its packets were, in their order: place among all packets, time_ns, wire_bytes, ip_bytes,
    ttl."""
    rows = collections.defaultdict(list)
    for place, packet in enumerate(packets(data)):
        rows[packet.flow].append((place, packet.time_ns, packet.wire_bytes, packet.ip_bytes, packet.ttl))
    return {
        flow: dict(
            zip(("place", "time_ns", "wire_bytes", "ip_bytes", "ttl"), numpy.array(of_flow, dtype=numpy.int64).T)
        )
        for flow, of_flow in rows.items()
    }
