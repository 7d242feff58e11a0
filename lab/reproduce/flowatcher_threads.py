# SPDX-License-Identifier: Apache-2.0
"""What runs say of threads and schedulers of FloWatcher-DPDK: table III and figure 7b."""

from comparing import below, estimate, untold
from judge import Comparison, Estimate
from measurement_judges import listed
from paper import NotYet, Seen

PROBED_PACKETS = 0.2e6 * 14.88  # that a modelled loss of `bench models` is a share of


def loss(row, column):
    """A modelled loss; no loss of n packets may be one of 3 / n (95 %)."""
    found = estimate(row, column)
    return Estimate(found.value, found.low, max(found.high, 3 / PROBED_PACKETS), found.of, found.unit)


def more_lost(what, a, b, factor, headline=False):
    """That a loses more than `factor` times what b does: pairs of a row and its column."""
    return Comparison(what, loss(*b).times(factor), loss(*a), headline=headline)


def _a_thousand_times(what, a, b, headline=False):
    """Open where a thousand times what b loses is more than all."""
    row, column = b
    return untold(what, headline) if row[column] >= 1e-3 else more_lost(what, a, b, 1000, headline)


def percent(share):
    return f"{100 * share:.2g} %"


def table_3_models(runs):
    rows = {row["model"]: row for row in runs["models"].where(workers=1, scheduler="other")}
    direct, ring = rows["run-to-completion"], rows["pipeline"]
    return Seen(
        listed((direct, ring), "mpps", name="model") + " Mpps of one worker",
        (
            untold("the pipeline loses less of bursts at a fixed rate", headline=True),
            below("the pipeline's capacity is above run to completion's", direct, ring, "mpps"),
        ),
        "the paper compares losses during bursts at a fixed rate, where the ring between the threads is a larger "
        "buffer. No device here bursts, so this row is undecided. Capacities are given instead. In the pipeline each "
        "packet also passes a ring, and there is one thread more",
    )


def table_3_schedulers(runs):
    run = runs["models"]
    fair = run.one(model="run-to-completion", workers=1, scheduler="other")
    held = next(iter(run.where(model="run-to-completion", scheduler="deadline")), None)
    if held is None or held.get("alone_modelled_loss") is None:
        raise NotYet("SCHED_DEADLINE was refused to this process: run it as root (or with CAP_SYS_NICE)")
    pair, alone = "modelled_loss", "alone_modelled_loss"
    return Seen(
        f"of 14.88 Mpps two threads that poll on a core would lose {percent(fair[pair])} under SCHED_OTHER, "
        f"{percent(held[pair])} under SCHED_DEADLINE; "
        f"one alone {percent(fair[alone])} and {percent(held[alone])} (longest gaps "
        f"{fair['alone_max_gap_us'] / 1e3:.2g} and "
        f"{held['alone_max_gap_us'] / 1e3:.2g} ms)",
        (
            _a_thousand_times(
                "a pair on a core loses a thousand times more under SCHED_DEADLINE",
                (held, pair),
                (fair, pair),
                headline=True,
            ),
            more_lost("a pair loses more", (held, pair), (fair, pair), 1),
            _a_thousand_times("a thread alone loses a thousand times more", (held, alone), (fair, alone)),
        ),
        "the loss depends on runtime and period, which the paper does not give. Here each thread has 0.4 ms of every 1 "
        "ms, so a thread alone pauses for 0.6 ms. In this time 8,928 packets arrive at a queue of 4096. With 0.9 ms it "
        "would be 1,488 packets, which the queue holds. The paper pins each pair of receiver "
        "and monitor to a core; the kernel does not allow pinning of threads under SCHED_DEADLINE, so such a pair may "
        "use any core",
    )


def figure_7b(runs):
    rows = {row["model"]: row for row in runs["models"].where(workers=1, scheduler="other")}
    ring = rows["pipeline"]
    return Seen(
        listed(rows.values(), "mpps", name="model")
        + f" Mpps; of 14.88 Mpps two threads polling on one core would lose {percent(ring['modelled_loss'])}, "
        f"one with a core of its own {percent(ring['alone_modelled_loss'])}",
        (
            untold("cooperative threads lose ten times what threads on the two halves of a core do", headline=True),
            more_lost(
                "threads that share a core lose more than one with its own",
                (ring, "modelled_loss"),
                (ring, "alone_modelled_loss"),
                1,
                headline=True,
            ),
            below("the cooperative capacity is below the pipeline's", rows["cooperative"], ring, "mpps"),
        ),
        "their cooperative threads are lthreads, which DPDK 22.11 no longer has; ours alternate batch by batch. Their "
        "losses are not modelled, and cores have no hyper-threads here, so the verdict is partly confirmed at best",
    )
