# SPDX-License-Identifier: Apache-2.0
"""docs/reproduce.md and its plots."""
import datetime
import shutil
import subprocess

import flowatcher
import measurement
import testing
import wirespeed
from judge import ABSENT, agreed, conclusion
from runs import RUNS, command_of

PAPERS = {"measurement": measurement, "flowatcher": flowatcher, "wirespeed": wirespeed, "testing": testing}
DRAWN = {**wirespeed.DRAWN, **testing.DRAWN}  # plots that look as in their paper
TAIL = ["", "## How to run each", ""]

VARIED = ("beside", "sharing", "input", "reads", "workers", "scheduler", "cores", "cache", "pools", "batch", "ip_version")  # beside the line's name


def series_of(run, x, y):
    """The lines of a plot: points by name."""
    label = next(column for column in run.all[0] if isinstance(run.all[0][column], str) and
                 column not in ("experiment", "verdict", "traffic", "task", "beside", "sharing", "input", "reads", "prefetch", "pages"))
    series = {}
    for row in run.all:
        if row.get(y) is None or (x and row.get(x) is None):
            continue
        name = row[label] + " " + ", ".join(f"{key} {row[key]}" for key in VARIED if key in row and key not in (x, label) and
                                            len(run.values(key)) > 1)
        if x != "zipf" and len(run.values("zipf") if "zipf" in row else [0]) > 1:
            name += f" skew {row['zipf']}"
        if x is None and "traffic" in row and len(run.values("traffic")) > 1:
            name += " " + row["traffic"]
        series.setdefault(" ".join(name.split()), []).append((row[x] if x else 0, row[y]))
    return series


def plot(run, name, path):
    """As its paper draws it; else a line for each first name, along the column that the run goes along, or bars."""
    if shutil.which("gnuplot") is None:
        return False
    if not run.all:
        return False
    if name in DRAWN:
        size = ["set terminal svg noenhanced size 900,560", f'set output "{path}"']
        return drawn(size + DRAWN[name](run))
    _, x, y = RUNS[name]
    series = series_of(run, x, y)
    script = ["set terminal svg noenhanced size 900,560", f'set output "{path}"', f'set ylabel "{y}"', "set grid"]
    if x:
        script += [f'set xlabel "{x}"', "set key outside right"] + (["set logscale x 2"] if x != "zipf" else [])
        for i, points in enumerate(series.values()):
            script += [f"$d{i} << EOD"] + [f"{a} {b}" for a, b in sorted(points)] + ["EOD"]
        script.append("plot " + ", ".join(f'$d{i} with linespoints title "{title}"' for i, title in enumerate(series)))
    else:
        script += ["$d << EOD"] + [f'"{title}" {points[0][1]}' for title, points in series.items()] + ["EOD", "set style fill solid 0.5",
                   "set boxwidth 0.7", "set yrange [0:*]", "set xtics rotate by 60 right", "plot $d using 2:xtic(1) with boxes notitle"]
    return drawn(script)


def drawn(script):
    return subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, stdout=subprocess.DEVNULL, check=False).returncode == 0


def table_of(figures, passes, plots, counts):
    lines = ["", "| figure | the paper concludes | here | conclusion | note |", "|---|---|---|---|---|"]
    for name, run, claim, judge in figures:
        results = [judge(runs) for runs in passes]
        missing = next((result for result in results if isinstance(result, str)), None)
        if missing is not None:
            lines.append(f"| {name} | {claim} | | **{ABSENT}** | {missing} |")
            continue
        if None in results:
            lines.append(f"| {name} | {claim} | | **{ABSENT}** | the CPU's counters are not to be had on this machine |")
            continue
        measured, _, note = results[0]
        answers = agreed([answers for _, answers, _ in results])
        counts["all"] += len(answers)
        counts["differ"] += sum(len(set(of_one)) > 1 for of_one in zip(*(result[1] for result in results)))
        picture = f" ([plot](reproduce/{run}.svg))" if run in plots else ""
        lines.append(f"| {name} | {claim} | {measured}{picture} | **{conclusion(answers)}** | {note} |")
    return lines


def write_page(passes, plots):
    machine = passes[0]["sizes"].machine
    counts = {"all": 0, "differ": 0}
    body = []
    for paper in PAPERS.values():
        body += section_of(paper, passes, plots, counts)
    lines = ["# The published experiments on this machine", "",
             "Made by `make reproduce`. Each row: what a paper concludes, what this machine shows, and whether the conclusion holds. Papers'",
             "nanoseconds are of other machines and are not compared. Costs are medians of interleaved rounds, quantiles those of each round's",
             "batches of 32; an order, and a bound, counts as shown only where 95 % intervals do not overlap, and where every pass shows it. Cycles",
             "are of the time stamp counter, per packet of a batch. Figures are of the first pass.", "",
             f"{len(passes)} passes, {counts['all']} comparisons: {counts['differ']} of them were answered otherwise in another pass, and count as noise.",
             "", "| machine | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in machine.items()]
    lines += [f"| date | {datetime.date.today()} |"] + body
    return "\n".join(lines + tail()) + "\n"


def tail():
    return TAIL + [f"- {name}: `{command_of(name)}`" for name in RUNS]


def section_of(paper, passes, plots, counts):
    intro = getattr(paper, "INTRO", ())
    return ["", f"## {paper.PAPER}"] + (["", *intro] if intro else []) + table_of(paper.FIGURES, passes, plots, counts)


def replace_section(page, paper, passes, plots):
    """The page with one paper's part of these runs, all others as they were: that part says of which day it is."""
    counts = {"all": 0, "differ": 0}
    section = section_of(paper, passes, plots, counts)
    load = next(iter(passes[0].values())).machine["load"]
    section[2:2] = ["", f"Run by itself on {datetime.date.today()} (load {load}): {len(passes)} passes, {counts['all']} comparisons, "
                    f"{counts['differ']} of them answered otherwise in another pass."]
    head = page[:page.index(TAIL[1])].rstrip("\n").split("\n")
    title = f"## {paper.PAPER}"
    if title in head:
        begin = head.index(title)
        end = next((i for i in range(begin + 1, len(head)) if head[i].startswith("## ")), len(head))
        head[begin - 1:end] = section + ([""] if end < len(head) else [])
    else:
        head += section
    return "\n".join(head + tail()) + "\n"
