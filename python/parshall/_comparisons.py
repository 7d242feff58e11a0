# SPDX-License-Identifier: Apache-2.0
"""Two points: what was lost between them, and how long packets took."""

import collections
import json
import os
import warnings

from . import _load
from ._runs import Column, LossWarning

_native = _load.native()


def compare(up, down, *, nat=False, filter=None):
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

    def __init__(self, points):
        self._points = points
        summary = json.loads(points.summary())
        self.there, self.back = summary["there"], summary["back"]
        self.up, self.down, self.clocks = summary["up"], summary["down"], summary["clocks"]
        self.warnings = summary["warnings"]

    @property
    def schema(self):
        """The columns of a flow, each a Column."""
        return [Column(*column) for column in self._points.columns()]

    def __iter__(self):
        Flow = collections.namedtuple("Flow", [column.name for column in self.schema])
        yield from map(Flow._make, zip(*self._points.flows().lists()))

    def __len__(self):
        return len(self._points)

    def __repr__(self):
        ways = "; ".join(
            f"{name}: {way['packets_lost']} of {way['packets_sent']} packets lost"
            for name, way in (("there", self.there), ("back", self.back))
        )
        return f"<parshall.Comparison of {self.up['name']} and {self.down['name']}: {ways}>"

    def to_arrow(self):
        """The flows, as pyarrow.Table."""
        import pyarrow

        return pyarrow.Table.from_batches([pyarrow.record_batch(self._points.flows())])

    def to_pandas(self, **options):
        """The flows, as pandas.DataFrame; options are those of pyarrow.Table.to_pandas()."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self):
        """The flows, as polars.DataFrame."""
        import polars

        return polars.from_arrow(self._points.flows()).struct.unnest()
