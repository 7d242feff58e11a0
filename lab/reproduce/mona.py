# SPDX-License-Identifier: Apache-2.0
"""The MONA paper: its figures and tables, and what is run for them."""

import cache_hits
import collisions
import fits
import missing_flows
import states
from mona_costs import figure_1a, figure_1b, figure_3, figure_6, figure_10a, figure_10b, figure_13a, figure_13b, table_1
from mona_estimates import figure_5a, figure_5b, figure_5c, figure_9a, figure_9b
from mona_losses import HALF_LOST, NOTHING_LOST, figure_7, figure_7_skew, figure_11a, figure_11b
from mona_overhead import figure_12a, figure_12b, figure_12c, figure_12d, longest_step, table_2
from mona_plots import draw_cache_hits, draw_floods, draw_losses, draw_recall, draw_satisfaction
from mona_rows import TASKS
from mona_satisfaction import figure_8, figure_8_all, figure_8_ours
from mona_steps import figure_5d
from paper import Figure, Paper, Run

CITATION = (
    "Tangari et al., *Accuracy-aware adaptive traffic monitoring for software dataplanes* (MONA), "
    "IEEE/ACM ToN 28(3), 2020"
)
INTRO = (
    "One worker runs the whole monitor over built-in TCP traffic. The traffic has 250,000 flows, Zipf 1.1 unless a row "
    "says otherwise. 0.5 % of the packets are retransmissions. Windows are 10 ms long. Each run has different traffic.",
    "",
    "- Time is the worker's own: the CPU time of its thread, plus the time that it would have waited for packets.",
    "- **Load 1** is the rate at which the worker is busy for 95 % of the time with all flows in their own states. It "
    "is measured before each run.",
    "- The paper's loads are 5 to 11 Mpps. Its machine reached 5 Mpps with all tasks on all flows, which is more work "
    "than load 1. So the paper's loads "
    "are below 2.2.",
    "- The truth is the result of the same program on the same packets when they wait for it.",
    "- `off` is no adaptation: packets are lost. `mona-adapt` is the paper's adaptation alone: flows move to lighter "
    "states, whatever tasks find. `mona` adds its accuracy control: the task that finds least gets more.",
    "- Here, these policies decide for each task which flows it follows. `mona` has extensions: it moves heavy flows "
    "first if tasks find more that way.",
    "- [Another page](../reproduce-adaptive.md) has all results for satisfaction, recall and floods, with Parshall's "
    "default policy `adapt` (`make reproduce-adaptive`).",
)
MODES = ("--mode", "off,mona-adapt,mona,adapt")
THEIRS = ("--mode", "off,mona-adapt,mona")
ADAPTED = ("--mode", "mona-adapt,mona")
ONE = ("--rounds", "1")
BUCKETED = ("tables", "--tables", "bucketed", "--batch", "1,32", "--zipf")

STATES = ("states", "--states", "5,10,20,40,64")
SKETCHES = ("heavy-hitters", "--window", "10ms", "--threshold", "0.0005")  # the paper's

RUNS = {
    "contended": Run(
        (*BUCKETED, "1.1", "--flows", "1Mi", "--beside", "none,cache,memory", "--rounds", "9"),
        quick=(*BUCKETED, "1.1", "--flows", "1Mi", "--beside", "none,cache,memory", "--rounds", "5"),
    ),
    "skewed": Run(
        (*BUCKETED, "0.5,0.75,1,1.25,1.5", "--flows", "100000", "--rounds", "9"),
        "zipf",
        quick=(*BUCKETED, "0.5,1,1.5", "--flows", "100000", "--rounds", "5"),
    ),
    "fits": Run(y="gumbel", module=fits),
    "cache-hits": Run(
        x="hit_share", y="error", module=cache_hits, passes=1, is_noiseless=True, quick=(), draw=draw_cache_hits
    ),
    "missing-flows": Run(x="missing", y="recall", module=missing_flows, passes=1, is_noiseless=True, quick=()),
    "states": Run(module=states),
    "collisions": Run(x="places", y="modelled_loss", module=collisions, by_clock=True),
    "sketches": Run(
        (*SKETCHES, "--width", "16Ki,64Ki", "--rounds", "9"),
        quick=(*SKETCHES, "--width", "16Ki", "--rounds", "3"),
        counted=("recall", "precision"),
    ),
    "loss": Run(
        (
            "adaptive",
            "--scenario",
            "swing-250ms,swing-100ms,neighbour,skew",
            "--states",
            "chain",
            "--queue",
            "4096,16Ki",
            "--seconds",
            "4",
            "--mode",
            "off,mona-adapt",
            *ONE,
        ),
        None,
        "missed_later_share",
        seeded=True,
        by_clock=True,
        draw=draw_losses,
        quick=(
            "adaptive",
            "--scenario",
            "swing-250ms",
            "--states",
            "chain",
            "--queue",
            "4096",
            "--seconds",
            "2",
            "--mode",
            "off,mona-adapt",
            *ONE,
        ),
    ),
    "flood": Run(
        ("adaptive", "--scenario", "flood", "--states", "chain", "--seconds", "3", "--mode", "mona", *ONE),
        "flood_share",
        "missed_share",
        seeded=True,
        by_clock=True,
        draw=draw_floods,
    ),
    "slots": Run(
        (
            "adaptive",
            "--scenario",
            "rates",
            "--load",
            "0.8",
            "--states",
            "chain",
            "--slots",
            "16Ki,64Ki,128Ki,256Ki,512Ki",
            "--seconds",
            "3",
            "--mode",
            "off,mona",
            *ONE,
        ),
        seeded=True,
        by_clock=True,
    ),
    "dynamic": Run(
        ("adaptive", "--scenario", "dynamic", "--load", "1.4,1.6,1.8,2.2", "--seconds", "3", *MODES, *ONE),
        "load",
        "satisfaction_by_recall",
        seeded=True,
        by_clock=True,
        draw=draw_satisfaction,
        quick=(
            "adaptive",
            "--scenario",
            "dynamic",
            "--load",
            "2.2",
            "--states",
            "chain",
            "--seconds",
            "2",
            *THEIRS,
            *ONE,
        ),
    ),
    "constant": Run(
        ("adaptive", "--scenario", "rates", "--load", "1.1,1.3,1.6,2", "--seconds", "3", *ADAPTED, *ONE),
        "missing_share",
        "recall",
        seeded=True,
        by_clock=True,
        draw=draw_recall,
    ),
    "state-costs": Run((*STATES, "--flows", "1000", "--rounds", "9"), "states"),
    "state-changes": Run((*STATES, "--flows", "10,100,500,1000", "--rate", "400000", "--rounds", "9"), "states"),
    "steps": Run(("steps",), "first_step", "windows", seeded=True, quick=("steps",)),
    "deciding": Run(
        (
            "adaptive",
            "--scenario",
            "rates",
            "--load",
            "1.4",
            "--states",
            "chain,10x4,20x4,40x4,64x4,10x10,10x20,10x50,20x20,20x40,40x40",
            "--flows",
            "1000",
            "--packets",
            "1Mi",
            "--seconds",
            "1",
            *ADAPTED,
            *ONE,
        ),
        seeded=True,
        by_clock=True,
    ),
}

DRAWING = "a drawing: it states nothing that is measured"


SWING = (
    "the rate peaks at a load of 1.6. The paper's rate peaks at 14.8 Mpps, which is 1.5 times the rate of its "
    "figure 7d without adaptation"
)
NEIGHBOUR = "one neighbour for a third of the time; the paper has one to three"

FIGURES = (
    Figure(
        "1a",
        "Neighbours that use the last-level cache double the time a packet takes.",
        ("contended",),
        figure_1a,
        plot="contended",
    ),
    Figure("1b", "Traffic with less skew doubles the time a packet takes.", ("skewed",), figure_1b, plot="skewed"),
    Figure("2", "(Overview: adaptation and accuracy control beside the pipeline.)", not_here=DRAWING),
    Figure(
        "table I",
        "Gumbel's distribution describes the times of lookups best, both from cache and from memory.",
        ("fits",),
        table_1,
    ),
    Figure(
        "3",
        "1,000 samples estimate the fraction of lookups answered by the cache with an error below 1 % on average. The "
        "nearer mean has an error of 5 "
        "%.",
        ("cache-hits",),
        figure_3,
        plot="cache-hits",
    ),
    Figure("4", "(Graph of monitoring states.)", not_here=DRAWING),
    Figure(
        "5a",
        "The estimated recall has a mean error of 8 % and at most 20 %, worst for LatChange. It is better than the "
        "mean or an upper bound alone.",
        ("dynamic", "constant"),
        figure_5a,
    ),
    Figure("5b", "The error grows with the fraction of missing flows.", ("dynamic", "constant"), figure_5b),
    Figure(
        "5c",
        "Tasks whose results vary more, LatChange and RTx, have larger errors.",
        ("dynamic", "constant"),
        figure_5c,
    ),
    Figure(
        "5d",
        "Of the ways to change the step, multiplying it up and down converges fastest.",
        ("steps",),
        figure_5d,
        plot="steps",
    ),
    Figure(
        "6",
        "There are two configurations of states. Each state costs more than the lighter one below it.",
        ("states",),
        figure_6,
    ),
    Figure(
        "7a",
        "When the rate swings in 250 ms, adaptation loses no packets.",
        ("loss",),
        figure_7("swing-250ms", SWING, NOTHING_LOST, HALF_LOST),
        plot="loss",
    ),
    Figure(
        "7b",
        "When the rate swings in 100 ms, adaptation loses less than half of what is lost without it.",
        ("loss",),
        figure_7("swing-100ms", SWING, HALF_LOST),
    ),
    Figure(
        "7c",
        "Beside neighbours, adaptation loses almost nothing, and much is lost without it.",
        ("loss",),
        figure_7("neighbour", NEIGHBOUR, HALF_LOST, NOTHING_LOST),
    ),
    Figure(
        "7d",
        "When the skew falls, losses begin at 1.1 with adaptation and at 1.25 without it.",
        ("loss",),
        figure_7_skew,
    ),
    *(
        Figure(
            f"8{letter}",
            f"Configuration {number}, {name}: accuracy control satisfies the task in more windows than adaptation "
            f"alone, and than no adaptation.",
            ("dynamic",),
            figure_8(configuration, task),
            plot="dynamic" if letter == "a" else None,
        )
        for letter, (number, configuration, task, name) in zip(
            "abcdefgh",
            [
                (number, configuration, task, name)
                for number, configuration in ((1, "chain"), (2, "tree"))
                for task, name in TASKS.items()
            ],
        )
    ),
    Figure(
        "8, all",
        "Median satisfaction is 75 % with accuracy control, 38 % without adaptation, 23 % with adaptation alone.",
        ("dynamic",),
        figure_8_all,
    ),
    Figure(
        "9a",
        "Heavy hitters lose more recall than other tasks with the same number of missing flows.",
        ("constant", "missing-flows"),
        figure_9a,
        plot="constant",
    ),
    Figure(
        "9b",
        "The higher the threshold of heavy hitters, the more of them are lost with the same number of missing flows.",
        ("missing-flows",),
        figure_9b,
        plot="missing-flows",
    ),
    Figure(
        "10a",
        "Few slots for flows cause packet loss. 500,000 slots avoid it.",
        ("collisions",),
        figure_10a,
        plot="collisions",
    ),
    Figure("10b", "Few slots for flows lower the recall.", ("slots",), figure_10b),
    Figure(
        "11a",
        "A large SYN flood causes packet loss. With a filter table a flood of 80 % is tolerated.",
        ("flood",),
        figure_11a,
        plot="flood",
    ),
    Figure("11b", "A SYN flood lowers the recall by up to 40 %, and by less with a filter.", ("flood",), figure_11b),
    Figure(
        "table II",
        "All overhead is below 1 % of the time with 10 states and tasks, or 20 of both. It is below 2 % with 20 states "
        "and 40 tasks, or 40 of both "
        "and 500 flows. With 40 of both and 1,000 flows it is 2 % or more.",
        ("deciding", "state-costs", "state-changes"),
        table_2,
    ),
    Figure(
        "12a",
        "The time of adaptation grows at most with the square of the number of states. With 64 states it is in the "
        "range of 10 us.",
        ("deciding",),
        figure_12a,
    ),
    Figure(
        "12b",
        "The time of accuracy control grows in proportion to the number of tasks. With 50 tasks in 10 states it is in "
        "the range of 10 us.",
        ("deciding",),
        figure_12b,
    ),
    Figure(
        "12c",
        "Estimates and counting by states take more than 1 % of the time only with 64 states.",
        ("state-costs",),
        figure_12c,
        plot="state-costs",
    ),
    Figure(
        "12d",
        "Changing the states of flows takes more than 1 % of the time only with 1,000 flows a window and more than 40 "
        "states.",
        ("state-changes",),
        figure_12d,
    ),
    Figure("section III", "The work between two batches takes at most 10 us.", ("deciding",), longest_step),
    Figure(
        "13a",
        "Keeping every flow has a throughput 25 % below a sketch with a fast path, and 7 % below it if all tasks are "
        "just satisfied.",
        ("sketches",),
        figure_13a,
        plot="sketches",
    ),
    Figure(
        "13b",
        "Near 10 Gb/s keeping every flow is most accurate. Above 15 Gb/s the sketch is more accurate.",
        ("sketches",),
        figure_13b,
    ),
    Figure(
        "8, adapt",
        "Parshall's default policy satisfies tasks in more windows than the paper's policies, and than no adaptation.",
        ("dynamic",),
        figure_8_ours,
        ours=True,
    ),
)

PAPER = Paper(
    "mona",
    CITATION,
    INTRO,
    FIGURES,
    RUNS,
    title="MONA",
    doi="10.1109/TNET.2020.2976952",
    main=("5a", "7a", "8, all", "11a", "section III"),
)
