# SPDX-License-Identifier: Apache-2.0
"""Clients and a server with a router in between, and `parshall watch` at the router: throughput of all flows, and of
one."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import network

CLIENTS = (1, 2, 4, 10, 40, 100, 400, 1000)
UNWATCHED = (1, 100, 1000)  # also without a monitor: what that costs
SECONDS, PORT = 2, 7777
REST_SECONDS = 1.2  # before each run: else it would find the ports of the last one in TIME_WAIT
MOST = 60000  # connections of a run: fewer than there are ports, so that each is a flow of its own
WATCH = ["-i", "server0", "tcp", "--flows", "256Ki", "--descriptors", "16384"]
COMMANDS = (
    f"parshall test echo-server, parshall test echo-clients --connect SERVER:{PORT} --clients N --duration {SECONDS}s "
    f"--count {MOST}, and at the "
    f"router between them parshall watch {' '.join(WATCH)}"
)


def version():
    """What its figures depend on beside parshall."""
    return "".join(pathlib.Path(module).read_text() for module in (__file__, network.__file__))


def cpu_seconds(process):
    """User and system time so far, of all its threads."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Watching:
    """`parshall watch` at the router, from when it reads its device on."""

    def __init__(self, net, parshall, *arguments):
        self._folder = tempfile.TemporaryDirectory(prefix="parshall-watch-")
        self._file = self._folder.name + "/report.json"
        self.process = net.start(
            "router",
            parshall,
            "watch",
            *(arguments or WATCH),
            "--format",
            "json",
            "-o",
            self._file,
            stderr=subprocess.PIPE,
        )
        said = self.process.stderr.readline()
        if " MB for " not in said:
            self.end()
            raise RuntimeError("parshall watch does not begin: " + said)
        self._before = cpu_seconds(self.process)

    def report(self):
        """What it saw, and the CPU time that it took."""
        time.sleep(0.3)  # the last connections close by themselves
        cpu_s = cpu_seconds(self.process) - self._before
        self.process.send_signal(signal.SIGINT)
        try:
            _, errors = self.process.communicate(timeout=60)
            if self.process.returncode != 0:
                raise RuntimeError(f"parshall watch ended with {self.process.returncode}: {errors}")
            return json.loads(pathlib.Path(self._file).read_text()), cpu_s
        finally:
            self.end()

    def end(self):
        self.process.kill()
        self.process.wait()
        self._folder.cleanup()


class Server:
    """`parshall test echo-server`, as a context."""

    def __init__(self, net, parshall, address="0.0.0.0"):
        self.process = net.start(
            "server",
            parshall,
            "test",
            "echo-server",
            "--listen",
            f"{address}:{PORT}",
            "--format",
            "json",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.report = None

    def __enter__(self):
        said = self.process.stderr.readline()
        if "listening" not in said:
            self.process.kill()
            raise RuntimeError("parshall test echo-server does not begin: " + said)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        try:
            told, _ = self.process.communicate(timeout=30)
            self.report = json.loads(told)
        finally:
            self.process.kill()


def clients(net, parshall, number, *arguments, address=network.RoutedNetwork.SERVER[4]):
    """The report of `parshall test echo-clients`."""
    running = net.start(
        "client",
        parshall,
        "test",
        "echo-clients",
        "--connect",
        f"{address}:{PORT}",
        "--clients",
        number,
        "--format",
        "json",
        *(arguments or ("--duration", f"{SECONDS}s", "--count", MOST)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        told, errors = running.communicate(timeout=60)
    finally:
        running.kill()
    if running.returncode != 0:
        raise RuntimeError(f"parshall test echo-clients ended with {running.returncode}: {errors}")
    return json.loads(told)


def seen(report, cpu_s):
    """Of a report of watch: a flow is one direction of a connection. Its throughput is that of the time from its first
    packet to its last; times are those of bursts, so that the mean of all flows can be told where a single flow's
    cannot."""
    summary, flows = report["summary"], report["flows"]
    elapsed_s = (summary["last_seen_ns"] - summary["first_seen_ns"]) / 1e9
    flow_s = sum(flow["last_seen_ns"] - flow["first_seen_ns"] for flow in flows) / 1e9
    bits = 8 * summary["wire_bytes"]
    accounting = summary["accounting"]
    return {
        "total_mbps": bits / elapsed_s / 1e6,
        "flow_mbps": bits / flow_s / 1e6 if flow_s else None,
        "packets": accounting["offered"],
        "missed": accounting["nic_missed"],
        "connections_seen": len(flows) / 2,
        "watch_percent": 100 * cpu_s / elapsed_s,
        "watch_ns": 1e9 * cpu_s / max(accounting["counted"], 1),
    }


def counted_alike(told, watched):
    """What was seen, with how many connections log and monitor differ by; None where packets were missed, so that they
    may differ."""
    differ = abs(told["connections"] - watched["connections_seen"])
    return {**watched, "miscounted": None if watched["missed"] else differ}


def one(net, parshall, number, is_watched):
    time.sleep(REST_SECONDS)
    watching = Watching(net, parshall) if is_watched else None
    try:
        report = clients(net, parshall, number)
        told = {
            "row": "watched" if is_watched else "alone",
            "clients": number,
            "connections": report["finished"],
            "failed": report["failed"]["total"],
            "per_s": report["connections_per_s"],
            "ports_skipped": report["ports_skipped"],
            "fairness": report["fairness"],
            "p50_us": report["connection"]["p50_ns"] / 1e3,
            "p99_us": report["connection"]["p99_ns"] / 1e3,
        }
        return {**told, **counted_alike(told, seen(*watching.report()))} if watching else told
    finally:
        if watching:
            watching.end()


def measure(parshall, path):
    """One document; without rows where there can be no namespaces."""
    missing, load = network.why_not(), pathlib.Path("/proc/loadavg").read_text()
    ways = [(number, True) for number in CLIENTS] + [(number, False) for number in UNWATCHED]
    rows = []
    if missing is None:
        with network.RoutedNetwork() as net, Server(net, parshall):
            rows = [one(net, parshall, *way) for way in ways]
    machine = {"load": " ".join(load.split()[:3])}
    path.write_text(
        json.dumps({"experiment": "closed-loop", "machine": machine, "missing": missing, "rows": rows}) + "\n",
        encoding="utf-8",
    )
