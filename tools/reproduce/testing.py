# SPDX-License-Identifier: Apache-2.0
"""Figure 9 of FloWatcher-DPDK, in which others are tested and the monitor watches: what is concluded, and its plots. A figure's network
is set up and measured by a module of its own, named in MEASURED."""
import closed_loop
from judge import at_most, below, sure

PAPER = ("Zhang et al., *FloWatcher-DPDK: lightweight line-rate flow-level monitoring in software*, IEEE TNSM 16(3), 2019: devices under test "
         "(section VI-C)")
INTRO = (
    "Clients, a router and a server are network namespaces of this machine, joined by veth pairs: their TCP is the kernel's, where the paper's is",
    "ClickNF's over DPDK, and the monitor has no core of its own. There is no line: what bounds the throughput is two cores that do everything. A",
    "client connects from a random port, sends 512 bytes, waits for their echo and closes, again and again; ports of closed connections are used",
    "again after a second (tcp_tw_reuse). A flow is one direction of a connection, its throughput that of the time from its first packet to its",
    "last, total throughput that of both directions, frames without their check sequence. Intervals are from the least to the most of five rounds.",
    "",
    "Any other client and server is watched the same way: `parshall watch -i INTERFACE tcp` in between, `iperf3 -s` at one end and `iperf3 -c ADDRESS",
    "-P 4 -b 50M` at the other, or nginx and wrk. Where veth pairs join them, first let no frame be longer than the line's, at both ends: `ip link set",
    "INTERFACE gso_max_segs 1`; else the kernel hands over up to 64 KB as one, of which a receive buffer holds the beginning. Four streams of iperf3 of",
    "50.3 Mb/s each were then four flows of 52.5 Mb/s, headers included.",
)

# name: (None: not one command, column along the plot, column drawn)
RUNS = {
    "closed-loop": (None, "clients", "total_mbps"),
}
MEASURED = {"closed-loop": closed_loop}
FEW = 400  # clients: fewer are far from the line in the paper
FAR, NEAR, FAIR = 0.5, 0.9, 0.95


def watched(run):
    return sorted(run.where(row="watched"), key=lambda row: row["clients"])


def absent(run):
    return f"there can be no network here: {run.documents[0]['missing']}"


def told(rows, column, digits):
    return ", ".join(f"{row['clients']}: {row[column]:.{digits}f}" for row in rows)


def busiest(rows):
    return max(rows, key=lambda row: row["total_mbps"])


def scaled(row, factor, column):
    return {name: factor * row[name] for name in (column, f"low_{column}", f"high_{column}")}


def few_clients(runs):
    rows = watched(runs["closed-loop"])
    if not rows:
        return absent(runs["closed-loop"])
    most = busiest(rows)
    answers = [at_most(row, most, FAR, "total_mbps") for row in rows if row["clients"] < FEW]
    return (f"total Mb/s by clients: {told(rows, 'total_mbps', 0)}; of a flow: {told(rows, 'flow_mbps', 2)}", answers,
            f"far is taken as at most half of the most that there is here, {most['total_mbps']:.0f} Mb/s or {most['per_s']:.0f} connections/s with "
            f"{most['clients']} clients. The paper's stack waits for batches to fill; the kernel's takes each packet as it comes, and one or two "
            "clients keep both cores busy: more of them only share what there is")


def many_clients(runs):
    rows = watched(runs["closed-loop"])
    if not rows:
        return absent(runs["closed-loop"])
    most = busiest(rows)
    answers = [at_most(scaled(most, NEAR, "total_mbps"), row, 1, "total_mbps") for row in rows if row["clients"] >= FEW]
    return (f"Mb/s with {FEW} clients and more: {told([row for row in rows if row['clients'] >= FEW], 'total_mbps', 0)}; the most: {most['total_mbps']:.0f} "
            f"with {most['clients']}. Half of the connections last at most, in us: {told(rows, 'p50_us', 0)}", answers,
            "close is taken as nine tenths of the most. The kernel's costs a connection grow with how many there are, since each waits longer and "
            "finds its memory cold")


def same_log(runs):
    rows = watched(runs["closed-loop"])
    if not rows:
        return absent(runs["closed-loop"])
    answers = [sure(row["high_missed"] > 0 or row["connections"] == row["connections_seen"]) for row in rows]
    answers += [below({"value": FAIR}, {"value": row["low_fairness"]}, "value") for row in rows]
    return (f"connections by the clients' log and by the monitor: " + ", ".join(
        f"{row['clients']}: {row['connections']:.0f}, {row['connections_seen']:.0f}" for row in rows) +
            f"; Jain's index over clients: {told(rows, 'fairness', 4)}; packets missed: {sum(row['missed'] for row in rows):.0f} of "
            f"{sum(row['packets'] for row in rows):.0f}", answers,
            f"both counts must be the same wherever no packet was missed, and the index {FAIR} at least")


def cost_of_watching(runs):
    run = runs["closed-loop"]
    pairs = [(run.one(row="alone", clients=row["clients"]), row) for row in watched(run) if run.where(row="alone", clients=row["clients"])]
    if not pairs:
        return absent(run)
    answers = [at_most(scaled(alone, NEAR, "per_s"), row, 1, "per_s") for alone, row in pairs]
    return ("connections/s without a monitor and with it: " + ", ".join(
        f"{row['clients']} clients {alone['per_s']:.0f}, {row['per_s']:.0f}" for alone, row in pairs) +
            f". CPU of the monitor, % of a core: {told([row for _, row in pairs], 'watch_percent', 0)}",
            answers, "ours: the paper's monitor had cores of its own, and its devices others. At least nine tenths of the connections are wanted")


FIGURES = [
    ("9a, few clients", "closed-loop", "With fewer than 400 concurrent clients total and per-flow throughput are far from line rate.", few_clients),
    ("9a, many clients", "closed-loop", "With more the server comes close to line rate (9.8 of 10 Gb/s).", many_clients),
    ("9a, the monitor", None, "The monitor complements the log of what is under test, and shows whether it is fair.", same_log),
    ("9a, its cost", None, "Implied: watching does not disturb what is watched.", cost_of_watching),
]


def draw_throughput(run):
    """Figure 9a: a line for the total, bars for a flow."""
    rows = watched(run)
    lines = ['set ylabel "total, Mb/s"', 'set y2label "of a flow, Mb/s"', 'set xlabel "concurrent clients"', "set yrange [0:*]", "set logscale y2",
             "set ytics nomirror", "set y2tics", "set grid y", "set style fill solid 0.3", "set boxwidth 0.6", "set key outside top center horizontal",
             "set xrange [-0.6:*]", "set offsets 0, 0.6, 0, 0", "$d << EOD"]
    for at, row in enumerate(rows):
        lines.append(f'{at} "{row["clients"]}" {row["total_mbps"]} {row["low_total_mbps"]} {row["high_total_mbps"]} {row["flow_mbps"]}')
    return lines + ["EOD", "plot $d using 1:6:xtic(2) axes x1y2 with boxes title 'of a flow', $d using 1:3:4:5 with yerrorlines linewidth 2 title 'total'"]


DRAWN = {"closed-loop": draw_throughput}
