# SPDX-License-Identifier: Apache-2.0
"""One soak: everything started, a sample each second, and at the end all that is needed for a report, in a folder."""

import contextlib
import json
import pathlib
import random
import signal
import subprocess
import threading
import time

import account
import network
import process
import stepped_clock
from collectors import TcpCollector, UdpCollector
from disturbances import Disturbances
from monitor import PORTS, Configuration, Monitor
from visitors import Visitors

import web
from traffic import Pieces, Sender, captures_in

DISK_MB = 400
SETTLE_S = 3
SLOW_EVERY_S = 10  # what takes some milliseconds: maps of memory, metrics
MAPPINGS_EVERY_S = 300


class Journal:
    """events.jsonl and samples.jsonl, with times in seconds since the start."""

    def __init__(self, folder):
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._events = open(folder / "events.jsonl", "w", encoding="utf-8", buffering=1)
        self._samples = open(folder / "samples.jsonl", "w", encoding="utf-8", buffering=1)

    def now(self):
        return round(time.monotonic() - self._began, 3)

    def tell(self, what, **more):
        with self._lock:
            self._events.write(json.dumps({"t": self.now(), "what": what} | more) + "\n")

    def sample(self, numbers):
        with self._lock:
            self._samples.write(json.dumps(numbers) + "\n")


class Sampler:
    """What is written down each second: the process, the kernel's counters, and the account of the latest state,
    checked."""

    def __init__(self, link, monitor, disk, counters, journal):
        self._link, self._monitor, self._disk, self._counters, self._journal = link, monitor, disk, counters, journal
        self._last_account, self._last_report = None, None
        self._next_slow, self._next_mappings = 0.0, 0.0

    def sample(self):
        numbers = {"t": self._journal.now()} | self._counters()
        try:
            state = web.state(self._link, PORTS["web"])
        except (OSError, ValueError) as error:
            state, numbers["no_state"] = None, f"{type(error).__name__}: {error}"
        numbers |= process.sample(self._monitor.pid, self._monitor.spool)
        if self._due():
            numbers["heap_kb"] = process.heap_kb(self._monitor.pid)
            self._check_metrics(numbers)
        if time.monotonic() >= self._next_mappings:
            self._next_mappings = time.monotonic() + MAPPINGS_EVERY_S
            self._journal.tell("mappings", resident=process.mappings_kb(self._monitor.pid))
        numbers["disk_bytes"] = process.folder_bytes(self._disk.folder)
        if state:
            numbers |= self._of_state(state)
        self._journal.sample(numbers)

    def _due(self):
        now = time.monotonic()
        if now < self._next_slow:
            return False
        self._next_slow = now + SLOW_EVERY_S
        return True

    def _check_metrics(self, numbers):
        try:
            wrong = account.of_metrics(web.metrics(self._link, PORTS["prometheus"]))
        except (OSError, ValueError) as error:
            numbers["no_metrics"] = f"{type(error).__name__}: {error}"
            return
        numbers["metrics_wrong"] = len(wrong)
        if wrong:
            self._journal.tell("wrong metrics", sentences=wrong)

    def _of_state(self, state):
        summary = state["summary"]
        wrong = account.of_summary(summary)
        if self._last_account:
            wrong += account.of_growth(self._last_account, summary["accounting"])
        if wrong:
            self._journal.tell("wrong", sentences=wrong, summary=summary)
        is_new = summary["report"] != self._last_report
        self._last_account, self._last_report = summary["accounting"], summary["report"]
        outputs = {}
        for output in summary["outputs"]:
            kind = output["name"].split("://")[0] if "://" in output["name"] else output["name"].split(":")[0]
            total = outputs.setdefault(kind, {})
            for part in ("offered", "written", "waiting", "dropped"):
                total[part] = total.get(part, 0) + output[part]["records"]
        flat = {name: value for name, value in summary["accounting"].items() if name != "malformed"} | {
            "malformed": sum(summary["accounting"]["malformed"].values())
        }
        return {
            "report": summary["report"],
            "new_state": is_new,
            "wrong": len(wrong),
            "account": flat,
            "live_flows": summary["live_flows"],
            "evicted_records": summary["evicted_records"],
            "dropped_records": summary["dropped_records"],
            "busy": [worker["busy_share"] for worker in summary["workers"]],
            "outputs": outputs,
            "output_count": len(summary["outputs"]),
        }


def soak(parshall, folder, hours, seed, kpps, captures, visits=True):
    """Runs until the time is over or Ctrl-C; the folder has what `report` takes."""
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True)
    draw = random.Random(seed)
    journal = Journal(folder)
    facts = {
        "parshall": subprocess.run([parshall, "--version"], capture_output=True, text=True, check=True).stdout.strip(),
        "hours": hours,
        "seed": seed,
        "kpps": kpps,
        "captures": len(captures_in(captures)),
        "steps_clock": stepped_clock.is_there(),
        "began": time.strftime("%Y-%m-%d %H:%M:%S %Z"),
    }
    with contextlib.ExitStack() as stack:
        link = stack.enter_context(network.Link(mtu=9000))
        disk = stack.enter_context(network.Disk(folder / "disk", DISK_MB))
        counters = stack.enter_context(link.counters())
        collectors = [
            UdpCollector("ipfix udp", link, PORTS["ipfix udp"]),
            TcpCollector("ipfix tcp", link, PORTS["ipfix tcp"]),
            UdpCollector("netflow9", link, PORTS["netflow9"]),
        ]
        configuration = Configuration(folder / "watch.toml", disk.folder)
        configuration.write()
        at_start = counters()
        monitor = Monitor(parshall, link, configuration, folder, journal.tell)
        stack.callback(lambda: monitor.process.poll() is None and monitor.process.kill())
        if not monitor.wait_for(" at most "):
            raise RuntimeError("the monitor does not start:\n" + "\n".join(monitor.said))
        facts["command"], facts["pid"] = monitor.command, monitor.pid
        (folder / "facts.json").write_text(json.dumps(facts))
        sampler = Sampler(link, monitor, disk, counters, journal)
        sender = Sender(parshall, link, Pieces(random.Random(draw.random()), captures_in(captures), kpps), journal.tell)
        disturbances = Disturbances(
            parshall, link, monitor, configuration, disk, collectors, random.Random(draw.random()), journal.tell
        )
        visitors = Visitors(parshall, link, folder / "visitors", random.Random(draw.random()), journal.tell, counters)
        threads = [sender, disturbances] + ([visitors] if visits else [])
        for thread in threads:
            thread.start()
        _sample_until(journal, sampler, monitor, hours * 3600)
        for thread in threads:
            thread.stop()
        for thread in threads:
            thread.join()
        link.set_link("up")
        disk.free()
        for collector in collectors:
            collector.go_on()
        time.sleep(SETTLE_S)
        journal.tell("ends")
        status = monitor.end()
        time.sleep(1)
        for collector in collectors:
            collector.stop()
        disturbances.read_rotated(configuration.number)
        parquet = subprocess.run(
            [parshall, "verify", str(disk.folder / "parquet")], capture_output=True, text=True, check=False
        )
        ends = {
            "status": status,
            "said": len(monitor.said),
            "counters_before": at_start,
            "counters_after": counters(),
            "sent": sender.sent,
            "pieces": sender.pieces,
            "pieces_failed": sender.failed,
            "broken": disturbances.broken + visitors.broken,
            "visitors": visitors.runs,
            "visitors_refused": visitors.refused,
            "collectors": {collector.name: collector.numbers() for collector in collectors},
            "parquet": {"status": parquet.returncode, "said": parquet.stdout[-1500:] + parquet.stderr[-1500:]},
            "ended": time.strftime("%Y-%m-%d %H:%M:%S %Z"),
        }
        with contextlib.suppress(OSError, ValueError):
            ends["summary"] = json.loads(monitor.report.read_text())["summary"]
        (folder / "ends.json").write_text(json.dumps(ends))
    return folder


def _sample_until(journal, sampler, monitor, seconds):
    stop = threading.Event()
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda *_: stop.set())
    next_s = 0.0
    while not stop.is_set() and journal.now() < seconds:
        next_s = max(next_s + 1, journal.now())
        stop.wait(max(0, next_s - journal.now()))
        if monitor.process.poll() is not None:
            journal.tell("died", status=monitor.process.returncode)
            return
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            sampler.sample()
