#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the published experiments on this machine and writes a page for each paper, lab/docs/reproduce/NAME.md with
plots, and lab/docs/reproduce.md, which sums up.

Each run is kept and used again unless --again is given, so that what was stopped goes on where it was.
"""

import argparse
import pathlib
import sys

import flowatcher
import flowmon
import measurement
import mona
import wirespeed
from data import write_claims, write_runs
from page import page
from passes import Passes, agreement
from plots import plot
from runs import Store
from summary import summary

PAPERS = {
    paper.name: paper for paper in (flowatcher.PAPER, measurement.PAPER, wirespeed.PAPER, mona.PAPER, flowmon.PAPER)
}
PASSES, QUICK_PASSES = 5, 3
MINUTES, QUICK_MINUTES = 60, 10


def write(paper, store, folder, passes, concluded):
    """Writes its page, plots and data from the stored runs, and prints the verdicts."""
    rows, counts, files = store.found(paper.runs, passes)
    pictures = folder / "reproduce"
    pictures.mkdir(parents=True, exist_ok=True)
    wanted = {figure.plot for figure in paper.figures if figure.plot}
    plots = {name for name in wanted.intersection(rows) if plot(paper.runs[name], rows[name], pictures / f"{name}.svg")}
    data = ("claims", *(["runs"] if write_runs(files, pictures / f"{paper.name}-runs.csv") else []))
    text, results = page(paper, rows, counts, files, plots, concluded, data)
    write_claims(results, pictures / f"{paper.name}-claims.csv")
    (pictures / f"{paper.name}.md").write_text(text)
    for result in results:
        if result.seen:
            print(f"{paper.name} {result.figure.name}: {result.answer}: {result.why}")


def main():
    parser = argparse.ArgumentParser(
        prog="reproduce", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parshall")
    parser.add_argument("--paper", action="append", choices=PAPERS, help="this one, or these, alone (all)")
    parser.add_argument("--only", help="measure these runs alone: NAME,NAME,...")
    parser.add_argument(
        "--folder", type=pathlib.Path, help="that gets reproduce.md (docs; in quick, build/reproduce-quick)"
    )
    parser.add_argument(
        "--runs", type=pathlib.Path, default=pathlib.Path("build/reproduce"), help="folder of the raw figures"
    )
    parser.add_argument(
        "--passes",
        type=int,
        help=f"runs of each command, in processes of their own ({PASSES}; in quick {QUICK_PASSES})",
    )
    parser.add_argument(
        "--minutes", type=float, help=f"measure no longer, of each paper ({MINUTES}; in quick {QUICK_MINUTES} in all)"
    )
    parser.add_argument("--quick", action="store_true", help="few and short runs, of the headlines")
    parser.add_argument(
        "--busy", action="store_true", help="measure what goes by the wall clock while others have the cores, too"
    )
    parser.add_argument("--again", action="store_true", help="measure again what was measured before")
    options = parser.parse_args()
    passes = options.passes or (QUICK_PASSES if options.quick else PASSES)
    papers = [PAPERS[name] for name in options.paper or PAPERS]
    minutes = (
        options.minutes if options.minutes is not None else QUICK_MINUTES / len(papers) if options.quick else MINUTES
    )
    folder = options.folder or pathlib.Path("build/reproduce-quick" if options.quick else "lab/docs")
    store = Store(options.parshall, options.runs, options.quick, options.busy)
    concluded = Passes(folder / "reproduce" / "passes.json")
    is_whole = True
    for paper in papers:
        runs = {
            name: run for name, run in paper.runs.items() if options.only is None or name in options.only.split(",")
        }
        if not store.measure(runs, passes, 60 * minutes, options.again):
            is_whole = False
            print(f"{paper.name}: {minutes:g} minutes are over; the same command goes on from here", file=sys.stderr)
        write(paper, store, folder, passes, concluded)
    (folder / "reproduce.md").write_text(summary(PAPERS.values(), folder, agreement(concluded, PAPERS)))
    print(
        f"wrote {folder / 'reproduce.md'}; raw figures in {options.runs}"
        + ("" if is_whole and not store.waiting else "; not all was run")
    )
    if store.failed:
        sys.exit(f"without figures: {', '.join(dict.fromkeys(store.failed))}; what they said stands above")


if __name__ == "__main__":
    main()
