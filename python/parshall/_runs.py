# SPDX-License-Identifier: Apache-2.0
"""Runs: flow records, and what tasks find in windows, while a source is read."""

import os

from . import _models, _native, _plugins, _settings
from ._flows import Flows
from ._run import Error
from ._windows import Findings, Watch


def flows(source=None, *, progress=False, plugins=(), **settings):
    """The flow records of a capture, a link or built-in traffic.

    source: a capture (pcap, pcapng, ERF, also compressed), or None with `interface=` or `generate=`.
    progress: whether to show a bar of tqdm, where that is installed, while records are read here (not where another
        library reads the stream).
    plugins: functions that add columns, or one. Each is called with batches of records as they end, each batch a
        pyarrow.RecordBatch of 1 to 65,536, and returns a dict of arrays by names of columns. The name
        of a column that exists replaces it, with values of its type.
    settings: the options of `parshall watch --help`, with _ for -, such as idle="15s" or columns=["+gap_p99"]. A list
        or text is taken where there may be several, a number or text ("64Ki", "500ms") where it is one, and a Model for
        model=.
    Returns Flows, which has begun. Raises Error where a setting is not one, or its source cannot be read.
    """
    _plugins.Plugins(plugins)  # raises before the run begins
    return Flows(*_open(source, settings, progress=progress), plugins)


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
