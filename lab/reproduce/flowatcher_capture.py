# SPDX-License-Identifier: Apache-2.0
"""What runs say of how FloWatcher-DPDK receives packets: figure 5 and table II."""

from comparing import at_most, below
from paper import Seen

LINE_RATE = 14.88  # Mpps: 10 GbE of 64-byte frames
PAPERS_BATCHES = (64, 128, 256, 512, 1024)


def figure_5a(runs):
    rows = {row["batch"]: row for row in runs["batch"].all}
    return Seen(
        "Mpps without loss, by batch: "
        + ", ".join(f"{batch} {row['lossless_mpps']:.0f}" for batch, row in rows.items()),
        tuple(
            below(
                f"batches of {batch} below 256",
                row,
                rows[256],
                "lossless_mpps",
                headline=batch in (PAPERS_BATCHES[0], PAPERS_BATCHES[-1]),
            )
            for batch, row in rows.items()
            if batch in PAPERS_BATCHES and batch != 256
        ),
        "a queue of 4096 packets is modelled from the time of each batch; losses of a card to its bus do not appear in "
        "memory",
    )


def of_all_cores(row):
    """A row whose cost is a packet's of all cores together."""
    cost = {column: row[column] / row["cores"] for column in ("ns", "low_ns", "high_ns")}
    return {**row, **cost, "each": {"ns": [ns / row["cores"] for ns in row.get("each", {}).get("ns", ())]}}


def by_queues(run):
    """Rows by queues in all, each queue with a pool of its own and a cache in front: one core polls one queue, two
    cores share two and more."""
    rows = [row for row in run.where(cache=256, pools="own") if row["cores"] == 2 or row["queues"] == 1]
    return {row["cores"] * row["queues"]: of_all_cores(row) for row in rows}


def figure_5b(runs):
    rows = by_queues(runs["receive"])
    return Seen(
        "Mpps of all queues together: "
        + ", ".join(
            f"{queues} queue{'s' * (queues > 1)} {1e3 / row['ns']:.0f}" for queues, row in sorted(rows.items())
        ),
        tuple(
            below(f"two queues take more than {queues}", rows[2], row, headline=queues in (1, 4))
            for queues, row in sorted(rows.items())
            if queues != 2
        ),
        "rates replace losses. Queues are DPDK's rings in memory, so gains and losses of the card and its bus do not "
        "appear. One core polls one queue. Two cores poll two or more. In the paper each queue has a thread",
    )


def two_queues(run, cache):
    """Two cores with a queue each: rows with a pool of each and with one for both."""
    return [run.one(cores=2, cache=cache, queues=1, pools=pools) for pools in ("own", "shared")]


def figure_5c(runs):
    run = runs["receive"]
    pairs = {cache: two_queues(run, cache) for cache in run.values("cache")}
    comparisons = [
        below(f"own pools cost less {with_cache(cache)}", *pair, headline=cache > 0) for cache, pair in pairs.items()
    ]
    comparisons += [
        at_most(
            f"a tenth of the cost of getting and returning buffers is left {with_cache(cache)}",
            *pair,
            0.1,
            "pool_cycles",
        )
        for cache, pair in pairs.items()
    ]
    return Seen(
        "two queues on two cores, a pool for each and one for both: "
        + "; ".join(
            f"{with_cache(cache)} {own['ns']:.1f}, {shared['ns']:.1f} ns a packet ({own['pool_cycles']:.0f}, "
            f"{shared['pool_cycles']:.0f} cycles to get and return its buffer, timed separately)"
            for cache, (own, shared) in pairs.items()
        ),
        tuple(comparisons),
        "cost replaces loss. The paper's pools have a cache for each core in front, the default of DPDK. The headline "
        "is the case with a cache",
    )


def with_cache(buffers):
    return f"with a cache of {buffers}" if buffers else "without a cache"


def table_2(runs):
    """The paper's tuned values, each against its neighbours: those of figures 5 and of table III that are run here."""
    batches = {row["batch"]: row for row in runs["batch"].all}
    queues = by_queues(runs["receive"])
    pools = two_queues(runs["receive"], 256)
    models = {row["model"]: row for row in runs["models"].where(workers=1, scheduler="other")}
    best = max(
        (batch for batch in batches if batch in PAPERS_BATCHES), key=lambda batch: batches[batch]["lossless_mpps"]
    )
    fastest = min(queues, key=lambda number: queues[number]["ns"])
    return Seen(
        f"best batch {best}, queues of the highest rate {fastest}, cheaper pool "
        f"{'of each queue' if pools[0]['ns'] < pools[1]['ns'] else 'for all'} "
        f"(cache 256), model of the highest rate {max(models, key=lambda name: models[name]['mpps'])}",
        (
            below("batches of 256 above 64", batches[64], batches[256], "lossless_mpps", headline=True),
            below("two queues above one", queues[2], queues[1], headline=True),
            below("a pool for each queue", *pools, headline=True),
            below(
                "the pipeline above run to completion",
                models["run-to-completion"],
                models["pipeline"],
                "mpps",
                headline=True,
            ),
        ),
        "the paper's text names the tuned values, and its picture is not available here. Rates and costs replace "
        "losses, as in figure 5 and table III",
    )
