#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/columns.md from `parshall list columns`, or, with --check, says whether it is what that says.

usage: columns_page.py PARSHALL PAGE [--check]
"""

import pathlib
import re
import subprocess
import sys

HEAD = """# Columns of a flow record

`make columns` writes this page from the schema (`parshall list columns`).

- `--columns NAME,...` chooses the columns of a record and their order. By default, a record has the first eleven. `--columns +NAME,...` adds to these.
- `identity`, `totals`, `digest`, `shape`, `headers`, `tcp`, `flag_counts`, `names` and `all` stand for several columns. `all` leaves out `flag_counts`, [names](names.md) and `community_id`.
- With `--biflow`, each statistic (`gap`, `iat`, `size`, `ip_size`, `ttl`, `rtt`, `tcp` and the like) also exists for [the reverse direction and for both together](exports.md#both-directions-in-one-record): `reverse_iat_mean`, `both_iat_mean`.
- *Absent* says whether a record may lack the column. It is then empty in CSV, null in JSON, Parquet and Arrow, and left out of the template in IPFIX.
- *IPFIX* is the information element, after the private enterprise number if it has one. Addresses have elements for IPv4 and IPv6, and times for ms and ns. + marks [the first of several](exports.md#private-elements).
- The type `bytes` is binary in Parquet, Arrow and IPFIX, and hexadecimal digits in text, CSV and JSON.
- In Parquet and Arrow, times are timestamps and have no `_ns` in their name.

| column | unit | type | absent | IPFIX | what |
|---|---|---|---|---|---|
"""  # noqa: E501


def page(parshall):
    head, *lines = subprocess.run(
        [parshall, "list", "columns"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    begins = [match.start() for match in re.finditer(r"\S+", head)]
    rows = [[line[begin:end].strip() for begin, end in zip(begins, [*begins[1:], None])] for line in lines]
    return HEAD + "".join(
        "| " + " | ".join([f"`{row[0]}`", *(cell.replace("|", "\\|") for cell in row[1:])]) + " |\n" for row in rows
    )


def main():
    parshall, path, *options = sys.argv[1:]
    text = page(parshall)
    if options == ["--check"]:
        if pathlib.Path(path).read_text() != text:
            sys.exit(f"{path} is not what the schema says: make columns")
    else:
        pathlib.Path(path).write_text(text)


if __name__ == "__main__":
    main()
