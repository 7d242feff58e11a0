# SPDX-License-Identifier: Apache-2.0
"""Runs: flow records, and what tasks find in windows, while a source is read."""

import collections
import html
import json
import keyword
import os
import warnings

from . import _load, _models, _settings

_native = _load.native()
_SHOWN_ROWS = 5
Error = _native.Error
Error.__doc__ = """What was asked for cannot be. The message names settings as Python does: idle=."""
Column = collections.namedtuple("Column", "name type unit help")
Column.__doc__ = """A column of the records: name, type, unit and meaning, as `parshall list columns` shows them.

The type "time" is ns since 1970."""
Window = collections.namedtuple("Window", "begin end packets partial count findings")
Window.__doc__ = """The content of a window.

`begin` and `end` are ns since 1970. In a window of packets ("1000p") they are the number of its first packet and of the
packet behind its last one. `partial` is true if the run ended in the window. `count` is a dict of packets, ip_bytes,
wire_bytes, flows, new_flows and late_packets. `findings` has a dict for each event of the other tasks."""


class LossWarning(UserWarning):
    """Not all packets or records are in what was taken: `Flows.accounting` says how many are not, and why."""


def flows(source=None, *, progress=False, **settings):
    """The flow records of a capture, a link or built-in traffic.

    source: a capture (pcap, pcapng, ERF, also compressed), or None with `interface=` or `generate=`.
    progress: whether to show a bar of tqdm, where that is installed, while records are read here (not where another
    library reads the stream). settings: what `parshall watch --help` has, with _ for -: columns=["+gap_p99"],
    columns="all", key="src-dst", filter="tcp port 443", idle="15s",
        active="60s", biflow=True, workers=2, tasks=..., count=..., duration=..., seed=...; model= takes a Model, too.
    Returns Flows, which has begun. Raises Error where a setting is not one, or its source cannot be read.
    """
    return Flows(*_open(source, settings, progress=progress))


def classify(source=None, *, model, **settings):
    """The flow records of a capture, a link or built-in traffic, with the class of each by a model: a Model, or the
    path of one.

    The column `class` is the application's name, "unknown" where no class is likely enough, "too few packets" of flows
    that ended before. settings: as of flows(). Returns Flows, and raises Error, as flows() does.
    """
    return flows(source, model=model, **settings)


def windows(source=None, *, tasks, progress=False, **settings):
    """What tasks find in each window of a capture, a link or built-in traffic.

    tasks: ["heavy-hitters:key=src", "entropy", ...], as --task of `parshall watch` (`parshall list tasks`).
    progress, settings: as of flows(), and window="1s".
    Returns Findings, which has begun. Raises Error as flows() does.

    >>> import parshall
    >>> with parshall.windows(generate="flows=9,rate=1000,seed=1", count=3000, window="1s", tasks=["count"]) as found:
    ...     [event["values"]["packets"] for event in found]
    [1000, 1000, 1000]
    """
    return Findings(*_open(source, {"task": _listed(tasks), **settings}, events=True, progress=progress))


def watch(source=None, *, every="1s", tasks=(), on_window=None, progress=False, **settings):
    """Each window of a capture, a link or built-in traffic, as it ends.

    every: how long windows are, of packet time: "100ms", "1s", or packets: "1000p". One without packets is not there,
    and of a link a window ends with
        the first packet behind it.
    tasks: what else to look for in each (`parshall list tasks`).
    on_window: called with each Window, one after the other, by this thread; then watch() returns the account of all
    packets (Flows.accounting) at the
        source's end, or once on_window returns False. What it raises ends the run.
    progress, settings: as of flows().
    Without on_window it returns Watch, which has begun: iterate over it, and close it, or use it with `with`. Ctrl-C
    ends both. Raises Error as flows() does.

    >>> import parshall
    >>> account = parshall.watch(generate="flows=9,rate=1000,seed=1", count=2000, every="1s",
    ...     on_window=lambda window: print(window.packets, window.count["flows"]))
    1000 9
    1000 9
    >>> account["balanced"]
    True
    """
    if on_window is not None and not callable(on_window):
        raise TypeError(f"on_window={on_window!r}: give what can be called with a Window")
    asked = [task for task in _listed(tasks) if task != "count"] + ["count"]  # the last to speak of a window
    watching = Watch(*_open(source, {"task": asked, "window": every, **settings}, events=True, progress=progress))
    if on_window is None:
        return watching
    with watching:
        for window in watching:
            if on_window(window) is False:
                watching.close()
                break
        else:
            return watching.accounting
    return watching.accounting


def _listed(tasks):
    return [tasks] if isinstance(tasks, str) else list(tasks)


def _open(source, settings, events=False, progress=False):
    model = settings.get("model")
    text = ""
    if isinstance(model, _models.Model):
        text = model._native.text
        settings = {**settings, "model": "model"}
    elif isinstance(model, os.PathLike):
        settings = {**settings, "model": os.fspath(model)}
    if source is not None:
        settings = {"read": os.fspath(source), **settings}
    try:
        stream = _native.open(_settings.toml(settings), events, text)
    except Error as problem:
        raise Error(_settings.in_python(str(problem))) from None
    shown = next((str(settings[name]) for name in ("read", "interface", "generate") if settings.get(name)), "")
    return stream, _settings.bar(progress, settings, stream.share_read is not None), shown


class _Run:
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

    def __repr__(self):
        return f"<parshall.{type(self).__name__} of {self._source}: {self._state()}>"

    @property
    def accounting(self):
        """Where every packet is, and every record: counters by their names (`parshall list counters`), offered, lost,
        balanced, outputs. None before the end."""
        if self._summary is None:
            self._summary = self._stream.summary()
        return self._summary

    @property
    def counters(self):
        """What has been counted so far; cheap, from any thread."""
        return self._stream.counters()

    def close(self):
        """Ends the run, and waits for that; what was not read is lost. May be called again, by any thread."""
        self._leave(True)

    def _leave(self, waits):
        self._stream.leave(waits)
        if self._bar is not None:
            self._bar.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *problem):
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


class Flows(_Run):
    """Flow records that come while they are read: iterate once, over light rows, batches, or what Arrow makes of them.

    Of a row a column that is a keyword of Python has _ behind its name: flow.class_.

    At most some 300,000 records wait to be read; meanwhile a capture waits, and of a link the newest records are
    dropped, and counted.
    Close it, or use it with `with`: then a run ends that was not read to its end.
    """

    _first_rows = ()

    @property
    def schema(self):
        """The columns, each a Column."""
        return [Column(*column) for column in self._stream.columns()]

    def batches(self):
        """Batches of at most 65,536 records. Each has num_rows, lists() (of each column), and __arrow_c_array__(),
        which gives it away. Raises Error where all was read before."""
        self._begin_reading()
        return self._batches()

    def _batches(self):
        while True:
            batch = self._stream.next()
            self._advance()
            if batch is not None:
                yield batch
            elif self._stream.ended:
                self._end()
                return

    def __iter__(self):
        self._begin_reading()
        return self._rows()

    def _rows(self):
        yield from self._pending  # where another loop was left
        names = (column.name for column in self.schema)
        Flow = collections.namedtuple("Flow", [name + "_" if keyword.iskeyword(name) else name for name in names])
        for batch in self._batches():
            columns = batch.lists()
            self._first_rows = self._first_rows or list(zip(*(column[:_SHOWN_ROWS] for column in columns)))
            self._pending = map(Flow._make, zip(*columns))
            yield from self._pending

    def __repr__(self):
        return f"<parshall.Flows of {self._source}: {len(self.schema)} columns; {self._state()}>"

    def _repr_html_(self):
        """Source, account and columns, and the first rows of what was read."""

        def row(cells, tag="td"):
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        schema = self.schema
        names = [column.name for column in schema]
        body = "".join(row("" if cell is None else cell for cell in cells) for cells in self._first_rows)
        if not self._first_rows:
            body = row(f"{column.type} {column.unit}".strip() for column in schema)
        return (
            f"<p>Flows of {html.escape(self._source)}: {html.escape(self._state())}</p>"
            f"<table><thead>{row(names, 'th')}</thead><tbody>{body}</tbody></table>"
        )

    def __arrow_c_schema__(self):
        return self._stream.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema=None):
        return self._stream.__arrow_c_stream__(requested_schema)

    def to_arrow(self):
        """All records that are left, as pyarrow.Table."""
        import pyarrow

        batches = [pyarrow.record_batch(batch) for batch in self.batches()]
        table = pyarrow.Table.from_batches(batches, pyarrow.schema(self))
        self._first_rows = list(zip(*table.slice(0, _SHOWN_ROWS).to_pydict().values()))
        return table

    def to_pandas(self, **options):
        """All records that are left, as pandas.DataFrame; options are those of pyarrow.Table.to_pandas()."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self):
        """All records that are left, as polars.DataFrame."""
        import polars

        frames = [polars.from_arrow(batch).struct.unnest() for batch in self.batches()]
        return polars.concat(frames) if frames else polars.DataFrame(self)


class Findings(_Run):
    """What tasks found, an object (dict) each, in order of time: type, time_ns, window, task, key, values, exact.
    Iterate once.

    Those that wait to be read take limited memory; meanwhile a capture waits, as for records of Flows.
    """

    def __iter__(self):
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

    def to_pandas(self):
        """All that are left, as pandas.DataFrame: a row each, key.src_ip, values.packets, ... its columns."""
        import pandas

        return pandas.json_normalize(list(self))


class Watch(_Run):
    """Windows, each a Window, as they end. Iterate once; close it, or use it with `with`."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._found = []  # of a window that has not ended

    def __iter__(self):
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
