# SPDX-License-Identifier: Apache-2.0
"""train and classify as users meet them: from captures and labels to a class for each flow, and what is wrong on the
way.

usage: test_classes.py PARSHALL [unittest arguments]
"""

import csv
import gzip
import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import tomllib
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from rivals import program_for

PROGRAM = None
DONE, FAILED, USAGE = 0, 1, 2
FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
# Of each class: port, and how large the first four packets are on average.
CLASSES = {
    "chat": (5222, (60, 120, 90, 70)),
    "files": (2121, (60, 1400, 1400, 1400)),
    "names": (5353, (80, 200, 82, 210)),
}
SOURCE_PORT = 4000
# The one whose port is lower than the others' and the source's, so that it tells the class of short flows.
BY_PORT = "files"


def run(*arguments, timeout=120):
    done = subprocess.run(
        [program_for(PROGRAM, arguments), *arguments], capture_output=True, timeout=timeout, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def udp(time_us, source, port, ip_bytes):
    payload = ip_bytes - 28
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, ip_bytes, 0, 0, 64, 17, 0, source, 0xC0000201)
    frame = b"\x02" * 12 + b"\x08\x00" + ip + struct.pack(">HHHH", SOURCE_PORT, port, 8 + payload, 0) + bytes(payload)
    return struct.pack("<IIII", 1600000000 + time_us // 1000000, time_us % 1000000, len(frame), len(frame)) + frame


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="parshall-classes-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.random = random.Random(5)
        self.flows = {}  # by capture: (source, class, packets) of each

    def path(self, name):
        return os.path.join(self.folder, name)

    def capture(self, number, flows_of_each=6, packets=(2, 9)):
        """A capture with flows of all classes; in each a few with fewer than four packets."""
        name = f"capture{number}.pcap"
        packets_of, known = [], []
        for index, (label, (port, means)) in enumerate(CLASSES.items()):
            for flow in range(flows_of_each):
                source = 0x0A000000 + (number << 16) + (index << 8) + flow
                count = self.random.randint(*packets)
                known.append((source, label, count))
                for packet in range(count):
                    size = max(40, round(self.random.gauss(means[min(packet, 3)], 4)))
                    packets_of.append((packet * 1000 + flow, source, port, size))
        packets_of.sort()
        with open(self.path(name), "wb") as file:
            file.write(FILE_HEADER + b"".join(udp(*packet) for packet in packets_of))
        self.flows[name] = known
        return self.path(name)

    def captures(self, count=6):
        os.mkdir(self.path("more"))
        paths = [self.capture(number) for number in range(count)]
        return paths

    def labels(self, columns="class,capture,protocol,src_ip,src_port,dst_ip,dst_port,other", reverse=False):
        with open(self.path("labels.csv"), "w", encoding="utf-8") as file:
            file.write(columns + "\n")
            for name, known in self.flows.items():
                for source, label, _ in known:
                    ends = [
                        (f"10.{source >> 16 & 255}.{source >> 8 & 255}.{source & 255}", "4000"),
                        ("192.0.2.1", str(CLASSES[label][0])),
                    ]
                    (src_ip, src_port), (dst_ip, dst_port) = reversed(ends) if reverse else ends
                    cells = {
                        "class": label,
                        "capture": name,
                        "protocol": "udp",
                        "src_ip": src_ip,
                        "src_port": src_port,
                        "dst_ip": dst_ip,
                        "dst_port": dst_port,
                        "other": '"a, b"',
                    }
                    file.write(",".join(cells[column] for column in columns.split(",")) + "\n")
        return self.path("labels.csv")

    def train(self, *arguments, model="c45", expect=DONE):
        status, out, err = run(
            "train", "--folds", "3", "--least-flows", "5", "--model", model, "-o", self.path("model.toml"), *arguments
        )
        self.assertEqual(status, expect, err)
        return out, err

    def expected(self):
        """Class of each flow of four packets or more, by its source."""
        return {source: label for known in self.flows.values() for source, label, count in known if count >= 4}

    def classified(self, out):
        of = lambda ip: int.from_bytes(bytes(map(int, ip.split("."))), "big")
        return {of(row["src_ip"]): row["class"] for row in rows(out)}


class Train(Case):
    def test_a_model_learnt_by_labels_tells_the_classes_of_another_capture(self):
        self.captures()
        for model in ("naive-bayes", "c45", "forest"):
            self.train("-r", self.folder, "--labels", self.labels(), model=model)
            other = self.capture(99, flows_of_each=20)
            status, out, err = run(
                "classify", "-r", other, "--model", self.path("model.toml"), "--format", "csv", "--quiet"
            )
            self.assertEqual(status, DONE, err)
            expected = {
                source: label if count >= 4 or label == BY_PORT else ""
                for source, label, count in self.flows["capture99.pcap"]
            }
            told = self.classified(out)
            self.assertEqual(told.keys(), expected.keys())
            right = sum(told[source] == expected[source] for source in expected)
            self.assertGreaterEqual(right, 0.9 * len(expected), model)
            for source, label in expected.items():
                self.assertEqual(told[source] == "", label == "", "only its port tells the class of a short flow")
            os.unlink(other)
            del self.flows["capture99.pcap"]

    def test_a_compressed_capture_gives_the_samples_of_what_it_holds(self):
        """More flows than its size would have room for, had it records: their packets come in turn."""
        flows = 30000
        with open(self.path("plain.pcap"), "wb") as file:
            file.write(FILE_HEADER)
            for turn in range(4):
                for flow in range(flows):
                    file.write(
                        udp(
                            turn * 1000000 + flow,
                            0x0A000000 + flow,
                            5222 if flow % 2 else 2121,
                            60 + 40 * (flow % 2) + turn,
                        )
                    )
        with open(self.path("plain.pcap"), "rb") as file, gzip.open(self.path("packed.pcap.gz"), "wb") as packed:
            shutil.copyfileobj(file, packed)
        self.assertLess(os.path.getsize(self.path("packed.pcap.gz")) / 56, flows / 2, "of each class")
        samples = {}
        for name in ("plain.pcap", "packed.pcap.gz"):
            captures = [shutil.copy(self.path(name), self.path(f"{number}-{name}")) for number in range(3)]
            self.train(
                "-r",
                *captures,
                "--rule",
                "chat=port 5222",
                "--rule",
                "files=port 2121",
                "--write-samples",
                self.path("samples.csv"),
            )
            with open(self.path("samples.csv"), encoding="utf-8") as file:
                samples[name] = sorted(
                    tuple(value for key, value in row.items() if key not in ("capture", "fold"))
                    for row in csv.DictReader(file)
                )
        self.assertEqual(len(samples["plain.pcap"]), 3 * flows)
        self.assertEqual(len(samples["packed.pcap.gz"]), 3 * flows)
        self.assertTrue(samples["packed.pcap.gz"] == samples["plain.pcap"], "their sizes differ")

    def test_samples_are_the_flows_of_four_packets_with_their_capture_and_sizes(self):
        paths = self.captures()
        self.train("-r", *paths, "--labels", self.labels(), "--write-samples", self.path("samples.csv"))
        with open(self.path("samples.csv"), encoding="utf-8") as file:
            samples = list(csv.DictReader(file))
        self.assertEqual(len(samples), len(self.expected()))
        folds = {}
        for sample in samples:
            self.assertEqual(
                folds.setdefault(sample["capture"], sample["fold"]), sample["fold"], "a capture is in one fold"
            )
        by_class = sorted(sample["class"] for sample in samples)
        self.assertEqual(by_class, sorted(self.expected().values()))
        # The same model comes of the samples as of the captures.
        with open(self.path("model.toml"), encoding="utf-8") as file:
            first = tomllib.loads(file.read())
        self.train("--samples", self.path("samples.csv"))
        with open(self.path("model.toml"), encoding="utf-8") as file:
            second = tomllib.loads(file.read())
        self.assertEqual(first["c45"], second["c45"])
        self.assertEqual(first["accuracy"], second["accuracy"])
        self.assertIn("train", second["training"]["command"])

    def test_predictions_are_of_the_samples_in_their_order_and_add_up_to_the_confusion(self):
        """Those less probable than `reject` are what a model with it takes for unknown."""
        self.captures()
        read = lambda name: list(csv.DictReader(open(self.path(name), encoding="utf-8")))
        for model in ("naive-bayes", "c45", "forest"):
            files = (
                "--write-samples",
                self.path("samples.csv"),
                "--predictions",
                self.path("told.csv"),
                "--confusion",
                self.path("confusion.csv"),
            )
            self.train("-r", self.folder, "--labels", self.labels(), *files, model=model)
            told, samples = read("told.csv"), read("samples.csv")
            for column in ("class", "capture", "fold"):
                self.assertEqual([row[column] for row in told], [row[column] for row in samples])
            for row in read("confusion.csv"):
                for name in set(row) - {"class"}:
                    self.assertEqual(
                        int(row[name]), sum(one["class"] == row["class"] and one["taken_for"] == name for one in told)
                    )
            reject = sorted(float(row["probability"]) for row in told)[len(told) // 2] + 1e-9
            sure = {number: float(row["probability"]) >= reject for number, row in enumerate(told)}
            self.train(
                "--samples",
                self.path("samples.csv"),
                "--reject",
                f"{min(reject, 1):.12f}",
                "--predictions",
                self.path("rejected.csv"),
                model=model,
            )
            for number, row in enumerate(read("rejected.csv")):
                if abs(float(row["probability"]) - reject) > 1e-6:
                    self.assertEqual(row["taken_for"], told[number]["taken_for"] if sure[number] else "unknown", model)

    def test_samples_that_are_written_are_those_that_were_learnt_from(self):
        sizes = {
            "bulk": (40, 16384, 9000, 2948),
            "talk": (40, 1400, 60, 1501),
        }  # longer than 1500: joined by offloading
        with open(self.path("all.csv"), "w", encoding="utf-8") as file:
            file.write("class,capture,size_1,size_2,size_3,size_4\n")
            for flow in range(60):
                label = list(sizes)[flow % 2]
                file.write(",".join([label, f"c{flow % 6}"] + [str(size - flow % 3) for size in sizes[label]]) + "\n")
        for options, longest in (((), 1500), (("--longest", "9000"), 9000)):
            self.train("--samples", self.path("all.csv"), "--write-samples", self.path("written.csv"), *options)
            with open(self.path("written.csv"), encoding="utf-8") as file:
                written = [int(sample[f"size_{i}"]) for sample in csv.DictReader(file) for i in range(1, 5)]
            with open(self.path("all.csv"), encoding="utf-8") as file:
                given = [int(sample[f"size_{i}"]) for sample in csv.DictReader(file) for i in range(1, 5)]
            self.assertEqual(written, [min(size, longest) for size in given])

    def test_labels_go_for_both_directions_and_without_a_capture_for_all(self):
        self.captures()
        out, _ = self.train("-r", self.folder, "--labels", self.labels(reverse=True))
        self.assertIn(f"of {len(self.expected())} flows", out)
        out, _ = self.train(
            "-r", self.folder, "--labels", self.labels("dst_port,dst_ip,src_port,src_ip,protocol,class")
        )
        self.assertIn(f"of {len(self.expected())} flows", out)

    def test_labels_that_differ_are_left_out(self):
        self.captures()
        path = self.labels()
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        lines.append(lines[1].replace("chat", "files"))
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        _, err = self.train("-r", self.folder, "--labels", path)
        self.assertIn("left out: 1 connection with labels that differ", err)

    def test_rules_label_flows_too_and_the_first_that_fits_counts(self):
        self.captures()
        rules = [f"--rule={label}=udp port {port}" for label, (port, _) in CLASSES.items()]
        out, _ = self.train("-r", self.folder, *rules, "--rule=none=ip")
        self.assertIn(f"of {len(self.expected())} flows", out)
        self.assertNotIn("none", out)

    def test_the_figures_are_those_of_the_confusion(self):
        self.captures()
        out, _ = self.train(
            "-r",
            self.folder,
            "--labels",
            self.labels(),
            "--format",
            "json",
            "--confusion",
            self.path("confusion.csv"),
            "--reject",
            "0.6",
        )
        with open(self.path("confusion.csv"), encoding="utf-8") as file:
            confusion = {row["class"]: row for row in csv.DictReader(file)}
        for row in json.loads(out)["rows"]:
            counts = {name: int(count) for name, count in confusion[row["class"]].items() if name != "class"}
            self.assertIn("unknown", counts)
            self.assertEqual(sum(counts.values()), row["flows"])
            self.assertAlmostEqual(row["recall"], counts[row["class"]] / row["flows"])

    def test_classes_of_too_little_are_left_out_and_named(self):
        self.captures()
        status, _, err = run(
            "train",
            "-r",
            self.folder,
            "--labels",
            self.labels(),
            "--least-flows",
            "1000",
            "-o",
            self.path("model.toml"),
        )
        self.assertEqual(status, FAILED)
        self.assertIn("left out", err)
        self.assertIn("a model needs two classes", err)

    def test_a_plot_is_drawn_where_gnuplot_is_there(self):
        if shutil.which("gnuplot") is None:
            self.skipTest("no gnuplot")
        self.captures()
        self.train("-r", self.folder, "--labels", self.labels(), "--plot", self.path("confusion.svg"))
        with open(self.path("confusion.svg"), encoding="utf-8") as file:
            self.assertIn("chat", file.read())

    def test_what_cannot_be_is_said_and_leaves_no_model(self):
        capture = self.capture(1)
        labels = self.labels()
        for arguments, status, message in (
            (["--labels", labels], USAGE, "give either captures"),
            (["-r", capture], USAGE, "say which class"),
            (["-r", capture, "--labels", self.path("none.csv")], FAILED, "cannot read labels"),
            (["-r", self.path("none.pcap"), "--labels", labels], FAILED, "none.pcap"),
            (["-r", capture, "--rule", "x"], USAGE, "CLASS=FILTER"),
            (["-r", capture, "--rule", "x=nonsense and"], USAGE, "x=nonsense"),
            (["-r", capture, "--labels", labels, "--least-captures", "1"], FAILED, "fold"),
            (["--samples", labels], FAILED, "line 1"),
            (["-r", capture, "--labels", labels, "--idle", "soon"], USAGE, "--idle"),
            (["-r", capture, "--labels", labels, "--plot", "x.gif"], USAGE, ".svg"),
        ):
            _, err = self.train(*arguments, expect=status)
            self.assertIn(message, err, arguments)
            self.assertFalse(os.path.exists(self.path("model.toml")), arguments)

    def test_wrong_labels_are_told_with_their_line(self):
        capture = self.capture(1)
        good = "udp,10.0.0.1,1,10.0.0.2,2,x"
        for line, message in (
            ("udp,10.0.0.1,1,10.0.0.2,2,", "cannot be the name of a class"),
            ("udp,10.0.0.1,1,10.0.0.2,2,unknown", "cannot have the name"),
            ("udp,10.0.0.1,1,10.0.0.2,2,a\u009b2J", "control characters"),
            ('udp,10.0.0.1,1,10.0.0.2,2,"a,b"', "cannot be the name of a class"),
            ("foo,10.0.0.1,1,10.0.0.2,2,x", "protocol"),
            ("udp,10.0.0,1,10.0.0.2,2,x", "addresses"),
            ("udp,10.0.0.1,1,::1,2,x", "addresses"),
            ("udp,10.0.0.1,70000,10.0.0.2,2,x", "src_port"),
            ('udp,10.0.0.1,1,10.0.0.2,2,"x', "quote"),
        ):
            with open(self.path("wrong.csv"), "w", encoding="utf-8") as file:
                file.write("protocol,src_ip,src_port,dst_ip,dst_port,class\n" + good + "\n" + line + "\n")
            _, err = self.train("-r", capture, "--strict", "--labels", self.path("wrong.csv"), expect=FAILED)
            self.assertIn("wrong.csv, line 3", err)
            self.assertIn(message, err)
        _, err = self.train("-r", capture, "--labels", self.folder, expect=FAILED)
        self.assertIn("cannot be read", err)
        with open(self.path("wrong.csv"), "w", encoding="utf-8") as file:
            file.write("protocol,src_ip,src_port,dst_ip,class\n")
        _, err = self.train("-r", capture, "--labels", self.path("wrong.csv"), expect=FAILED)
        self.assertIn("dst_port is missing", err)

    def test_bad_lines_of_labels_are_skipped_and_counted(self):
        self.captures()
        path = self.labels()
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        lines[3:3] = ["a,capture1.pcap,nonsense,10.0.0.1,1,10.0.0.2,2,", 'a"b,c', 'x,"a"b,c']
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        out, err = self.train("-r", self.folder, "--labels", path)
        self.assertIn(f"of {len(self.expected())} flows", out)
        self.assertIn(
            f"warning: 3 bad lines are skipped in labels, and {len(lines) - 4} used; the first: {path}, line 4: "
            'protocol "nonsense" is neither',
            err,
        )
        os.unlink(self.path("model.toml"))
        _, err = self.train("-r", self.folder, "--labels", path, "--strict", expect=FAILED)
        self.assertIn('line 4: protocol "nonsense"', err)
        self.assertFalse(os.path.exists(self.path("model.toml")))
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([lines[0], *lines[3:6]]))
        _, err = self.train("-r", self.folder, "--labels", path, expect=FAILED)
        self.assertIn('line 2: protocol "nonsense"', err)
        self.assertIn("no other line is valid either (3 lines in all)", err)

    def test_labels_may_have_a_byte_order_mark_and_empty_lines(self):
        self.captures()
        path = self.labels()
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8-sig", newline="") as file:
            file.write(text.replace("\n", "\r\n\r\n"))
        out, _ = self.train("-r", self.folder, "--labels", path)
        self.assertIn(f"of {len(self.expected())} flows", out)

    def test_a_model_goes_to_standard_output_where_asked_for(self):
        self.captures()
        status, out, err = run(
            "train",
            "-r",
            self.folder,
            "--labels",
            self.labels(),
            "--folds",
            "3",
            "--least-flows",
            "5",
            "--model",
            "c45",
            "-o",
            "-",
        )
        self.assertEqual(status, DONE, err)
        self.assertEqual(tomllib.loads(out)["model"], "c45")
        self.assertIn("flows are classified correctly", err)
        self.assertFalse(os.path.exists("-"))
        with open(self.path("log"), "w", encoding="utf-8") as log:
            log.write("before\n")
            log.flush()
            written = subprocess.run(
                [
                    PROGRAM,
                    "train",
                    "-r",
                    self.folder,
                    "--labels",
                    self.labels(),
                    "--folds",
                    "3",
                    "--least-flows",
                    "5",
                    "-o",
                    "-",
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                timeout=60,
                check=True,
                text=True,
            ).stdout
            log.write("after\n")
        with open(self.path("log"), encoding="utf-8") as log:
            told = log.read()
        self.assertEqual(tomllib.loads(written)["model"], "c45")  # where nothing else is asked for
        self.assertTrue(told.startswith("before\n") and told.endswith("after\n"), told)
        self.assertIn("flows are classified correctly", told)

    def test_nothing_that_is_read_is_written_to(self):
        self.captures()
        labels = self.labels()
        capture = self.path("capture0.pcap")
        with open(capture, "rb") as file:
            before = file.read()
        more = ["-o", capture]
        status, _, err = run(
            "train", "-r", self.folder, "--labels", labels, "--folds", "3", "--least-flows", "5", *more
        )
        self.assertEqual(status, FAILED, "it is in the folder")
        self.assertIn("another file", err)
        for more in (
            ["-o", capture],
            ["-o", labels],
            ["-o", self.path("m"), "--confusion", labels],
            ["-o", self.path("m"), "--confusion", self.path("m")],
            ["-o", self.path("m"), "--write-samples", "-"],
        ):
            status, _, err = run(
                "train", "-r", self.folder, capture, "--labels", labels, "--folds", "3", "--least-flows", "5", *more
            )
            self.assertEqual(status, USAGE, more)
            self.assertIn("another file" if more[-1] != "-" else "standard output", err)
        with open(capture, "rb") as file:
            self.assertEqual(file.read(), before)
        status, _, err = run("train", "-r", "-", "--labels", labels, "--rule", "x=udp", "-o", self.path("m"))
        self.assertEqual(status, USAGE)
        self.assertIn("read once", err)

    def test_an_old_model_stays_where_a_new_one_cannot_be_written(self):
        self.captures()
        self.train("-r", self.folder, "--labels", self.labels())
        with open(self.path("model.toml"), encoding="utf-8") as file:
            before = file.read()
        self.train("-r", self.folder, "--labels", self.labels(), "--least-captures", "99", expect=FAILED)
        with open(self.path("model.toml"), encoding="utf-8") as file:
            self.assertEqual(file.read(), before)
        for output, message in (("/dev/full", "No space left"), (self.folder, "directory")):
            status, _, err = run(
                "train",
                "-r",
                self.folder,
                "--labels",
                self.labels(),
                "--folds",
                "3",
                "--least-flows",
                "5",
                "-o",
                output,
            )
            self.assertEqual(status, FAILED)
            self.assertIn(message, err)

    def test_a_table_that_is_too_large_is_refused(self):
        with open(self.path("samples.csv"), "w", encoding="utf-8") as file:
            file.write("class,capture," + ",".join(f"size_{i}" for i in range(1, 17)) + "\n")
            for capture in range(3):
                for label in range(200):
                    file.write((f"c{label},{capture}," + ",".join(["100"] * 16) + "\n") * 2)
        _, err = self.train(
            "--samples", self.path("samples.csv"), "--longest", "65535", model="naive-bayes", expect=FAILED
        )
        self.assertIn("1 GB", err)


class Classify(Case):
    def setUp(self):
        super().setUp()
        self.captures()
        self.train("-r", self.folder, "--labels", self.labels())
        self.model = self.path("model.toml")

    def test_the_summary_has_each_class_and_its_packets_add_up(self):
        capture = self.path("capture1.pcap")
        status, out, _ = run("watch", "-r", capture, "--model", self.model, "--format", "json", "--quiet")
        self.assertEqual(status, DONE)
        summary = json.loads(out)["summary"]
        classes = summary["classes"]
        self.assertEqual(set(classes), {*CLASSES, "unknown", "too few packets"})
        known = self.flows["capture1.pcap"]
        self.assertEqual(sum(one["packets"] for one in classes.values()), sum(count for _, _, count in known))
        self.assertEqual(sum(one["flows"] for one in classes.values()), len(known))
        too_few = sum(count < 4 and label != BY_PORT for _, label, count in known)
        self.assertGreater(too_few, 0)
        self.assertEqual(classes["too few packets"]["flows"], too_few)
        _, out, _ = run("classify", "-r", capture, "--model", self.model, "--quiet")
        self.assertIn("class      too few packets: ", out)

    def test_a_short_flow_has_the_class_of_its_port(self):
        for more in ([], ["--workers", "2"], ["--table", "cuckoo-4"], ["--classifiers", "1"]):
            status, out, err = run(
                "watch", "-r", self.path("capture1.pcap"), "--model", self.model, "--format", "csv", "--quiet", *more
            )
            self.assertEqual((status, err), (DONE, ""))
            told = rows(out)
            self.assertEqual(len(told), len(self.flows["capture1.pcap"]))
            for row in told:
                by_port = SOURCE_PORT > int(row["dst_port"])
                basis = "sizes" if int(row["packets"]) >= 4 else "port" if by_port else ""
                self.assertEqual(row["class_basis"], basis)
                self.assertEqual(row["class"] == "", basis == "")
                if basis == "port":
                    self.assertEqual(row["class"], BY_PORT)
            self.assertEqual({row["class_basis"] for row in told}, {"sizes", "port", ""})

    def test_what_was_learnt_of_ports_is_said_and_kept(self):
        _, err = self.train("-r", self.folder, "--labels", self.labels())
        short = [label for known in self.flows.values() for _, label, count in known if count < 4]
        told = short.count(BY_PORT)
        self.assertIn(
            f"usual classes of 1 port; in cross-validation, {told} of {len(short)} flows with too few packets "
            f"have one, {told} correctly",
            err,
        )
        with open(self.model, "rb") as file:
            ports = tomllib.load(file)["short-flows"]
        self.assertEqual((ports["tested"], ports["classified"], ports["correct"]), (len(short), told, told))
        port = {"protocol": 17, "port": CLASSES[BY_PORT][0], "class": BY_PORT, "share": 1, "of": 6}
        self.assertEqual(ports["ports"], [port])

    def test_a_port_below_the_bound_of_a_model_tells_nothing(self):
        with open(self.model, encoding="utf-8") as file:
            text = file.read().replace("share = 1,", "share = 0.8,")
        for reject, expected in (("0.7", {"sizes", "port", ""}), ("0.81", {"sizes", ""})):
            with open(self.path("other.toml"), "w", encoding="utf-8") as file:
                file.write(text.replace("reject = 0\n", f"reject = {reject}\n"))
            _, out, _ = run(
                "classify", "-r", self.path("capture1.pcap"), "--model", self.path("other.toml"), "--format", "csv"
            )
            self.assertEqual({row["class_basis"] for row in rows(out)}, expected)

    def test_a_class_stands_among_other_columns_where_it_is_asked_for(self):
        _, out, _ = run(
            "watch",
            "-r",
            self.path("capture1.pcap"),
            "--model",
            self.model,
            "--threads",
            "pipeline",
            "--columns",
            "+gap_mean,class,first_sizes_2",
            "--format",
            "csv",
            "--quiet",
        )
        self.assertTrue(
            out.splitlines()[0].endswith(",gap_mean_packets,class,ip_size_1_bytes,ip_size_2_bytes"),
            out.splitlines()[0],
        )
        self.assertEqual({label for label in self.classified(out).values() if label}, set(CLASSES))

    def test_classes_are_the_same_whoever_counts_and_where(self):
        classes = []
        for more in (
            [],
            ["--idle", "1s"],
            ["--active", "1ms"],
            ["--workers", "2"],
            ["--threads", "cooperative"],
            ["--table", "cuckoo-4"],
            ["--classifiers", "1"],
            ["--classifiers", "3"],
            ["--classifiers", "1", "--workers", "2", "--threads", "pipeline"],
        ):
            _, out, err = run(
                "watch", "-r", self.path("capture2.pcap"), "--model", self.model, "--format", "csv", "--quiet", *more
            )
            self.assertEqual(err, "")
            classes.append(self.classified(out))  # of the last record, where there are several of a flow
        for other in classes:
            self.assertEqual(
                {source: label for source, label in other.items() if label},
                {source: label for source, label in classes[0].items() if label},
            )

    def test_the_summary_says_what_other_threads_told(self):
        _, out, _ = run(
            "classify",
            "-r",
            self.path("capture1.pcap"),
            "--model",
            self.model,
            "--classifiers",
            "2",
            "--format",
            "json",
            "--quiet",
        )
        summary = json.loads(out)["summary"]
        classified = sum(count >= 4 for _, _, count in self.flows["capture1.pcap"])
        self.assertEqual(summary["classifiers"]["threads"], 2)
        self.assertEqual(summary["classifiers"]["sent"], classified)
        self.assertLessEqual(summary["classifiers"]["told"], classified)
        too_few = sum(count < 4 and label != BY_PORT for _, label, count in self.flows["capture1.pcap"])
        self.assertEqual(summary["classes"]["too few packets"]["flows"], too_few)
        _, out, _ = run(
            "classify", "-r", self.path("capture1.pcap"), "--model", self.model, "--classifiers", "1", "--quiet"
        )
        self.assertIn("classifier 1 thread: classified ", out)

    def test_a_model_is_asked_for_by_name_where_one_is_missing_or_broken(self):
        capture = self.path("capture1.pcap")
        for arguments, message in (
            (["classify", "-r", capture], "--model FILE"),
            (["watch", "-r", capture, "--model", "quick"], "parshall train writes models"),
            (["watch", "-r", capture, "--columns", "+class"], "--model FILE"),
            (["watch", "-r", capture, "--classifiers", "1"], "--model FILE"),
            (["watch", "-r", capture, "--packets-only", "--model", self.model], "--packets-only"),
        ):
            status, _, err = run(*arguments)
            self.assertEqual(status, USAGE)
            self.assertIn(message, err)
        with open(self.model, encoding="utf-8") as file:
            text = file.read()
        for broken, message in (
            (text.replace("version = 1", "version = 7"), "version"),
            (text[: len(text) // 2], "line"),
            ("", "version"),
        ):
            with open(self.path("broken.toml"), "w", encoding="utf-8") as file:
                file.write(broken)
            status, _, err = run("classify", "-r", capture, "--model", self.path("broken.toml"))
            self.assertEqual(status, USAGE)
            self.assertIn(message, err)
            self.assertIn("broken.toml", err)

    def test_forwarding_is_refused_where_there_is_no_wire_or_nothing_to_mark_by(self):
        capture = self.path("capture1.pcap")
        wire = ["-i", f"vdev:net_pcap0,rx_pcap={capture}", "--forward", "vdev:net_pcap1,tx_pcap=/dev/null"]
        model = ["--model", self.model]
        for arguments, message in (
            (["-r", capture, "--forward", "eth1", *model], "name it with -i"),
            (["-g", "flows=1", "--forward", "eth1", *model], "name it with -i"),
            (wire, "--model FILE"),
            ([*wire, *model, "--threads", "pipeline"], "leave out --threads pipeline"),
            ([*wire, *model, "--threads", "cooperative"], "leave out --threads pipeline"),
            ([*wire, "--packets-only"], "--packets-only"),
            ([*wire, *model, "--count", "5"], "--count"),
            ([*wire, *model, "--tasks", "entropy", "--window", "1000p"], "--forward"),
            ([*wire, *model, "--tasks", "retransmissions"], "--forward"),
            (["-i", "eth0", "--forward", "eth0", *model], "-i itself"),
            (["-i", "03:00.0", "--forward", "0000:03:00.0", *model], "-i itself"),
            ([*wire[:3], "vdev:net_pcap0,tx_pcap=/dev/null", *model], "-i itself"),
            ([*wire[:2], *model, "--dscp", "chat=EF"], "--forward"),
            ([*wire, *model, "--dscp", "chat"], "CLASS=CODE"),
            ([*wire, *model, "--dscp", "chat=EX"], "AF11 to AF43"),
            ([*wire, *model, "--dscp", "chat=64"], "0 to 63"),
            ([*wire, *model, "--dscp", "talk=EF"], "chat, files, names, and unknown"),
            ([*wire, *model, "--dscp", "chat=EF,chat=1"], "a code already"),
        ):
            status, _, err = run("watch", *arguments)
            self.assertEqual(status, USAGE, (arguments, err))
            self.assertIn(message, err)

    def wire_with(self, classes, ports=()):
        """Arguments of a wire with a model of so many classes, and of classes that only these ports have."""
        names = [f"c{i}" for i in range(classes)]
        with open(self.path("many.toml"), "w", encoding="utf-8") as file:
            file.write(
                'version = 1\nmodel = "c45"\npackets = 2\nlongest = 1500\nreject = 0\n'
                f'classes = {json.dumps(names)}\n[training]\ndate = ""\ncommand = ""\ncaptures = 0\n'
                f'flows = {[1] * classes}\n[c45]\nnodes = [\n  {{flows = {{"c3" = 1}}}},\n]\n'
                "[short-flows]\ntested = 0\nclassified = 0\ncorrect = 0\n"
            )
            each = '{{protocol = 6, port = {0}, class = "p{0}", share = 1, of = 2}}'
            file.write(f"ports = [{', '.join(map(each.format, ports))}]\n" if ports else "")
        return [
            "watch",
            "-i",
            f"vdev:net_pcap0,rx_pcap={self.path('capture1.pcap')}",
            "--forward",
            "vdev:net_pcap1,tx_pcap=/dev/null",
            "--model",
            self.path("many.toml"),
            "--flows",
            "4096",
        ]

    def test_classes_that_only_ports_have_get_no_marks(self):
        wire = self.wire_with(4, ports=range(20))
        status, _, err = run(*wire, "--dscp", "p3=EF")
        self.assertEqual(status, USAGE, err)
        self.assertIn("no such class, but c0, c1, c2, c3, and unknown", err)
        status, _, err = run(*wire)
        if "built without DPDK" in err:
            self.skipTest("built without DPDK")
        self.assertEqual(status, DONE, err)
        self.assertIn("marked: c0 3, c1 7, c2 11, c3 15\n", err)
        status, _, err = run(*wire, "--dscp", "unknown=le,c1=EF")
        self.assertEqual(status, DONE, err)
        self.assertIn("marked: c1 EF, unknown LE\n", err)

    def test_more_classes_than_code_points_for_local_use_need_dscp(self):
        wire = self.wire_with(17)
        status, _, err = run(*wire)
        self.assertEqual(status, USAGE, err)
        self.assertIn("17 classes", err)
        status, _, err = run(*wire, "--dscp", "c16=EF,unknown=le")
        if "built without DPDK" in err:
            self.skipTest("built without DPDK")
        self.assertEqual(status, DONE, err)
        self.assertIn("marked: c16 EF, unknown LE", err)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
