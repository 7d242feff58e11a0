# SPDX-License-Identifier: Apache-2.0
"""What runs say of packets lost in MONA: figures 7 and 11."""

import dataclasses
import math

from comparing import at_most, below, bound, estimate, more, over, untold
from judge import UNKNOWN, Comparison
from mona_rows import ADAPT, CONTROL, FIRST, NO_ADAPT, NOTHING, TASKS, percent, pooled, whole
from paper import Seen

FLOODED = 0.8  # share of the packets that the paper tolerates with a filter
NEAR_1_1 = 1.15  # where the paper's losses begin is read off a figure
FILTER = 128  # bytes of a flow that let it in
LOST_LATER, LOST = "missed_later_share", "missed_share"  # after the first second, and in all of the run


def each_queue(runs, scenario):
    """Of each queue: its length, and rows without and with adaptation."""
    run = runs["loss"]
    for queue in run.values("queue_packets"):
        yield (
            queue,
            *(run.one(scenario=scenario, queue_packets=queue, mode=mode, task=FIRST) for mode in (NO_ADAPT, ADAPT)),
        )


def if_any(static, comparison):
    """Answered only where there is something to lose: without adaptation more than a thousandth is, in most runs."""
    if static[LOST_LATER] > NOTHING:
        return comparison
    return dataclasses.replace(
        comparison,
        what=f"{comparison.what} (there is too little to lose)",
        less=dataclasses.replace(comparison.less, low=-math.inf, high=math.inf),
    )


NOTHING_LOST, HALF_LOST = "nothing", "half at most"


def figure_7(scenario, note, *claims):
    """Loss under a bottleneck: none, or half at most of what there is without adaptation; the first of the claims is
    the headline."""

    def judge(runs):
        comparisons, told = [], []
        for queue, static, adapted in each_queue(runs, scenario):
            at = f"with a queue of {queue}"
            possible = {
                NOTHING_LOST: Comparison(
                    f"adaptation loses 0.1 % at most {at}",
                    estimate(adapted, LOST_LATER),
                    bound(NOTHING),
                    headline=claims[0] == NOTHING_LOST,
                ),
                HALF_LOST: at_most(
                    f"adaptation loses half at most {at}",
                    adapted,
                    static,
                    0.5,
                    LOST_LATER,
                    headline=claims[0] == HALF_LOST,
                ),
            }
            comparisons += [if_any(static, possible[claim]) for claim in claims]
            comparisons.append(over(f"more than 0.1 % is lost without it {at}", static, NOTHING, LOST_LATER))
            told.append(
                f"queue of {queue}: {percent(static[LOST_LATER])} without adaptation, {percent(adapted[LOST_LATER])} "
                f"with it"
            )
        return Seen(
            "lost " + "; ".join(told),
            tuple(comparisons),
            f"{note}. Losses are those of the queue after the first second, as a fraction of the packets of that time. "
            f"Costs are learnt in the first second; the paper measures them before",
        )

    return judge


def skew(estimated):
    return "not known" if estimated is UNKNOWN else f"{estimated.value:.2f}"


def figure_7_skew(runs):
    """Where losses begin as the skew falls."""
    comparisons, told = [], []
    for queue, static, adapted in each_queue(runs, "skew"):
        begins = [estimate(row, "skew_at_loss") for row in (adapted, static)]
        comparisons += [
            if_any(static, one)
            for one in (
                Comparison(
                    f"with adaptation losses begin at a lower skew with a queue of {queue}", *begins, headline=True
                ),
                Comparison(
                    f"adaptation has no losses above a skew of {NEAR_1_1} with a queue of {queue}",
                    begins[0],
                    bound(NEAR_1_1),
                    or_equal=True,
                    headline=True,
                ),
            )
        ]
        told.append(
            f"queue of {queue}: {skew(begins[1])} without adaptation, {skew(begins[0])} with it (lost in all "
            f"{percent(static[LOST_LATER])}, {percent(adapted[LOST_LATER])})"
        )
    return Seen(
        "skew at which losses begin, " + "; ".join(told),
        tuple(comparisons),
        "a window has losses if the queue loses more than a thousandth of its packets. The skew "
        "falls from 1.5 to 1 in about a second, again and again. The rate is the highest that all states handle at the "
        "median skew. This choice places the first losses without adaptation near the paper's 1.25",
    )


def flooded(runs):
    """Rows by the flood's share and the filter's bytes."""
    run = runs["flood"]
    return {
        (share, size): run.where(mode=CONTROL, flood_share=share, filter_bytes=size)
        for share in run.values("flood_share")
        for size in run.values("filter_bytes")
    }


def figure_11a(runs):
    losses = {key: found[0] for key, found in flooded(runs).items()}
    shares = sorted({share for share, _ in losses})
    costs = more(losses[0, FILTER], losses[FLOODED, FILTER], LOST)
    return Seen(
        "lost by share of the flood, without and with a filter: "
        + "; ".join(
            f"{whole(share)}: {percent(losses[share, 0][LOST])}, {percent(losses[share, FILTER][LOST])}"
            for share in shares
        ),
        (
            below(
                f"a flood of {whole(FLOODED)} costs more packets than none, without a filter",
                losses[0, 0],
                losses[FLOODED, 0],
                LOST,
                headline=True,
            ),
            Comparison(
                f"with a filter a flood of {whole(FLOODED)} costs no more than none and a hundredth of the packets",
                costs,
                bound(0.01),
                or_equal=True,
                headline=True,
            ),
            below(
                f"a filter saves packets of a flood of {whole(FLOODED)}",
                losses[FLOODED, FILTER],
                losses[FLOODED, 0],
                LOST,
            ),
            untold("a filter takes a tenth of the throughput at most"),
        ),
        "the load is 1 with the flood, over the whole run including its first second. Tolerated means a loss of at "
        "most a hundredth of the packets",
    )


def figure_11b(runs):
    recalls = {
        key: pooled([row for row in found if row["recall"] is not None], "recall")
        for key, found in flooded(runs).items()
        if key[0] < 1
    }
    shares = sorted({share for share, _ in recalls})
    low, high = shares[0], shares[-1]
    return Seen(
        f"mean recall of the {len(TASKS)} tasks by share of the flood, without and with a filter: "
        + "; ".join(
            f"{whole(share)}: {recalls[share, 0]['recall']:.2f}, {recalls[share, FILTER]['recall']:.2f}"
            for share in shares
        ),
        (
            below(
                f"a flood of {whole(high)} lowers the recall without a filter",
                recalls[high, 0],
                recalls[low, 0],
                "recall",
                headline=True,
            ),
            below(
                "a filter keeps more of the recall", recalls[high, 0], recalls[high, FILTER], "recall", headline=True
            ),
            at_most("the recall falls by 40 % at most", recalls[low, 0], recalls[high, 0], 1 / 0.6, "recall"),
        ),
        "the recall is for flows outside the flood",
    )
