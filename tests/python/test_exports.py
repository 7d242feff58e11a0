# SPDX-License-Identifier: Apache-2.0
"""Files that a run from Python writes beside the frame.

usage: test_exports.py [unittest arguments], by a Python that has parshall and pyarrow
"""

import csv
import pathlib
import tempfile
import unittest

import pyarrow
import pyarrow.parquet

import parshall


class Exports(unittest.TestCase):
    def test_files_have_the_records_of_the_frame(self):
        traffic = {"generate": "flows=200000,dist=uniform,seed=1", "count": 200_000, "seed": 1}
        with tempfile.TemporaryDirectory() as folder:
            export = [f"csv:{folder}/flows.csv", f"parquet:{folder}/flows,size=1M"]
            with parshall.flows(export=export, **traffic) as flows:
                table = flows.to_arrow()
            header, *rows = csv.reader(pathlib.Path(folder, "flows.csv").read_text().splitlines())
            packets = header.index("packets")
            self.assertEqual((len(rows), sum(int(row[packets]) for row in rows)), (table.num_rows, 200_000))
            files = sorted(pathlib.Path(folder, "flows").rglob("*.parquet"))
            rotated = [pyarrow.parquet.read_table(file, columns=["packets"]) for file in files]
        self.assertGreater(len(files), 1)  # each ends at 1 MB
        self.assertEqual(pyarrow.concat_tables(rotated)["packets"].to_pylist(), table["packets"].to_pylist())
        written = {output["name"].split(":")[0]: output["written"]["records"] for output in flows.accounting["outputs"]}
        self.assertEqual(written, dict.fromkeys(("csv", "parquet", "stream"), table.num_rows))

    def test_what_is_no_export(self):
        for export, message in (
            ("csv", "^export='csv': give a kind and a target, such as csv:flows.csv$"),
            ("exel:x", "exel"),
            (["csv:/nonexistent/x"], "/nonexistent"),
        ):
            with self.assertRaisesRegex(parshall.Error, message):
                parshall.flows(generate="flows=1", count=1, export=export)


if __name__ == "__main__":
    unittest.main()
