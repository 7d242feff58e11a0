#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/accuracy-classes.md: how right the classes of flows are, ours and scikit-learn's on the same folds.

classes.py PARSHALL TRACES [--runs FOLDER]; TRACES has pcap/, labels.tsv.gz and labels_extra.tsv.gz. Needs scikit-learn
(pip install scikit-learn), which nothing else here does.
"""
import argparse
import csv
import datetime
import gzip
import json
import pathlib
import subprocess
import sys

PACKETS, FOLDS, SEED = 4, 10, 1
MODELS = ("naive-bayes", "c45")
NO_CLASS = ("", "Unknown")
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs"


def rows_of(path):
    with gzip.open(path, "rt") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def write_labels(traces, path):
    """What payload inspection said of the flows of captures, as `parshall train --labels` reads it."""
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["capture", "protocol", "src_ip", "src_port", "dst_ip", "dst_port", "class"])
        for row in rows_of(traces / "labels.tsv.gz"):
            if row["master"] not in NO_CLASS:
                out.writerow([row["file"], row["proto"], row["client"], row["cport"], row["server"], row["sport"], row["master"]])


def add_sizes(traces, samples):
    """Flows of captures that are not there themselves, by the sizes of each direction's packets."""
    with open(samples, "a", newline="") as file:
        out = csv.writer(file)
        for row in rows_of(traces / "labels_extra.tsv.gz"):
            if row["master"] in NO_CLASS:
                continue
            sizes = [int(size) for size in row["ip_sizes"].split(",") if size]
            for direction in ([size for size in sizes if size > 0], [-size for size in sizes if size < 0]):
                if len(direction) >= PACKETS:
                    out.writerow([row["master"], row["file"], *(min(size, 65535) for size in direction[:PACKETS])])


def train(parshall, kind, folder, *source):
    """The figures by class that a training run prints; all else is in the folder."""
    command = [parshall, "train", "--model", kind, *source, "--folds", str(FOLDS), "--seed", str(SEED), "--format", "json", "-o",
               str(folder / f"{kind}.toml"), "--confusion", str(folder / f"{kind}.confusion.csv"), "--write-samples",
               str(folder / f"{kind}.samples.csv")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{run.stderr}")
    return json.loads(run.stdout), run.stderr


def reference(samples, kind):
    """scikit-learn's predictions, fold by fold: the true and the predicted classes."""
    import numpy
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier
    with open(samples, newline="") as file:
        rows = list(csv.DictReader(file))
    sizes = numpy.array([[min(int(row[f"size_{i}"]), 1500) for i in range(1, PACKETS + 1)] for row in rows])
    classes = numpy.array([row["class"] for row in rows])
    folds = numpy.array([int(row["fold"]) for row in rows])
    predicted = numpy.empty_like(classes)
    for fold in range(FOLDS):
        known = folds != fold
        if kind == "naive-bayes":
            count = len(set(classes[known]))
            model = GaussianNB(priors=[1 / count] * count)
        else:
            model = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=SEED)
        predicted[~known] = model.fit(sizes[known], classes[known]).predict(sizes[~known])
    return classes, predicted


def accuracy_of(confusion):
    with open(confusion, newline="") as file:
        rows = list(csv.reader(file))
    counts = [[int(cell) for cell in row[1:]] for row in rows[1:]]
    return sum(counts[i][i] for i in range(len(counts))) / sum(map(sum, counts))


def page_of(figures, ours, theirs, samples, version):
    with open(samples, newline="") as file:
        rows = list(csv.DictReader(file))
    captures = len({row["capture"] for row in rows})
    lines = ["# How right the classes of flows are", "",
             f"{len(rows)} flows (one direction each, {PACKETS} packets or more) of {len({row['class'] for row in rows})} classes in {captures} captures, whose",
             "classes payload inspection gave. They are told apart by the sizes of their first four packets alone. In cross-validation of",
             f"{FOLDS} folds no capture file is on both sides; two files of one network, day or program may be.",
             "Classes of fewer than 20 flows or 2 captures are left out. Nothing was tuned: these are the defaults of `parshall train`.",
             "The captures are not part of the project; `tools/reproduce/classes.py` writes this page.", "",
             f"| of all flows, told right ({datetime.date.today()}) | ours | scikit-learn {version}, same folds | difference |", "|---|---|---|---|"]
    names = {"naive-bayes": "Gaussian naive Bayes, no priors", "c45": "decision tree (C4.5; scikit-learn: CART by entropy, unpruned)"}
    for kind in MODELS:
        lines.append(f"| {names[kind]} | {100 * ours[kind]:.2f} % | {100 * theirs[kind]:.2f} % | {100 * (ours[kind] - theirs[kind]):+.2f} % |")
    lines += ["", "Captures are of many networks, many of them made to show one protocol: another network's flows are told less well than one's own.",
              "Train on what is yours.", "", "## By class", "", "| class | flows | captures | naive Bayes: precision | recall | tree: precision | recall | tree: most often taken for |",
              "|---|---|---|---|---|---|---|---|"]
    trees = {row["class"]: row for row in figures["c45"]}
    share = lambda value: "-" if value is None else f"{value:.3f}"
    for row in sorted(figures["naive-bayes"], key=lambda row: -row["flows"]):
        tree = trees[row["class"]]
        other = "" if tree["taken_for"] is None else f"{tree['taken_for']} ({100 * tree['taken_for_share']:.0f} %)"
        lines.append(f"| {row['class']} | {row['flows']} | {row['captures']} | {share(row['precision'])} | {share(row['recall'])} | "
                     f"{share(tree['precision'])} | {share(tree['recall'])} | {other} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parshall")
    parser.add_argument("traces", type=pathlib.Path)
    parser.add_argument("--runs", type=pathlib.Path, default=pathlib.Path("build/classes"))
    asked = parser.parse_args()
    import sklearn
    asked.runs.mkdir(parents=True, exist_ok=True)
    labels, gathered = asked.runs / "labels.csv", asked.runs / "all.csv"
    write_labels(asked.traces, labels)
    _, said = train(asked.parshall, "naive-bayes", asked.runs, "-r", str(asked.traces / "pcap"), "--labels", str(labels),
                    "--packets", str(PACKETS), "--least-flows", "1", "--least-captures", "1")
    print(said, file=sys.stderr)
    with open(asked.runs / "naive-bayes.samples.csv", newline="") as file, open(gathered, "w", newline="") as out:
        for row in csv.reader(file):
            csv.writer(out).writerow(row[:-1])
    add_sizes(asked.traces, gathered)
    figures, ours, theirs = {}, {}, {}
    for kind in MODELS:
        printed, said = train(asked.parshall, kind, asked.runs, "--samples", str(gathered))
        print(said, file=sys.stderr)
        figures[kind] = printed["rows"]
        ours[kind] = accuracy_of(asked.runs / f"{kind}.confusion.csv")
        classes, predicted = reference(asked.runs / f"{kind}.samples.csv", kind)
        theirs[kind] = float((classes == predicted).mean())
        print(f"{kind}: ours {ours[kind]:.4f}, scikit-learn {theirs[kind]:.4f}")
    (PAGE / "accuracy-classes.md").write_text(page_of(figures, ours, theirs, asked.runs / "naive-bayes.samples.csv", sklearn.__version__))


if __name__ == "__main__":
    main()
