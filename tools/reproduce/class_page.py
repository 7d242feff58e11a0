# SPDX-License-Identifier: Apache-2.0
"""docs/accuracy-classes.md and its pictures, of what classes.py found."""
import datetime
import shutil
import subprocess

NAMES = {
    "majority": "the class that most flows of the other folds are of",
    "naive-bayes": "**naive Bayes**, no priors, as the paper has it",
    "naive-bayes-priors": "**naive Bayes**, `--priors`",
    "c45": "**c45**",
    "forest": "**forest**",
    "gaussian": "scikit-learn: GaussianNB, no priors",
    "cart": "scikit-learn: a tree (CART by entropy, unpruned)",
    "random-forest": "scikit-learn: RandomForestClassifier, 100 trees",
    "boosted": "LightGBM: gradient-boosted trees, 50 rounds",
    "histograms": "histograms of each packet's sizes by class, with priors (not built in)",
    "backing-off": "classes by the sizes so far, backing off (not built in)",
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
    return subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, stdout=subprocess.DEVNULL, check=False).returncode == 0


def draw_reject(curves, path):
    """curves: by name, (limit, share told, share right)."""
    lines = ["set terminal svg noenhanced size 900,560", f'set output "{path}"', "set grid", "set key outside right", 'set xlabel "told, % of flows"',
             'set ylabel "of those told right, %"', "set xrange [0:100]", "set yrange [0:100]"]
    for place, curve in enumerate(curves.values()):
        lines += [f"$d{place} << EOD", *(f"{100 * told} {100 * right}" for _, told, right in curve if right is not None), "EOD"]
    return drawn(lines + ["plot " + ", ".join(f'$d{place} with linespoints title "{name}"' for place, name in enumerate(curves))])


def draw_matrix(matrix, path):
    """Each row's shares of the class; the classes with most flows first."""
    names, counts = matrix["names"], matrix["counts"]
    order = sorted(range(len(names)), key=lambda place: -sum(counts[place]))
    ticks = ", ".join(f'"{names[place]}" {at}' for at, place in enumerate(order))
    shares = [f"{x} {y} {counts[of][taken] / sum(counts[of])}" for y, of in enumerate(order) for x, taken in enumerate(order)]
    return drawn(["set terminal svg noenhanced size 1000,900 font ',8'", f'set output "{path}"', 'set xlabel "taken for"', 'set ylabel "class"', "set size ratio -1",
                  "unset key", f"set xrange [-0.5:{len(names) - 0.5}]", f"set yrange [{len(names) - 0.5}:-0.5]", "set cbrange [0:1]",
                  'set cblabel "share of the class"', "set palette defined (0 '#ffffff', 0.5 '#7fb2d9', 1 '#08306b')", f"set xtics rotate by 60 right ({ticks})",
                  f"set ytics ({ticks})", "$shares << EOD", *shares, "EOD", "plot $shares using 1:2:3 with image"])


def accuracy_table(found):
    lines = ["| model | flows told right | macro-F1 | packets | bytes | flows, less c45's, points |", "|---|---|---|---|---|---|"]
    for name, row in found["models"].items():
        less = "" if name == "c45" else points(row["less_c45"])
        lines.append(f"| {NAMES[name]} | {percent(row['flows'])} | {row['f1'][0]:.3f} ({row['f1'][1]:.3f} to {row['f1'][2]:.3f}) | {percent(row['packets'])} | "
                     f"{percent(row['bytes'])} | {less} |")
    return lines


def sets_table(found):
    lines = ["| told right | all | captures that are here alone | these, the largest not counted |", "|---|---|---|---|"]
    for name, row in found["alone"]["models"].items():
        lines.append(f"| {NAMES[name]} | {percent(found['models'][name]['flows'])} | {percent(row['flows'])} | {percent(row['without_largest'])} |")
    return lines


def reject_table(curves):
    lines = ["| `--reject` | " + " | ".join(f"{name}: told | right" for name in curves) + " |", "|---|" + "---|---|" * len(curves)]
    for place, limit in enumerate(LIMITS):
        if limit in SHOWN_LIMITS:
            cells = [f"{100 * curve[place][1]:.0f} % | " + ("-" if curve[place][2] is None else f"{100 * curve[place][2]:.0f} %") for curve in curves.values()]
            lines.append(f"| {limit:g} | " + " | ".join(cells) + " |")
    return lines


def matrix_table(matrix):
    """Of the classes with most flows, in percent of each."""
    names, counts = matrix["names"], matrix["counts"]
    most = sorted(range(len(names)), key=lambda place: -sum(counts[place]))[:MOST_OF_MATRIX]
    lines = ["| class \\ taken for | " + " | ".join(names[place] for place in most) + " | others |", "|---|" + "---|" * (len(most) + 1)]
    for of in most:
        flows = sum(counts[of])
        cells = [100 * counts[of][place] / flows for place in most]
        shown = [f"**{value:.0f}**" if place == of else "" if value < 0.5 else f"{value:.0f}" for place, value in zip(most, cells)]
        lines.append(f"| {names[of]} | " + " | ".join(shown) + f" | {100 - sum(cells):.0f} |")
    return lines


def class_table(figures):
    kinds = ("naive-bayes", "c45", "forest")
    share = lambda value: "-" if value is None else f"{value:.3f}"
    lines = ["| class | flows | captures | " + " | ".join(f"{kind}: precision | recall" for kind in kinds) + " | forest: most often taken for |",
             "|---|---|---|" + "---|---|" * len(kinds) + "---|"]
    for name, row in sorted(figures["forest"].items(), key=lambda item: -item[1]["flows"]):
        other = "" if row["taken_for"] is None else f"{row['taken_for']} ({100 * row['taken_for_share']:.0f} %)"
        cells = [f"{share(figures[kind][name]['precision'])} | {share(figures[kind][name]['recall'])}" for kind in kinds]
        lines.append(f"| {name} | {row['flows']} | {row['captures']} | " + " | ".join(cells) + f" | {other} |")
    return lines


ON_LINE = {("worst", "1I-1Q-inline"): "ours, from packets to classes, one thread that does all; 64 bytes, 5 packets a flow",
           ("worst", "1I-1Q-1P"): "ours, the paper's three threads on one core; the same",
           ("mean", "1I-1Q-inline"): "ours, one thread; 744 bytes, 49 packets a flow, as the paper's trace on average",
           ("mean", "1I-1Q-1P"): "ours, the paper's three threads on one core; the same"}


def rates_section(rates):
    if rates is None:
        return ["", "## Against off-line learners (table 1)", "", "Not measured when this page was written. [The paper's table](reproduce/wirespeed.md) has the factor to Weka's naive Bayes, of made flows."]
    row = {(traffic, one["shape"]): one for traffic in ("worst", "mean") for one in rates["on_line"][traffic]}
    lines = ["| | captures | tells flows apart | thousand flows in a second of CPU | without loss, Mpps | Gb/s |", "|---|---|---|---|---|---|"]
    for key, title in ON_LINE.items():
        one = row[key]
        lines.append(f"| {title} | yes | yes | {kilo(one['flows'])} | {one['lossless_mpps']:.1f} ({one['low_lossless_mpps']:.1f} to "
                     f"{one['high_lossless_mpps']:.1f}) | {one['lossless_gbps']:.1f} |")
    off = {f"{source}: {name}": rounds for source in ("Weka", "scikit-learn") for name, rounds in (rates["off_line"][source] or {}).items()}
    for name, rounds in off.items():
        lines.append(f"| {name} | no | no | {kilo(rate_of(rounds))} | - | - |")
    return ["", "## Against off-line learners (table 1)", "",
            f"The naive Bayes above, of {rates['classes']} classes. On line is with capture and flow handling; off line tells flows whose sizes are in memory already. Medians of",
            f"rounds, least and most in brackets. Rates without loss need a machine that does nothing else; so, less, does CPU time (load: {rates['on_line']['load']}).", "", *lines,
            *factor(row["worst", "1I-1Q-inline"]["flows"], off.get("Weka: NaiveBayes"))]


def factor(ours, weka):
    if weka is None:
        return []
    middle, least, most = rate_of(weka)
    value, low, high = ours[0] / middle, ours[1] / most, ours[2] / least
    verdict = "holds" if low > PAPERS_FACTOR else "does not hold here" if high < PAPERS_FACTOR else "cannot be told: it is within the rounds"
    return ["", f"The paper: 2.8 M flows/s on line are {PAPERS_FACTOR} times the 0.03 M that a study had off line with Weka's naive Bayes on a like machine. Here, by a second of CPU time,",
            f"with the same classes: **{value:.0f} times** ({low:.0f} to {high:.0f}). At least {PAPERS_FACTOR} times: **{verdict}**."]


def page_of(found):
    short = found["short"]
    lines = ["# How right the classes of flows are", "",
             f"{found['flows']} flows (one direction each, 4 packets or more) of {found['classes']} classes in {found['captures']} captures, whose classes payload inspection gave.",
             "They are told apart by the sizes of their first four packets alone. In cross-validation of 10 folds no capture file is on both sides; two files of one",
             "network, day or program may be. Classes of fewer than 20 flows or 2 captures are left out. Nothing was tuned: these are the defaults of `parshall train`.",
             f"The captures are not part of the project; `tools/reproduce/classes.py` writes this page ({datetime.date.today()}).", "",
             f"**Intervals** are 95 % of {found['draws']} draws of as many captures as there are, with all flows of each (bootstrap by captures): what other captures of such networks",
             "might show. They do not cover networks of which there is no capture: flows of those are told less well. Train on what is yours.", "",
             *accuracy_table(found), "",
             f"Packets and bytes: of the {found['weighed']} flows whose captures are here, told right by what they carry. Others come from lists of their first sizes.", "",
             f"{100 * short['share']:.0f} % of the {short['flows']} flows of a known class in these captures have fewer than four packets, and no class; they carry "
             f"{100 * short['packets']:.1f} % of the packets and {100 * short['bytes']:.1f} % of the bytes.", "",
             "## What it hangs on", "",
             f"The largest capture has {100 * found['largest']:.0f} % of all flows, and {100 * found['alone']['largest']:.0f} % of the {found['alone']['flows']} flows "
             f"({found['alone']['classes']} classes, {found['alone']['captures']} captures) of the captures that are here.", "", *sets_table(found), "",
             "## With both directions", "",
             f"Sizes of the first four packets there, and of the first four that came back, each direction's by `first_sizes`: {found['direction']['flows']}",
             "connections with four packets there. Watching tells one direction's class; this is what the other would add.", "",
             "| model | there | there and back | more, points |", "|---|---|---|---|",
             *(f"| {NAMES[name]} | {percent(row['there'])} | {percent(row['both'])} | {points(row['more'])} |" for name, row in found["direction"]["models"].items()), "",
             "## Saying nothing where it is unsure", "",
             "![Share told against share right of those told](reproduce/classes-reject.svg)", "", *reject_table(found["reject"]), "",
             "Naive Bayes is sure of itself when it is wrong: sizes of packets are neither normal nor independent.", "",
             "## What is taken for what", "",
             f"The forest's, in percent of the {MOST_OF_MATRIX} classes with most flows; [all as a picture](reproduce/classes-confusion.svg).", "",
             *matrix_table(found["matrix"]), *rates_section(found["rates"]), "", "## By class", "", *class_table(found["by_class"])]
    return "\n".join(lines) + "\n"
