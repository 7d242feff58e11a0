#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a pandas frame of a capture's flows take in Python: parshall's, NFStream's, and what pyshark, scapy and
dpkt make of the packets?

Captures: four that are made (make_captures.py), and the three largest of PARSHALL_TRACES that repeat_capture.py can
read, each repeated with other addresses until it has --packets. Each run is a process of its own, pinned to one core:
user and system time, wall time and peak memory of it and its children, with and without what starting it takes
(`import` alone is measured too). Rounds are interleaved; medians. Run by a Python that has the packages; those that it
lacks are left out, and named. pyshark and scapy read the first packets only (--few): they take minutes for what the
others read in seconds; theirs is scaled up.

parshall maps a capture: the last 64 to 96 MB that it has read of it count in its peak memory (memory_of_frames.py).

The packets in each frame are held against the capture's truth, in every run: those that another leaves out (NFStream:
later fragments) are named.
Exit status: 0 done, 1 a frame of parshall's is wrong.
"""

import argparse
import concurrent.futures
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import make_captures
import repeat_capture

PARSHALL_STATISTICS = [
    "+duration_ns",
    "size_mean",
    "size_sd",
    "size_min",
    "size_max",
    "iat_mean",
    "iat_sd",
    "iat_min",
    "iat_max",
    "tcp_flags",
]
END = "print(packets)"
# What each imports, and what it does with `path`; it comes to a frame, and to the packets in it.
TOOLS = {
    "parshall": (
        "parshall, pyarrow, pandas",
        "frame = parshall.flows(path, biflow=True).to_pandas(); packets = frame.packets.sum() + "
        "frame.reverse_packets.sum()",
    ),
    "parshall, statistics": (
        "parshall, pyarrow, pandas",
        f"frame = parshall.flows(path, biflow=True, columns={PARSHALL_STATISTICS}).to_pandas(); packets = "
        f"frame.packets.sum() + frame.reverse_packets.sum()",
    ),
    "nfstream": (
        "nfstream, pandas",
        "frame = nfstream.NFStreamer(source=path, n_dissections=0, n_meters=1, idle_timeout=10**6, "
        "active_timeout=10**6).to_pandas(); packets = frame.bidirectional_packets.sum()",
    ),
    "nfstream, statistics": (
        "nfstream, pandas",
        "frame = nfstream.NFStreamer(source=path, n_dissections=0, n_meters=1, idle_timeout=10**6, "
        "active_timeout=10**6, statistical_analysis=True).to_pandas(); "
        "packets = frame.bidirectional_packets.sum()",
    ),
    "dpkt": (
        "dpkt, pandas, collections, socket",
        """
        counts = collections.Counter()
        for _, data in dpkt.pcap.Reader(open(path, "rb")):
            ip = dpkt.ethernet.Ethernet(data).data
            if isinstance(ip, dpkt.ip.IP):
                counts[ip.src, ip.dst, ip.p, getattr(ip.data, "sport", 0), getattr(ip.data, "dport", 0)] += 1
        frame = pandas.DataFrame([(*key, count) for key, count in counts.items()]); packets = sum(counts.values())""",
    ),
    "scapy": (
        "scapy.all, pandas, collections",
        """
        counts = collections.Counter()
        for packet in scapy.all.PcapReader(path):
            if "IP" in packet:
                ip = packet["IP"]
                counts[ip.src, ip.dst, ip.proto, getattr(ip.payload, "sport", 0), getattr(ip.payload, "dport", 0)] += 1
        frame = pandas.DataFrame([(*key, count) for key, count in counts.items()]); packets = sum(counts.values())""",
    ),
    "pyshark": (
        "pyshark, pandas, collections",
        """
        counts = collections.Counter()
        for packet in pyshark.FileCapture(path, keep_packets=False):
            if "IP" in packet:
                ports = packet[packet.transport_layer] if packet.transport_layer else None
                counts[packet.ip.src, packet.ip.dst, packet.ip.proto, getattr(ports, "srcport", 0), getattr(
                    ports, "dstport", 0)] += 1
        frame = pandas.DataFrame([(*key, count) for key, count in counts.items()]); packets = sum(counts.values())""",
    ),
}
SLOW = {"scapy", "pyshark"}


def run(code, core):
    """(what it said, CPU seconds, wall seconds, peak MB): of the process and of those that it waited for."""
    allowed = os.sched_getaffinity(0)
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as errors:
        os.sched_setaffinity(0, {core})  # inherited by the child
        began = time.monotonic()
        try:
            process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], stdout=said, stderr=errors)
        finally:
            os.sched_setaffinity(0, allowed)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - began
        said.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            raise RuntimeError(errors.read().strip().splitlines()[-1:])
        return said.read().strip().splitlines()[-1:], usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def apart(function, *arguments):
    """What it returns, in a process of its own: a run's peak memory is never below what this one took at most
    before."""
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


def first_packets(path, folder, few):
    """A capture of the first of them."""
    reads = Path(path).read_bytes()
    at = 24
    for _ in range(few):
        if at + 16 > len(reads):
            break
        at += 16 + int.from_bytes(reads[at + 8 : at + 12], "little")
    first = Path(folder) / "first.pcap"
    first.write_bytes(reads[:at])
    return str(first)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--repetitions", type=int, default=3)
    parser.add_argument(
        "--packets", type=int, default=1_000_000, help="per capture (mix: about a third of it; %(default)s)"
    )
    parser.add_argument("--few", type=int, default=5000, help="packets that pyshark and scapy read (%(default)s)")
    parser.add_argument(
        "--captures", help="of those that are made, and of the traces (default: the four, and the three largest)"
    )
    parser.add_argument(
        "--traces",
        default=os.environ.get("PARSHALL_TRACES", Path(__file__).resolve().parents[3] / "../shared/traces"),
        help="folder of real captures (PARSHALL_TRACES)",
    )
    parser.add_argument(
        "--tools",
        default=",".join(name for name in TOOLS if name.partition(",")[0] not in SLOW).replace(", ", "+"),
        help="+statistics for those with; and scapy, pyshark (%(default)s)",
    )
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--work-dir", default="/tmp/parshall-peers")
    options = parser.parse_args()
    real = apart(repeat_capture.largest, Path(options.traces) / "pcap", 3)
    if not real:
        print(f"SKIPPED: real captures: there are none in {options.traces}")
    captures = (
        options.captures.split(",") if options.captures else [*make_captures.MAKERS, *(path.name for path in real)]
    )
    chosen = []
    for name in (word.replace("+", ", ") for word in options.tools.split(",")):
        if name not in TOOLS:
            parser.error(f"no such tool: {name}")
        if importlib.util.find_spec(name.partition(",")[0]) is None:
            print(f"SKIPPED: {name} is not installed (pip install {name.partition(',')[0]})")
        else:
            chosen.append(name)
    print(
        "| capture | its MB | tool | CPU s | import alone | CPU s without it | wall s | peak MB | parshall, without "
        "imports, is | packets |"
    )
    print("|---|---:|---|---:|---:|---:|---:|---:|---:|---|")
    wrong = False
    for capture in captures:
        if capture in make_captures.MAKERS:
            path, truth = apart(make_captures.ensure_capture, options.work_dir, capture, options.packets, 1)
        else:
            path, truth = apart(
                repeat_capture.ensure_capture,
                options.work_dir,
                Path(options.traces) / "pcap" / capture,
                options.packets,
            )
        with tempfile.TemporaryDirectory() as folder:
            few = apart(first_packets, path, folder, options.few)
            results = {name: [] for name in chosen}
            for _ in range(options.repetitions):
                for name in chosen:
                    imports, code = TOOLS[name]
                    reads, expected = (few, options.few) if name in SLOW else (path, truth["packets"])
                    begin = f"import {imports}\npath = {reads!r}\n"
                    _, import_cpu, _, _ = run(begin, options.core)
                    body = (
                        "if __name__ == '__main__':\n"
                        + textwrap.indent(textwrap.dedent(code).strip(), "    ")
                        + f"\n    {END}\n"
                    )
                    said, cpu, wall, peak = run(begin + body, options.core)
                    off = int(float(said[0])) - expected
                    wrong |= off != 0 and name.startswith("parshall")
                    scale = truth["packets"] / expected
                    results[name].append(
                        (cpu * scale, import_cpu, max(cpu - import_cpu, 1e-3) * scale, wall * scale, peak, off)
                    )
        ours = {
            name: statistics.median(result[2] for result in results[name])
            for name in results
            if name.startswith("parshall")
        }
        for name, rows in results.items():
            cpu, import_cpu, net, wall, peak = (statistics.median(column) for column in list(zip(*rows))[:5])
            base = ours.get("parshall, statistics" if "statistics" in name else "parshall")
            ratio = "-" if base is None or name in ours else f"{net / base:.0f}x"
            off = {row[5] for row in rows} - {0}
            exact = "exact" if not off else f"{min(off):+,} of {truth['packets']:,}"
            note = f"{exact}, of the first {options.few:,}, scaled up" if name in SLOW else exact
            print(
                f"| {capture} | {os.path.getsize(path) >> 20} | {name} | {cpu:.2f} | {import_cpu:.2f} | {net:.2f} | "
                f"{wall:.2f} | {peak:.0f} | {ratio} | {note} |",
                flush=True,
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
