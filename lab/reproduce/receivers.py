# SPDX-License-Identifier: Apache-2.0
"""What else reads packets, beside parshall: each reads the same capture file, in turns, and its CPU time is taken."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

import devices

ROUNDS, REPEATS = (
    5,
    30,
)  # of the capture, one behind the other: what a program takes to begin has to be little beside it
# name: (program, arguments before and after the capture's; {folder} is one that goes)
OTHERS = {
    "packets, tcpdump": ("tcpdump", ["-w", "/dev/null", "-r"], []),
    "flows, nfpcapd": ("nfpcapd", ["-w", "{folder}", "-r"], []),
    "flows, suricata": ("suricata", ["-S", "/dev/null", "--runmode", "single", "-l", "{folder}", "-r"], []),
}
OURS = {"flows, parshall": [], "flows and p99 gap, parshall": ["--columns", "+gap_p99"]}
COMMANDS = (
    "tcpdump -w /dev/null -r, nfpcapd -w FOLDER -r, suricata -S /dev/null --runmode single -l FOLDER -r, "
    "parshall watch -q --top 1 -r"
)


def version():
    return f"{pathlib.Path(__file__).read_text()} {[shutil.which(program) for program, _, _ in OTHERS.values()]}"


def repeated(path, times):
    """A capture of several times the packets of another, whose header is 24 bytes; returns their number."""
    data = path.read_bytes()
    with open(path, "ab") as file:
        for _ in range(times - 1):
            file.write(data[24:])
    return times * devices.FLOWS


def cpu_seconds(command):
    """User and system time of a program that has to succeed."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with process.stderr:
        errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {errors.decode(errors='replace')[-300:]}")
    return usage.ru_utime + usage.ru_stime


def measure(parshall, path):
    samples = {}
    with tempfile.TemporaryDirectory() as folder:
        capture = pathlib.Path(folder) / "uniform.pcap"
        devices.write_capture(capture, "uniform")
        packets = repeated(capture, REPEATS)
        commands = {
            name: [parshall, "watch", "-q", "--flows", str(2 * devices.FLOWS), "--top", "1", *more, "-r", str(capture)]
            for name, more in OURS.items()
        }
        for name, (program, before, after) in OTHERS.items():
            if shutil.which(program):
                commands[name] = [program, *before, str(capture), *after]
        for _ in range(ROUNDS):
            for name, command in commands.items():
                with tempfile.TemporaryDirectory() as written:
                    samples.setdefault(name, []).append(
                        packets / cpu_seconds([word.format(folder=written) for word in command]) / 1e6
                    )
    rows = [
        {
            "row": name,
            "interval_of": "RUNS",
            "mpps_cpu": statistics.median(rates),
            "low_mpps_cpu": min(rates),
            "high_mpps_cpu": max(rates),
        }
        for name, rates in samples.items()
    ]
    path.write_text(json.dumps({"experiment": "receivers", "rows": rows}) + "\n", encoding="utf-8")
