#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ways to find losses between two points tell of real captures in which losses, copies and delays were put. Prints
a table: packets that each way calls lost and duplicated, and the share of flows of which it is right.

The second point's copy of a capture lacks 1 % of the packets, has 0.5 % twice, and is 5 to 7 ms late by a clock that is
37 ms behind; 1 % of the packets take 6 ms longer. The truth comes from captures of the packets lost and doubled alone.

usage: compare_captures.py PARSHALL TRACES [CAPTURES]
"""

import collections
import csv
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

LOSS, COPIES, LATE = 0.01, 0.005, 0.01
KEY = ("src_ip", "src_port", "dst_ip", "dst_port", "protocol")
ETHERNET = 1


def read_capture(path):
    """[(time in ns, wire bytes, data)], or None if it is no plain pcap of Ethernet frames."""
    data = path.read_bytes()
    forms = {b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\x4d\x3c\xb2\xa1": ("<", 1), b"\xa1\xb2\xc3\xd4": (">", 1000)}
    if len(data) < 24 or data[:4] not in forms:
        return None
    order, unit = forms[data[:4]]
    if struct.unpack_from(order + "I", data, 20)[0] & 0xFFFF != ETHERNET:
        return None
    frames, at = [], 24
    while at + 16 <= len(data):
        seconds, part, captured, wire = struct.unpack_from(order + "IIII", data, at)
        if at + 16 + captured > len(data):
            return None
        frames.append((seconds * 10**9 + part * unit, wire, data[at + 16 : at + 16 + captured]))
        at += 16 + captured
    return frames


def write_capture(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, ETHERNET))
        for time_ns, wire, data in sorted(frames, key=lambda frame: frame[0]):
            file.write(struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, len(data), wire) + data)


class Ways:
    """Each way returns ({flow: lost}, {flow: duplicated or None})."""

    def __init__(self, parshall, folder):
        self.parshall, self.folder = parshall, folder

    def run(self, *words):
        return subprocess.run([self.parshall, *map(str, words)], capture_output=True, text=True, timeout=600).stdout

    def counts(self, tap, *arguments):
        """{flow: packets} of a capture."""
        text = self.run("watch", "-r", self.folder / f"{tap}.pcap", "-q", "--inner", "--format", "csv", *arguments)
        return {tuple(row[name] for name in KEY): int(row["packets"]) for row in csv.DictReader(text.splitlines())}

    def told(self, text):
        flows = json.loads(text)["flows"] if text else []
        return tuple(
            collections.Counter({tuple(str(flow[name]) for name in KEY): flow[f"packets_{what}"] for flow in flows})
            for what in ("lost", "duplicated")
        )

    def by_packet(self):
        return self.told(self.run("compare", self.folder / "up.pcap", self.folder / "down.pcap", "--format", "json"))

    def by_records(self, *arguments):
        for tap in ("up", "down"):
            shutil.rmtree(self.folder / tap, ignore_errors=True)
            words = ["watch", "-r", self.folder / f"{tap}.pcap", "-q", "--inner", "--seed", "7", "--active", "1s"]
            words += ["--export", f"parquet:{self.folder / tap}", "-o", "/dev/null", *arguments]
            self.run(*words)
        return self.told(self.run("compare", self.folder / "up", self.folder / "down", "--format", "json"))

    def by_digests(self):
        return self.by_records("--digest")

    def by_whole_flows(self):
        return self.by_records("--columns", "+flow_key")

    def by_seconds(self):
        """Packets of each second of a flow at one point, less those at the other one."""
        seconds = []
        for tap in ("up", "down"):
            file = self.folder / f"{tap}.csv"
            words = ["watch", "-r", self.folder / f"{tap}.pcap", "-q", "--inner", "--active", "1s"]
            self.run(*words, "--export", f"csv:{file}", "-o", "/dev/null")
            counts = collections.Counter()
            with open(file) as rows:
                for row in csv.DictReader(rows):
                    counts[tuple(row[name] for name in KEY), int(row["first_seen_ns"]) // 10**9] += int(row["packets"])
            seconds.append(counts)
        lost = collections.Counter()
        for (flow, second), packets in seconds[0].items():
            lost[flow] += max(packets - seconds[1][flow, second], 0)
        return lost, None

    def by_tshark(self, *fields):
        """Packets whose fields, with those of the flow, one point has more often than the other."""
        words = ["-e", "ip.src", "-e", "ip.dst", "-e", "ip.proto", "-e", "tcp.srcport", "-e", "tcp.dstport"]
        words += ["-e", "udp.srcport", "-e", "udp.dstport", *(word for field in fields for word in ("-e", field))]
        taps = []
        for tap in ("up", "down"):
            command = ["tshark", "-n", "-r", str(self.folder / f"{tap}.pcap"), "-Y", "ip", "-T", "fields", *words]
            lines = subprocess.run(command, capture_output=True, text=True, timeout=600).stdout.splitlines()
            taps.append(collections.Counter(lines))
        lost, more = collections.Counter(), collections.Counter()
        for line in taps[0].keys() | taps[1].keys():
            src, dst, protocol, *ports = (values.split(",")[-1] for values in line.split("\t")[:7])
            flow = (src, ports[0] or ports[2] or "0", dst, ports[1] or ports[3] or "0", protocol)
            difference = taps[0][line] - taps[1][line]
            (lost if difference > 0 else more)[flow] += abs(difference)
        return lost, more

    def by_ip_id(self):
        return self.by_tshark("ip.id")

    def by_tshark_fields(self):
        return self.by_tshark("ip.id", "ip.len", "tcp.seq_raw", "tcp.ack_raw", "udp.length", "icmp.seq")

    def by_lost_segments(self):
        """What tshark marks as "previous segment not captured" at the second point."""
        words = ["-n", "-r", str(self.folder / "down.pcap"), "-Y", "tcp.analysis.lost_segment", "-T", "fields"]
        words += ["-e", "ip.src", "-e", "tcp.srcport", "-e", "ip.dst", "-e", "tcp.dstport"]
        lines = subprocess.run(["tshark", *words], capture_output=True, text=True, timeout=600).stdout.splitlines()
        return collections.Counter((*line.split("\t"), "6") for line in lines), None


NAMES = {
    "by_packet": "`parshall compare` of both captures",
    "by_digests": "`parshall compare` of records with `--digest`",
    "by_whole_flows": "`parshall compare` of whole flows",
    "by_tshark_fields": "tshark and a script: IP ID, length, sequence numbers",
    "by_ip_id": "tshark and a script: IP ID",
    "by_seconds": "records of 1 s, subtracted",
    "by_lost_segments": "tshark: lost segments behind the device",
}


def main():
    parshall, traces = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    captures = sorted((path for path in (traces / "pcap").iterdir() if path.suffix == ".pcap"), key=os.path.getsize)
    rng, seen, truth_lost, truth_more, all_flows = random.Random(1), 0, 0, 0, 0
    told = {name: [0, 0, 0, 0.0] for name in NAMES if shutil.which("tshark") or "tshark" not in name}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ways = Ways(parshall, folder)
        for path in reversed(captures):
            frames = read_capture(path)
            if not frames or len(frames) < 20 or frames[-1][0] - frames[0][0] > 3600 * 10**9:
                continue
            if frames[0][0] < 10**12:  # times from 0 on: a later clock has no negative ones
                frames = [(time_ns + 10**12, wire, data) for time_ns, wire, data in frames]
            lost, copied, arrived = [], [], []
            for time_ns, wire, data in frames:
                if rng.random() < LOSS:
                    lost.append((time_ns, wire, data))
                    continue
                at = time_ns + 5_000_000 + rng.randrange(2_000_000) - 37_000_000
                at += 6_000_000 if rng.random() < LATE else 0
                arrived.append((at, wire, data))
                if rng.random() < COPIES:
                    arrived.append((at + 50_000, wire, data))
                    copied.append((time_ns, wire, data))
            for tap, its in (("up", frames), ("down", arrived), ("lost", lost), ("copied", copied)):
                write_capture(folder / f"{tap}.pcap", its)
            flows = ways.counts("up")
            report = ways.run("compare", folder / "up.pcap", folder / "down.pcap", "--format", "json")
            if not flows or not report or json.loads(report)["up"]["later_fragments"]:
                continue
            true_lost, true_more = ways.counts("lost"), ways.counts("copied")
            for way, sums in told.items():
                began = time.monotonic()
                its_lost, its_more = getattr(ways, way)()
                sums[3] += time.monotonic() - began
                sums[0] += sum(its_lost.values())
                sums[1] = None if its_more is None else sums[1] + sum(its_more.values())
                sums[2] += sum(its_lost.get(flow, 0) == true_lost.get(flow, 0) for flow in flows)
            seen, all_flows = seen + 1, all_flows + len(flows)
            truth_lost, truth_more = truth_lost + sum(true_lost.values()), truth_more + sum(true_more.values())
            if seen == most:
                break
    print(f"{seen} captures, {all_flows} flows, {truth_lost} packets lost, {truth_more} doubled\n")
    print("| way | told lost | told duplicated | flows with the right loss | time |\n|---|---|---|---|---|")
    for way, (lost, more, right, seconds) in told.items():
        share = f"{100 * right / all_flows:.2f} %"
        print(f"| {NAMES[way]} | {lost:,} | {'-' if more is None else f'{more:,}'} | {share} | {seconds:.1f} s |")


if __name__ == "__main__":
    main()
