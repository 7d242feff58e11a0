#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the published experiments on this machine and writes docs/reproduce.md with its plots.

What a paper states is compared with medians of this machine: the ordering or the share that it concludes, never its
nanoseconds. Everything is measured in two passes, and only what both show counts. Each run is kept, and used again unless
--again is given.
"""
import argparse
import pathlib

from page import PAPERS, plot, replace_section, write_page
from runs import RUNS, run_all

PASSES = 2


def main():
    parser = argparse.ArgumentParser(prog="reproduce", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parshall")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("docs"), help="that gets reproduce.md (docs)")
    parser.add_argument("--runs", type=pathlib.Path, default=pathlib.Path("build/reproduce"), help="folder of the raw figures")
    parser.add_argument("--again", action="store_true", help="measure again what was measured before")
    parser.add_argument("--only", choices=[name for name, paper in PAPERS.items() if hasattr(paper, "RUNS")],
                        help="runs this paper's alone, and writes its part of the page")
    options = parser.parse_args()
    names = tuple(PAPERS[options.only].RUNS if options.only else RUNS)
    passes = [run_all(options.parshall, options.runs, number + 1, options.again, names) for number in range(PASSES)]
    pictures = options.folder / "reproduce"
    pictures.mkdir(parents=True, exist_ok=True)
    plots = {name for name in names if plot(passes[0][name], name, pictures / f"{name}.svg")}
    page = options.folder / "reproduce.md"
    page.write_text(replace_section(page.read_text(), PAPERS[options.only], passes, plots) if options.only else write_page(passes, plots))
    print(f"wrote {page}; raw figures in {options.runs}")


if __name__ == "__main__":
    main()
