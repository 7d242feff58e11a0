#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many frames per CPU-second does `parshall send` write to a capture, or send, next to the tools in use today?

Writing: built-in traffic and a replayed capture by parshall, the same capture by tcprewrite, and frames that are there
already by dpkt's and scapy's writers (their fastest ways). Start-up counts, and making built-in traffic; of the Python
tools only the loop over the frames is timed. Sending: parshall and tcpreplay, to one end of a veth pair whose other end
nobody reads, in a network namespace that goes at the end.

The unit is frames per CPU-second, user plus system time of the process. Every round runs each tool once; medians and
ranges over the rounds, and how many times parshall's rate is that of each other tool. Every file written is read back:
a frame more or less, or another length, is an error. Tools that are not installed are left out, and named.

Usage: compare_senders.py PARSHALL [--frames N] [--rounds N]. Exit status: 0 done, 1 a file was wrong, 2 wrong usage.
"""

import argparse
import importlib.util
import json
import os
import re
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON = {
    "dpkt": """
import dpkt
with open(sys.argv[2], 'wb') as file:
    writer = dpkt.pcap.Writer(file, nano=True)
    write = writer.writepkt
    begin = time.process_time()
    for i, frame in enumerate(frames): write(frame, i * 1e-6)
    file.flush()
""",
    "scapy": """
from scapy.utils import RawPcapWriter
writer = RawPcapWriter(sys.argv[2], linktype=1, nano=True, sync=False)
writer.write_header(None)
begin = time.process_time()
for i, frame in enumerate(frames): writer.write_packet(frame, sec=0, usec=i, caplen=len(frame), wirelen=len(frame))
writer.flush()
""",
}
PYTHON_READS = """
import struct, sys, time
data, at, frames = open(sys.argv[1], 'rb').read(), 24, []
while at < len(data):
    length = struct.unpack_from('<I', data, at + 8)[0]
    frames.append(data[at + 16:at + 16 + length])
    at += 16 + length
"""


class Wrong(Exception):
    pass


def cpu_of(command):
    """User and system time of a command that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise Wrong(f"{' '.join(map(str, command))}: {done.stderr.strip()[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def frames_of(path):
    """Lengths of all frames of a pcap file of this machine's byte order."""
    data, at, lengths = Path(path).read_bytes(), 24, []
    while at < len(data):
        lengths.append(struct.unpack_from("<I", data, at + 8)[0])
        at += 16 + lengths[-1]
    return lengths if at == len(data) else None


def python_writer(name, capture, output):
    script = PYTHON_READS + PYTHON[name] + "print(time.process_time() - begin)\n"
    _, said = cpu_of([sys.executable, "-c", script, capture, output])
    return float(said)


def writers(parshall, traffic, frames):
    """name: what writes `output` (of `capture`, where it takes one), and returns the CPU time."""

    def ours(*source):
        return lambda capture, output: cpu_of(
            [
                parshall,
                "send",
                "-q",
                *[capture if word == "CAPTURE" else word for word in source],
                "-w",
                output,
                "-o",
                "/dev/null",
            ]
        )[0]

    found = {"parshall send -g": ours("-g", traffic, "--count", str(frames)), "parshall send -r": ours("-r", "CAPTURE")}
    missing = []
    if shutil.which("tcprewrite"):
        found["tcprewrite"] = lambda capture, output: cpu_of(["tcprewrite", "-i", capture, "-o", output])[0]
    else:
        missing.append("tcprewrite")
    for name in PYTHON:
        if importlib.util.find_spec(name):
            found[name] = lambda capture, output, name=name: python_writer(name, capture, output)
        else:
            missing.append(name)
    return found, missing


class Wire:
    """One end of a veth pair in a namespace, both ends up."""

    def __enter__(self):
        self.space = f"parshall-bench-{os.getpid()}"
        self.inside = ["ip", "netns", "exec", self.space]
        subprocess.run(["ip", "netns", "add", self.space], check=True)
        try:
            for words in ("link add out type veth peer name far", "link set out up", "link set far up"):
                subprocess.run(["ip", "-n", self.space, *words.split()], check=True)
        except subprocess.CalledProcessError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        subprocess.run(["ip", "netns", "del", self.space], check=False)


def senders(parshall, wire, frames):
    found = {
        f"parshall send -i ({via})": lambda capture, via=via: sent_by_parshall(parshall, wire, capture, via, frames)
        for via in ("af_packet", "af_xdp")
    }
    if shutil.which("tcpreplay"):
        found["tcpreplay"] = lambda capture: sent_by_tcpreplay(wire, capture, frames)
    return found


def sent_by_tcpreplay(wire, capture, frames):
    cpu_s, said = cpu_of([*wire.inside, "tcpreplay", "-t", "-K", "-i", "out", capture])
    sent = re.search(r"Actual: (\d+) packets", said)
    if not sent or int(sent.group(1)) != frames:
        raise Wrong(f"tcpreplay: {said.strip()[-500:]}")
    return cpu_s


def sent_by_parshall(parshall, wire, capture, via, frames):
    cpu_s, said = cpu_of(
        [
            *wire.inside,
            parshall,
            "send",
            "-q",
            "-r",
            capture,
            "-i",
            "out",
            "--via",
            via,
            "--rate",
            "asap",
            "--format",
            "json",
        ]
    )
    counts = json.loads(said)
    if counts["sent"] != frames or counts["dropped"] != 0:
        raise Wrong(f"parshall send -i, {via}: {counts}")
    return cpu_s


def table(title, rates, ours):
    print(f"{title:30} {'frames per CPU-second':>22} {'range':>22}   how many times as many {ours} does")
    best = statistics.median(rates[ours])
    for name, values in rates.items():
        median = statistics.median(values)
        print(
            f"{name:30} {median / 1e6:19.2f} M {min(values) / 1e6:12.2f} .. {max(values) / 1e6:.2f} M   "
            f"{best / median:8.1f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parshall")
    parser.add_argument("--frames", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    traffic = "flows=1000,size=64"
    shm = "/dev/shm" if os.path.isdir("/dev/shm") else None  # no disk
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        capture, output = f"{folder}/in.pcap", f"{folder}/out.pcap"
        cpu_of(
            [
                options.parshall,
                "send",
                "-q",
                "-g",
                traffic,
                "--count",
                str(options.frames),
                "-w",
                capture,
                "-o",
                "/dev/null",
            ]
        )
        want = frames_of(capture)
        if len(want) != options.frames:
            raise Wrong(f"{capture}: {len(want)} frames")
        found, missing = writers(options.parshall, traffic, options.frames)
        if missing:
            print("not installed: " + ", ".join(missing))
        rates = {name: [] for name in found}
        for _ in range(options.rounds):
            for name, write in found.items():
                rates[name].append(options.frames / write(capture, output))
                if frames_of(output) != want:
                    raise Wrong(f"{name} wrote other frames than it was given")
                os.unlink(output)
        table("written, 64-byte frames", rates, "parshall send -g")
        if os.geteuid() != 0 or not shutil.which("ip"):
            print("sending is left out: it takes root, and iproute2")
            return
        with Wire() as wire:
            found = senders(options.parshall, wire, options.frames)
            rates = {name: [] for name in found}
            for _ in range(options.rounds):
                for name, send in found.items():
                    rates[name].append(options.frames / send(capture))
        table("sent to a veth pair", rates, next(iter(found)))


if __name__ == "__main__":
    try:
        main()
    except Wrong as problem:
        sys.exit(f"compare_senders.py: {problem}")
