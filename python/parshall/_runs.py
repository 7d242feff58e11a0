# SPDX-License-Identifier: Apache-2.0
"""Exact statistics of every flow of a capture or a link, as data frames.

>>> import parshall
>>> with parshall.flows(generate="flows=3,seed=1", count=1000, seed=1) as flows:
...     sum(flow.packets for flow in flows)
1000
>>> flows.accounting["balanced"]
True
"""
import collections
import json
import os
import warnings

from . import _load

_native = _load.native()
Error = _native.Error
__version__ = _native.version
__all__ = ["Column", "Error", "Findings", "Flows", "LossWarning", "flows", "windows"]

Column = collections.namedtuple("Column", "name type unit help")
Column.__doc__ = """What a column is: its type as `parshall list columns` has it ("uint64", "time": ns since 1970), unit and meaning."""


class LossWarning(UserWarning):
    """Not all packets or records are in what was taken: `Flows.accounting` says how many are not, and why."""


def flows(source=None, **settings):
    """The flow records of a capture, a link or built-in traffic.

    source: a capture (pcap, pcapng, ERF, also compressed), or None with `interface=` or `generate=`.
    settings: what `parshall watch --help` has, with _ for -: stats=["gap_p99"], columns="all", key="src-dst", filter="tcp port 443", idle="15s",
        active="60s", biflow=True, workers=2, tasks=..., count=..., duration=..., seed=...
    Returns Flows, which has begun. Raises Error, in the words of the command line, where a setting is not one, or its source cannot be read.
    """
    return Flows(_open(source, settings))


def windows(source=None, *, tasks, **settings):
    """What tasks find in each window of a capture, a link or built-in traffic.

    tasks: ["heavy-hitters:key=src", "entropy", ...], as --task of `parshall watch` (`parshall list tasks`).
    settings: as of flows(), and window="1s".
    Returns Findings, which has begun. Raises Error as flows() does.

    >>> import parshall
    >>> with parshall.windows(generate="flows=9,rate=1000,seed=1", count=3000, window="1s", tasks=["count"]) as found:
    ...     [event["values"]["packets"] for event in found]
    [1000, 1000, 1000]
    """
    return Findings(_open(source, {"task": list(tasks), **settings}, events=True))


def _open(source, settings, events=False):
    if source is not None:
        settings = {"read": os.fspath(source), **settings}
    return _native.open(_toml(settings), events)


class _Run:
    """What can be asked of a run, whatever is taken from it."""

    def __init__(self, stream):
        self._stream = stream
        self._summary = None
        self._has_told = False

    @property
    def accounting(self):
        """Where every packet is, and every record: counters by their names (`parshall list counters`), offered, lost, balanced, outputs. None before the end."""
        if self._summary is None:
            self._summary = self._stream.summary()
        return self._summary

    @property
    def counters(self):
        """What has been counted so far; cheap, from any thread."""
        return self._stream.counters()

    def close(self):
        """Ends the run; what was not read is lost. May be called again."""
        self._stream.leave()

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.close()

    def _end(self):
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
        if not summary["balanced"]:
            said.append("not every packet is accounted for")
        if said:
            warnings.warn("; ".join(said), LossWarning, stacklevel=3)


class Flows(_Run):
    """Flow records that come while they are read: iterate once, over light rows, batches, or what Arrow makes of them.

    At most some 300,000 records wait to be read; meanwhile a capture waits, and of a link the newest records are dropped, and counted.
    Close it, or use it with `with`: then a run ends that was not read to its end.
    """

    @property
    def schema(self):
        """The columns, each a Column."""
        return [Column(*column) for column in self._stream.columns()]

    def batches(self):
        """Batches of at most 65,536 records. Each has num_rows, lists() (of each column), and __arrow_c_array__(), which gives it away."""
        while True:
            batch = self._stream.next()
            if batch is not None:
                yield batch
            elif self._stream.ended:
                self._end()
                return

    def __iter__(self):
        Flow = collections.namedtuple("Flow", [column.name for column in self.schema])
        for batch in self.batches():
            yield from map(Flow._make, zip(*batch.lists()))

    def __arrow_c_schema__(self):
        return self._stream.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema=None):
        return self._stream.__arrow_c_stream__(requested_schema)

    def to_arrow(self):
        """All records that are left, as pyarrow.Table."""
        import pyarrow

        batches = [pyarrow.record_batch(batch) for batch in self.batches()]
        return pyarrow.Table.from_batches(batches, pyarrow.schema(self))

    def to_pandas(self, **options):
        """All records that are left, as pandas.DataFrame; options are those of pyarrow.Table.to_pandas()."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self):
        """All records that are left, as polars.DataFrame."""
        import polars

        frames = [polars.from_arrow(batch).struct.unnest() for batch in self.batches()]
        return polars.concat(frames) if frames else polars.DataFrame(self)


class Findings(_Run):
    """What tasks found, an object (dict) each, in order of time: type, time_ns, window, task, key, values, exact. Iterate once.

    At most 65,536 of them wait to be read, as records of Flows do.
    """

    def __iter__(self):
        while True:
            events = self._stream.next_events()
            yield from map(json.loads, events)
            if not events and self._stream.ended:
                self._end()
                return

    def to_pandas(self):
        """All that are left, as pandas.DataFrame: a row each, key.src_ip, values.packets, ... its columns."""
        import pandas

        return pandas.json_normalize(list(self))


def _toml(settings):
    """The settings as a TOML file of a plan has them."""
    return "".join(f"{name.replace('_', '-')} = {_toml_value(name, value)}\n" for name, value in settings.items() if value is not None and value is not False)


def _toml_value(name, value):
    if value is True:
        return "true"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (str, os.PathLike)):
        return _toml_text(os.fspath(value))
    if isinstance(value, (list, tuple, set, frozenset)):
        return "[" + ", ".join(_toml_value(name, one) for one in value) + "]"
    raise TypeError(f"{name}={value!r}: give text, a number, True, or a list of them")


def _toml_text(text):
    escaped = (f"\\u{ord(char):04x}" if char < " " or char == "\x7f" else "\\" + char if char in '"\\' else char for char in text)
    return '"' + "".join(escaped) + '"'
