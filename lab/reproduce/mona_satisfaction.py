# SPDX-License-Identifier: Apache-2.0
"""What runs say of satisfaction in MONA, figure 8: of the windows, those in which a task's recall is 0.75 or more."""

import statistics

from comparing import at_most, below, bound, estimate, reaches
from judge import Answer, Comparison
from mona_rows import ADAPT, CONTROL, FIRST, KEPT, NO_ADAPT, THRESHOLD, pooled
from paper import Seen

BY_RECALL = "satisfaction_by_recall"
BOTH = "satisfaction"  # recall and precision
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
                    f"{mode} below accuracy control at load {load:g}", rows[mode], rows[CONTROL], headline=True
                )
                for mode in (NO_ADAPT, ADAPT)
            ]
            told.insert(
                0, f"{load:g}: " + ", ".join(f"{row[BY_RECALL]:.2f} ({row[BOTH]:.2f})" for row in rows.values())
            )
        return Seen(
            "satisfaction without adaptation, with it, with accuracy control, by load: " + "; ".join(told),
            tuple(comparisons),
            "in brackets: also with a precision of 0.75" + (f"; {KEPT}" if task == FIRST else ""),
        )

    return judge


def figure_8_all(runs):
    modes = (NO_ADAPT, ADAPT, CONTROL)
    static, adapted, control = rows = [
        pooled(runs["dynamic"].where(mode=mode), BY_RECALL, statistics.median) for mode in modes
    ]
    both = [pooled(runs["dynamic"].where(mode=mode), BOTH, statistics.median)[BOTH] for mode in modes]
    return Seen(
        "median satisfaction of all tasks, configurations and loads, and in brackets also with a precision of 0.75: "
        + ", ".join(
            f"{name} {row[BY_RECALL]:.2f} ({other:.2f})"
            for name, row, other in zip(("without adaptation", "with it", "with accuracy control"), rows, both)
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
    """What the project's own modes make of it."""
    static, control, tasks, prefer = (
        pooled(runs["dynamic"].where(mode=mode), BOTH) for mode in (NO_ADAPT, CONTROL, "tasks", "prefer-tasks")
    )
    return Seen(
        f"mean satisfaction by recall and precision: tasks one by one {tasks[BOTH]:.2f}, or losses if this satisfies "
        f"more tasks {prefer[BOTH]:.2f}; accuracy "
        f"control {control[BOTH]:.2f}, no adaptation {static[BOTH]:.2f}",
        (
            below("reducing task by task satisfies more than accuracy control", control, tasks, BOTH, headline=True),
            below("preferring tasks to packets satisfies more than no adaptation", static, prefer, BOTH, headline=True),
        ),
    )
