# SPDX-License-Identifier: Apache-2.0
"""What runs say of satisfaction in MONA, figure 8: of the windows, those in which a task's recall is 0.75 or more."""

import statistics

from comparing import at_most, below, bound, estimate, reaches
from judge import Answer, Comparison
from mona_rows import ADAPT, CONTROL, FIRST, KEPT, NO_ADAPT, OURS, THRESHOLD, pooled
from paper import Seen

BY_RECALL = "satisfaction_by_recall"
BOTH = "satisfaction"  # recall and precision
BY_COUNT = "satisfaction_by_count"  # recall of each event instead of flows
NAMES = {NO_ADAPT: "no adaptation", ADAPT: "adaptation alone"}
ALWAYS = 0.999  # of the windows


def satisfied_less(what, row, control, headline=False):
    """That it is for less of the time than with accuracy control; of what finds enough all the time there is no
    more."""
    compared = below(what, row, control, BY_RECALL, headline)
    if compared.answer() is Answer.OPEN and estimate(row, BY_RECALL).low > ALWAYS:
        return Comparison(
            what.replace("accuracy control", f"{100 * ALWAYS:g} %"),
            estimate(row, BY_RECALL),
            bound(ALWAYS),
            headline=headline,
        )
    return compared


def figure_8(states, task):
    def judge(runs):
        run = runs["dynamic"]
        loads = run.values("load")
        comparisons, told = [], []
        for load in reversed(loads):
            rows = {
                mode: run.one(states=states, task=task, load=load, mode=mode) for mode in (NO_ADAPT, ADAPT, CONTROL)
            }
            comparisons += [
                satisfied_less(
                    f"{NAMES[mode]} below accuracy control at load {load:g}", rows[mode], rows[CONTROL], headline=True
                )
                for mode in (NO_ADAPT, ADAPT)
            ]
            told.insert(
                0,
                f"{load:g}: "
                + ", ".join(f"{row[BY_RECALL]:.2f} ({row[BOTH]:.2f}, {row[BY_COUNT]:.2f})" for row in rows.values()),
            )
        return Seen(
            "satisfaction without adaptation, with it, with accuracy control, by load: " + "; ".join(told),
            tuple(comparisons),
            "in brackets: also with a precision of 0.75, and by each event instead of flows"
            + (f"; {KEPT}" if task == FIRST else ""),
        )

    return judge


def figure_8_all(runs):
    modes = (NO_ADAPT, ADAPT, CONTROL)
    static, adapted, control = rows = [
        pooled(runs["dynamic"].where(mode=mode), BY_RECALL, statistics.median) for mode in modes
    ]
    others = [
        [pooled(runs["dynamic"].where(mode=mode), column, statistics.median)[column] for column in (BOTH, BY_COUNT)]
        for mode in modes
    ]
    return Seen(
        "median satisfaction of all tasks, configurations and loads, and in brackets also with a precision of 0.75, "
        "and by each event instead of flows: "
        + ", ".join(
            f"{name} {row[BY_RECALL]:.2f} ({both:.2f}, {by_count:.2f})"
            for name, row, (both, by_count) in zip(
                ("without adaptation", "with adaptation alone", "with accuracy control"), rows, others
            )
        ),
        (
            reaches(
                "accuracy control satisfies for three quarters of the time",
                control,
                THRESHOLD,
                BY_RECALL,
                headline=True,
            ),
            at_most("without adaptation at most half as much", static, control, 1 / 2, BY_RECALL, headline=True),
            at_most("with adaptation alone at most a third as much", adapted, control, 1 / 3, BY_RECALL, headline=True),
        ),
        f"the paper has a median of 100 experiments; here each run has a median. {KEPT[0].upper()}{KEPT[1:]}",
    )


def figure_8_ours(runs):
    """Compares Parshall's default policy with the paper's and with no adaptation, by flows and by each event."""
    modes = {
        OURS: "Parshall's default",
        CONTROL: "accuracy control",
        ADAPT: "adaptation alone",
        NO_ADAPT: "no adaptation",
    }
    columns = {BOTH: "by flows", BY_COUNT: "by each event"}
    rows = {(mode, column): pooled(runs["dynamic"].where(mode=mode), column) for mode in modes for column in columns}
    return Seen(
        "mean satisfaction by flows, and in brackets by each event: "
        + ", ".join(
            f"{name} {rows[mode, BOTH][BOTH]:.2f} ({rows[mode, BY_COUNT][BY_COUNT]:.2f})"
            for mode, name in modes.items()
        ),
        tuple(
            below(
                f"{modes[OURS]} satisfies more than {modes[mode]}, {how}",
                rows[mode, column],
                rows[OURS, column],
                column,
                headline=mode != ADAPT,
            )
            for column, how in columns.items()
            for mode in (NO_ADAPT, CONTROL, ADAPT)
        ),
        "by flows, a window counts if recall and precision reach 0.75. By each event, it counts if 0.75 of all events "
        "are found. The default policy wants both",
    )
