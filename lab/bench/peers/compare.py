#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many packets per CPU-second does parshall account for, next to the flow exporters deployed today?

Each tool reads the same capture files (make_captures.py) and writes its flows the way its users have it do: parshall
CSV, nfpcapd nfcapd files, softflowd IPFIX to a local UDP socket, argus an argus file, NFStream CSV (asked for by
--tools: it takes minutes). Start-up and output count.
The unit is packets per CPU-second: user plus system time of the tool's process tree, all of it on one core, so a
loaded machine disturbs it less than wall time. Every round runs each tool once; medians and ranges over the rounds.

System time is shown apart: on a virtual machine the first touch of memory can cost several times more in one run
than in the next (it depends on what ran before), and a tool that fills much memory at start-up shows it most.

It reads files: the cost of the flow path per packet, not a loss-free capture rate. The peers run in their default
set-up but for softflowd, given -m 2000000: its default of 8,192 flows would emit partial records by the million.

Every answer is checked against the truth of the capture, parshall's in every round and flow by flow.
Exit status: 0 done, 1 an answer of parshall's is wrong or it failed, 2 wrong usage.
"""

import argparse
import csv
import importlib.util
import os
import re
import shlex
import shutil
import socket
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import make_captures

CHECK_PACKETS = 50_000


@dataclass
class Job:
    """One run of a tool: what it reads, the empty folder it may write to, the port that exports go to."""

    capture: str
    folder: Path
    sink_port: int

    @property
    def log(self):
        return self.folder / "log"


@dataclass
class Answer:
    """What a tool said it saw; None where that was not read. The names say which truth each is held against."""

    flows: int | None = None
    conversations: int | None = None
    packets: int | None = None
    ip_bytes: int | None = None
    frame_bytes: int | None = None
    flow_digest: str | None = None

    def against(self, truth):
        """(right, sentence)"""
        said = {name: value for name, value in vars(self).items() if value is not None}
        wrong = [
            f"{name} {show(value)}, not {show(truth[name])}" for name, value in said.items() if value != truth[name]
        ]
        exact = [name for name in said if name not in (sentence.split()[0] for sentence in wrong)]
        return not wrong, "; ".join(wrong + ([f"exact: {', '.join(exact)}"] if exact else [])) or "not read"


@dataclass
class Tool:
    name: str
    program: str
    package: str
    command: Callable[[Job], list]
    answer: Callable[[Job], Answer]


@dataclass
class Result:
    packets_per_cpu_second: list = field(default_factory=list)
    user_seconds: list = field(default_factory=list)
    system_seconds: list = field(default_factory=list)
    sentence: str = ""
    wrong: bool = False


def show(value):
    return f"{value:,}" if isinstance(value, int) else str(value)


def output_of(command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def numbers(pattern, text):
    return [int(found) for found in re.findall(pattern, text, re.MULTILINE)]


def parshall_answer(job):
    """Sums over the CSV of flows, and a digest that holds only if every flow's counts are exact."""
    answer = Answer(flows=0, packets=0, ip_bytes=0)
    wanted = ("protocol", "src_ip", "src_port", "dst_ip", "dst_port", "packets", "ip_bytes")

    def flows(file):
        header = next(file, "").rstrip("\r\n").split(",")
        columns = [header.index(name) for name in wanted]
        for line in file:
            cells = line.rstrip("\r\n").split(",")
            flow = [cells[column] for column in columns]
            answer.flows += 1
            answer.packets += int(flow[5])
            answer.ip_bytes += int(flow[6])
            yield flow

    with open(job.folder / "flows.csv", encoding="utf-8") as file:
        answer.flow_digest = make_captures.flow_digest(flows(file))
    return answer


def nfpcapd_answer(job):
    if not shutil.which("nfdump"):
        return Answer()
    totals = output_of(["nfdump", "-R", str(job.folder / "nfcapd"), "-I"])
    return Answer(
        flows=sum(numbers(r"^Flows: (\d+)", totals)),
        packets=sum(numbers(r"^Packets: (\d+)", totals)),
        ip_bytes=sum(numbers(r"^Bytes: (\d+)", totals)),
    )


def softflowd_answer(job):
    """Its own closing statistics; the exports themselves are not read back."""
    said = job.log.read_text(errors="replace")
    return Answer(
        conversations=sum(numbers(r"^Flows expired: (\d+)", said)),
        packets=sum(numbers(r"^Packets processed: (\d+)", said)),
        ip_bytes=sum(numbers(r"^ +\w+ \(\d+\): +(\d+) +\d+ ", said)),
    )


def argus_answer(job):
    if not shutil.which("racount"):
        return Answer()
    sums = numbers(
        r"(\d+)",
        "".join(re.findall(r"^ *sum(.*)$", output_of(["racount", "-r", str(job.folder / "argus")]), re.MULTILINE)),
    )
    if len(sums) < 5:
        return Answer()
    # The first record of an argus file describes the sensor, not a flow.
    return Answer(conversations=sums[0] - 1, packets=sums[1], frame_bytes=sums[4])


def nfstream_answer(job):
    answer = Answer(conversations=0, packets=0, frame_bytes=0)
    with open(job.folder / "flows.csv", encoding="utf-8", newline="") as file:
        for flow in csv.DictReader(file):
            answer.conversations += 1
            answer.packets += int(flow["bidirectional_packets"])
            answer.frame_bytes += int(flow["bidirectional_bytes"])
    return answer


def tools(parshall, parshall_arguments):
    def nfpcapd_command(job):
        flows = job.folder / "nfcapd"
        flows.mkdir()
        return ["nfpcapd", "-r", job.capture, "-w", str(flows)]

    return [
        Tool(
            "parshall",
            parshall,
            "ninja -C build",
            lambda job: [
                parshall,
                "watch",
                "-r",
                job.capture,
                "--format",
                "csv",
                "--output",
                str(job.folder / "flows.csv"),
                *parshall_arguments,
            ],
            parshall_answer,
        ),
        Tool("nfpcapd", "nfpcapd", "apt-get install nfdump", nfpcapd_command, nfpcapd_answer),
        # Without "-c none" softflowd 1.1.0, reading a file, may block for ever accepting on its control socket.
        Tool(
            "softflowd",
            "softflowd",
            "apt-get install softflowd",
            lambda job: [
                "softflowd",
                "-r",
                job.capture,
                "-n",
                f"127.0.0.1:{job.sink_port}",
                "-v",
                "10",
                "-b",
                "-m",
                "2000000",
                "-d",
                "-p",
                str(job.folder / "pid"),
                "-c",
                "none",
            ],
            softflowd_answer,
        ),
        Tool(
            "argus",
            "argus",
            "apt-get install argus-server",
            lambda job: ["argus", "-X", "-r", job.capture, "-w", str(job.folder / "argus")],
            argus_answer,
        ),
        Tool(
            "nfstream",
            sys.executable if importlib.util.find_spec("nfstream") else "nfstream",
            "pip install nfstream",
            lambda job: [
                sys.executable,
                str(Path(__file__).parent / "nfstream_flows.py"),
                job.capture,
                str(job.folder / "flows.csv"),
            ],
            nfstream_answer,
        ),
    ]


def cpu_seconds_of(command, core, log, timeout_seconds):
    """Exit status, user and system seconds of a command and the children it waited for, pinned to one core."""
    # No preexec_fn to pin: a fork of this interpreter would be charged to the tool.
    allowed = os.sched_getaffinity(0)
    with open(log, "wb") as output:
        os.sched_setaffinity(0, {core})  # inherited by the child
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        finally:
            os.sched_setaffinity(0, allowed)
    watchdog = threading.Timer(timeout_seconds, lambda: os.kill(process.pid, 9))
    watchdog.start()
    _, status, usage = os.wait4(process.pid, 0)
    watchdog.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime, usage.ru_stime


def run_once(tool, capture, truth, options, sink_port, result, check):
    folder = Path(options.work_dir) / f"run-{os.getpid()}"
    folder.mkdir(parents=True)
    try:
        job = Job(capture, folder, sink_port)
        status, user, system = cpu_seconds_of(tool.command(job), options.core, job.log, options.timeout)
        if status != 0:
            last = job.log.read_text(errors="replace").strip().splitlines()[-1:]
            result.wrong, result.sentence = True, f"FAILED with status {status}: {' '.join(last)}"
            return
        if check and not result.wrong:
            try:
                right, result.sentence = tool.answer(job).against(truth)
            except (OSError, ValueError, IndexError) as problem:
                right, result.sentence = False, f"unreadable answer: {problem}"
            result.wrong = not right
        result.user_seconds.append(user)
        result.system_seconds.append(system)
        result.packets_per_cpu_second.append(truth["packets"] / max(user + system, 1e-3))
    finally:
        shutil.rmtree(folder)


def warm_page_cache(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 22):
            pass


def machine_line():
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        "unknown CPU",
    )
    return f"{model}, {os.cpu_count()} cores, load {' '.join(f'{load:.2f}' for load in os.getloadavg())}"


def answers_table(results, names):
    lines = ["| capture | tool | answer |", "|---|---|---|"]
    lines += [f"| {capture} | {name} | {results[capture][name].sentence} |" for capture in results for name in names]
    return "\n".join(lines)


def table(results, names):
    """Markdown, one line per capture and tool."""
    lines = [
        "| capture | tool | M packets per CPU-second | min..max | user + system seconds | parshall is | answer |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for capture in results:
        ours = results[capture].get("parshall", Result()).packets_per_cpu_second
        for name in names:
            result = results[capture][name]
            rates = [rate / 1e6 for rate in result.packets_per_cpu_second]
            if not rates:
                lines.append(f"| {capture} | {name} | - | - | - | - | {result.sentence} |")
                continue
            median = statistics.median(rates)
            ratio = f"{statistics.median(ours) / 1e6 / median:.1f}x" if ours and name != "parshall" else "-"
            lines.append(
                f"| {capture} | {name} | {median:.2f} | {min(rates):.2f}..{max(rates):.2f} | "
                f"{statistics.median(result.user_seconds):.2f} + "
                f"{statistics.median(result.system_seconds):.2f} | {ratio} | {result.sentence} |"
            )
    return "\n".join(lines)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parshall", default="./build/parshall", help="path of the binary (%(default)s)")
    parser.add_argument("--parshall-args", default="", help="further options for parshall watch, as one string")
    parser.add_argument("--tools", default="parshall,nfpcapd,softflowd,argus", help="which to run (%(default)s)")
    parser.add_argument("--captures", default=",".join(make_captures.MAKERS), help="which to read (%(default)s)")
    parser.add_argument("-n", "--repetitions", type=int, default=5)
    parser.add_argument("--packets", type=int, default=5_000_000, help="per capture (mix: about a third of it)")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="core to pin to (%(default)s)")
    parser.add_argument("--timeout", type=float, default=600, help="seconds of wall time per run (%(default)s)")
    parser.add_argument("--work-dir", default="/tmp/parshall-peers", help="captures are kept there (%(default)s)")
    parser.add_argument("--check", action="store_true", help="only correctness: small captures, one repetition")
    options = parser.parse_args()
    options.tools = options.tools.split(",")
    options.captures = options.captures.split(",")
    if options.check:
        options.repetitions, options.packets = 1, min(options.packets, CHECK_PACKETS)
    if options.repetitions < 1 or options.packets < 5:
        parser.error("--repetitions must be 1 or more, --packets 5 or more")
    if options.core not in os.sched_getaffinity(0):
        parser.error(f"--core {options.core} is not available here")
    if unknown := set(options.captures) - set(make_captures.MAKERS):
        parser.error(f"no such capture: {', '.join(sorted(unknown))}")
    known = tools(os.path.abspath(options.parshall), shlex.split(options.parshall_args))
    if unknown := set(options.tools) - {tool.name for tool in known}:
        parser.error(f"no such tool: {', '.join(sorted(unknown))}")
    chosen = [tool for tool in known if tool.name in options.tools]
    if "parshall" in options.tools and not shutil.which(os.path.abspath(options.parshall)):
        parser.error(f"{options.parshall} is not there: build it, give --parshall, or leave it out of --tools")
    return options, chosen


def main():
    options, chosen = parse_options()
    present = []
    for tool in chosen:
        if shutil.which(tool.program):
            present.append(tool)
        else:
            print(f"SKIPPED: {tool.name} is not installed ({tool.package})")
    captures = {
        name: make_captures.ensure_capture(options.work_dir, name, options.packets, seed=1) for name in options.captures
    }
    machine = machine_line()
    results = {name: {tool.name: Result() for tool in present} for name in captures}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink:  # bound, never read: the kernel drops what it gets
        sink.bind(("127.0.0.1", 0))
        for name, (path, truth) in captures.items():
            warm_page_cache(path)
            for repetition in range(options.repetitions):
                for tool in present:
                    check = repetition == 0 or tool.name == "parshall"
                    run_once(tool, path, truth, options, sink.getsockname()[1], results[name][tool.name], check)
    print((answers_table if options.check else table)(results, [tool.name for tool in present]))
    print(
        f"\n{machine}; core {options.core}, {options.repetitions} rounds, medians; load after {os.getloadavg()[0]:.2f}"
    )
    wrong = [name for name in results if results[name].get("parshall", Result()).wrong]
    if wrong:
        print(f"parshall is WRONG on: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
