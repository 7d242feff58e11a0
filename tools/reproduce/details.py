# SPDX-License-Identifier: Apache-2.0
"""Below the table of a paper's page: of each figure what was seen, its plot, and each comparison with the numbers that answer it."""
import math

from judge import UNKNOWN, Of

HEADING = "## Figure by figure"
COMPARISONS = ("| comparison | as measured | |", "|---|---|---|")


def cell(text):
    """Without what would end a cell."""
    return text.replace("|", "\\|").replace("\n", " ")


def interval_of(comparisons, counts):
    """What their intervals are of, in words; empty where they have none. counts: of how many runs each is."""
    kinds = {side.of for one in comparisons for side in (one.less, one.more) if side.of not in (Of.BOUND, Of.COUNT)}
    words = []
    number = min(counts, default=1)
    if Of.RUNS in kinds:
        words.append(f"over {number} runs" if number > 1 else "over processes")
    if Of.PAIRS in kinds:
        words.append(f"of ratios or differences within each of {number} runs")
    if Of.ROUNDS in kinds:
        words.append("within a run")
    words += [word for kind, word in ((Of.CAPTURES, "over captures"), (Of.WINDOWS, "over simulated windows"), (Of.CASES, "over simulated cases")) if kind in kinds]
    return f"*Intervals: {' and '.join(words)}.*" if words else ""


def number_of(value):
    """Three digits, and no exponent where a reader would rather have none."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def side_of(estimate, factor=1):
    """A value and its interval, as a comparison has it."""
    if estimate == UNKNOWN:
        return "not measured"
    times = "" if factor == 1 else f"{number_of(factor)} × "
    if estimate.low == estimate.high:
        return times + number_of(estimate.value)
    if math.isinf(estimate.low) or math.isinf(estimate.high):
        return f"{times}{number_of(estimate.value)} (no interval)"
    return f"{times}{number_of(estimate.value)} ({number_of(estimate.low)} to {number_of(estimate.high)})"


def numbers_of(comparison):
    """The inequality that was looked at, with what stood on both sides."""
    less, more = comparison.less, comparison.more
    if less.of == more.of == Of.BOUND:
        return "counted"
    if less == more == UNKNOWN:
        return "not measured"
    slack = f", by more than {number_of(comparison.slack)}" if comparison.slack else ""
    return f"{side_of(less)} {'≤' if comparison.or_equal else '<'} {side_of(more, comparison.factor)}{slack}"


def table_of(comparisons):
    """Headlines first, in bold."""
    first = sorted(comparisons, key=lambda one: not one.headline)
    names = [f"**{cell(one.what)}**" if one.headline else cell(one.what) for one in first]
    return [*COMPARISONS, *(f"| {name} | {numbers_of(one)} | {one.answer().value} |" for name, one in zip(names, first))]


def section(result, counts, plots):
    """Of a figure that was judged."""
    figure, seen = result.figure, result.seen
    runs = ", ".join(f"[{name}](#commands)" for name in figure.runs)
    interval = interval_of(seen.comparisons, [counts[name] for name in figure.runs if name in counts])
    note = f" {seen.note[:1].upper()}{seen.note[1:]}." if seen.note else ""
    picture = ["", f"![{figure.name}]({figure.plot}.svg)"] if figure.plot in plots else []
    return ["", f"### {figure.name}", "", f"*{figure.states}* By {runs}: **{result.answer}**.", "", f"Seen: {seen.text}.{note}", *picture, "",
            *([interval, ""] if interval else []), *table_of(seen.comparisons)]


def sections(results, counts, plots):
    """Of all figures that were judged; none where there is none."""
    judged = [result for result in results if result.seen]
    return ["", HEADING, "", "Each comparison with what stood on both sides, and intervals in brackets; those in bold are what the conclusion is about above all.",
            *(line for result in judged for line in section(result, counts, plots))] if judged else []
