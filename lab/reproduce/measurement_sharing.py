# SPDX-License-Identifier: Apache-2.0
"""What runs say of figures 8 and 9 of the SOSR paper, and of its section 5.1."""

from comparing import at_most, below
from measurement_judges import listed, size_of
from measurement_skews import last_level_mb
from paper import NotHere, Seen

NEIGHBOURED = ("count-array", "linear", "cuckoo-4", "cuckoo-1")


def figure_8(runs):
    run = runs["contention"]
    pairs = [
        tuple(run.one(way=way, cores=2, flows=flows) for way in ("array-separate", "array-cas"))
        for flows in run.values("flows")
    ]
    exact = [
        tuple(run.one(way=way, cores=2, flows=flows) for way in ("separate", "shared-cas"))
        for flows in run.values("flows")
    ]
    comparisons = [
        below(f"{name} with an array of {size_of(b)}", a, b, column, headline=column == "ns")
        for column, name in (("ns", "mean"), ("p99_cycles", "p99"))
        for a, b in pairs
    ]
    return Seen(
        "ns per packet and core, two cores, count arrays apart and one shared by compare-and-swap: "
        + "; ".join(
            f"{size_of(b)} {a['ns']:.1f}, {b['ns']:.1f} (p99 {a['p99_cycles']:.0f}, {b['p99_cycles']:.0f} cycles)"
            for a, b in pairs
        )
        + ". Exact tables: "
        + "; ".join(f"{size_of(b)} {a['ns']:.1f}, {b['ns']:.1f}" for a, b in exact),
        tuple(comparisons),
        "batches of 32",
    )


def merging(runs):
    """Section 5.1: what it adds to a packet to merge the tables of all cores, once an epoch."""
    run = runs["contention"]
    pairs = [
        (run.one(way="separate", cores=2, flows=flows), run.one(way="separate-merge", cores=2, flows=flows))
        for flows in run.values("flows")
    ]
    shared = {flows: run.one(way="shared-cas", cores=2, flows=flows) for flows in run.values("flows")}
    comparisons = [
        below(
            f"separate and merged below shared, {merged['flows']} flows", merged, shared[merged["flows"]], headline=True
        )
        for _, merged in pairs
    ]
    comparisons += [
        at_most(f"merging adds a tenth at most, {merged['flows']} flows", merged, alone, 1.1, headline=True)
        for alone, merged in pairs
    ]
    return Seen(
        "ns a packet of tables of two cores, and with the cost of merging them after 2 M packets: "
        + "; ".join(f"{alone['flows']} flows {alone['ns']:.1f}, {merged['ns']:.1f}" for alone, merged in pairs),
        tuple(comparisons),
        "little means a tenth of a packet's cost, once in 2 M packets (134 ms of the paper's line). The paper counts "
        "memory bandwidth, which is below 1 % on its machine. Differs here: tables are exact, and the packets pay for "
        "the time. The paper has a separate core for it",
    )


def figure_9a(runs):
    run = runs["footprint"]
    rows = {
        table: sorted(run.where(table=table), key=lambda row: row["footprint_mb"])
        for table in dict.fromkeys(row["table"] for row in run.all)
    }
    l3_mb = last_level_mb(run)
    if not l3_mb:
        raise NotHere("this machine does not tell how large its last-level cache is")
    within = {table: [row for row in found if row["footprint_mb"] <= l3_mb] for table, found in rows.items()}
    beyond = {table: [row for row in found if row["footprint_mb"] > l3_mb] for table, found in rows.items()}
    comparisons = []
    for table, found in rows.items():
        alone = found[0]
        comparisons += [
            at_most(
                f"{table} at most a quarter slower beside {row['footprint_mb']:g} MB",
                row,
                alone,
                1.25,
                headline=row is within[table][-1],
            )
            for row in within[table]
            if row is not alone
        ]
        comparisons += [
            below(
                f"{table} slower beside {row['footprint_mb']:g} MB than alone",
                alone,
                row,
                headline=row is beyond[table][-1],
            )
            for row in beyond[table]
        ]
    array = rows["count-array"]
    comparisons += [
        below(f"count array below {table} beside {a['footprint_mb']:g} MB", a, b)
        for table, found in rows.items()
        if table != "count-array"
        for a, b in zip(array, found)
    ]
    return Seen(
        f"ns beside a neighbour that counts at random in so many MB (last-level cache {l3_mb:.0f} MB): "
        + "; ".join(
            f"{table} " + ", ".join(f"{row['footprint_mb']:g}: {row['ns']:.1f}" for row in found)
            for table, found in rows.items()
        ),
        tuple(comparisons),
        "0 MB: no neighbour. Constant means a change of at most a quarter. Differs here: packets arrive at full rate. "
        "The paper lowers the rate so that the neighbour gets the cache",
    )


def figure_9b(runs):
    run = runs["neighbours"]
    if not run.all:
        raise NotHere(run.documents[0]["missing"])
    rows = {
        table: sorted(run.where(table=table), key=lambda row: row["neighbours"])
        for table in dict.fromkeys(row["table"] for row in run.all)
    }
    comparisons = []
    for table, found in rows.items():
        comparisons += [
            below(
                f"{table} slower beside {b['neighbours']} than beside {a['neighbours']}",
                a,
                b,
                headline=table == "count-array",
            )
            for a, b in zip(found, found[1:])
        ]
        if table != "count-array":
            comparisons += [
                below(f"count array below {table} beside {a['neighbours']}", a, b)
                for a, b in zip(rows["count-array"], found)
            ]
    most = max(run.values("neighbours"))
    return Seen(
        "ns by number of neighbours that write memory: "
        + "; ".join(
            f"{table} " + ", ".join(f"{row['neighbours']}: {row['ns']:.1f}" for row in found)
            for table, found in rows.items()
        ),
        tuple(comparisons),
        f"each needs a core, so there is {most} at most on this machine; the paper's seven slow the count array by 2.9",
    )


def tasks_beside(runs):
    """Ours: the neighbours of `bench tables --beside`."""
    rows = {
        name: {row["table"]: row for row in runs["beside"].where(beside=name)} for name in ("none", "cache", "memory")
    }
    comparisons = [
        below(
            f"count array below {table} beside {name}",
            rows[name]["count-array"],
            rows[name][table],
            headline=name != "none",
        )
        for name in rows
        for table in NEIGHBOURED[1:]
    ]
    comparisons += [
        below(f"{table} slower beside {name} than alone", rows["none"][table], rows[name][table])
        for name in ("cache", "memory")
        for table in NEIGHBOURED
    ]
    return Seen(
        "; ".join(f"{name}: " + listed(rows[name].values(), "ns") for name in rows) + " ns",
        tuple(comparisons),
        "one neighbour on the other core",
    )
