# SPDX-License-Identifier: Apache-2.0
"""The figures of the SOSR paper: what it concludes, and what the runs say. A judge returns what was measured, in words, the
answers (judge.py) and a note."""
from judge import at_most, below, difference, sure

PAPER = "Alipourfard et al., *A comparison of performance and accuracy of measurement algorithms in software*, SOSR 2018"


def listed(rows, column, digits=1, name="table"):
    return ", ".join(f"{row[name]} {row[column]:.{digits}f}" for row in rows)


def by_size(sizes, *tables):
    """A tuple of rows for each size, from small to large."""
    return [tuple(sizes.one(table=name, load=load) for name in tables) for load in reversed(sizes.values("load"))]


def figure_1a(runs):
    answers, told = [], []
    for linear, one, four in by_size(runs["sizes"], "linear", "cuckoo-1", "cuckoo-4"):
        answers += [below(linear, one), below(linear, four), below(four, one, "p99_cycles")]
        told.append(f"{linear['memory_mb']:.0f} MB: {linear['ns']:.1f}, {one['ns']:.1f}, {four['ns']:.1f}")
    return ("ns of linear, cuckoo-1, cuckoo-4 (memory of linear): " + "; ".join(told), answers,
            "with both buckets prefetched, two lines cost little more than one; four whole keys are compared per bucket, "
            "where the paper's cuckoo-4 fits two")


def figure_1b(runs):
    pairs = by_size(runs["sizes"], "count-array", "count-min")
    return ("ns of count array and Count-Min from small to large: " + "; ".join(f"{a['ns']:.1f}, {b['ns']:.1f}" for a, b in pairs),
            [below(a, b) for a, b in pairs] + [below(a, b, "p99_cycles") for a, b in pairs], "")


def cheapest(accuracy, table, precision, recall=0):
    good = [row for row in accuracy.where(table=table) if row["precision"] >= precision and row["recall"] >= recall]
    return min(good, key=lambda row: row["p99_cycles"]) if good else None


def figure_1c(runs):
    array, sketch = (cheapest(runs["accuracy"], table, 0.98) for table in ("count-array-keys", "count-min"))
    if array is None or sketch is None:
        return "no size reached a precision of 98 %", [0], "sizes end too early"
    return (f"cheapest p99 at 98 % precision: count array {array['p99_cycles']:.0f} cycles with {array['memory_mb']:.2f} MB, Count-Min "
            f"{sketch['p99_cycles']:.0f} with {sketch['memory_mb']:.2f} MB", [below(array, sketch, "p99_cycles")],
            "the count array remembers its last packet's key: without, it names every flow of a full counter")


def figure_2a(runs):
    answers, told = [], []
    for array, linear, heap in by_size(runs["sizes"], "count-array", "linear", "space-saving"):
        answers += [below(array, linear), below(linear, heap)]
        told.append(f"{array['ns']:.1f}, {linear['ns']:.1f}, {heap['ns']:.1f}")
    return ("ns of count array, linear, heap from small to large: " + "; ".join(told), answers,
            "our heap is a correct Space-Saving with a moved index; theirs never removed the right key")


def figure_2bc(runs):
    accuracy = runs["accuracy"]
    linear = accuracy.where(table="linear", load=1)[0]
    bucketed = accuracy.where(table="bucketed", load=1)[0]
    array = cheapest(accuracy, "count-array-keys", 0.995, 0.965)
    replaced = accuracy.where(table="count-array-replace", load=1)[0]
    heap = min(accuracy.where(table="space-saving"), key=lambda row: row["ns"])
    answers = [sure(linear["precision"] == linear["recall"] == 1), sure(array is not None), below(linear, heap), below(bucketed, heap)]
    if array is not None:
        answers.append(below(array, linear))
    found = "none" if array is None else f"{array['precision']:.4f}, {array['recall']:.4f} at {array['ns']:.1f} ns, {array['memory_mb']:.1f} MB"
    return (f"precision, recall: linear {linear['precision']:.4f}, {linear['recall']:.4f} at {linear['ns']:.1f} ns; cheapest count array of "
            f"99.5 and 96.5 %: {found}; one that starts over with each other key {replaced['precision']:.3f}, {replaced['recall']:.3f}; heap "
            f"{heap['precision']:.3f}, {heap['recall']:.3f} at {heap['ns']:.1f} ns; bucketed, exact, {bucketed['ns']:.1f} ns", answers,
            "exact tables with prefetched lines beat the heap outright; the paper says both that its count array adds and that it overwrites: "
            "only adding gives its recall")


def figure_3a(runs):
    skew = runs["skew"]

    def rise(table):
        return difference(*(skew.one(table=table, zipf=zipf) for zipf in (0.75, 1.1)))
    array, sketch = rise("count-array"), rise("count-min")
    return (f"from skew 1.1 to 0.75 the count array rises by {array['ns']:.1f} ns, Count-Min by {sketch['ns']:.1f}", [below(array, sketch)],
            "means; the paper's are tails. Both stay within the last-level cache here")


def figure_3b(runs):
    skew = runs["skew"]
    heap = {zipf: skew.one(table="space-saving", zipf=zipf) for zipf in (0.75, 1.1, 1.5)}
    p99 = {zipf: row["p99_cycles"] for zipf, row in heap.items()}
    pairs = [(skew.one(table="linear", zipf=zipf), skew.one(table="count-array", zipf=zipf)) for zipf in skew.values("zipf")]
    return (f"p99 of the heap: {p99[1.5]:.0f} cycles at skew 1.5, {p99[1.1]:.0f} at 1.1, {p99[0.75]:.0f} at 0.75; linear to count array, "
            "skew upwards: " + ", ".join(f"{a['ns'] / b['ns']:.2f}" for a, b in pairs),
            [below(heap[1.5], heap[1.1], "p99_cycles"), below(heap[1.1], heap[0.75], "p99_cycles"),
             below(difference(heap[1.1], heap[1.5], "p99_cycles"), difference(heap[0.75], heap[1.1], "p99_cycles"), "p99_cycles")] + [at_most(a, b, 1.25) for a, b in pairs],
            "slightly above is taken as a quarter at most (the paper's 46 to 40 ns): here both are so fast that comparing a key shows")


def figure_3c(runs):
    array = runs["array"]
    flows, skews = array.values("flows"), array.values("zipf")
    small, large = ([array.one(flows=count, zipf=zipf) for zipf in skews] for count in (flows[0], flows[-1]))
    same = [at_most(a, b, 1.25) for a in small for b in small if a is not b]
    return (f"ns at skew {', '.join(map(str, skews))}: {', '.join(format(row['ns'], '.1f') for row in small)} with {flows[0]} flows, "
            f"{', '.join(format(row['ns'], '.1f') for row in large)} with {flows[-1]}",
            [min(same)] + [below(b, a) for a, b in zip(large, large[1:])],
            "no difference is taken as a quarter at most; steps are at this machine's cache sizes")


def task(runs, name):
    load = runs[name].values("load")[-1]
    rows = {row["table"]: row for row in runs[name].where(load=load)}
    exact = [rows[table] for table in ("linear", "cuckoo-1", "cuckoo-4")]
    answers = [below(rows["count-array"], row) for row in exact] + [below(rows["linear"], row) for row in exact[1:]]
    answers += [sure(rows["linear"]["precision"] >= 0.99), sure(rows["linear"]["recall"] >= 0.99)]
    return (listed(rows.values(), "ns") + " ns; precision and recall of linear "
            f"{rows['linear']['precision']:.3f}, {rows['linear']['recall']:.3f}, of the count array "
            f"{rows['count-array']['precision']:.3f}, {rows['count-array']['recall']:.3f} ({rows['linear']['reportable_flows']} flows to report)",
            answers)


def figure_4(runs):
    return (*task(runs, "superspreader"), "where a Bloom filter errs it takes a new destination for an old one: that costs recall, and "
            "precision nothing; the paper prints it the other way round. Its count array names flows by a key, ours every flow of a place")


def figure_5(runs):
    return (*task(runs, "change"), "the paper does not give its smoothing and threshold: ours are RFC 6298's, and four deviations")


def figure_6(runs):
    answers, told = [], []
    for table in ("linear", "linear-index"):
        rows = sorted(runs["values"].where(table=table, zipf=1.25), key=lambda row: row["value_bytes"])
        answers.append(below(rows[0], rows[-1], "p99_cycles"))
        told.append(f"{table} " + ", ".join(f"{row['p99_cycles']:.0f}" for row in rows))
    return "p99 cycles for values of 4, 16, 64, 128 bytes: " + "; ".join(told), answers, ""


def figure_7(runs):
    def pair(zipf, size):
        return tuple(runs["values"].one(table=name, zipf=zipf, value_bytes=size) for name in ("linear", "linear-index"))
    small, large, skewed = pair(0.75, 4), pair(0.75, 128), pair(1.75, 64)
    return ("p99 of linear over an index to linear inline: " + ", ".join(
        f"{index['p99_cycles'] / linear['p99_cycles']:.2f} {where}" for (linear, index), where in
        ((small, "at 4 bytes"), (large, "at 128 bytes, skew 0.75"), (skewed, "at 64 bytes, skew 1.75"))),
            [below(*small, "p99_cycles"), below(large[1], large[0], "p99_cycles"), below(*skewed, "p99_cycles")],
            "values are asked for half-way, so that the second access is hidden; the paper's was not")


def figure_8(runs):
    run = runs["contention"]
    pairs = [(run.one(way="separate", cores=2, flows=flows), run.one(way="shared-cas", cores=2, flows=flows)) for flows in run.values("flows")]
    return ("ns per packet and core, two cores, separate and shared by compare-and-swap: " +
            "; ".join(f"{a['flows']} flows {a['ns']:.1f}, {b['ns']:.1f}" for a, b in pairs),
            [below(a, b) for a, b in pairs], "")


def figure_9(runs):
    tables = ("count-array", "linear", "cuckoo-4", "cuckoo-1")
    rows = {name: {row["table"]: row for row in runs["beside"].where(beside=name)} for name in ("none", "cache", "memory")}
    slower = [below(rows["none"][table], rows[name][table]) for name in ("cache", "memory") for table in tables]
    first = [below(rows[name]["count-array"], rows[name][table]) for name in rows for table in tables[1:]]
    return ("; ".join(f"{name}: " + listed(rows[name].values(), "ns") for name in rows) + " ns", slower + first,
            "one neighbour, where the paper had up to seven; its step at the size of the last-level cache needs a cache of one's own")


# figure, the run that is drawn, what the paper concludes, its judge
FIGURES = [
    ("1a", "sizes", "Linear probing costs less than cuckoo at every size; four entries a bucket improve cuckoo's tail.", figure_1a),
    ("1b", "sizes", "The count array costs less than Count-Min with three rows at every size, mean and tail.", figure_1b),
    ("1c", "accuracy", "At 98 % precision Count-Min's p99 is 64 ns, the count array's 45 ns.", figure_1c),
    ("2a", "sizes", "Count array below linear below heap at every size.", figure_2a),
    ("2b, 2c", "accuracy", "Linear is exact; the count array reaches 99.5 and 96.5 % precision and recall for less; a heap is never a good "
     "choice.", figure_2bc),
    ("3a", "skew", "Less skew costs Count-Min more than the count array.", figure_3a),
    ("3b", "skew", "Linear is only slightly above the count array at every skew; the heap's tail grows steeply with less skew.", figure_3b),
    ("3c", "array", "Within a cache skew makes no difference; beyond it less skew costs more.", figure_3c),
    ("4", "superspreader", "Superspreaders: count array fastest, linear the fastest exact table, 99 and 100 % precision and recall.", figure_4),
    ("5", "change", "Changes by EWMA: the same order.", figure_5),
    ("6", "values", "The tail grows with the size of the values.", figure_6),
    ("7a", "values", "Values behind a pointer cost more when small, less when large and the skew low; with high skew the pointer always "
     "costs.", figure_7),
    ("8", "contention", "Separate tables cost less than one shared by compare-and-swap, at every size.", figure_8),
    ("9", "beside", "Neighbours that fight for cache or memory slow all; the count array stays the fastest.", figure_9),
]
