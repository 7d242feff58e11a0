# SPDX-License-Identifier: Apache-2.0
"""lab/docs/accuracy-classes.md and its pictures, of what classes.py found."""

import datetime
import shutil
import subprocess

NAMES = {
    "majority": "baseline: the largest class of the other folds",
    "naive-bayes": "**naive Bayes** without priors, as in the paper",
    "naive-bayes-priors": "**naive Bayes** with `--priors`",
    "c45": "**c45**",
    "forest": "**forest**",
    "gaussian": "scikit-learn: GaussianNB, no priors",
    "cart": "scikit-learn: one tree (CART by entropy, unpruned)",
    "random-forest": "scikit-learn: RandomForestClassifier, 100 trees",
    "boosted": "LightGBM: gradient-boosted trees, 50 rounds",
    "histograms": "histograms of packet sizes by class, with priors (not in Parshall)",
    "backing-off": "class by the sizes so far, with back-off (not in Parshall)",
}
LIMITS = tuple(number / 20 for number in range(20)) + (0.99,)
SHOWN_LIMITS = (0, 0.5, 0.7, 0.9, 0.99)
MOST_OF_MATRIX = 12
PAPERS_FACTOR = 93


def percent(of, digits=1):
    """Of (value, low, high)."""
    value, low, high = of
    return f"{100 * value:.{digits}f} % ({100 * low:.{digits}f} to {100 * high:.{digits}f})"


def points(of):
    value, low, high = of
    return f"{100 * value:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def rate_of(rounds):
    """Of rounds: median, least and most."""
    ordered = sorted(rounds)
    return ordered[len(ordered) // 2], ordered[0], ordered[-1]


def kilo(of):
    return "{:.3g} ({:.3g} to {:.3g})".format(*(value / 1e3 for value in of))


def drawn(script):
    if shutil.which("gnuplot") is None:
        return False
    return (
        subprocess.run(
            ["gnuplot"], input="\n".join(script) + "\n", text=True, stdout=subprocess.DEVNULL, check=False
        ).returncode
        == 0
    )


def draw_reject(curves, path):
    """curves: by name, (limit, share classified, share of these that is right)."""
    lines = [
        "set terminal svg noenhanced size 900,560",
        f'set output "{path}"',
        "set grid",
        "set key outside right",
        'set xlabel "classified, % of flows"',
        'set ylabel "correct, % of the classified"',
        "set xrange [0:100]",
        "set yrange [0:100]",
    ]
    for place, curve in enumerate(curves.values()):
        lines += [
            f"$d{place} << EOD",
            *(f"{100 * told} {100 * right}" for _, told, right in curve if right is not None),
            "EOD",
        ]
    return drawn(
        lines + ["plot " + ", ".join(f'$d{place} with linespoints title "{name}"' for place, name in enumerate(curves))]
    )


def draw_matrix(matrix, path):
    """Each row's shares of the class; the classes with most flows first."""
    names, counts = matrix["names"], matrix["counts"]
    order = sorted(range(len(names)), key=lambda place: -sum(counts[place]))
    ticks = ", ".join(f'"{names[place]}" {at}' for at, place in enumerate(order))
    shares = [
        f"{x} {y} {counts[of][taken] / sum(counts[of])}" for y, of in enumerate(order) for x, taken in enumerate(order)
    ]
    return drawn(
        [
            "set terminal svg noenhanced size 1000,900 font ',8'",
            f'set output "{path}"',
            'set xlabel "predicted"',
            'set ylabel "class"',
            "set size ratio -1",
            "unset key",
            f"set xrange [-0.5:{len(names) - 0.5}]",
            f"set yrange [{len(names) - 0.5}:-0.5]",
            "set cbrange [0:1]",
            'set cblabel "share of the class"',
            "set palette defined (0 '#ffffff', 0.5 '#7fb2d9', 1 '#08306b')",
            f"set xtics rotate by 60 right ({ticks})",
            f"set ytics ({ticks})",
            "$shares << EOD",
            *shares,
            "EOD",
            "plot $shares using 1:2:3 with image",
        ]
    )


def accuracy_table(found):
    lines = [
        "| model | flows correct | macro-F1 | packets correct | bytes correct | flows, minus c45, points |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in found["models"].items():
        less = "" if name == "c45" else points(row["less_c45"])
        lines.append(
            f"| {NAMES[name]} | {percent(row['flows'])} | {row['f1'][0]:.3f} ({row['f1'][1]:.3f} to {row['f1'][2]:.3f}"
            f") | {percent(row['packets'])} | "
            f"{percent(row['bytes'])} | {less} |"
        )
    return lines


def sets_table(found):
    lines = ["| flows correct | all | captures at hand | captures at hand, without the largest |", "|---|---|---|---|"]
    for name, row in found["alone"]["models"].items():
        lines.append(
            f"| {NAMES[name]} | {percent(found['models'][name]['flows'])} | {percent(row['flows'])} | "
            f"{percent(row['without_largest'])} |"
        )
    return lines


def reject_table(curves):
    lines = [
        "| `--reject` | " + " | ".join(f"{name}: classified | correct" for name in curves) + " |",
        "|---|" + "---|---|" * len(curves),
    ]
    for place, limit in enumerate(LIMITS):
        if limit in SHOWN_LIMITS:
            cells = [
                f"{100 * curve[place][1]:.0f} % | "
                + ("-" if curve[place][2] is None else f"{100 * curve[place][2]:.0f} %")
                for curve in curves.values()
            ]
            lines.append(f"| {limit:g} | " + " | ".join(cells) + " |")
    return lines


def matrix_table(matrix):
    """Of the classes with most flows, in percent of each."""
    names, counts = matrix["names"], matrix["counts"]
    most = sorted(range(len(names)), key=lambda place: -sum(counts[place]))[:MOST_OF_MATRIX]
    lines = [
        "| class \\ predicted | " + " | ".join(names[place] for place in most) + " | others |",
        "|---|" + "---|" * (len(most) + 1),
    ]
    for of in most:
        flows = sum(counts[of])
        cells = [100 * counts[of][place] / flows for place in most]
        shown = [
            f"**{value:.0f}**" if place == of else "" if value < 0.5 else f"{value:.0f}"
            for place, value in zip(most, cells)
        ]
        lines.append(f"| {names[of]} | " + " | ".join(shown) + f" | {100 - sum(cells):.0f} |")
    return lines


def class_table(figures):
    kinds = ("naive-bayes", "c45", "forest")
    share = lambda value: "-" if value is None else f"{value:.3f}"
    lines = [
        "| class | flows | captures | "
        + " | ".join(f"{kind}: precision | recall" for kind in kinds)
        + " | forest: most frequent mistake |",
        "|---|---|---|" + "---|---|" * len(kinds) + "---|",
    ]
    for name, row in sorted(figures["forest"].items(), key=lambda item: -item[1]["flows"]):
        other = "" if row["taken_for"] is None else f"{row['taken_for']} ({100 * row['taken_for_share']:.0f} %)"
        cells = [
            f"{share(figures[kind][name]['precision'])} | {share(figures[kind][name]['recall'])}" for kind in kinds
        ]
        lines.append(f"| {name} | {row['flows']} | {row['captures']} | " + " | ".join(cells) + f" | {other} |")
    return lines


ON_LINE = {
    ("worst", "1I-1Q-inline"): "Parshall, one thread; 64 bytes, 5 packets a flow",
    ("worst", "1I-1Q-1P"): "Parshall, the paper's three threads on one core; the same traffic",
    ("mean", "1I-1Q-inline"): "Parshall, one thread; 744 bytes, 49 packets a flow, the mean of the paper's trace",
    ("mean", "1I-1Q-1P"): "Parshall, the paper's three threads on one core; the same traffic",
}


def rates_section(rates):
    title = "## Speed against off-line learners (table 1)"
    if rates is None:
        return [
            "",
            title,
            "",
            "This was not measured when the page was written. [The paper's table](reproduce/wirespeed.md) has the "
            "factor to Weka's naive Bayes, for generated flows.",
        ]
    row = {(traffic, one["shape"]): one for traffic in ("worst", "mean") for one in rates["on_line"][traffic]}
    lines = [
        "| | captures | assigns packets to flows | thousand flows per second of CPU | without loss, Mpps | Gb/s |",
        "|---|---|---|---|---|---|",
    ]
    for key, name in ON_LINE.items():
        one = row[key]
        lines.append(
            f"| {name} | yes | yes | {kilo(one['flows'])} | {one['lossless_mpps']:.1f} ({one['low_lossless_mpps']:.1f} "
            f"to "
            f"{one['high_lossless_mpps']:.1f}) | {one['lossless_gbps']:.1f} |"
        )
    off = {
        f"{source}: {name}": rounds
        for source in ("Weka", "scikit-learn")
        for name, rounds in (rates["off_line"][source] or {}).items()
    }
    for name, rounds in off.items():
        lines.append(f"| {name} | no | no | {kilo(rate_of(rounds))} | - | - |")
    return [
        "",
        title,
        "",
        f"All classify with the naive Bayes above, with {rates['classes']} classes. *On line* includes capture and "
        f"flow handling. *Off line* classifies flows whose sizes are in memory.",
        "The table has medians of rounds, with minimum and maximum in brackets. Rates without loss need a machine "
        "without other load, and CPU times are less sensitive to it.",
        f"The load was {rates['on_line']['load']}.",
        "",
        *lines,
        *factor(row["worst", "1I-1Q-inline"]["flows"], off.get("Weka: NaiveBayes")),
    ]


def factor(ours, weka):
    if weka is None:
        return []
    middle, least, most = rate_of(weka)
    value, low, high = ours[0] / middle, ours[1] / most, ours[2] / least
    verdict = "Confirmed" if low > PAPERS_FACTOR else "Refuted" if high < PAPERS_FACTOR else "Undecided"
    return [
        "",
        f"The paper: 2.8 million flows/s on line are {PAPERS_FACTOR} times the 0.03 million flows/s that a study "
        f"reached off line with Weka's naive Bayes on a similar machine.",
        f"**{verdict}**: by CPU time and with the same classes the factor is {value:.0f} here ({low:.0f} to {high:.0f}"
        f"), and the paper says {PAPERS_FACTOR}.",
    ]


def page_of(found):
    short = found["short"]
    lines = [
        "# How accurate the classes of flows are",
        "",
        f"This page classifies {found['flows']} flows of {found['classes']} classes in {found['captures']} captures by "
        f"the sizes of their first four packets. A flow has one direction and four or more packets.",
        "Its true class comes from payload inspection.",
        "",
        "- All models are tested by cross-validation with 10 folds. A capture file is either in the training or in the "
        "test part. Two files of one network, day or program may be in different parts.",
        "- Classes with fewer than 20 flows or 2 captures are left out.",
        "- The settings are the defaults of `parshall train`, without tuning.",
        f"- The captures are not part of the project. `lab/reproduce/classes.py` wrote this page on "
        f"{datetime.date.today()}.",
        "",
        f"**Intervals** are 95 % bootstrap intervals over captures: {found['draws']} resamples of as many captures, "
        f"each with all its flows. They show how other captures of such networks might differ.",
        "They do not cover networks that have no capture here. A model is less accurate there, so train on your own "
        "network.",
        "",
        "## Models",
        "",
        *accuracy_table(found),
        "",
        f"The columns of packets and bytes weight each flow by its traffic. They cover the {found['weighed']} flows "
        f"whose captures are at hand. The other flows come from lists of first packet sizes.",
        "",
        f"In the captures at hand {100 * short['share']:.0f} % of the {short['flows']} flows of a known class have "
        f"fewer than four packets, and therefore no class by sizes. They carry "
        f"{100 * short['packets']:.1f} % of the packets and {100 * short['bytes']:.1f} % of the bytes.",
        "",
        "## Effect of the largest capture",
        "",
        f"The largest capture has {100 * found['largest']:.0f} % of all flows. It has "
        f"{100 * found['alone']['largest']:.0f} % of the {found['alone']['flows']} flows "
        f"({found['alone']['classes']} classes, {found['alone']['captures']} captures) in the captures at hand.",
        "",
        *sets_table(found),
        "",
        "## Both directions",
        "",
        f"This table covers {found['direction']['flows']} connections with four packets in the forward direction. It "
        f"compares their first four sizes with the first four of both directions (`first_sizes`).",
        "`parshall watch` classifies one direction at a time. The last column is what the other direction would add.",
        "",
        "| model | forward | both directions | gain, points |",
        "|---|---|---|---|",
        *(
            f"| {NAMES[name]} | {percent(row['there'])} | {percent(row['both'])} | {points(row['more'])} |"
            for name, row in found["direction"]["models"].items()
        ),
        "",
        "## Rejecting uncertain flows",
        "",
        "With `--reject P` a flow is classified only if the probability of its class is at least P.",
        "",
        "![Fraction of flows classified, and fraction of these that is correct](reproduce/classes-reject.svg)",
        "",
        *reject_table(found["reject"]),
        "",
        "Naive Bayes is often certain and wrong, because packet sizes are neither normal nor independent.",
        "",
        "## Confusion matrix",
        "",
        f"The forest's predictions, in percent of each class, for the {MOST_OF_MATRIX} classes with most flows. [A "
        f"picture](reproduce/classes-confusion.svg) has all classes.",
        "",
        *matrix_table(found["matrix"]),
        *rates_section(found["rates"]),
        "",
        "## Accuracy by class",
        "",
        *class_table(found["by_class"]),
    ]
    return "\n".join(lines) + "\n"
