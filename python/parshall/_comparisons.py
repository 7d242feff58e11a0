# SPDX-License-Identifier: Apache-2.0
"""Two points: what was lost between them, and how long packets took."""

from __future__ import annotations

import collections
import json
import os
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _native
from ._run import Column, LossWarning

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def compare(
    up: str | os.PathLike[str], down: str | os.PathLike[str], *, nat: bool = False, filter: str | None = None
) -> Comparison:
    """Compares two captures packet by packet, or what two monitors recorded (`parshall compare --help`).

    up, down: captures made before and behind a device or a network; or folders of Parquet files, written by
    `parshall watch --seed 7 --digest --export parquet:FOLDER`. nat: addresses and ports change on the way. filter: only
    packets that match, in libpcap's language.
    Returns Comparison. Raises Error, and warns with LossWarning of what may make the numbers wrong.
    """
    if filter is not None and not isinstance(filter, str):
        raise TypeError(f"filter={filter!r}: give text, such as 'not port 22'")
    points = _native.compare(os.fsdecode(os.fspath(up)), os.fsdecode(os.fspath(down)), bool(nat), filter or "")
    comparison = Comparison(points)
    for damage in points.damages:
        warnings.warn(f"compared up to where a capture broke: {damage}", LossWarning, stacklevel=2)
    for warning in comparison.warnings:
        warnings.warn(warning, LossWarning, stacklevel=2)
    return comparison


class Comparison:
    """What happened between two points. Iterate over it for the flows, those with the most lost packets first.

    there, back: dicts of the totals of both ways, from UP to DOWN and from DOWN to UP; their names, such as
    packets_lost and delay_p99_ns, are columns of the flows, too. clocks: how the clocks of both differ. up, down: what
    each point saw. warnings: what may make the numbers wrong, a sentence each.
    """

    def __init__(self, points: _native.Points) -> None:
        self._points = points
        summary = json.loads(points.summary())
        self.there: dict[str, Any] = summary["there"]
        self.back: dict[str, Any] = summary["back"]
        self.up: dict[str, Any] = summary["up"]
        self.down: dict[str, Any] = summary["down"]
        self.clocks: dict[str, Any] = summary["clocks"]
        self.warnings: list[str] = summary["warnings"]

    @property
    def schema(self) -> list[Column]:
        """The columns of a flow, each a Column."""
        return [Column(*column) for column in self._points.columns()]

    def __iter__(self) -> Iterator[Any]:
        Flow = collections.namedtuple("Flow", [column.name for column in self.schema])
        yield from map(Flow._make, zip(*self._points.flows().lists()))

    def __len__(self) -> int:
        return len(self._points)

    def __repr__(self) -> str:
        ways = "; ".join(
            f"{name}: {way['packets_lost']} of {way['packets_sent']} packets lost"
            for name, way in (("there", self.there), ("back", self.back))
        )
        return f"<parshall.Comparison of {self.up['name']} and {self.down['name']}: {ways}>"

    def to_arrow(self) -> pyarrow.Table:
        """The flows, as pyarrow.Table."""
        import pyarrow

        return pyarrow.Table.from_batches([pyarrow.record_batch(self._points.flows())])

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """The flows, as pandas.DataFrame; options are those of pyarrow.Table.to_pandas()."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> polars.DataFrame:
        """The flows, as polars.DataFrame."""
        import polars

        return polars.from_arrow(self._points.flows()).struct.unnest()
