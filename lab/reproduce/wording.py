# SPDX-License-Identifier: Apache-2.0
"""Numbers and units as pages show them."""

OF_COLUMN = {
    "ns": "ns",
    "cpu_ns": "ns",
    "mpps": "Mpps",
    "mpps_cpu": "Mpps",
    "kfps": "Kflows/s",
    "per_s": "/s",
    "lost": "packets",
    "windows": "windows",
    "share": "%",
    "error": "%",
    "naive_error": "%",
    "mean_error": "%",
    "worst_error": "%",
    "recall": "%",
    "precision": "%",
    "satisfaction": "%",
    "satisfaction_by_count": "%",
    "satisfaction_by_recall": "%",
    "modelled_loss": "%",
    "alone_modelled_loss": "%",
}
OF_ENDING = {
    "_ns": "ns",
    "_us": "us",
    "_mpps": "Mpps",
    "_kpps": "kpps",
    "_kfps": "Kflows/s",
    "_mbps": "Mb/s",
    "_mb": "MB",
    "_cycles": "cycles",
    "_share": "%",
}
RATIO = "ratio"  # of two sides within each run: no unit, but a word in front
WITHOUT = ("got_share",)  # relative to a fair share


def unit_of(column):
    """Returns the unit that a column's values are shown with; empty if they have none. Fractions are shown in
    percent."""
    if column in WITHOUT:
        return ""
    return OF_COLUMN.get(column) or next((unit for ending, unit in OF_ENDING.items() if column.endswith(ending)), "")


def number_of(value, unit=""):
    """Returns three digits and the unit, without an exponent."""
    value = 100 * value if unit == "%" else value
    digits = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return digits + ("" if unit in ("", RATIO) else unit if unit.startswith("/") else f" {unit}")


def side_of(estimate, factor=1, unit=""):
    """Returns a value and its interval, as a comparison shows it."""
    if estimate.is_unknown:
        return "not measured"
    times = "" if factor == 1 else f"{number_of(factor)} × "
    value = times + number_of(estimate.value, unit)
    if estimate.low == estimate.high:
        return value
    return (
        f"{value} (no interval)"
        if estimate.is_open
        else f"{value} ({number_of(estimate.low, unit)} to {number_of(estimate.high, unit)})"
    )


def _is_counted(comparison):
    return (
        comparison.less.is_bound
        and comparison.more.is_bound
        and {comparison.less.value, comparison.more.value} == {0, 1}
    )


def unit_in(comparison):
    """Returns the unit of both sides: a bound has the unit of what it bounds."""
    return comparison.less.unit or comparison.more.unit


def inequality_of(comparison):
    """Returns the inequality that was tested, with the numbers of both sides."""
    less, more, unit = comparison.less, comparison.more, unit_in(comparison)
    if _is_counted(comparison):
        return "counted"
    if less.is_unknown and more.is_unknown:
        return "not measured"
    word = f"{RATIO} " if unit == RATIO else ""
    slack = f", by more than {number_of(comparison.slack, unit)}" if comparison.slack else ""
    return (
        f"{word}{side_of(less, unit=unit)} {'≤' if comparison.or_equal else '<'} "
        f"{side_of(more, comparison.factor, unit)}{slack}"
    )


def measured(comparison):
    """Returns the numbers of a comparison for a sentence: what was measured, and the limit that the claim sets."""
    less, more, factor, unit = comparison.less, comparison.more, comparison.factor, unit_in(comparison)
    if _is_counted(comparison):
        return "counted"
    if less.is_unknown or more.is_unknown:
        return "not measured"
    if less.is_bound and less.value == 0 and not more.is_bound:
        return f"difference {number_of(more.value, unit)}"
    if more.is_bound:
        return (
            f"{'ratio ' if unit == RATIO else ''}{number_of(less.value, unit)}, limit "
            f"{number_of(factor * more.value, unit)}"
        )
    if less.is_bound:
        return f"{number_of(factor * more.value, unit)}, limit {number_of(less.value, unit)}"
    times = "" if factor == 1 else f"{number_of(factor)} × "
    return f"{number_of(less.value, unit)} against {times}{number_of(more.value, unit)}"
