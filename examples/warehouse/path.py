#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which link of a path lost packets? Each FOLDER has the records of one tap, in the order of the path:

  parshall watch -i eth0 --seed 7 --digest --export parquet:FOLDER

Takes DuckDB for Python (pip install duckdb). Flows may go either way. They must begin and end while all taps watch; for
others, and for delays, ask `parshall compare` of two neighbours.

usage: path.py FOLDER FOLDER [FOLDER ...]
"""

import sys

import duckdb

# A flow that vanishes is at one end of the link alone, so the join keeps flows of either end.
LOST = """
WITH at_tap AS (
  SELECT tap, flow_key, sum(packets) AS packets FROM records GROUP BY ALL
), at_link AS (
  SELECT coalesce(a.tap, b.tap - 1) AS link, coalesce(a.packets, 0) AS a, coalesce(b.packets, 0) AS b
  FROM at_tap a FULL JOIN at_tap b ON b.flow_key = a.flow_key AND b.tap = a.tap + 1
)
SELECT link, sum(greatest(a, b))::UBIGINT AS sent, sum(abs(a::BIGINT - b::BIGINT))::UBIGINT AS lost,
       count(*) FILTER (a <> b) AS flows_with_losses, count(*) FILTER (least(a, b) = 0) AS flows_that_vanish
FROM at_link WHERE link BETWEEN 1 AND $taps - 1 GROUP BY link ORDER BY link
"""


def links(folders):
    """(link from 1 on, packets sent, lost, flows with losses, flows that vanish) of each pair of neighbours."""
    connection = duckdb.connect()
    of_taps = [
        f"SELECT {tap} AS tap, flow_key, packets FROM read_parquet('{folder}/**/*.parquet', union_by_name=true)"
        for tap, folder in enumerate(folders, 1)
    ]
    connection.sql("CREATE VIEW records AS " + " UNION ALL ".join(of_taps))
    return connection.execute(LOST, {"taps": len(folders)}).fetchall()


def main():
    folders = sys.argv[1:]
    if len(folders) < 2:
        sys.exit(__doc__)
    for link, sent, lost, with_losses, vanish in links(folders):
        print(
            f"{folders[link - 1]} - {folders[link]}: {lost} of {sent} packets lost, in {with_losses} flows,"
            f" {vanish} of which vanish"
        )


if __name__ == "__main__":
    main()
