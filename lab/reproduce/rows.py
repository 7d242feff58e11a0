# SPDX-License-Identifier: Apache-2.0
"""Rows of what was measured, and of several runs of the same."""

import json
import statistics

from judge import Of

ENOUGH = 5  # runs whose least and most hold their median at 94 % without a word on each run's own noise
TEXT_THAT_VARIES = ("verdict", "kept_of_samples", "thread_cpu")
OWN = {"of", "runs", "same_processes", "each", "each_known", "exact"}  # what a row has beside what was measured


class MissingRows(LookupError):
    """What was run has no such row, or not the same ones each time."""


class Rows:
    """The rows of a run, each with what its part has in common; one value by what its columns say.

    A row's `exact` has the columns that are without noise.
    """

    def __init__(self, rows, documents=()):
        self.all = rows
        self.documents = list(documents)
        self.machine = self.documents[0].get("machine") if self.documents else None

    @classmethod
    def read(cls, path, counted=(), of_one_round=False):
        """counted: the columns of the run that are without noise. of_one_round: the interval of one value is none."""
        documents = [json.loads(line) for line in path.read_text().splitlines()]
        rows = [
            {**{name: value for name, value in document.items() if name not in ("rows", "machine")}, **row}
            for document in documents
            for row in document["rows"]
        ]
        taken = sorted(OWN.intersection(name for row in rows for name in row))
        if taken:
            raise ValueError(f"{path}: columns have names that are taken: {', '.join(taken)}")
        if of_one_round:
            rows = [
                {name: value for name, value in row.items() if not name.startswith(("low_", "high_"))} for row in rows
            ]
        return cls([{**row, "exact": frozenset(counted)} for row in rows], documents)

    def where(self, **wanted):
        return [row for row in self.all if all(row.get(name) == value for name, value in wanted.items())]

    def one(self, **wanted):
        found = self.where(**wanted)
        if len(found) != 1:
            raise MissingRows(f"{len(found)} rows where {wanted}")
        return found[0]

    def values(self, column):
        return sorted({row[column] for row in self.all if row.get(column) is not None})


def over_runs(runs):
    """One Rows of several runs of the same, in processes of their own: medians, and intervals over the runs.

    An interval is from the least to the most of the runs' medians, which holds the median of all with 1 - 2 / 2^n: of
    fewer than
    ENOUGH runs, from the least to the most that any run's own interval has, and there is none where they have none. One
    run keeps the interval that it has.
    """
    if len(runs) == 1:
        return runs[0]
    if len({len(run.all) for run in runs}) != 1:
        raise MissingRows(f"runs of the same have {', '.join(str(len(run.all)) for run in runs)} rows")
    same_processes = object()
    return Rows(
        [_row(same, same_processes) for same in zip(*(run.all for run in runs))],
        [document for run in runs for document in run.documents],
    )


def _row(same, same_processes):
    """same_processes: what rows of the same processes share, in whose `each` two columns can be compared run by run.
    `each_known` has all columns, by run, of any number of runs, with None where one does not know."""
    labels = [
        {name: value for name, value in row.items() if isinstance(value, str) and name not in TEXT_THAT_VARIES}
        for row in same
    ]
    if any(label != labels[0] for label in labels):
        raise MissingRows(f"runs of the same differ: {labels}")
    merged = dict(same[0]) | {
        "of": Of.RUNS,
        "runs": len(same),
        "same_processes": same_processes,
        "each": {},
        "each_known": {},
        "exact": same[0].get("exact", frozenset()),
    }
    for name in same[0]:
        values = [
            row[name] for row in same if isinstance(row.get(name), (int, float)) and not isinstance(row.get(name), bool)
        ]
        if name.startswith(("low_", "high_")) or not values:
            continue
        merged["each_known"][name] = [row.get(name) for row in same]
        has_interval = f"low_{name}" in same[0]
        if len(set(values)) == 1 and not has_interval:
            merged[name] = values[0]
            if len(values) >= ENOUGH:
                merged["exact"] |= {name}
                if len(values) == len(same):
                    merged["each"][name] = values
            continue
        if len(values) < ENOUGH and not has_interval and name not in merged["exact"]:
            merged[name] = statistics.median(values)
            continue
        lows, highs = (
            [row.get(f"{end}_{name}", row[name]) for row in same if row.get(name) is not None]
            for end in ("low", "high")
        )
        if len(values) >= ENOUGH:
            lows = highs = values
            if len(values) == len(same):
                merged["each"][name] = values
        middle = statistics.median(values)
        merged |= {name: middle, f"low_{name}": min(lows), f"high_{name}": max(highs)}
    return merged
