# SPDX-License-Identifier: Apache-2.0
"""How many flows are classified, for classes.py: on line by our program, off line by scikit-learn and Weka (table 1 of
the paper on classification at wire speed).

What is compared is flows in a second of CPU time, which other work on the machine changes less than what passes without
loss: on a busy one neither says much.
"""

import json
import subprocess
import sys
import time

import class_models
import weka

ROUNDS = 5
LEAST_SECONDS = 1
WORST_PACKETS, MEAN_PACKETS = 5, 49  # of a flow
TRAFFIC = {
    "worst": ["-g", f"flows=1,dist=trains:{WORST_PACKETS}", "--rate", "2"],
    "mean": ["-g", f"flows=1000,dist=trains:{MEAN_PACKETS},size=748", "--gbps", "5"],
}
PACKETS_A_FLOW = {"worst": WORST_PACKETS, "mean": MEAN_PACKETS}
ON_LINE = [
    "classify",
    "--flows",
    "1Mi",
    "--idle",
    "200ms",
    "--seconds",
    "0.5",
    "--rounds",
    str(ROUNDS),
    "--shape",
    "1I-1Q-inline,1I-1Q-1P",
]


def bench(parshall, arguments, path):
    """The documents of a run of `parshall bench`, one a line."""
    run = subprocess.run(
        [str(word) for word in (parshall, "bench", *arguments, "--format", "json", "-o", path)],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if run.returncode != 0 or "stopped after" in run.stderr:
        sys.exit(f"parshall bench {' '.join(map(str, arguments))}\n{run.stderr}")
    return documents(path)


def documents(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def on_line(parshall, model, path):
    """By traffic: what a model of ours takes, at a rate that there is time for, and the highest rate without loss."""
    found = {}
    for name, traffic in TRAFFIC.items():
        at_ease = bench(parshall, [*ON_LINE, *traffic, "--model", model], path.with_suffix(f".{name}.part"))[-1]
        searched = bench(
            parshall,
            [*ON_LINE, *line_of(traffic), "--model", model, "--find-rate"],
            path.with_suffix(f".{name}-rate.part"),
        )[-1]
        lossless = {row["shape"]: row for row in searched["rows"]}
        found[name] = [
            {
                "shape": row["shape"],
                "flows": flows_of(row, PACKETS_A_FLOW[name]),
                "lost_share": row["lost_share"],
                **{
                    key: lossless[row["shape"]][key]
                    for key in ("lossless_mpps", "low_lossless_mpps", "high_lossless_mpps", "lossless_gbps")
                },
            }
            for row in at_ease["rows"]
        ]
        found["load"] = at_ease["machine"]["load"]
    return found


def line_of(traffic):
    """The same on a fully loaded line."""
    return [*traffic[:2], "--gbps", "10"]


def flows_of(row, packets):
    """Flows in a second of CPU time: median, least, most."""
    return [1e9 / row[name] / packets for name in ("cpu_ns", "high_cpu_ns", "low_cpu_ns")]


def scikit_learn(stem):
    """Flows in a second of CPU time, of each round: all at once, as is fastest there, and one by one, as they would
    come."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    sizes, classes = class_models.sizes_of(stem).astype(float), class_models.told_by(stem).classes
    learners = {
        "GaussianNB": GaussianNB(),
        "DecisionTreeClassifier": DecisionTreeClassifier(min_samples_leaf=2, random_state=class_models.SEED),
    }
    rates = {}
    for name, learner in learners.items():
        learner.fit(sizes, classes)
        rates[name] = [rate(learner.predict, [sizes]) for _ in range(ROUNDS)]
        rates[name + ", one by one"] = [rate(learner.predict, sizes[:1000, None, :]) for _ in range(ROUNDS)]
    return rates


def rate(predict, batches):
    begin, flows, seconds = time.process_time(), 0, 0
    while seconds < LEAST_SECONDS:
        for batch in batches:
            predict(batch)
            flows += len(batch)
        seconds = time.process_time() - begin
    return flows / seconds


def of_weka(stem, folder):
    """The same, one by one, as is its interface; None where it cannot be had."""
    lacks = weka.missing()
    if not lacks:
        try:
            return weka.rates(f"{stem}.samples.csv", class_models.PACKETS, ROUNDS, (folder / "weka").resolve())
        except RuntimeError as reason:
            lacks = reason
    print(f"Weka is left out: {lacks}", file=sys.stderr)
    return None


def off_line(stem, folder):
    return {"scikit-learn": scikit_learn(stem), "Weka": of_weka(stem, folder)}
