# SPDX-License-Identifier: Apache-2.0
"""What runs say of how FloWatcher-DPDK tells flows apart: figure 6."""

from comparing import below, difference, estimate, of_interval, over, reaches, under, untold
from flowatcher_capture import LINE_RATE
from paper import NotYet, Seen

LINE_NS = 1e3 / LINE_RATE
THEIR_HASHES = ("softrss-be", "addition", "xor", "spooky", "murmur3")  # beside DPDK's Toeplitz, softrss
MISCOUNTING = ("murmur3", "spooky")


def their_hashes(runs):
    rows = {row["hash"]: row for row in runs["hashes"].where(ip_version=4, input="ports")}
    if "softrss" not in rows:
        raise NotYet("software Toeplitz is DPDK's, and this build is without it: install libdpdk-dev and build again")
    return rows


def reads(runs):
    """Costs of reading so much of a frame that is not in a cache, by what is read."""
    return {row["row"]: row for row in runs["parse"].where(traffic="ipv4") if row["memory_mb"] > 100}


def cycles_per_ns(runs):
    row = reads(runs)["descriptor"]
    return row["cycles"] / row["ns"]


def figure_6a(runs):
    rows = their_hashes(runs)
    clock = cycles_per_ns(runs)
    return Seen(
        "M hashes/s (cycles): "
        + ", ".join(
            f"{name} {1e3 / row['ns']:.0f} ({clock * row['ns']:.0f})"
            for name, row in sorted(rows.items(), key=lambda item: item[1]["ns"])
        ),
        (
            over("software Toeplitz is slower than the line", rows["softrss"], LINE_NS, headline=True),
            *(under(f"{name} is faster than the line", rows[name], LINE_NS) for name in THEIR_HASHES),
            untold("a call takes 47 to 268 cycles"),
        ),
        "hashes of addresses and ports, in batches of keys that are in a cache, whose calls overlap. The paper times "
        "call by call, which is not measured here",
    )


def figure_6b(runs):
    rows = reads(runs)
    none, early, late = (rows[name] for name in ("descriptor", "five-tuple, prefetched", "five-tuple"))
    return Seen(
        "frames not in a cache, cycles a packet: "
        + ", ".join(f"{name} {row['cycles']:.0f}" for name, row in rows.items()),
        (
            below("reading the five-tuple costs more than the hash of the descriptor", none, late, headline=True),
            below("this also holds with prefetching", none, early),
            untold("a card loses 3.98 times as much during this time", headline=True),
            under("without prefetching it adds 100 cycles at most", difference(late, none), 100 / cycles_per_ns(runs)),
        ),
        "the cost of reading is in cycles. The loss of a card during this time is not modelled, so the verdict is "
        "partly confirmed at best",
    )


def added(*rows):
    """A row whose cost is theirs together, as wide as all their intervals."""
    costs = [estimate(row, "ns") for row in rows]
    return {
        "ns": sum(cost.value for cost in costs),
        "low_ns": sum(cost.low for cost in costs),
        "high_ns": sum(cost.high for cost in costs),
        "of": of_interval(rows[0], "ns"),
    }


def shares(rows, column):
    return ", ".join(f"{name} {100 * row[column]:.1f} %" for name, row in rows.items())


def figure_6c(runs):
    rows = their_hashes(runs)
    table = runs["structures"].one(table="double-hash", flows=65536, zipf=0)
    online = {name: added(reads(runs)["five-tuple"], row, table) for name, row in rows.items()}
    comparisons = [
        over("software Toeplitz is below the line's rate", online["softrss"], LINE_NS, headline=True),
        over("by 30 % or more", online["softrss"], LINE_NS / 0.7),
    ]
    comparisons += [under(f"{name} keeps up with the line", online[name], LINE_NS) for name in THEIR_HASHES]
    for name in MISCOUNTING:
        comparisons += [
            reaches(f"{name} finds no place for a tenth of the flows", rows[name], 0.10, "random_overflow_share"),
            under(f"{name} finds a place for all but 14 %", rows[name], 0.14, "random_overflow_share"),
        ]
    return Seen(
        "Mpps of reading a five-tuple, hashing it and counting in the double hash, three costs added: "
        + ", ".join(f"{name} {1e3 / row['ns']:.1f}" for name, row in online.items())
        + f". These fractions of 65,536 flows find no place: random five-tuples {shares(rows, 'random_overflow_share')}"
        f"; addresses in a row "
        f"{shares(rows, 'consecutive_overflow_share')}",
        tuple(comparisons),
        "costs of one core, measured apart, of frames not in a cache, read without prefetching, as in 6b; no card "
        "loses anything here. Of as many "
        "random flows as buckets, with two places each, 10.4 % are left over by chance, of those with addresses in a "
        "row it is the hash that says; how the paper's addresses lie it does not say",
    )


def seed(runs):
    """What the paper hopes of a better seed: that no flow finds its bucket full."""
    rows = their_hashes(runs)
    found = {name: estimate(rows[name], "random_overflow_share") for name in MISCOUNTING}
    number = rows["murmur3"].get("runs", 1)
    return Seen(
        ", ".join(f"{name} {100 * share.low:.1f} to {100 * share.high:.1f} %" for name, share in found.items())
        + f" of random five-tuples find no place, in {number} draws",
        tuple(
            under(
                f"the best seed leaves out less than 1 % with {name}",
                {"share": share.low},
                0.01,
                "share",
                headline=True,
            )
            for name, share in found.items()
        ),
        "the hashes here have one seed: different five-tuples in each run have the same effect on a hash that spreads "
        "them at random. By chance 10.4 % of the flows find no place, as 6c says",
    )
