# SPDX-License-Identifier: Apache-2.0
"""A paper's page, docs/reproduce/NAME.md: every figure and table of it, in order."""
import datetime

from judge import Of
from paper import ANSWERS, judged
from passes import other_answers
from runs import command_of
from rows import ENOUGH

HEAD = ("| figure | the paper states | run | seen here | verdict |", "|---|---|---|---|---|")
OURS = "## Beyond the paper"


def cell(text):
    """Without what would end a cell."""
    return text.replace("|", "\\|").replace("\n", " ")


def interval_of(seen, counts):
    """What the intervals of a figure's comparisons are of, in words."""
    kinds = {side.of for one in seen.comparisons for side in (one.less, one.more) if side.of not in (Of.BOUND, Of.COUNT)}
    words = []
    number = min(counts, default=1)
    if Of.RUNS in kinds:
        words.append(f"over {number} runs" if number > 1 else "over processes")
    if Of.PAIRS in kinds:
        words.append(f"of ratios or differences within each of {number} runs")
    if Of.ROUNDS in kinds:
        words.append("within a run")
    words += [word for kind, word in ((Of.CAPTURES, "over captures"), (Of.WINDOWS, "over simulated windows"), (Of.CASES, "over simulated cases")) if kind in kinds]
    return f" *Intervals: {' and '.join(words)}.*" if words else ""


def line_of(result, counts, plots, others):
    figure = result.figure
    runs = ", ".join(f"[{name}](#commands)" for name in figure.runs)
    seen = ""
    if result.seen:
        seen = cell(result.seen.text) + "." + interval_of(result.seen, [counts[name] for name in figure.runs if name in counts])
        if figure.plot in plots:
            seen += f" ([plot]({figure.plot}.svg))"
    why = cell(result.why)
    note = f" {cell(result.seen.note[:1].upper() + result.seen.note[1:])}." if result.seen and result.seen.note else ""
    other = f" *The pass before: {others[figure.name]}.*" if figure.name in others else ""
    return f"| {figure.name} | {cell(figure.states)} | {runs} | {seen} | **{result.answer}**: {why}{note}{other} |"


def table(paper, results, counts, plots, others):
    lines = ["", *HEAD] + [line_of(result, counts, plots, others) for result in results if not result.figure.ours]
    ours = [line_of(result, counts, plots, others) for result in results if result.figure.ours]
    return lines + (["", OURS, "", *HEAD, *ours] if ours else [])


def how_measured(counts):
    """Of what the page's figures are."""
    if not counts:
        return ["Nothing of it was run yet."]
    least, most = min(counts.values()), max(counts.values())
    number = f"{least}" if least == most else f"{least} to {most}"
    return [f"Values are medians over runs, each in a process of its own so that memory lies elsewhere: {number} of them here. An interval over runs goes from the",
            f"least to the most of {ENOUGH} or more; of fewer, from the least to the most that any run's own interval has (95 % of its rounds, all of fewer than six), and what has neither, and is",
            f"not counted, decides nothing. An order, or a factor, counts only where intervals do not overlap; where both are of the same {ENOUGH} runs or more, it is their ratio",
            "within each run that has one (99 %, by t of its logarithm): what a process has of luck in where its memory lies, both have. A verdict's headline is in bold.",
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
            lines.append(f"{of_whom}: " + "; ".join(f"{number} {answer}" for answer, number in told.items() if number) + ".")
    return lines


def page(paper, rows, counts, paths, plots, passes=None):
    """The page, and its results, which `passes` (Passes) gets where it is given."""
    results = [judged(figure, rows) for figure in paper.figures]
    this = passes.add(paper.name, results, paths, cpu_of(rows)) if passes else None
    before = passes.before(this) if this else None
    lines = [f"# {paper.citation.replace('*', '')}", "", f"What it states, and what this machine shows: made by `make reproduce-{paper.name}`. "
             "[All papers](../reproduce.md).", "", *how_measured(counts), "", *sums(results)]
    lines += machine_of(rows, paths) + (["", *paper.intro] if paper.intro else [])
    if before:
        lines += ["", f"The pass before was of {before['day']}, on {before['cpu']}; a row says where its verdict was another."]
    lines += table(paper, results, counts, plots, other_answers(before, results))
    lines += ["", "## Commands", ""] + [f"- {name}: `{command_of(run)}`" for name, run in paper.runs.items()]
    return "\n".join(lines) + "\n", results
