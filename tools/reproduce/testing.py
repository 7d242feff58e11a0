# SPDX-License-Identifier: Apache-2.0
"""Figure 9 of FloWatcher-DPDK, in which others are tested and the monitor watches: what is concluded, and its plots. A figure's network
is set up and measured by a module of its own, named in MEASURED."""
import closed_loop
import fair_queue
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
    "",
    "The fair queue is the kernel's (HTB, a queue for each flow, in turns), where the paper's is a module of VPP; `parshall test run` sends through it and",
    "tells of each flow what was sent and what came. The k-th of 1,000 flows is k times slower than the first; the queue's rate is such that 200 of them",
    "exceed the max-min fair share, as in the paper: that share follows from what was sent and from the rate, and not from what came. The machine must",
    "have little else to do: where it holds up the kernel's timer, or the sender, for longer than queues last, flows just below the share lose too (172 of",
    "236,851 packets in a pass with other programs beside it).",
)

# name: (None: not one command, column along the plot, column drawn)
RUNS = {
    "closed-loop": (None, "clients", "total_mbps"),
    "fair-queue": (None, "flow", "received"),
}
MEASURED = {"closed-loop": closed_loop, "fair-queue": fair_queue}
FEW = 400  # clients: fewer are far from the line in the paper
FAR, NEAR, FAIR = 0.5, 0.9, 0.95
SHARE_ERROR = 0.1  # of the fair share


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


class Shares:
    """Flows of a run by what they have to get: the max-min fair share of the rate, in frames of the whole run."""

    def __init__(self, run):
        self.rows = sorted(run.where(row="flow"), key=lambda row: row["flow"])
        sent = [row["sent"] for row in self.rows]
        seconds = sum(sent) / sum(row["sent_pps"] for row in self.rows)
        self.fair = fair_queue.max_min(sent, fair_queue.RATE_PPS * seconds)
        self.fair_pps = self.fair / seconds
        self.above = [row for row in self.rows if row["sent"] > self.fair]
        self.below = [row for row in self.rows if row["sent"] <= self.fair]

    def is_near(self, row):
        """That it cannot lose more, or less, than its queue holds."""
        return abs(row["sent"] - self.fair) <= fair_queue.LIMIT


TOO_SLOW = ("no flow exceeded its fair share: the sender was too slow", [0], "it cannot be told what the queue does")


def lost(row):
    return row["sent"] - row["received"]


def of_shares(compare):
    """What `compare` says of a run's shares, where there are any."""
    def compared(runs):
        run = runs["fair-queue"]
        if not run.where(row="flow"):
            return absent(run)
        shares = Shares(run)
        return compare(shares) if shares.above else TOO_SLOW
    return compared


@of_shares
def aggressive(shares):
    got = [row["received"] / shares.fair for row in shares.above]
    answers = [sure(all(lost(row) > 0 for row in shares.above if not shares.is_near(row))), sure(max(got) <= 1 + SHARE_ERROR), sure(min(got) >= 1 - SHARE_ERROR)]
    losing = [row["flow"] for row in shares.rows if lost(row) > 0]
    return (f"{len(losing)} of {len(shares.rows)} flows lose, the last of them the {max(losing, default=0)}th; {len(shares.above)} sent more than the fair "
            f"share, {shares.fair_pps:.2f} packets/s, and got {min(got):.3f} to {max(got):.3f} of it; the first sent {shares.rows[0]['sent_pps']:.0f}", answers,
            f"all of them have to lose, and each to get its share to within {100 * SHARE_ERROR:.0f} %; of flows whose queue holds what they sent beyond it, "
            "losses are not asked for. Until the queues of the others have filled the first flows get more")


@of_shares
def others(shares):
    calm = [row for row in shares.below if not shares.is_near(row)]
    answers = [sure(all(lost(row) == 0 for row in calm))]
    return (f"{len(shares.below)} flows sent {sum(row['sent'] for row in shares.below)} packets, of which {sum(map(lost, shares.below))} were lost", answers,
            f"none may lose a packet, but for {len(shares.below) - len(calm)} that sent the fair share to within what their queue holds")


@of_shares
def operates(shares):
    wrong = max(abs(row["received"] - min(row["sent"], shares.fair)) for row in shares.rows)
    return (f"the flow that is furthest from its max-min fair share is {wrong:.1f} of {shares.fair:.0f} packets off", [sure(wrong <= SHARE_ERROR * shares.fair)],
            f"ours: every flow, by its share of {fair_queue.RATE_PPS:.0f} packets/s")


FIGURES = [
    ("9a, few clients", "closed-loop", "With fewer than 400 concurrent clients total and per-flow throughput are far from line rate.", few_clients),
    ("9a, many clients", "closed-loop", "With more the server comes close to line rate (9.8 of 10 Gb/s).", many_clients),
    ("9a, the monitor", None, "The monitor complements the log of what is under test, and shows whether it is fair.", same_log),
    ("9a, its cost", None, "Implied: watching does not disturb what is watched.", cost_of_watching),
    ("9b, aggressive flows", "fair-queue", "The first 200 flows, the most aggressive, exceed their fair share: their rates decrease.", aggressive),
    ("9b, the others", None, "The output rates of all other flows match their input rates, which are below the fair share.", others),
    ("9b, sharing", None, "Per-flow fair sharing operates as expected.", operates),
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


def draw_shares(run):
    """Figure 9b: what was sent and what came, by flow; of neighbours on the axis one."""
    rows = [row for row in sorted(run.where(row="flow"), key=lambda row: row["flow"]) if row["flow"] % max(1, row["flow"] // 40) == 0]
    lines = ['set ylabel "packets/s"', 'set xlabel "flow, from the fastest on"', "set logscale xy", "set grid", "set key outside top center horizontal", "$d << EOD"]
    lines += [f'{row["flow"]} {row["sent_pps"]} {row["sent_pps"] * row["received"] / row["sent"]}' for row in rows]
    return lines + ["EOD", "plot $d using 1:2 with lines linewidth 2 title 'sent', $d using 1:3 with points pointtype 7 pointsize 0.4 title 'received'"]


DRAWN = {"closed-loop": draw_throughput, "fair-queue": draw_shares}
