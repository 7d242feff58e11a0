# SPDX-License-Identifier: Apache-2.0
"""What runs say of figures 3 to 5 of the paper on classification at wire speed."""

from comparing import below, between, bound, estimate, reaches
from judge import UNKNOWN, Comparison
from paper import Seen

THEIRS = ("1I-1Q-1P", "1I-2Q-1P", "1I-2Q-2P", "2I-1Q-2P")
OURS = ("1I-1Q-inline", "1I-2Q-inline", "2I-1Q-inline")
LINE_MPPS, LOSSLESS = 14.2, 1e-3
RATES = ("sniffed_mpps", "handled_mpps", "classified_mpps", "classified_kfps", "lossless_mpps")
CLASSIFIED = 0.95  # of what is handled, and more, is all but flows that are not yet long enough


def shape(run, name, **wanted):
    return run.one(shape=name, **wanted)


def cores_here(run):
    """In words, how many cores there are."""
    return f"{(run.machine or {}).get('cores', 'its')} cores here"


def percent(share):
    return "-" if share is None else f"{100 * share:.0f}"


def modules(row):
    """CPU of its threads that sniff, handle flows and classify."""
    return (
        f"{percent(row['cpu'])} %"
        if row["sniffing_cpu"] is None
        else "+".join(percent(row[column]) for column in ("sniffing_cpu", "handling_cpu", "classifying_cpu")) + " %"
    )


def stages(row):
    return (
        f"{row['row']}: {row['sniffed_mpps']:.1f}, {row['handled_mpps']:.1f}, {row['classified_mpps']:.1f} Mpps, "
        f"{row['classified_kfps'] / 1e3:.2f} Mflows/s ({modules(row)})"
    )


def held_up(what, row, after, before, headline=False):
    """That less comes out of a module than goes in, by more than what counts as no loss."""
    return between(what, row, after, before, 1 - LOSSLESS, headline)


def shortage(run, row):
    """How many threads share a core, on average; 1 where each has its own."""
    cores = int(run.machine["cores"]) if row["affinity"] == "any" else len(set(row["affinity"].split(",")))
    return max(1, row["threads"] / cores)


def with_cores(run, row):
    """The row as far as it can be known of threads with a core each: rates may be as many times as high as threads
    share a core, and losses as much less."""
    times = shortage(run, row)
    if times == 1:
        return row
    known = {name: value for name, value in row.items() if name != "same_processes"}
    for column in RATES:
        rate = estimate(row, column)
        if rate != UNKNOWN:
            known |= {f"low_{column}": rate.low, f"high_{column}": times * rate.high}
    lost = estimate(row, "lost_share")
    if lost != UNKNOWN:
        known |= {"low_lost_share": max(0, 1 - times * (1 - lost.low)), "high_lost_share": lost.high}
    return known


def kept(what, row, headline=False):
    """That a run lost nothing."""
    return Comparison(what, estimate(row, "lost_share"), bound(LOSSLESS), or_equal=True, headline=headline)


def classifies(row):
    return between(f"{row['row']} classifies all handled flows", row, "handled_mpps", "classified_mpps", 1 / CLASSIFIED)


def figure_3_simplest(runs):
    rows = {"on one core": shape(runs["worst-case"], "1I-1Q-1P"), "on any": shape(runs["worst-case-any"], "1I-1Q-1P")}
    row = rows["on one core"]
    comparisons = []
    for (where, one), run in zip(rows.items(), (runs["worst-case"], runs["worst-case-any"])):
        comparisons += [
            held_up(
                f"{where} sniffing handles less than is sent",
                with_cores(run, one),
                "sniffed_mpps",
                "offered_mpps",
                headline=True,
            ),
            held_up(
                f"{where} flow handling handles less than sniffing",
                with_cores(run, one),
                "handled_mpps",
                "sniffed_mpps",
                headline=True,
            ),
            classifies(one),
        ]
    return Seen(
        f"sniffed, handled, classified of {row['offered_mpps']:.1f} (CPU of the three): {stages(row)}; on any core "
        f"{stages(rows['on any'])}. Without "
        f"loss: {shape(runs['worst-case-lossless'], '1I-1Q-1P')['lossless_mpps']:.1f} Mpps",
        tuple(comparisons),
        f"generating the packets is {row['source_ns']:.1f} of the {row['sniffing_ns']:.0f} ns that sniffing takes; the "
        f"paper's three threads "
        "had three cores, and 12.1, 7.9 and 7.9 Mpps of 14.2 with 100, 100 and 39 % of CPU",
    )


def figure_3_locking(runs):
    worst, lossless = runs["worst-case"], runs["worst-case-lossless"]
    locked, apart, simplest, chunk = (
        shape(worst, name) for name in ("1I-2Q-1P", "1I-2Q-2P", "1I-1Q-1P", "1I-2Q-1P-chunk")
    )
    spread = [shape(runs["worst-case-any"], name) for name in ("1I-2Q-1P", "1I-1Q-1P")]
    rates = ", ".join(
        f"{name} {shape(lossless, name)['lossless_mpps']:.1f}" for name in ("1I-2Q-1P", "1I-2Q-1P-chunk", "1I-2Q-2P")
    )
    return Seen(
        f"{stages(locked)}; {stages(apart)}; locked for a chunk of 128: {stages(chunk)}. Flow handling takes "
        f"{locked['handling_ns']:.0f} ns "
        f"a packet with the lock, {apart['handling_ns']:.0f} without, {chunk['handling_ns']:.0f} with one a chunk. "
        f"Without loss: {rates} Mpps",
        (
            below("a locked table handles less than two", locked, apart, "handled_mpps", headline=True),
            below(
                "a locked table has a lower rate without loss",
                shape(lossless, "1I-2Q-1P"),
                shape(lossless, "1I-2Q-2P"),
                "lossless_mpps",
            ),
            below(
                "a locked table handles less than one queue on one core",
                locked,
                simplest,
                "handled_mpps",
                headline=True,
            ),
            below("a locked table handles less than one queue on any core", *spread, "handled_mpps", headline=True),
        ),
        f"differs here: a std::mutex around each packet; five threads, {cores_here(worst)}",
    )


def figure_3_wire_speed(runs):
    row, lossless = shape(runs["worst-case"], "1I-2Q-2P"), shape(runs["worst-case-lossless"], "1I-2Q-2P")
    inline = shape(runs["worst-case-lossless"], "1I-2Q-inline")
    return Seen(
        f"{stages(row)}; without loss {lossless['lossless_mpps']:.1f} Mpps. Run to completion on the same cores: "
        f"{inline['lossless_mpps']:.1f}",
        (
            kept("it loses none of 14.2 Mpps", with_cores(runs["worst-case"], row), headline=True),
            reaches(
                "it has 99 % of the line without loss",
                with_cores(runs["worst-case-lossless"], lossless),
                0.99 * LINE_MPPS,
                "lossless_mpps",
                headline=True,
            ),
        ),
        f"six threads, {cores_here(runs['worst-case'])}, which also generate their packets; the paper had six cores, "
        f"none of them at its limit: by its 77+78, 87+86 "
        f"and 45+46 % of 2.4 GHz a packet took 295 ns of CPU, here {row['cpu_ns']:.0f}",
    )


def figure_3_interfaces(runs):
    run = runs["worst-case"]
    one, two = (shape(run, name) for name in ("1I-1Q-1P", "2I-1Q-2P"))
    return Seen(
        f"{stages(two)} of {two['offered_mpps']:.1f}; {stages(one)}",
        (
            Comparison(
                "two interfaces handle at least four fifths of twice the rate of one",
                estimate(with_cores(run, one), "handled_mpps").times(1.6),
                estimate(with_cores(run, two), "handled_mpps"),
                headline=True,
            ),
            held_up(
                "sniffing handles less than is sent",
                with_cores(run, two),
                "sniffed_mpps",
                "offered_mpps",
                headline=True,
            ),
            held_up(
                "flow handling handles less than sniffing",
                with_cores(run, two),
                "handled_mpps",
                "sniffed_mpps",
                headline=True,
            ),
        ),
        "the paper: 25.2 sent, 24.2 sniffed, 15.2 handled. Differs here: six threads, "
        + cores_here(runs["worst-case"]),
    )


def figure_3_classes(runs):
    rows = [shape(runs["worst-case"], name) for name in THEIRS]
    return Seen(
        "ns of CPU a packet, sniffing, flow handling and classification: "
        + "; ".join(
            f"{row['row']} {row['sniffing_ns']:.0f}, {row['handling_ns']:.0f}, {row['classifying_ns']:.0f} "
            f"({modules(row)})"
            for row in rows
        ),
        (
            *(
                between(
                    f"classifying takes less than flow handling in {row['row']}",
                    row,
                    "classifying_ns",
                    "handling_ns",
                    headline=row["row"] == "1I-2Q-1P",
                )
                for row in rows
            ),
            *map(classifies, rows),
        ),
        "one thread takes the jobs of both queues (1I-2Q-1P)",
    )


def figure_3_threads(runs):
    worst, lossless = runs["worst-case"], runs["worst-case-lossless"]
    pairs = [("1I-1Q-inline", "1I-1Q-1P"), ("1I-2Q-inline", "1I-2Q-2P"), ("2I-1Q-inline", "2I-1Q-2P")]
    comparisons, told = [], []
    for ours, theirs in pairs:
        comparisons += [
            below(f"{ours} handles less than {theirs}", shape(worst, ours), shape(worst, theirs), "handled_mpps"),
            below(
                f"{ours} has a lower rate without loss than {theirs}",
                shape(lossless, ours),
                shape(lossless, theirs),
                "lossless_mpps",
                headline=theirs == "1I-2Q-2P",
            ),
        ]
        told.append(
            f"{ours} {shape(worst, ours)['handled_mpps']:.1f} handled, {shape(lossless, ours)['lossless_mpps']:.1f} "
            f"without loss, "
            f"{shape(worst, ours)['cpu_ns']:.0f} ns a packet, {theirs} {shape(worst, theirs)['handled_mpps']:.1f}, "
            f"{shape(lossless, theirs)['lossless_mpps']:.1f}, {shape(worst, theirs)['cpu_ns']:.0f}"
        )
    return Seen(
        "Mpps on the same cores: " + "; ".join(told),
        tuple(comparisons),
        "run to completion: one thread a queue does all, and classifies itself. The paper does not test it",
    )


def figure_4(name, differs):
    def judge(runs):
        rows = {one: row for one in THEIRS + OURS for row in runs[name].where(shape=one)}
        first = rows["1I-1Q-1P"]
        comparisons = [kept(f"{one} loses nothing", with_cores(runs[name], rows[one]), headline=True) for one in THEIRS]
        comparisons += [
            below(f"1I-1Q-1P takes less CPU than {other}", first, rows[other], "cpu") for other in THEIRS[1:]
        ]
        comparisons += [
            Comparison(
                f"{two} takes twice the memory",
                estimate(first, "memory_mb").times(1.9),
                estimate(rows[two], "memory_mb"),
            )
            for two in ("1I-2Q-2P", "2I-1Q-2P")
        ]
        return Seen(
            f"{first['traffic']}: {first['line_mpps']:.2f} Mpps at 10 Gb/s; "
            + "; ".join(
                f"{row['row']} {row['classified_kfps']:.0f} Kflows/s, {100 * row['lost_share']:.2g} % lost, CPU "
                f"{modules(row)}, {row['memory_mb']:.0f} MB"
                for row in rows.values()
            ),
            tuple(comparisons),
            "CPU in percent of one core, sniffing+flows+classes; the paper's 11.9, 16.1, 14.6 and 29.5 % of eight "
            "cores are 95, 129, 117 and "
            f"236 % of one. Copying a packet is {first['source_ns']:.0f} ns of sniffing. Memory is of tables, rows and "
            f"rings. Differs here: {differs}",
        )

    return judge


PAPERS_MPPS = 3.8  # without loss, of 1I-1Q-1P


def figure_5(runs):
    """The most that the simplest takes; and that it has its line where that is no more."""
    run = runs["headers-capped"]
    simplest = sorted(run.where(shape="1I-1Q-1P"), key=lambda row: row["cap"])
    most = max(simplest, key=lambda row: row["lossless_mpps"])
    comparisons = [
        reaches("1I-1Q-1P reaches 3.8 Mpps", with_cores(run, most), PAPERS_MPPS, "lossless_mpps", headline=True)
    ]
    comparisons += [
        reaches(
            f"it has its line with frames up to {row['cap']}",
            with_cores(run, row),
            0.95 * row["line_mpps"],
            "lossless_mpps",
        )
        for row in simplest
        if row["line_mpps"] <= PAPERS_MPPS
    ]
    lines = [
        f"{name} "
        + ", ".join(f"{row['lossless_mpps']:.1f}" for row in sorted(run.where(shape=name), key=lambda row: row["cap"]))
        for name in dict.fromkeys(row["shape"] for row in run.all)
    ]
    caps, loads = (
        ", ".join(format(row[column], form) for row in simplest)
        for column, form in (("cap", "d"), ("line_mpps", ".1f"))
    )
    return Seen(
        f"Mpps without loss at caps of {caps} bytes (an interface's line: {loads}): " + "; ".join(lines),
        tuple(comparisons),
        f"{simplest[0]['traffic']}. Searches go to 5 %. The paper's line had 1.6 Mpps at 1500 bytes, 3.8 at 500, 14.2 "
        f"at 64",
    )
