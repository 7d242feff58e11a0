#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes seeds for the fuzz targets: seed_corpus.py OUT [CAPTURES]

A folder for each target in OUT. All are made here, but OUT/exported has what $PARSHALL writes, where that names a
program, and OUT/frame, capture_file and stream have more of the captures in the folder CAPTURES. What grew from those
is not for the repository: packets of others are theirs.
"""

import collections
import gzip
import hashlib
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import seed_payloads
import seed_texts

MAX_CAPTURE_BYTES = 8192
MAX_FRAME_BYTES = 600
FRAMES_PER_CAPTURE = 3


def pcap(link_type, frames, order="<", magic=0xA1B2C3D4):
    head = struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, 65535, link_type)
    return head + b"".join(struct.pack(order + "IIII", i, i, len(f), len(f)) + f for i, f in enumerate(frames))


def pcapng(link_type, frames, order="<"):
    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        length = struct.pack(order + "I", len(body) + 12)
        return struct.pack(order + "I", kind) + length + body + length

    resolution = struct.pack(order + "HHB3xHH", 9, 1, 9, 0, 0)
    data = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += block(1, struct.pack(order + "HHI", link_type, 0, 0) + resolution)
    for frame in frames:
        data += block(6, struct.pack(order + "IIIII", 0, 1, 2, len(frame), len(frame)) + frame)
        data += block(3, struct.pack(order + "I", len(frame)) + frame)
    return data + block(5, b"statistics")


def erf(frames):
    """Records of Ethernet, with and without an extension header, of IPv4, padding and metadata."""
    data = b""
    for i, (kind, head) in enumerate(
        ((2, b"\0\0"), (0x82, b"\3" + bytes(9)), (22, b""), (48, b""), (27, b""), (1, b"\xff\3\0\x21")) * 3
    ):
        for frame in frames:
            body = head + frame
            body += bytes(-len(body) % 8)
            data += (
                struct.pack("<II", i << 20, 1_000_000_000 + i)
                + struct.pack(">BBHHH", kind, 4, 16 + len(body), 0, len(frame))
                + body
            )
    return data


def ipv4(protocol, payload):
    return struct.pack(">BBHHHBBH8x", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0) + payload


def ipv6(next_header, payload):
    return struct.pack(">IHBB32x", 0x60000000, len(payload), next_header, 64) + payload


def udp(port, payload):
    return struct.pack(">HHHH", 1000, port, 8 + len(payload), 0) + payload


def hand_made_frames():
    """(link type, frame) of each kind of link and tunnel."""
    four = ipv4(17, udp(53, b"data"))
    six = ipv6(0, bytes([17, 0, 1, 4, 0, 0, 0, 0]) + udp(53, b"data"))
    mac = bytes(12)
    snap = b"\xaa\xaa\3\0\0\0\x08\0"
    yield 1, mac + b"\x81\x00\0\5\x86\xdd" + six
    links = (
        (0, b"\2\0\0\0"),
        (1, mac + b"\x08\x00"),
        (1, mac + b"\x88\x47\0\0\1\x40"),
        (1, mac + b"\x88\x64\x11\0\0\1\0\x50\0\x21"),
        (1, mac + b"\x89\x88" + bytes(6) + b"\x08\0"),
        (1, mac + b"\xd2\x8b\0\1\0\x10" + bytes(8) + b"\x08\0"),
        (51, b"\x11\0\0\1\0\x50\0\x21"),
        (109, b"\2" + bytes(11)),
        (117, b"\x3d\2" + bytes(62)),
        (219, b"\0\0\1\x40"),
        (242, bytes(40) + b"\x08\0\0\0"),
        (281, bytes(16) + b"\x08\0"),
        (282, bytes(4) + mac + b"\x08\0"),
        (284, mac + b"\xc0\x08\0\0\x08\0"),
        (285, mac + b"\xda\xda\0\0\xc0\x08\0\0\x08\0"),
        (105, b"\x88\1" + bytes(22) + b"\x80\0" + bytes(12) + b"\0\x30" + snap),
        (6, b"\x10\x40" + bytes(12) + snap),
        (8, b"\0\x40" + bytes(14)),
        (9, b"\xff\3\0\x21"),
        (50, b"\x21"),
        (101, b""),
        (104, b"\x0f\0\x08\0"),
        (105, b"\x08\2" + bytes(22) + snap),
        (107, b"\x18\x41\3\xcc"),
        (113, bytes(14) + b"\x08\0"),
        (129, b"\1\2\0\0\xd4\0\0\1"),
        (197, bytes(8) + b"\2" + bytes(9) + mac + b"\x08\0"),
        (197, bytes(8) + b"\x94" + bytes(7) + b"\3" + bytes(9) + mac + b"\x08\0"),
        (197, bytes(8) + b"\4" + bytes(7 + 4) + snap),
        (239, b"\2\0\0\0\4\0\x09\0"),
        (276, b"\x08\0" + bytes(18)),
    )
    for link_type, head in links:
        yield link_type, head + four
    udp_tunnels = (
        (1701, b"\0\2\0\1\0\1\0\x21"),
        (2152, b"\x34\xff\0\0\0\0\0\1\0\0\0\x85\1\0\0\0"),
        (4789, b"\x08\0\0\0\0\0\1\0" + mac + b"\x08\0"),
        (6081, b"\0\0\x08\0\0\0\1\0"),
        (6635, b"\0\0\1\x40"),
        (4754, b"\x20\0\x08\0" + bytes(4)),
        (4755, b"\0\0\x08\0"),
        (5072, b"\x41\x52\x11\4" + bytes(4 + 16 + 20)),
    )
    for port, head in udp_tunnels:
        yield 228, ipv4(17, udp(port, head + four))
    yield 228, ipv4(17, udp(3544, bytes(8) + six))
    erspan = b"\x10\0\x22\xeb" + bytes(16) + mac + b"\x08\0"
    aruba = b"\0\0\x82\0" + b"\x08\2" + bytes(22) + snap
    for head in (b"\0\0\x08\0", b"\x30\x81\x88\x0b" + bytes(12) + b"\0\x21", erspan, aruba):
        yield 228, ipv4(47, head + four)


def compressed(data):
    """The same in each format, as the ones who compress do by default and otherwise, and two one behind the other."""
    one = [
        gzip.compress(data, 6, mtime=0),
        gzip.compress(data, 0, mtime=0),
        lzma.compress(data, preset=0),
        lzma.compress(data, check=lzma.CHECK_CRC32, preset=6),
    ]
    for command in (
        ["zstd", "-q", "-c"],
        ["zstd", "-q", "-c", "-19", "--no-check"],
        ["lz4", "-q", "-c"],
        ["lz4", "-q", "-c", "-BD", "-BX"],
    ):
        if shutil.which(command[0]):
            one.append(subprocess.run(command, input=data, capture_output=True, check=True).stdout)
    return one + [first + second for first, second in zip(one, one)] + [b"\x50\x2a\x4d\x18\3\0\0\0abc" + one[-1]]


def frames_of(data):
    """(link type, frame) of the first packets of a little-endian classic pcap."""
    if data[:4] not in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") or len(data) < 24:
        return
    link_type = struct.unpack_from("<I", data, 20)[0] & 0xFFFF
    at = 24
    for _ in range(FRAMES_PER_CAPTURE):
        if at + 16 > len(data):
            return
        captured = struct.unpack_from("<I", data, at + 8)[0]
        yield link_type, data[at + 16 : at + 16 + min(captured, MAX_FRAME_BYTES)]
        at += 16 + captured


def exported(program):
    """What it writes of a few flows, in each kind that is read again."""
    with tempfile.TemporaryDirectory() as folder:
        targets = [f"ipfix:{folder}/x.ipfix,probe=p", f"jsonl:{folder}/x.jsonl", f"parquet:{folder}/x.parquet,probe=p"]
        words = [word for target in targets for word in ("--export", target)]
        for more in ((), ("--biflow", "--columns", "all")):
            subprocess.run(
                [
                    program,
                    "watch",
                    "-q",
                    "-g",
                    "flows=10,packets=40,protocol=connections",
                    "--count",
                    "40",
                    "-o",
                    os.devnull,
                    *words,
                    *more,
                ],
                check=True,
            )
            yield from (path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file())


def test_frames():
    """Frames of a device test, with their trailers: checksums are for the target to make right."""
    now = 1_700_000_000_000_000_000
    trailer = struct.pack(">HHIII", 0x9A52, (now >> 32) & 0xFFFF, now & 0xFFFFFFFF, 321, 54321)
    tcp = struct.pack(">HHIIHHHH", 1000, 80, 1, 2, 0x5018, 500, 0, 0)
    ethernet = bytes(12) + b"\x08\x00"
    vxlan = udp(4789, b"\x08\0\0\0\0\0\5\0" + ethernet + ipv4(17, udp(2000, b"xy" + trailer)))
    for frame in (
        ipv4(17, udp(2000, b"ab" + trailer)),
        ipv4(6, tcp + trailer),
        ipv4(17, vxlan),
        ipv4(47, b"\0\0\x08\0" + ipv4(17, udp(1, trailer))),
    ):
        yield 0, ethernet + frame
        yield 0, bytes(12) + b"\x81\0\0\7\x08\0" + frame + bytes(5)
        yield 1, frame
    yield 0, bytes(12) + b"\x86\xdd" + ipv6(17, udp(2000, trailer))


def add_frames(seeds, captures):
    for link_type, frame in hand_made_frames():
        seeds["frame"].add(struct.pack("<HB", link_type, 0) + frame)
        for first, capture in (
            (b"\x20", pcap(link_type, [frame] * 2)),
            (b"\x40", pcapng(link_type, [frame])),
            (b"\x08", pcapng(link_type, [frame], ">")),
            (b"\x10", pcap(link_type, [frame], ">", 0xA1B23C4D)),
        ):
            seeds["capture_file"].add(first + capture)
        if link_type in (1, 228):
            seeds["capture_file"].add(b"\x18" + erf([frame]))
    for path in sorted(captures.glob("*")) if captures else ():
        data = path.read_bytes()
        for link_type, frame in frames_of(data):
            seeds["frame"].add(struct.pack("<HB", link_type, 0) + frame)
        if len(data) <= MAX_CAPTURE_BYTES:
            seeds["capture_file"].add(b"\x30" + data)
    seeds["stream"] = {data[:1] + b"\x23" + data[1:] for data in seeds["capture_file"]}
    for link, frame in test_frames():
        seeds["test_frame"] |= {struct.pack("<BBH", link, how, 77) + frame for how in (0, 1)}


def seeds_of_all(captures):
    """{target: inputs}"""
    seeds = collections.defaultdict(set, seed_texts.seeds() | seed_payloads.seeds())
    seeds["exported"] = {b"PAR1"}
    if program := os.environ.get("PARSHALL"):
        seeds["exported"] |= set(exported(program))
    add_frames(seeds, captures)
    for data in (b"", pcap(1, [bytes(60)] * 9), bytes(20_000), bytes(range(256)) * 8):
        for packed in compressed(data):
            if len(packed) <= MAX_CAPTURE_BYTES:
                seeds["compressed"] |= {b"\xff\xff" + packed, b"\3\4" + packed}
    frames = [frame for link_type, frame in hand_made_frames() if link_type in (1, 228)]
    seeds["filter"] = {
        text.encode() + b"\0" + bytes([i % 3]) + frames[i % len(frames)] for i, text in enumerate(seed_texts.FILTERS)
    }
    seeds["records"] = {
        bytes([choice, output]) + bytes((i * step + choice) % 256 for i in range(600))
        for choice in range(4)
        for output in (4, 5, 6, 7)
        for step in (1, 7, 41)
    }
    in_order, answered = b"\5\x40\1", b"\5\x40\1\6\x40\1"  # data of one end, and of both in turn
    seeds["connection"] = {bytes(16) + packets * 40 for packets in (in_order, answered, in_order * 5 + b"\2\1")} | {
        bytes(range(16)) + bytes((i * step) % 256 for i in range(600)) for step in (1, 7, 41)
    }
    return seeds


def main():
    out = pathlib.Path(sys.argv[1])
    for target, inputs in seeds_of_all(pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None).items():
        folder = out / target
        folder.mkdir(parents=True, exist_ok=True)
        for data in inputs:
            (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
        print(f"{folder}: {len(inputs)} seeds")


if __name__ == "__main__":
    main()
