# SPDX-License-Identifier: Apache-2.0
"""What runs say of the flow tables of FloWatcher-DPDK, its percentiles, and its rivals: figures 7 and 8, table IV."""
from comparing import at_most, below, over, under
from flowatcher_capture import LINE_RATE
from judge import Comparison, Estimate, Of
from measurement_judges import listed
from paper import NotHere, Seen

ORDER = ("double-hash", "combined", "chained")


def figure_7a(runs):
    rows = {row["table"]: row for row in runs["structures"].where(flows=65536, zipf=0)}
    comparisons = [below(f"{a}'s {name} below {b}'s", rows[a], rows[b], column, headline=column == "ns") for column, name in
                   (("ns", "mean"), ("p99_cycles", "p99"), ("p999_cycles", "p99.9")) for a, b in zip(ORDER, ORDER[1:])]
    return Seen(listed(rows.values(), "ns") + " ns; p50, p99, p99.9 of batches " + ", ".join(
        f"{name} {row['p50_cycles']:.0f}, {row['p99_cycles']:.0f}, {row['p999_cycles']:.0f}" for name, row in rows.items()) +
                f" cycles; double hash rejects {100 * (rows['double-hash']['rejected_share'] or 0):.1f} % of the packets", tuple(comparisons),
                "random five-tuples: a tenth of the flows finds two others in its bucket, for which the paper's consecutive addresses left room; the "
                "bucketed table is below all three, and rejects none")


def figure_7a_losses(runs):
    """As the paper draws it: the distribution over runs of what is lost at one rate."""
    run = runs["losses"]
    shares = {row["table"]: sorted(100 * loss for loss in row["losses"]) for row in run.all}
    count = len(next(iter(shares.values())))
    rank = max(0, (count - round(count ** 0.5 * 1.96)) // 2)  # 95 % of a median, by order statistics

    def median(table):
        losses = shares[table]
        middle = (losses[(count - 1) // 2] + losses[count // 2]) / 2
        return Estimate(middle, losses[rank], losses[count - 1 - rank], Of[run.one(table=table)["interval_of"]])
    comparisons = tuple(Comparison(f"{a} loses less than {b}", median(a), median(b), headline=True) for a, b in zip(ORDER, ORDER[1:]))
    return Seen(f"% lost at {run.all[0]['offered_mpps']:g} Mpps, least, median and most of {count} processes: " + "; ".join(
        f"{table} {losses[0]:.2g}, {median(table).value:.2g}, {losses[-1]:.2g}" for table, losses in shares.items()), comparisons,
                "the paper's runs are at 14.88 Mpps, where each of these loses nothing on one core of this machine: the rate is one that the slowest cannot "
                "take. A queue of 4096 packets is modelled")


def figure_7c(runs):
    run = runs["analytics"]
    told, comparisons, last = [], [], None
    for counted in sorted(run.where(monitor="bucketed"), key=lambda row: row["flows"]):
        p99 = run.one(monitor="bucketed, gap_p99", traffic=counted["traffic"])
        comparisons.append(below(f"counting below the percentile with {counted['flows']} flows", counted, p99, headline=True))
        if last is not None:
            comparisons.append(below(f"{last['flows']} flows below {p99['flows']}", last, p99))
        last = p99
        told.append(f"{counted['flows']} flows: {counted['mpps']:.0f} and {p99['mpps']:.0f}")
    return Seen("Mpps of counting, and with the p99 gap by P-square: " + "; ".join(told), tuple(comparisons),
                "loss follows from capacity, which is above 14.88 Mpps on one core at every load")


def figure_8(traffic):
    def judge(runs):
        rows = {row["row"]: row for row in runs["devices"].where(traffic=traffic)}
        packets, flows = rows.get("packets, dpdk-testpmd"), rows["flows, parshall"]
        if packets is None:
            raise NotHere("what counts packets is dpdk-testpmd, which is not installed (tools/setup.sh dpdk-dev)")
        comparisons = [at_most("counting flows takes a tenth at most of the packets' rate", packets, flows, 1 / 0.9, "mpps", headline=True),
                       over("flows are counted at line rate", flows, LINE_RATE, "mpps", headline=True)]
        comparisons += [below(f"{name} below flows", row, flows, "mpps") for name, row in rows.items() if "parshall" not in name and "testpmd" not in name]
        return Seen("Mpps from one virtual device, one core: " + ", ".join(f"{name} {row['mpps']:.1f}" for name, row in rows.items()), tuple(comparisons),
                    "dpdk-testpmd in rxonly mode counts packets; the device itself, which copies every frame, takes most of the time. The paper's other "
                    "receivers are Lua over DPDK, of which Debian has none")
    return judge


def monitors(runs):
    """What the paper's figure shows of its receivers, of those that there are here."""
    run = runs["monitor-losses"]
    if not run.all:
        raise NotHere(f"there can be no network: {run.documents[0]['missing']}")
    rows = {row["row"]: row for row in run.all}
    ours = rows["flows, parshall"]
    others = {name: row for name, row in rows.items() if row is not ours}
    if not others:
        raise NotHere("none of dpdk-testpmd, tcpdump, nfpcapd and suricata is installed")
    return Seen("% lost on a veth pair, median, least and most of the runs: " + "; ".join(
        f"{name} {100 * row['lost_share']:.2g}, {100 * row['low_lost_share']:.2g}, {100 * row['high_lost_share']:.2g}" for name, row in rows.items()),
                tuple(at_most(f"parshall, which counts flows, loses no more than {name.split(', ')[1]}, which counts {name.split(', ')[0]}", ours, row, 1,
                              "lost_share", headline=True) for name, row in others.items()),
                "the sender, the kernel's network and the monitor share two cores; the paper's other receivers (MoonGen, pktgen-DPDK, Speedometer) are not in "
                "Debian")


def receivers(runs):
    """Ours: what else counts packets or flows, each reading the same capture as fast as it can."""
    run = runs["receivers"]
    rows = {row["row"]: row for row in run.all}
    others = {name: row for name, row in rows.items() if "parshall" not in name}
    if not others:
        raise NotHere("none of tcpdump, nfpcapd and suricata is installed")
    ours = rows["flows, parshall"]
    return Seen("million packets a second of CPU from a capture file: " + ", ".join(f"{name} {row['mpps_cpu']:.2f}" for name, row in rows.items()),
                tuple(below(f"{name} below flows by parshall", row, ours, "mpps_cpu", headline=True) for name, row in others.items()),
                "a file, since most of these cannot read a device of DPDK; start and end of each program are in it")


def table_4(runs):
    run = runs["cache"]
    if not run.all:
        raise NotHere(run.documents[0]["missing"])
    rows = {row["llc_mb"]: row for row in run.all}
    sizes = sorted(rows)
    small, large = rows[sizes[0]], rows[sizes[-1]]
    return Seen("last-level misses of 1,000 packets, simulated with caches of " + "; ".join(
        f"{size:g} MB: {row['misses_per_1000']:.1f} ({row['instructions_per_packet']:.0f} instructions a packet)" for size, row in rows.items()),
                (at_most(f"{sizes[0]:g} MB miss a tenth more than {sizes[-1]:g} MB at most", small, large, 1.1, "misses_per_1000", headline=True),),
                "by callgrind, of caches as its machines' (25 and 30 MB): the CPU's counters are not to be had here. That the card is to blame cannot be told")


def software_events(runs):
    """Ours: what the kernel does while flows are counted."""
    run = runs["events"]
    if not run.all:
        raise NotHere(run.documents[0]["missing"])
    row = run.all[0]
    return Seen(f"a million packets more take {row['ms_per_million']:.1f} ms of CPU, touch {row['faults_per_million']:.2f} pages for the first time, and see "
                f"{row['switches_per_million']:.1f} switches to other threads",
                (under("less than one page a million packets is new", row, 1, "faults_per_million", headline=True),),
                "switches are those of all threads, and of what else the machine does")
