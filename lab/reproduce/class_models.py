# SPDX-License-Identifier: Apache-2.0
"""What models take flows for in cross-validation by captures, for classes.py: ours, and others on the same folds."""

import csv
import json
import subprocess
import sys

import numpy

PACKETS, FOLDS, SEED = 4, 10, 1
LONGEST = 1500
OURS = {  # name: options of parshall train
    "naive-bayes": ["--model", "naive-bayes"],
    "naive-bayes-priors": ["--model", "naive-bayes", "--priors"],
    "c45": ["--model", "c45"],
    "forest": ["--model", "forest"],
}


class Told:
    """Flows with their classes, and what each was taken for: numbers of names, -1: unknown."""

    def __init__(self, names, classes, captures, folds, predicted, likeliest=None):
        self.names, self.classes, self.captures, self.folds = names, classes, captures, folds
        self.predicted, self.likeliest = predicted, likeliest

    @property
    def right(self):
        return self.predicted == self.classes

    def by(self, predicted):
        """The same flows, as others take them."""
        return Told(self.names, self.classes, self.captures, self.folds, predicted)


def train(parshall, options, samples, stem):
    """Runs `parshall train` on a file of samples; files beside `stem` get what it finds. What it says."""
    command = [
        parshall,
        "train",
        *options,
        "--samples",
        samples,
        "--folds",
        str(FOLDS),
        "--seed",
        str(SEED),
        "--format",
        "json",
    ]
    for option, ending in (
        ("-o", "toml"),
        ("--confusion", "confusion.csv"),
        ("--predictions", "told.csv"),
        ("--write-samples", "samples.csv"),
    ):
        command += [option, f"{stem}.{ending}"]
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{run.stderr}")
    with open(f"{stem}.json", "w") as file:
        file.write(run.stdout)
    return run.stderr


def figures_by_class(stem):
    with open(f"{stem}.json") as file:
        return {row["class"]: row for row in json.load(file)["rows"]}


def told_by(stem):
    with open(f"{stem}.told.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    names = sorted({row["class"] for row in rows})
    number = {name: place for place, name in enumerate(names)} | {"unknown": -1}
    column = lambda name: numpy.array([number[row[name]] for row in rows])
    return Told(
        names,
        column("class"),
        numpy.array([row["capture"] for row in rows]),
        numpy.array([int(row["fold"]) for row in rows]),
        column("taken_for"),
        numpy.array([float(row["probability"]) for row in rows]),
    )


def sizes_of(stem):
    with open(f"{stem}.samples.csv", newline="") as file:
        return numpy.array(
            [[int(row[f"size_{number}"]) for number in range(1, PACKETS + 1)] for row in csv.DictReader(file)]
        )


def majority(sizes, classes):
    return lambda unseen: numpy.full(len(unseen), numpy.bincount(classes).argmax())


def gaussian(sizes, classes):
    from sklearn.naive_bayes import GaussianNB

    count = len(set(classes))
    return GaussianNB(priors=[1 / count] * count).fit(sizes, classes).predict


def cart(sizes, classes):
    from sklearn.tree import DecisionTreeClassifier

    return (
        DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=SEED).fit(sizes, classes).predict
    )


def random_forest(sizes, classes):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, random_state=SEED, n_jobs=-1).fit(sizes, classes).predict


def boosted(sizes, classes):
    from lightgbm import LGBMClassifier

    # With the default of 0.001, leaves of rare classes become so heavy that fewer flows are told right than by
    # guessing.
    model = LGBMClassifier(
        n_estimators=50,
        num_leaves=15,
        min_child_weight=1,
        reg_lambda=1,
        random_state=SEED,
        deterministic=True,
        force_col_wise=True,
        n_jobs=1,
        verbose=-1,
    )
    model.fit(sizes, classes)
    return lambda unseen: model.classes_[model.booster_.predict(unseen).argmax(axis=1)]


def histograms(sizes, classes):
    """Naive Bayes by a histogram for each class and packet, with priors; sizes that a class never had count as a
    hundredth of a flow among all of them."""
    count, none = classes.max() + 1, 0.01
    flows = numpy.bincount(classes, minlength=count)
    seen = [numpy.zeros((count, LONGEST + 1)) for _ in range(PACKETS)]
    for packet, of_packet in enumerate(seen):
        numpy.add.at(of_packet, (classes, sizes[:, packet]), 1)

    def tell(unseen):
        scores = numpy.tile(numpy.log(numpy.maximum(flows, 1e-9)), (len(unseen), 1))
        for packet, of_packet in enumerate(seen):
            shares = (of_packet + none / (LONGEST + 1)) / (flows[:, None] + none)
            scores += numpy.log(shares)[:, unseen[:, packet]].T
        scores[:, flows == 0] = -numpy.inf
        return scores.argmax(axis=1)

    return tell


def backing_off(sizes, classes):
    """Classes of the flows of the same first size, of those the ones of the same second, and so on, each mixed with
    those before it (Witten and Bell 1991)."""
    count = classes.max() + 1
    seen = {}
    for row, of in zip(sizes.tolist(), classes):
        for length in range(PACKETS + 1):
            seen.setdefault(tuple(row[:length]), numpy.zeros(count))[of] += 1

    def tell_one(row):
        mixed = numpy.full(count, 1 / count)
        for length in range(PACKETS + 1):
            of_these = seen.get(tuple(row[:length]))
            if of_these is None:
                break
            novel = (of_these > 0).sum()
            mixed = (of_these + novel * mixed) / (of_these.sum() + novel)
        return mixed.argmax()

    return lambda unseen: numpy.array([tell_one(row) for row in unseen.tolist()])


OTHERS = {
    "majority": majority,
    "gaussian": gaussian,
    "cart": cart,
    "random-forest": random_forest,
    "boosted": boosted,
    "histograms": histograms,
    "backing-off": backing_off,
}


def cross_validated(learn, sizes, told):
    """learn(sizes, classes) gives what tells classes of other sizes."""
    predicted = numpy.full(len(told.classes), -1)
    for fold in range(FOLDS):
        unseen = told.folds == fold
        predicted[unseen] = learn(sizes[~unseen], told.classes[~unseen])(sizes[unseen])
    return predicted
