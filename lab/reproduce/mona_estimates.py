# SPDX-License-Identifier: Apache-2.0
"""What runs say in MONA of flows that a task misses: how right its recall is estimated, figure 5, and what recall is
left, figure 9."""

import math
import statistics

from comparing import below, bound, estimate, untold
from judge import Comparison, Estimate, Of
from mona_losses import LOST_LATER
from mona_rows import ADAPT, CONTROL, FIRST, KEPT, NOTHING, TASKS, between, in_each_run, known, percent, pooled, whole
from paper import NotHere, NotYet, Seen
from rows import ENOUGH

LATENCY = "latency-change"
NAMED = ("retransmissions", LATENCY)  # those that vary most in the paper
AVERAGE, MOST = 0.08, 0.2  # errors that the paper has
FEWEST = 3  # rows of a third, to say anything of it
MOST_LOST = 0.01  # share of the packets beyond which recall is not by missing flows alone
PAPERS_THRESHOLD = 0.05  # of heavy hitters: 5 Mb in 10 ms at 10 Gb/s
OF_ROWS = (
    "errors are relative to the true recall, with accuracy control, in windows with at least 20 events. They "
    "cover settings in which the task missed flows in most runs and every run has an error"
)


def estimated(runs, task):
    """Rows in which a task missed flows, and events enough are known of."""
    rows = [
        row
        for name in ("dynamic", "constant")
        for row in runs[name].where(task=task, mode=CONTROL)
        if row["missing_share"] > NOTHING
    ]
    return known(rows, "mean_error")


def by_task(runs):
    rows = {task: found for task in TASKS if (found := estimated(runs, task))}
    if not rows:
        raise NotHere("no task missed flows in any run")
    return rows


def every_value(runs, column):
    """Of each run, of all settings, in which a task missed flows, where it is known."""
    return [
        value
        for name in ("dynamic", "constant")
        for task in TASKS
        for row in runs[name].where(task=task, mode=CONTROL)
        for missing, value in zip(in_each_run(row, "missing_share"), in_each_run(row, column))
        if value is not None and missing is not None and missing > NOTHING
    ]


def figure_5a(runs):
    rows = by_task(runs)
    errors = {task: pooled(found, "mean_error") for task, found in rows.items()}
    worst_run, worst_window = (every_value(runs, column) for column in ("mean_error", "worst_error"))
    return Seen(
        "mean error by task: "
        + ", ".join(f"{TASKS[task]} {percent(error['mean_error'])}" for task, error in errors.items())
        + f"; {percent(max(worst_run))} in the worst of {len(worst_run)} runs of a task, {whole(max(worst_window))} in "
        f"the worst window",
        (
            Comparison(
                "the tasks' mean error is 8 % at most",
                estimate(pooled(list(errors.values()), "mean_error"), "mean_error"),
                bound(AVERAGE),
                or_equal=True,
                headline=True,
            ),
            Comparison(
                "every run's mean error is 20 % at most",
                bound(max(worst_run), "%"),
                bound(MOST),
                or_equal=True,
                headline=True,
            ),
            Comparison(
                "every window's error is 20 % at most", bound(max(worst_window), "%"), bound(MOST), or_equal=True
            ),
            *(
                below(f"{TASKS[task]}'s error is below LatChange's", error, errors[LATENCY], "mean_error")
                for task, error in errors.items()
                if task != LATENCY and LATENCY in errors
            ),
            untold("the error is half of an upper bound's for RTx, a fifth of the mean's for LatChange"),
        ),
        f"{OF_ROWS}; the paper does not say whether its 20 % are of runs or of windows. Estimates by the mean alone, "
        f"or by the upper bound alone, are not measured",
    )


def figure_5b(runs):
    comparisons, told, too_few = [], [], []
    for task, rows in by_task(runs).items():
        rows = sorted(rows, key=lambda row: row["missing_share"])
        third = len(rows) // 3
        if third < FEWEST:
            too_few.append(TASKS[task])
            continue
        ends = rows[:third], rows[-third:]
        few, many = (pooled(part, "mean_error") for part in ends)
        comparisons.append(
            below(
                f"{TASKS[task]}'s error grows with the share of missing flows", few, many, "mean_error", headline=True
            )
        )
        told.append(
            f"{TASKS[task]} "
            + ", ".join(
                f"{whole(pooled(part, 'missing_share')['missing_share'])}: {percent(error['mean_error'])}"
                for part, error in zip(ends, (few, many))
            )
        )
    if not comparisons:
        raise NotYet("a task has to miss flows in nine runs at least")
    return Seen(
        "flows missed, and error, in the third of the runs with the fewest and in that with the most: "
        + "; ".join(told),
        tuple(comparisons),
        OF_ROWS + (f". Too few are of {', '.join(too_few)}" if too_few else ""),
    )


def figure_5c(runs):
    rows = by_task(runs)
    if not set(NAMED) < set(rows):
        raise NotYet("RTx, LatChange and another task have to miss flows in some run")
    varied = {task: known(found, "variation") for task, found in rows.items()}
    variations, errors = (
        {task: pooled(found, column) for task, found in varied.items()} for column in ("variation", "mean_error")
    )
    others = [task for task in varied if task not in NAMED]
    return Seen(
        "coefficient of variation, and mean error: "
        + "; ".join(
            f"{TASKS[task]} {variations[task]['variation']:.2f}, {percent(errors[task]['mean_error'])}"
            for task in varied
        ),
        tuple(
            below(f"{TASKS[task]} {what} than {TASKS[named]}", of[task], of[named], column, headline=True)
            for what, column, of in (
                ("varies less", "variation", variations),
                ("has a smaller error", "mean_error", errors),
            )
            for named in NAMED
            for task in others
        ),
        f"variation is of a task's events a flow in ten windows in a row, on which its estimate rests; {OF_ROWS}",
    )


def curves(runs):
    """Of each configuration and task but heavy hitters, with adaptation alone: a list for each run of points (share of
    missing flows, recall), but for runs that lost packets."""
    found = {}
    for row in runs["constant"].where(mode=ADAPT):
        if row["task"] == FIRST:
            continue
        of_runs = found.setdefault(
            (row["states"], row["task"]), [[(0.0, 1.0)] for _ in range(row.get("runs", 1))]
        )  # where no flow is missing, all is found
        for points, missing, recall, lost in zip(
            of_runs, *(in_each_run(row, column) for column in ("missing_share", "recall", LOST_LATER))
        ):
            if None not in (missing, recall, lost) and missing > NOTHING and lost <= MOST_LOST:
                points.append((missing, recall))
    return {key: [sorted(points) for points in of_runs] for key, of_runs in found.items()}


def recall_at(of_runs, missing):
    """Between two loads of each run, where all runs have such; None else. Of too few runs there is no interval."""
    values = [between(points, missing) for points in of_runs]
    if None in values:
        return None
    ends = (min(values), max(values)) if len(values) >= ENOUGH else (-math.inf, math.inf)
    return Estimate(statistics.median(values), *ends, Of.RUNS, "%")


def figure_9a(runs):
    """Heavy hitters as far as both ways that bytes may spread agree."""
    hitters = {}
    for row in runs["missing-flows"].where(threshold=PAPERS_THRESHOLD):
        hitters.setdefault(row["missing"], []).append(estimate(row, "recall"))
    both = {
        missing: Estimate(
            statistics.fmean(one.value for one in of),
            min(one.low for one in of),
            max(one.high for one in of),
            Of.WINDOWS,
            "%",
        )
        for missing, of in hitters.items()
    }
    others = curves(runs)
    comparisons = [
        Comparison(
            f"HH's recall below {TASKS[task]}'s ({states}) where {whole(missing)} of the flows are missing",
            one,
            same,
            headline=True,
        )
        for (states, task), of_runs in others.items()
        for missing, one in both.items()
        if (same := recall_at(of_runs, missing)) is not None
    ]
    if not comparisons:
        raise NotYet("a task has to miss a tenth of the flows in every run, without losing packets")
    return Seen(
        "flows missed, and recall: HH "
        + ", ".join(
            f"{whole(missing)} " + " or ".join(f"{each.value:.2f}" for each in of) for missing, of in hitters.items()
        )
        + "; "
        + "; ".join(
            f"{TASKS[task]} ({states}) {ranges(of_runs)}"
            for (states, task), of_runs in others.items()
            if max(map(len, of_runs)) > 1
        ),
        tuple(comparisons),
        f"{KEPT[0].upper()}{KEPT[1:]}. Heavy hitters are simulated, as in 9b, with the paper's threshold of 5 % of the "
        f"line (5 Mb in 10 ms; elsewhere it has 5 MB, 40 %). Other tasks are measured, by straight lines between two "
        f"loads of a run. For a curved relation this is an approximation. Runs that lost more than "
        f"{whole(MOST_LOST)} of the packets are left out",
    )


def ranges(of_runs):
    """In words, what was missed and found."""
    missing, recall = ([point[place] for points in of_runs for point in points[1:]] for place in (0, 1))
    return f"{whole(min(missing))} to {whole(max(missing))}: {max(recall):.2f} to {min(recall):.2f}"


def figure_9b(runs):
    run = runs["missing-flows"]
    thresholds, shares = run.values("threshold"), run.values("missing")
    rows = {(row["spread"], row["missing"], row["threshold"]): row for row in run.all}
    spreads = list(dict.fromkeys(row["spread"] for row in run.all))
    return Seen(
        "recall by share of missing flows, with thresholds of "
        + ", ".join(f"{100 * threshold:g}" for threshold in thresholds)
        + " % of the bytes; "
        + "; ".join(
            f"{spread}: "
            + "; ".join(
                f"{whole(share)}: "
                + ", ".join(f"{rows[spread, share, threshold]['recall']:.2f}" for threshold in thresholds)
                for share in shares
            )
            for spread in spreads
        ),
        tuple(
            below(
                f"{spread}: {100 * high:g} % finds less than {100 * low:g} % where {whole(share)} of the flows are "
                f"missing",
                rows[spread, share, high],
                rows[spread, share, low],
                "recall",
                headline=(low, high) == (thresholds[0], thresholds[-1]),
            )
            for spread in spreads
            for share in shares
            for low, high in [(thresholds[0], thresholds[-1]), *zip(thresholds, thresholds[1:])]
        ),
        "simulated: 1,000 flows of 100 sources in a window, Zipf 1.1. The result depends on the distribution of bytes, "
        "which the paper does not give. It is either over flows, each with a random source, or over sources, each with "
        "ten equal flows",
    )
