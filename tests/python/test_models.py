# SPDX-License-Identifier: Apache-2.0
"""Models of application classes in Python: against the command line, against scikit-learn, and against misuse.

usage: test_models.py [unittest arguments], by a Python that has parshall, pyarrow, pandas, polars and scikit-learn
"""

import csv
import pathlib
import pickle
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import warnings

import numpy
import pandas
import polars
import pyarrow
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import parshall

FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
# Of each class: port, and how large the first four packets are on average.
CLASSES = {
    "chat": (5222, (60, 120, 90, 70)),
    "files": (2121, (60, 1400, 1400, 1400)),
    "names": (5353, (80, 200, 82, 210)),
}
COLUMNS = ["class", "capture", "protocol", "src_ip", "src_port", "dst_ip", "dst_port"]
FEW = {"least_flows": 2, "folds": 3}


def command_line(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "parshall", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def udp(time_us, source, port, ip_bytes):
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, ip_bytes, 0, 0, 64, 17, 0, source, 0xC0000201)
    frame = b"\x02" * 12 + b"\x08\x00" + ip + struct.pack(">HHHH", 4000, port, ip_bytes - 20, 0) + bytes(ip_bytes - 28)
    return struct.pack("<IIII", 1600000000 + time_us // 1000000, time_us % 1000000, len(frame), len(frame)) + frame


def capture(path, number, chance, flows_of_each):
    """Writes one, and returns its labels: a dict for each flow."""
    packets, labels = [], []
    for index, (name, (port, means)) in enumerate(CLASSES.items()):
        for flow in range(flows_of_each):
            source = 0x0A000000 + (number << 16) + (index << 8) + flow
            address = ".".join(str(byte) for byte in source.to_bytes(4, "big"))
            labels.append(dict(zip(COLUMNS, (name, path.name, "udp", address, 4000, "192.0.2.1", port))))
            packets += [
                (packet * 1000 + flow, source, port, max(40, round(chance.gauss(means[packet], 20))))
                for packet in range(4)
            ]
    path.write_bytes(FILE_HEADER + b"".join(udp(*packet) for packet in sorted(packets)))
    return labels


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="parshall-models-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "captures").mkdir()
        chance = random.Random(5)
        cls.captures = [cls.folder / "captures" / f"capture{number}.pcap" for number in range(6)]
        cls.labels = [label for number, path in enumerate(cls.captures) for label in capture(path, number, chance, 30)]
        cls.labels_csv = cls.folder / "labels.csv"
        with open(cls.labels_csv, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(cls.labels)

    def trained(self, **settings):
        return parshall.train(self.captures, self.labels, **FEW, **settings)


def without_origin(text):
    return [line for line in text.splitlines() if not line.startswith("command = ")]


def of_sizes_alone(text):
    """Without the classes of ports, which samples say nothing of."""
    sizes, tables = re.subn(r"# A flow with fewer packets.*?(?=^\[c45\])", "", text, flags=re.DOTALL | re.MULTILINE)
    assert tables == 1
    return without_origin(sizes)


class Training(Case):
    def test_models_are_those_of_the_command_line(self):
        for settings in (
            {},
            {"model": "c45", "confidence": 0.1, "least_branch": 3},
            {"model": "forest", "trees": 3},
            {"packets": 2, "reject": 0.6, "priors": True, "longest": 1000},
            {"model": "c45", "seed": 7, "folds": 5},
            {"variance_floor": 9.5, "idle": "1s", "least_captures": 3},
        ):
            with self.subTest(settings):
                ours, theirs = self.folder / "ours.toml", self.folder / "theirs.toml"
                model = parshall.train(self.captures, self.labels, **{**FEW, **settings})
                model.save(ours)
                options = [
                    f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
                    for name, value in {**FEW, **settings}.items()
                ]
                done = command_line("train", "-r", *self.captures, "--labels", self.labels_csv, "-o", theirs, *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(without_origin(ours.read_text()), without_origin(theirs.read_text()))
                self.assertIn("parshall train: " + model.notes[-1], done.stderr)
                self.assertIn(f"{model.evaluation.accuracy:.4f} of 540 flows are classified correctly", done.stdout)

    def test_bad_rows_of_labels_are_noted_or_refused(self):
        labels = [*self.labels[:1], {**self.labels[0], "protocol": "x"}, *self.labels[1:]]
        model = parshall.train(self.captures, labels, **FEW)
        self.assertEqual(without_origin(model._native.text), without_origin(self.trained()._native.text))
        note = "warning: 1 bad line is skipped in labels, and 540 used; the first: labels, line 3: protocol"
        self.assertTrue(any(text.startswith(note) for text in model.notes), model.notes)
        with self.assertRaisesRegex(parshall.Error, 'labels, line 3: protocol "x"'):
            parshall.train(self.captures, labels, strict=True, **FEW)

    def test_labels_may_be_a_parquet_file(self):
        path = self.folder / "labels.parquet"
        pandas.DataFrame(self.labels).to_parquet(path)
        model = parshall.train(self.captures, path, **FEW)
        self.assertEqual(without_origin(model._native.text), without_origin(self.trained()._native.text))
        self.assertIn(f"{path} is Parquet: 540 flows of a known class, and 0 rows without one", model.notes)

    def test_labels_come_in_any_form(self):
        rows = [COLUMNS] + [list(label.values()) for label in self.labels]
        frame = pandas.DataFrame(self.labels)
        numbered = (
            frame.assign(protocol=17.0, src_port=frame["src_port"].astype(float), more=None)
            .set_index("class", drop=False)
            .rename_axis("index")
        )
        forms = {
            "path": self.labels_csv,
            "text path": str(self.labels_csv),
            "dicts": self.labels,
            "rows": rows,
            "tuples": map(tuple, rows),
            "pandas": frame,
            "pandas with an index, categories and floats": numbered.astype({"class": "category"}),
            "polars": polars.DataFrame(self.labels),
            "arrow": pyarrow.Table.from_pylist(self.labels),
        }
        expected = without_origin(self.trained()._native.text)
        for form, labels in forms.items():
            with self.subTest(form):
                self.assertEqual(without_origin(parshall.train(self.captures, labels, **FEW)._native.text), expected)

    def test_numbers_of_numpy_will_do(self):
        model = self.trained(packets=numpy.int64(2), reject=numpy.float64(0.5), seed=numpy.uint16(3))
        self.assertEqual((model.packets, model.reject), (2, 0.5))
        with parshall.flows(self.captures[0], count=numpy.int32(50), quantile_error=numpy.float64(0.1)) as flows:
            self.assertEqual(sum(flow.packets for flow in flows), 50)

    def test_folders_rules_and_samples(self):
        expected = self.trained()
        rules = [f"{name}=udp port {port}" for name, (port, _) in CLASSES.items()]
        self.assertEqual(parshall.train(self.folder / "captures", rules=rules, **FEW).classes, expected.classes)
        samples = self.folder / "samples.csv"
        done = command_line(
            "train",
            "-r",
            *self.captures,
            "--labels",
            self.labels_csv,
            "-o",
            "/dev/null",
            "--write-samples",
            samples,
            "--least-flows=2",
            "--folds=3",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [
            ["class", "capture", "size_1", "size_2"],
            *(["a", i % 4, 60 + i, None if i % 3 else 70] for i in range(30)),
            *(["b", i % 4, 900.0 + i, float("nan")] for i in range(30)),
        ]
        text = "\n".join(
            ",".join(
                "" if cell is None or cell != cell else f"{cell:g}" if isinstance(cell, float) else str(cell)
                for cell in row
            )
            for row in rows
        )
        (self.folder / "some.csv").write_text(text)
        some = [
            parshall.train(samples=given, folds=2, least_flows=2)
            for given in (rows, self.folder / "some.csv", pandas.DataFrame(rows[1:], columns=rows[0]))
        ]
        self.assertEqual(
            [without_origin(model._native.text) for model in some], [without_origin(some[0]._native.text)] * 3
        )
        self.assertEqual(some[0].predict([[75, None], [915, None]]), ["a", "b"])
        for given in (samples, pandas.read_csv(samples), polars.read_csv(samples)):
            self.assertEqual(
                without_origin(parshall.train(samples=given, **FEW)._native.text), of_sizes_alone(expected._native.text)
            )

    def test_what_a_model_tells_of_itself(self):
        model = self.trained()
        self.assertEqual(
            (model.kind, model.classes, model.packets, model.longest, model.reject),
            ("c45", ["chat", "files", "names"], 4, 1500, 0.0),
        )
        self.assertEqual(model.flows, {"chat": 180, "files": 180, "names": 180})
        right = sum(model.confusion[name][name] for name in model.classes)
        self.assertEqual(model.evaluation.accuracy, right / 540)
        self.assertEqual(model.evaluation.recall, {name: model.confusion[name][name] / 180 for name in model.classes})
        self.assertEqual(sum(sum(row.values()) for row in model.confusion.values()), 540)
        self.assertGreater(model.evaluation.accuracy, 0.95)
        path = self.folder / "model.toml"
        model.save(path)
        again = parshall.Model.load(path)
        self.assertEqual(
            (again._native.text, again.evaluation, again.confusion), (model._native.text, model.evaluation, None)
        )
        self.assertEqual(pickle.loads(pickle.dumps(model))._native.text, model._native.text)

    def test_errors_are_those_of_the_command_line(self):
        cases = (
            ({"packets": 99}, ["--packets=99"]),
            ({"reject": 1.5}, ["--reject=1.5"]),
            ({"variance_floor": 2e9}, ["--variance-floor=2000000000"]),
            ({"longest": 63}, ["--longest=63"]),
            ({"model": "oracle"}, ["--model=oracle"]),
            ({"trees": 257}, ["--trees=257"]),
            ({"idle": "5x"}, ["--idle=5x"]),
            ({"folds": 1}, ["--folds=1"]),
            ({"least_branch": 0}, ["--least-branch=0"]),
            ({"confidence": 0.75}, ["--confidence=0.75"]),
            ({"least_flows": 1000}, ["--least-flows=1000"]),
            ({"folds": 99}, ["--folds=99"]),
            ({"rules": ["x"]}, ["--rule=x"]),
            ({"rules": ["unknown=tcp"]}, ["--rule=unknown=tcp"]),
            ({"rules": ["a=tcp prot 1"]}, ["--rule=a=tcp prot 1"]),
            ({"samples": "/nonexistent"}, ["--samples=/nonexistent"]),
            (
                {"longest": 65535, "packets": 16, "source": "/nonexistent.pcap"},
                ["--longest=65535", "--packets=16", "-r", "/nonexistent.pcap"],
            ),
            ({"labels": "/nonexistent"}, ["--labels", "/nonexistent"]),
        )
        for settings, options in cases:
            with self.subTest(settings):
                given = {"source": self.captures, "labels": self.labels_csv, **settings}
                words = [] if "-r" in options else ["-r", *self.captures]
                words += [] if "--labels" in options else ["--labels", self.labels_csv]
                done = command_line("train", *words, *options, "-o", self.folder / "no.toml")
                self.assertNotEqual(done.returncode, 0)
                with self.assertRaises(parshall.Error) as caught:
                    parshall.train(given.pop("source"), given.pop("labels"), **given)
                self.assertIn(str(caught.exception), done.stderr)
        with self.assertRaisesRegex(parshall.Error, 'labels, line 2: protocol "x" is neither a number'):
            parshall.train(self.captures, [{**self.labels[0], "protocol": "x"}])
        with self.assertRaisesRegex(parshall.Error, "labels, line 1: .*dst_port is missing"):
            parshall.train(self.captures, [{"class": "x", "protocol": 6, "src_ip": "", "src_port": 1, "dst_ip": ""}])
        with self.assertRaisesRegex(parshall.Error, "packtes is no setting of parshall train"):
            self.trained(packtes=3)
        for call in (
            lambda: parshall.train(self.captures, 3),
            lambda: parshall.train(3, self.labels),
            lambda: self.trained(packets="four"),
            lambda: self.trained(packets=4.5),
            lambda: self.trained(folds=-1),
            lambda: self.trained(reject=None, model=3.5j),
            lambda: parshall.train(self.captures, [{}, 3]),
            lambda: parshall.train(self.captures, {"class": ["x"]}),
            lambda: parshall.Model(),
            lambda: parshall.Model(3),
        ):
            with self.assertRaises(TypeError):
                call()

    def test_ctrl_c_ends_it_soon(self):
        samples = self.folder / "many.csv"
        chance = numpy.random.default_rng(1)
        pandas.DataFrame(
            {
                "class": chance.integers(0, 30, 400_000),
                "capture": chance.integers(0, 20, 400_000),
                **{f"size_{i + 1}": chance.integers(40, 1500, 400_000) for i in range(8)},
            }
        ).to_csv(samples, index=False)
        code = f"""
            import parshall, signal, sys, time
            signal.signal(signal.SIGINT, signal.default_int_handler)
            print("begins", flush=True)
            try:
                parshall.train(samples={str(samples)!r}, model="c45")
            except KeyboardInterrupt:
                print(time.monotonic())
        """
        for wait in (0.2, 1, 2):
            process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
            self.assertEqual(process.stdout.readline(), "begins\n")
            time.sleep(wait)
            asked = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
            self.assertLess(float(out) - asked, 0.1)


class Predicting(Case):
    def test_flows_get_the_classes_that_predict_says(self):
        for settings in ({}, {"reject": 0.999}, {"model": "c45"}):
            model = self.trained(**settings)
            path = self.folder / "model.toml"
            model.save(path)
            theirs = command_line(
                "classify",
                "-r",
                self.captures[0],
                "--model",
                path,
                "--columns",
                "+class,first_sizes_4",
                "--format",
                "csv",
                "-q",
            ).stdout
            expected = sorted(tuple(row.values()) for row in csv.DictReader(theirs.splitlines()))
            self.assertEqual(len(expected), 90)
            for given in (model, path, str(path)):
                with parshall.classify(self.captures[0], model=given, columns=["+class", "first_sizes_4"]) as flows:
                    frame = flows.to_pandas()
                self.assertEqual(
                    sorted(frame["class"]),
                    sorted(
                        row[list(csv.DictReader(theirs.splitlines()).fieldnames).index("class")] for row in expected
                    ),
                )
            sizes = (
                frame[[f"first_size_{i}" for i in range(1, 5)]]
                if "first_size_1" in frame
                else frame.filter(like="size_")
            )
            self.assertEqual(list(model.predict(sizes.to_numpy())), list(frame["class"]))
            self.assertEqual(model.predict(sizes.to_numpy().tolist()), list(frame["class"]))

    def test_rows_have_the_class_too(self):
        with parshall.classify(self.captures[0], model=self.trained()) as flows:
            classes = sorted(flow.class_ for flow in flows)
        with parshall.classify(self.captures[0], model=self.trained()) as flows:
            self.assertEqual(classes, sorted(flows.to_pandas()["class"]))

    def test_frames_of_sizes_are_arrays_and_text_is_none(self):
        model = self.trained(model="naive-bayes")
        sizes = numpy.random.default_rng(4).integers(
            1, 1600, (4, 4)
        )  # as many flows as packets: rows and columns could be taken for each other
        expected = list(model.predict(sizes))
        self.assertNotEqual(expected, list(model.predict(sizes.T)))
        columns = [f"size_{i}" for i in range(4)]
        for frame in (pandas.DataFrame(sizes, columns=columns), polars.DataFrame(sizes, schema=columns)):
            self.assertEqual(list(model.predict(frame)), expected)
        for text in ([["1", "2", "3", "4"]], ["1234"], [[b"1", 2, 3, 4]]):
            with self.assertRaises(ValueError):
                model.predict(text)

    def test_sizes_of_any_type_are_the_same(self):
        model = self.trained(model="naive-bayes", reject=0.9)
        sizes = numpy.random.default_rng(3).integers(1, 1600, (5000, 4))
        expected = model.predict(sizes)
        self.assertEqual(set(expected), {"chat", "files", "names", "unknown"})
        for other in (sizes.astype(numpy.uint16), sizes.astype(float), numpy.asfortranarray(sizes), sizes[::-1][::-1]):
            self.assertEqual(model.predict(other).tolist(), expected.tolist())
        for other in (sizes.tolist(), [tuple(map(float, row)) for row in sizes.tolist()], map(list, sizes)):
            self.assertEqual(model.predict(other), expected.tolist())
        self.assertEqual((model.predict([]), model.predict(numpy.zeros((0, 4))).tolist()), ([], []))

    def test_missing_sizes_are_left_out(self):
        model = self.trained(model="naive-bayes")
        self.assertEqual(model.predict([[60, None, float("nan"), 1400], [0, 0, 90, 70]]), ["files", "chat"])
        self.assertEqual(model.predict(numpy.array([[60, numpy.nan, 0, 1400]])).tolist(), ["files"])

    def test_sizes_that_are_none(self):
        model = self.trained()
        for sizes in (
            [[1, 2, 3]],
            [[1, 2, 3, 4, 5]],
            [[1, 2, 3, -1]],
            [[1, 2, 3, 65536]],
            [[1, 2, 3, 4.5]],
            [[1, 2, 3, "x"]],
            numpy.zeros(4),
            numpy.zeros((2, 3)),
            numpy.full((1, 4), -1),
            numpy.full((1, 4), 65536),
            numpy.full((1, 4), 4.5),
            numpy.full((1, 4), numpy.inf),
            numpy.array([["1"] * 4]),
            numpy.zeros((1, 4), complex),
        ):
            with self.subTest(sizes=sizes), self.assertRaises(ValueError):
                model.predict(sizes)
        for sizes in (None, 3, [3]):
            with self.subTest(sizes=sizes), self.assertRaises(TypeError):
                model.predict(sizes)

    def test_models_that_are_none(self):
        for model, message in (("/nonexistent.toml", "there is no such file"), (__file__, "line 2")):
            with self.assertRaisesRegex(parshall.Error, message):
                parshall.classify(self.captures[0], model=model)
        with self.assertRaises(parshall.Error):
            parshall.Model.load("/nonexistent.toml")
        with self.assertRaises(TypeError):
            parshall.Model.load(3)
        with self.assertRaises(TypeError):
            parshall.classify(self.captures[0], model=object())


def traffic(chance, flows, packets=4, classes=5):
    """Sizes as of packets, and classes that go by them more or less."""
    means = chance.integers(40, 1500, (classes, packets))
    labels = chance.integers(0, classes, flows)
    sizes = chance.normal(means[labels], chance.integers(1, 300, (classes, packets))[labels])
    return numpy.clip(numpy.rint(sizes), 1, 1500).astype(int), numpy.array([f"class {label}" for label in labels])


class ScikitLearn(Case):
    RANDOM = 20000  # sizes, all over, that models have to agree about

    def agree(self, model, estimator, sizes, most=65535):
        everywhere = numpy.random.default_rng(9).integers(1, most + 1, (self.RANDOM, model.packets))
        for asked in (sizes, everywhere, numpy.minimum(everywhere, 1500)):
            self.assertEqual((model.predict(asked) != estimator.predict(asked).astype(str)).sum(), 0)

    def test_what_is_imported_predicts_the_same(self):
        chance = numpy.random.default_rng(2)
        for packets, classes in ((1, 2), (4, 5), (8, 20), (16, 3)):
            sizes, labels = traffic(chance, 3000, packets, classes)
            weights = chance.random(3000)
            for estimator in (
                GaussianNB(),
                GaussianNB(priors=numpy.full(classes, 1 / classes), var_smoothing=1e-3),
                DecisionTreeClassifier(random_state=1),
                DecisionTreeClassifier(max_depth=3, criterion="entropy", random_state=1),
                DecisionTreeClassifier(min_samples_leaf=20, class_weight="balanced"),
                DecisionTreeClassifier(max_leaf_nodes=2),
                ExtraTreeClassifier(random_state=1),
            ):
                with self.subTest(packets=packets, estimator=estimator):
                    estimator.fit(sizes, labels, weights if packets == 8 else None)
                    model = parshall.Model.from_sklearn(estimator)
                    self.agree(model, estimator, sizes)
                    self.assertEqual(model.classes, list(estimator.classes_))

    def test_an_imported_forest_predicts_the_same(self):
        """Trees to their pure leaves, whose means are whole shares: those of impure ones may be alike but for the last
        digit."""
        chance = numpy.random.default_rng(8)
        for packets, classes, trees in ((1, 2, 1), (4, 5, 10), (4, 20, 64), (16, 3, 256)):
            with self.subTest(packets=packets, trees=trees):
                sizes, labels = traffic(chance, 1000, packets, classes)
                estimator = RandomForestClassifier(trees, random_state=1).fit(
                    numpy.unique(sizes, axis=0), labels[numpy.unique(sizes, axis=0, return_index=True)[1]]
                )
                model = parshall.Model.from_sklearn(estimator)
                self.assertEqual(model.kind, "forest")
                self.agree(model, estimator, sizes)

    def test_up_to_the_longest(self):
        sizes, labels = traffic(numpy.random.default_rng(4), 3000)
        for estimator in (GaussianNB(), DecisionTreeClassifier(), RandomForestClassifier(10, random_state=1)):
            estimator.fit(sizes, labels)
            model = parshall.Model.from_sklearn(estimator, longest=700)
            self.agree(model, estimator, numpy.minimum(sizes, 700), 700)
            self.assertEqual(list(model.predict(sizes)), list(estimator.predict(numpy.minimum(sizes, 700))))

    def test_ties_and_classes_of_numbers(self):
        estimator = DecisionTreeClassifier(max_depth=1).fit([[60], [60], [1000], [1000]], [7, 3, 3, 7])
        self.assertEqual(list(parshall.Model.from_sklearn(estimator).predict([[60], [1000]])), ["3", "3"])
        weights = [1e7, 1e7 + 1]  # less than a millionth apart
        with self.assertRaisesRegex(parshall.Error, "less than a millionth"):
            parshall.Model.from_sklearn(DecisionTreeClassifier().fit([[60], [60]], ["a", "b"], weights))

    def test_imported_models_classify_traffic(self):
        sizes, labels = [], []
        with parshall.classify(self.captures[0], model=self.trained(), columns=["+class", "first_sizes_4"]) as flows:
            frame = flows.to_pandas()
        sizes = frame.filter(like="size").to_numpy()
        labels = frame["class"].to_numpy().astype(str)
        for estimator in (GaussianNB(), DecisionTreeClassifier()):
            model = parshall.Model.from_sklearn(estimator.fit(sizes, labels))
            with parshall.classify(self.captures[1], model=model, columns=["+class", "first_sizes_4"]) as flows:
                frame = flows.to_pandas()
            self.assertEqual(list(frame["class"]), list(estimator.predict(frame.filter(like="size").to_numpy())))

    def test_what_is_exported_predicts_the_same(self):
        for settings in (
            {},
            {"priors": True},
            {"packets": 2},
            {"model": "c45"},
            {"model": "c45", "confidence": 0},
            {"model": "c45", "packets": 3, "longest": 300},
        ):
            with self.subTest(settings):
                model = parshall.train(self.captures, self.labels[:-80], **FEW, **settings)  # fewer of the last class
                estimator = model.to_sklearn()
                self.agree(
                    model,
                    estimator,
                    numpy.random.default_rng(1).integers(1, model.longest + 1, (20000, model.packets)),
                    model.longest,
                )
                again = parshall.Model.from_sklearn(pickle.loads(pickle.dumps(estimator)), longest=model.longest)
                self.agree(again, estimator, numpy.ones((1, model.packets), int), model.longest)

    def test_a_tree_of_scikit_learn_comes_back(self):
        sizes, labels = traffic(numpy.random.default_rng(6), 3000)
        estimator = DecisionTreeClassifier().fit(sizes, labels)
        again = parshall.Model.from_sklearn(estimator).to_sklearn()
        self.assertEqual((again.get_depth(), again.get_n_leaves()), (estimator.get_depth(), estimator.get_n_leaves()))
        self.agree(parshall.Model.from_sklearn(again), estimator, sizes)

    def test_what_no_model_says(self):
        sizes, labels = traffic(numpy.random.default_rng(4), 300)
        for estimator, message in (
            (LogisticRegression(max_iter=10), "no other says the same"),
            (CategoricalNB(), "no other says the same"),
            (3, "no other says the same"),
            (ExtraTreesClassifier(5), "no other says the same"),
            (RandomForestClassifier(257, max_depth=1), "257 trees: a forest of parshall has 256 at most"),
            (GaussianNB(), "not fitted"),
            (DecisionTreeClassifier(), "not fitted"),
        ):
            if hasattr(estimator, "fit") and message != "not fitted":
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    estimator.fit(sizes, labels)
            with self.subTest(estimator), self.assertRaisesRegex(parshall.Error, message):
                parshall.Model.from_sklearn(estimator)
        with self.assertRaisesRegex(parshall.Error, "several outputs"):
            parshall.Model.from_sklearn(DecisionTreeClassifier().fit(sizes, numpy.column_stack([labels, labels])))
        with self.assertRaisesRegex(parshall.Error, "mean must be a number from 0"):
            parshall.Model.from_sklearn(GaussianNB().fit(sizes - sizes.mean(axis=0), labels))
        with self.assertRaisesRegex(parshall.Error, "packets must be a whole number from 1 to 16"):
            parshall.Model.from_sklearn(GaussianNB().fit(numpy.tile(sizes, 5), labels))
        with self.assertRaisesRegex(parshall.Error, "cannot be the name of a class"):
            parshall.Model.from_sklearn(GaussianNB().fit(sizes, numpy.char.add(labels, ",")))
        with self.assertRaisesRegex(parshall.Error, "longest=3"):
            parshall.Model.from_sklearn(GaussianNB().fit(sizes, labels), longest=3)
        with self.assertRaisesRegex(parshall.Error, "reject"):
            self.trained(reject=0.5).to_sklearn()
        with self.assertRaisesRegex(parshall.Error, "a forest cannot be made one"):
            self.trained(model="forest", trees=2).to_sklearn()


if __name__ == "__main__":
    unittest.main()
