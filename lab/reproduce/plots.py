# SPDX-License-Identifier: Apache-2.0
"""Plots of runs by gnuplot: as their paper draws them, or a line for each first name along a column, or bars."""

import shutil
import subprocess

VARIED = (
    "beside",
    "sharing",
    "input",
    "reads",
    "workers",
    "scheduler",
    "cores",
    "cache",
    "pools",
    "batch",
    "ip_version",
)  # beside the line's name
NO_LABEL = (
    "experiment",
    "verdict",
    "traffic",
    "task",
    "beside",
    "sharing",
    "input",
    "reads",
    "prefetch",
    "pages",
    "kept_of_samples",
)
LABELS = {
    "ns": "ns a packet",
    "mpps": "Mpps",
    "lossless_mpps": "Mpps without loss, modelled",
    "modelled_loss": "share lost, modelled",
    "missed_share": "share of packets missed",
    "batch": "packets a batch",
    "queues": "queues a core",
    "flows": "flows",
    "load": "flows for each slot",
    "zipf": "skew (Zipf)",
    "memory_mb": "MB",
    "footprint_mb": "neighbour's footprint, MB",
    "value_bytes": "bytes of a value",
    "hit_share": "share of lookups from cache",
    "missing": "share of flows missing",
    "mpps_cpu": "million packets a second of CPU",
}
MOST_TICS = 10
SIZE = "set terminal svg noenhanced size 900,560"
CROSS = "pointtype 2 pointsize 1.4"  # of what a paper states


PANELS = (
    "set multiplot layout 2,4 margins 0.05,0.98,0.09,0.85 spacing 0.045,0.16",
    "set grid",
    "set yrange [0:1.02]",
    "set tics font ',9'",
    "unset key",
)


def panel(title, series, papers=()):
    """One of PANELS: $d0, $d1, ... as lines with their intervals, and dashed where a paper has them."""
    lines = [f"$d{n} using 1:2:3:4 with yerrorlines linetype {n + 1}" for n in range(len(series))]
    dashed = [f"{level} with lines linetype {n + 1} dashtype 2" for n, level in enumerate(papers)]
    return [f'set title "{title}"', "plot " + ", ".join(lines + dashed)]


def key(series):
    """Above all of PANELS, after the last of them."""
    place = [f"set {side}margin at screen {at}" for side, at in (("l", 0.05), ("r", 0.98), ("t", 0.99), ("b", 0.93))]
    return [
        *place,
        "unset title",
        "unset tics",
        "unset border",
        "set key center center horizontal maxrows 1",
        "plot [0:1] "
        + ", ".join(f'NaN with linespoints linetype {n + 1} title "{name}"' for n, name in enumerate(series)),
        "unset multiplot",
    ]


def tics_of(values):
    """A mark at each value, where there are few: as it was asked for, and not as it is rounded to."""
    marks = ", ".join(f'"{value:,.7g}" {value}' for value in values)
    return [f"set xtics ({marks})"] if len(values) <= MOST_TICS else []


def label_of(column):
    return LABELS.get(column, column.replace("_", " "))


def series_of(rows, x, y):
    """The lines of a plot: points (x, y, low, high) by name."""
    label = next(
        (column for column in rows.all[0] if isinstance(rows.all[0][column], str) and column not in NO_LABEL), None
    )
    series = {}
    for row in rows.all:
        if row.get(y) is None or (x and row.get(x) is None):
            continue
        name = (
            (row[label] if label else y)
            + " "
            + ", ".join(
                f"{key} {row[key]}"
                for key in VARIED
                if key in row and key not in (x, label) and len(rows.values(key)) > 1
            )
        )
        if x != "zipf" and len(rows.values("zipf") if "zipf" in row else [0]) > 1:
            name += f" skew {row['zipf']}"
        if x != "flows" and x is not None and len(rows.values("flows") if "flows" in row else [0]) > 1:
            name += f" {row['flows']} flows"
        if x is None and "traffic" in row and len(rows.values("traffic")) > 1:
            name += " " + row["traffic"]
        series.setdefault(" ".join(name.split()), []).append(
            (row[x] if x else 0, row[y], row.get(f"low_{y}", row[y]), row.get(f"high_{y}", row[y]))
        )
    return series


def script_of(run, rows):
    if run.draw:
        return run.draw(rows)
    series = series_of(rows, run.x, run.y)
    script = [f'set ylabel "{label_of(run.y)}"', "set grid", "set yrange [0:*]"]
    if run.x:
        is_wide = min(point[0] for points in series.values() for point in points) > 0 and run.x != "zipf"
        script += [
            f'set xlabel "{label_of(run.x)}"',
            "set key outside right",
            *(["set logscale x 2"] if is_wide else []),
            *tics_of(rows.values(run.x)),
        ]
        for i, points in enumerate(series.values()):
            script += [f"$d{i} << EOD"] + [" ".join(map(str, point)) for point in sorted(points)] + ["EOD"]
        return script + [
            "plot " + ", ".join(f'$d{i} with yerrorlines title "{title}"' for i, title in enumerate(series))
        ]
    script += ["$d << EOD"] + [f'"{title}" ' + " ".join(map(str, points[0][1:])) for title, points in series.items()]
    crosses = [(place, run.papers[title]) for place, title in enumerate(series) if title in run.papers]
    papers = [" ".join(map(str, cross)) for cross in crosses]
    return script + [
        "EOD",
        *(["$p << EOD", *papers, "EOD"] if papers else []),
        f"set xrange [-0.6:{len(series) - 0.4}]",
        "set style fill solid 0.5",
        "set xtics rotate by 60 right",
        "plot $d using 0:2:3:4:(0.7):xtic(1) with boxerrorbars notitle"
        + (f", $p with points {CROSS} title 'the paper'" if papers else ""),
    ]


def plot(run, rows, path):
    """Whether it was drawn: not without gnuplot, nor without rows."""
    if shutil.which("gnuplot") is None or not rows.all:
        return False
    script = [SIZE, f'set output "{path}"', *script_of(run, rows)]
    return (
        subprocess.run(
            ["gnuplot"], input="\n".join(script) + "\n", text=True, stdout=subprocess.DEVNULL, check=False
        ).returncode
        == 0
    )
