# SPDX-License-Identifier: Apache-2.0
"""The MONA paper: its figures and tables, and what is run for them."""
import cache_hits
import fits
import missing_flows
from mona_costs import figure_1a, figure_1b, figure_3, figure_5a, figure_5b, figure_9a, figure_9b, figure_10a, figure_13a, figure_13b, table_1
from mona_judges import TASKS, figure_7, figure_8, figure_8_all, figure_8_ours, figure_11a, figure_11b, overhead, step
from mona_plots import draw_floods, draw_losses, draw_recall, draw_satisfaction
from paper import Figure, Paper, Run

CITATION = "Tangari et al., *Accuracy-aware adaptive traffic monitoring for software dataplanes* (MONA), IEEE TNSM, 2020"
INTRO = (
    "One worker runs the whole monitor over built-in TCP traffic: 250,000 flows, Zipf 1.1 unless said otherwise, 0.5 % of the packets sent again, in windows of",
    "10 ms. It runs in its own time: what its thread worked, and what it would have waited. **Load 1 is what it takes with all flows in their own states while it",
    "is busy for 95 % of the time**, measured before each run; the paper's machine took about 5 Mpps so, and its 5 to 11 Mpps are loads of 1 to 2.2. The truth is",
    "what the same program finds when the same packets wait for it. Each run has traffic of its own. All of satisfaction, recall and floods, with what the project's",
    "own modes do, is on [a page of its own](../reproduce-adaptive.md) (`make reproduce-adaptive`).",
)
MODES = ("--mode", "no-adapt,adapt-only,accuracy,tasks,prefer-tasks")
THEIRS = ("--mode", "no-adapt,adapt-only,accuracy")
ONE = ("--rounds", "1")
BUCKETED = ("tables", "--tables", "bucketed")

RUNS = {
    "contended": Run((*BUCKETED, "--flows", "1Mi", "--zipf", "1.1", "--beside", "none,cache,memory", "--rounds", "9"),
                     quick=(*BUCKETED, "--flows", "1Mi", "--zipf", "1.1", "--beside", "none,cache,memory", "--rounds", "5")),
    "skewed": Run((*BUCKETED, "--flows", "100000", "--zipf", "0.5,0.75,1,1.25,1.5", "--rounds", "9"), "zipf",
                  quick=(*BUCKETED, "--flows", "100000", "--zipf", "0.5,1,1.5", "--rounds", "5")),
    "fits": Run(y="gumbel", module=fits),
    "cache-hits": Run(x="hit_share", y="error", module=cache_hits, passes=1, quick=()),
    "missing-flows": Run(x="missing", y="recall", module=missing_flows, passes=1, quick=()),
    "collisions": Run(("tables", "--tables", "chained,bucketed", "--flows", "250000", "--zipf", "1.1", "--load", "0.25,1,4,16", "--rounds", "9"), "load"),
    "sketches": Run(("heavy-hitters", "--window", "10ms", "--width", "16Ki,64Ki", "--rounds", "9"),
                    quick=("heavy-hitters", "--window", "10ms", "--width", "16Ki", "--rounds", "3")),
    "loss": Run(("adaptive", "--scenario", "swing-250ms,swing-100ms,neighbour,skew", "--states", "chain", "--queue", "4096,16Ki", "--seconds", "4", *THEIRS, *ONE),
                None, "missed_share", seeded=True, draw=draw_losses,
                quick=("adaptive", "--scenario", "swing-250ms", "--states", "chain", "--queue", "4096", "--seconds", "2", "--mode", "no-adapt,adapt-only,accuracy",
                       *ONE)),
    "flood": Run(("adaptive", "--scenario", "flood", "--states", "chain", "--seconds", "3", "--mode", "accuracy", *ONE), "flood_share", "missed_share", seeded=True, draw=draw_floods),
    "dynamic": Run(("adaptive", "--scenario", "dynamic", "--seconds", "4", *MODES, *ONE), "load", "satisfaction", seeded=True, draw=draw_satisfaction),
    "constant": Run(("adaptive", "--scenario", "rates", "--states", "chain", "--seconds", "3", *THEIRS, *ONE), "load", "recall", seeded=True, draw=draw_recall),
}

DRAWING = "a drawing: it states nothing that is measured"
NOT_TIMED = "the lab does not time the routine by numbers of states and tasks: a monitor has as many as its file says"

FIGURES = (
    Figure("1a", "Neighbours that use the last-level cache double the time of a packet.", ("contended",), figure_1a, plot="contended"),
    Figure("1b", "Traffic of less skew doubles the time of a packet.", ("skewed",), figure_1b, plot="skewed"),
    Figure("2", "(Overview: adaptation and accuracy control beside the pipeline.)", not_here=DRAWING),
    Figure("table I", "Times of lookups, from cache and from memory, are best described by Gumbel's distribution.", ("fits",), table_1),
    Figure("3", "1,000 samples estimate the cache's share of lookups to below 1 %, where the nearer mean errs by 5 %.", ("cache-hits",), figure_3,
           plot="cache-hits"),
    Figure("4", "(Graph of monitoring states.)", not_here=DRAWING),
    Figure("5a", "The recall is estimated to 8 % on average, never worse than 20 %; LatChange's worst.", ("dynamic", "constant"), figure_5a),
    Figure("5b", "The error grows with the share of missing flows.", ("dynamic", "constant"), figure_5b),
    Figure("5c", "Tasks whose results vary more have larger errors.", not_here="the lab does not report the variation of a task's results by flow"),
    Figure("5d", "Of ways to change the step, multiplying it up and down converges fastest.",
           not_here="only that way is built: the paper concludes on its authority alone, and gives no factor"),
    Figure("6", "(The two configurations of states, and their times.)", not_here=DRAWING),
    Figure("7a", "Rate that swings in 250 ms: adaptation loses nothing.", ("loss",), figure_7("swing-250ms"), plot="loss"),
    Figure("7b", "In 100 ms: adaptation loses less than half of what there is without it.", ("loss",), figure_7("swing-100ms", halves=True)),
    Figure("7c", "Neighbours: adaptation loses next to nothing.", ("loss",), figure_7("neighbour")),
    Figure("7d", "Falling skew: adaptation loses nothing down to a skew of 1.1.", ("loss",), figure_7("skew")),
    *(Figure(f"8{letter}", f"Configuration {number}, {name}: accuracy control satisfies for more of the time than adaptation alone, and than none.",
             ("dynamic",), figure_8(states, task), plot="dynamic" if letter == "a" else None)
      for letter, (number, states, task, name) in zip("abcdefgh", [(number, states, task, name) for number, states in ((1, "chain"), (2, "tree"))
                                                                   for task, name in TASKS.items()])),
    Figure("8, all", "Median satisfaction is 75 % with accuracy control, 38 % without adaptation, 23 % with adaptation alone.", ("dynamic",), figure_8_all),
    Figure("9a", "Heavy hitters lose more of their recall by as many missing flows than other tasks.", ("constant",), figure_9a, plot="constant"),
    Figure("9b", "The higher the threshold of heavy hitters, the more of them are lost by as many missing flows.",
           not_here="how a source's bytes spread over its flows decides it, which the paper does not say; the lab's threshold is one"),
    Figure("10a", "Few slots for the flows lose packets; 500,000 avoid it.", ("collisions",), figure_10a, plot="collisions"),
    Figure("10b", "And they lower the recall.", not_here="the project's table has no lists: a flow that finds no place is written out, and counted"),
    Figure("11a", "A SYN flood of a high share loses packets; with a filter table 80 % of flood are tolerated.", ("flood",), figure_11a, plot="flood"),
    Figure("11b", "It lowers the recall by up to 40 %; with a filter by less.", ("flood",), figure_11b),
    Figure("table II", "Deciding takes less than 1 or 2 % of the time, with up to 40 tasks and 20 states.", ("loss",), overhead),
    Figure("12a", "The adaptation's time grows with the square of the number of states: 10 us for 64.", not_here=NOT_TIMED),
    Figure("12b", "The accuracy control's time grows with the number of tasks: 10 us for 50.", not_here=NOT_TIMED),
    Figure("12c", "Estimates take more than 1 % of the time only with 64 states.", not_here=NOT_TIMED + "; all that deciding takes is in table II"),
    Figure("12d", "Changing flows' states takes more than 1 % only with 1,000 flows a window and 40 states.", not_here=NOT_TIMED),
    Figure("13a", "A sketch with a fast path is a quarter faster than keeping every flow.", ("sketches",), figure_13a, plot="sketches"),
    Figure("13b", "Near 10 Gb/s keeping every flow has the highest accuracy.", ("sketches",), figure_13b),
    Figure("9b, simulated", "The same where a source has ten flows by chance, whose bytes follow Zipf's law.", ("missing-flows",), figure_9b,
           plot="missing-flows", ours=True),
    Figure("12, the longest step", "What is done at once between batches takes 10 us.", ("loss",), step, ours=True),
    Figure("8, task by task", "Giving way task by task, or losing packets where more tasks find enough so, satisfies more.", ("dynamic",), figure_8_ours, ours=True),
)

PAPER = Paper("mona", CITATION, INTRO, FIGURES, RUNS)
