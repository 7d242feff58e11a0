# SPDX-License-Identifier: Apache-2.0
"""What runs say of times of packets in MONA: figures 1, 3, 6, 10 and 13, table I."""

import collisions
import oracle
from comparing import at_most, below, bound, estimate, reaches, under, untold
from judge import Comparison
from mona_rows import CONTROL, FIRST, NO_ADAPT, percent, pooled
from paper import Seen
from states import name_of

ONE_BY_ONE, BATCHED = 1, 32  # packets a batch
LINE_MPPS = 14.88  # 10 Gb/s of packets of 64 bytes


def figure_1a(runs):
    run = runs["contended"]
    rows = {(row["batch"], row["beside"]): row for row in run.all}
    return Seen(
        "ns a packet, one by one, and in brackets in batches: "
        + ", ".join(
            f"beside {name} {rows[ONE_BY_ONE, name]['ns']:.1f} ({rows[BATCHED, name]['ns']:.1f})"
            for name in ("none", "cache", "memory")
        ),
        (
            at_most(
                "a neighbour that uses the cache doubles the cost",
                rows[ONE_BY_ONE, "none"],
                rows[ONE_BY_ONE, "cache"],
                0.5,
                headline=True,
            ),
            below("it raises the cost", rows[ONE_BY_ONE, "none"], rows[ONE_BY_ONE, "cache"]),
            below("it raises the cost of batches", rows[BATCHED, "none"], rows[BATCHED, "cache"]),
            below("one that copies memory raises the cost", rows[ONE_BY_ONE, "none"], rows[ONE_BY_ONE, "memory"]),
        ),
        "the bucketed table with 1 Mi flows. One neighbour; the paper has three. In batches, entries are prefetched 32 "
        "packets ahead, which hides cache misses",
    )


def figure_1b(runs):
    rows = {
        batch: sorted(runs["skewed"].where(batch=batch), key=lambda row: row["zipf"]) for batch in (ONE_BY_ONE, BATCHED)
    }
    single = rows[ONE_BY_ONE]
    least, most = single[0], single[-1]
    return Seen(
        "ns a packet by skew, one by one, and in brackets in batches: "
        + ", ".join(f"{row['zipf']:g}: {row['ns']:.1f} ({batched['ns']:.1f})" for row, batched in zip(*rows.values())),
        (
            at_most(
                f"a skew of {least['zipf']:g} doubles the cost of one of {most['zipf']:g}",
                most,
                least,
                0.5,
                headline=True,
            ),
            *(below(f"{a['zipf']:g} costs more than {b['zipf']:g}", b, a) for a, b in zip(single, single[1:])),
        ),
        "the bucketed table with 100,000 flows, as in the paper",
    )


def figure_3(runs):
    """The estimate of P on simulated times: the share of a window's packets whose entry is in the cache."""
    rows = sorted(runs["cache-hits"].all, key=lambda row: row["hit_share"])
    ours, naive = (estimate(pooled(rows, column), column) for column in ("error", "naive_error"))
    return Seen(
        f"mean error {percent(ours.value)} by two distributions, {percent(naive.value)} by the nearer mean; at shares "
        f"of "
        + "; ".join(
            f"{row['hit_share']:g}: {100 * row['error']:.2f}, {100 * row['naive_error']:.2f} %" for row in rows
        ),
        (
            Comparison("the error is below 1 % on average over the shares", ours, bound(0.01), headline=True),
            Comparison("it is a fifth of the nearer mean's on average", ours, naive, factor=0.2, or_equal=True),
            *(
                Comparison(
                    f"it is below the nearer mean's at {row['hit_share']:g}",
                    estimate(row, "error"),
                    estimate(row, "naive_error"),
                )
                for row in rows
            ),
        ),
        "simulated with Gumbel's distribution and the paper's means and coefficients of variation. With a fraction of "
        "one half, 1,000 samples alone cause an error of 1.3 %. The paper does not give its fractions, and the factor "
        "depends on them",
    )


MODELS = ("gumbel", "normal", "weibull")


def table_1(runs):
    rows = runs["fits"].all
    return Seen(
        "BIC above that of the best: "
        + "; ".join(f"{row['times']} " + ", ".join(f"{name} {row[name]:.0f}" for name in MODELS) for row in rows),
        tuple(
            Comparison(
                f"Gumbel fits better than {name} {row['times']}",
                estimate(row, MODELS[0]),
                estimate(row, name),
                headline=True,
            )
            for row in rows
            for name in MODELS[1:]
        )
        + tuple(
            Comparison(
                f"Weibull fits worse than Normal {row['times']}", estimate(row, "normal"), estimate(row, "weibull")
            )
            for row in rows
        ),
        "20,000 lookups of each kind, one at a time; differences of BIC, since its percentages depend on the unit of "
        "time",
    )


def figure_6(runs):
    """Each state against its lighter one."""
    rows = {row["state"]: row for row in runs["states"].all}
    comparisons = []
    for configuration, states in oracle.CONFIGURATIONS.items():
        for number in range(2, len(states) + 1):
            lighter = number - 1 if configuration == "chain" else 1
            comparisons.append(
                below(
                    f"{configuration}: s{number} takes more than s{lighter}",
                    rows[name_of(configuration, lighter)],
                    rows[name_of(configuration, number)],
                    headline=True,
                )
            )
    return Seen(
        "ns more a packet, "
        + "; ".join(
            f"{configuration}: "
            + ", ".join(
                f"s{number} {rows[name_of(configuration, number)]['ns']:.0f}" for number in range(1, len(states) + 1)
            )
            for configuration, states in oracle.CONFIGURATIONS.items()
        ),
        tuple(comparisons),
        "this is in addition to the cost of a packet in every state. Configuration 1 is the chain, 2 is the tree",
    )


def figure_10a(runs):
    rows = sorted(runs["collisions"].all, key=lambda row: row["load"])
    ample, fewest = next(row for row in rows if row["load"] == collisions.AMPLE), rows[-1]
    slots = f"{ample['places']:,.0f}"
    return Seen(
        f"chained table, entries that a packet looks at, ns, Mpps without loss, and share lost at "
        f"{ample['offered_mpps']:.0f} Mpps, by slots: "
        + "; ".join(
            f"{row['places']:,.0f}: {row['mean_probes'] - 1:.1f}, {row['ns']:.1f}, {row['lossless_mpps']:.1f}, "
            f"{percent(row['modelled_loss'])}"
            for row in rows
        ),
        (
            under(
                f"{fewest['places']:,.0f} slots do not take 10 Gb/s of packets of 64 bytes without loss",
                fewest,
                LINE_MPPS,
                "lossless_mpps",
                headline=True,
            ),
            reaches(f"{slots} slots do", ample, LINE_MPPS, "lossless_mpps", headline=True),
            *(
                below(f"{b['places']:,.0f} slots cost more than {a['places']:,.0f}", a, b)
                for a, b in zip(rows, rows[1:])
            ),
        ),
        f"the table alone, 250,000 flows of Zipf 1.1, each with an entry, in chains whose heads are the slots ({slots} "
        f"replace the paper's 500,000, as a power of two). "
        "The latest flow is first in a chain, so early flows with many packets are far behind. "
        f"A queue of 4096 is modelled. The paper's 10 Gb/s fill its whole monitor: the share lost is at a rate that "
        f"{slots} slots take for "
        f"{100 * collisions.BUSY:.0f} % of the time. New flows do not come: the paper has 1,000 every 10 ms",
    )


def figure_10b(runs):
    """What is found with few slots, of what is found where the table has room for all."""
    run = runs["slots"]
    slots = run.values("slots")
    recalls = {
        mode: {count: pooled(run.where(mode=mode, slots=count), "recall") for count in slots}
        for mode in (CONTROL, NO_ADAPT)
    }
    losses = {count: run.one(mode=NO_ADAPT, slots=count, task=FIRST) for count in slots}
    few, ample = slots[0], slots[-1]
    return Seen(
        "mean recall of the four tasks by slots, with accuracy control and without adaptation (and the share that is "
        "lost there): "
        + "; ".join(
            f"{count:,.0f}: {recalls[CONTROL][count]['recall']:.2f}, {recalls[NO_ADAPT][count]['recall']:.2f} "
            f"({percent(losses[count]['missed_later_share'])})"
            for count in slots
        ),
        (
            below(
                f"{few:,.0f} slots lower the recall",
                recalls[CONTROL][few],
                recalls[CONTROL][ample],
                "recall",
                headline=True,
            ),
            reaches(
                f"with {ample:,.0f} slots the recall is 95 % at least",
                recalls[CONTROL][ample],
                0.95,
                "recall",
                headline=True,
            ),
            below(
                f"{few:,.0f} slots lower it without adaptation",
                recalls[NO_ADAPT][few],
                recalls[NO_ADAPT][ample],
                "recall",
            ),
            below(f"{few:,.0f} slots lose more packets there", losses[ample], losses[few], "missed_later_share"),
        ),
        "a load of 0.8, 250,000 flows, configuration 1. Recall is relative to a table with room and time for all "
        "flows. A recall lower by at most a twentieth counts as equal. Differs "
        "here: a slot is a flow's place, and there are no lists. A flow that finds no place takes the place of "
        "another, whose record is written out. Flows therefore lose their past here; in the paper they only take "
        "longer to be found; and no flows begin meanwhile, where it has 1,000 every 10 ms",
    )


def sketched(runs):
    """The row of every flow, those of sketches, and of these those with a fast path."""
    rows = runs["sketches"].where(window_ms=10.0)
    keeper = next(row for row in rows if row["way"] == "all-flows")
    sketches = [row for row in rows if row["way"] not in ("all-flows", "worker")]
    return keeper, sketches, [row for row in sketches if row["one_in"] is not None and row["one_in"] > 1]


def named(row):
    return f"{row['way']} of {row['width']:.0f}" + (
        f", one in {row['one_in']:.0f}" if row["one_in"] and row["one_in"] > 1 else ""
    )


def figure_13a(runs):
    """A quarter less throughput is four thirds of the time."""
    keeper, sketches, fast = sketched(runs)
    return Seen(
        f"ns a packet: every flow {keeper['ns']:.1f}, "
        + ", ".join(f"{named(row)} {row['ns']:.1f}" for row in sketches),
        (
            *(below(f"{named(row)} is faster", row, keeper, headline=True) for row in fast),
            *(
                at_most(
                    f"every flow has three quarters of the throughput of {named(row)} at least",
                    keeper,
                    row,
                    4 / 3,
                    headline=True,
                )
                for row in fast
            ),
            *(below(f"{named(row)} is faster", row, keeper) for row in sketches if row not in fast),
            untold("it has 93 % where a recall of 75 % is enough"),
        ),
        "worker and analyst on one core. SketchVisor is not public, so other sketches replace it. Only the one with a "
        "sampled path (one in 16) has a fast path. Reduced flows, with which three quarters of the heavy hitters are "
        "found, are not measured",
    )


def figure_13b(runs):
    keeper, sketches, _ = sketched(runs)
    return Seen(
        f"recall, precision: every flow {keeper['recall']:.3f}, {keeper['precision']:.3f}; "
        + "; ".join(f"{named(row)} {row['recall']:.3f}, {row['precision']:.3f}" for row in sketches)
        + f". Every flow takes {1e3 / keeper['ns']:.1f} Mpps",
        (
            under("keeping every flow takes 10 Gb/s of 64-byte packets", keeper, 1e3 / LINE_MPPS, headline=True),
            untold("above 15 Gb/s a sketch is more accurate", headline=True),
            reaches("keeping every flow finds all", keeper, 1, "recall", headline=True),
            reaches("keeping every flow finds nothing else", keeper, 1, "precision", headline=True),
        ),
        "accuracy is for a pass without losses. Losses at a rate above a method's own are not measured",
    )
