# SPDX-License-Identifier: Apache-2.0
"""A paper's page, lab/docs/reproduce/NAME.md, with every figure and table in order."""

import datetime
import re

from details import cell, sections
from paper import ANSWERS, judged
from passes import other_answers
from rows import ENOUGH
from runs import command_of

HEAD = ("| figure | the paper states | measured here | verdict |", "|---|---|---|---|")
OURS = "## Beyond the paper"
HEAD_OF_OURS = (HEAD[0].replace("the paper states", "claim"), HEAD[1])
SHORT = 160  # characters that a cell of the table has room for


def slug(name):
    """The anchor that a heading of these words has."""
    return re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-")


def seen_of(result):
    """The measurement if it is short, and a link to all of it."""
    if not result.seen:
        return ""
    way = f"[numbers](#{slug(result.figure.name)})"
    return f"{cell(result.seen.text)}. {way}" if len(result.seen.text) <= SHORT else way


def line_of(result, others):
    figure = result.figure
    other = f" *Earlier pass: {others[figure.name]}.*" if figure.name in others else ""
    return (
        f"| {figure.name} | {cell(figure.states)} | {seen_of(result)} | **{result.answer}**: {cell(result.why)}"
        f"{other} |"
    )


def table(results, others):
    lines = ["", *HEAD] + [line_of(result, others) for result in results if not result.figure.ours]
    ours = [line_of(result, others) for result in results if result.figure.ours]
    return lines + (["", OURS, "", *HEAD_OF_OURS, *ours] if ours else [])


def how_measured(counts):
    """How the page's numbers and verdicts come about."""
    if not counts:
        return ["Nothing was run yet."]
    least, most = min(counts.values()), max(counts.values())
    number = f"{least}" if least == most else f"{least} to {most}"
    return [
        f"Values are medians over {number} runs. Each run is a process of its own, so that its memory lies elsewhere.",
        "",
        "- A verdict names the claims of a conclusion with their numbers. The headline, the main claims, is in bold. "
        "*Limit* is the number that a claim sets.",
        "- A claim is confirmed or refuted only if the intervals of both sides do not overlap. Otherwise it is "
        "undecided.",
        f"- With {ENOUGH} runs or more, an interval goes from the smallest to the largest run. With fewer runs it "
        f"covers each run's own interval (95 % of its rounds, all if there are fewer than six).",
        "- A measured value without an interval decides nothing. Counted values need none.",
        f"- Two sides of the same {ENOUGH} runs or more are also compared within each run, by their ratio. The ratio "
        f"has a 99 % interval (Student's t of its logarithm).",
        "  Values that may be negative are compared by their difference. Both sides share the luck of their process, "
        "such as the place of its memory.",
        "- Tails in cycles have to differ by more than two cycles, the width of the histogram's buckets.",
        "- The papers' nanoseconds are from other machines and are not compared.",
    ]


def machine_of(rows, paths):
    """A table of the machine, and of when it measured with what load."""
    documents = [document["machine"] for run in rows.values() for document in run.documents if document.get("machine")]
    full = next((machine for machine in documents if "cpu" in machine), None)
    if full is None:
        return []
    loads = sorted(float(machine["load"].split()[0]) for machine in documents if "load" in machine)
    days = sorted({datetime.date.fromtimestamp(path.stat().st_mtime).isoformat() for path in paths})
    lines = ["", "| machine | |", "|---|---|"] + [
        f"| {name} | {value} |" for name, value in full.items() if name not in ("load", "steal")
    ]
    return lines + [
        f"| load before each run (a minute's) | {loads[0]:g} to {loads[-1]:g}, median {loads[len(loads) // 2]:g} |",
        f"| measured | {', '.join(days)} |",
    ]


def cpu_of(rows):
    """The processor's name, as the runs say it; empty where none does."""
    return next(
        (
            document["machine"]["cpu"]
            for run in rows.values()
            for document in run.documents
            if "cpu" in (document.get("machine") or {})
        ),
        "",
    )


def sums(results):
    """How many conclusions of the paper, and of ours, have which verdict."""
    lines = []
    for of_whom, found in (
        ("The paper", [one for one in results if not one.figure.ours]),
        ("Beyond the paper", [one for one in results if one.figure.ours]),
    ):
        told = {answer: sum(one.answer == answer for one in found) for answer in ANSWERS}
        if found:
            lines.append(
                f"{of_whom}: " + ", ".join(f"{number} {answer}" for answer, number in told.items() if number) + "."
            )
    return lines


def data_of(paper, data):
    """A link for each CSV file of `data` that there is."""
    names = {"claims": "every claim with its numbers", "runs": "every row of every run"}
    lines = [
        f"- [{paper.name}-{kind}.csv]({paper.name}-{kind}.csv): {what}" for kind, what in names.items() if kind in data
    ]
    return ["", "## Data", "", *lines] if lines else []


def page(paper, rows, counts, files, plots, passes=None, data=()):
    """The page, and its results, which `passes` (Passes) gets if it is given. files: those of each run, by its name.
    data: kinds of CSV files beside it."""
    results = [judged(figure, rows) for figure in paper.figures]
    paths = [path for of_run in files.values() for path in of_run]
    noisy = [
        path
        for name, of_run in files.items()
        if rows[name].all and not paper.runs[name].is_noiseless
        for path in of_run
    ]
    this = passes.add(paper.name, results, noisy, cpu_of(rows)) if passes else None
    before = passes.before(this) if this else None
    doi = f" DOI: [{paper.doi}](https://doi.org/{paper.doi})." if paper.doi else ""
    lines = [
        f"# {paper.citation.replace('*', '')}",
        "",
        f"This page compares the paper with this machine. `make reproduce-{paper.name}` writes it.{doi} "
        "[All papers](../reproduce.md).",
        "",
        *sums(results),
        "",
        *how_measured(counts),
    ]
    lines += machine_of(rows, paths) + (["", *paper.intro] if paper.intro else [])
    if before:
        lines += [
            "",
            f"The earlier pass was on {before['day']}{' (' + before['cpu'] + ')' if before['cpu'] else ''}. A row "
            f"shows its verdict of that pass if it differs. Each pass has the rules of its day.",
        ]
    lines += table(results, other_answers(before, results)) + sections(results, counts, plots)
    lines += (
        ["", "## Commands", ""]
        + [f"- {name}: `{command_of(run)}`" for name, run in paper.runs.items()]
        + data_of(paper, [kind for kind in data if kind != "claims" or any(result.seen for result in results)])
    )
    return "\n".join(lines) + "\n", results
