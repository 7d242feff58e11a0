#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the data sets beside this file, and what scikit-learn and Weka make of them.

To install, in a directory of its own:
  python3 -m venv venv && venv/bin/pip install scikit-learn
  mvn -f THIS_FOLDER/pom.xml dependency:copy-dependencies -DoutputDirectory=$PWD/weka
and then, with Java 17:
  venv/bin/python THIS_FOLDER/make_reference.py weka

SET.csv        samples as the program reads them
SET.bayes.csv  GaussianNB: for each class `theta`, the means, and `var`, the variances of each packet's sizes, and the
               classes predicted with uniform and with empirical priors. scikit-learn adds to all variances alike
               (var_smoothing) where the program has a floor, so it smooths nothing here (var_smoothing=0), and its
               variances are raised to the floor of 1/12 by hand before it predicts. It knows no missing sizes: means
               and variances are numpy's of the sizes there are, and only flows with all sizes are predicted, others -1.
               A flow is also -1 where the two likeliest classes are alike to 1e-9. Not of the sets varied_*.
SET.OPTIONS.csv  J48: the tree level by level, `split,packet,size` (from 0; up to that size is the next child that no
               node before it led to) and `leaf,flows of each class`; then the class predicted for each flow.
"""

import csv
import pathlib
import subprocess
import sys
import warnings

import numpy as np
from sklearn.naive_bayes import GaussianNB

HERE = pathlib.Path(__file__).parent
FLOOR = 1 / 12
# A subtree is pruned again once it was raised; a tenth of a class's fair part is 25 flows at most; gains may be below
# the average by 0.001; a leaf errs on a part of a flow; gains that differ by 1e-6 are alike; of two branches alike the
# upper is the larger.
DETAILS = [220, 36, 264, 266, 310, 389]
TREES = {"default": "-C 0.25 -M 2", "unpruned": "-U -M 2", "c10m5": "-C 0.1 -M 5", "c50m1": "-C 0.5 -M 1"}


def normal(random, means, deviations, flows):
    return np.clip(np.rint(random.normal(means, deviations, (flows, len(means)))), 40, 1500).astype(int)


def blobs(random, classes, flows, packets, spread, captures):
    """Each class has sizes about a few of its own."""
    rows = []
    for number in range(classes):
        means = random.uniform(60, 1400, packets)
        for sizes in normal(random, means, random.uniform(spread / 8, spread, packets), flows // classes):
            rows.append((f"app{number}", f"c{random.integers(captures)}", list(sizes)))
    return rows


def mixed(random, flows, captures):
    """As of applications: handshakes that are all alike, full packets, and texts of any length."""
    shapes = {
        "dns": lambda: [*random.integers([55, 70, 55, 70], [80, 512, 80, 512])],
        "web": lambda: [60, 52, random.choice([564, 569]) + random.integers(0, 40), random.choice([1500, 1420, 1400])],
        "mail": lambda: [60, 52 + 12 * random.integers(0, 2), random.integers(70, 140), random.integers(60, 300)],
        "voice": lambda: [random.choice([60, 200, 200, 214]), 200, 200, 200 + 14 * random.integers(0, 2)],
        "bulk": lambda: [60, 52, 1500, 1500],
        "chat": lambda: [60, random.choice([52, 64]), random.integers(80, 900), random.integers(52, 1500)],
    }
    return [
        (name, f"{name[0]}{random.integers(captures)}", [int(size) for size in shapes[name]()])
        for name in random.permutation(np.repeat(list(shapes), flows // len(shapes)))
    ]


def mislabelled(random, rows, share):
    names = sorted({row[0] for row in rows})
    return [(str(random.choice(names)) if random.random() < share else row[0], *row[1:]) for row in rows]


def with_missing(random, rows, share):
    """Later packets are missing more often, and after one that is missing all are, or any."""
    for name, capture, sizes in rows:
        ends = random.random() < share
        first = random.integers(1, len(sizes) + 1) if ends else len(sizes)
        holes = random.random(len(sizes)) < share / 10
        yield name, capture, ["" if at >= first or holes[at] else size for at, size in enumerate(sizes)]


def varied(seed):
    """Of any kind: some of these are so that J48 depends on a detail of its rules."""
    random = np.random.default_rng(10000 + seed)
    kind, flows = seed % 4, int(random.integers(100, 1500))
    if kind in (0, 3):
        classes = int(random.integers(2, 13 if kind == 0 else 8))
        packets = int(random.integers(1, 6 if kind == 0 else 8))
        rows = blobs(random, classes, flows, packets, float(random.integers(30, 900)), 9)
    else:
        rows = mixed(random, flows, 6)
    rows = mislabelled(random, rows, float(random.random() * (0.5 if kind == 1 else 0.4)))
    if kind >= 2:
        rows = list(with_missing(random, rows, float(random.random())))
    if random.random() < 0.3:
        rows = [(*row[:2], ["" if size == "" else 40 + (size - 40) // 60 for size in row[2]]) for row in rows]
    return [rows[row] for row in random.permutation(len(rows))] if random.random() < 0.5 else rows


def data_sets():
    make = np.random.default_rng
    yield "two", mislabelled(make(1), blobs(make(14), 2, 400, 4, 700, 5), 0.05)
    yield "twelve", blobs(make(2), 12, 900, 4, 400, 12)
    yield "mixed", mixed(make(3), 500, 6)
    yield "mislabelled", mislabelled(make(5), mixed(make(6), 800, 6), 0.15)
    yield "missing", list(with_missing(make(7), mislabelled(make(8), mixed(make(9), 800, 6), 0.1), 0.3))
    yield "one_packet", mislabelled(make(12), blobs(make(13), 3, 300, 1, 400, 4), 0.1)
    for seed in DETAILS:
        yield f"varied_{seed}", varied(seed)


def write_bayes(name, rows):
    numbers = {}
    classes = np.array([numbers.setdefault(row[0], len(numbers)) for row in rows])
    sizes = np.array([[float(size) if size != "" else np.nan for size in row[2]] for row in rows])
    whole = ~np.isnan(sizes).any(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theta = np.array([np.nanmean(sizes[classes == number], axis=0) for number in numbers.values()])
        var = np.array([np.nanvar(sizes[classes == number], axis=0) for number in numbers.values()])
    shares = np.bincount(classes) / len(classes)
    with open(HERE / f"{name}.bayes.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerows(["theta", *map(repr, map(float, means))] for means in theta)
        out.writerows(["var", *map(repr, map(float, variances))] for variances in var)
        for kind, priors in (("uniform", np.full(len(numbers), 1 / len(numbers))), ("empirical", shares)):
            bayes = GaussianNB(priors=priors, var_smoothing=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the variances that are 0 until they are raised
                bayes.fit(sizes[whole], classes[whole])
            if whole.all():
                assert np.allclose(bayes.theta_, theta, rtol=1e-12) and np.allclose(bayes.var_, var, rtol=1e-9)
            bayes.theta_, bayes.var_ = theta, np.maximum(var, FLOOR)
            best = np.sort(bayes.predict_joint_log_proba(sizes[whole]), axis=1)
            tied = best[:, -1] - best[:, -2] < 1e-9 * np.abs(best[:, -1])
            predicted = np.full(len(rows), -1)
            predicted[whole] = np.where(tied, -1, bayes.predict(sizes[whole]))
            out.writerow([kind, *predicted])


def main():
    weka = sys.argv[1]
    for name, rows in data_sets():
        samples = HERE / f"{name}.csv"
        with open(samples, "w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(["class", "capture", *(f"size_{packet + 1}" for packet in range(len(rows[0][2])))])
            out.writerows([row[0], row[1], *row[2]] for row in rows)
        if not name.startswith("varied"):
            write_bayes(name, rows)
        for variant, options in TREES.items():
            answers = HERE / f"{name}.{variant}.csv"
            subprocess.run(["java", "-cp", f"{weka}/*", HERE / "J48Trees.java", samples, answers, options], check=True)


if __name__ == "__main__":
    main()
