# SPDX-License-Identifier: Apache-2.0
"""The figures of the FloWatcher paper, sections V and VI: as measurement.py. A judge returns None where there is
nothing to judge."""
from judge import at_most, below, difference, sure, under
from measurement import listed

PAPER = "Zhang et al., *FloWatcher-DPDK: lightweight line-rate flow-level monitoring in software*, IEEE TNSM 16(3), 2019"
LINE_RATE = 14.88  # Mpps: 10 GbE of 64-byte frames
LINE_NS = 1e3 / LINE_RATE
PROBED_PACKETS = 0.2e6 * LINE_RATE  # that a modelled loss of `bench models` is a share of
NO_TOEPLITZ = ("no softrss in this build", [0], "built without DPDK")


def placement(receive):
    """How far rows differ that are the same: one queue on one core, with either kind of pool."""
    return max(max(a["ns"], b["ns"]) / min(a["ns"], b["ns"]) for cache in receive.values("cache") for a, b in
               [[receive.one(cores=1, queues=1, cache=cache, pools=pools) for pools in ("shared", "own")]])


def beyond(a, b, factor):
    """That a is below b by more than rows differ that are the same."""
    wider = {name: value * factor if name.startswith("high_") else value / factor if name.startswith("low_") else value
             for name, value in a.items() if isinstance(value, float)}
    return below(wider, b)


def figure_5a(runs):
    rows = {row["batch"]: row for row in runs["batch"].all}
    return ("lossless Mpps by batch: " + ", ".join(f"{batch} {row['lossless_mpps']:.0f}" for batch, row in rows.items()),
            [below(row, rows[256], "lossless_mpps") for batch, row in rows.items() if batch != 256],
            "a queue of 4096 is modelled from the cost of each batch; what a NIC loses to DMA and PCIe is not seen from memory")


def figure_5b(runs):
    factor = placement(runs["receive"])
    rows = {row["queues"]: row for row in runs["receive"].where(cores=1, cache=256, pools="own")}
    return ("ns a packet by queues: " + ", ".join(f"{queues} {row['ns']:.1f}" for queues, row in rows.items()),
            [beyond(rows[2], row, factor) for queues, row in rows.items() if queues != 2],
            "the side of CPU and memory, one core polling all queues of DPDK rings: each queue more costs. What the NIC and its bus gain or "
            f"lose by a second queue is not seen. Where memory lies makes a factor of {factor:.2f}: less is no order")


def figure_5c(runs):
    receive = runs["receive"]
    factor = placement(receive)
    pairs = [tuple(receive.one(cores=2, cache=cache, queues=queues, pools=pools) for pools in ("own", "shared"))
             for cache in receive.values("cache") for queues in receive.values("queues")]
    return ("ns a packet, two cores, a pool per queue and one for all: " +
            "; ".join(f"cache {a['cache']}, {a['queues']} queues {a['ns']:.1f}, {b['ns']:.1f}" for a, b in pairs),
            [beyond(a, b, factor) for a, b in pairs],
            "two cores that draw from one pool meet in it only where they have no cache of buffers in front; the same factor is no order")


def figure_6a(runs):
    rows = {row["hash"]: row for row in runs["hashes"].where(ip_version=4, input="ports")}
    if "softrss" not in rows:
        return NO_TOEPLITZ
    return ("M hashes/s: " + ", ".join(f"{name} {1e3 / row['ns']:.0f}" for name, row in sorted(rows.items(), key=lambda item: item[1]["ns"])),
            [-under(rows["softrss"], LINE_NS)] + [under(row, LINE_NS) for name, row in rows.items() if name != "softrss"],
            "software Toeplitz is the slowest by far, and near the line; bit matrices (GFNI) mend it")


def figure_6b(runs):
    rows = {row["row"]: row for row in runs["parse"].where(traffic="ipv4") if row["memory_mb"] > 100}
    none, early, late = (rows[name] for name in ("descriptor", "five-tuple, prefetched", "five-tuple"))
    most = 100 / (none["cycles"] / none["ns"])  # ns of 100 cycles
    return (f"cold frames, cycles a packet: descriptor alone {none['cycles']:.0f}, five-tuple {early['cycles']:.0f}, without prefetching "
            f"{late['cycles']:.0f}", [under(difference(row, none), most) for row in (early, late)],
            "an upper bound, which neither way of reading comes near")


def figure_6c(runs):
    table = runs["structures"].one(table="double-hash", flows=65536, zipf=0)
    rows = {row["hash"]: row for row in runs["hashes"].where(ip_version=4, input="ports")}
    if "softrss" not in rows:
        return NO_TOEPLITZ
    both = {name: {column: row[column] + table[column] for column in ("ns", "low_ns", "high_ns")} for name, row in rows.items()}
    lost = max(0, 1 - LINE_NS / both["softrss"]["ns"])
    answers = [-under(both["softrss"], LINE_NS)] + [under(both[name], LINE_NS) for name in ("xor", "addition", "murmur3", "spooky", "softrss-be")]
    answers += [sure(0.10 <= rows[name]["random_overflow_share"] <= 0.14) for name in ("murmur3", "spooky")]
    return ("Mpps of hash and double hash together: " + ", ".join(f"{name} {1e3 / row['ns']:.0f}" for name, row in both.items()) +
            f" (softrss would lose {100 * lost:.0f} % of 14.88); flows that find no place, 65,536 random five-tuples: " +
            ", ".join(f"{name} {100 * row['random_overflow_share']:.1f} %" for name, row in rows.items()), answers,
            "any good hash leaves as many flows without a place: two places a bucket and as many flows as buckets are 10.4 %, whatever the "
            "seed, so that none avoids it on random five-tuples. Rates are those of one core without a NIC")


def figure_7a(runs):
    rows = {row["table"]: row for row in runs["structures"].where(flows=65536, zipf=0)}
    answers = [below(rows["double-hash"], rows["combined"], column) for column in ("ns", "p99_cycles")]
    answers += [below(rows["combined"], rows["chained"], column) for column in ("ns", "p99_cycles")]
    return (listed(rows.values(), "ns") + " ns; p99 " + listed(rows.values(), "p99_cycles", 0) +
            f" cycles; double hash rejects {100 * (rows['double-hash']['rejected_share'] or 0):.1f} % of the packets; loss at 14.88 Mpps, modelled: " +
            ", ".join(f"{100 * row['modelled_loss']:.2g} %" for row in rows.values()), answers,
            "random five-tuples: a tenth of the flows finds two others in its bucket, for which the paper's consecutive addresses left room; the "
            "bucketed table is below all three, and rejects none")


def more_lost(a, b, factor):
    """That the modelled loss a is more than `factor` times b; no loss of n packets may be one of 3 / n (95 %)."""
    return sure(a > factor * max(b, 3 / PROBED_PACKETS))


def figure_7b(runs):
    rows = {row["model"]: row for row in runs["models"].where(workers=1, scheduler="other")}
    ring = rows["pipeline"]
    return (listed(rows.values(), "mpps", name="model") + f" Mpps; two threads polling on one core would lose "
            f"{100 * ring['modelled_loss']:.0f} % of 14.88 Mpps, one with a core of its own {100 * ring['alone_modelled_loss']:.2g} %",
            [0, more_lost(ring["modelled_loss"], ring["alone_modelled_loss"], 1)],
            "their cooperative threads are lthreads, which DPDK 22.11 no longer has: ours take turns batch by batch, and lose nothing below "
            "their capacity, so that the first half cannot be told. With two cores there is no room for two pairs of threads")


def figure_7c(runs):
    run = runs["analytics"]
    told, answers = [], []
    for counted in sorted(run.where(monitor="bucketed"), key=lambda row: row["flows"]):
        p99 = run.one(monitor="bucketed, gap_p99", traffic=counted["traffic"])
        answers.append(below(counted, p99))
        told.append((f"{counted['flows']} flows: {counted['mpps']:.0f} and {p99['mpps']:.0f}", p99))
    answers += [below(a, b) for (_, a), (_, b) in zip(told, told[1:])]
    return ("Mpps of counting, and with the p99 gap by P-square: " + "; ".join(text for text, _ in told), answers,
            "loss follows from capacity, which is above 14.88 Mpps on one core at every load")


def figure_8(runs):
    run = runs["devices"]
    told, answers = [], []
    for traffic in run.values("traffic"):
        rows = {row["row"]: row for row in run.where(traffic=traffic)}
        told.append(f"{traffic}: " + ", ".join(f"{name} {row['mpps']:.1f}" for name, row in rows.items()))
        packets, flows = rows.get("packets, dpdk-testpmd"), rows["flows, parshall"]
        answers.append(0 if packets is None else at_most(packets, flows, 1 / 0.9, "mpps"))
        answers.append(-under(flows, LINE_RATE, "mpps"))
    return ("Mpps from one virtual device, one core: " + "; ".join(told), answers,
            "dpdk-testpmd in rxonly mode counts packets; the device itself, which copies every frame, takes most of the time. Negligible is "
            "taken as a tenth at most")


def table_3(runs):
    run = runs["models"]
    rows = {row["model"]: row for row in run.where(workers=1, scheduler="other")}
    direct, ring = rows["run-to-completion"], rows["pipeline"]
    held = next(iter(run.where(scheduler="deadline")), None)
    told, answers = listed((direct, ring), "mpps", name="model") + " Mpps", [0, 0]
    if held is not None:
        told += (f"; a thread with a core of its own would lose {100 * direct['alone_modelled_loss']:.2g} % of 14.88 Mpps under SCHED_OTHER, "
                 f"{100 * held['alone_modelled_loss']:.0f} % under SCHED_DEADLINE with 0.4 ms of every 1 ms (longest gap "
                 f"{held['alone_max_gap_us'] / 1e3:.1f} ms)")
        answers[1] = more_lost(held["alone_modelled_loss"], direct["alone_modelled_loss"], 1000)
    return (told, answers, "capacities, in which the order of the models is the other way: a packet handed over costs a ring. The paper compares "
            "losses of bursts at a fixed rate, where the ring is a larger buffer: that cannot be told here. What SCHED_DEADLINE loses follows "
            "from runtime and period, which the paper does not give")


def table_4(runs):
    rows = {row["monitor"]: row for row in runs["analytics"].where(flows=65536) if row.get("cache_miss_share") is not None}
    if not rows:
        return None
    return ("; ".join(f"{name}: {100 * row['cache_miss_share']:.1f} % of the references to the last-level cache miss, "
                      f"{row['instructions_per_cycle']:.2f} instructions a cycle" for name, row in rows.items()), [0],
            "the paper compares three machines that lose differently: one machine cannot tell")


FIGURES = [
    ("5a", "batch", "Loss is least with batches of 256.", figure_5a),
    ("5b", "receive", "Two receive queues lose least.", figure_5b),
    ("5c", "receive", "A mempool for each queue loses less than one for all.", figure_5c),
    ("6a", "hashes", "Only software Toeplitz is slower than the line; all others are faster.", figure_6a),
    ("6b", "parse", "Reading the five-tuple costs up to 100 cycles a packet over the hash from the NIC.", figure_6b),
    ("6c", "hashes", "Software Toeplitz loses a third of the packets, the others next to none; Murmur3 and Spooky miscount 11 and 13 % of the "
     "flows, which a better seed avoids.", figure_6c),
    ("7a", "structures", "Double hash loses least, combined more, linked lists most.", figure_7a),
    ("7b", "models", "Cooperative threads lose ten times more than threads of their own; on cores of their own they lose least.", figure_7b),
    ("7c", "analytics", "The percentile by P-square costs more than counting, and more with more flows.", figure_7c),
    ("8", "devices", "Counting flows costs next to nothing over counting packets, at line rate.", figure_8),
    ("table III", "models", "The pipeline loses less than run to completion; SCHED_DEADLINE loses a thousand times more than SCHED_OTHER.", table_3),
    ("table IV", None, "Cache misses do not explain the losses.", table_4),
]
