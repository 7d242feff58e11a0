# SPDX-License-Identifier: Apache-2.0
"""The flow records of a run, as rows, batches and frames."""

from __future__ import annotations

import collections
import html
import keyword
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _native
from ._run import Column, Run

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_SHOWN_ROWS = 5


class Flows(Run):
    """Flow records that come while they are read: iterate once, over light rows, batches, or what Arrow makes of them.

    Of a row a column that is a keyword of Python has _ behind its name: flow.class_.

    At most some 300,000 records wait to be read; meanwhile a capture waits, and of a link the newest records are
    dropped, and counted.
    Close it, or use it with `with`: then a run ends that was not read to its end.
    """

    _first_rows = ()

    @property
    def schema(self) -> list[Column]:
        """The columns, each a Column."""
        return [Column(*column) for column in self._stream.columns()]

    def batches(self) -> Iterator[_native.Batch]:
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

    def __iter__(self) -> Iterator[Any]:
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

    def __arrow_c_schema__(self) -> object:
        return self._stream.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._stream.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """All records that are left, as pyarrow.Table."""
        import pyarrow

        batches = [pyarrow.record_batch(batch) for batch in self.batches()]
        table = pyarrow.Table.from_batches(batches, pyarrow.schema(self))
        self._first_rows = list(zip(*table.slice(0, _SHOWN_ROWS).to_pydict().values()))
        return table

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """All records that are left, as pandas.DataFrame; options are those of pyarrow.Table.to_pandas()."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> polars.DataFrame:
        """All records that are left, as polars.DataFrame."""
        import polars

        frames = [polars.from_arrow(batch).struct.unnest() for batch in self.batches()]
        return polars.concat(frames) if frames else polars.DataFrame(self)
