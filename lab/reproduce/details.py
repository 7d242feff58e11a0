# SPDX-License-Identifier: Apache-2.0
"""The part below the table of a paper's page: for each figure the measurement, its plot, and each comparison with its
numbers."""

from judge import Of
from wording import inequality_of

HEADING = "## Figure by figure"
COMPARISONS = ("| claim | measured | result |", "|---|---|---|")


def cell(text):
    """Without what would end a cell."""
    return text.replace("|", "\\|").replace("\n", " ")


def interval_of(comparisons, counts):
    """What their intervals are of, in words; empty where they have none. counts: of how many runs each is."""
    kinds = {side.of for one in comparisons for side in (one.less, one.more) if side.of not in (Of.BOUND, Of.COUNT)}
    words = []
    number = min(counts, default=1)
    if Of.RUNS in kinds:
        words.append(f"over {number} runs" if number > 1 else "over processes")
    if Of.PAIRS in kinds:
        words.append(f"of ratios or differences within each of {number} runs")
    if Of.ROUNDS in kinds:
        words.append("within a run")
    words += [
        word
        for kind, word in (
            (Of.CAPTURES, "over captures"),
            (Of.WINDOWS, "over simulated windows"),
            (Of.CASES, "over simulated cases"),
        )
        if kind in kinds
    ]
    return f"*Intervals: {' and '.join(words)}.*" if words else ""


def table_of(comparisons):
    """Headlines first, in bold."""
    first = sorted(comparisons, key=lambda one: not one.headline)
    names = [f"**{cell(one.what)}**" if one.headline else cell(one.what) for one in first]
    return [
        *COMPARISONS,
        *(f"| {name} | {inequality_of(one)} | {one.answer().value} |" for name, one in zip(names, first)),
    ]


def section(result, counts, plots):
    """Of a figure that was judged."""
    figure, seen = result.figure, result.seen
    runs = ", ".join(f"[{name}](#commands)" for name in figure.runs)
    interval = interval_of(seen.comparisons, [counts[name] for name in figure.runs if name in counts])
    note = ["", f"{seen.note[:1].upper()}{seen.note[1:]}."] if seen.note else []
    picture = ["", f"![{figure.name}]({figure.plot}.svg)"] if figure.plot in plots else []
    return [
        "",
        f"### {figure.name}",
        "",
        f"*{figure.states}*",
        "",
        f"**{result.answer.capitalize()}**, by {runs}.",
        "",
        f"Measured: {seen.text}.",
        *note,
        *picture,
        "",
        *([interval, ""] if interval else []),
        *table_of(seen.comparisons),
    ]


def sections(results, counts, plots):
    """Returns the sections of all figures that were judged; empty if there are none."""
    judged = [result for result in results if result.seen]
    return (
        [
            "",
            HEADING,
            "",
            "Each table has the claims of a conclusion, with the numbers of both sides. Intervals are in brackets. The "
            "headline is in bold.",
            *(line for result in judged for line in section(result, counts, plots)),
        ]
        if judged
        else []
    )
