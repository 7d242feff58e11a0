# SPDX-License-Identifier: Apache-2.0
"""What happens to a monitor while it runs: one disturbance after the other, drawn from a seed, each kind as often as
the others."""

import subprocess
import threading

import records
from monitor import PORTS, ROTATED

import web

LEAST_PAUSE_S, MOST_PAUSE_S = 5, 25


class Disturbances(threading.Thread):
    """Runs them by turns until told to stop; `tell` hears of each as it begins and as it ends."""

    def __init__(self, parshall, link, monitor, configuration, disk, collectors, random, tell):
        super().__init__(name="disturbances", daemon=True)
        self._parshall, self._link, self._monitor, self._configuration = parshall, link, monitor, configuration
        self._disk, self._collectors, self._random, self._tell = disk, collectors, random, tell
        self._ending = threading.Event()
        self.broken = []  # checks of theirs that did not hold
        self.kinds = [
            "link",
            "collector dies",
            "collector stalls",
            "disk",
            "reload",
            "rotate",
            "rotate",
            "wrong reload",
            "web stalls",
            "web crowd",
            "web garbage",
            "metrics garbage",
        ]

    def run(self):
        deck = []
        while not self._ending.wait(self._random.uniform(LEAST_PAUSE_S, MOST_PAUSE_S)):
            if not deck:
                deck = self.kinds[:]
                self._random.shuffle(deck)
            kind = deck.pop()
            try:
                getattr(self, "do_" + kind.replace(" ", "_"))(kind)
            except Exception as error:  # pylint: disable=broad-except  # of the harness: the run goes on, and fails
                self._broken(kind, f"the harness failed: {type(error).__name__}: {error}")

    def stop(self):
        self._ending.set()

    def _broken(self, kind, text):
        self.broken.append(f"{kind}: {text}")
        self._tell("broken", of=kind, text=text)

    def _pause(self, kind, least, most, **more):
        seconds = round(self._random.uniform(least, most), 2)
        self._tell("disturbance", of=kind, seconds=seconds, **more)
        self._ending.wait(seconds)
        self._tell("over", of=kind)

    def do_link(self, kind):
        self._link.set_link("down")
        self._pause(kind, 0.2, 5)
        self._link.set_link("up")

    def do_collector_dies(self, kind):
        collector = self._random.choice(self._collectors)
        collector.die()
        self._pause(kind, 2, 40, collector=collector.name)
        collector.revive()

    def do_collector_stalls(self, kind):
        collector = self._random.choice(self._collectors)
        collector.stall()
        self._pause(kind, 2, 20, collector=collector.name)
        collector.go_on()

    def do_disk(self, kind):
        filled = self._disk.fill()
        self._pause(kind, 3, 30, filled_bytes=filled)
        self._disk.free()

    def do_reload(self, kind):
        """Of the same outputs, and, half of the time, of options that take a new start: nothing may change."""
        changed = {"columns": "gap_mean", "idle": "1s"} if self._random.random() < 0.5 else {}
        self._tell("disturbance", of=kind, **changed)
        self._configuration.write(**changed)
        self._monitor.reload()

    def do_wrong_reload(self, kind):
        wrong = self._random.choice(
            (
                "[[export]]\nkind = 7\n",
                "[[export]]\nkind = \n",
                '[[export]]\nkind = "none"\ntarget = "y"\n',
                "[[[\n",
                "\x00\xff",
            )
        )
        since = len(self._monitor.said)
        self._configuration.write("\n" + wrong)
        self._monitor.reload()
        self._tell("disturbance", of=kind, wrong=wrong)
        if not self._monitor.wait_for("the old configuration remains", since):
            self._broken(kind, f"nothing was said about {wrong!r}")
        self._configuration.write()

    def do_rotate(self, kind):
        """Other files from now on; those before are read and removed."""
        since, before = len(self._monitor.said), self._configuration.number
        self._configuration.number += 1
        self._configuration.write()
        self._monitor.reload()
        self._tell("disturbance", of=kind, number=self._configuration.number)
        for name in ROTATED:
            if not self._monitor.wait_for(
                f"{self._configuration.target(name, before)} was removed as an output", since
            ):
                self._broken(kind, f"{self._configuration.target(name, before).name} did not end")
        self.read_rotated(before)

    def read_rotated(self, number):
        """Tells what is in the files of one generation, and removes them."""
        found = {}
        for name in ROTATED:
            path = self._configuration.target(name, number)
            if not path.exists():
                continue
            if name in records.READERS:
                found[name] = records.READERS[name](path)
            if name == "jsonl":
                done = subprocess.run(
                    [self._parshall, "verify", str(path)], capture_output=True, text=True, check=False
                )
                found[name] |= {"verify": done.returncode, "verify_said": (done.stdout + done.stderr)[-600:]}
            found.setdefault(name, {})["bytes"] = path.stat().st_size
            path.unlink()
        self._tell("rotated", number=number, files=found)

    def do_web_stalls(self, kind):
        clients = self._random.randrange(1, 20)
        self._tell("disturbance", of=kind, clients=clients)
        web.stall(self._link, PORTS["web"], clients, self._random.uniform(5, 30), self._ending)
        self._tell("over", of=kind)

    def do_web_crowd(self, kind):
        clients = self._random.randrange(50, 150)
        self._tell("disturbance", of=kind, clients=clients)
        web.crowd(self._link, PORTS["web"], clients, self._random.uniform(1, 8), self._ending)
        self._tell("over", of=kind)

    def do_web_garbage(self, kind):
        answers = web.garbage(self._link, PORTS["web"], self._random, self._random.randrange(5, 40))
        self._tell("disturbance", of=kind, answers=answers)

    def do_metrics_garbage(self, kind):
        answers = web.garbage(self._link, PORTS["prometheus"], self._random, self._random.randrange(2, 10))
        self._tell("disturbance", of=kind, answers=answers)
