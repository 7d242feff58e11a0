# SPDX-License-Identifier: Apache-2.0
"""Made-up runs for MONA's judges, in a World as its paper has it or upside down."""

import oracle
from mona_rows import TASKS
from states import name_of

MODES = ("off", "mona-adapt", "mona", "adapt")
SATISFIED = dict(zip(MODES, (0.3, 0.2, 0.8, 0.9)))
LOADS = (1.2, 1.6, 1.8, 2, 2.2)
ERRS = dict(zip(TASKS, (0.05, 0.15, 0.04, 0.2)))  # of the recall, were all flows missing
VARIES = dict(zip(TASKS, (0.1, 0.4, 0.05, 0.5)))
OF_TASK = 0.000015
# By states and tasks: of adaptation alone, and with accuracy control.
OVERHEAD = {
    size: {"mona-adapt": alone, "mona": alone + OF_TASK * tasks}
    for size, alone, tasks in (
        ("chain", 0.0001, 4),
        ("10x4", 0.0001, 4),
        ("20x4", 0.0002, 4),
        ("40x4", 0.0005, 4),
        ("64x4", 0.001, 4),
        ("10x10", 0.0001, 10),
        ("10x20", 0.0001, 20),
        ("10x50", 0.0001, 50),
        ("20x20", 0.0037, 20),
        ("20x40", 0.0074, 40),
        ("40x40", 0.0124, 40),
    )
}


def mona(world):
    """Rows by the names of runs."""
    return {
        "contended": [
            {"table": "bucketed", "batch": batch, "beside": name, **world.cost(ns)}
            for batch in (1, 32)
            for name, ns in (("none", 10), ("cache", 25), ("memory", 20))
        ],
        "skewed": [
            {"table": "bucketed", "batch": batch, "zipf": zipf, **world.cost(40 / (0.5 + zipf))}
            for batch in (1, 32)
            for zipf in (0.5, 1, 1.5, 2)
        ],
        "fits": [
            {"times": times, "gumbel": world.either(0, 900), "normal": 500, "weibull": 600}
            for times in ("in cache", "from memory")
        ],
        "cache-hits": [
            {
                "row": "share",
                "hit_share": share,
                **world.share("error", world.either(0.005, 0.5)),
                **world.share("naive_error", world.either(0.06, 0.03)),
            }
            for share in (0, 0.5, 1)
        ],
        "missing-flows": [
            {
                "row": "x",
                "spread": spread,
                "missing": share,
                "threshold": threshold,
                **world.share("recall", world.either(1 - share * 10 * threshold, share * 10 * threshold)),
            }
            for spread in ("flows", "sources")
            for share in (0.2, 0.5)
            for threshold in (0.01, 0.02, 0.05)
        ],
        "states": [
            {"state": name_of(configuration, number), **world.figure("ns", 10.0 * number)}
            for configuration, states in oracle.CONFIGURATIONS.items()
            for number in range(1, len(states) + 1)
        ],
        "collisions": [
            {
                "table": "chained-loaded",
                "load": load,
                "places": 2**18 / load,
                "mean_probes": 2 + load / 2,
                "offered_mpps": 60.0,
                **world.cost(10 + load),
                **world.share("lossless_mpps", world.either(40 / (load + 0.5), 10 + load)),
                **world.share("modelled_loss", world.either(max(0, load - 0.5) / 100, 1 - load / 100)),
            }
            for load in (0.25, 0.5, 1, 4, 16)
        ],
        "sketches": sketches(world),
        "loss": losses(world),
        "flood": floods(world),
        "dynamic": [
            adapted(world, mode, task, load, states)
            for states in ("chain", "tree")
            for load in LOADS
            for mode in MODES
            for task in TASKS
        ],
        "constant": [
            adapted(world, mode, task, load, states)
            for states in ("chain", "tree")
            for load in LOADS
            for mode in ("mona-adapt", "mona")
            for task in TASKS
        ],
        "slots": [
            {
                "slots": slots,
                "mode": mode,
                "task": task,
                **world.share("recall", world.either(recall, 1 - recall)),
                **world.share("missed_later_share", world.either(1 - recall, recall)),
            }
            for slots, recall in ((16, 0.4), (512, 0.98))
            for mode in ("off", "mona")
            for task in TASKS
        ],
        "steps": [
            {
                "policy": policy,
                "first_step": step,
                **world.share("reached_share", world.either(reached, 1 - reached)),
                **world.figure("windows", windows),
            }
            for policy, windows, reached in (("MM", 10, 0.9), ("MA", 20, 0.8), ("AM", 30, 0.7), ("AA", 40, 0.6))
            for step in (0.0025, 0.1)
        ],
        "state-costs": states_alone(world, 148_800, (1000,)),
        "state-changes": states_alone(world, 4000, (10, 100, 500, 1000)),
        "deciding": [
            {
                "states": states,
                "mode": mode,
                "task": "HH-0",
                "overhead_share": world.either(share, 0.05 - share),
                "longest_step_us": world.either(8.0, 800.0),
            }
            for states, of_modes in OVERHEAD.items()
            for mode, share in of_modes.items()
        ],
    }


def adapted(world, mode, task, load, states):
    """The more load, the more flows are missing; and of these a task errs by its share."""
    missing = (load - 1) / 1.4
    error = world.either(missing * ERRS[task], 0.9 - missing * ERRS[task])
    satisfied = SATISFIED[mode]
    return {
        "mode": mode,
        "task": task,
        "load": load,
        "states": states,
        "missing_share": missing,
        "missed_later_share": 0.0,
        "mean_error": error,
        "worst_error": 1.1 * error,
        "variation": world.either(VARIES[task], 1 - VARIES[task]),
        "recall": world.either(1 - 0.2 * missing, 0.1),
        "satisfaction_by_recall": world.either(satisfied, 1 - satisfied),
        "satisfaction": world.either(satisfied, 1 - satisfied),
        "satisfaction_by_count": world.either(satisfied, 1 - satisfied),
    }


def states_alone(world, window_packets, flows):
    """Upside down, fewer states cost more than the paper has them."""
    rows = []
    for states in (5, 10, 20, 40, 64):
        for of_flows in flows:
            counting, changing = (
                world.either(0.01 * states, 70.0 - states),
                world.either(0.4 * states * of_flows / 1000, 90.0 - states),
            )
            for way, ns in (
                ("one-state", 20),
                ("counted", 20 + counting),
                ("decided", 20 + counting),
                ("changing", 20 + counting + changing),
                ("estimates", 0.05),
            ):
                rows.append(
                    {
                        "states": states,
                        "flows": of_flows,
                        "window_packets": window_packets,
                        "way": way,
                        "ns": ns,
                        "low_ns": ns,
                        "high_ns": ns,
                    }
                )
    return rows


def losses(world):
    """Upside down, adaptation loses more, and at higher skews."""
    lost = {"off": world.either(0.4, 0.2), "mona-adapt": world.either(0.0, 0.4)}
    begins = {"off": world.either(1.25, 1.05), "mona-adapt": world.either(1.05, 1.25)}
    return [
        {
            "mode": mode,
            "task": task,
            "scenario": scenario,
            "queue_packets": queue,
            "missed_later_share": lost[mode],
            "skew_at_loss": begins[mode],
        }
        for scenario in ("swing-250ms", "swing-100ms", "neighbour", "skew")
        for queue in (4096, 16384)
        for mode in lost
        for task in TASKS
    ]


def floods(world):
    rows = []
    for share in (0, 0.5, 0.8, 1):
        for size, lost, fall in ((0, 0.8 * share, 0.4), (128, 0.0, 0.1)):
            recall = 0.95 - share * fall
            rows += [
                {
                    "mode": "mona",
                    "task": task,
                    "flood_share": share,
                    "filter_bytes": size,
                    "missed_share": world.either(lost, 0.9 - lost),
                    "recall": world.either(recall, 1 - recall),
                }
                for task in TASKS
            ]
    return rows


def sketches(world):
    ways = (
        ("all-flows", None, None, 50),
        ("worker", None, None, 30),
        ("heavy-keeper", 16384, None, 45),
        ("space-saving", 16384, None, 44),
        ("nitro", 16384, 16, 40),
    )
    return [
        {
            "way": way,
            "window_ms": 10.0,
            "width": width,
            "one_in": one_in,
            **world.figure("ns", ns),
            **dict.fromkeys(
                ("recall", "precision"),
                world.either(1.0 if way == "all-flows" else 0.9, 0.5 if way == "all-flows" else 0.9),
            ),
        }
        for way, width, one_in, ns in ways
    ]
