# SPDX-License-Identifier: Apache-2.0
"""Packet counting by dpdk-testpmd, as it comes and tuned, and packet and flow counting by parshall, in turns, on the
same DPDK device: a capture that is received over and over, which copies each frame from memory as fast as it is
polled."""

import json
import pathlib
import random
import re
import shutil
import signal
import statistics
import struct
import subprocess
import tempfile
import threading

FLOWS, BUFFERS = 1 << 16, 1 << 17
ROUNDS, SECONDS, MOST_SECONDS = 2, 1, 90
TUNED = ["--burst=256", "--rxd=4096", "--mbcache=512"]
COMMANDS = (
    f"dpdk-testpmd (rxonly; tuned: {' '.join(TUNED)}) and parshall watch, with --packets-only and without, all on "
    "vdev:net_pcap0,rx_pcap=...,infinite_rx=1"
)
TRAFFIC = ("uniform", "zipf")


def version():
    """What its figures depend on beside parshall."""
    return f"{pathlib.Path(__file__).read_text()} {shutil.which('dpdk-testpmd')}"


def write_capture(path, traffic):
    """64-byte frames of five-tuples chosen at random; as many as flows, each once or by Zipf's law."""
    rng = random.Random(1)
    tuples = [rng.getrandbits(96).to_bytes(12, "big") for _ in range(FLOWS)]
    order = range(FLOWS)
    if traffic == "zipf":
        order = rng.choices(order, weights=[1 / (rank + 1) for rank in range(FLOWS)], k=FLOWS)
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, flow in enumerate(order):
            ports, addresses = tuples[flow][:4], tuples[flow][4:]
            frame = (
                bytes(12)
                + b"\x08\x00"
                + struct.pack(">BBHIBBH", 0x45, 0, 46, 0, 64, 17, 0)
                + addresses
                + ports
                + struct.pack(">HH", 26, 0)
                + bytes(18)
            )
            file.write(struct.pack("<IIII", 1_600_000_000, i, len(frame), len(frame)) + frame)


def testpmd(capture, number, options):
    """Mpps: the median of what it says each second, from when it receives."""
    running = subprocess.Popen(
        [
            "dpdk-testpmd",
            "--no-huge",
            "-m",
            "1024",
            "--no-pci",
            f"--vdev=net_pcap0,rx_pcap={capture},infinite_rx=1",
            "-l",
            "0,1",
            "--file-prefix",
            f"reproduce{number}",
            "--",
            f"--total-num-mbufs={BUFFERS}",
            *options,
            "--forward-mode=rxonly",
            "--auto-start",
            "--stats-period",
            "1",
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    ended = threading.Timer(MOST_SECONDS, running.kill)
    ended.start()
    try:
        rates, said = [], ""
        for line in running.stdout:
            said = (said + line)[-500:]
            found = re.search(r"Rx-pps:\s+(\d+)", line)
            if found and int(found[1]):
                rates.append(int(found[1]))
            if len(rates) > SECONDS:
                break
        if not rates:
            raise RuntimeError(f"dpdk-testpmd received nothing in {MOST_SECONDS} s: {said}")
        return statistics.median(rates[1:] or rates) / 1e6
    finally:
        ended.cancel()
        running.send_signal(signal.SIGINT)
        try:
            running.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()


def watch(parshall, capture, *options):
    done = subprocess.run(
        [
            parshall,
            "watch",
            "-q",
            "-i",
            f"vdev:net_pcap0,rx_pcap={capture},infinite_rx=1",
            "--mbufs",
            str(BUFFERS),
            "--flows",
            str(FLOWS),
            "--duration",
            f"{SECONDS}s",
            "--format",
            "json",
            *options,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"parshall watch ended with {done.returncode}: {done.stderr[-500:]}")
    summary = json.loads(done.stdout)["summary"]
    return summary["packets"] / summary["elapsed_s"] / 1e6


def row(traffic, name, samples):
    ordered = sorted(samples)
    return {
        "traffic": traffic,
        "row": name,
        "interval_of": "RUNS",
        "mpps": statistics.median(ordered),
        "low_mpps": ordered[0],
        "high_mpps": ordered[-1],
        "samples": len(ordered),
    }


def measure(parshall, path):
    """A document a line, as bench writes them. An interval goes from the least to the most of the rounds."""
    with_testpmd = shutil.which("dpdk-testpmd") is not None
    with open(path, "w", encoding="utf-8") as out, tempfile.TemporaryDirectory() as folder:
        for traffic in TRAFFIC:
            capture = f"{folder}/{traffic}.pcap"
            write_capture(capture, traffic)
            ways = {}
            if with_testpmd:
                ways["packets, dpdk-testpmd"] = lambda: testpmd(capture, len(samples["packets, dpdk-testpmd"]), [])
                ways["packets, dpdk-testpmd tuned"] = lambda: testpmd(
                    capture, len(samples["packets, dpdk-testpmd"]), TUNED
                )
            ways["packets, parshall"] = lambda: watch(parshall, capture, "--packets-only")
            ways["flows, parshall"] = lambda: watch(parshall, capture)
            ways["flows and p99 gap, parshall"] = lambda: watch(parshall, capture, "--columns", "+gap_p99")
            samples = {name: [] for name in ways}
            for _ in range(ROUNDS):
                for name, way in ways.items():
                    samples[name].append(way())
            rows = [row(traffic, name, samples[name]) for name in ways]
            out.write(json.dumps({"experiment": "devices", "rows": rows}) + "\n")
