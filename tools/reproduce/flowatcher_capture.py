# SPDX-License-Identifier: Apache-2.0
"""What runs say of the capture stage of FloWatcher-DPDK: figures 5 and 6, tables II and III."""
from comparing import below, difference, estimate, over, reaches, under, untold
from judge import Comparison, Estimate
from measurement_judges import listed
from paper import NotHere, Seen

LINE_RATE = 14.88  # Mpps: 10 GbE of 64-byte frames
LINE_NS = 1e3 / LINE_RATE
PROBED_PACKETS = 0.2e6 * LINE_RATE  # that a modelled loss of `bench models` is a share of
THEIR_HASHES = ("softrss-be", "addition", "xor", "spooky", "murmur3")
PAPERS_BATCHES = (64, 128, 256, 512, 1024)


def figure_5a(runs):
    rows = {row["batch"]: row for row in runs["batch"].all}
    return Seen("lossless Mpps by batch: " + ", ".join(f"{batch} {row['lossless_mpps']:.0f}" for batch, row in rows.items()),
                tuple(below(f"batches of {batch} below 256", row, rows[256], "lossless_mpps", headline=batch in (PAPERS_BATCHES[0], PAPERS_BATCHES[-1]))
                      for batch, row in rows.items() if batch in PAPERS_BATCHES and batch != 256),
                "a queue of 4096 is modelled from the cost of each batch; what a NIC loses to DMA and PCIe is not seen from memory")


def own_pools(runs):
    return {row["queues"]: row for row in runs["receive"].where(cores=1, cache=256, pools="own")}


def figure_5b(runs):
    rows = own_pools(runs)
    return Seen("ns a packet by queues: " + ", ".join(f"{queues} {row['ns']:.1f}" for queues, row in rows.items()),
                tuple(below(f"two queues below {queues}", rows[2], row, headline=queues == 1) for queues, row in rows.items() if queues != 2),
                "the side of CPU and memory, one core polling all queues of DPDK rings: each queue more costs. What the NIC and its bus gain or lose by "
                "a second queue is not seen")


def figure_5c(runs):
    receive = runs["receive"]
    pairs = [tuple(receive.one(cores=2, cache=cache, queues=queues, pools=pools) for pools in ("own", "shared"))
             for cache in receive.values("cache") for queues in receive.values("queues")]
    return Seen("ns a packet, two cores, a pool per queue and one for all: " +
                "; ".join(f"cache {a['cache']}, {a['queues']} queues {a['ns']:.1f}, {b['ns']:.1f}" for a, b in pairs),
                tuple(below(f"own pools cost less with {a['queues']} queues, cache {a['cache']}", a, b, headline=a["queues"] == 2) for a, b in pairs),
                "two cores that draw from one pool meet in it only where they have no cache of buffers in front; the paper has two queues, and says that "
                "pools of their own matter even with such a cache")


def table_2(runs):
    """The paper's tuned values, each against its neighbours: those of figures 5 and of table III that are run here."""
    batches = {row["batch"]: row for row in runs["batch"].all}
    queues = own_pools(runs)
    pools = [runs["receive"].one(cores=2, cache=256, queues=2, pools=pools) for pools in ("own", "shared")]
    models = {row["model"]: row for row in runs["models"].where(workers=1, scheduler="other")}
    best = max((batch for batch in batches if batch in PAPERS_BATCHES), key=lambda batch: batches[batch]["lossless_mpps"])
    cheapest = min(queues, key=lambda number: queues[number]["ns"])
    return Seen(f"best batch {best}, cheapest number of queues {cheapest}, pool {'of each queue' if pools[0]['ns'] < pools[1]['ns'] else 'for all'} (cache 256), "
                f"model of the highest rate {max(models, key=lambda name: models[name]['mpps'])}",
                (below("batches of 256 above 64", batches[64], batches[256], "lossless_mpps", headline=True),
                 below("two queues below one", queues[2], queues[1], headline=True), below("a pool for each queue", *pools, headline=True),
                 below("the pipeline above run to completion", models["run-to-completion"], models["pipeline"], "mpps", headline=True)),
                "the values stand in a picture that the text does not have: those that it names as tuned are taken")


def their_hashes(runs):
    rows = {row["hash"]: row for row in runs["hashes"].where(ip_version=4, input="ports")}
    if "softrss" not in rows:
        raise NotHere("software Toeplitz is DPDK's, and this build is without it")
    return rows


def figure_6a(runs):
    rows = their_hashes(runs)
    return Seen("M hashes/s: " + ", ".join(f"{name} {1e3 / row['ns']:.0f}" for name, row in sorted(rows.items(), key=lambda item: item[1]["ns"])),
                (over("software Toeplitz is slower than the line", rows["softrss"], LINE_NS, headline=True),
                 *(under(f"{name} is faster than the line", rows[name], LINE_NS) for name in THEIR_HASHES)),
                "software Toeplitz is the slowest by far; bit matrices (GFNI) mend it")


def figure_6b(runs):
    rows = {row["row"]: row for row in runs["parse"].where(traffic="ipv4") if row["memory_mb"] > 100}
    none, early, late = (rows[name] for name in ("descriptor", "five-tuple, prefetched", "five-tuple"))
    most = 100 / (none["cycles"] / none["ns"])  # ns of 100 cycles
    return Seen(f"cold frames, cycles a packet: descriptor alone {none['cycles']:.0f}, five-tuple {early['cycles']:.0f}, without prefetching "
                f"{late['cycles']:.0f}",
                (under("the five-tuple without prefetching adds up to 100 cycles", difference(late, none), most, headline=True),
                 under("with prefetching, too", difference(early, none), most), below("reading it costs something", none, late)))


def figure_6c(runs):
    table = runs["structures"].one(table="double-hash", flows=65536, zipf=0)
    rows = their_hashes(runs)
    both = {name: {**row, **{column: row[column] + table[column] for column in ("ns", "low_ns", "high_ns")}, "together": None} for name, row in rows.items()}
    lost = max(0, 1 - LINE_NS / both["softrss"]["ns"])
    comparisons = [over("software Toeplitz is below the line's rate", both["softrss"], LINE_NS, headline=True)]
    comparisons += [under(f"{name} keeps up with the line", both[name], LINE_NS) for name in THEIR_HASHES]
    for name in ("murmur3", "spooky"):
        share = rows[name]
        comparisons += [reaches(f"{name} finds no place for a tenth of the flows", share, 0.10, "random_overflow_share"),
                        under(f"{name} finds one for all but 14 %", share, 0.14, "random_overflow_share")]
    return Seen("Mpps of hash and double hash together: " + ", ".join(f"{name} {1e3 / row['ns']:.0f}" for name, row in both.items()) +
                f" (softrss would lose {100 * lost:.0f} % of 14.88); flows that find no place, 65,536 random five-tuples: " +
                ", ".join(f"{name} {100 * row['random_overflow_share']:.1f} %" for name, row in rows.items()), tuple(comparisons),
                "any good hash leaves as many flows without a place: two places a bucket and as many flows as buckets are 10.4 %, whatever the seed, so "
                "that none avoids it on random five-tuples. Rates are those of one core without a NIC")


def seed(runs):
    """What the paper hopes of a better seed: that no flow finds its bucket full."""
    rows = their_hashes(runs)
    names = ("murmur3", "spooky")
    return Seen(", ".join(f"{name} {100 * rows[name]['random_overflow_share']:.1f} %" for name in names) + " of random five-tuples find no place",
                tuple(under(f"{name} leaves less than 1 % out", rows[name], 0.01, "random_overflow_share", headline=True) for name in names),
                "with n flows, n buckets and two places each, a share of 10.4 % is left over by chance, seed or none")


def loss(row, column):
    """A modelled loss; no loss of n packets may be one of 3 / n (95 %)."""
    found = estimate(row, column)
    return Estimate(found.value, found.low, max(found.high, 3 / PROBED_PACKETS), found.of)


def more_lost(what, a, b, factor, headline=True):
    """That a loses more than `factor` times what b does: pairs of a row and its column."""
    return Comparison(what, loss(*b).times(factor), loss(*a), headline=headline)


def table_3_models(runs):
    rows = {row["model"]: row for row in runs["models"].where(workers=1, scheduler="other")}
    direct, ring = rows["run-to-completion"], rows["pipeline"]
    return Seen(listed((direct, ring), "mpps", name="model") + " Mpps of one worker (a pipeline has a thread more)",
                (below("the pipeline's capacity is above run to completion's", direct, ring, "mpps", headline=True),
                 untold("the pipeline loses less of bursts at a fixed rate")),
                "capacities: a packet handed over costs a ring. The paper compares losses of bursts at a fixed rate, where the ring is a larger buffer: no "
                "device here bursts")


def table_3_schedulers(runs):
    run = runs["models"]
    direct = run.one(model="run-to-completion", workers=1, scheduler="other")
    held = next(iter(run.where(model="run-to-completion", scheduler="deadline")), None)
    if held is None or held.get("alone_modelled_loss") is None:
        raise NotHere("SCHED_DEADLINE was refused to this process (CAP_SYS_NICE)")
    return Seen(f"a thread with a core of its own would lose {100 * direct['alone_modelled_loss']:.2g} % of 14.88 Mpps under SCHED_OTHER, "
                f"{100 * held['alone_modelled_loss']:.0f} % under SCHED_DEADLINE with 0.4 ms of every 1 ms (longest gap {held['alone_max_gap_us'] / 1e3:.1f} ms)",
                (more_lost("SCHED_DEADLINE loses a thousand times more", (held, "alone_modelled_loss"), (direct, "alone_modelled_loss"), 1000),
                 more_lost("it loses more at all", (held, "alone_modelled_loss"), (direct, "alone_modelled_loss"), 1, headline=False)),
                "what SCHED_DEADLINE loses follows from runtime and period, which the paper does not give")


def figure_7b(runs):
    rows = {row["model"]: row for row in runs["models"].where(workers=1, scheduler="other")}
    ring = rows["pipeline"]
    return Seen(listed(rows.values(), "mpps", name="model") + f" Mpps; two threads polling on one core would lose {100 * ring['modelled_loss']:.0f} % of 14.88 "
                f"Mpps, one with a core of its own {100 * ring['alone_modelled_loss']:.2g} %",
                (untold("threads on the two halves of a core lose less than cooperative ones", headline=True),
                 more_lost("threads that share a core lose more than one with its own", (ring, "modelled_loss"), (ring, "alone_modelled_loss"), 1),
                 below("the cooperative capacity is below the pipeline's", rows["cooperative"], ring, "mpps")),
                "their cooperative threads are lthreads, which DPDK 22.11 no longer has: ours take turns batch by batch, and lose nothing below their "
                "capacity. Cores have no two halves (hyper-threads) here")
