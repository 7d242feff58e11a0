# SPDX-License-Identifier: Apache-2.0
"""What runs say of figures 1 and 2 of the SOSR paper."""

from comparing import below, counted, difference, reaches
from paper import Seen
from rows import MissingRows

ONE_SIZE = 2  # times: memories no further apart count as equal


def listed(rows, column, digits=1, name="table"):
    return ", ".join(f"{row[name]} {row[column]:.{digits}f}" for row in rows)


def by_size(sizes, *tables):
    """A tuple of rows for each size, from small to large."""
    return [tuple(sizes.one(table=name, load=load) for name in tables) for load in reversed(sizes.values("load"))]


def size_of(row):
    return f"{row['memory_mb']:.3g} MB"


def more_than(rows, column="ns"):
    """What one costs above another, in percent, of (cheap, dear) pairs: from the least to the most."""
    shares = sorted(100 * (dear[column] / cheap[column] - 1) for cheap, dear in rows)
    return f"{shares[0]:.0f} to {shares[-1]:.0f} %"


def holding_all(run, table):
    """Rows of a table that had room for all flows, and a tenth more, from small to large."""
    return sorted(
        (row for row in run.where(table=table) if not row.get("rejected_share") and (row.get("occupied") or 0) <= 0.9),
        key=lambda row: row["memory_mb"],
    )


def figure_1a(runs):
    comparisons, told = [], []
    sizes = by_size(runs["sizes"], "linear", "cuckoo-1", "cuckoo-4")
    for linear, one, four in sizes:
        at = f"at {size_of(linear)}"
        comparisons += [
            below(f"linear below cuckoo-1 {at}", linear, one, headline=True),
            below(f"linear below cuckoo-4 {at}", linear, four, headline=True),
            below(f"linear's p99 below cuckoo-1's {at}", linear, one, "p99_cycles"),
            below(f"linear's p99 below cuckoo-4's {at}", linear, four, "p99_cycles"),
            below(f"cuckoo-4's p99 below cuckoo-1's {at}", four, one, "p99_cycles"),
        ]
        told.append(f"{size_of(linear)}: {linear['ns']:.1f}, {one['ns']:.1f}, {four['ns']:.1f}")
    pairs = [(linear, one) for linear, one, _ in sizes]
    return Seen(
        "ns of linear, cuckoo-1, cuckoo-4 (memory of linear): "
        + "; ".join(told)
        + f". Cuckoo-1 takes {more_than(pairs)} more, its p99 "
        f"{more_than(pairs, 'p99_cycles')}",
        tuple(comparisons),
        "differs here: both buckets of a key are prefetched before either is read",
    )


def figure_1b(runs):
    pairs = by_size(runs["sizes"], "count-array", "count-min")
    return Seen(
        "ns of count array and Count-Min (memory of both): "
        + "; ".join(f"{a['ns']:.1f}, {b['ns']:.1f} ({size_of(a)}, {size_of(b)})" for a, b in pairs),
        tuple(
            below(f"{name} at {size_of(a)}", a, b, column, headline=column == "ns")
            for column, name in (("ns", "mean"), ("p99_cycles", "p99"))
            for a, b in pairs
        ),
    )


def cheapest(accuracy, table, precision, recall=0):
    """The row of the lowest p99 that is at least so accurate, or None."""
    good = [row for row in accuracy.where(table=table) if row["precision"] >= precision and row["recall"] >= recall]
    return min(good, key=lambda row: row["p99_cycles"]) if good else None


def figure_1c(runs):
    found = {table: cheapest(runs["accuracy"], table, 0.98) for table in ("count-array-keys", "count-min")}
    array, sketch = found.values()
    comparisons = [
        counted(f"{table} reaches a precision of 98 %", row is not None, headline=True) for table, row in found.items()
    ]
    note = (
        "the count array remembers the key of its last packet. Without it, the array reports every flow of a full "
        "counter"
    )
    if None in found.values():
        return Seen("not both reach a precision of 98 % at a size that was tried", tuple(comparisons), note)
    return Seen(
        f"cheapest p99 at 98 % precision: count array {array['p99_cycles']:.0f} cycles with {array['memory_mb']:.2f} "
        f"MB, Count-Min "
        f"{sketch['p99_cycles']:.0f} with {sketch['memory_mb']:.2f} MB; means {array['ns']:.1f} and {sketch['ns']:.1f} "
        f"ns",
        (
            *comparisons,
            below("p99 at 98 % precision", array, sketch, "p99_cycles", headline=True),
            below("mean at 98 % precision", array, sketch),
        ),
        note,
    )


def nearest(rows, memory_mb):
    """The row whose memory is nearest, by its ratio; None where that is not one size."""

    def times(row):
        return max(row["memory_mb"] / memory_mb, memory_mb / row["memory_mb"])

    found = min(rows, key=times, default=None)
    return found if found and times(found) <= ONE_SIZE else None


def at_equal_memory(run):
    """(count array, linear, heap) for each memory that all three were made for, from small to large."""
    arrays, heaps = (run.where(table=table) for table in ("count-array", "heap"))
    found = [
        (nearest(arrays, linear["memory_mb"]), linear, nearest(heaps, linear["memory_mb"]))
        for linear in holding_all(run, "linear")
    ]
    sizes = [rows for rows in found if None not in rows]
    if not sizes:
        raise MissingRows("no memory that all three tables were made for")
    return sizes


def figure_2a(runs):
    comparisons, told = [], []
    sizes = at_equal_memory(runs["data-sizes"])
    for array, linear, heap in sizes:
        at = f"at {size_of(linear)}"
        comparisons += [
            below(f"count array below heap {at}", array, heap, headline=True),
            below(f"linear below heap {at}", linear, heap, headline=True),
        ]
        told.append(
            f"{array['ns']:.1f}, {linear['ns']:.1f}, {heap['ns']:.1f} ({', '.join(map(size_of, (array, linear, heap)))}"
            f")"
        )
    (small_array, small_linear, _), (array, linear, _) = sizes[0], sizes[-1]
    comparisons += [
        below(f"count array below linear at {size_of(small_linear)}", small_array, small_linear, headline=True),
        below(
            f"they differ less at {size_of(linear)}", difference(linear, array), difference(small_linear, small_array)
        ),
    ]
    return Seen(
        "ns of count array, linear, heap (memory of each): "
        + "; ".join(told)
        + f". The heap takes {more_than([(a, c) for a, _, c in sizes])} more than the "
        f"count array, linear {more_than([(a, b) for a, b, _ in sizes])}",
        tuple(comparisons),
        f"sizes that are within {ONE_SIZE} times each other count as equal. Our heap is a Space-Saving, with a "
        f"separate table for the places of its keys",
    )


def ends(rows):
    """The smallest and the largest."""
    rows = sorted(rows, key=lambda row: row["memory_mb"])
    return rows[0], rows[-1]


def figure_2a_sizes(runs):
    """The tails from the smallest size to the largest."""
    tables = {
        name: [row for run in ("data-sizes", "small-sizes") for row in runs[run].where(table=name)]
        for name in ("count-array", "heap")
    }
    tables["linear"] = holding_all(runs["data-sizes"], "linear")
    small, large = ({name: ends(rows)[end] for name, rows in tables.items()} for end in (0, 1))
    comparisons = [
        below(f"{name}'s p99 grows", small[name], large[name], "p99_cycles", headline=True)
        for name in ("count-array", "linear")
    ]
    comparisons += [
        below("the heap's p99 falls", large["heap"], small["heap"], "p99_cycles", headline=True),
        below("the heap's mean falls", large["heap"], small["heap"]),
    ]
    return Seen(
        "p99 cycles, and mean ns, from the smallest size to the largest: "
        + "; ".join(
            f"{name} {size_of(small[name])} {small[name]['p99_cycles']:.0f}, {small[name]['ns']:.1f}; "
            f"{size_of(large[name])} {large[name]['p99_cycles']:.0f}, "
            f"{large[name]['ns']:.1f}"
            for name in tables
        ),
        tuple(comparisons),
        "a table touches no more lines than there are flows, however large it is",
    )


def figure_2bc(share):
    """Of precision (2b), or recall (2c), against the cost."""

    def judge(runs):
        accuracy = runs["accuracy"]
        exact = holding_all(runs["sizes"], "linear")
        linear = min(exact, key=lambda row: row["p99_cycles"])
        array = cheapest(accuracy, "count-array-keys", 0.995, 0.965)
        heap = max(accuracy.where(table="heap"), key=lambda row: (row[share], -row["p99_cycles"]))
        replaced = accuracy.where(table="count-array-replace", load=1)[0]
        comparisons = [
            reaches(
                f"linear has a {share} of 100 % at every size with room for all flows",
                min(exact, key=lambda row: row[share]),
                1,
                share,
                headline=True,
            ),
            counted("a count array reaches 99.5 and 96.5 %", array is not None, headline=True),
            below("linear's p99 below the heap's", linear, heap, "p99_cycles", headline=True),
            below("linear's mean below the heap's", linear, heap),
        ]
        told = "none"
        if array is not None:
            comparisons += [
                counted(
                    f"the heap's {share} is the worst", heap[share] < min(array[share], linear[share]), headline=True
                ),
                below("count array's p99 below linear's", array, linear, "p99_cycles", headline=True),
                below("count array's mean below linear's", array, linear),
            ]
            told = (
                f"{array[share]:.4f} at {array['ns']:.1f} ns, p99 {array['p99_cycles']:.0f} cycles, "
                f"{array['memory_mb']:.1f} MB"
            )
        return Seen(
            f"{share}: linear {linear[share]:.4f} at {linear['ns']:.1f} ns, p99 {linear['p99_cycles']:.0f} cycles, "
            f"{linear['memory_mb']:.1f} MB; cheapest count array "
            f"of 99.5 % precision and 96.5 % recall: {told}; one that starts again with each new key "
            f"{replaced[share]:.3f}; the heap's best {heap[share]:.3f} at "
            f"{heap['ns']:.1f} ns, p99 {heap['p99_cycles']:.0f}, {heap['memory_mb']:.1f} MB",
            tuple(comparisons),
            "the paper says that its count array adds, and also that it overwrites. The one that adds is judged. For "
            "linear probing the cheapest size is taken",
        )

    return judge


def figure_2_heap(runs):
    """Each skew and size: the heap may win at any of them."""
    run = runs["heap"]
    comparisons, told = [], []
    for flows in run.values("flows"):
        for zipf in run.values("zipf"):
            rows = {row["table"]: row for row in run.where(flows=flows, zipf=zipf)}
            heap, early, short, at = (
                rows["heap"],
                rows["heap-values"],
                rows["space-saving"],
                f"at {flows} flows, skew {zipf}",
            )
            comparisons += [
                below(f"linear below the heap {at}", rows["linear"], heap, headline=True),
                below(f"linear below a heap whose entries are prefetched {at}", rows["linear"], early, headline=True),
                below(f"linear below a heap of 10,000 keys at most {at}", rows["linear"], short, headline=True),
                below(f"count array below the heap {at}", rows["count-array"], heap),
            ]
            told.append(
                f"{flows}, {zipf}: "
                + ", ".join(
                    f"{rows[name]['ns']:.1f}"
                    for name in ("linear", "count-array", "heap", "heap-values", "space-saving")
                )
                + f" ({size_of(rows['linear'])}, {size_of(heap)}, {size_of(early)}, {size_of(short)})"
            )
    return Seen(
        "ns by flows, skew: linear, count array, a heap of all flows, one that prefetches its entries, one of 10,000 "
        "keys at most (memory of linear and the "
        "heaps): " + "; ".join(told),
        tuple(comparisons),
        "cost alone is judged; the smallest memory may still be the short heap's",
    )
