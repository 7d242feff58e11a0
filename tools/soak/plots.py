# SPDX-License-Identifier: Apache-2.0
"""Pictures of a run as SVG, by gnuplot (tools/setup.sh has it)."""

import shutil
import subprocess

MOST_POINTS = 2000


def _points(times, values, seconds):
    """Of a long series the smallest and the largest of each stretch."""
    stretch = max(1.0, seconds / (MOST_POINTS / 2))
    kept = {}
    for time, value in zip(times, values):
        least, most = kept.get(int(time // stretch), ((time, value), (time, value)))
        kept[int(time // stretch)] = (
            min(least, (time, value), key=lambda pair: pair[1]),
            max(most, (time, value), key=lambda pair: pair[1]),
        )
    return [pair for both in kept.values() for pair in sorted(set(both))]


def draw(path, title, y, curves, seconds, marks=()):
    """One picture: curves are (name, times, values); marks are times of events. Whether there is one."""
    curves = [curve for curve in curves if curve[1]]
    if not shutil.which("gnuplot") or not curves:
        return False
    script = [
        "set terminal svg noenhanced size 1000,300",
        f'set output "{path}"',
        f'set title "{title}"',
        f'set ylabel "{y}"',
        'set xlabel "minutes"',
        "set grid",
        f"set xrange [0:{seconds / 60:.2f}]",
        "set yrange [0:*]",
        "set key outside right",
    ]
    script += [
        f"set arrow from {time / 60:.3f}, graph 0 to {time / 60:.3f}, graph 0.03 nohead lc rgb '#888888'"
        for time in marks
    ]
    data = []
    for _, times, values in curves:
        data += [f"{time / 60:.4f} {value:.6g}" for time, value in _points(times, values, seconds)] + ["e"]
    script.append("plot " + ", ".join(f"'-' using 1:2 with lines title '{name}'" for name, *_ in curves))
    subprocess.run(["gnuplot"], input="\n".join(script + data) + "\n", text=True, check=True)
    return True


def rates(times, values):
    """What a counter grew by, per second."""
    return times[1:], [
        max(0, after - before) / max(1e-9, late - early)
        for before, after, early, late in zip(values, values[1:], times, times[1:])
    ]
