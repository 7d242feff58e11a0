# SPDX-License-Identifier: Apache-2.0
"""What runs say in MONA of ways to change the step of accuracy control: figure 5d."""

from comparing import below
from mona_rows import pooled
from paper import Seen

BEST, OTHERS = "MM", ("MA", "AM", "AA")  # increase, decrease: multiplied or added


def figure_5d(runs):
    run = runs["steps"]
    rows = {policy: sorted(run.where(policy=policy), key=lambda row: row["first_step"]) for policy in (BEST, *OTHERS)}
    windows, reached = (
        {policy: pooled(found, column) for policy, found in rows.items()} for column in ("windows", "reached_share")
    )
    soonest = min(OTHERS, key=lambda policy: windows[policy]["windows"])  # which the fastest has to be sooner than
    steps = ", ".join(f"{100 * step:g}" for step in run.values("first_step"))
    return Seen(
        "mean windows until all tasks have enough, in cases in which all ways reach this: "
        + ", ".join(f"{policy} {row['windows']:.1f}" for policy, row in windows.items())
        + f" (by first steps of {steps} %: "
        + "; ".join(
            f"{policy} " + ", ".join(f"{row['windows']:.1f}" for row in found) for policy, found in rows.items()
        )
        + "); they reach it within 200 windows in "
        + ", ".join(f"{policy} {100 * row['reached_share']:.1f}" for policy, row in reached.items())
        + " % of the cases",
        (
            *(
                below(
                    f"{BEST} converges sooner than {policy}",
                    windows[BEST],
                    windows[policy],
                    "windows",
                    headline=policy == soonest,
                )
                for policy in OTHERS
            ),
            *(
                below(f"{policy} converges in fewer cases", reached[policy], reached[BEST], "reached_share")
                for policy in OTHERS
            ),
        ),
        "M multiplies and A adds. The first letter is for a growing step, the second for a shrinking one. Factor and "
        "summand are 2.5 and 1 % of the packets; the paper does not give them. Simulated for constant loads at which "
        "all tasks can have enough; the paper's loads swing. The recovery of gaps is the one that a worker runs after "
        "adaptation alone",
    )
