# SPDX-License-Identifier: Apache-2.0
"""What runs say of packets lost in MONA: figures 7 and 11."""
import math

from comparing import bound, estimate, untold
from judge import UNKNOWN, Comparison
from mona_rows import ADAPT, CONTROL, FIRST, NO_ADAPT, NOTHING, TASKS, mean, percent, total, whole
from paper import Seen

FLOODED = 0.8  # share of the packets that the paper tolerates with a filter
FILTER = 128  # bytes of a flow that let it in
LOST = "a packet that the program left for want of time counts as lost"


def lost(row):
    """After the first second, with what was shed."""
    return total(row, "missed_later_share", "shed_share")


def told_of(row):
    shed = f", {percent(row['shed_share'])} of it shed" if row["shed_share"] else ""
    return percent(lost(row).value) + shed


def each_queue(runs, scenario):
    """Of each queue: its length, and rows without and with adaptation."""
    run = runs["loss"]
    for queue in run.values("queue_packets"):
        yield queue, *(run.one(scenario=scenario, queue_packets=queue, mode=mode, task=FIRST) for mode in (NO_ADAPT, ADAPT))


def if_any(static, comparison):
    """Only where there is something to lose: without adaptation more than a thousandth is."""
    loss = lost(static)
    least = loss.low if math.isfinite(loss.low) else loss.value
    return comparison if least > NOTHING else untold(f"{comparison.what} (there is too little to lose)", comparison.headline)


def figure_7(scenario, note, halves=False):
    """Loss under a bottleneck: none, or less than half of what there is without adaptation."""
    def judge(runs):
        comparisons, told = [], []
        for queue, static, adapted in each_queue(runs, scenario):
            lossless = Comparison(f"adaptation loses nothing with a queue of {queue}", lost(adapted), bound(NOTHING), headline=not halves)
            half = Comparison(f"adaptation loses less than half with a queue of {queue}", lost(adapted), lost(static), factor=0.5, headline=halves)
            comparisons += [if_any(static, one) for one in ([half] if halves else [lossless, half])]
            told.append(f"queue of {queue}: {told_of(static)} without adaptation, {told_of(adapted)} with it")
        return Seen("lost " + "; ".join(told), tuple(comparisons), f"{note}; nothing is a thousandth of what comes after the first second, in which costs are "
                    f"learnt that the paper has measured before; {LOST}")
    return judge


def skew(estimated):
    return "not known" if estimated is UNKNOWN else f"{estimated.value:.2f}"


def figure_7_skew(runs):
    """Where losses begin as the skew falls."""
    comparisons, told = [], []
    for queue, static, adapted in each_queue(runs, "skew"):
        begins = [estimate(row, "skew_at_loss") for row in (adapted, static)]
        comparisons += [if_any(static, one) for one in (
            Comparison(f"with adaptation losses begin at a lower skew with a queue of {queue}", *begins, headline=True),
            Comparison(f"there are none above a skew of 1.1 with a queue of {queue}", begins[0], bound(1.1), or_equal=True, headline=True))]
        told.append(f"queue of {queue}: {skew(begins[1])} without adaptation, {skew(begins[0])} with it (lost in all {told_of(static)}, {told_of(adapted)})")
    return Seen("skew at which losses begin, " + "; ".join(told), tuple(comparisons),
                "a window loses if more than a thousandth of its packets are lost; the skew falls from 1.5 to 1 in about a second, again and again. The rate is what all "
                "states take at the median skew: that losses without adaptation begin near the paper's 1.25 is by the choice of it")


def flooded(runs):
    """Rows by the flood's share and the filter's bytes."""
    run = runs["flood"]
    return {(share, size): run.where(mode=CONTROL, flood_share=share, filter_bytes=size) for share in run.values("flood_share")
            for size in run.values("filter_bytes")}


def all_lost(row):
    return total(row, "missed_share", "shed_share")


def figure_11a(runs):
    losses = {key: all_lost(found[0]) for key, found in flooded(runs).items()}
    shares = sorted({share for share, _ in losses})
    return Seen("lost by share of the flood, without and with a filter: " + "; ".join(
        f"{whole(share)}: {percent(losses[share, 0].value)}, {percent(losses[share, FILTER].value)}" for share in shares),
                (Comparison(f"a flood of {whole(FLOODED)} costs more packets than none, without a filter", losses[0, 0], losses[FLOODED, 0], headline=True),
                 Comparison(f"with a filter a flood of {whole(FLOODED)} costs a hundredth at most", losses[FLOODED, FILTER], bound(0.01), or_equal=True, headline=True),
                 Comparison(f"a filter saves packets of a flood of {whole(FLOODED)}", losses[FLOODED, FILTER], losses[FLOODED, 0])), LOST)


def figure_11b(runs):
    recalls = {key: mean([row for row in found if row["recall"] is not None], "recall") for key, found in flooded(runs).items() if key[0] < 1}
    shares = sorted({share for share, _ in recalls})
    low, high = shares[0], shares[-1]
    return Seen(f"mean recall of the {len(TASKS)} tasks by share of the flood, without and with a filter: " + "; ".join(
        f"{whole(share)}: {recalls[share, 0].value:.2f}, {recalls[share, FILTER].value:.2f}" for share in shares),
                (Comparison(f"a flood of {whole(high)} lowers the recall without a filter", recalls[high, 0], recalls[low, 0], headline=True),
                 Comparison("a filter keeps more of it", recalls[high, 0], recalls[high, FILTER], headline=True),
                 Comparison("the fall is 40 % at most", recalls[low, 0].times(0.6), recalls[high, 0], or_equal=True)),
                "of flows that are none of the flood's")
