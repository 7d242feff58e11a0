# SPDX-License-Identifier: Apache-2.0
"""Tables and sentences of the page on adaptive monitoring, made of the rows of its runs."""

import statistics

import oracle

MODES = ("off", "mona-adapt", "mona", "adapt")
OURS = "adapt"  # the default policy of Parshall
BY_FLOWS, BY_COUNT = "satisfaction", "satisfaction_by_count"
TASKS = ("heavy-hitters", "retransmissions", "bursty", "latency-change")
STATES = ("chain", "tree")
FIGURES = {"swing-250ms": "7a", "swing-100ms": "7b", "neighbour": "7c", "skew": "7d"}


def median(rows, column):
    return statistics.median(row[column] for row in rows if row[column] is not None)


def percent(share):
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"


def table(head, lines):
    return ["", f"| {' | '.join(head)} |", "|" + "---|" * len(head)] + [f"| {' | '.join(line)} |" for line in lines]


def losses(rows):
    """Of the packets, and in how many windows of 10 ms; a line for each scenario and queue."""
    lines = []
    for scenario in FIGURES:
        for queue in rows.values("queue_packets"):
            cells = []
            for mode in MODES:
                of_mode = rows.where(scenario=scenario, queue_packets=queue, mode=mode, task=TASKS[0])
                cells.append(
                    f"{percent(median(of_mode, 'missed_share'))}, {median(of_mode, 'lossy_windows'):.0f} windows, "
                    f"{median(of_mode, 'longest_loss_windows'):.0f} in a row"
                )
            lines.append([FIGURES[scenario], scenario, str(queue), *cells])
    return table(["figure", "scenario", "queue", *MODES], lines)


def satisfactions(rows, scenario):
    """A line for each load and task: the median round, and the worst; behind the semicolon, by each event."""
    lines = []
    for states in STATES:
        for load in sorted({row["load"] for row in rows.where(scenario=scenario, states=states)}):
            for task in TASKS:
                cells = []
                for mode in MODES:
                    found = rows.where(scenario=scenario, states=states, load=load, mode=mode, task=task)
                    cells.append(
                        "; ".join(
                            f"{median(found, column):.2f} ({min(row[column] for row in found):.2f})"
                            for column in (BY_FLOWS, BY_COUNT)
                        )
                    )
                lines.append([states, f"{load:g}", task, *cells])
    return table(["states", "load", "task", *MODES], lines)


def overall(rows):
    """A line for each configuration and measure: the median of all tasks, and without heavy hitters."""
    lines = []
    for states in STATES:
        for name, column in (("by flows", BY_FLOWS), ("by count", BY_COUNT)):
            cells = []
            for mode in MODES:
                of_mode = rows.where(states=states, mode=mode)
                judged = [row for row in of_mode if row["task"] != TASKS[0]]
                cells.append(f"{median(of_mode, column):.2f}; {median(judged, column):.2f}")
            lines.append([states, name, *cells])
    return table(["states", "satisfied", *MODES], lines)


def sums(rows, scenario, costs):
    """A line for each load: the satisfaction of all tasks added up, in the median round and the worst; the same by each
    event; and what an oracle could reach."""

    def all_tasks(found, column):
        rounds = [
            sum(of_round)
            for of_round in zip(*([row[column] for row in found if row["task"] == task] for task in TASKS))
        ]
        return f"{statistics.median(rounds):.2f} ({min(rounds):.2f})"

    lines = []
    for states in STATES:
        for load in sorted({row["load"] for row in rows.where(scenario=scenario, states=states)}):
            of_modes = [rows.where(scenario=scenario, states=states, load=load, mode=mode) for mode in MODES]
            full_ns = 0.95e3 / (median(of_modes[0], "mpps") / load)
            lines.append(
                [
                    states,
                    f"{load:g}",
                    *(f"{all_tasks(found, BY_FLOWS)}; {all_tasks(found, BY_COUNT)}" for found in of_modes),
                    f"{oracle.satisfied_on_average(costs, states, load, full_ns, scenario == 'dynamic'):.2f}",
                ]
            )
    return table(["states", "load", *MODES, "oracle"], lines)


def estimates(*runs):
    """How accurate the estimates of the recall were, in the runs in which tasks left out flows."""
    lines = []
    for task in TASKS[1:]:
        rows = [row for run in runs for row in run.where(task=task, mode=OURS) if row["reduced_share"] > 0]
        known = [row for row in rows if row["mean_error"] is not None]
        told = [row for row in rows if row["bound_held_share"] is not None]
        lines.append(
            [
                task,
                str(len(rows)),
                percent(median(known, "mean_error")),
                percent(max(row["mean_error"] for row in known)),
                percent(median(known, "worst_error")),
                percent(median(told, "bound_held_share")),
                percent(min(row["bound_held_share"] for row in told)),
                percent(median(rows, "bound_told_share")),
                f"{median(rows, 'precision'):.3f}",
            ]
        )
    return table(
        [
            "task",
            "runs",
            "mean error, median run",
            "mean error, worst run",
            "worst window, median run",
            "recall above bound, median run",
            "recall above bound, worst run",
            "windows with a bound, median run",
            "precision",
        ],
        lines,
    )


def floods(rows):
    lines = []
    for flood in rows.values("flood_share"):
        for filter_bytes in rows.values("filter_bytes"):
            cells = []
            for mode in MODES:
                found = rows.where(flood_share=flood, filter_bytes=filter_bytes, mode=mode)
                recalls = ", ".join(
                    f"{median([row for row in found if row['task'] == task], 'recall'):.2f}" for task in TASKS
                )
                cells.append(f"{percent(median(found, 'missed_share'))}; {recalls}")
            lines.append([percent(flood), f"{filter_bytes} bytes" if filter_bytes else "none", *cells])
    return table(["flood", "filter", *MODES], lines)


def overloads(rows):
    """A line for each mode and task: the median round."""
    lines = []
    for mode in (mode for mode in MODES if rows.where(mode=mode)):
        for task in TASKS:
            found = rows.where(mode=mode, task=task)
            held = [row["bound_held_share"] for row in found if row["bound_held_share"] is not None]
            lines.append(
                [
                    mode,
                    task,
                    percent(median(found, "missed_share")),
                    f"{median(found, 'recall'):.3f}",
                    f"{median(found, 'precision'):.3f}",
                    percent(statistics.median(held)) if held else "no bound",
                    percent(median(found, "bound_told_share")),
                ]
            )
    return table(["mode", "task", "lost", "recall", "precision", "recall above bound", "windows with a bound"], lines)


def long_run(rows):
    row = rows.where(task=TASKS[0])[0]
    return (
        f"{row['offered_packets'] / 1e9:.1f} billion packets arrived at {row['mpps']:.1f} Mpps. "
        f"{percent(row['missed_share'])} were lost. All others are in flows, and every packet is accounted for. "
        f"Resident memory at the end was {100 * row['memory_growth']:+.1f} % of its size after a minute."
    )


def sketches(rows):
    lines = []
    for window in rows.values("window_ms"):
        for row in rows.where(window_ms=window):
            width = (
                ""
                if row["width"] is None
                else f"{row['width']}" + (f", one in {row['one_in']}" if row["one_in"] else "")
            )
            lines.append(
                [
                    f"{window:g}",
                    row["way"],
                    width,
                    f"{row['ns']:.1f}",
                    f"{row['ratio']:.2f}",
                    *("" if row[name] is None else f"{row[name]:.3f}" for name in ("recall", "precision")),
                    f"{row['memory_mb']:.1f}",
                ]
            )
    return table(["window, ms", "way", "width", "ns a packet", "ratio", "recall", "precision", "MB"], lines)


def overhead(*runs):
    rows = [row for run in runs for row in run.where(task=TASKS[0], mode=OURS)]
    return (
        f"The controller's decisions took {100 * median(rows, 'overhead_share'):.2f} % of the time in the median of "
        f"{len(rows)} runs, and "
        f"{100 * max(row['overhead_share'] for row in rows):.2f} % in the worst run."
    )
