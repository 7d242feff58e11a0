# SPDX-License-Identifier: Apache-2.0
"""Columns that a caller computes from each batch of records, or replaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ._run import Column, Error

if TYPE_CHECKING:
    import pyarrow

    Plugin = Callable[[pyarrow.RecordBatch], Mapping[str, Any]]


class Plugins:
    """Plugins in their order. The first batch decides which columns they add, of which types."""

    def __init__(self, plugins: Plugin | Iterable[Plugin]) -> None:
        self._all = [plugins] if callable(plugins) else list(plugins)
        self._added: dict[str, pyarrow.DataType] = {}
        self.schema: pyarrow.Schema | None = None  # of a batch with the added columns, once there was one
        for plugin in self._all:
            if not callable(plugin):
                raise TypeError(f"plugins={plugin!r}: give what can be called with a batch")
        if self._all:
            import pyarrow  # noqa: F401  what a plugin gets: raises before the run begins

    def __bool__(self) -> bool:
        return bool(self._all)

    @property
    def columns(self) -> list[Column]:
        return [Column(name, str(kind), "", "added by a plugin") for name, kind in self._added.items()]

    def extended(self, batch: Any) -> Batch:
        """The batch with the columns of each plugin, which sees those of plugins before it, too."""
        import pyarrow

        record = pyarrow.record_batch(batch)
        added = {}
        for plugin in self._all:
            for name, values in plugin(record).items():
                place = record.schema.get_field_index(name)
                field = record.schema.field(place) if place >= 0 else None
                array = _array(name, values, field.type if field else self._added.get(name))
                if len(array) != len(record):
                    raise Error(f"plugin column {name}: {len(array)} values for {len(record)} records")
                if field:
                    if array.null_count > 0 and not field.nullable:
                        raise Error(f"plugin column {name}: a value is absent, which this column never is")
                    record = record.set_column(place, field, array)
                    continue
                record = record.append_column(name, array)
                added[name] = array.type
        if self.schema is None:
            self._added, self.schema = added, record.schema
        if list(added) != list(self._added):
            raise Error(f"plugin columns are {', '.join(added)}: they were {', '.join(self._added)} in the first batch")
        return Batch(record)


def _array(name: str, values: Any, wanted: pyarrow.DataType | None) -> pyarrow.Array:
    import pyarrow

    def is_number(kind: pyarrow.DataType | None) -> bool:
        return kind is not None and (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind))

    try:
        # Numbers take their own type first, since Arrow would cut 1.5 to an integer without a word.
        of_own_type = isinstance(values, pyarrow.Array) or is_number(wanted)
        array = pyarrow.array(values, None if of_own_type else wanted)
        if wanted is None or array.type == wanted:
            return array
        if not pyarrow.types.is_null(array.type) and not (is_number(array.type) and is_number(wanted)):
            raise TypeError(f"values are of type {array.type}")
        return array.cast(wanted)
    except (pyarrow.ArrowException, OverflowError, TypeError, ValueError) as problem:
        kind = "" if wanted is None else f"not of type {wanted}: "
        raise Error(f"plugin column {name}: {kind}{problem}") from problem


class Batch:
    """Records with added columns. It has what batches of the native part have."""

    def __init__(self, record: pyarrow.RecordBatch) -> None:
        self.record = record

    @property
    def num_rows(self) -> int:
        return self.record.num_rows

    def __len__(self) -> int:
        return self.record.num_rows

    def lists(self) -> list[list[Any]]:
        """The values of each column. Times are ns, as in records without plugins."""
        import pyarrow

        def plain(column: Any) -> list[Any]:
            is_time = pyarrow.types.is_timestamp(column.type)
            return (column.cast(pyarrow.int64()) if is_time else column).to_pylist()

        return [plain(column) for column in self.record.columns]

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self.record.__arrow_c_array__(requested_schema)
