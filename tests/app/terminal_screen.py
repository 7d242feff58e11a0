# SPDX-License-Identifier: Apache-2.0
"""The live view in a terminal of its own, for tests. They set PARSHALL first."""

import os
import re
import shlex
import subprocess
import tempfile
import time

PARSHALL = ""


class Screen:
    """The program in a tmux server of its own, which is gone at the end whatever happened."""

    def __init__(self, *arguments, columns=100, lines=30, term="screen-256color", locale="C.UTF-8", flows="4096"):
        self._folder = tempfile.TemporaryDirectory()
        self._socket = os.path.join(self._folder.name, "tmux")
        self.status_file = os.path.join(self._folder.name, "status")
        self.output_file = os.path.join(self._folder.name, "report")
        words = [PARSHALL, "watch", "--live", "--flows", flows, "-o", self.output_file, *arguments]
        command = (
            f"env TERM={shlex.quote(term)} LC_ALL={locale} {shlex.join(words)}; echo $? > {self.status_file}; "
            "echo LEFT; sleep 60"
        )
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        environment.pop("TMUX", None)
        subprocess.run(
            [
                "tmux",
                "-S",
                self._socket,
                "-f",
                "/dev/null",
                "-u",
                "new-session",
                "-d",
                "-x",
                str(columns),
                "-y",
                str(lines),
                command,
            ],
            check=True,
            env=environment,
        )
        self._tmux("set-option", "-g", "status", "off")
        self.resize(columns, lines)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True, check=False)
        self._folder.cleanup()

    def _tmux(self, *words):
        return subprocess.run(["tmux", "-S", self._socket, *words], capture_output=True, text=True, check=True).stdout

    def keys(self, *keys):
        for key in keys:
            self._tmux("send-keys", key)

    def type(self, text):
        self._tmux("send-keys", "-l", text)

    def resize(self, columns, lines):
        self._tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def text(self):
        return self._tmux("capture-pane", "-p")

    def until(self, pattern, seconds=30):
        """The screen as soon as it matches."""
        end = time.monotonic() + seconds
        while True:
            text = self.text()
            if re.search(pattern, text, re.M):
                return text
            if time.monotonic() > end:
                raise AssertionError(f"{pattern!r} did not appear within {seconds} s in:\n{text}")
            time.sleep(0.05)

    def show_flows(self):
        """Goes from conversations by their rates to flows by their packets."""
        self.until("bit/s▼")
        self.keys("t", "Right")
        return self.until("^proto +source .*packets▼")

    def until_counts(self, are_right, seconds=30):
        """The packets of the flows shown, as soon as they are so: a key takes effect later, and a screen that is being
        drawn is half of each."""
        end = time.monotonic() + seconds
        while True:
            text = self.text()
            counts = column(text, -2) if re.search("^proto", text, re.M) else []
            if counts and are_right(counts):
                return counts
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s as it has to be:\n{text}")
            time.sleep(0.05)

    def settled(self, seconds=30):
        """The screen once it stays the same for a moment."""
        end = time.monotonic() + seconds
        before = self.text()
        while time.monotonic() < end:
            time.sleep(0.3)
            now = self.text()
            if now == before:
                return now
            before = now
        raise AssertionError("the screen keeps changing:\n" + before)

    def status(self, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if os.path.exists(self.status_file):
                with open(self.status_file) as file:
                    text = file.read()
                if text.endswith("\n"):
                    return int(text)
            time.sleep(0.05)
        raise AssertionError("the program does not end; its screen:\n" + self.text())

    def report(self):
        with open(self.output_file) as file:
            return file.read()


def column(text, number, heading=r"^proto"):
    """The numbers in one column, counted from the right, of the rows under the heading."""
    rows = re.split(heading + r".*\n", text, maxsplit=1, flags=re.M)[1].splitlines()
    return [int(row.split()[number]) for row in rows if re.match(r"(TCP|UDP) ", row)]
