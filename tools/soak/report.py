# SPDX-License-Identifier: Apache-2.0
"""What a soak has shown, as report.md with pictures beside it."""

import collections
import re

import checks
import growth
import plots
import trend

MOST_MAPPINGS = 8
NUMBERS = re.compile(r"\d[\d,.]*")


def write(data):
    """Writes it; whether everything held."""
    grown, checked = growth.of_run(data), checks.of_run(data)
    holds = all(one.holds() for one in grown) and all(check.holds for check in checked) and bool(data.ends)
    lines = (
        _head(data, holds)
        + _growth(data, grown)
        + _mappings(data)
        + _checks(checked)
        + _pictures(data)
        + _lost(data)
        + _happened(data)
        + _said(data)
        + _visitors(data)
        + _traffic(data)
    )
    (data.folder / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return holds


def _head(data, holds):
    facts, hours = data.facts, data.seconds() / 3600
    held = (
        f"It holds, but for what grows, which takes {growth.LEAST_RUN_S / 60:.0f} minutes to tell."
        if data.seconds() < growth.LEAST_RUN_S
        else "It holds."
    )
    state = (
        (held if holds else "**It does not hold.**")
        if data.ends
        else "**So far: it goes on, or was killed; counts that only the end shows are not here.**"
    )
    return [
        "# A soak of parshall watch",
        "",
        f"{facts['parshall']}, {hours:.2f} hours of {facts['hours']:g} from {facts['began']}, seed {facts['seed']}, "
        f"{facts['kpps']:g} kpps of ordinary traffic. {state}",
        "",
        "```",
        " ".join(facts["command"]),
        "```",
        "",
    ]


def _interval(values, digits=3):
    return f"{values[0]:.{digits}g} [{values[1]:.{digits}g}, {values[2]:.{digits}g}]"


def _growth(data, grown):
    lines = [
        "## What grows",
        "",
        f"After a warm-up of {growth.warm_up(data.seconds()) / 60:.0f} minutes; slopes with 95 % intervals, from the "
        f"means of {trend.PARTS} stretches of the same length (Student's t; see tools/soak/trend.py).",
        "Flat: the interval has 0 in it, or all of it is below the bound.",
        "",
        "| | mean | per hour | over the rest of the run | bound | |",
        "|---|---|---|---|---|",
    ]
    for one in grown:
        name, unit = one.quantity.name, f" {one.quantity.unit}".rstrip()
        if not one.trend:
            lines.append(f"| {name} | | | | {one.quantity.bound:g}{unit} | {one.verdict()} |")
            continue
        hourly = [3600 * value for value in (one.trend.slope, one.trend.low, one.trend.high)]
        lines.append(
            f"| {name} | {one.trend.level:.1f}{unit} | {_interval(hourly)} | {_interval(one.trend.growth())} | "
            f"{one.quantity.bound:g}{unit} | {one.verdict()} |"
        )
    return lines + [""]


def _mappings(data):
    """Of those at the first look after the warm-up and at the last one, the few that changed most."""
    looks = [event for event in data.told("mappings") if event["t"] >= growth.warm_up(data.seconds())]
    if len(looks) < 2:
        return []
    (first, last), none = (looks[0], looks[-1]), (0, "", 0)
    changes = {
        at: last["resident"].get(at, none)[2] - first["resident"].get(at, none)[2]
        for at in first["resident"] | last["resident"]
    }
    most = [at for at in sorted(changes, key=lambda at: -abs(changes[at]))[:MOST_MAPPINGS] if changes[at]]
    lines = [
        f"Of its mappings these changed most from {first['t']:.0f} to {last['t']:.0f} s:",
        "",
        "| mapping | size, kB | resident, kB | then, kB |",
        "|---|---|---|---|",
    ]
    for at in most:
        was, now = (look["resident"].get(at, none) for look in (first, last))
        size, name, _ = now if now[0] else was
        lines.append(f"| {at} {_cell(name)} | {size} | {was[2]} | {now[2]} |")
    return lines + [""]


def _checks(checked):
    return (
        ["## What has to be equal", "", "| | | |", "|---|---|---|"]
        + [
            f"| {check.name} | {'holds' if check.holds else '**does not hold**'} | {_cell(check.detail)} |"
            for check in checked
        ]
        + [""]
    )


def _cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def _pictures(data):
    seconds, marks = data.seconds(), [event["t"] for event in data.told("disturbance")]
    mb = [
        (name, times, [value / 1024 for value in values])
        for name, column in (("RSS", "rss_kb"), ("PSS", "pss_kb"))
        for times, values in [data.series(column)]
    ]
    space = [
        (name, times, [value / (1 << 20) for value in values])
        for name, column in (("temporary", "temporary_bytes"), ("exports", "disk_bytes"))
        for times, values in [data.series(column)]
    ]
    heap_times, heap = data.series("heap_kb")
    cores = plots.rates(*data.series("cpu_s"))
    wanted = (
        ("memory", "MB", mb),
        ("heap", "MB", [("malloc", heap_times, [value / 1024 for value in heap])]),
        ("descriptors and threads", "", [("descriptors", *data.series("fds")), ("threads", *data.series("threads"))]),
        ("space on disk", "MB", space),
        ("packets", "a second", [("came, by the kernel", *plots.rates(*data.series("tap0_rx_packets")))]),
        ("flows in the table", "", [("flows", *data.series("live_flows"))]),
        ("processor time", "cores", [("cores", *cores)]),
    )
    lines = ["## How it went", "", "Marks on the time axis are disturbances.", ""]
    for title, y, curves in wanted:
        file = data.folder / f"{title.replace(' ', '-')}.svg"
        if plots.draw(file, title, y, curves, seconds, marks):
            lines += [f"![{title}]({file.name})", ""]
    return lines


def _lost(data):
    summary = data.ends.get("summary")
    if not summary:
        return []
    lines = [
        "## What was lost, and told",
        "",
        "| output | offered | written | unconfirmed | dropped |",
        "|---|---|---|---|---|",
    ]
    totals = collections.defaultdict(collections.Counter)
    for output in summary["outputs"]:
        name = re.sub(r"-\d{4}\.", "-*.", output["name"])
        for unit in ("records", "findings"):
            for part in ("offered", "written", "unconfirmed", "dropped"):
                totals[name, unit][part] += output[part][unit]
    lines += [
        f"| {_cell(name)} ({unit}) | {of['offered']} | {of['written']} | {of['unconfirmed']} | {of['dropped']} |"
        for (name, unit), of in totals.items()
        if of["offered"]
    ]
    account = summary["accounting"]
    return lines + [
        "",
        f"Packets: {account['nic_missed']} missed, {account['kept_out_packets']} kept out; "
        f"records: {summary['evicted_records']} evicted, "
        f"{summary['dropped_records']} in no report (--spool).",
        "",
    ]


def _happened(data):
    counts = collections.Counter(event["of"] for event in data.told("disturbance"))
    return (
        ["## What was done to it", "", "| | times |", "|---|---|"]
        + [f"| {kind} | {count} |" for kind, count in sorted(counts.items())]
        + [""]
    )


def _said(data):
    """Lines that differ in numbers alone are one."""
    first, counts = {}, collections.Counter()
    for event in data.told("said"):
        key = NUMBERS.sub("N", event["text"].replace(str(data.folder), ""))
        counts[key] += 1
        first.setdefault(key, event)
    lines = ["## What it said", "", "| times | first, s | |", "|---|---|---|"]
    return (
        lines
        + [
            f"| {counts[key]} | {event['t']:.0f} | {_cell(event['text'].replace(str(data.folder) + '/', ''))} |"
            for key, event in first.items()
        ]
        + [""]
    )


def _visitors(data):
    runs = data.told("visitor")
    if not runs:
        return []
    clocked = [run for run in runs if run.get("steps") is not None]
    wrong = [run for run in runs if run["wrong"]]
    lines = [
        "## Other monitors, that came and went",
        "",
        f"{len(runs)}, of which {len(clocked)} had a clock that stepped {sum(run['steps'] for run in clocked)} times; "
        f"{len(wrong)} with something wrong.",
        "",
    ]
    return lines + [f"- `{' '.join(run['options'])}`: {'; '.join(run['wrong'])}" for run in wrong] + [""]


def _traffic(data):
    pieces, sent = collections.Counter(), collections.Counter()
    for event in data.told("traffic"):
        kind = event["piece"].split(" ")[0] if event["piece"].startswith("capture") else event["piece"]
        pieces[kind] += 1
        sent[kind] += event.get("sent", 0)
    failed = collections.Counter(event["said"].strip()[-120:] for event in data.told("traffic failed"))
    return (
        ["## What was sent", "", "| | pieces | packets |", "|---|---|---|"]
        + [f"| {kind} | {count} | {sent[kind]} |" for kind, count in pieces.most_common()]
        + [""]
        + [f"- could not be sent, {count} times: {_cell(text)}" for text, count in failed.items()]
    )
