#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the published experiments on this machine and writes docs/reproduce.md with its plots.

usage: reproduce.py PARSHALL [--folder docs] [--runs FOLDER] [--again]

Each run of `parshall bench` is kept in the folder of runs and used again, unless --again is given. What a paper states
is compared with medians of this machine: the ordering or the share that it concludes, never its nanoseconds.
"""
import argparse
import datetime
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys

MEASUREMENT = "Alipourfard et al., *A comparison of performance and accuracy of measurement algorithms in software*, SOSR 2018"
FLOWATCHER = "Zhang et al., *FloWatcher-DPDK: lightweight line-rate flow-level monitoring in software*, IEEE TNSM 16(3), 2019"

HOLDS, PARTLY, FAILS, ABSENT = "holds", "holds in part", "does not hold here", "cannot be measured here"
OPEN = "cannot be told: the difference is within the noise"
CYCLES = 4  # two buckets of the histogram that quantiles are read from: less is no difference

COUNTERS = "count-array,count-min,linear,cuckoo-1,cuckoo-4,space-saving,bucketed"
# name: (arguments of bench, column along the plot, column drawn)
RUNS = {
    "sizes": (["tables", "--tables", COUNTERS, "--flows", "131072", "--zipf", "1.1", "--load", "1,0.25,0.0625,0.015625"],
              "memory_mb", "ns"),
    "accuracy": (["tables", "--tables", "count-array,count-min,count-min-conservative,heavy-keeper,space-saving", "--flows", "131072",
                  "--zipf", "1.1", "--load", "64,8,1,0.25,0.0625,0.015625", "--rounds", "9"], "p99_cycles", "precision"),
    "skew": (["tables", "--tables", "count-array,count-min,linear,space-saving,bucketed", "--flows", "1Mi",
              "--zipf", "0.75,1.1,1.25,1.5,1.75"], "zipf", "p99_cycles"),
    "array": (["tables", "--tables", "count-array", "--flows", "4Ki,64Ki,1Mi,16Mi", "--zipf", "0.75,1.1,1.5"], "flows", "ns"),
    "superspreader": (["tables", "--tables", "count-array,linear,cuckoo-1,cuckoo-4,bucketed", "--task", "superspreader", "--flows", "65536",
                       "--zipf", "1.1", "--load", "1,0.25"], "memory_mb", "p99_cycles"),
    "change": (["tables", "--tables", "count-array,linear,cuckoo-1,cuckoo-4,bucketed", "--task", "change", "--flows", "65536", "--zipf", "1.1",
                "--load", "1,0.25"], "memory_mb", "p99_cycles"),
    "values": (["tables", "--tables", "linear,linear-index", "--flows", "1Mi", "--zipf", "0.75,1.25,1.75",
                "--value-bytes", "4,16,64,128"], "value_bytes", "p99_cycles"),
    "contention": (["contention", "--flows", "4Ki,64Ki,1Mi", "--zipf", "1.1"], "flows", "ns"),
    "beside": (["tables", "--tables", "count-array,linear,cuckoo-4,cuckoo-1", "--flows", "1Mi", "--zipf", "1.1",
                "--beside", "none,cache,memory"], None, "ns"),
    "structures": (["tables", "--tables", "double-hash,combined,chained,bucketed", "--flows", "4Ki,64Ki,1Mi", "--zipf", "0,1"],
                   "flows", "p99_cycles"),
    "hashes": (["hashes"], None, "ns"),
    "parse": (["parse"], None, "ns"),
    "models": (["models", "--rounds", "11"], None, "mpps"),
    "batch": (["batch", "--batch", "16,32,64,128,256,512,1024,2048"], None, "lossless_mpps"),
    "analytics": (["pipeline", "--flows", "1Ki,64Ki,1Mi", "--tables", "bucketed", "--stats", "none,gap_mean,gap_p99",
                   "--quantiles", "p2"], None, "ns"),
}


class Rows:
    """The rows of a run, each with what its part has in common; one value by what its columns say."""

    def __init__(self, path):
        self.documents = [json.loads(line) for line in path.read_text().splitlines()]
        self.machine = self.documents[0]["machine"]
        self.all = [{**{k: v for k, v in document.items() if k != "rows"}, **row} for document in self.documents
                    for row in document["rows"]]

    def where(self, **wanted):
        return [row for row in self.all if all(row.get(name) == value for name, value in wanted.items())]

    def one(self, **wanted):
        found = self.where(**wanted)
        if len(found) != 1:
            raise LookupError(f"{len(found)} rows where {wanted}")
        return found[0]

    def values(self, column):
        return sorted({row[column] for row in self.all if row.get(column) is not None})


def below(a, b, column="ns"):
    """That a costs less than b for sure: 1, more for sure: -1, or neither: 0. By the intervals; of cycles, by CYCLES."""
    slack = CYCLES if column.endswith("_cycles") else 0
    low, high = f"low_{column}", f"high_{column}"
    if a.get(high, a[column]) + slack < b.get(low, b[column]):
        return 1
    return -1 if b.get(high, b[column]) + slack < a.get(low, a[column]) else 0


def judged(answers):
    """Of several comparisons that a claim is about."""
    answers = list(answers)
    if all(answer == 1 for answer in answers):
        return HOLDS
    if any(answer == 1 for answer in answers):
        return PARTLY
    return FAILS if any(answer == -1 for answer in answers) else OPEN


def listed(rows, column, digits=1, name="table"):
    return ", ".join(f"{row[name]} {row[column]:.{digits}f}" for row in rows)


# Each figure: what the paper states, and what its runs say here: (measured, answer, why).

def figure_1a(runs):
    sizes = runs["sizes"]
    answers, told = [], []
    for load in sizes.values("load"):
        linear, one, four = (sizes.one(table=name, load=load) for name in ("linear", "cuckoo-1", "cuckoo-4"))
        answers += [below(linear, one), below(linear, four), below(four, one, "p99_cycles")]
        told.append(f"{linear['memory_mb']:.0f} MB: {linear['ns']:.1f}, {one['ns']:.1f}, {four['ns']:.1f}")
    return ("ns of linear, cuckoo-1, cuckoo-4 (memory of linear): " + "; ".join(reversed(told)), judged(answers),
            "with both buckets prefetched, two lines cost little more than one; four whole keys are compared per bucket, "
            "where the paper's cuckoo-4 fits two")


def figure_1b(runs):
    sizes = runs["sizes"]
    pairs = [(sizes.one(table="count-array", load=load), sizes.one(table="count-min", load=load)) for load in sizes.values("load")]
    return ("ns of count array and Count-Min from small to large: " + "; ".join(f"{a['ns']:.1f}, {b['ns']:.1f}" for a, b in reversed(pairs)),
            judged(below(a, b) for a, b in pairs), "")


def figure_1c(runs):
    accuracy = runs["accuracy"]

    def cheapest(table):
        good = [row for row in accuracy.where(table=table) if row["precision"] >= 0.98]
        return min(good, key=lambda row: row["p99_cycles"]) if good else None
    array, sketch = cheapest("count-array"), cheapest("count-min")
    if array is None or sketch is None:
        return "no size reached a precision of 98 %", FAILS, "sizes end too early"
    return (f"p99 at 98 % precision: count array {array['p99_cycles']:.0f} cycles with {array['memory_mb']:.2f} MB, "
            f"Count-Min {sketch['p99_cycles']:.0f} with {sketch['memory_mb']:.2f} MB",
            judged([below(array, sketch, "p99_cycles")]), "")


def figure_2a(runs):
    sizes = runs["sizes"]
    answers, told = [], []
    for load in sizes.values("load"):
        array, linear, heap = (sizes.one(table=name, load=load) for name in ("count-array", "linear", "space-saving"))
        answers += [below(array, linear), below(linear, heap)]
        told.append(f"{array['ns']:.1f}, {linear['ns']:.1f}, {heap['ns']:.1f}")
    return ("ns of count array, linear, heap from small to large: " + "; ".join(reversed(told)), judged(answers),
            "our heap is a correct Space-Saving with a moved index; theirs never removed the right key")


def figure_2bc(runs):
    sizes, accuracy = runs["sizes"], runs["accuracy"]
    linear = [row for row in sizes.where(table="linear")]
    bucketed = [row for row in sizes.where(table="bucketed")]
    array = max(accuracy.where(table="count-array"), key=lambda row: (row["precision"], -row["memory_mb"]))
    heap = min((row for row in accuracy.where(table="space-saving")), key=lambda row: row["ns"])
    exact = all(row["precision"] == row["recall"] == 1 for row in linear)
    dominated = min(row["ns"] for row in bucketed) < heap["ns"]
    return (f"linear: precision and recall {'1 at every size' if exact else 'below 1'} ({min(row['ns'] for row in linear):.1f} ns); count array: precision "
            f"{array['precision']:.4f}, recall {array['recall']:.4f} at {array['ns']:.1f} ns; heap: {heap['precision']:.3f}, "
            f"{heap['recall']:.3f} at {heap['ns']:.1f} ns; bucketed, exact: {min(row['ns'] for row in bucketed):.1f} ns",
            HOLDS if exact and dominated and array["precision"] >= 0.995 else PARTLY,
            "an exact table with prefetched lines beats the heap outright, and comes close to the count array")


def figure_3a(runs):
    skew = runs["skew"]

    def rise(table):
        flat, steep = (skew.one(table=table, zipf=zipf) for zipf in (0.75, 1.1))
        return {"ns": flat["ns"] - steep["ns"], "low_ns": flat["low_ns"] - steep["high_ns"], "high_ns": flat["high_ns"] - steep["low_ns"]}
    array, sketch = rise("count-array"), rise("count-min")
    return (f"from skew 1.1 to 0.75 the count array rises by {array['ns']:.1f} ns, Count-Min by {sketch['ns']:.1f}",
            judged([below(array, sketch)]), "means, whose intervals are known; the paper's are tails. Both stay within the last-level cache here")


def figure_3b(runs):
    skew = runs["skew"]
    heap = {zipf: skew.one(table="space-saving", zipf=zipf)["p99_cycles"] for zipf in (0.75, 1.1, 1.5)}
    gaps = [skew.one(table="linear", zipf=zipf)["p99_cycles"] - skew.one(table="count-array", zipf=zipf)["p99_cycles"]
            for zipf in skew.values("zipf")]
    return (f"p99 of the heap: {heap[1.5]:.0f} cycles at skew 1.5, {heap[1.1]:.0f} at 1.1, {heap[0.75]:.0f} at 0.75; linear is "
            f"{min(gaps):.0f} to {max(gaps):.0f} cycles above the count array",
            HOLDS if heap[0.75] - heap[1.1] > heap[1.1] - heap[1.5] > CYCLES else PARTLY if heap[0.75] > heap[1.5] + CYCLES else FAILS,
            "the less skew, the more often a new key goes through the heap")


def figure_3c(runs):
    array = runs["array"]
    flows = array.values("flows")
    small = [array.one(flows=flows[0], zipf=zipf)["ns"] for zipf in array.values("zipf")]
    large = [array.one(flows=flows[-1], zipf=zipf) for zipf in array.values("zipf")]
    ordered = [below(large[i + 1], large[i]) for i in range(len(large) - 1)]
    same = max(small) < 1.25 * min(small)
    return (f"ns at skew 0.75, 1.1, 1.5: {', '.join(f'{ns:.1f}' for ns in small)} with {flows[0]} flows, "
            f"{', '.join(format(row['ns'], '.1f') for row in large)} with {flows[-1]}",
            HOLDS if same and judged(ordered) == HOLDS else PARTLY, "steps are at this machine's cache sizes")


def task_figure(runs, name):
    task = runs[name]
    load = task.values("load")[-1]
    rows = {row["table"]: row for row in task.where(load=load)}
    exact = [rows[table] for table in ("linear", "cuckoo-1", "cuckoo-4")]
    answers = [below(rows["count-array"], row) for row in exact] + [below(rows["linear"], row) for row in exact[1:]]
    return (listed(rows.values(), "ns") + " ns; precision and recall of linear "
            f"{rows['linear']['precision']:.3f}, {rows['linear']['recall']:.3f}, of the count array "
            f"{rows['count-array']['precision']:.3f}, {rows['count-array']['recall']:.3f} ({rows['linear']['reportable_flows']} flows to report)",
            judged(answers), "")


def figure_6(runs):
    values = runs["values"]
    answers, told = [], []
    for table in ("linear", "linear-index"):
        rows = sorted(values.where(table=table, zipf=1.25), key=lambda row: row["value_bytes"])
        answers.append(1 if rows[-1]["p99_cycles"] > rows[0]["p99_cycles"] else -1)
        told.append(f"{table} " + ", ".join(f"{row['p99_cycles']:.0f}" for row in rows))
    return "p99 cycles for values of 4, 16, 64, 128 bytes: " + "; ".join(told), judged(answers), ""


def figure_7(runs):
    values = runs["values"]

    def gap(zipf, size):
        linear, index = (values.one(table=name, zipf=zipf, value_bytes=size) for name in ("linear", "linear-index"))
        return index["p99_cycles"] / linear["p99_cycles"]
    small, large, skewed = gap(0.75, 4), gap(0.75, 64), gap(1.75, 64)
    return (f"p99 of linear over an index to linear inline: {small:.2f} at 4 bytes, {large:.2f} at 64 bytes, skew 0.75; {skewed:.2f} at "
            "64 bytes, skew 1.75",
            HOLDS if small > 1 > large and skewed > 1 else PARTLY if small > 1 or large < 1 else FAILS,
            "values are asked for half-way, so that the second access is hidden; the paper's was not")


def figure_8(runs):
    run = runs["contention"]
    pairs = [(run.one(way="separate", cores=2, flows=flows), run.one(way="shared-cas", cores=2, flows=flows)) for flows in run.values("flows")]
    return ("ns per packet and core, two cores, separate and shared by compare-and-swap: " +
            "; ".join(f"{a['flows']} flows {a['ns']:.1f}, {b['ns']:.1f}" for a, b in pairs),
            judged(below(a, b) for a, b in pairs), "")


def figure_9(runs):
    run = runs["beside"]
    tables = ("count-array", "linear", "cuckoo-4", "cuckoo-1")
    rows = {name: {row["table"]: row for row in run.where(beside=name)} for name in ("none", "cache", "memory")}
    slower = [below(rows["none"][table], rows[name][table]) for name in ("cache", "memory") for table in tables]
    first = [1 if min(rows[name].values(), key=lambda row: row["ns"])["table"] == "count-array" else -1 for name in rows]
    return ("; ".join(f"{name}: " + listed(rows[name].values(), "ns") for name in rows) + " ns", judged(slower + first),
            "one neighbour, where the paper had up to seven; its step at the size of the last-level cache needs a cache of one's own")


def flow_5a(runs):
    rows = {row["batch"]: row for row in runs["batch"].all}
    best = max(rows.values(), key=lambda row: row["lossless_mpps"])
    return ("lossless Mpps by batch: " + ", ".join(f"{batch} {row['lossless_mpps']:.0f}" for batch, row in rows.items()),
            HOLDS if best["batch"] == 256 else PARTLY if rows[256]["lossless_mpps"] > 0.95 * best["lossless_mpps"] else FAILS,
            "what a NIC loses to DMA and PCIe is not seen from memory; a queue of 4096 is modelled")


def flow_table3(runs):
    run = runs["models"]
    workers = run.values("workers")[0]
    rows = {row["model"]: row for row in run.where(workers=workers, scheduler=run.values("scheduler")[0])}
    direct, ring = rows["run-to-completion"], rows["pipeline"]
    return (listed(rows.values(), "mpps", name="model") + " Mpps", judged([below(direct, ring, "mpps")]),
            "in capacity the order is the other way: a packet handed over costs a ring. The paper compares losses of bursts at a fixed "
            "rate, where the ring is a larger buffer")


def flow_6a(runs):
    rows = runs["hashes"].where(ip_version=4, input="ports")
    rates = {row["hash"]: 1e3 / row["ns"] for row in rows}
    toeplitz = next((rate for name, rate in rates.items() if name == "softrss"), None)
    if toeplitz is None:
        return "no softrss in this build", ABSENT, "built without DPDK"
    slow = [name for name, rate in rates.items() if rate < 14.88 and not name.startswith("softrss")]
    return ("M hashes/s: " + ", ".join(f"{name} {rate:.0f}" for name, rate in sorted(rates.items(), key=lambda item: -item[1])),
            HOLDS if not slow and toeplitz == min(rates.values()) else PARTLY,
            "software Toeplitz is the slowest by far; whether it is below 14.88 M/s depends on the clock; bit matrices (GFNI) mend it")


def flow_6b(runs):
    rows = {row["row"]: row for row in runs["parse"].where(traffic="ipv4") if row["memory_mb"] > 100}
    none, early, late = (rows[name]["cycles"] for name in ("descriptor", "five-tuple, prefetched", "five-tuple"))
    return (f"cold frames, cycles a packet: descriptor alone {none:.0f}, five-tuple {early:.0f}, without prefetching {late:.0f}",
            HOLDS if late - none <= 100 else FAILS, "an upper bound, which neither way of reading comes near")


def flow_7a(runs):
    run = runs["structures"]
    rows = {row["table"]: row for row in run.where(flows=65536, zipf=0.0) or run.where(flows=65536, zipf=0)}
    answers = [below(rows["double-hash"], rows["combined"]), below(rows["combined"], rows["chained"])]
    return (listed(rows.values(), "ns") + f" ns; double hash rejects {100 * (rows['double-hash']['rejected_share'] or 0):.1f} % of the packets",
            judged(answers), "random five-tuples: a tenth of the flows finds two others in its bucket, for which the paper's consecutive "
            "addresses left room")


def flow_7c(runs):
    run = runs["analytics"]
    told, answers = [], []
    for counted in sorted(run.where(monitor="bucketed"), key=lambda row: row["flows"]):
        p99 = run.one(monitor="bucketed, gap_p99", traffic=counted["traffic"])
        answers.append(below(counted, p99))
        told.append(f"{counted['flows']} flows: {counted['mpps']:.0f} and {p99['mpps']:.0f}")
    return ("Mpps of counting, and with the p99 gap by P-square: " + "; ".join(told), judged(answers),
            "loss follows from capacity: both are above 14.88 Mpps where the figures say so, on one core")


FIGURES = [
    (MEASUREMENT, [
        ("1a", "sizes", "Linear probing costs less than cuckoo at every size; four entries a bucket improve cuckoo's tail.", figure_1a),
        ("1b", "sizes", "The count array costs less than Count-Min with three rows at every size.", figure_1b),
        ("1c", "accuracy", "At 98 % precision Count-Min's p99 is 64 ns, the count array's 45 ns.", figure_1c),
        ("2a", "sizes", "Count array below linear below heap at every size.", figure_2a),
        ("2b, 2c", "accuracy", "Linear is exact; the count array reaches 99.5 and 96.5 % precision and recall for less; a heap is never a "
         "good choice.", figure_2bc),
        ("3a", "skew", "Less skew costs Count-Min more than the count array.", figure_3a),
        ("3b", "skew", "Linear is only slightly above the count array at every skew; the heap's tail grows steeply with less skew.", figure_3b),
        ("3c", "array", "Within a cache skew makes no difference; beyond it less skew costs more.", figure_3c),
        ("4", "superspreader", "Superspreaders: count array fastest, linear the fastest exact table.", lambda runs: task_figure(runs, "superspreader")),
        ("5", "change", "Changes by EWMA: the same order.", lambda runs: task_figure(runs, "change")),
        ("6", "values", "The tail grows with the size of the values.", figure_6),
        ("7a", "values", "Values behind a pointer cost more when small, less when large and the skew low; with high skew the pointer always "
         "costs.", figure_7),
        ("8", "contention", "Separate tables cost less than one shared by compare-and-swap, at every size.", figure_8),
        ("9", "beside", "Neighbours that fight for cache or memory slow all; the count array stays the fastest.", figure_9),
    ]),
    (FLOWATCHER, [
        ("5a", "batch", "Loss is least with batches of 256.", flow_5a),
        ("5b, 5c", None, "Two receive queues, and a mempool for each, lose least.", None),
        ("6a", "hashes", "Only software Toeplitz is slower than the line; all others are faster.", flow_6a),
        ("6b", "parse", "Reading the five-tuple costs up to 100 cycles a packet over the hash from the NIC.", flow_6b),
        ("7a", "structures", "Double hash loses least, combined more, linked lists most.", flow_7a),
        ("7b, table III", "models", "The pipeline loses less than run to completion.", flow_table3),
        ("7c", "analytics", "The percentile by P-square costs more than counting, and more with more flows.", flow_7c),
        ("table IV", None, "Cache misses do not explain the losses.", None),
    ]),
]
UNMEASURED = {"5b, 5c": "what several queues and mempools cost is in the NIC and its bus; from memory there is neither",
              "table IV": "this machine gives no performance counters to its guests"}


def run_all(parshall, folder, again):
    runs = {}
    folder.mkdir(parents=True, exist_ok=True)
    for number, (name, (arguments, _, _)) in enumerate(RUNS.items(), 1):
        version = f"{arguments} {pathlib.Path(parshall).stat().st_mtime_ns}"
        path = folder / f"{name}-{hashlib.sha256(version.encode()).hexdigest()[:12]}.json"
        if again or not path.exists():
            print(f"{number} of {len(RUNS)}: parshall bench {' '.join(arguments)}", flush=True)
            part = path.with_suffix(".part")
            done = subprocess.run([parshall, "bench", *arguments, "--format", "json", "-o", part], stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode != 0 or "stopped after" in done.stderr:
                sys.exit(f"parshall bench {arguments[0]} ended with {done.returncode}: {done.stderr.strip().splitlines()[-1]}")
            part.rename(path)
        runs[name] = Rows(path)
    return runs


def plot(runs, name, path):
    """The run as a picture: a line for each first name, along the column that the run goes along; else bars."""
    if shutil.which("gnuplot") is None:
        return False
    _, x, y = RUNS[name]
    label = next(column for column in runs[name].all[0] if isinstance(runs[name].all[0][column], str) and
                 column not in ("experiment", "verdict", "traffic", "task", "beside", "sharing", "input", "reads", "prefetch"))
    series = {}
    for row in runs[name].all:
        if row.get(y) is None or (x and row.get(x) is None):
            continue
        extra = ", ".join(f"{key} {row[key]}" for key in ("beside", "sharing", "input", "reads", "workers", "cores", "batch", "ip_version")
                          if key in row and key != x and len(runs[name].values(key)) > 1)
        if x != "zipf" and len(runs[name].values("zipf") if "zipf" in row else [0]) > 1:
            extra += f" skew {row['zipf']}"
        if x is None and "traffic" in row and len(runs[name].values("traffic")) > 1:
            extra += " " + row["traffic"]
        series.setdefault(" ".join(f"{row[label]} {extra}".split()), []).append((row[x] if x else 0, row[y]))
    script = [f'set terminal svg noenhanced size 900,560', f'set output "{path}"', f'set ylabel "{y}"', "set grid"]
    if x:
        script += [f'set xlabel "{x}"', "set key outside right"] + (["set logscale x 2"] if x not in ("zipf",) else [])
        for i, points in enumerate(series.values()):
            script += [f"$d{i} << EOD"] + [f"{a} {b}" for a, b in sorted(points)] + ["EOD"]
        script.append("plot " + ", ".join(f'$d{i} with linespoints title "{name}"' for i, name in enumerate(series)))
    else:
        script += ["$d << EOD"] + [f'"{name}" {points[0][1]}' for name, points in series.items()] + ["EOD", "set style fill solid 0.5",
                   "set boxwidth 0.7", "set yrange [0:*]", "set xtics rotate by 60 right", "plot $d using 2:xtic(1) with boxes notitle"]
    return subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, stdout=subprocess.DEVNULL, check=False).returncode == 0


def page(runs, plots):
    machine = next(iter(runs.values())).machine
    lines = ["# The published experiments on this machine", "",
             "Made by `make reproduce`. Each row: what a paper concludes, what this machine shows, and whether the conclusion holds. Papers'",
             "nanoseconds are of other machines and are not compared. Costs are medians of interleaved rounds; an order counts as shown only",
             "where 95 % intervals do not overlap. Cycles are of the time stamp counter, per packet of a batch of 32.", "",
             "| machine | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in machine.items()]
    lines.append(f"| date | {datetime.date.today()} |")
    for paper, figures in FIGURES:
        lines += ["", f"## {paper}", "", "| figure | the paper concludes | here | conclusion | note |", "|---|---|---|---|---|"]
        for name, run, claim, judge in figures:
            if judge is None:
                measured, answer, why = "", ABSENT, UNMEASURED[name]
            else:
                measured, answer, why = judge(runs)
            picture = f" ([plot](reproduce/{run}.svg))" if run in plots else ""
            lines.append(f"| {name} | {claim} | {measured}{picture} | **{answer}** | {why} |")
    lines += ["", "Not here: figures 8 and 9 of FloWatcher compare with other programs and with devices under test behind a NIC; `bench/peers`",
              "compares with programs that read files. Raw figures: the folder that `tools/reproduce.py` names at its end.", "",
              "## How to run each", ""]
    lines += [f"- {name}: `parshall bench {' '.join(arguments)}`" for name, (arguments, _, _) in RUNS.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parshall")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("docs"))
    parser.add_argument("--runs", type=pathlib.Path, default=pathlib.Path("build/reproduce"))
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    runs = run_all(options.parshall, options.runs, options.again)
    pictures = options.folder / "reproduce"
    pictures.mkdir(parents=True, exist_ok=True)
    plots = {name for name in RUNS if plot(runs, name, pictures / f"{name}.svg")}
    (options.folder / "reproduce.md").write_text(page(runs, plots))
    print(f"wrote {options.folder / 'reproduce.md'}; figures in {options.runs}")


if __name__ == "__main__":
    main()
