# SPDX-License-Identifier: Apache-2.0
"""What runs say of times and estimates in MONA: figures 1, 3, 5, 9, 10 and 13, table I."""
import statistics

from comparing import at_most, below, bound, estimate, reaches, under
from judge import Comparison, Estimate, Of
from mona_judges import ADAPT, CONTROL, TASKS, THRESHOLD, mean
from paper import NotHere, Seen


def figure_1a(runs):
    rows = {row["beside"]: row for row in runs["contended"].where(table="bucketed")}
    return Seen("ns a packet beside " + ", ".join(f"{name} {row['ns']:.1f}" for name, row in rows.items()),
                (at_most("a neighbour that fights for the cache doubles the cost", rows["none"], rows["cache"], 0.5, headline=True),
                 below("a neighbour that fights for the cache raises the cost", rows["none"], rows["cache"]), below("one that copies memory raises the cost", rows["none"], rows["memory"])),
                "one neighbour, the paper three; entries are asked for 32 packets early, which hides most of what a cache no longer holds")


def figure_1b(runs):
    rows = sorted(runs["skewed"].where(table="bucketed"), key=lambda row: row["zipf"])
    least, most = rows[0], rows[-1]
    return Seen("ns a packet by skew: " + ", ".join(f"{row['zipf']:g}: {row['ns']:.1f}" for row in rows),
                (at_most(f"a skew of {least['zipf']:g} doubles the cost of one of {most['zipf']:g}", most, least, 0.5, headline=True),
                 *(below(f"{a['zipf']:g} costs more than {b['zipf']:g}", b, a) for a, b in zip(rows, rows[1:]))), "100,000 flows")


def figure_3(runs):
    """The estimate of P on simulated times: the share of a window's packets whose entry is in the cache."""
    rows = sorted(runs["cache-hits"].all, key=lambda row: row["hit_share"])
    worst, naive = max(rows, key=lambda row: row["error"]), max(rows, key=lambda row: row["naive_error"])
    return Seen("mean error of 1,000 samples in percent, by two distributions and by the nearer mean, at shares of " + "; ".join(
        f"{row['hit_share']:g}: {100 * row['error']:.2f}, {100 * row['naive_error']:.2f}" for row in rows),
                (Comparison("the error is below 1 % on average over the shares", mean(rows, "error"), bound(0.01), headline=True),
                 under("the error is below 1 % at any share", worst, 0.01, "error"),
                 *(below(f"it is below the nearer mean's at {row['hit_share']:g}", {"error": row["error"], "low_error": row["low_error"],
                                                                                   "high_error": row["high_error"]},
                         {"error": row["naive_error"], "low_error": row["low_naive_error"], "high_error": row["high_naive_error"]}, "error") for row in rows),
                 reaches("the nearer mean errs by 5 %", naive, 0.05, "naive_error")),
                "simulated, by Gumbel's distribution with the paper's means and coefficients of variation: at a share of a half 1,000 samples alone make 1.3 %")


MODELS = ("gumbel", "normal", "weibull")


def table_1(runs):
    rows = runs["fits"].all
    return Seen("BIC above that of the best: " + "; ".join(f"{row['times']} " + ", ".join(f"{name} {row[name]:.0f}" for name in MODELS) for row in rows),
                tuple(Comparison(f"Gumbel fits better than {name} {row['times']}", estimate(row, MODELS[0]), estimate(row, name), headline=True)
                      for row in rows for name in MODELS[1:]),
                "20,000 lookups of each kind, one at a time; differences of BIC, since its percentages depend on the unit of time")


def given_way(runs, task):
    return [row for name in ("dynamic", "constant") if name in runs for row in runs[name].where(task=task, mode=CONTROL)
            if row["given_way_share"] > 0 and row["mean_error"] is not None]


def median(rows, column):
    """With a 95 % interval by order statistics: it is over the runs that the rows are of."""
    values = sorted(row[column] for row in rows)
    rank = max(0, int((len(values) - 1.96 * len(values) ** 0.5) / 2))
    return Estimate(statistics.median(values), values[rank], values[-1 - rank], Of.RUNS)


def figure_5a(runs):
    errors = {task: median(given_way(runs, task), "mean_error") for task in TASKS if given_way(runs, task)}
    if not errors:
        raise NotHere("no flow gave way in any run")
    return Seen("error of the recall that was estimated, median run: " + ", ".join(f"{TASKS[task]} {100 * error.value:.1f} %" for task, error in errors.items()),
                (*(Comparison(f"{TASKS[task]}'s error is 20 % at most", error, bound(0.2), or_equal=True, headline=True) for task, error in errors.items()),
                 *(Comparison(f"{TASKS[task]}'s is below LatChange's", error, errors["latency-change"]) for task, error in errors.items()
                   if task != "latency-change" and "latency-change" in errors)))


def figure_5b(runs):
    comparisons, told = [], []
    for task, name in TASKS.items():
        rows = sorted(given_way(runs, task), key=lambda row: row["given_way_share"])
        third = len(rows) // 3
        if third < 3:
            continue
        few, many = median(rows[:third], "mean_error"), median(rows[-third:], "mean_error")
        comparisons.append(Comparison(f"{name}'s error grows with the share of missing flows", few, many, headline=True))
        told.append(f"{name} {100 * few.value:.1f}, {100 * many.value:.1f} %")
    if not comparisons:
        raise NotHere("too few runs in which flows gave way")
    return Seen("error in the third of the runs with the fewest missing flows, and in that with the most: " + "; ".join(told), tuple(comparisons))


def figure_9a(runs):
    """Recall along the share of flows that give way, with adaptation alone at constant rates."""
    found = {task: sorted((row for row in runs["constant"].where(task=task, mode=ADAPT) if row["given_way_share"] > 0 and row["recall"] is not None),
                          key=lambda row: row["given_way_share"]) for task in TASKS}
    if not any(found.values()):
        raise NotHere("no flow gave way in any run")
    comparisons = []
    for hitters in found["heavy-hitters"]:
        for task in list(TASKS)[1:]:
            same = [row for row in found[task] if row["load"] == hitters["load"]]
            comparisons += [below(f"HH's recall below {TASKS[task]}'s at load {row['load']:g}", hitters, row, "recall", headline=True) for row in same]
    return Seen("share of flows that gave way, and recall: " + "; ".join(
        f"{TASKS[task]} " + ", ".join(f"{100 * row['given_way_share']:.0f} % {row['recall']:.2f}" for row in rows) for task, rows in found.items()),
                tuple(comparisons), "the paper's heavy hitters have 40 % of the line's bytes; here 0.1 % of a window's packets")


def figure_9b(runs):
    run = runs["missing-flows"]
    thresholds, shares = run.values("threshold"), run.values("missing")
    rows = {(share, threshold): run.one(missing=share, threshold=threshold) for share in shares for threshold in thresholds}
    return Seen("recall by share of missing flows, with thresholds of " + ", ".join(f"{100 * threshold:g}" for threshold in thresholds) + " % of the bytes: " +
                "; ".join(f"{100 * share:.0f} %: " + ", ".join(f"{rows[share, threshold]['recall']:.2f}" for threshold in thresholds) for share in shares),
                tuple(below(f"{100 * high:g} % finds less than {100 * low:g} % where {100 * share:.0f} % of the flows are missing", rows[share, high],
                            rows[share, low], "recall", headline=(low, high) == (thresholds[0], thresholds[-1]))
                      for share in shares for low, high in [(thresholds[0], thresholds[-1]), *zip(thresholds, thresholds[1:])]),
                "simulated: 1,000 flows of 100 sources in a window, Zipf 1.1; with other flows it may be otherwise")


def figure_10a(runs):
    rows = sorted(runs["collisions"].where(table="chained"), key=lambda row: row["load"])
    return Seen("chained table, flows to slots: ns, and % lost at 14.88 Mpps: " + "; ".join(
        f"{row['load']:g}: {row['ns']:.1f}, {100 * row['modelled_loss']:.2g}" for row in rows),
                (*(below(f"{b['load']:g} flows a slot cost more than {a['load']:g}", a, b, headline=b is rows[-1]) for a, b in zip(rows, rows[1:])),
                 at_most("few slots lose more packets", rows[0], rows[-1], 1, "modelled_loss", headline=True)),
                "250,000 flows of Zipf 1.1; a queue of 4096 is modelled. New flows do not come here: the paper has 1,000 every 10 ms")


def sketched(runs):
    rows = runs["sketches"].where(window_ms=10.0)
    keeper = next(row for row in rows if row["way"] == "all-flows")
    return keeper, [row for row in rows if row["way"] not in ("all-flows", "worker")]


def named(row):
    return f"{row['way']} of {row['width']:.0f}" + (f", one in {row['one_in']:.0f}" if row["one_in"] and row["one_in"] > 1 else "")


def figure_13a(runs):
    keeper, sketches = sketched(runs)
    return Seen(f"ns a packet: every flow {keeper['ns']:.1f}, " + ", ".join(f"{named(row)} {row['ns']:.1f}" for row in sketches),
                tuple(at_most(f"{named(row)} is a quarter faster", row, keeper, THRESHOLD, headline=row["one_in"] is not None and row["one_in"] > 1)
                      for row in sketches),
                "worker and analyst on one core. SketchVisor is not public: sketches stand for it, of which only that with a sampled path (one in 16) has a "
                "fast path as it has")


def figure_13b(runs):
    keeper, sketches = sketched(runs)
    return Seen(f"recall, precision: every flow {keeper['recall']:.3f}, {keeper['precision']:.3f}; " +
                "; ".join(f"{named(row)} {row['recall']:.3f}, {row['precision']:.3f}" for row in sketches),
                (reaches("keeping every flow finds all", keeper, 1, "recall", headline=True), reaches("keeping every flow finds nothing else", keeper, 1, "precision", headline=True),
                 *(at_most(f"{named(row)} finds no more", row, keeper, 1, "recall") for row in sketches)))
