# SPDX-License-Identifier: Apache-2.0
"""Other monitors on the same link, one after the other, each with other options drawn from a seed, that come and go
while the one under test stays."""

import json
import signal
import subprocess
import threading
import time

import account
from stepped_clock import SteppedClock, is_there

CHOICES = (
    (
        "--columns",
        (
            "+gap_mean,gap_p99",
            "+iat_mean,iat_sd,iat_p50",
            "+all",
            "+tcp",
            "+size_p99,first_sizes_8",
            "+rate,duration,tcp_flags,end_reason",
            "+community_id,identity",
        ),
    ),
    (
        "--tasks",
        (
            None,
            "heavy-hitters,entropy",
            "superspreaders,scans,floods,victims,change",
            "beacons,new-hosts,outages",
            "hierarchical-heavy-hitters,microbursts,bursty",
            "retransmissions,lost-segments,zero-windows",
        ),
    ),
    ("--threads", (None, "pipeline")),
    ("--workers", ("1", "2")),
    ("--key", (None, "src-dst", "src", "dst")),
    ("--identity", (None, None, "fingerprint")),
    ("--quantiles", (None, "p2")),
    ("--flows", ("4Ki", "16Ki", "64Ki")),
    ("--idle", (None, "1s", "10s")),
    ("--active", (None, "5s")),
    ("--every", (None, "1s", "5s")),
    ("--spool", ("8M", "64M")),
    ("--window", ("100ms", "1s", "5s")),
    ("--flood-filter", (None, "128")),
)
REFUSED = 2
YOUNG_S = 5
REST_S = 10, 90
CLOCKED = 0.3  # of them
FLAGS = "--biflow", "--inner", "--busy-poll"


def draw(random):
    """Options of one of them."""
    options = [
        word for name, values in CHOICES if (value := random.choice(values)) is not None for word in (name, value)
    ]
    options += [flag for flag in FLAGS[:2] if random.random() < 0.25]
    return options + (random.choice((["udp port 53"], ["tcp"], ["ip6"])) if random.random() < 0.2 else [])


class Visitors(threading.Thread):
    def __init__(self, parshall, link, folder, random, tell, counters, seconds=(15, 120)):
        super().__init__(name="visitors", daemon=True)
        self._parshall, self._link, self._folder, self._random, self._tell, self._counters = (
            parshall,
            link,
            folder,
            random,
            tell,
            counters,
        )
        self._seconds = seconds
        self._ending = threading.Event()
        self.broken, self.runs, self.refused = [], 0, 0
        folder.mkdir()

    def run(self):
        while not self._ending.wait(self._random.uniform(*REST_S)):
            self._one(draw(self._random), self._random.uniform(*self._seconds))

    def stop(self):
        self._ending.set()

    def _one(self, options, seconds):
        exports = [
            word
            for kind in ("csv", "parquet", "ipfix")
            for word in ("--export", f"{kind}:{self._folder / (kind + str(self.runs))}")
        ]
        clock = SteppedClock(self._folder / "clock") if is_there() and self._random.random() < CLOCKED else None
        source = (
            [
                "vdev:net_af_packet0,iface=tap0,framecnt=16384,framesz=2048,blocksz=65536",
                "--workers",
                "1",
                "--threads",
                "run-to-completion",
            ]
            if clock
            else ["tap0", "--descriptors", "32768"]
        )
        command = [
            "nice",
            "-n",
            "5",
            self._parshall,
            "watch",
            "-q",
            "-i",
            *source,
            "--format",
            "json",
            "--top",
            "1",
            *exports,
        ]
        named = dict(zip(source, source[1:]))
        command += [
            word for at, word in enumerate(options) if word not in named and (at == 0 or options[at - 1] not in named)
        ]  # its own win
        if clock:
            command = clock.command(*command)
        begins = self._counters()["tap0_rx_packets"]
        began = time.monotonic()
        process = subprocess.Popen(
            self._link.inside(*command),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        report = threading.Thread(target=lambda: said.extend(process.communicate()))
        said, forced = [], False
        report.start()
        self._wait(process, seconds, clock)
        process.send_signal(signal.SIGINT)
        report.join(60)
        if report.is_alive():
            forced = True
            process.kill()
            report.join()
        out, err = said
        if process.returncode == REFUSED:  # options that do not go together: the next ones, then
            self.refused += 1
            return
        if self._ending.is_set() and time.monotonic() < began + YOUNG_S:
            return  # it may not have begun to listen
        came = self._counters()["tap0_rx_packets"] - begins
        self.runs += 1
        facts = {}
        wrong = ["it did not end within 60 s"] if forced else self._check(options, out, process.returncode, came, facts)
        self.broken += [f"visitor {self.runs}: {sentence}" for sentence in wrong]
        self._tell(
            "visitor",
            options=options,
            seconds=round(seconds, 1),
            steps=clock.steps if clock else None,
            status=process.returncode,
            said=err[-600:],
            wrong=wrong,
            came=came,
            **facts,
        )

    def _wait(self, process, seconds, clock):
        """So long, unless it ends by itself or all is to end."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and process.poll() is None and not self._ending.wait(0.5):
            if clock and self._random.random() < 0.05:
                self._tell("disturbance", of="clock", step_s=clock.step(self._random), ahead_s=clock.ahead_s)

    def _check(self, options, out, status, came, facts):
        wrong = [] if status == 0 else [f"exit status {status}"]
        try:
            summary = json.loads(out.splitlines()[-1] if "--every" in options else out)["summary"]
        except (ValueError, IndexError, KeyError):
            return wrong + ["no report"]
        facts |= {name: summary["accounting"][name] for name in ("offered", "counted", "nic_missed")} | {
            "packet_time_s": round(((summary["last_seen_ns"] or 0) - (summary["first_seen_ns"] or 0)) / 1e9, 1)
        }
        wrong += account.of_summary(summary)
        if summary["accounting"]["offered"] > came:
            wrong.append(f"{summary['accounting']['offered']} packets offered, the kernel had {came}")
        for kind in ("parquet", "ipfix"):
            target = self._folder / f"{kind}{self.runs - 1}"
            done = subprocess.run([self._parshall, "verify", str(target)], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                wrong.append(f"verify {kind}: status {done.returncode}: {(done.stdout + done.stderr)[-300:]}")
            subprocess.run(["rm", "-rf", str(target)], check=False)
        (self._folder / f"csv{self.runs - 1}").unlink(missing_ok=True)
        return wrong
