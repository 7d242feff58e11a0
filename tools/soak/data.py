# SPDX-License-Identifier: Apache-2.0
"""What a run has written down so far."""

import json
import pathlib


def _lines(path):
    found = []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:  # the last, of a run that goes on or was killed
                break
    return found


def _object(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


class Data:
    """Facts, samples and events of a folder; `ends` is empty while the run goes on, or where it was killed."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.facts, self.ends = _object(self.folder / "facts.json"), _object(self.folder / "ends.json")
        if not self.facts:
            raise FileNotFoundError(
                f"{self.folder} has no facts.json: it is no folder of `soak run`, or its monitor never started"
            )
        self.samples, self.events = _lines(self.folder / "samples.jsonl"), _lines(self.folder / "events.jsonl")

    def seconds(self):
        return self.samples[-1]["t"] if self.samples else 0

    def series(self, name, since=0.0):
        """Times and values of a number, where a sample has it."""
        pairs = [
            (sample["t"], sample[name])
            for sample in self.samples
            if sample["t"] >= since and sample.get(name) is not None
        ]
        return [time for time, _ in pairs], [value for _, value in pairs]

    def told(self, what):
        return [event for event in self.events if event["what"] == what]
