#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes labels.WRITER.parquet beside this file: the same labels by the Parquet writers that users have.

To install: python3 -m venv venv && venv/bin/pip install duckdb pandas polars pyarrow
The files here are by duckdb 2.0.1, polars 2.1.0 and pyarrow 26.0.1. ndpi_4.2.csv was written by
`ndpiReader -q -i CAPTURE -C FILE` (Debian package libndpi-bin 4.2) for three captures of nDPI's own tests.
"""

import pathlib

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

COLUMNS = ("class", "protocol", "src_ip", "src_port", "dst_ip", "dst_port", "capture", "list", "time")
ROWS = [
    ("web", "tcp", "10.0.0.1", 1000, "10.0.0.2", 443, None, [{"class": 1}], 1.5),
    ("dns", "udp", "2001:db8::1", 5, "2001:db8::2", 53, "a.pcap", [], None),
    (None, "tcp", "10.0.0.1", None, "10.0.0.2", 444, None, None, 2.0),
    ("mail", "6", "10.0.0.1", 1000, "10.0.0.2", 25, None, None, 2.0),
]

here = pathlib.Path(__file__).parent
rows = [dict(zip(COLUMNS, row)) for row in ROWS]
labels = pyarrow.Table.from_pylist(rows)


def path(writer):
    return str(here / f"labels.{writer}.parquet")


pyarrow.parquet.write_table(labels, path("arrow"))
pyarrow.parquet.write_table(labels, path("arrow_v2"), data_page_version="2.0", use_dictionary=False)
pyarrow.parquet.write_table(labels, path("gzip"), compression="gzip")
pyarrow.parquet.write_table(labels.drop(["class"]), path("no_class"))
pandas.DataFrame(rows).drop(columns=["list"]).to_parquet(path("pandas"))  # a port that is absent makes all floats
polars.DataFrame(rows).write_parquet(path("polars"))
duckdb.sql(f"copy (select * from labels) to '{path('duckdb')}'")
