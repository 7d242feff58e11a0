# SPDX-License-Identifier: Apache-2.0
"""What runs say in MONA of the time that deciding takes, and what packets take for states: table II and figure 12."""

import dataclasses

from comparing import at_most, below, bound, difference, estimate, more
from judge import Comparison, Estimate
from mona_rows import ADAPT, CONTROL, minus, percent, sum_of, whole
from paper import Seen
from rows import MissingRows

WINDOW_US = 10_000
RANGE_US = 20  # "in the range of 10 us"
LONGEST_US = 10
SMALL_MPPS, LARGE_MPPS = 14.88, 4.63  # 10 Gb/s of packets of 64 and of 250 bytes
MOST_FLOWS, HALF, FEW = 1000, 500, 10  # in a window: as in the paper; of few flows next to nothing is to be changed
# Table II: states and tasks, flows, packets, and the shares that all of it takes more, and less than; None: it does not
# say.
SIZES = (
    ("10x10", MOST_FLOWS, SMALL_MPPS, None, 0.01),
    ("20x20", MOST_FLOWS, LARGE_MPPS, None, 0.01),
    ("20x40", MOST_FLOWS, LARGE_MPPS, 0.01, 0.02),
    ("40x40", MOST_FLOWS, LARGE_MPPS, 0.02, None),
    ("40x40", HALF, LARGE_MPPS, 0.01, 0.02),
)
LITTLE = 0.01  # of the time
MANY_STATES = 40  # beyond them it may be more
OF_STATES = {10: "10x4", 20: "20x4", 40: "40x4", 64: "64x4"}
OF_TASKS = {4: "10x4", 10: "10x10", 20: "10x20", 50: "10x50"}
SHARED = "tasks are of four kinds, which share measurements. They leave out flows in five groups at most"
SPREAD = "flows are in the heaviest 33 states at most"
COUNTED = (
    "the additional cost of packets in many states, with the same task in each, is an upper bound of the cost "
    "of "
    "counting by states: it includes the look-up of a flow's state. It can therefore confirm that a limit is "
    "kept, but never that it is exceeded"
)


def row_of(runs, states, mode):
    """Any task's: all have the same."""
    rows = runs["deciding"].where(states=states, mode=mode)
    if not rows:
        raise MissingRows(f"none of {states} states and tasks, {mode}")
    return rows[0]


def ways_of(run, states, flows):
    """Its rows by what is done about states."""
    rows = {row["way"]: row for row in run.where(states=states, flows=flows)}
    if not rows:
        raise MissingRows(f"none of {states} states and {flows} flows")
    return rows


def counting_share(runs, states, mpps):
    """Of a worker's time at so many packets: counting by states. What is measured has more in it, so that it may be as
    little as nothing."""
    rows = ways_of(runs["state-costs"], states, MOST_FLOWS)
    most = more(rows["one-state"], rows["counted"]).times(mpps * 1e-3)  # of ns a packet, at packets a ns
    return Estimate(most.value, min(most.low, 0), most.high, most.of, "%")


def estimates_share(runs, states):
    """Of the other thread's: what tasks miss, estimated."""
    row = ways_of(runs["state-costs"], states, MOST_FLOWS)["estimates"]
    return dataclasses.replace(estimate(row, "ns").times(row["window_packets"] * 1e-3 / WINDOW_US), unit="%")


def changing_share(runs, states, flows):
    """Of the time, where all flows change their states in each window: without what is the same for few."""

    def more_ns(of_flows):
        rows = ways_of(runs["state-changes"], states, of_flows)
        return more(rows["decided"], rows["changing"]).times(rows["changing"]["window_packets"])

    return dataclasses.replace(
        minus(more_ns(flows), more_ns(FEW)).times(flows / (flows - FEW) * 1e-3 / WINDOW_US), unit="%"
    )


def all_overhead(runs, size, flows, mpps):
    states = int(size.split("x")[0])
    return sum_of(
        [
            estimate(row_of(runs, size, CONTROL), "overhead_share"),
            counting_share(runs, states, mpps),
            changing_share(runs, states, flows),
        ]
    )


def table_2(runs):
    comparisons, told = [], []
    for size, flows, mpps, above, within in SIZES:
        share, name = all_overhead(runs, size, flows, mpps), f"{size} and {flows:,} flows"
        if within:
            comparisons.append(
                Comparison(f"{name} take less than {whole(within)}", share, bound(within), headline=True)
            )
        if above:
            comparisons.append(Comparison(f"{name} take more than {whole(above)}", bound(above), share))
        told.append(f"{name} {percent(share.value)}, {percent(row_of(runs, size, CONTROL)['overhead_share'])}")
    return Seen(
        "share of the worker's time, by states and tasks, and of it deciding: " + "; ".join(told),
        tuple(comparisons),
        f"10 Gb/s of packets of 64 bytes for the first, of 250 for the others; decisions are at a load of 1.4, by the "
        f"clock of the core; {SHARED}. Besides, {COUNTED}. "
        "All flows change in each window. Another thread estimates what tasks miss. " + SPREAD[0].upper() + SPREAD[1:],
    )


def figure_12c(runs):
    numbers = runs["state-costs"].values("states")
    shares = {
        states: sum_of([counting_share(runs, states, SMALL_MPPS), estimates_share(runs, states)]) for states in numbers
    }
    return Seen(
        "share of the time at 14.88 Mpps by states: "
        + ", ".join(f"{states}: {percent(share.value)}" for states, share in shares.items())
        + f"; of it estimates of four tasks, by another thread, {percent(estimates_share(runs, numbers[-1]).value)}",
        tuple(
            Comparison(f"{states} states take 1 % at most", share, bound(LITTLE), or_equal=True, headline=True)
            if states <= MANY_STATES
            else Comparison(f"{states} states take more than 1 %", bound(LITTLE), share)
            for states, share in shares.items()
        ),
        f"{COUNTED}; {SPREAD}. The share of lookups that the cache answers is not sampled by a worker, which learns "
        f"what packets take",
    )


def figure_12d(runs):
    run = runs["state-changes"]
    numbers = [flows for flows in run.values("flows") if flows != FEW]
    shares = {
        (states, flows): changing_share(runs, states, flows) for states in run.values("states") for flows in numbers
    }
    few, many = run.values("states")[0], run.values("states")[-1]
    within = [(states, flows) for states, flows in shares if states <= MANY_STATES or flows < MOST_FLOWS]
    ends = {max(within), max(within, key=lambda size: size[::-1])}
    return Seen(
        "share of the time by flows and states: "
        + "; ".join(
            f"{flows:,} flows "
            + ", ".join(f"{states}: {percent(share.value)}" for (states, of), share in shares.items() if of == flows)
            for flows in numbers
        ),
        (
            *(
                Comparison(
                    f"{states} states of {flows:,} flows take 1 % at most",
                    shares[states, flows],
                    bound(LITTLE),
                    or_equal=True,
                    headline=(states, flows) in ends,
                )
                for states, flows in within
            ),
            Comparison(
                f"{many} states of {MOST_FLOWS:,} flows take more than 1 %", bound(LITTLE), shares[many, MOST_FLOWS]
            ),
            Comparison(
                f"{many} states take more than {few} of {MOST_FLOWS:,} flows",
                shares[few, MOST_FLOWS],
                shares[many, MOST_FLOWS],
            ),
        ),
        f"every flow changes its state in each window, which is the maximum; {SPREAD}, and all do the same for a flow. "
        f"The cost of a change of {FEW} flows, which is the cost of the decision, is left out. If a lighter state does "
        f"not follow a flow's TCP connection, the change also pauses that connection",
    )


def decision_us(row):
    """On average."""
    return dataclasses.replace(estimate(row, "overhead_share").times(WINDOW_US), unit="us")


def told(rows, what):
    return f"us a decision by {what}: " + ", ".join(
        f"{number}: {decision_us(row).value:.1f}" for number, row in rows.items()
    )


def grows(rows, what, by):
    """That the time of the most is in range, and above that of the fewest, by no more than `by(most / fewest)`; its
    name."""
    few, many = min(rows), max(rows)
    name, factor = by(many / few)
    return (
        Comparison(
            f"{many} {what} take 20 us at most", decision_us(rows[many]), bound(RANGE_US), or_equal=True, headline=True
        ),
        below(f"the time grows from {few} to {many} {what}", rows[few], rows[many], "overhead_share", headline=True),
        at_most(name, rows[many], rows[few], factor, "overhead_share"),
    )


def figure_12a(runs):
    rows = {number: row_of(runs, states, ADAPT) for number, states in OF_STATES.items()}
    return Seen(
        told(rows, "states"),
        grows(rows, "states", lambda factor: ("the time grows at most with the square", factor**2)),
        "adaptation alone, with four tasks, the mean of all windows, while the paper has the worst case. The range of "
        "10 us means at most 20 us",
    )


def figure_12b(runs):
    """Of accuracy control alone: what it takes more than adaptation without it."""
    rows = {
        number: difference(row_of(runs, tasks, CONTROL), row_of(runs, tasks, ADAPT), "overhead_share")
        for number, tasks in OF_TASKS.items()
    }
    return Seen(
        told(rows, "tasks"),
        grows(rows, "tasks", lambda factor: ("the time grows at most in proportion", factor)),
        f"ten states: the time with accuracy control minus that of adaptation alone, which may be below 0 by noise, "
        f"the mean of all windows; {SHARED}; the range of 10 us means at most 20 us",
    )


def longest_step(runs):
    row = row_of(runs, "chain", CONTROL)
    return Seen(
        f"the longest of a run's decisions takes {row['longest_step_us']:.0f} us, {decision_us(row).value:.1f} us are "
        f"the mean",
        (
            Comparison(
                "the longest takes 10 us at most",
                estimate(row, "longest_step_us"),
                bound(LONGEST_US),
                or_equal=True,
                headline=True,
            ),
        ),
        "configuration 1; by the clock, so it includes the time that a thread waits for its core",
    )
