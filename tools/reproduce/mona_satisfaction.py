# SPDX-License-Identifier: Apache-2.0
"""What runs say of satisfaction in MONA, figure 8: of the windows, those in which a task's recall is 0.75 or more."""
from comparing import below, bound
from judge import Comparison
from mona_rows import ADAPT, CONTROL, FIRST, KEPT, NO_ADAPT, THRESHOLD, mean, middle
from paper import Seen

BY_RECALL = "satisfaction_by_recall"
BOTH = "satisfaction"  # recall and precision


def figure_8(states, task):
    def judge(runs):
        run = runs["dynamic"]
        loads = run.values("load")
        comparisons, told = [], []
        for load in reversed(loads):
            rows = {mode: run.one(states=states, task=task, load=load, mode=mode) for mode in (NO_ADAPT, ADAPT, CONTROL)}
            comparisons += [below(f"{mode} below accuracy control at load {load:g}", rows[mode], rows[CONTROL], BY_RECALL, headline=load == loads[-1])
                            for mode in (NO_ADAPT, ADAPT)]
            told.insert(0, f"{load:g}: " + ", ".join(f"{row[BY_RECALL]:.2f} ({row[BOTH]:.2f})" for row in rows.values()))
        return Seen("satisfaction without adaptation, with it, with accuracy control, by load: " + "; ".join(told), tuple(comparisons),
                    "in brackets: with a precision of 0.75, too" + (f"; {KEPT}" if task == FIRST else ""))
    return judge


def figure_8_all(runs):
    modes = (NO_ADAPT, ADAPT, CONTROL)
    static, adapted, control = (middle(runs["dynamic"].where(mode=mode), BY_RECALL) for mode in modes)
    both = [middle(runs["dynamic"].where(mode=mode), BOTH).value for mode in modes]
    return Seen("median satisfaction of all tasks, configurations and loads, and in brackets with a precision of 0.75, too: " + ", ".join(
        f"{name} {one.value:.2f} ({other:.2f})" for name, one, other in zip(("without adaptation", "with it", "with accuracy control"), (static, adapted, control), both)),
                (Comparison("accuracy control satisfies for three quarters of the time", bound(THRESHOLD), control, or_equal=True, headline=True),
                 Comparison("twice as much as without adaptation", static.times(2), control, headline=True),
                 Comparison("three times as much as with adaptation alone", adapted.times(3), control, headline=True)),
                f"the paper's is a median of 100 experiments; {KEPT}")


def figure_8_ours(runs):
    """What the project's own modes make of it."""
    static, control, tasks, prefer = (mean(runs["dynamic"].where(mode=mode), BOTH) for mode in (NO_ADAPT, CONTROL, "tasks", "prefer-tasks"))
    return Seen(f"mean satisfaction by recall and precision: tasks one by one {tasks.value:.2f}, or losses where more tasks find enough so {prefer.value:.2f}; accuracy "
                f"control {control.value:.2f}, no adaptation {static.value:.2f}",
                (Comparison("giving way task by task satisfies more than accuracy control", control, tasks, headline=True),
                 Comparison("preferring tasks to packets satisfies more than no adaptation", static, prefer, headline=True)))
