# SPDX-License-Identifier: Apache-2.0
"""How many tasks could have what they want, for who knows beforehand what comes and what it takes.

`parshall bench profile` measures what a packet adds for each set of tasks. Who knows that, keeps all packets counted,
and needs no margin for chance looks at 0.75 of the flows, the same of all of them, for as many tasks as fit, whichever
fit best: a flow that none of these looks at is counted and no more. Flows are taken to be alike: what can be gained
beyond that by leaving out heavy flows first, or of heavy hitters light ones, is not in it.
"""

import itertools
import json
import math

from runs import bench

TASKS = {
    "heavy-hitters": "heavy-hitters:threshold=0.1%,most=100000",
    "retransmissions": "retransmissions:most=100000",
    "bursty": "bursty:most=100000",
    "latency-change": "latency-change:most=100000",
}
NAMES = tuple(TASKS)
# configuration: share of the flows, and the tasks that they are for (lab/adaptive/scenarios.cpp)
CONFIGURATIONS = {
    "chain": [(1 / 5, NAMES[:n]) for n in range(5)],
    "tree": [
        (1 / 4, ()),
        (1 / 4, ("heavy-hitters", "retransmissions")),
        (1 / 4, ("retransmissions", "bursty")),
        (1 / 4, ("bursty", "latency-change")),
    ],
}
TRAFFIC = "flows=250000,dist=zipf:1.1,protocol=connections,resend=0.005"
ROUNDS, BUSY = 15, 0.95  # load 1 is a busy share
PROFILE = ["profile", "--rounds", str(ROUNDS)]
WHAT = "more in state "  # begins the rows of states
SETS = [tasks for n in range(len(NAMES) + 1) for tasks in itertools.combinations(NAMES, n)]


def name_of(tasks):
    return "s" + "".join(str(NAMES.index(task)) for task in tasks)


def traffic(load_1_mpps):
    """At its rate: how many packets share what a flow takes in a window."""
    return f"{TRAFFIC},rate={round(load_1_mpps * 1e6)}"


def version(load_1_mpps):
    """Of all that costs go by."""
    return f"{traffic(round(load_1_mpps, 1))} {TASKS} {SETS} {PROFILE}"


def costs_of_states(profile):
    """Returns the rows of states in the JSON of `parshall bench profile --states`, by the states' names."""
    return {row["what"].removeprefix(WHAT): row for row in profile["rows"] if row["what"].startswith(WHAT)}


def measure(parshall, path, load_1_mpps):
    """What a packet takes beyond its flow's counters, ns, by set of tasks: a JSON file of name_of() and ns."""
    states = path.with_suffix(".states.toml")
    text = ['default = "s"']
    for tasks in SETS:
        specs = ", ".join(json.dumps(TASKS[task]) for task in tasks)
        text.append(f'[[state]]\nname = "{name_of(tasks)}"\ntasks = ["count"{", " if specs else ""}{specs}]')
    states.write_text("\n".join(text) + "\n")
    profile = path.with_suffix(".profile.json")
    bench(parshall, [*PROFILE, "--states", str(states), "-g", traffic(load_1_mpps)], profile)
    costs = {state: row["ns"] for state, row in costs_of_states(json.loads(profile.read_text())).items()}
    path.write_text(json.dumps(costs))
    return costs


def satisfied(costs, configuration, load, full_ns):
    """At most so many tasks, at a constant load; `full_ns`: of a packet at load 1, with all tasks."""
    if load <= 1:
        return len(NAMES)

    def added_ns(kept):
        return sum(
            share * costs[name_of(tuple(task for task in tasks if task in kept))]
            for share, tasks in CONFIGURATIONS[configuration]
        )

    base_ns = full_ns - added_ns(NAMES)
    return max(
        (
            len(kept)
            for kept in SETS
            if base_ns + 0.75 * added_ns(kept) + 0.25 * added_ns(()) <= full_ns / (BUSY * load)
        ),
        default=0,
    )


def satisfied_on_average(costs, configuration, load, full_ns, swings):
    if not swings:
        return satisfied(costs, configuration, load, full_ns)
    steps = 200
    return (
        sum(
            satisfied(
                costs, configuration, 1 + (load - 1) * (1 - math.cos(2 * math.pi * (i + 0.5) / steps)) / 2, full_ns
            )
            for i in range(steps)
        )
        / steps
    )
