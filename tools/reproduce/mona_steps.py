# SPDX-License-Identifier: Apache-2.0
"""What runs say in MONA of ways to change the step of accuracy control: figure 5d."""
import statistics

from comparing import below
from mona_rows import mean, whole
from paper import Seen
from rows import MissingRows

COLUMN = "windows"
BEST, OTHERS = "MM", ("MA", "AM", "AA")  # increase, decrease: multiplied or added


def over_first_steps(rows):
    """One row of a policy's rows: the mean of all its first steps, in each run."""
    if not rows:
        raise MissingRows("none of a policy's first steps")
    one = mean(rows, COLUMN)
    pooled = {COLUMN: one.value, f"low_{COLUMN}": one.low, f"high_{COLUMN}": one.high, "of": one.of}
    each = [row["each"].get(COLUMN) for row in rows if "each" in row]
    if len(each) == len(rows) and all(each):
        pooled |= {"together": rows[0]["together"], "each": {COLUMN: [statistics.fmean(of_run) for of_run in zip(*each)]}}
    return pooled


def figure_5d(runs):
    run = runs["steps"]
    rows = {policy: run.where(policy=policy) for policy in (BEST, *OTHERS)}
    pooled = {policy: over_first_steps(found) for policy, found in rows.items()}
    steps = ", ".join(f"{100 * step:g}" for step in run.values("first_step"))
    return Seen("windows on average until all tasks have enough: " + ", ".join(
        f"{policy} {row[COLUMN]:.1f}" for policy, row in pooled.items()) + f" (by first steps of {steps} %: " + "; ".join(
            f"{policy} " + ", ".join(f"{row[COLUMN]:.1f}" for row in sorted(found, key=lambda row: row["first_step"])) for policy, found in rows.items()) +
                f"); reached within 200 windows in {whole(min(row['reached_share'] for row in run.all))} of the cases at least",
                tuple(below(f"{BEST} is sooner than {policy}", pooled[BEST], pooled[policy], COLUMN, headline=True) for policy in OTHERS),
                "M multiplies, A adds, first where a step grows and then where it shrinks: twice and half, which the paper does not say, or the first step. Simulated by the "
                "code that a worker runs, for cases in which any way comes to that; what comes stays as it is, where the paper's rate swings. 200 windows count where it is "
                "never")
