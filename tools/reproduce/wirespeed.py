# SPDX-License-Identifier: Apache-2.0
"""Figures 3 to 5 of the paper on classification at wire speed, as measurement.py; their plots, and the headers that are
replayed."""
import os
import pathlib
import subprocess
import sys

from judge import below, sure

PAPER = "Santiago del Rio et al., *Wire-speed statistical classification of network traffic on commodity hardware*, IMC 2012"
INTRO = (
    "There is no network card here, and no second machine: packets are made in memory, or copied from a capture there, by the threads that",
    "sniff, at a pace that waits for nobody, into a modelled queue of 4096 packets; what finds it full is missed. The paper's machine had eight",
    "cores, one for each thread; here six threads share the cores that there are. So 1I-1Q-1P has one core (chain), or all (any), and a thread",
    "that waits for its core misses packets that there was time for: rates without loss are below what is handled under overload. CPU ns a",
    "packet depend on that far less. Flows end after 0.2 s (figure 3), 0.5 s (4) or 0.1 s (5) without a packet, the paper's after 15 s, and",
    "tables have room for 1 Mi, 2 Mi or 512 Ki flows, the paper's for 50 million. The model is naive Bayes of ten classes. Rates are of all",
    "interfaces together; a line of 10 Gb/s takes 24 bytes for each frame beside its own. Intervals are from the least to the most of three",
    "rounds.",
)

THEIRS = ("1I-1Q-1P", "1I-2Q-1P", "1I-2Q-2P", "2I-1Q-2P")
OURS = ("1I-1Q-inline", "1I-2Q-inline", "2I-1Q-inline")
LINE_MPPS, LOSSLESS = 14.2, 1e-3
HEADERS, HEADERS_NAME, HEADER_PACKETS = "@headers", "headers.pcap", 4_000_000
MIX = ["-g", "flows=1000,dist=trains:49,size=748", "--gbps", "10"]  # the mean frame and flow of the paper's trace
FIGURE_3 = ["--flows", "1Mi", "--idle", "200ms"]
CAPPED = ["--flows", "512Ki", "--idle", "100ms"]  # small tables are made quickly, for many short runs
REAL = ["--flows", "2Mi", "--idle", "500ms"]
# name: (arguments of bench, column along the plot, column drawn)
RUNS = {
    "worst-case": (["classify", *FIGURE_3, "--seconds", "1", "--rounds", "3"], None, "handled_mpps"),
    "worst-case-any": (["classify", *FIGURE_3, "--seconds", "1", "--rounds", "3", "--placement", "any", "--shape", ",".join(THEIRS)], None,
                       "handled_mpps"),
    "worst-case-lossless": (["classify", *FIGURE_3, "--seconds", "0.3", "--rounds", "3", "--find-rate"], None, "lossless_mpps"),
    "headers": (["classify", HEADERS, *REAL, "--seconds", "1", "--rounds", "3"], None, "cpu"),
    "headers-mix": (["classify", *MIX, *REAL, "--seconds", "1", "--rounds", "3", "--shape", ",".join(THEIRS + OURS)], None, "cpu"),
    "headers-capped": (["classify", HEADERS, *CAPPED, "--seconds", "0.3", "--rounds", "1", "--find-rate", "--cap", "64,128,200,500,750,1500",
                        "--shape", ",".join(THEIRS + ("1I-2Q-inline", "2I-1Q-inline"))], "cap", "lossless_gbps"),
}


def headers(folder):
    """What stands for HEADERS: a capture that the project's traces make, where they are; else built-in traffic."""
    traces = pathlib.Path(os.environ.get("PARSHALL_TRACES") or pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "traces")
    tool, path = traces / "tools" / "build_bench.py", folder / HEADERS_NAME
    if not tool.exists():
        print(f"no {tool}: built-in traffic in place of real headers (PARSHALL_TRACES names the folder)", file=sys.stderr)
        return MIX
    if not path.exists():
        part = path.with_suffix(".part")
        subprocess.run([sys.executable, tool, "--packets", str(HEADER_PACKETS), "--out", part], stdout=subprocess.DEVNULL, check=True)
        part.rename(path)
    return ["-r", str(path), "--packets", str(HEADER_PACKETS)]


def expanded(arguments, folder):
    at = arguments.index(HEADERS) if HEADERS in arguments else None
    return arguments if at is None else arguments[:at] + headers(folder) + arguments[at + 1:]


def shape(run, name, **wanted):
    return run.one(shape=name, **wanted)


def percent(share):
    return "-" if share is None else f"{100 * share:.0f}"


def modules(row):
    """CPU of its threads that sniff, handle flows and classify."""
    return f"{percent(row['cpu'])} %" if row["sniffing_cpu"] is None else "+".join(
        percent(row[column]) for column in ("sniffing_cpu", "handling_cpu", "classifying_cpu")) + " %"


def stages(row):
    return (f"{row['row']}: {row['sniffed_mpps']:.1f}, {row['handled_mpps']:.1f}, {row['classified_mpps']:.1f} Mpps, "
            f"{row['classified_kfps'] / 1e3:.2f} Mflows/s ({modules(row)})")


def within(row, column):
    """A value of a row with its interval, to be compared with one of another column."""
    return {"value": row[column], "low_value": row.get(f"low_{column}", row[column]), "high_value": row.get(f"high_{column}", row[column])}


def kept(row):
    """That a run lost nothing."""
    return 1 if row["high_lost_share"] <= LOSSLESS else -1 if row["low_lost_share"] > LOSSLESS else 0


def figure_3_simplest(runs):
    row = shape(runs["worst-case"], "1I-1Q-1P")
    spread = shape(runs["worst-case-any"], "1I-1Q-1P")
    answers = []
    for one in (row, spread):
        answers += [-kept(one), below(within(one, "handled_mpps"), within(one, "sniffed_mpps"), "value"),
                    sure(one["classified_mpps"] >= 0.95 * one["handled_mpps"])]
    return (f"sniffed, handled, classified of {row['offered_mpps']:.1f} (CPU of the three): {stages(row)}; {stages(spread)}. Without loss: "
            f"{shape(runs['worst-case-lossless'], '1I-1Q-1P')['lossless_mpps']:.1f} Mpps", answers,
            f"making the packets is {row['source_ns']:.1f} of the {row['sniffing_ns']:.0f} ns that sniffing takes; the paper's three threads "
            "had three cores and 12.1, 7.9 and 7.9 Mpps, 100, 100 and 39 % of CPU")


def figure_3_locking(runs):
    worst, lossless = runs["worst-case"], runs["worst-case-lossless"]
    locked, apart, simplest, chunk = (shape(worst, name) for name in ("1I-2Q-1P", "1I-2Q-2P", "1I-1Q-1P", "1I-2Q-1P-chunk"))
    spread = [shape(runs["worst-case-any"], name) for name in ("1I-2Q-1P", "1I-1Q-1P")]
    answers = [below(locked, apart, "handled_mpps"), below(shape(lossless, "1I-2Q-1P"), shape(lossless, "1I-2Q-2P"), "lossless_mpps"),
               below(locked, simplest, "handled_mpps"), below(*spread, "handled_mpps")]
    rates = ", ".join(f"{name} {shape(lossless, name)['lossless_mpps']:.1f}" for name in ("1I-2Q-1P", "1I-2Q-1P-chunk", "1I-2Q-2P"))
    return (f"{stages(locked)}; {stages(apart)}; locked for a chunk of 128: {stages(chunk)}. Flow handling takes {locked['handling_ns']:.0f} ns "
            f"a packet with the lock, {apart['handling_ns']:.0f} without, {chunk['handling_ns']:.0f} with one a chunk. Without loss: {rates} Mpps",
            answers, "a std::mutex around each packet; one around 128 gives most of it back: here it is not the sharing that costs but how "
            "often it is locked. The last two comparisons are with 1I-1Q-1P, on one core and on all")


def figure_3_wire_speed(runs):
    row, lossless = shape(runs["worst-case"], "1I-2Q-2P"), shape(runs["worst-case-lossless"], "1I-2Q-2P")
    inline = shape(runs["worst-case-lossless"], "1I-2Q-inline")
    return (f"{stages(row)}; without loss {lossless['lossless_mpps']:.1f} Mpps. Run to completion on the same cores: "
            f"{inline['lossless_mpps']:.1f}", [kept(row), sure(lossless["lossless_mpps"] >= 0.99 * LINE_MPPS)],
            "six threads on two cores, which make their packets too; the paper had six cores, none of them at its limit: by its 77+78, 87+86 "
            f"and 45+46 % of 2.4 GHz a packet took 295 ns of CPU, here {row['cpu_ns']:.0f}")


def figure_3_interfaces(runs):
    one, two = (shape(runs["worst-case"], name) for name in ("1I-1Q-1P", "2I-1Q-2P"))
    alone, both = within(one, "handled_mpps"), within(two, "handled_mpps")
    twice = {name: 2 * value for name, value in alone.items()}
    near = below({name: 0.8 * value for name, value in twice.items()}, both, "value")
    return (f"{stages(two)} of {two['offered_mpps']:.1f}; {stages(one)}", [near, -kept(two),
            below(within(two, "handled_mpps"), within(two, "sniffed_mpps"), "value")],
            "as expected is taken as four fifths of twice what one interface has; the paper: 25.2 sent, 24.2 sniffed, 15.2 handled")


def figure_3_threads(runs):
    worst, lossless = runs["worst-case"], runs["worst-case-lossless"]
    pairs = [("1I-1Q-inline", "1I-1Q-1P"), ("1I-2Q-inline", "1I-2Q-2P"), ("2I-1Q-inline", "2I-1Q-2P")]
    answers, told = [], []
    for ours, theirs in pairs:
        answers += [below(shape(worst, ours), shape(worst, theirs), "handled_mpps"),
                    below(shape(lossless, ours), shape(lossless, theirs), "lossless_mpps")]
        told.append(f"{ours} {shape(worst, ours)['handled_mpps']:.1f} handled, {shape(lossless, ours)['lossless_mpps']:.1f} without loss, "
                    f"{shape(worst, ours)['cpu_ns']:.0f} ns a packet, {theirs} {shape(worst, theirs)['handled_mpps']:.1f}, "
                    f"{shape(lossless, theirs)['lossless_mpps']:.1f}, {shape(worst, theirs)['cpu_ns']:.0f}")
    return ("Mpps on the same cores: " + "; ".join(told), answers,
            "ours, run to completion: one thread a queue does all, and tells classes itself. The paper does not try it; each ring costs "
            "more than the work that it takes elsewhere")


def figure_3_classes(runs):
    rows = [shape(runs["worst-case"], name) for name in THEIRS]
    return ("ns of CPU a packet, sniffing, flow handling and classification: " +
            "; ".join(f"{row['row']} {row['sniffing_ns']:.0f}, {row['handling_ns']:.0f}, {row['classifying_ns']:.0f} ({modules(row)})" for row in rows),
            [sure(row["classifying_ns"] < row["handling_ns"]) for row in rows] + [sure(row["classified_mpps"] >= 0.95 * row["handled_mpps"]) for row in rows],
            "one thread takes the jobs of both queues (1I-2Q-1P)")


def real(run):
    return [row for name in THEIRS + OURS for row in run.where(shape=name)]


def figure_4(name):
    def judge(runs):
        run = runs[name]
        rows = {row["shape"]: row for row in real(run)}
        answers = [kept(rows[one]) for one in THEIRS]
        answers += [below(rows["1I-1Q-1P"], rows[other], "cpu") for other in THEIRS[1:]]
        answers += [sure(rows[two]["memory_mb"] > 1.9 * rows["1I-1Q-1P"]["memory_mb"]) for two in ("1I-2Q-2P", "2I-1Q-2P")]
        first = rows["1I-1Q-1P"]
        return (f"{first['traffic']}: {first['line_mpps']:.2f} Mpps at 10 Gb/s; " + "; ".join(
            f"{row['row']} {row['classified_kfps']:.0f} Kflows/s, {100 * row['lost_share']:.2g} % lost, CPU {modules(row)}, {row['memory_mb']:.0f} MB"
            for row in rows.values()), answers,
                "CPU in percent of one core, sniffing+flows+classes; the paper's 11.9, 16.1, 14.6 and 29.5 % of eight cores are 95, 129, 117 and "
                f"236 % of one. Copying a packet is {first['source_ns']:.0f} ns of sniffing. Memory is of tables, rows and rings; all that is of "
                "the process, traffic included, is in the raw figures")
    return judge


def figure_5(runs):
    run = runs["headers-capped"]
    caps = run.values("cap")
    at = {(name, cap): shape(run, name, cap=cap) for name in THEIRS for cap in caps}
    answers = [sure(at[name, cap]["lossless_gbps"] >= 9.5 * at[name, cap]["interfaces"]) for name in THEIRS for cap in caps if cap >= 500]
    answers += [sure(max(at["1I-1Q-1P", cap]["lossless_mpps"] for cap in caps) >= 3.8)]
    answers += [sure(at["1I-2Q-1P", 64]["lossless_gbps"] < at["1I-2Q-2P", 64]["lossless_gbps"])]
    lines = [f"{name} " + ", ".join(f"{row['lossless_gbps']:.1f}" for row in sorted(run.where(shape=name), key=lambda row: row["cap"]))
             for name in dict.fromkeys(row["shape"] for row in run.all)]
    loads = ", ".join(f"{at['1I-1Q-1P', cap]['line_mpps']:.1f}" for cap in caps)
    return (f"Gb/s without loss at caps of {', '.join(map(str, caps))} bytes (an interface's {loads} Mpps): " + "; ".join(lines) +
            f". Most of 1I-1Q-1P: {max(at['1I-1Q-1P', cap]['lossless_mpps'] for cap in caps):.1f} Mpps", answers,
            "one search a pass, to 5 %. The same caps are more packets here than in the paper (1.6 Mpps at 1500, 3.8 at 500, 14.2 at 64), "
            "whose frames were longer")


FIGURES = [
    ("3, 1I-1Q-1P", "worst-case", "One queue and three threads do not take 14.2 Mpps: sniffing and flow handling are at their limits, and what "
     "is handled is classified.", figure_3_simplest),
    ("3, locking", "worst-case-lossless", "Two queues that share a table under a lock (1I-2Q-1P) handle 2.1 Mpps, fewer than one queue alone, and "
     "far fewer than with a table each (1I-2Q-2P).", figure_3_locking),
    ("3, wire speed", "worst-case", "Two queues with a table each (1I-2Q-2P) classify all 14.2 Mpps, 2.8 Mflows/s.", figure_3_wire_speed),
    ("3, two interfaces", "worst-case", "Two interfaces (2I-1Q-2P) are as one interface twice: more than sniffing and flow handling take.",
     figure_3_interfaces),
    ("3, classification", None, "One thread to classify is enough: it never is what holds packets up.", figure_3_classes),
    ("3, threads", "worst-case-lossless", "Implied: wire speed takes a thread for each module of each queue.", figure_3_threads),
    ("4", "headers", "Real headers at full length: all configurations classify 10 or 20 Gb/s without loss; the simplest takes least CPU, a second "
     "process as much memory again.", figure_4("headers")),
    ("4, as theirs", "headers-mix", "The same with built-in frames of 744 bytes and flows of 49 packets, the means of the paper's trace: 1.6 Mpps an "
     "interface.", figure_4("headers-mix")),
    ("5", "headers-capped", "Frames capped at 500 bytes and more are classified at 10 Gb/s by every configuration, 1I-1Q-1P up to 3.8 Mpps; below, "
     "each is held up where figure 3 has it.", figure_5),
]


def draw_stages(run):
    """Figure 3: what each module passes on."""
    lines = ['set ylabel "Mpps, all interfaces"', "set yrange [0:*]", "set xrange [-0.2:3.9]", "set grid", "set key outside right",
             'set xtics ("sent" 0, "sniffing" 1, "flow handling" 2, "classification" 3)', "set offsets 0, 0.3, 0, 0"]
    plots = []
    for i, row in enumerate(run.all):
        rates = [row[column] for column in ("offered_mpps", "sniffed_mpps", "handled_mpps", "classified_mpps")]
        cpu = ["", *("" if row[column] is None else f"{percent(row[column])}%" for column in ("sniffing_cpu", "handling_cpu", "classifying_cpu"))]
        lines += [f"$d{i} << EOD"] + [f'{x} {rate} "{text}"' for x, (rate, text) in enumerate(zip(rates, cpu))] + ["EOD"]
        plots += [f'$d{i} with linespoints linecolor {i + 1} title "{row["row"]}"',
                  f"$d{i} using 1:2:3 with labels offset 3,0.4 font ',9' textcolor linetype {i + 1} notitle"]
    return lines + ["plot " + ", ".join(plots)]


def draw_cpu(run):
    """Figure 4: CPU by module, and what is classified with what memory."""
    rows = run.all
    lines = ['set ylabel "CPU, % of one core"', "set yrange [0:*]", "set grid y", "set style data histograms", "set style histogram rowstacked",
             "set style fill solid 0.6", "set boxwidth 0.7", "set xtics font ',9'", "set bmargin 8", "set key outside top center horizontal", "$d << EOD"]
    for row in rows:
        title = (f"{row['row']}\\n{row['handled_mpps']:.1f} Mpps\\n{100 * row['lost_share']:.1f} % lost\\n{row['classified_kfps']:.0f} Kflows/s\\n"
                 f"{row['memory_mb'] / 1e3:.1f} GB")
        lines.append(f'"{title}" ' + " ".join(str(100 * (row[column] or 0)) for column in ("sniffing_cpu", "handling_cpu", "classifying_cpu")))
    return lines + ["EOD", 'plot $d using 2:xtic(1) title "sniffing", $d using 3 title "flow handling, or all", $d using 4 title "classification"']


def draw_caps(run):
    """Figure 5."""
    lines = ['set ylabel "Gb/s without loss, all interfaces"', 'set xlabel "frames count up to, bytes (and Mpps of a fully loaded interface)"',
             "set yrange [0:*]", "set grid", "set key outside right", "set logscale x 2"]
    caps = {row["cap"]: row["line_mpps"] for row in run.all}
    lines.append("set xtics (" + ", ".join(f'"{cap}\\n{mpps:.1f}" {cap}' for cap, mpps in sorted(caps.items())) + ")")
    names = list(dict.fromkeys(row["row"] for row in run.all))
    for i, name in enumerate(names):
        lines += [f"$d{i} << EOD"] + [f"{row['cap']} {row['lossless_gbps']}" for row in sorted(run.where(row=name), key=lambda row: row["cap"])] + ["EOD"]
    return lines + ["plot " + ", ".join(f'$d{i} with linespoints title "{name}"' for i, name in enumerate(names))]


DRAWN = {"worst-case": draw_stages, "worst-case-any": draw_stages, "headers": draw_cpu, "headers-mix": draw_cpu, "headers-capped": draw_caps}
