#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the experiments of MONA on this machine and writes lab/docs/reproduce-adaptive.md with its plots.

Everything comes from `parshall bench adaptive` and `parshall bench heavy-hitters`; a round has traffic of its own.
Tables show medians of the rounds, and the worst round where that is said. Raw figures are kept, and used again unless
--again is given.
"""

import argparse
import datetime
import hashlib
import itertools
import json
import pathlib
import shutil
import statistics
import subprocess

import oracle
from adaptive_tables import (
    MODES,
    OURS,
    STATES,
    TASKS,
    estimates,
    floods,
    long_run,
    losses,
    median,
    overall,
    overhead,
    overloads,
    satisfactions,
    sketches,
    sums,
)
from plots import PANELS, key, panel
from rows import Rows
from runs import bench

PAPER = (
    "Tangari et al., *Accuracy-aware adaptive traffic monitoring for software dataplanes* (MONA), "
    "IEEE/ACM ToN 28(3), 2020"
)
# arguments of a run, and rounds
RUNS = {
    "loss": (
        [
            "adaptive",
            "--scenario",
            "swing-250ms,swing-100ms,neighbour,skew",
            "--states",
            "chain",
            "--queue",
            "4096,16Ki",
            "--seconds",
            "4",
        ],
        3,
    ),
    "satisfaction": (["adaptive", "--scenario", "dynamic", "--seconds", "4"], 3),
    "constant": (["adaptive", "--scenario", "rates", "--states", "chain", "--seconds", "4"], 3),
    "flood": (["adaptive", "--scenario", "flood", "--states", "chain", "--seconds", "3"], 1),
    "overload": (["adaptive", "--scenario", "overload", "--states", "chain", "--seconds", "5"], 3),
    "long": (
        [
            "adaptive",
            "--scenario",
            "overload",
            "--states",
            "chain",
            "--mode",
            OURS,
            "--seconds",
            "600",
            "--stretches",
            "24",
        ],
        1,
    ),
    "sketches": (["heavy-hitters", "--window", "10ms,100ms", "--width", "16Ki,64Ki"], 15),
}


def arguments_of(name, rounds):
    arguments, usual = RUNS[name]
    if arguments[0] == "adaptive" and "--mode" not in arguments:
        arguments = [*arguments, "--mode", ",".join(MODES)]
    return [*arguments, "--rounds", str(usual if name in ("long", "sketches") else rounds or usual)]


def run(parshall, folder, name, rounds, again):
    arguments = arguments_of(name, rounds)
    version = f"{arguments} {pathlib.Path(parshall).stat().st_mtime_ns}"
    path = folder / f"adaptive-{name}-{hashlib.sha256(version.encode()).hexdigest()[:12]}.json"
    if again or not path.exists():
        print(f"parshall bench {' '.join(arguments)}", flush=True)
        bench(parshall, arguments, path.with_suffix(".part"))
        path.with_suffix(".part").rename(path)
    return Rows.read(path)


def oracle_costs(parshall, folder, again, load_1_mpps):
    version = f"{oracle.version(load_1_mpps)} {pathlib.Path(parshall).stat().st_mtime_ns}"
    path = folder / f"adaptive-oracle-{hashlib.sha256(version.encode()).hexdigest()[:12]}.json"
    if again or not path.exists():
        print("parshall bench profile, of each set of tasks", flush=True)
        oracle.measure(parshall, path, load_1_mpps)
    return json.loads(path.read_text())


def plot(rows, path):
    """Satisfaction along the load: a panel for each task and configuration."""
    if shutil.which("gnuplot") is None:
        return False
    script = ["set terminal svg noenhanced size 1100,520", f'set output "{path}"', *PANELS]
    for states, task in itertools.product(STATES, TASKS):
        for number, mode in enumerate(MODES):
            script.append(f"$d{number} << EOD")
            for load in rows.values("load"):
                found = [row["satisfaction"] for row in rows.where(states=states, task=task, mode=mode, load=load)]
                script.append(f"{load} {statistics.median(found)} {min(found)} {max(found)}")
            script.append("EOD")
        script += panel(f"{states}, {task}", MODES)
    script += key(MODES)
    return (
        subprocess.run(
            ["gnuplot"], input="\n".join(script) + "\n", text=True, stdout=subprocess.DEVNULL, check=False
        ).returncode
        == 0
    )


def page(runs, costs, rounds, is_drawn):
    machine = runs["loss"].machine
    lines = [
        "# Adaptive monitoring on this machine",
        "",
        f"`make reproduce-adaptive` repeats the experiments of {PAPER}.",
        "",
        "One worker runs the whole monitor over built-in TCP traffic. The traffic has 250,000 flows, Zipf 1.1 unless a "
        "row says otherwise. 0.5 % of the packets are retransmissions. Windows are 10 ms long.",
        "",
        "- **Time** is the worker's own: the CPU time of its thread, plus the time that it would have waited for "
        "packets.",
        "- **Load 1** is the rate at which the worker is busy for 95 % of the time with all flows in their own states. "
        "It is measured before each run.",
        "  The paper's machine reached about 5 Mpps at this point, so its 5 to 11 Mpps are loads of 1 to 2.2.",
        "- **Truth** is the result of the same program on the same packets when they wait for it.",
        "- **Queues** hold 4096 packets, or 16384, which is 1 MB of 64-byte packets.",
        "- The paper's figures are in brackets. Its nanoseconds are not compared.",
        "",
        "| mode | under overload |",
        "|---|---|",
        "| `off` | tasks follow all flows, and packets are lost at random |",
        "| `mona-adapt` | the paper's adaptation alone: flows move to lighter states, whatever tasks find |",
        "| `mona` | the same with the paper's accuracy control, extended: the task that finds least gets more |",
        "| `adapt` | Parshall's default: tasks follow the flows that show most for their time |",
        "",
        "All modes but `off` leave out flows so that no packet is lost. "
        "[Adaptive monitoring](../../docs/adaptive.md#how-parshall-decides) explains `adapt`.",
        "",
        "| machine | |",
        "|---|---|",
    ]
    lines += [f"| {name} | {value} |" for name, value in machine.items()] + [f"| date | {datetime.date.today()} |"]
    lines += [
        "",
        "## Packets lost",
        "",
        "The table has the fraction of packets lost in four seconds, the number of windows with losses, and the "
        "longest run of such windows. Values are of the median round.",
        "(Paper: with adaptation none are lost at 250 ms. At 100 ms less than half as many are lost as without it.)",
    ]
    lines += losses(runs["loss"])
    lines += [
        "",
        "## Satisfaction",
        "",
        "A task is satisfied in a window if its recall and its precision are at least 0.75. Satisfaction is the "
        "fraction of such windows, without the first second.",
        "",
        "- **By flows**, all events of one flow count once.",
        "- **By count**, each event counts, and the recall alone decides.",
        "",
        "The rate swings between load 1 and the given load every second. Values are of the median round, with the "
        "worst round in brackets.",
    ]
    lines += (
        ["", "The plot has the satisfaction by flows.", "", "![satisfaction by load](reproduce/satisfaction.svg)"]
        if is_drawn
        else []
    )
    lines += [
        "",
        "The next table has the median of all tasks, over all loads and rounds. Behind the semicolon is the median "
        "without the heavy hitters.",
        "(Paper: 38 % without adaptation, 23 % with adaptation alone, 75 % with accuracy control.)",
    ]
    lines += overall(runs["satisfaction"])
    lines += [
        "",
        "The next table adds up all four tasks, so 4 is the maximum. The sum by flows is before the semicolon, the sum "
        "by count behind it.",
        "",
        "The oracle knows the coming packets and their cost, and loses no packet. It inspects 0.75 of the flows for as "
        "many tasks as fit, independent of the weight of flows. A method that leaves out flows by their weight may "
        "therefore be better.",
        "",
        "Each set of tasks adds this time to a packet: "
        + ", ".join(
            f"{' + '.join(tasks) or 'no task'} {costs[oracle.name_of(tasks)]:.0f} ns"
            for tasks in oracle.SETS
            if len(tasks) in (0, 1, 4)
        )
        + ".",
    ]
    lines += (
        sums(runs["satisfaction"], "dynamic", costs)
        + ["", "The same for each task:"]
        + satisfactions(runs["satisfaction"], "dynamic")
    )
    lines += [
        "",
        "Random loss of a tenth of the packets hides few events of these tasks. Without adaptation the result is "
        "therefore better here than in the paper. At some loads it is better than any method that loses no packet can "
        "be.",
        "However, a monitor without adaptation does not report what it missed.",
    ]
    lines += (
        ["", "The same tables for constant rates:"]
        + sums(runs["constant"], "rates", costs)
        + satisfactions(runs["constant"], "rates")
    )
    lines += [
        "",
        "## Estimates of the recall",
        "",
        "Parshall estimates the recall of each task, and a lower bound that should hold in 95 % of the windows. This "
        "table has the mode `adapt`, in runs in which tasks left out flows, and in windows with at least 20 events.",
        "The error is relative to the true recall. *Recall above bound* is the fraction of the windows with a bound in "
        "which the true recall was at least the bound.",
    ]
    lines += estimates(runs["satisfaction"], runs["constant"])
    lines += [
        "",
        "## A SYN flood",
        "",
        "The table has the fraction of packets lost. Behind the semicolon is the recall for flows outside the flood, "
        "for these tasks in order: " + ", ".join(TASKS) + ".",
    ]
    lines += floods(runs["flood"])
    lines += [
        "",
        "## Five times load 1",
        "",
        "There is no time even to count all packets, so every mode loses packets. Values are of the median round.",
    ]
    lines += overloads(runs["overload"])
    lines += [
        "",
        "The next run took ten minutes. 24 half seconds of it are compared with the truth, which starts half a second "
        "before each of them.",
        "",
        long_run(runs["long"]),
    ] + overloads(runs["long"])
    lines += [
        "",
        "## One task against sketches",
        "",
        "The task is to find the sources with at least 0.1 % of a window's packets. `all-flows` is a monitor that "
        "keeps every flow. The sketches do nothing else than this task. All run on one core, and all poll, decode and "
        "hash in the same way.",
        "The traffic has 10 Mpps of packet time and 250,000 flows of Zipf 1.1. The row `worker` is for a monitor whose "
        "analyst has another core.",
        "(Paper: the monitor's throughput is 25 % below that of SketchVisor, a sketch with a fast path. A packet then "
        "takes a third longer.)",
    ]
    lines += sketches(runs["sketches"])
    lines += ["", "## Overhead", "", overhead(runs["loss"], runs["satisfaction"], runs["constant"])]
    lines += ["", "## Commands", ""]
    return (
        "\n".join(lines + [f"- {name}: `parshall bench {' '.join(arguments_of(name, rounds))}`" for name in RUNS])
        + "\n"
    )


def main():
    parser = argparse.ArgumentParser(
        prog="adaptive", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parshall")
    parser.add_argument(
        "--folder",
        type=pathlib.Path,
        default=pathlib.Path("lab/docs"),
        help="that gets reproduce-adaptive.md (lab/docs)",
    )
    parser.add_argument(
        "--runs", type=pathlib.Path, default=pathlib.Path("build/reproduce"), help="folder of the raw figures"
    )
    parser.add_argument(
        "--rounds", type=int, default=0, help="of each run, with other traffic (1 to 3; the paper: 100)"
    )
    parser.add_argument("--again", action="store_true", help="measure again what was measured before")
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    runs = {name: run(options.parshall, options.runs, name, options.rounds, options.again) for name in RUNS}
    costs = oracle_costs(
        options.parshall,
        options.runs,
        options.again,
        median([row for row in runs["satisfaction"].where(mode=MODES[0], load=2)], "mpps") / 2,
    )
    pictures = options.folder / "reproduce"
    pictures.mkdir(parents=True, exist_ok=True)
    is_drawn = plot(runs["satisfaction"], pictures / "satisfaction.svg")
    (options.folder / "reproduce-adaptive.md").write_text(page(runs, costs, options.rounds, is_drawn))
    print(f"wrote {options.folder / 'reproduce-adaptive.md'}; raw figures in {options.runs}")


if __name__ == "__main__":
    main()
