# SPDX-License-Identifier: Apache-2.0
"""The flow records of a run, as rows, batches and frames."""

from __future__ import annotations

import collections
import html
import itertools
import keyword
import operator
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _native, _plugins
from ._csv import CsvFiles
from ._run import Column, Error, Run

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_SHOWN_ROWS = 5


class Flows(Run):
    """Flow records that come while they are read: iterate once, over light rows, batches, or what Arrow makes of them.

    Of a row a column that is a keyword of Python has _ behind its name: flow.class_.

    With plugins, each batch is a call of each of them, by the thread that reads, before you get its records.

    At most some 300,000 records wait to be read; meanwhile a capture waits, and of a link the newest records are
    dropped, and counted.
    Close it, or use it with `with`: then a run ends that was not read to its end.
    """

    _first_rows = ()

    def __init__(self, stream, bar=None, source="", plugins=()):
        self._plugins = _plugins.Plugins(plugins)
        self._ahead = []  # a batch that was read for its columns
        self._begun, self._left = None, iter(())  # the batch whose rows a loop reads, and those that it has not read
        super().__init__(stream, bar, source)

    @property
    def schema(self) -> list[Column]:
        """The columns, each a Column; those of plugins once a batch was read."""
        return [Column(*column) for column in self._stream.columns()] + self._plugins.columns

    def batches(self) -> Iterator[_native.Batch]:
        """Batches of at most 65,536 records. Each has num_rows, lists() (of each column), and __arrow_c_array__(),
        which gives it away. Raises Error where all was read before."""
        self._begin_reading()
        return self._batches()

    def _batches(self):
        if rest := self._rest():
            yield rest
        while True:
            if self._ahead:
                yield self._ahead.pop()
                continue
            batch = self._stream.next()
            self._advance()
            if batch is not None:
                yield self._plugins.extended(batch) if self._plugins else batch
            elif self._stream.ended:
                self._end()
                return

    def _rest(self):
        """What a loop over rows left of its batch, or None."""
        left = operator.length_hint(self._left)
        if left == 0:
            return None
        import pyarrow

        record = pyarrow.record_batch(self._begun)
        self._left = self._pending = iter(())
        return _plugins.Batch(record.slice(len(record) - left))

    def __iter__(self) -> Iterator[Any]:
        self._begin_reading()
        return self._rows()

    def _rows(self):
        yield from self._pending  # where another loop was left
        Flow = None
        for batch in self._batches():
            if Flow is None:
                names = (column.name for column in self.schema)
                Flow = collections.namedtuple(
                    "Flow", [f"{name}_" if keyword.iskeyword(name) else name for name in names]
                )
            columns = batch.lists()
            self._first_rows = self._first_rows or list(zip(*(column[:_SHOWN_ROWS] for column in columns)))
            self._begun, self._left = batch, iter(list(zip(*columns)))
            self._pending = map(Flow._make, self._left)
            yield from self._pending

    def __repr__(self) -> str:
        return f"<parshall.Flows of {self._source}: {len(self.schema)} columns; {self._state()}>"

    def _repr_html_(self) -> str:
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

    def _arrow_schema(self):
        """The schema; with plugins that of the first batch, which is read for it."""
        import pyarrow

        if self._plugins and self._plugins.schema is None and not self._is_read:
            self._ahead += itertools.islice(self._batches(), 1)
        return self._plugins.schema or pyarrow.schema(self._stream)

    def __arrow_c_schema__(self) -> object:
        return self._arrow_schema().__arrow_c_schema__() if self._plugins else self._stream.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        if not self._plugins and operator.length_hint(self._left) == 0:
            return self._stream.__arrow_c_stream__(requested_schema)
        import pyarrow

        schema = self._arrow_schema()
        batches = () if self._is_read else map(pyarrow.record_batch, self._batches())
        return pyarrow.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """All records that are left, as pyarrow.Table."""
        import pyarrow

        batches = [pyarrow.record_batch(batch) for batch in self.batches()]
        table = pyarrow.Table.from_batches(batches, batches[0].schema if batches else pyarrow.schema(self._stream))
        self._first_rows = list(zip(*table.slice(0, _SHOWN_ROWS).to_pydict().values()))
        return table

    def to_csv(self, path: str | os.PathLike[str], *, rotate: int | None = None) -> list[str]:
        """Writes all records that are left as CSV, batch by batch, and returns the names of the files.

        rotate: the most records of a file; flows.csv then becomes flows-1.csv, flows-2.csv and so on. Files with higher
            numbers from before stay.
        Texts are in quotes and times are UTC, as pyarrow writes them; `export="csv:FILE"` writes times in ns.
        Raises OSError if a file cannot be written, and Error if a plugin's column cannot be written as CSV.
        """
        import pyarrow

        if rotate is not None and operator.index(rotate) < 1:
            raise ValueError(f"rotate={rotate!r}: a file has at least one record")
        schema, batches = self._arrow_schema(), self.batches()
        try:
            with CsvFiles(path, rotate, schema) as files:
                for batch in batches:
                    files.write(pyarrow.record_batch(batch))
        except pyarrow.ArrowInvalid as problem:
            raise Error(f"to_csv: {problem}") from problem
        return files.names

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """All records that are left, as pandas.DataFrame; options are those of pyarrow.Table.to_pandas()."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> polars.DataFrame:
        """All records that are left, as polars.DataFrame."""
        import polars

        frames = [polars.from_arrow(batch).struct.unnest() for batch in self.batches()]
        return polars.concat(frames) if frames else polars.DataFrame(self)
