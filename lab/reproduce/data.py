# SPDX-License-Identifier: Apache-2.0
"""CSV files beside a paper's page: every claim with its numbers, and every row of every run."""

import csv
import json
import math

CLAIMS = (
    "figure",
    "verdict",
    "claim",
    "is_headline",
    "result",
    "unit",
    "left",
    "left_low",
    "left_high",
    "relation",
    "factor",
    "right",
    "right_low",
    "right_high",
    "slack",
)


def _number(value):
    return "" if math.isinf(value) else f"{value:.6g}"


def _side(estimate):
    """Value, low and high; empty if they are not known."""
    return ("", "", "") if estimate.is_unknown else tuple(map(_number, (estimate.value, estimate.low, estimate.high)))


def write_claims(results, path):
    """A row for each claim: left < factor * right, by more than slack, confirms it. Fractions are as measured, whatever
    unit the page shows. Returns whether there is one."""
    rows = []
    for result in results:
        for one in result.seen.comparisons if result.seen else ():
            rows.append(
                (
                    result.figure.name,
                    result.answer,
                    one.what,
                    int(one.headline),
                    one.answer().value,
                    one.less.unit or one.more.unit,
                    *_side(one.less),
                    "<=" if one.or_equal else "<",
                    _number(one.factor),
                    *_side(one.more),
                    _number(one.slack),
                )
            )
    _write(path, CLAIMS, rows)
    return bool(rows)


def write_runs(files, path):
    """A row for each row of each run: its run, the number of its pass, and its columns. files: paths by run's name.
    Returns whether there is one."""
    rows = []
    for name, paths in files.items():
        for number, of_pass in enumerate(paths, 1):
            for line in of_pass.read_text().splitlines():
                document = json.loads(line)
                common = {column: value for column, value in document.items() if column not in ("rows", "machine")}
                rows += [{"run": name, "pass": number, **common, **row} for row in document["rows"]]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    _write(path, columns, [[row.get(column) for column in columns] for row in rows])
    return bool(rows)


def _write(path, head, rows):
    """The file; none if it has no rows."""
    if not rows:
        path.unlink(missing_ok=True)
        return
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(head)
        out.writerows(rows)
