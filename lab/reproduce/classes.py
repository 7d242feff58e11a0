#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes lab/docs/accuracy-classes.md: how right the classes of flows are, how sure that is, and how fast they are
told.

What was found before is used again, unless the program or its input are others, or --again is given: a run that was
stopped goes on where it was. All random numbers have fixed seeds. TRACES (PARSHALL_TRACES, or ../shared/traces) has
pcap/, labels.tsv.gz and labels_extra.tsv.gz. Python packages are installed into an environment of its own; Weka, to
compare with, by Maven, where there is one.
"""

import argparse
import csv
import hashlib
import json
import os
import pathlib
import sys

import environment

HERE = pathlib.Path(__file__).resolve().parent
LEAST_FLOWS, LEAST_CAPTURES = 20, 2
DIRECTION = ("c45", "forest")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parshall")
    parser.add_argument(
        "traces",
        type=pathlib.Path,
        nargs="?",
        default=pathlib.Path(os.environ.get("PARSHALL_TRACES") or HERE.parents[2] / "shared" / "traces"),
    )
    parser.add_argument(
        "--runs", type=pathlib.Path, default=pathlib.Path("build/classes"), help="folder of the raw figures"
    )
    parser.add_argument(
        "--folder", type=pathlib.Path, default=HERE.parent / "docs", help="that gets accuracy-classes.md (lab/docs)"
    )
    parser.add_argument("--again", action="store_true", help="do again what was done before")
    parser.add_argument("--no-rates", action="store_true", help="leave out what measures speed")
    return parser.parse_args()


class Runs:
    """What was done before, by what it was made of."""

    def __init__(self, folder, program, again):
        self.folder, self.again = folder, again
        self.program = digest(pathlib.Path(program))
        lab = pathlib.Path(program).with_name("parshall-lab")  # what `parshall bench` becomes
        self.lab = digest(lab) if lab.exists() else self.program
        folder.mkdir(parents=True, exist_ok=True)

    def stem(self, name, *of):
        """Where what is made of these, files and words, lies."""
        words = [digest(one) if isinstance(one, pathlib.Path) else str(one) for one in of]
        return self.folder / f"{name}-{hashlib.sha256(' '.join(words).encode()).hexdigest()[:12]}"

    def once(self, path, make):
        """make(path) unless the file is there; whole, or not at all."""
        if self.again or not path.exists():
            print(path.name, file=sys.stderr, flush=True)
            part = path.with_name(path.name + ".part")
            make(part)
            part.rename(path)
        return path

    def found(self, path, find):
        """What find() gives, as JSON."""
        return json.loads(self.once(path, lambda part: part.write_text(json.dumps(find()))).read_text())


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def gathered(asked, runs):
    """Flows of captures (all, with packets and bytes), and the samples of all that have enough packets."""
    import class_flows

    lists = (asked.traces / "labels.tsv.gz", asked.traces / "labels_extra.tsv.gz")
    captures = " ".join(f"{path.name} {path.stat().st_size}" for path in sorted((asked.traces / "pcap").iterdir()))
    flows = runs.once(
        runs.stem("flows", runs.program, *lists, captures).with_suffix(".csv"),
        lambda path: class_flows.write_flows(asked.parshall, asked.traces, path),
    )

    def write_samples(path, with_lists):
        with open(path, "w", newline="") as file, open(flows, newline="") as of_captures:
            out = csv.writer(file)
            out.writerow(class_flows.SAMPLE_HEAD)
            for row in csv.DictReader(of_captures):
                if row[f"size_{class_flows.PACKETS}"]:
                    out.writerow([row[name] for name in class_flows.SAMPLE_HEAD])
            if with_lists:
                out.writerows(class_flows.extra_flows(asked.traces))

    alone = runs.once(runs.stem("alone", flows).with_suffix(".csv"), lambda path: write_samples(path, False))
    everything = runs.once(runs.stem("all", flows, *lists).with_suffix(".csv"), lambda path: write_samples(path, True))
    return flows, alone, everything


def check(asked, runs, flows):
    """Against the program's own way from captures to samples."""
    import subprocess

    import class_flows
    import class_models

    labels = asked.runs / "labels.csv"
    class_flows.write_labels(asked.traces, labels)

    def compare():
        stem = asked.runs / "check"
        command = [
            asked.parshall,
            "train",
            "-r",
            asked.traces / "pcap",
            "--labels",
            labels,
            "-o",
            f"{stem}.toml",
            "--write-samples",
            f"{stem}.samples.csv",
            "--least-flows",
            "1",
            "--least-captures",
            "1",
        ]
        run = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
        with open(flows, newline="") as file:
            rows = list(csv.DictReader(file))
        whole = [row for row in rows if row[f"size_{class_flows.PACKETS}"]]
        class_flows.check_flows(run.stderr, len(whole), len(rows) - len(whole))
        of = lambda row: (
            row["class"],
            row["capture"],
            *(min(int(row[name]), class_models.LONGEST) for name in class_flows.SAMPLE_HEAD[2:]),
        )
        with open(f"{stem}.samples.csv", newline="") as file:
            if sorted(map(of, csv.DictReader(file))) != sorted(map(of, whole)):
                sys.exit(
                    "parshall train makes other samples of these captures than what parshall watch says of their flows"
                )
        return {"flows": len(whole)}

    runs.found(runs.stem("checked", runs.program, flows).with_suffix(".json"), compare)


def told(asked, runs, samples, kinds, tag):
    """By kind: its Told, and where its files are."""
    import class_models

    stems = {kind: runs.stem(f"{tag}-{kind}", runs.program, samples, *class_models.OURS[kind]) for kind in kinds}
    for kind, stem in stems.items():
        runs.once(
            stem.with_suffix(".done"),
            lambda path: path.write_text(class_models.train(asked.parshall, class_models.OURS[kind], samples, stem)),
        )
    return {kind: class_models.told_by(stem) for kind, stem in stems.items()}, stems


def others(runs, stem, first, names):
    """By name: what others take the same flows for."""
    import class_models
    import numpy

    sizes = class_models.sizes_of(stem)
    wanted = environment.WANTED.read_text()
    return {
        name: numpy.array(
            runs.found(
                runs.stem(
                    f"other-{name}", pathlib.Path(f"{stem}.samples.csv"), pathlib.Path(class_models.__file__), wanted
                ).with_suffix(".json"),
                lambda: class_models.cross_validated(class_models.OTHERS[name], sizes, first).tolist(),
            )
        )
        for name in names
    }


def weights(flows, samples):
    """Packets and bytes of each sample that `parshall train` keeps, in its order; 0 of those that are of lists."""
    import class_flows
    import numpy

    with open(flows, newline="") as file:
        whole = [row for row in csv.DictReader(file) if row[f"size_{class_flows.PACKETS}"]]
    with open(samples, newline="") as file:
        rows = list(csv.DictReader(file))
    count, seen = {}, {}
    for row in rows:
        count[row["class"]] = count.get(row["class"], 0) + 1
        seen.setdefault(row["class"], set()).add(row["capture"])
    kept = [
        place
        for place, row in enumerate(rows)
        if count[row["class"]] >= LEAST_FLOWS and len(seen[row["class"]]) >= LEAST_CAPTURES
    ]
    of = lambda place, name: int(whole[place][name]) if place < len(whole) else 0
    return [rows[place]["capture"] for place in kept], *(
        numpy.array([of(place, name) for place in kept], float) for name in ("packets", "ip_bytes")
    )


def accuracy(all_told, flows, samples):
    """By model: shares told right by flows, packets and bytes, macro-F1, and the difference from C4.5."""
    import class_statistics as statistics

    first = next(iter(all_told.values()))
    captures, packets, ip_bytes = weights(flows, samples)
    if captures != first.captures.tolist():
        sys.exit("parshall train keeps other samples, or in another order, than classes.py expects")
    draws = statistics.Draws(first.captures)
    here = packets > 0
    draws_here = statistics.Draws(first.captures[here])
    return {
        name: {
            "flows": statistics.share(draws, one.right),
            "f1": statistics.macro_f1(draws, one.classes, one.predicted, len(one.names)),
            "packets": statistics.share(draws_here, one.right[here], packets[here]),
            "bytes": statistics.share(draws_here, one.right[here], ip_bytes[here]),
            "less_c45": statistics.difference(draws, one.right, all_told["c45"].right),
        }
        for name, one in all_told.items()
    }, int(here.sum())


def largest(captures):
    """(its name, its share)"""
    import numpy

    names, counts = numpy.unique(captures, return_counts=True)
    return names[counts.argmax()], float(counts.max() / counts.sum())


def alone(asked, runs, samples):
    """Of the captures that are here, with and without the largest."""
    import class_models
    import class_statistics as statistics

    kinds = tuple(class_models.OURS)
    by_kind, stems = told(asked, runs, samples, kinds, "alone")
    first = by_kind[kinds[0]]
    majority = first.by(others(runs, stems[kinds[0]], first, ["majority"])["majority"])
    name, part = largest(first.captures)
    rest = first.captures != name
    draws, draws_of_rest = statistics.Draws(first.captures), statistics.Draws(first.captures[rest])
    return {
        "flows": len(first.classes),
        "classes": len(first.names),
        "captures": len(draws.names),
        "largest": part,
        "models": {
            kind: {
                "flows": statistics.share(draws, one.right),
                "without_largest": statistics.share(draws_of_rest, one.right[rest]),
            }
            for kind, one in {"majority": majority, **by_kind}.items()
        },
    }


def direction(asked, runs):
    """What the sizes of the other direction add."""
    import class_flows
    import class_statistics as statistics

    def write(path, with_back):
        count = class_flows.PACKETS * (2 if with_back else 1)
        with open(path, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["class", "capture", *(f"size_{number + 1}" for number in range(count))])
            for name, capture, there, back in class_flows.connections(asked.traces):
                sizes = there + back + [""] * (class_flows.PACKETS - len(back)) if with_back else there
                out.writerow([name, capture, *sizes])

    lists = (asked.traces / "labels.tsv.gz", asked.traces / "labels_extra.tsv.gz")
    files = {
        name: runs.once(runs.stem(name, *lists).with_suffix(".csv"), lambda path: write(path, name == "both"))
        for name in ("there", "both")
    }
    by = {name: told(asked, runs, path, DIRECTION, name)[0] for name, path in files.items()}
    # Folds are of captures and classes alone, which are the same: so is each flow's.
    draws = statistics.Draws(by["there"]["c45"].captures)
    return {
        "flows": len(by["there"]["c45"].classes),
        "models": {
            kind: {
                "there": statistics.share(draws, by["there"][kind].right),
                "both": statistics.share(draws, by["both"][kind].right),
                "more": statistics.difference(draws, by["both"][kind].right, by["there"][kind].right),
            }
            for kind in DIRECTION
        },
    }


def short_flows(flows):
    import class_flows

    with open(flows, newline="") as file:
        rows = list(csv.DictReader(file))
    short = [row for row in rows if not row[f"size_{class_flows.PACKETS}"]]
    part = lambda name: sum(int(row[name]) for row in short) / sum(int(row[name]) for row in rows)
    return {"flows": len(rows), "share": len(short) / len(rows), "packets": part("packets"), "bytes": part("ip_bytes")}


def rates(asked, runs, samples, stem):
    """Of table 1; their rounds are in one run."""
    import class_models
    import class_rates
    import weka

    path = runs.stem("on-line", runs.lab, samples, class_rates.ON_LINE, class_rates.TRAFFIC).with_suffix(".json")
    on_line = runs.found(path, lambda: class_rates.on_line(asked.parshall, f"{stem}.toml", path))
    off_line = runs.found(
        runs.stem("off-line", samples, weka.SOURCE, environment.WANTED).with_suffix(".json"),
        lambda: class_rates.off_line(stem, asked.runs),
    )
    return {"on_line": on_line, "off_line": off_line, "classes": len(class_models.told_by(stem).names)}


def matrix_of(one):
    counts = [[0] * (len(one.names) + 1) for _ in one.names]
    for of, taken in zip(one.classes.tolist(), one.predicted.tolist()):
        counts[of][taken] += 1
    return {"names": one.names, "counts": counts}


def main():
    asked = options()
    if not (asked.traces / "labels.tsv.gz").exists():
        print(f"SKIPPED: no labels.tsv.gz in {asked.traces}; name the folder of traces, or set PARSHALL_TRACES")
        return
    environment.enter(asked.runs / "env")
    import class_models
    import class_page
    import class_statistics as statistics

    runs = Runs(asked.runs, asked.parshall, asked.again)
    flows, samples_alone, samples = gathered(asked, runs)
    check(asked, runs, flows)
    ours, stems = told(asked, runs, samples, tuple(class_models.OURS), "all")
    first = ours["c45"]
    found_by_others = others(runs, stems["c45"], first, tuple(class_models.OTHERS))
    everyone = {
        "majority": first.by(found_by_others.pop("majority")),
        **ours,
        **{name: first.by(predicted) for name, predicted in found_by_others.items()},
    }
    models, weighed = accuracy(everyone, flows, samples)
    found = {
        "flows": len(first.classes),
        "classes": len(first.names),
        "captures": len(set(first.captures)),
        "draws": statistics.DRAWS,
        "models": models,
        "weighed": weighed,
        "largest": largest(first.captures)[1],
        "short": short_flows(flows),
        "alone": alone(asked, runs, samples_alone),
        "direction": direction(asked, runs),
        "matrix": matrix_of(ours["forest"]),
        "reject": {
            kind: [
                (limit, *one)
                for limit, one in zip(
                    class_page.LIMITS,
                    statistics.reject_curve(ours[kind].right, ours[kind].likeliest, class_page.LIMITS),
                )
            ]
            for kind in ours
        },
        "by_class": {kind: class_models.figures_by_class(stem) for kind, stem in stems.items()},
    }
    found["rates"] = None if asked.no_rates else rates(asked, runs, samples, stems["naive-bayes"])
    (asked.runs / "found.json").write_text(json.dumps(found))
    pictures = asked.folder / "reproduce"
    pictures.mkdir(parents=True, exist_ok=True)
    class_page.draw_reject(found["reject"], pictures / "classes-reject.svg")
    class_page.draw_matrix(found["matrix"], pictures / "classes-confusion.svg")
    page = asked.folder / "accuracy-classes.md"
    page.write_text(class_page.page_of(found))
    print(f"wrote {page}; raw figures in {asked.runs}")


if __name__ == "__main__":
    main()
