#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the seed corpora of the fuzz harnesses: seed_corpus.py OUT [TRACES]

OUT/exported has what $PARSHALL writes, where that names a program; OUT/frame and OUT/capture_file are filled from the captures in TRACES/pcap (default: $PARSHALL_TRACES, or shared/traces
beside the project) and from a few seeds made here, which are all there is when the captures are absent; OUT/compressed
from seeds made here, those of zstd and lz4 where their commands are.
"""
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
    for i, (kind, head) in enumerate(((2, b"\0\0"), (0x82, b"\3" + bytes(9)), (22, b""), (48, b""), (27, b""), (1, b"\xff\3\0\x21")) * 3):
        for frame in frames:
            body = head + frame
            body += bytes(-len(body) % 8)
            data += struct.pack("<II", i << 20, 1_000_000_000 + i) + struct.pack(">BBHHH", kind, 4, 16 + len(body), 0, len(frame)) + body
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
    one = [gzip.compress(data, 6, mtime=0), gzip.compress(data, 0, mtime=0), lzma.compress(data, preset=0),
           lzma.compress(data, check=lzma.CHECK_CRC32, preset=6)]
    for command in (["zstd", "-q", "-c"], ["zstd", "-q", "-c", "-19", "--no-check"], ["lz4", "-q", "-c"], ["lz4", "-q", "-c", "-BD", "-BX"]):
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
        words = [word for kind in ("ipfix", "jsonl", "parquet") for word in ("--export", f"{kind}:{folder}/x.{kind}")]
        for more in ((), ("--biflow", "--columns", "all")):
            subprocess.run([program, "watch", "-q", "-g", "flows=10,packets=40,protocol=connections", "--count", "40", "-o", os.devnull, *words, *more], check=True)
            yield from (path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file())


def main():
    out = pathlib.Path(sys.argv[1])
    project = pathlib.Path(__file__).resolve().parents[2]
    default = os.environ.get("PARSHALL_TRACES", project / ".." / "shared" / "traces")
    traces = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else default)
    seeds = {"frame": set(), "capture_file": set(), "compressed": set(), "exported": {b"PAR1"}}
    if program := os.environ.get("PARSHALL"):
        seeds["exported"] |= set(exported(program))

    def add_frame(link_type, frame):
        seeds["frame"].add(struct.pack("<HB", link_type, 0) + frame)

    for link_type, frame in hand_made_frames():
        add_frame(link_type, frame)
        seeds["capture_file"].add(b"\x20" + pcap(link_type, [frame] * 2))
        seeds["capture_file"].add(b"\x40" + pcapng(link_type, [frame]))
        seeds["capture_file"].add(b"\x08" + pcapng(link_type, [frame], ">"))
        seeds["capture_file"].add(b"\x10" + pcap(link_type, [frame], ">", 0xA1B23C4D))
    for link_type, frame in hand_made_frames():
        if link_type in (1, 228):
            seeds["capture_file"].add(b"\x18" + erf([frame]))
    for data in (b"", pcap(1, [bytes(60)] * 9), bytes(100_000), bytes(range(256)) * 40):
        for packed in compressed(data):
            seeds["compressed"] |= {b"\xff\xff" + packed, b"\3\4" + packed}
    for path in sorted((traces / "pcap").glob("*")):
        data = path.read_bytes()
        for link_type, frame in frames_of(data):
            add_frame(link_type, frame)
        if len(data) <= MAX_CAPTURE_BYTES:
            seeds["capture_file"].add(b"\x30" + data)
    for harness, inputs in seeds.items():
        folder = out / harness
        folder.mkdir(parents=True, exist_ok=True)
        for data in inputs:
            (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
        print(f"{folder}: {len(inputs)} seeds")


if __name__ == "__main__":
    main()
