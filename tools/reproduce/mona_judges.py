# SPDX-License-Identifier: Apache-2.0
"""What runs say of packets lost and of satisfaction in MONA: figures 7, 8 and 11."""
import statistics

from comparing import at_most, below, bound, estimate, under
from judge import Comparison, Estimate
from paper import Seen

TASKS = {"heavy-hitters": "HH", "retransmissions": "RTx", "bursty": "Bursty", "latency-change": "LatChange"}
FIRST = next(iter(TASKS))  # a row of each run, where all have the same
NO_ADAPT, ADAPT, CONTROL = "no-adapt", "adapt-only", "accuracy"  # as the paper has it
THRESHOLD = 0.75
NOTHING = 1e-3  # share of packets: what is lost until costs are learnt


def percent(row, column="missed_share"):
    return f"{100 * row[column]:.2g} %"


def figure_7(scenario, halves=False):
    """Loss under a bottleneck: none, or less than half of what there is without adaptation."""
    def judge(runs):
        run = runs["loss"]
        comparisons, told = [], []
        for queue in run.values("queue_packets"):
            static, adapted = (run.one(scenario=scenario, queue_packets=queue, mode=mode, task=FIRST) for mode in (NO_ADAPT, ADAPT))
            lossless = under(f"adaptation loses nothing with a queue of {queue}", adapted, NOTHING, "missed_share", headline=not halves)
            half = at_most(f"adaptation loses half at most with a queue of {queue}", adapted, static, 0.5, "missed_share", headline=halves)
            comparisons += [half] if halves else [lossless, half]
            told.append(f"queue of {queue}: {percent(static)} without adaptation ({static['lossy_windows']:.0f} windows), {percent(adapted)} with it "
                        f"({adapted['lossy_windows']:.0f})")
        return Seen("lost " + "; ".join(told), tuple(comparisons), "nothing is taken as a thousandth, which is lost until costs are learnt")
    return judge


def mean(rows, column="satisfaction"):
    """Of rows that stand for one another: their mean, with the mean of their intervals' ends."""
    found = [estimate(row, column) for row in rows]
    return Estimate(*(statistics.fmean(getattr(one, end) for one in found) for end in ("value", "low", "high")), found[0].of)


def satisfied(runs, mode, task=None, states=None, load=None):
    return [row for row in runs["dynamic"].where(mode=mode) if (task is None or row["task"] == task) and (states is None or row["states"] == states)
            and (load is None or row["load"] == load)]


def figure_8(states, task):
    def judge(runs):
        loads = runs["dynamic"].values("load")
        comparisons, told = [], []
        for load in reversed(loads):
            rows = {mode: satisfied(runs, mode, task, states, load)[0] for mode in (NO_ADAPT, ADAPT, CONTROL)}
            comparisons += [below(f"{mode} below accuracy control at load {load:g}", rows[mode], rows[CONTROL], "satisfaction", headline=load == loads[-1])
                            for mode in (NO_ADAPT, ADAPT)]
            told.insert(0, f"{load:g}: {', '.join(format(row['satisfaction'], '.2f') for row in rows.values())}")
        return Seen("satisfaction without adaptation, with it, with accuracy control, by load: " + "; ".join(told), tuple(comparisons))
    return judge


def figure_8_all(runs):
    static, adapted, control = (mean(satisfied(runs, mode)) for mode in (NO_ADAPT, ADAPT, CONTROL))
    return Seen(f"mean satisfaction of all tasks, configurations and loads: {static.value:.2f} without adaptation, {adapted.value:.2f} with it, "
                f"{control.value:.2f} with accuracy control",
                (Comparison("accuracy control satisfies for three quarters of the time", bound(THRESHOLD), control, or_equal=True, headline=True),
                 Comparison("twice as much as without adaptation", static.times(2), control, or_equal=True, headline=True),
                 Comparison("three times as much as with adaptation alone", adapted.times(3), control, or_equal=True, headline=True)),
                "blind loss of a tenth of the packets hides few events of these tasks, so no adaptation does better here than in the paper; the paper's is "
                "a median of 100 experiments")


def figure_8_ours(runs):
    """What the project's own modes make of it."""
    static, control, tasks, prefer = (mean(satisfied(runs, mode)) for mode in (NO_ADAPT, CONTROL, "tasks", "prefer-tasks"))
    return Seen(f"mean satisfaction: tasks one by one {tasks.value:.2f}, or losses where more tasks find enough so {prefer.value:.2f}; accuracy control "
                f"{control.value:.2f}, no adaptation {static.value:.2f}",
                (Comparison("giving way task by task satisfies more than accuracy control", control, tasks, headline=True),
                 Comparison("preferring tasks to packets satisfies more than no adaptation", static, prefer, headline=True)))


def flooded(runs, mode=CONTROL):
    run = runs["flood"]
    return {(share, filtered): run.where(mode=mode, flood_share=share, filter_bytes=filtered) for share in run.values("flood_share")
            for filtered in run.values("filter_bytes")}


def figure_11a(runs):
    rows = {key: found[0] for key, found in flooded(runs).items()}
    shares = sorted({share for share, _ in rows})
    low, high = shares[0], next(share for share in shares if share >= THRESHOLD)
    return Seen("lost by share of the flood, without and with a filter: " + "; ".join(
        f"{percent({'missed_share': share})}: {percent(rows[share, 0])}, {percent(rows[share, 128])}" for share in shares),
                (below(f"a flood of {high:.0%} costs more packets than one of {low:.0%} without a filter", rows[low, 0], rows[high, 0], "missed_share", headline=True),
                 below(f"a filter saves packets of a flood of {high:.0%}", rows[high, 128], rows[high, 0], "missed_share", headline=True),
                 under("a filter saves all but a hundredth of them", rows[high, 128], 0.01, "missed_share")),
                "of what the program sheds, nothing counts as lost: it says what it did not look at")


def figure_11b(runs):
    rows = {key: mean([row for row in found if row["recall"] is not None], "recall") for key, found in flooded(runs).items() if key[0] < 1}
    shares = sorted({share for share, _ in rows})
    low, high = shares[0], shares[-1]
    return Seen("mean recall of the four tasks by share of the flood, without and with a filter: " + "; ".join(
        f"{100 * share:.0f} %: {rows[share, 0].value:.2f}, {rows[share, 128].value:.2f}" for share in shares),
                (Comparison(f"a flood of {high:.0%} lowers the recall without a filter", rows[high, 0], rows[low, 0], headline=True),
                 Comparison("a filter keeps more of it", rows[high, 0], rows[high, 128], headline=True),
                 Comparison("the fall is at most 40 %", rows[low, 0].times(0.6), rows[high, 0], or_equal=True)),
                "flows that are none of the flood's")


def overhead(runs):
    """What deciding takes, of the time: table II's budgets of 1 and 2 %, figures 12c and d together."""
    rows = [row for name in ("loss", "dynamic") if name in runs for row in runs[name].where(task=FIRST, mode=CONTROL)]
    worst = max(rows, key=lambda row: row["overhead_share"])
    return Seen(f"deciding takes {100 * statistics.median(row['overhead_share'] for row in rows):.2f} % of the time in the median run of {len(rows)}, "
                f"{100 * worst['overhead_share']:.2f} % in the worst",
                (under("it takes 1 % at most in the worst run", worst, 0.01, "overhead_share", headline=True),
                 under("it takes 2 % at most", worst, 0.02, "overhead_share")), "four tasks in five states or four, of 250,000 flows")


def step(runs):
    """Figures 12a and b: what is done at once between two batches."""
    rows = [row for row in runs["loss"].where(task=FIRST, mode=CONTROL)]
    middle = Estimate(*(statistics.median(getattr(estimate(row, "longest_step_us"), end) for row in rows) for end in ("value", "low", "high")),
                      estimate(rows[0], "longest_step_us").of)
    return Seen(f"the longest step of a run takes {middle.value:.0f} us, median of {len(rows)} runs' (the least {min(row['longest_step_us'] for row in rows):.0f})",
                (Comparison("the longest step is in the range of 10 us", middle, bound(20), headline=True),),
                "by the clock, so that a thread that waits for its core is in it; in the range of is taken as twice at most")
