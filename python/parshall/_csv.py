# SPDX-License-Identifier: Apache-2.0
"""Records as CSV files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.csv


class CsvFiles:
    """Writes records into one file, or into files of `rotate` records: flows-1.csv, flows-2.csv and so on for
    flows.csv. Use it with `with`.

    Raises OSError if a file cannot be written, and pyarrow.ArrowInvalid if a column cannot be written as CSV.
    """

    def __init__(self, path: str | os.PathLike[str], rotate: int | None, schema: pyarrow.Schema) -> None:
        self._base, self._suffix = os.path.splitext(os.fspath(path))
        self._rotate, self._schema = rotate, schema
        self._writer: pyarrow.csv.CSVWriter | None = None
        self._rows = 0  # of the file that is open
        self.names: list[str] = []
        self._open()

    def write(self, record: pyarrow.RecordBatch) -> None:
        """Adds the records of a batch, and begins files as the last one is full."""
        while len(record) > 0:
            if self._rows == self._rotate:
                self._writer.close()
                self._open()
            part = record if self._rotate is None else record.slice(0, self._rotate - self._rows)
            self._writer.write_batch(part)
            self._rows += len(part)
            record = record.slice(len(part))

    def __enter__(self) -> CsvFiles:
        return self

    def __exit__(self, *problem: object) -> None:
        """Completes the file that is open."""
        self._writer.close()

    def _open(self) -> None:
        import pyarrow.csv

        number = "" if self._rotate is None else f"-{len(self.names) + 1}"
        self.names.append(f"{self._base}{number}{self._suffix}")
        self._writer, self._rows = pyarrow.csv.CSVWriter(self.names[-1], self._schema), 0
