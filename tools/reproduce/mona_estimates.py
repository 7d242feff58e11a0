# SPDX-License-Identifier: Apache-2.0
"""What runs say in MONA of flows that a task misses: how right its recall is estimated, figure 5, and what recall is left, figure 9."""
from comparing import below, bound, estimate, untold
from judge import Comparison, Estimate, Of
from mona_rows import ADAPT, CONTROL, FIRST, KEPT, TASKS, between, known, mean, mean_of, percent, whole
from paper import NotHere, NotYet, Seen

LATENCY = "latency-change"
NAMED = ("retransmissions", LATENCY)  # those that vary most in the paper
AVERAGE, MOST = 0.08, 0.2  # errors that the paper has
FEWEST = 3  # rows of a third, to say anything of it
PAPERS_THRESHOLD = 0.05  # of heavy hitters: 5 Mb in 10 ms at 10 Gb/s
OF_ROWS = "of the recall that was estimated with accuracy control, of the true one, in windows with 20 events at least, of runs in which the task missed flows"


def estimated(runs, task):
    """Rows in which a task missed flows, and events enough are known of."""
    rows = [row for name in ("dynamic", "constant") for row in runs[name].where(task=task, mode=CONTROL) if row["missing_share"] > 0]
    return known(rows, "mean_error")


def by_task(runs):
    rows = {task: found for task in TASKS if (found := estimated(runs, task))}
    if not rows:
        raise NotHere("no task missed flows in any run")
    return rows


def figure_5a(runs):
    rows = by_task(runs)
    errors = {task: mean(found, "mean_error") for task, found in rows.items()}
    every = [row for found in rows.values() for row in found]
    worst_run, worst_window = (max(every, key=lambda row, column=column: row[column]) for column in ("mean_error", "worst_error"))
    return Seen("mean error by task: " + ", ".join(f"{TASKS[task]} {percent(error.value)}" for task, error in errors.items()) +
                f"; {percent(worst_run['mean_error'])} in the worst of {len(every)} runs of a task, {whole(worst_window['worst_error'])} in the worst window",
                (Comparison("the tasks' mean error is 8 % at most", mean_of(list(errors.values())), bound(AVERAGE), or_equal=True, headline=True),
                 Comparison("no run's mean error is above 20 %", estimate(worst_run, "mean_error"), bound(MOST), or_equal=True, headline=True),
                 Comparison("no window's error is above 20 %", estimate(worst_window, "worst_error"), bound(MOST), or_equal=True),
                 *(Comparison(f"{TASKS[task]}'s error is below LatChange's", error, errors[LATENCY]) for task, error in errors.items()
                   if task != LATENCY and LATENCY in errors),
                 untold("the error is half of an upper bound's for RTx, a fifth of the mean's for LatChange")),
                f"{OF_ROWS}; whether the paper's 20 % are of runs or windows it does not say. Estimates by the mean alone, or by the upper bound alone, are not run")


def figure_5b(runs):
    comparisons, told = [], []
    for task, rows in by_task(runs).items():
        rows = sorted(rows, key=lambda row: row["missing_share"])
        third = len(rows) // 3
        if third < FEWEST:
            continue
        ends = rows[:third], rows[-third:]
        few, many = (mean(part, "mean_error") for part in ends)
        comparisons.append(Comparison(f"{TASKS[task]}'s error grows with the share of missing flows", few, many, headline=True))
        told.append(f"{TASKS[task]} " + ", ".join(f"{whole(mean(part, 'missing_share').value)}: {percent(error.value)}" for part, error in zip(ends, (few, many))))
    if not comparisons:
        raise NotYet("a task has to miss flows in nine runs at least")
    return Seen("flows missed, and error, in the third of the runs with the fewest and in that with the most: " + "; ".join(told), tuple(comparisons), OF_ROWS)


def figure_5c(runs):
    rows = by_task(runs)
    if not set(NAMED) < set(rows):
        raise NotYet("RTx, LatChange and another task have to miss flows in some run")
    varied = {task: known(found, "variation") for task, found in rows.items()}
    variations, errors = ({task: mean(found, column) for task, found in varied.items()} for column in ("variation", "mean_error"))
    others = [task for task in varied if task not in NAMED]
    return Seen("coefficient of variation, and mean error: " + "; ".join(f"{TASKS[task]} {variations[task].value:.2f}, {percent(errors[task].value)}" for task in varied),
                tuple(Comparison(f"{TASKS[task]} {what} less than {TASKS[named]}", of[task], of[named], headline=True)
                      for what, of in (("varies", variations), ("errs", errors)) for named in NAMED for task in others),
                f"variation is of a task's events a flow in ten windows in a row, as its estimate goes by; error {OF_ROWS}")


def curves(runs):
    """Of each configuration and task but heavy hitters: points (share of missing flows, recall) with adaptation alone, where nothing was shed."""
    found = {}
    for row in runs["constant"].where(mode=ADAPT):
        if row["task"] != FIRST and row["recall"] is not None and not row["shed_share"] and row["missing_share"] > 0:
            found.setdefault((row["states"], row["task"]), [(0.0, Estimate(1, 1, 1, Of.COUNT))]).append((row["missing_share"], estimate(row, "recall")))
    return {key: sorted(points, key=lambda point: point[0]) for key, points in found.items()}


def figure_9a(runs):
    hitters = {row["missing"]: row for row in runs["missing-flows"].where(threshold=PAPERS_THRESHOLD)}
    others = curves(runs)
    comparisons = []
    for (states, task), points in others.items():
        for missing, row in hitters.items():
            if (same := between(points, missing)) is not None:
                comparisons.append(Comparison(f"HH's recall below {TASKS[task]}'s ({states}) where {whole(missing)} of the flows are missing", estimate(row, "recall"), same,
                                              headline=True))
    if not comparisons:
        raise NotHere("no task missed flows in any run in which nothing was shed")
    return Seen("flows missed, and recall: HH " + ", ".join(f"{whole(missing)} {row['recall']:.2f}" for missing, row in hitters.items()) + "; " + "; ".join(
        f"{TASKS[task]} ({states}) " + ", ".join(f"{whole(share)} {recall.value:.2f}" for share, recall in points[1:]) for (states, task), points in others.items()),
                tuple(comparisons), f"{KEPT}. Theirs are simulated, as in 9b, with the paper's threshold of 5 % of the line (5 Mb in 10 ms; elsewhere it has 5 MB, 40 %). Others are "
                "measured, on straight lines between loads")


def figure_9b(runs):
    run = runs["missing-flows"]
    thresholds, shares = run.values("threshold"), run.values("missing")
    rows = {(share, threshold): run.one(missing=share, threshold=threshold) for share in shares for threshold in thresholds}
    return Seen("recall by share of missing flows, with thresholds of " + ", ".join(f"{100 * threshold:g}" for threshold in thresholds) + " % of the bytes: " +
                "; ".join(f"{whole(share)}: " + ", ".join(f"{rows[share, threshold]['recall']:.2f}" for threshold in thresholds) for share in shares),
                tuple(below(f"{100 * high:g} % finds less than {100 * low:g} % where {whole(share)} of the flows are missing", rows[share, high],
                            rows[share, low], "recall", headline=(low, high) == (thresholds[0], thresholds[-1]))
                      for share in shares for low, high in [(thresholds[0], thresholds[-1]), *zip(thresholds, thresholds[1:])]),
                "simulated: 1,000 flows of 100 sources in a window, Zipf 1.1. How a source's bytes spread over its flows decides it, which the paper does not say")
