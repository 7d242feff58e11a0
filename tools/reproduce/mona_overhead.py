# SPDX-License-Identifier: Apache-2.0
"""What runs say in MONA of the time that deciding takes: table II and figure 12."""
from comparing import bound, estimate, under, untold
from judge import Comparison
from mona_rows import ADAPT, CONTROL, percent, whole
from paper import Seen
from rows import MissingRows

WINDOW_US = 10_000
RANGE_US = 20  # "in the range of 10 us"
LONGEST_US = 10
BUDGETS = (("10x10", 0.01), ("20x20", 0.01), ("20x40", 0.02))  # states and tasks, and what they take less than
BEYOND = "40x40"
OF_STATES = {10: "10x4", 20: "20x4", 40: "40x4", 64: "64x4"}
OF_TASKS = {4: "10x4", 10: "10x10", 20: "10x20", 50: "10x50"}
SHARED = "tasks are of four kinds, which share what they measure"


def row_of(runs, states, mode):
    """Any task's: all have the same."""
    rows = runs["deciding"].where(states=states, mode=mode)
    if not rows:
        raise MissingRows(f"none of {states} states and tasks, {mode}")
    return rows[0]


def table_2(runs):
    rows = {states: row_of(runs, states, CONTROL) for states in (*[states for states, _ in BUDGETS], BEYOND)}
    return Seen("share of the time that deciding takes, by states and tasks: " + ", ".join(f"{states} {percent(row['overhead_share'])}" for states, row in rows.items()),
                (*(under(f"{states} take less than {whole(budget)}", rows[states], budget, "overhead_share", headline=True) for states, budget in BUDGETS),
                 untold("with what packets take more for it")),
                f"1,000 flows at a load of 1.4, by the clock of the core; {SHARED}. What counting by states, sampling and changing flows take is time of packets, and not told apart")


def decision_us(row):
    """On average."""
    return estimate(row, "overhead_share").times(WINDOW_US)


def decisions(runs, configurations, mode):
    return {number: decision_us(row_of(runs, states, mode)) for number, states in configurations.items()}


def told(times, what):
    return f"us a decision by {what}: " + ", ".join(f"{number}: {time.value:.1f}" for number, time in times.items())


def grows(times, what, few, many, most, by):
    """That the time of `many` is in range, and above that of `few` by a factor of `most`, `by` name, at most."""
    return (Comparison(f"{many} {what} take 20 us at most", times[many], bound(RANGE_US), or_equal=True, headline=True),
            Comparison(f"the time grows from {few} to {many} {what}", times[few], times[many], headline=True),
            Comparison(f"{by} at most", times[many], times[few], factor=most, or_equal=True))


def figure_12a(runs):
    times = decisions(runs, OF_STATES, ADAPT)
    return Seen(told(times, "states"), grows(times, "states", 20, 64, (64 / 20) ** 2, "by the square"),
                "adaptation alone, with four tasks, the mean of all windows; the range of 10 us is taken as twice at most")


def figure_12b(runs):
    times = decisions(runs, OF_TASKS, CONTROL)
    return Seen(told(times, "tasks"), grows(times, "tasks", 10, 50, 50 / 10, "in proportion"),
                f"ten states, adaptation with accuracy control, the mean of all windows; {SHARED}; the range of 10 us is taken as twice at most")


def longest_step(runs):
    row = row_of(runs, "chain", CONTROL)
    return Seen(f"the longest of a run's decisions takes {row['longest_step_us']:.0f} us, {decision_us(row).value:.1f} us are the mean",
                (Comparison("the longest takes 10 us at most", estimate(row, "longest_step_us"), bound(LONGEST_US), or_equal=True, headline=True),),
                "configuration 1; by the clock, so that a thread that waits for its core is in it")
