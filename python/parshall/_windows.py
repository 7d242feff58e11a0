# SPDX-License-Identifier: Apache-2.0
"""What tasks find, as findings or window by window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ._run import Run

if TYPE_CHECKING:
    import pandas


class Window(NamedTuple):
    """The content of a window.

    `begin` and `end` are ns since 1970. In a window of packets ("1000p") they are the number of its first packet and of
    the packet behind its last one. `partial` is true if the run ended in the window. `count` is a dict of packets,
    ip_bytes, wire_bytes, flows, new_flows and late_packets. `findings` has a dict for each event of the other tasks."""

    begin: int
    end: int
    packets: int
    partial: bool
    count: dict[str, int]  # type: ignore[assignment]  # in place of tuple.count()
    findings: list[dict[str, Any]]


class Findings(Run):
    """What tasks found, an object (dict) each, in order of time: type, time_ns, window, task, key, values, exact.
    Iterate once.

    Those that wait to be read take limited memory; meanwhile a capture waits, as for records of Flows.
    """

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self._begin_reading()
        return self._events()

    def _events(self):
        yield from self._pending
        while True:
            events = self._stream.next_events()
            self._advance()
            self._pending = map(json.loads, events)
            yield from self._pending
            if not events and self._stream.ended:
                self._end()
                return

    def to_pandas(self) -> pandas.DataFrame:
        """All that are left, as pandas.DataFrame: a row each, key.src_ip, values.packets, ... its columns."""
        import pandas

        return pandas.json_normalize(list(self))


class Watch(Run):
    """Windows, each a Window, as they end. Iterate once; close it, or use it with `with`."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._found = []  # of a window that has not ended

    def __iter__(self) -> Iterator[Window]:
        self._begin_reading()
        return self._windows()

    def _windows(self):
        while True:
            for event in self._pending:
                if event["task"] != "count":
                    self._found.append(event)
                    continue
                findings, self._found = self._found, []
                window = event["window"]
                unit = "ns" if "begin_ns" in window else "packet"
                yield Window(
                    window["begin_" + unit],
                    window["end_" + unit],
                    window["packets"],
                    window["partial"],
                    event["values"],
                    findings,
                )
            events = self._stream.next_events()
            self._advance()
            self._pending = map(json.loads, events)
            if not events and self._stream.ended:
                self._end()
                return
