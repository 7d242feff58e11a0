# SPDX-License-Identifier: Apache-2.0
"""What runs say of FloWatcher-DPDK beside other receivers, and of the machine it runs on: figure 8 and table IV."""

import shutil

import cache
import monitor_losses
from comparing import at_most, below, estimate, over, under, untold
from flowatcher_capture import LINE_RATE
from paper import NotYet, Seen

ALIKE = 1 / 0.9  # a tenth less
TESTPMD = ("packets, dpdk-testpmd", "packets, dpdk-testpmd tuned")
ABSENT = "none of MoonGen, pktgen-DPDK and Speedometer is among Debian 12's packages"
AS_A_SENTENCE = ABSENT[0].upper() + ABSENT[1:]


def on_device(runs, traffic):
    return {row["row"]: row for row in runs["devices"].where(traffic=traffic)}


def rates_of(rows):
    return "Mpps from one virtual device, one core: " + ", ".join(
        f"{name} {row['mpps']:.1f}" for name, row in rows.items()
    )


def figure_8(traffic):
    def judge(runs):
        rows = on_device(runs, traffic)
        return Seen(
            rates_of(rows),
            tuple(
                over(
                    f"{counted} are counted at line rate",
                    rows[f"{counted}, parshall"],
                    LINE_RATE,
                    "mpps",
                    headline=True,
                )
                for counted in ("flows", "packets")
            ),
            "packets and flows are counted by the same program, `parshall watch`, with --packets-only and without: it "
            "loses hardly more if both rates are above the line's rate. The device copies frames from memory as fast "
            "as the program polls them",
        )

    return judge


def beside_testpmd(runs):
    """Ours: packet counting by another program in C over DPDK, at its best."""
    rows = on_device(runs, "uniform")
    theirs = [rows[name] for name in TESTPMD if name in rows]
    if not theirs:
        raise NotYet("dpdk-testpmd is not installed: tools/setup.sh dpdk-dev")
    ours, best = rows["packets, parshall"], max(theirs, key=lambda row: row["mpps"])
    return Seen(
        rates_of(rows),
        (at_most("it has nine tenths of the other's rate or more", best, ours, ALIKE, "mpps", headline=True),),
        "dpdk-testpmd runs in its mode rxonly, by default or tuned as in the paper (bursts of 256, 4096 descriptors, "
        "the largest buffer caches). The faster one counts",
    )


def not_installed(found, wanted):
    absent = [program for program in wanted if not any(program in name for name in found) and not shutil.which(program)]
    return f"; not installed here: {', '.join(dict.fromkeys(absent))}" if absent else ""


def monitors(runs):
    """Ours: what the paper's figure shows of its receivers, of those that there are here."""
    run = runs["monitor-losses"]
    if not run.all:
        raise NotYet(f"there can be no network: {run.documents[0]['missing']}")
    pairs = [
        (row, run.one(row=monitor_losses.OURS, setting=row["setting"]))
        for row in run.all
        if row["row"] != monitor_losses.OURS
    ]
    if not pairs:
        raise NotYet("none of dpdk-testpmd, tcpdump, nfpcapd and suricata is installed")
    programs = [program for program, *_ in monitor_losses.MONITORS.values()]
    comparisons = [
        below(
            f"{row['row'].split(', ')[1]} ({row['setting']}) loses packets at lower rates than parshall",
            row,
            ours,
            "lossless_kpps",
            headline=True,
        )
        for row, ours in pairs
    ]
    comparisons += [
        at_most(
            f"at the highest rate parshall loses a hundredth of what {row['row'].split(', ')[1]} ({row['setting']}) "
            f"does",
            ours,
            row,
            0.01,
            "lost_share",
        )
        for row, ours in pairs
    ]
    return Seen(
        f"highest kpps without loss, of {run.all[0]['highest_kpps']:.0f} at most, and % lost at the highest rate "
        f"tried: "
        + "; ".join(
            f"{row['row']} ({row['setting']}) {row['lossless_kpps']:.0f}, {100 * row['lost_share']:.2g}"
            for row in run.all
        ),
        tuple(comparisons),
        f"{AS_A_SENTENCE}, nor is ipfixprobe{not_installed({row['row'] for row in run.all}, programs)}. "
        "Tuned means the settings that their documentation recommends against losses: longer rings and buffers, "
        "shorter snapshots, larger bursts and caches. "
        f"A veth pair is the link, "
        "and the sender, the kernel's network and the monitor share the cores: no more is tried than four fifths of "
        "what the sender reaches with nobody "
        "listening, far below the paper's 14.88 Mpps, and who loses nothing of it is not told apart",
    )


def receivers(runs):
    """Ours: what else counts packets or flows, each reading the same capture as fast as it can."""
    rows = {row["row"]: row for row in runs["receivers"].all}
    others = {name: row for name, row in rows.items() if "parshall" not in name}
    if not others:
        raise NotYet("none of tcpdump, nfpcapd and suricata is installed")
    return Seen(
        "million packets a second of CPU from a capture file: "
        + ", ".join(f"{name} {row['mpps_cpu']:.2f}" for name, row in rows.items()),
        tuple(
            below(f"{name} below flows by parshall", row, rows["flows, parshall"], "mpps_cpu", headline=True)
            for name, row in others.items()
        ),
        "a file is used because most of these programs cannot read a DPDK device. Start and end of each program are "
        "included. Each has its defaults: a file has no buffers to tune. {AS_A_SENTENCE}, nor is "
        "ipfixprobe{not_installed(rows, [program for program, *_ in capture_readers.OTHERS.values()])}",
    )


def table_4(runs):
    run = runs["cache"]
    if not run.all:
        raise NotYet(run.documents[0]["missing"])
    paper, more = (run.one(llc_mb=size) for size in sorted(cache.SIZES_MB))
    return Seen(
        "last-level misses of 1,000 packets, simulated with caches of "
        + "; ".join(
            f"{row['llc_mb']:g} MB: {row['misses_per_1000']:.1f} ({row['references_per_1000']:.0f} references, "
            f"{row['instructions_per_packet']:.0f} instructions a packet)"
            for row in (paper, more)
        ),
        (
            at_most(
                f"a cache of {paper['llc_mb']:g} MB misses no more than a tenth above one of {more['llc_mb']:g} MB",
                paper,
                more,
                1.1,
                "misses_per_1000",
                headline=True,
            ),
            untold("instructions a cycle are comparable"),
        ),
        "in the paper the testbed that loses packets has fewer misses. Here a difference of at most a tenth counts as "
        "equal. By valgrind's cachegrind, of `parshall watch` on 65,536 flows, not of FloWatcher-DPDK: the CPU's "
        "counters, and so instructions a cycle, are not available here, so the verdict is partly confirmed at best. "
        "Whether a card is the cause is unknown",
    )


def software_events(runs):
    """Ours: what the kernel does while flows are counted."""
    run = runs["events"]
    if not run.all:
        raise NotYet(f"{run.documents[0]['missing']}: tools/setup.sh linux-perf")
    row = run.all[0]
    return Seen(
        f"a million packets more take {row['ms_per_million']:.1f} ms of CPU, touch {row['faults_per_million']:.2f} "
        f"pages for the first time, and see "
        f"{row['switches_per_million']:.1f} switches to other threads",
        (under("a million packets touch less than one new page", row, 1, "faults_per_million", headline=True),),
        "switches count all threads, and other work of the machine",
    )


def draw_rates(run):
    """Figure 8 of other receivers: bars of the highest rate without loss, with what is known of it."""
    lines = [
        'set ylabel "kpps without loss"',
        "set yrange [0:*]",
        "set grid y",
        "set style fill solid 0.5",
        "set xtics rotate by 60 right",
        "$d << EOD",
    ]
    for row in run.all:
        found = estimate(row, "lossless_kpps")
        lines.append(f'"{row["row"]} ({row["setting"]})" {found.value} {found.low} {found.high}')
    return lines + ["EOD", "plot $d using 0:2:3:4:(0.7):xtic(1) with boxerrorbars notitle"]
