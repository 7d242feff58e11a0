# SPDX-License-Identifier: Apache-2.0
"""A run while a source is read: its account, its end, and what both may say."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, TypeVar

from . import _native

_Self = TypeVar("_Self", bound="Run")
Error = _native.Error
Error.__doc__ = """What was asked for cannot be. The message names settings as Python does: idle=."""


class Column(NamedTuple):
    """A column of the records: name, type, unit and meaning, as `parshall list columns` shows them.

    The type "time" is ns since 1970."""

    name: str
    type: str
    unit: str
    help: str


class LossWarning(UserWarning):
    """Not all packets or records are in what was taken: `Flows.accounting` says how many are not, and why."""


class Run:
    """What can be asked of a run, whatever is taken from it."""

    def __init__(self, stream, bar=None, source=""):
        self._stream = stream
        self._bar = bar
        self._source = source
        self._summary = None
        self._has_told = False
        self._is_read = False
        self._pending = iter(())  # what was taken from the stream, and not read yet

    def _begin_reading(self):
        if self._is_read:
            raise Error(
                f"these {type(self).__name__.lower()} of {self._source} were read to their end, or closed: what "
                f"was read is not kept, so make them again to read the source again"
            )

    def _state(self):
        """What became of the packets so far, in one line."""
        if self._summary is None:
            return f"{self._stream.counters()['counted']:,} packets so far"
        said = f"{self._summary['counted']:,} packets, {self._summary['lost']:,} lost"
        return said if self._summary["balanced"] else said + ", not all accounted for"

    def __repr__(self) -> str:
        return f"<parshall.{type(self).__name__} of {self._source}: {self._state()}>"

    @property
    def accounting(self) -> dict[str, Any] | None:
        """Where every packet is, and every record: counters by their names (`parshall list counters`), offered, lost,
        balanced, outputs. None before the end."""
        if self._summary is None:
            self._summary = self._stream.summary()
        return self._summary

    @property
    def counters(self) -> dict[str, int]:
        """What has been counted so far; cheap, from any thread."""
        return self._stream.counters()

    def close(self) -> None:
        """Ends the run, and waits for that; what was not read is lost. May be called again, by any thread."""
        self._leave(True)

    def _leave(self, waits):
        self._stream.leave(waits)
        if self._bar is not None:
            self._bar.close()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *problem: Any) -> None:
        self._leave(kind is None or not issubclass(kind, KeyboardInterrupt))  # who pressed Ctrl-C does not wait

    def _advance(self):
        if self._bar is not None:
            share = self._stream.share_read if self._bar.unit == "B" else None
            self._bar.update(
                (self._stream.counters()["counted"] if share is None else round(share * self._bar.total)) - self._bar.n
            )

    def _end(self):
        self._is_read = True
        if self._bar is not None:
            self._advance()
            self._bar.close()
        if self._stream.failure is not None:
            raise Error(self._stream.failure)
        summary = self.accounting
        if self._has_told:
            return
        self._has_told = True
        said = []
        if summary["damage"] is not None:
            said.append(f"measured up to where the input broke: {summary['damage']}")
        if summary["lost"]:
            said.append(f"{summary['lost']} of {summary['offered']} packets were lost before they could be counted")
        for what in ("records", "findings"):
            dropped = sum(output["dropped"][what] for output in summary["outputs"])
            if dropped:
                said.append(f"{dropped} {what} were dropped while they were read too slowly")
        if summary["evicted_records"]:
            said.append(
                f"{summary['evicted_records']} records ended to make room, so that flows may have several: give more "
                f"room with flows="
            )
        if not summary["balanced"]:
            said.append("not every packet is accounted for")
        if said:
            warnings.warn("; ".join(said), LossWarning, stacklevel=3)
