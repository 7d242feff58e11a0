# SPDX-License-Identifier: Apache-2.0
"""The figures of the FloWatcher paper, sections V and VI: as measurement.py. A judge that is None says why none can be."""
from judge import at_most, below, sure
from measurement import listed

PAPER = "Zhang et al., *FloWatcher-DPDK: lightweight line-rate flow-level monitoring in software*, IEEE TNSM 16(3), 2019"
LINE_RATE = 14.88  # Mpps: 10 GbE of 64-byte frames


def figure_5a(runs):
    rows = {row["batch"]: row for row in runs["batch"].all}
    return ("lossless Mpps by batch: " + ", ".join(f"{batch} {row['lossless_mpps']:.0f}" for batch, row in rows.items()),
            [below(row, rows[256], "lossless_mpps") for batch, row in rows.items() if batch != 256],
            "a queue of 4096 is modelled from the cost of each batch; what a NIC loses to DMA and PCIe is not seen from memory")


def figure_5b(runs):
    rows = {row["queues"]: row for row in runs["receive"].where(cores=1, cache=256, pools="own")}
    return ("ns a packet by queues: " + ", ".join(f"{queues} {row['ns']:.1f}" for queues, row in rows.items()),
            [below(rows[2], row) for queues, row in rows.items() if queues != 2],
            "the side of CPU and memory, one core polling all queues of DPDK rings: each queue more costs. What the NIC and its bus gain or "
            "lose by a second queue is not seen")


def figure_5c(runs):
    pairs = [(runs["receive"].one(cores=2, cache=cache, queues=queues, pools="own"),
              runs["receive"].one(cores=2, cache=cache, queues=queues, pools="shared"))
             for cache in runs["receive"].values("cache") for queues in runs["receive"].values("queues")]
    return ("ns a packet, two cores, a pool per queue and one for all: " +
            "; ".join(f"cache {a['cache']}, {a['queues']} queues {a['ns']:.1f}, {b['ns']:.1f}" for a, b in pairs),
            [below(a, b) for a, b in pairs], "two cores that draw from one pool meet in it only where they have no cache of buffers in front")


def figure_6a(runs):
    rates = {row["hash"]: 1e3 / row["ns"] for row in runs["hashes"].where(ip_version=4, input="ports")}
    toeplitz = rates.get("softrss")
    if toeplitz is None:
        return "no softrss in this build", [0], "built without DPDK"
    return ("M hashes/s: " + ", ".join(f"{name} {rate:.0f}" for name, rate in sorted(rates.items(), key=lambda item: -item[1])),
            [sure(toeplitz < LINE_RATE)] + [sure(rate > LINE_RATE) for name, rate in rates.items() if name != "softrss"],
            "software Toeplitz is the slowest by far, and near the line; bit matrices (GFNI) mend it")


def figure_6b(runs):
    rows = {row["row"]: row for row in runs["parse"].where(traffic="ipv4") if row["memory_mb"] > 100}
    none, early, late = (rows[name]["cycles"] for name in ("descriptor", "five-tuple, prefetched", "five-tuple"))
    return (f"cold frames, cycles a packet: descriptor alone {none:.0f}, five-tuple {early:.0f}, without prefetching {late:.0f}",
            [sure(early - none <= 100), sure(late - none <= 100)], "an upper bound, which neither way of reading comes near")


def figure_6c(runs):
    table = runs["structures"].one(table="double-hash", flows=65536, zipf=0)["ns"]
    rows = {row["hash"]: row for row in runs["hashes"].where(ip_version=4, input="ports")}
    rates = {name: 1e3 / (row["ns"] + table) for name, row in rows.items()}
    spread = {name: row["random_overflow_share"] for name, row in rows.items()}
    answers = [sure((rate < LINE_RATE) == name.startswith("softrss")) for name, rate in rates.items() if name in
               ("softrss", "xor", "addition", "murmur3", "spooky")]
    answers += [sure(0.10 < spread[name] < 0.14) for name in ("murmur3", "spooky")] + [sure(min(spread.values()) < 0.05)]
    lost = max(0, 1 - rates.get("softrss", LINE_RATE) / LINE_RATE)
    return ("Mpps of hash and double hash together: " + ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items()) +
            f" (softrss would lose {100 * lost:.0f} % of 14.88); flows that find no place, 65,536 random five-tuples: " +
            ", ".join(f"{name} {100 * share:.1f} %" for name, share in spread.items()), answers,
            "the flows without a place are those of any good hash: two places a bucket and as many flows as buckets leave 10.4 %, whatever the "
            "seed. Rates are those of one core without a NIC")


def figure_7a(runs):
    rows = {row["table"]: row for row in runs["structures"].where(flows=65536, zipf=0)}
    answers = [below(rows["double-hash"], rows["combined"], column) for column in ("ns", "p99_cycles")]
    answers += [below(rows["combined"], rows["chained"], column) for column in ("ns", "p99_cycles")]
    return (listed(rows.values(), "ns") + " ns; p99 " + listed(rows.values(), "p99_cycles", 0) +
            f" cycles; double hash rejects {100 * (rows['double-hash']['rejected_share'] or 0):.1f} % of the packets; loss at 14.88 Mpps, modelled: " +
            ", ".join(f"{100 * row['modelled_loss']:.2g} %" for row in rows.values()), answers,
            "random five-tuples: a tenth of the flows finds two others in its bucket, for which the paper's consecutive addresses left room; the "
            "bucketed table is below all three, and rejects none")


def figure_7b(runs):
    run = runs["models"]
    rows = {row["model"]: row for row in run.where(workers=1, scheduler="other")}
    direct, ring, turns = (rows[name] for name in ("run-to-completion", "pipeline", "cooperative"))
    return (listed(rows.values(), "mpps", name="model") + f" Mpps; two threads polling on one core would lose "
            f"{100 * ring['modelled_loss']:.0f} % of 14.88 Mpps, on a core each {100 * ring['alone_modelled_loss']:.2g} %",
            [below(turns, direct, "mpps"), below(turns, ring, "mpps"), sure(ring["modelled_loss"] > 10 * ring["alone_modelled_loss"])],
            "their cooperative threads are lthreads, which DPDK 22.11 no longer has: ours take turns batch by batch. With two cores, receiving "
            "and counting apart leaves none for a second pair")


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
        answers.append(sure(min(row["low_mpps"] for row in rows.values()) > LINE_RATE))
    return ("Mpps from one virtual device, one core: " + "; ".join(told), answers,
            "dpdk-testpmd in rxonly mode counts packets; the device itself, which copies every frame, takes most of the time. Negligible is "
            "taken as a tenth at most")


def table_3(runs):
    run = runs["models"]
    rows = {row["model"]: row for row in run.where(workers=1, scheduler="other")}
    direct, ring = rows["run-to-completion"], rows["pipeline"]
    held = next(iter(run.where(scheduler="deadline")), None)
    told = listed((direct, ring), "mpps", name="model") + " Mpps"
    answers = [below(direct, ring, "mpps")]
    if held is not None:
        told += (f"; a thread with a core of its own would lose {100 * direct['alone_modelled_loss']:.2g} % of 14.88 Mpps under SCHED_OTHER, "
                 f"{100 * held['alone_modelled_loss']:.0f} % under SCHED_DEADLINE with 0.4 ms of every 1 ms (longest gap "
                 f"{held['alone_max_gap_us'] / 1e3:.1f} ms)")
        answers.append(sure(held["alone_modelled_loss"] > 100 * direct["alone_modelled_loss"]))
    return (told, answers, "in capacity the order of the models is the other way: a packet handed over costs a ring. The paper compares losses of "
            "bursts at a fixed rate, where the ring is a larger buffer. Its runtime and period are not given")


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
    ("table IV", None, "Cache misses do not explain the losses.", "this machine gives no performance counters to its guests"),
]
