# SPDX-License-Identifier: Apache-2.0
"""What runs say of the flow tables of FloWatcher-DPDK and of its percentiles: figures 7a and 7c."""

from comparing import at_most, below, bound, over, under
from flowatcher_capture import LINE_RATE
from judge import Comparison, Estimate, Of
from measurement_judges import listed
from paper import Seen
from rows import MissingRows

ORDER = ("double-hash", "combined", "chained")
SLOTS = 65536  # of the paper's tables: more flows lose too much of its packets for any use


def packets_alone(run, flows):
    """What counts packets and no flows, of the traffic that has so many."""
    return run.one(monitor="poll", traffic=run.one(monitor="bucketed", flows=flows)["traffic"])


def figure_7a(runs):
    rows = {row["table"]: row for row in runs["structures"].where(flows=65536, zipf=0)}
    packets = packets_alone(runs["analytics"], 65536)
    comparisons = [
        below(f"{a}'s {name} below {b}'s", rows[a], rows[b], column, headline=column == "ns")
        for column, name in (("ns", "mean"), ("p99_cycles", "p99"), ("p999_cycles", "p99.9"))
        for a, b in zip(ORDER, ORDER[1:])
    ]
    comparisons += [
        over(f"{name} takes the line's rate without loss", row, LINE_RATE, "lossless_mpps")
        for name, row in (("counting packets", packets), ("double-hash", rows["double-hash"]))
    ]
    return Seen(
        f"counting packets {packets['ns']:.1f}, "
        + listed(rows.values(), "ns")
        + " ns; p50, p99, p99.9 of batches "
        + ", ".join(
            f"{name} {row['p50_cycles']:.0f}, {row['p99_cycles']:.0f}, {row['p999_cycles']:.0f}"
            for name, row in rows.items()
        )
        + f" cycles; without loss {packets['lossless_mpps']:.0f} and {rows['double-hash']['lossless_mpps']:.0f} Mpps; "
        f"no place for (share of packets) "
        + listed([{**row, "percent": 100 * (row["rejected_share"] or 0)} for row in rows.values()], "percent")
        + " %",
        tuple(comparisons),
        "costs replace losses, for random five-tuples on one core. A queue of 4096 packets is modelled",
    )


def middle_of(values):
    """Their median, with its interval (95 %, by order statistics)."""
    ordered, count = sorted(values), len(values)
    rank = max(0, (count - round(count**0.5 * 1.96)) // 2)
    return Estimate(
        (ordered[(count - 1) // 2] + ordered[count // 2]) / 2, ordered[rank], ordered[count - 1 - rank], Of.RUNS, "%"
    )


def loses_less(what, a, b, factor=1, headline=False):
    """That a loses less than `factor` times what b does, both in the same processes: by the difference in each."""
    return Comparison(what, middle_of([one - factor * other for one, other in zip(a, b)]), bound(0), headline=headline)


def figure_7a_losses(runs):
    """As the paper draws it: the distribution over runs of what is lost at one rate."""
    run = runs["losses"]
    lost = {row["table"]: row["losses"] for row in run.all}
    if not set(ORDER) <= set(lost):
        raise MissingRows(f"of {', '.join(lost)} alone")
    comparisons = [
        loses_less(f"{a} loses less than {b}", lost[a], lost[b], headline=True) for a, b in zip(ORDER, ORDER[1:])
    ]
    comparisons.append(
        loses_less("double-hash loses a tenth of what chained does", lost["double-hash"], lost["chained"], 0.1)
    )
    return Seen(
        f"% lost at {run.all[0]['offered_mpps']:g} Mpps, least, median and most of {len(lost[ORDER[0]])} processes: "
        + "; ".join(
            f"{table} {100 * min(shares):.2g}, {100 * middle_of(shares).value:.2g}, {100 * max(shares):.2g}"
            for table, shares in lost.items()
        ),
        tuple(comparisons),
        "the paper's runs are at 14.88 Mpps; the rate here is what the combined table takes on average, so that "
        "packets may be lost at all. A queue of 4096 packets is modelled, and tables are compared within each process",
    )


def draw_losses(run):
    """Figure 7a: by table, the share of runs that lose no more."""
    tables = [row["table"] for row in run.all]
    lines = [
        'set xlabel "% lost"',
        'set ylabel "share of processes that lose no more"',
        "set yrange [0:1]",
        "set grid",
        "set key outside right",
    ]
    for number, row in enumerate(run.all):
        shares = sorted(row["losses"])
        lines += (
            [f"$d{number} << EOD"]
            + [f"{100 * share} {(rank + 1) / len(shares)}" for rank, share in enumerate(shares)]
            + ["EOD"]
        )
    return lines + [
        "plot "
        + ", ".join(
            f"$d{number} using 1:2 with steps linewidth 2 title '{table}'" for number, table in enumerate(tables)
        )
    ]


def figure_7c(runs):
    run = runs["analytics"]
    told, comparisons, last = [], [], None
    for counted in sorted(run.where(monitor="bucketed"), key=lambda row: row["flows"]):
        p99 = run.one(monitor="bucketed, gap_p99", traffic=counted["traffic"])
        flows = counted["flows"]
        comparisons.append(below(f"counting below the percentile with {flows} flows", counted, p99, headline=True))
        if flows <= SLOTS:
            comparisons += [
                at_most(
                    f"with {flows} flows counting loses a tenth of what the percentile does",
                    counted,
                    p99,
                    0.1,
                    "modelled_loss",
                ),
                under(f"with {flows} flows the percentile loses less than 0.001 %", p99, 1e-5, "modelled_loss"),
            ]
        if last is not None:
            comparisons.append(below(f"{last['flows']} flows below {p99['flows']}", last, p99))
        last = p99
        told.append(
            f"{flows} flows: {counted['mpps']:.0f} and {p99['mpps']:.0f} (lost of 14.88 Mpps "
            f"{100 * counted['modelled_loss']:.2g} and "
            f"{100 * p99['modelled_loss']:.2g} %)"
        )
    return Seen(
        "Mpps of counting, and with the p99 gap by P-square: " + "; ".join(told),
        tuple(comparisons),
        "the paper compares losses at 14.88 Mpps. Here a queue of 4096 packets before one core is modelled. If it "
        "loses nothing, only costs are compared",
    )
