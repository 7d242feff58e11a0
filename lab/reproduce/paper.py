# SPDX-License-Identifier: Apache-2.0
"""The declarations of a paper's module: its figures and tables in order, and the runs that they need."""

import dataclasses
import typing

import judge
from rows import MissingRows

NOT_HERE, NOT_YET = "not reproducible here", "not yet run"
ANSWERS = (judge.HOLDS, judge.IN_PART, judge.NOT_DECIDED, judge.FAILS, NOT_HERE, NOT_YET)


@dataclasses.dataclass(frozen=True)
class Run:
    """A command of the lab, or a module that measures with several: measure(parshall, path), version() and COMMANDS.

    quick: the arguments in `make reproduce-quick`; a run without them has no part in it. draw(rows) gives a gnuplot
    script where the plot is not a line along x, or bars.
    """

    arguments: tuple = ()
    x: str | None = None
    y: str = "ns"
    quick: tuple | None = None
    module: typing.Any = None
    draw: typing.Callable | None = None
    by_clock: bool = False  # that it goes by the wall clock: not measured while others have the cores
    seeded: bool = False  # that each pass has a seed, and so traffic, of its own
    passes: int | None = None  # at most so many, where a module repeats by itself what has to vary
    is_noiseless: bool = False  # that it comes out alike in every pass, on any day and machine
    counted: tuple = ()  # columns without noise: the same for the same arguments and seed
    papers: dict = dataclasses.field(default_factory=dict)  # what the paper states of bars, by their names


@dataclasses.dataclass(frozen=True)
class Seen:
    """The measurement for a figure: in words, and the comparisons of its conclusion."""

    text: str
    comparisons: tuple
    note: str = ""


class NotHere(Exception):
    """Raised by a figure's judge where this machine lacks what it takes; the message says what."""


class NotYet(Exception):
    """Raised where it lacks what can be had; the message says what, and how."""


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure, a table, or a part of one that concludes something of its own.

    states: the paper's conclusion in our words. judge(runs) gives Seen, from a dictionary of Rows by the names in
    `runs`. Where there is none, not_here says why not. plot: the run that is drawn beside it. ours: that the paper does
    not have it.
    """

    name: str
    states: str
    runs: tuple = ()
    judge: typing.Callable | None = None
    not_here: str = ""
    plot: str | None = None
    ours: bool = False

    def __post_init__(self):
        if (self.judge is None) != bool(self.not_here):
            raise ValueError(f"figure {self.name}: either a judge, or why it is {NOT_HERE}")


@dataclasses.dataclass(frozen=True)
class Paper:
    name: str  # of its page and its command
    citation: str
    intro: tuple
    figures: tuple
    runs: dict  # name: Run
    title: str = ""  # of its section on the first page
    doi: str = ""
    main: tuple = ()  # names of the figures that the first page shows

    def __post_init__(self):
        for figure in self.figures:
            for name in (*figure.runs, *([figure.plot] if figure.plot else [])):
                if name not in self.runs:
                    raise ValueError(f"{self.name}, figure {figure.name}: there is no run {name}")
        for name in set(self.main).difference(figure.name for figure in self.figures):
            raise ValueError(f"{self.name}: there is no figure {name} for the first page")


@dataclasses.dataclass(frozen=True)
class Judged:
    figure: Figure
    answer: str
    why: str
    seen: Seen | None = None


def judged(figure, runs):
    """A figure's verdict from the Rows that there are."""
    if figure.judge is None:
        return Judged(figure, NOT_HERE, figure.not_here)
    missing = [name for name in figure.runs if name not in runs]
    if missing:
        return Judged(figure, NOT_YET, "needs " + ", ".join(missing))
    try:
        seen = figure.judge(runs)
    except NotHere as reason:
        return Judged(figure, NOT_HERE, str(reason))
    except NotYet as reason:
        return Judged(figure, NOT_YET, str(reason))
    except MissingRows as reason:
        return Judged(figure, NOT_YET, f"what was run has too few rows: {reason}")
    verdict = judge.Conclusion(tuple(seen.comparisons)).verdict()
    return Judged(figure, verdict.answer, verdict.why, seen)
