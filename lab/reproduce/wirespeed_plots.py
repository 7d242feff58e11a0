# SPDX-License-Identifier: Apache-2.0
"""Figures 3 to 5 of the paper on classification at wire speed, drawn as they are there."""

from plots import CROSS
from wirespeed_judges import PAPERS_MPPS, percent

# What the paper states of figure 3, Mpps by configuration: (0 sent, 1 sniffed, 2 handled, 3 classified; rate).
PAPERS = {
    "1I-1Q-1P": ((0, 14.2), (1, 12.1), (2, 7.9), (3, 7.9)),
    "1I-2Q-1P": ((0, 14.2), (1, 14.2), (2, 2.1), (3, 2.1)),
    "1I-2Q-2P": ((0, 14.2), (1, 14.2), (2, 14.2), (3, 14.2)),
    "2I-1Q-2P": ((0, 25.2), (1, 24.2), (2, 15.2)),
}

# Of figure 4, CPU of all modules in percent of eight cores, by configuration.
PAPERS_CPU = {"1I-1Q-1P": 11.9, "1I-2Q-1P": 16.1, "1I-2Q-2P": 14.6, "2I-1Q-2P": 29.5}
PAPERS_CORES = 8
# Of figure 5, for 1I-1Q-1P: 3.8 Mpps are the paper's line of 10 Gb/s with frames up to this many bytes.
PAPERS_CAP, PAPERS_GBPS = 500, 10


def draw_stages(run):
    """Figure 3: what each module passes on. Crosses are the paper's, in the color of their configuration."""
    lines = [
        'set ylabel "Mpps, all interfaces"',
        "set yrange [0:*]",
        "set xrange [-0.2:3.9]",
        "set grid",
        "set key outside right",
        'set xtics ("sent" 0, "sniffing" 1, "flow handling" 2, "classification" 3)',
        "set offsets 0, 0.3, 0, 0",
    ]
    plots = []
    for i, row in enumerate(run.all):
        rates = [row[column] for column in ("offered_mpps", "sniffed_mpps", "handled_mpps", "classified_mpps")]
        cpu = [
            "",
            *(
                "" if row[column] is None else f"{percent(row[column])}%"
                for column in ("sniffing_cpu", "handling_cpu", "classifying_cpu")
            ),
        ]
        lines += (
            [f"$d{i} << EOD"] + [f'{x} {rate} "{text}"' for x, (rate, text) in enumerate(zip(rates, cpu))] + ["EOD"]
        )
        plots += [
            f'$d{i} with linespoints linecolor {i + 1} title "{row["row"]}"',
            f"$d{i} using 1:2:3 with labels offset 3,0.4 font ',9' textcolor linetype {i + 1} notitle",
        ]
        if row["row"] in PAPERS:
            lines += [f"$p{i} << EOD"] + [f"{x} {rate}" for x, rate in PAPERS[row["row"]]] + ["EOD"]
            plots.append(f'$p{i} with points {CROSS} linecolor {i + 1} title "{row["row"]}, paper"')
    return lines + ["plot " + ", ".join(plots)]


def draw_cpu(run):
    """Figure 4: CPU by module, and what is classified with what memory."""
    rows = run.all
    lines = [
        'set ylabel "CPU, % of one core"',
        "set yrange [0:*]",
        "set grid y",
        "set style data histograms",
        "set style histogram rowstacked",
        "set style fill solid 0.6",
        "set boxwidth 0.7",
        "set xtics font ',9'",
        "set bmargin 8",
        "set key outside top center horizontal",
        "$d << EOD",
    ]
    for row in rows:
        title = (
            f"{row['row']}\\n{row['handled_mpps']:.1f} Mpps\\n{100 * row['lost_share']:.1f} % "
            f"lost\\n{row['classified_kfps']:.0f} Kflows/s\\n"
            f"{row['memory_mb'] / 1e3:.1f} GB"
        )
        lines.append(
            f'"{title}" '
            + " ".join(str(100 * (row[column] or 0)) for column in ("sniffing_cpu", "handling_cpu", "classifying_cpu"))
        )
    return lines + [
        "EOD",
        "$p << EOD",
        *(
            f"{place} {PAPERS_CORES * PAPERS_CPU[row['row']]}"
            for place, row in enumerate(rows)
            if row["row"] in PAPERS_CPU
        ),
        "EOD",
        'plot $d using 2:xtic(1) title "sniffing", $d using 3 title "flow handling, or all", $d using 4 title '
        f'"classification", $p with points {CROSS} title "all, the paper"',
    ]


def draw_caps(run):
    """Figure 5."""
    lines = [
        'set ylabel "Gb/s without loss, all interfaces"',
        'set xlabel "frames count up to, bytes (and Mpps of a fully loaded interface)"',
        "set yrange [0:*]",
        "set grid",
        "set key outside right",
        "set logscale x 2",
    ]
    caps = {row["cap"]: row["line_mpps"] for row in run.all}
    lines.append("set xtics (" + ", ".join(f'"{cap}\\n{mpps:.1f}" {cap}' for cap, mpps in sorted(caps.items())) + ")")
    names = list(dict.fromkeys(row["row"] for row in run.all))
    for i, name in enumerate(names):
        lines += (
            [f"$d{i} << EOD"]
            + [
                f"{row['cap']} {row['lossless_gbps']}"
                for row in sorted(run.where(row=name), key=lambda row: row["cap"])
            ]
            + ["EOD"]
        )
    lines += ["$p << EOD", f"{PAPERS_CAP} {PAPERS_GBPS}", "EOD"]
    plots = [f'$d{i} with linespoints title "{name}"' for i, name in enumerate(names)]
    return lines + [
        "plot " + ", ".join([*plots, f'$p with points {CROSS} title "1I-1Q-1P, {PAPERS_MPPS} Mpps in the paper"'])
    ]
