# SPDX-License-Identifier: Apache-2.0
"""How many flows Weka tells in a second of CPU time, off line, for the papers on classes of flows. It takes Java, and
Maven, which fetches Weka."""

import json
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
POM = HERE.parents[1] / "tests" / "classify" / "reference" / "pom.xml"
SOURCE = HERE / "OfflineRate.java"
ROUNDS = 5
CLASSES, FLOWS, PACKETS = 10, 500, 4  # as `bench classify` makes its model


def missing():
    """What it takes and is not there, in words; empty where all is."""
    absent = [name for name in ("java", "mvn") if shutil.which(name) is None]
    return f"no {' and no '.join(absent)} (Debian: default-jdk-headless, maven)" if absent else ""


def rates(samples, packets, rounds, jars):
    """Flows a second of each round, by learner. Raises RuntimeError where Weka cannot be fetched into `jars`, or
    fails."""
    if not list(jars.glob("weka-stable*.jar")):
        _run("Maven", ["mvn", "-q", "-B", "-f", POM, "dependency:copy-dependencies", f"-DoutputDirectory={jars}"])
    told = _run("Weka", ["java", "-cp", f"{jars}/*", SOURCE, samples, str(packets), str(rounds)])
    found = {}
    for line in told.splitlines():
        name, flows = line.split(",")
        found.setdefault(name, []).append(float(flows))
    return found


def _run(name, command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(
            f"{name} ended with {done.returncode}: {(done.stderr.strip() or done.stdout.strip())[-400:]}"
        )
    return done.stdout


def write_samples(path):
    """Sizes of the first packets of flows, by classes that lie apart; always the same."""
    chance = random.Random(1)
    lines = [",".join(["class", "capture", *(f"size_{place + 1}" for place in range(PACKETS)), "fold"])]
    for number in range(CLASSES):
        means = [chance.uniform(200, 1340) for _ in range(PACKETS)]
        lines += [
            f"class {number},made," + ",".join(str(round(mean + chance.uniform(-150, 150))) for mean in means) + ",0"
            for _ in range(FLOWS)
        ]
    path.write_text("\n".join(lines) + "\n")


class OffLine:
    """A run: naive Bayes of as many made classes as ours."""

    COMMANDS = (
        f"lab/reproduce/OfflineRate.java: Weka tells {CLASSES * FLOWS} made flows over and over, in {ROUNDS} rounds"
    )

    def version(self):
        return " ".join(path.read_text() for path in (pathlib.Path(__file__), SOURCE, POM))

    def measure(self, _, path):
        lacks = missing()
        document = {
            "experiment": "off-line",
            "missing": lacks,
            "rows": [] if lacks else self._rows(path.parent / "weka"),
        }
        path.write_text(json.dumps(document) + "\n")

    def _rows(self, jars):
        with tempfile.TemporaryDirectory() as folder:
            samples = pathlib.Path(folder) / "samples.csv"
            write_samples(samples)
            found = rates(samples, PACKETS, ROUNDS, jars.resolve())
        return [
            {
                "row": name,
                "kfps": statistics.median(flows) / 1e3,
                "low_kfps": min(flows) / 1e3,
                "high_kfps": max(flows) / 1e3,
            }
            for name, flows in found.items()
        ]


OFF_LINE = OffLine()
