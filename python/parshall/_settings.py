# SPDX-License-Identifier: Apache-2.0
"""Settings as the native part takes them, and tables as the files of the command line have them."""

import collections.abc
import csv
import difflib
import io
import numbers
import os
import re

from . import _native


def toml(settings):
    """The settings as a TOML file of a plan has them: the exports last, as tables of their own."""
    given = {name: value for name, value in settings.items() if value is not None and value is not False}
    known = [name.replace("-", "_") for name, *_ in _native.settings()]
    for name in given:
        if name not in known:
            raise unknown(name, known, "a run")
    exports = given.pop("export", ())
    lines = [f"{name.replace('_', '-')} = {_value(name, value)}\n" for name, value in given.items()]
    return "".join([*lines, *map(_export, [exports] if is_path(exports) else exports)])


def unknown(name, known, of):
    """The error about a name that is no setting."""
    near = difflib.get_close_matches(name, known, n=1)
    return _native.Error(f"{name} is no setting of {of}" + (f": did you mean {near[0]}=?" if near else ""))


def _export(word):
    kind, colon, target = os.fsdecode(word).partition(":")
    if not colon:
        raise _native.Error(f"export={kind!r}: give a kind and a target, such as csv:flows.csv")
    return f"[[export]]\nkind = {_text(kind)}\ntarget = {_text(target)}\n"


def in_python(message):
    """A message with settings as Python names them: "--flow-limit 5x: ..." becomes "flow_limit=5x: ..."."""
    message = re.sub(r"^settings, line \d+, column \d+: ", "", message)
    message = re.sub(
        r"^[a-z]+(-[a-z]+)+(?= takes | requires | excludes )", lambda name: name[0].replace("-", "_"), message
    )
    return re.sub(r"--([a-z][a-z-]*)(?: (?=[^ ]+:))?", lambda option: option[1].replace("-", "_") + "=", message)


def _value(name, value):
    if value is True:
        return "true"
    if isinstance(value, numbers.Real):  # of NumPy, too; 1e6 is a whole number
        return str(int(value)) if float(value).is_integer() else str(value)
    if isinstance(value, (str, os.PathLike)):
        return _text(os.fspath(value))
    if isinstance(value, (list, tuple, set, frozenset)):
        return "[" + ", ".join(_value(name, one) for one in value) + "]"
    raise TypeError(f"{name}={value!r}: give text, a number, True, or a list of them")


def _text(text):
    escaped = (
        f"\\u{ord(char):04x}" if char < " " or char == "\x7f" else "\\" + char if char in '"\\' else char
        for char in text
    )
    return '"' + "".join(escaped) + '"'


def fill(plan, command, settings):
    """Sets attributes of a plan of the native part. Raises Error where it has none of a name, TypeError where a value
    is of another type."""
    known = [name for name in dir(plan) if not name.startswith("_")]
    for name, value in settings.items():
        if name not in known:
            raise unknown(name, known, f"parshall {command}")
        if value is None:
            continue
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if isinstance(getattr(plan, name), str) and isinstance(value, numbers.Real) and not isinstance(value, bool):
            value = str(value)
        try:
            setattr(plan, name, value)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(
                f"{name}={value!r}: not of the type that `parshall {command} --help` says, or out of its range"
            ) from None
    return plan


def is_path(table):
    return isinstance(table, (str, bytes, os.PathLike))


def csv_of(table, what):
    """CSV of a data frame (__arrow_c_stream__), of dicts, or of rows of which the first names the columns. What is
    missing is empty."""
    if hasattr(table, "__arrow_c_stream__"):
        import pyarrow

        arrow = pyarrow.table(table)
        names = [name for name in arrow.column_names if not name.startswith("__index_level_")]
        rows = zip(*(arrow.column(name).to_pylist() for name in names))
    elif isinstance(table, collections.abc.Iterable) and not isinstance(table, collections.abc.Mapping):
        names, rows = _rows(list(table), what)
    else:
        raise TypeError(
            f"{what}: give the path of a CSV file, a data frame, or a list of rows, not {type(table).__name__}"
        )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _rows(rows, what):
    if not rows:
        return [], []
    if all(isinstance(row, collections.abc.Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return names, [[row.get(name) for name in names] for row in rows]
    if not all(isinstance(row, (list, tuple)) for row in rows):
        raise TypeError(f"{what}: a row is a dict, or a list or tuple, and of one kind with the others")
    return rows[0], rows[1:]


def _cell(value):
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def bar(progress, settings, is_file):
    """A progress bar, of a file's bytes or of packets; None where none is wanted, or tqdm is not installed."""
    if not progress:
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    total = settings.get("count")
    if is_file and not total:
        return tqdm(total=os.path.getsize(settings["read"]), unit="B", unit_scale=True)
    return tqdm(total=total if isinstance(total, int) else None, unit=" packets", unit_scale=True)
