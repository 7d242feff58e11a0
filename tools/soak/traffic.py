# SPDX-License-Identifier: Apache-2.0
"""Traffic of a run: pieces of some seconds, one after the other, drawn from a seed."""

import json
import pathlib
import subprocess
import threading
import time

CAPTURE_BYTES = 1 << 10, 4 << 20
PACKETS = 150_000  # in memory: no piece has more, but for the first
FILLS = ("fill", 2, 75, 7), ("fill at once", 1, 150, 1)  # packets of a flow, kpps, seconds


class Pieces:
    """What is sent, piece by piece: (name, options of `parshall send`, seconds); no options: silence."""

    def __init__(self, random, captures, kpps):
        self._random, self._files, self._kpps = random, captures, kpps

    def first(self):
        """So that whatever grows with traffic is as large as it gets before somebody looks at what grows: more flows
        within an idle timeout than the table has room for, of packets enough for each statistic, then more of them in a
        second than any later piece has."""
        return [
            self._traffic(name, f"flows=2000,dist=trains:{each}", kpps, seconds, 1000 * kpps * seconds)
            for name, each, kpps, seconds in FILLS
        ]

    def draw(self):
        kinds = (
            ["mix"] * 6
            + ["capture"] * (4 if self._files else 0)
            + ["syn flood", "many flows", "many flows", "silence", "rest"]
        )
        return getattr(self, "_" + self._random.choice(kinds).replace(" ", "_"))()

    def _traffic(self, name, text, kpps, seconds, most=PACKETS):
        count = f"packets={min(most, int(kpps * 1000 * seconds))},seed={self._random.randrange(1 << 32)}"
        return (
            name,
            ["-g", f"{text},{count}", "--rate", f"{kpps:.1f}kpps", *self._bursts(kpps), "--duration", f"{seconds}s"],
            seconds,
        )

    def _bursts(self, kpps):
        """At once, with pauses: a thread that waits for single packets takes a core, which others want."""
        return ["--burst", str(self._random.choice((100, 400, 1000)))] if kpps >= 1 else []

    def _mix(self):
        draw = self._random
        dist = draw.choice(("uniform", "zipf:1.1", "zipf:0.8", "ladder"))
        protocol = draw.choice(("mix", "connections,resend=0.02", "sessions,resend=0.01"))
        size = (
            draw.choice(("imix", "64", "64-1514"))
            if "resend" not in protocol or "sessions" in protocol
            else draw.choice(("64", "200", "1514"))
        )
        vlan = draw.choice(("", "", ",vlan=7", ",vlan=8.9"))
        text = (
            f"flows={2 * draw.randrange(50, 10_000)},protocol={protocol},size={size}"
            f",ipv6={draw.choice((0, 0.3, 1))}"
            f"{vlan}"
        )
        return self._traffic(
            "mix",
            text if "sessions" in protocol else f"{text},dist={dist}",
            self._kpps * draw.uniform(0.2, 1),
            draw.randrange(10, 40),
        )

    def _syn_flood(self):
        return self._traffic("syn flood", "flows=2000,flood=0.9", 5 * self._kpps, self._random.randrange(2, 4))

    def _many_flows(self):
        return self._traffic(
            "many flows",
            f"flows=2000,dist=trains:{self._random.choice((1, 2, 5))}",
            4 * self._kpps,
            self._random.randrange(2, 5),
        )

    def _capture(self):
        file, seconds = self._random.choice(self._files), self._random.randrange(5, 15)
        kpps = self._kpps * self._random.uniform(0.2, 0.6)
        return (
            f"capture {file.name}",
            [
                "-r",
                str(file),
                "--loops",
                "0",
                "--fresh-flows",
                "--rate",
                f"{kpps:.1f}kpps",
                *self._bursts(kpps),
                "--duration",
                f"{seconds}s",
            ],
            seconds,
        )

    def _silence(self):
        return "silence", None, self._random.randrange(5, 25)

    def _rest(self):
        return self._traffic("a few flows", "flows=20,protocol=udp", 0.2, self._random.randrange(5, 30))


def captures_in(folder):
    """Those of a size that plays in seconds; none of no folder."""
    least, most = CAPTURE_BYTES
    return (
        sorted(
            file
            for file in pathlib.Path(folder).rglob("*.pcap*")
            if file.suffix in (".pcap", ".pcapng") and least <= file.stat().st_size <= most
        )
        if folder
        else []
    )


class Sender(threading.Thread):
    """Sends piece after piece until it is told to stop; tells of each, with what was sent and what the device
    refused."""

    def __init__(self, parshall, link, pieces, tell):
        super().__init__(name="sender", daemon=True)
        self._parshall, self._link, self._pieces, self._tell = parshall, link, pieces, tell
        self._ending = threading.Event()
        self._process = None
        self.sent = self.pieces = self.failed = 0

    def run(self):
        first = self._pieces.first()
        while not self._ending.is_set():
            name, options, seconds = first.pop(0) if first else self._pieces.draw()
            if options is None:
                self._tell("traffic", piece=name, seconds=seconds)
                self._ending.wait(seconds)
            else:
                self._send(name, options, seconds)

    def _send(self, name, options, seconds):
        command = self._link.sending(self._parshall, "send", "-q", "-i", "wire0", *options, "--format", "json")
        began = time.monotonic()
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        if self._ending.is_set():
            self._process.terminate()
        try:
            out, err = self._process.communicate(timeout=seconds + 60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            out, err = self._process.communicate()
        self.pieces += 1
        try:
            did = json.loads(out)
        except ValueError:
            self.failed += 1
            self._tell("traffic failed", piece=name, options=options, status=self._process.returncode, said=err[-400:])
            self._ending.wait(1)
            return
        self.sent += did["sent"]
        counts = {key: did[key] for key in ("taken", "sent", "refused", "too_long", "dropped") if key in did}
        self._tell("traffic", piece=name, options=options, seconds=round(time.monotonic() - began, 2), **counts)

    def stop(self):
        """From now on; `join` waits for the piece that is being sent."""
        self._ending.set()
        if self._process and self._process.poll() is None:
            self._process.terminate()
