# SPDX-License-Identifier: Apache-2.0
"""A paper's page, docs/reproduce/NAME.md: every figure and table of it, in order."""
import datetime
import re

from details import cell, sections
from paper import ANSWERS, judged
from passes import other_answers
from runs import command_of
from rows import ENOUGH

HEAD = ("| figure | the paper states | run | seen here | verdict |", "|---|---|---|---|---|")
OURS = "## Beyond the paper"
SHORT = 160  # characters that a cell of the table has room for


def slug(name):
    """The anchor that a heading of these words has."""
    return re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-")


def seen_of(result):
    """What was seen, where it is short, and the way to all of it."""
    if not result.seen:
        return ""
    way = f"[numbers](#{slug(result.figure.name)})"
    return f"{cell(result.seen.text)}. {way}" if len(result.seen.text) <= SHORT else way


def line_of(result, others):
    figure = result.figure
    runs = ", ".join(f"[{name}](#commands)" for name in figure.runs)
    other = f" *The pass before: {others[figure.name]}.*" if figure.name in others else ""
    return f"| {figure.name} | {cell(figure.states)} | {runs} | {seen_of(result)} | **{result.answer}**: {cell(result.why)}{other} |"


def table(results, others):
    lines = ["", *HEAD] + [line_of(result, others) for result in results if not result.figure.ours]
    ours = [line_of(result, others) for result in results if result.figure.ours]
    return lines + (["", OURS, "", *HEAD, *ours] if ours else [])


def how_measured(counts):
    """Of what the page's figures are."""
    if not counts:
        return ["Nothing of it was run yet."]
    least, most = min(counts.values()), max(counts.values())
    number = f"{least}" if least == most else f"{least} to {most}"
    return [f"Values are medians over runs, each in a process of its own so that memory lies elsewhere: {number} of them here. An interval over runs goes from the",
            f"least to the most of {ENOUGH} or more; of fewer, from the least to the most that any run's own interval has (95 % of its rounds, all of fewer than six), and what has neither, and is",
            f"not counted, decides nothing. An order, or a factor, counts only where intervals do not overlap, or where, of the same {ENOUGH} runs or more, the ratio within each run",
            "has an interval (99 %, by t of its logarithm; of what may be below 0 the difference has) that is on one side: what a process has of luck in where its memory lies,",
            "both have. Of tails in cycles an order has to be of more than two: so wide are the buckets that they are read from. A verdict's headline is in bold.",
            "The papers' nanoseconds are of other machines and are not compared."]


def machine_of(rows, paths):
    """A table of the machine, and of when it measured with what load."""
    documents = [document["machine"] for run in rows.values() for document in run.documents if document.get("machine")]
    full = next((machine for machine in documents if "cpu" in machine), None)
    if full is None:
        return []
    loads = sorted(float(machine["load"].split()[0]) for machine in documents if "load" in machine)
    days = sorted({datetime.date.fromtimestamp(path.stat().st_mtime).isoformat() for path in paths})
    lines = ["", "| machine | |", "|---|---|"] + [f"| {name} | {value} |" for name, value in full.items() if name not in ("load", "steal")]
    return lines + [f"| load before each run (a minute's) | {loads[0]:g} to {loads[-1]:g}, median {loads[len(loads) // 2]:g} |", f"| measured | {', '.join(days)} |"]


def cpu_of(rows):
    """The processor's name, as the runs say it; empty where none does."""
    return next((document["machine"]["cpu"] for run in rows.values() for document in run.documents if "cpu" in (document.get("machine") or {})), "")


def sums(results):
    """How many of the paper's conclusions, and of ours beside them, came to what."""
    lines = []
    for of_whom, found in (("Of the paper", [one for one in results if not one.figure.ours]), ("Beyond it", [one for one in results if one.figure.ours])):
        told = {answer: sum(one.answer == answer for one in found) for answer in ANSWERS}
        if found:
            lines.append(f"{of_whom}: " + "; ".join(f"{answer} {number}" for answer, number in told.items() if number) + ".")
    return lines


def page(paper, rows, counts, files, plots, passes=None):
    """The page, and its results, which `passes` (Passes) gets where it is given. files: those of each run, by its name."""
    results = [judged(figure, rows) for figure in paper.figures]
    paths = [path for of_run in files.values() for path in of_run]
    noisy = [path for name, of_run in files.items() if rows[name].all and not paper.runs[name].is_noiseless for path in of_run]
    this = passes.add(paper.name, results, noisy, cpu_of(rows)) if passes else None
    before = passes.before(this) if this else None
    lines = [f"# {paper.citation.replace('*', '')}", "", f"What it states, and what this machine shows: made by `make reproduce-{paper.name}`. "
             "[All papers](../reproduce.md).", "", *how_measured(counts), "", *sums(results)]
    lines += machine_of(rows, paths) + (["", *paper.intro] if paper.intro else [])
    if before:
        lines += ["", f"The pass before was of {before['day']}{', on ' + before['cpu'] if before['cpu'] else ''}; a row says where its verdict, by the rules of that day, was another."]
    lines += table(results, other_answers(before, results)) + sections(results, counts, plots)
    lines += ["", "## Commands", ""] + [f"- {name}: `{command_of(run)}`" for name, run in paper.runs.items()]
    return "\n".join(lines) + "\n", results
