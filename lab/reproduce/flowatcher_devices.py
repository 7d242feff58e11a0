# SPDX-License-Identifier: Apache-2.0
"""What runs say of figure 9 of FloWatcher-DPDK, in which others are tested and the monitor watches; and its plots."""

import math

import fair_queue
from comparing import at_most, bound, estimate, reaches, under
from judge import Comparison, Estimate, Of
from paper import NotHere, NotYet, Seen
from rows import MissingRows

FEW = 400  # clients: fewer are far from the line in the paper
FAR, NEAR, FAIR = 0.5, 0.9, 0.95
SHARE_ERROR = 0.1  # of the fair share


def watched(runs):
    run = runs["closed-loop"]
    rows = sorted(run.where(row="watched"), key=lambda row: row["clients"])
    if not rows:
        raise NotYet(f"there can be no network: {run.documents[0]['missing']}")
    return rows


def told(rows, column, digits):
    return ", ".join(f"{row['clients']}: {row[column]:.{digits}f}" for row in rows)


def clients_of(row):
    return f"{row['clients']} client" + ("s" if row["clients"] != 1 else "")


def busiest(rows):
    return max(rows, key=lambda row: row["total_mbps"])


def of_one_flow(row):
    """A row whose total throughput is that of one flow."""
    mbps = {f"{end}total_mbps": row[f"{end}flow_mbps"] for end in ("", "low_", "high_") if f"{end}flow_mbps" in row}
    return {**row, **mbps, "each": {"total_mbps": row.get("each", {}).get("flow_mbps", ())}}


def few_clients(runs):
    rows = watched(runs)
    most = busiest(rows)
    few = [row for row in rows if row["clients"] < FEW and row is not most]
    alone = sorted(runs["closed-loop"].where(row="alone"), key=lambda row: row["per_s"])
    comparisons = [
        at_most(
            f"{clients_of(row)}: at most half of the most connections a second, without a monitor",
            row,
            alone[-1],
            FAR,
            "per_s",
            headline=True,
        )
        for row in alone[:-1]
        if row["clients"] < FEW
    ]
    comparisons += [
        at_most(f"{clients_of(row)}: at most half of the maximum", row, most, FAR, "total_mbps", headline=not alone)
        for row in few
    ]
    comparisons += [
        at_most(f"a flow of {clients_of(row)} has half of that or less", of_one_flow(row), most, FAR, "total_mbps")
        for row in few
        if row["clients"] == 1
    ]
    return Seen(
        f"total Mb/s by clients: {told(rows, 'total_mbps', 0)}; of a flow: {told(rows, 'flow_mbps', 2)}",
        tuple(comparisons),
        f"the maximum replaces the line rate: {most['total_mbps']:.0f} Mb/s or {most['per_s']:.0f} connections/s with "
        f"{clients_of(most)}. The monitor takes a core from them, and the paper's had its own, so the results without "
        f"a monitor decide. The paper's stack waits until batches fill; the kernel's takes each packet at once. "
        f"Clients, router, server and monitor share the cores",
    )


def many_clients(runs):
    rows = watched(runs)
    most = busiest(rows)
    many = [row for row in rows if row["clients"] >= FEW]
    others = [row for row in many if row is not most]
    if not others:
        raise MissingRows(f"but one number of clients from {FEW} on")
    return Seen(
        f"Mb/s with {FEW} clients and more: {told(many, 'total_mbps', 0)}; the most: {most['total_mbps']:.0f} with "
        f"{most['clients']}. Half of the "
        f"connections last at most, in us: {told(rows, 'p50_us', 0)}",
        tuple(
            at_most(f"{clients_of(row)}: nine tenths of the maximum", most, row, 1 / NEAR, "total_mbps", headline=True)
            for row in others
        ),
        "there is no line rate here: the maximum over other numbers of clients replaces it",
    )


def same_log(runs):
    rows = watched(runs)
    comparisons = [
        under(f"log and monitor count the same connections of {clients_of(row)}", row, 0.5, "miscounted", headline=True)
        for row in rows
    ]
    comparisons += [
        reaches(f"{clients_of(row)} are served alike", row, FAIR, "fairness") for row in rows if row["clients"] > 1
    ]
    return Seen(
        "connections by the clients' log and by the monitor, medians: "
        + ", ".join(f"{row['clients']}: {row['connections']:.0f}, {row['connections_seen']:.0f}" for row in rows)
        + f"; packets missed: {sum(row['missed'] for row in rows):.0f} of {sum(row['packets'] for row in rows):.0f}; "
        f"Jain's index over clients, by their log: "
        f"{told(rows, 'fairness', 4)}",
        tuple(comparisons),
        "counts are compared run by run, if the monitor missed no packet. Otherwise they stay undecided. The monitor "
        "sees ports instead of clients. "
        f"Whether clients are served alike (an index of {FAIR}) is from their log",
    )


def cost_of_watching(runs):
    rows = watched(runs)
    run = runs["closed-loop"]
    pairs = [
        (run.one(row="alone", clients=row["clients"]), row)
        for row in rows
        if run.where(row="alone", clients=row["clients"])
    ]
    most = max(row["clients"] for _, row in pairs)
    return Seen(
        "connections/s without a monitor and with it: "
        + ", ".join(f"{clients_of(row)} {alone['per_s']:.0f}, {row['per_s']:.0f}" for alone, row in pairs)
        + f". CPU of the monitor, % of a core: {told([row for _, row in pairs], 'watch_percent', 0)}",
        tuple(
            at_most(
                f"nine tenths of the connections of {clients_of(row)} are left",
                alone,
                row,
                1 / NEAR,
                "per_s",
                headline=row["clients"] == most,
            )
            for alone, row in pairs
        ),
        "the paper's monitor and its devices had separate cores. Here the monitor takes CPU time from the system that "
        "it watches",
    )


class Shares:
    """Flows by what they have to get: the max-min fair share of the rate, in frames of a whole run, as medians over
    runs."""

    def __init__(self, run):
        self.rows = sorted(run.where(row="flow"), key=lambda row: row["flow"])
        self.fair = self.rows[0]["fair"]
        self.fair_pps = self.fair * sum(row["sent_pps"] for row in self.rows) / sum(row["sent"] for row in self.rows)
        self.above = [row for row in self.rows if row["sent"] > self.fair]
        self.below = [row for row in self.rows if row["sent"] <= self.fair]

    def is_near(self, row):
        """That it cannot lose more, or less, than its queue holds."""
        return abs(row["sent"] - self.fair) <= fair_queue.LIMIT


def extreme(pick, rows, column):
    """The least, or the most, of a column over flows: in no run is it beyond that of all flows' intervals."""
    found = [estimate(row, column) for row in rows]
    return Estimate(
        pick(one.value for one in found),
        pick(one.low for one in found),
        pick(one.high for one in found),
        Of.RUNS,
        found[0].unit,
    )


def none_above(what, rows, column, most, headline=False):
    return Comparison(what, extreme(max, rows, column), bound(most), headline=headline)


def none_below(what, rows, column, least, headline=False):
    return Comparison(what, bound(least), extreme(min, rows, column), headline=headline)


def of_shares(compare):
    """What `compare` says of the flows' shares, where there are any."""

    def compared(runs):
        run = runs["fair-queue"]
        if not run.where(row="flow"):
            raise NotYet(f"there can be no network: {run.documents[0]['missing']}")
        shares = Shares(run)
        if not any(not shares.is_near(row) for row in shares.above):
            raise NotHere("no flow exceeded its fair share: the sender was too slow")
        return compare(shares)

    return compared


@of_shares
def aggressive(shares):
    got = [row["got_share"] for row in shares.above]
    losing = [row["flow"] for row in shares.rows if row["lost"] > 0]
    exceeding = [row for row in shares.above if not shares.is_near(row)]
    return Seen(
        f"{len(losing)} of {len(shares.rows)} flows lose, the last of them the {max(losing, default=0)}th; "
        f"{len(shares.above)} sent more than the fair "
        f"share, {shares.fair_pps:.2f} packets/s, and got {min(got):.3f} to {max(got):.3f} of it; the first sent "
        f"{shares.rows[0]['sent_pps']:.0f}",
        (
            none_below("all flows above their fair share lose packets", exceeding, "lost", 0.5, headline=True),
            none_above("none of them gets more than 1.1 times its share", shares.above, "got_share", 1 + SHARE_ERROR),
            none_below("none gets less than 0.9 times its share", shares.above, "got_share", 1 - SHARE_ERROR),
        ),
        "flows whose queue holds their excess packets need not lose any. Flows whose queues fill first may get more "
        "until the other queues have filled",
    )


@of_shares
def others(shares):
    calm = [row for row in shares.below if not shares.is_near(row)]
    if not calm:
        raise NotHere("every flow below its share sent the share to within what its queue holds")
    return Seen(
        f"{len(shares.below)} flows sent {sum(row['sent'] for row in shares.below):.0f} packets, of which "
        f"{sum(row['lost'] for row in shares.below):.0f} "
        "were lost",
        (none_above("flows below their fair share lose no packet", calm, "lost", 0.5, headline=True),),
        f"but for {len(shares.below) - len(calm)} that sent the fair share to within what their queue holds",
    )


@of_shares
def operates(shares):
    wrong = extreme(max, shares.rows, "off").value
    return Seen(
        f"the flow that is furthest from its max-min fair share is {wrong:.1f} of {shares.fair:.0f} packets off",
        (
            none_above(
                "every flow is within a tenth of its share",
                shares.rows,
                "off",
                SHARE_ERROR * shares.fair,
                headline=True,
            ),
        ),
        f"every flow, by its share of {fair_queue.RATE_PPS:.0f} packets/s",
    )


def draw_throughput(run):
    """Figure 9a: a line for the total, bars for a flow."""
    rows = sorted(run.where(row="watched"), key=lambda row: row["clients"])
    lines = [
        'set ylabel "total, Mb/s"',
        'set y2label "of a flow, Mb/s"',
        'set xlabel "concurrent clients"',
        "set yrange [0:*]",
        "set logscale y2",
        "set ytics nomirror",
        "set y2tics",
        "set grid y",
        "set style fill solid 0.3",
        "set boxwidth 0.6",
        "set key outside top center horizontal",
        "set xrange [-0.6:*]",
        "set offsets 0, 0.6, 0, 0",
        "$d << EOD",
    ]
    for at, row in enumerate(rows):
        total = estimate(row, "total_mbps")
        low, high = (end if math.isfinite(end) else total.value for end in (total.low, total.high))
        lines.append(f'{at} "{row["clients"]}" {total.value} {low} {high} {row["flow_mbps"]}')
    return lines + [
        "EOD",
        "plot $d using 1:6:xtic(2) axes x1y2 with boxes title 'of a flow', $d using 1:3:4:5 with yerrorlines linewidth "
        "2 title 'total'",
    ]


def draw_shares(run):
    """Figure 9b: what was sent and what came, by flow; of neighbours on the axis one."""
    rows = [
        row
        for row in sorted(run.where(row="flow"), key=lambda row: row["flow"])
        if row["flow"] % max(1, row["flow"] // 40) == 0
    ]
    lines = [
        'set ylabel "packets/s"',
        'set xlabel "flow, from the fastest on"',
        "set logscale xy",
        "set grid",
        "set key outside top center horizontal",
        "$d << EOD",
    ]
    lines += [f"{row['flow']} {row['sent_pps']} {row['sent_pps'] * row['received'] / row['sent']}" for row in rows]
    return lines + [
        "EOD",
        "plot $d using 1:2 with lines linewidth 2 title 'sent', $d using 1:3 with points pointtype 7 pointsize 0.4 "
        "title 'received'",
    ]
