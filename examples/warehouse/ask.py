#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks the questions of questions.sql of a folder that `parshall watch --export parquet:FOLDER` fills; takes DuckDB for
Python (pip install duckdb).

usage: ask.py FOLDER [NUMBER ...]
"""

import pathlib
import re
import sys

import duckdb

RUN = r"regexp_extract(filename, 'flows-([0-9a-f]+)-[0-9]+\.parquet$', 1)"
# Columns that nobody asked for, of files without them.
OPTIONAL = {
    "flow_id": "UBIGINT",
    "flow_first_seen": "TIMESTAMPTZ",
    "packets_total": "UBIGINT",
    "tcp_flags": "USMALLINT",
    "end_reason": "VARCHAR",
    "exact": "BOOLEAN",
    "missed_packets_at_most": "UBIGINT",
    "rtt_p50_ns": "FLOAT",
    "rtt_min_ns": "UBIGINT",
    "tcp_retransmissions": "UBIGINT",
    "reverse_packets": "UBIGINT",
}


def open_folder(folder):
    connection = duckdb.connect()
    read = f"read_parquet('{folder}/**/*.parquet', hive_partitioning=true, union_by_name=true, filename=true)"
    there = {row[0] for row in connection.sql(f"DESCRIBE SELECT * FROM {read}").fetchall()}
    absent = "".join(f", NULL::{kind} AS {name}" for name, kind in OPTIONAL.items() if name not in there)
    connection.sql(f"CREATE VIEW flows AS SELECT *, {RUN} AS run{absent} FROM {read}")
    connection.sql(
        f"CREATE VIEW accounting AS SELECT * FROM read_parquet('{folder}/_accounting/*.pq', union_by_name=true)"
    )
    return connection


def questions():
    """Number, question, SQL."""
    text = pathlib.Path(__file__).with_name("questions.sql").read_text()
    return re.findall(r"^-- (\d+) (.*?)\n(.*?;)$", text, re.MULTILINE | re.DOTALL)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    connection = open_folder(sys.argv[1])
    for number, question, sql in questions():
        if sys.argv[2:] and number not in sys.argv[2:]:
            continue
        print(f"{number}. {question}")
        answer = connection.sql(sql)
        print(answer if answer is not None and len(answer) else "(nothing)\n")


if __name__ == "__main__":
    main()
