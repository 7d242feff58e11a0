# SPDX-License-Identifier: Apache-2.0
"""Figures 3, 7, 8, 9 and 11 of MONA, drawn from rows."""

import itertools
import math

from comparing import estimate
from mona_losses import LOST, LOST_LATER
from mona_rows import ADAPT, CONTROL, FIRST, NO_ADAPT, TASKS
from plots import PANELS, key, panel

THEIRS = (NO_ADAPT, ADAPT, CONTROL)


def data(name, points):
    """A block of gnuplot: x, y, low, high; the value for an end that is not known."""

    def end(one, at):
        return at if math.isfinite(at) else one.value

    return [
        f"${name} << EOD",
        *(f"{x} {one.value} {end(one, one.low)} {end(one, one.high)}" for x, one in points),
        "EOD",
    ]


def draw_cache_hits(rows):
    """Figure 3: the error by the share of hits, of both ways."""
    lines = [
        'set xlabel "share of lookups that the cache answers"',
        'set ylabel "% of error"',
        "set grid",
        "set yrange [0:*]",
        "set key top right",
    ]
    found = sorted(rows.all, key=lambda row: row["hit_share"])
    for column in ("error", "naive_error"):
        lines += data(column, ((row["hit_share"], estimate(row, column).times(100)) for row in found))
    return lines + [
        'plot $error using 1:2:3:4 with yerrorlines title "by two distributions", $naive_error using 1:2:3:4 with '
        'yerrorlines title "by the nearer mean"'
    ]


def draw_losses(rows):
    """Figure 7: bars of what is lost, a group for each scenario and queue."""
    groups = list(dict.fromkeys((row["scenario"], row["queue_packets"]) for row in rows.all))
    lines = [
        'set ylabel "% of the packets lost"',
        "set grid y",
        "set style data histograms",
        "set style fill solid 0.6",
        "set xtics rotate by 30 right",
        "set yrange [0:*]",
        "set key outside top center horizontal",
        "$d << EOD",
    ]
    for scenario, queue in groups:
        shares = [
            100 * rows.one(scenario=scenario, queue_packets=queue, mode=mode, task=FIRST)[LOST_LATER]
            for mode in THEIRS[:2]
        ]
        lines.append(f'"{scenario}, {queue}" ' + " ".join(map(str, shares)))
    return lines + [
        "EOD",
        "plot "
        + ", ".join(
            f'$d using {n + 2}{":xtic(1)" if n == 0 else ""} title "{mode}"' for n, mode in enumerate(THEIRS[:2])
        ),
    ]


# What the paper states of figure 8: the median satisfaction of 100 experiments, in the order of THEIRS.
PAPERS_SATISFACTION = (0.38, 0.23, 0.75)


def draw_satisfaction(rows):
    """Figure 8: a panel for each configuration and task, a line for each mode along the load. Dashed lines are the
    paper's medians, in the color of their mode."""
    lines = [*PANELS]
    for states, task in itertools.product(rows.values("states"), TASKS):
        for number, mode in enumerate(THEIRS):
            found = sorted(rows.where(states=states, task=task, mode=mode), key=lambda row: row["load"])
            lines += data(f"d{number}", ((row["load"], estimate(row, "satisfaction_by_recall")) for row in found))
        lines += panel(f"{states}, {TASKS[task]}", THEIRS, PAPERS_SATISFACTION)
    return lines + key(THEIRS)


def draw_recall(rows):
    """Figure 9a: recall along the share of flows that a task misses, a line for each configuration and task."""
    lines = [
        'set xlabel "% of the flows are missing"',
        'set ylabel "recall"',
        "set grid",
        "set yrange [0:1.02]",
        "set key outside right",
    ]
    titles = [(states, task) for states in rows.values("states") for task in TASKS]
    for number, (states, task) in enumerate(titles):
        found = sorted(rows.where(states=states, task=task, mode=ADAPT), key=lambda row: row["missing_share"])
        lines += data(
            f"d{number}",
            ((100 * row["missing_share"], estimate(row, "recall")) for row in found if row["recall"] is not None),
        )
    return lines + [
        "plot "
        + ", ".join(
            f'$d{n} using 1:2:3:4 with yerrorlines title "{states}, {TASKS[task]}"'
            for n, (states, task) in enumerate(titles)
        )
    ]


def draw_floods(rows):
    """Figure 11a: what is lost along the flood's share, without and with a filter."""
    lines = [
        'set xlabel "% of the packets are a SYN flood"',
        'set ylabel "% of the packets lost"',
        "set grid",
        "set yrange [0:*]",
        "set key outside right",
    ]
    filters = rows.values("filter_bytes")
    for number, filtered in enumerate(filters):
        found = sorted(rows.where(task=FIRST, mode=CONTROL, filter_bytes=filtered), key=lambda row: row["flood_share"])
        lines += data(f"d{number}", ((100 * row["flood_share"], estimate(row, LOST).times(100)) for row in found))
    return lines + [
        "plot "
        + ", ".join(
            f'$d{n} using 1:2:3:4 with yerrorlines title "{f"filter of {size} bytes" if size else "no filter"}"'
            for n, size in enumerate(filters)
        )
    ]
