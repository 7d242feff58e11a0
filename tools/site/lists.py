# SPDX-License-Identifier: Apache-2.0
"""Pages of what can be listed: tasks, statistics, counters and the rest, of what `parshall list` says."""

import pathlib
import re

import option_tree
from words import PAGE_OF_TOPIC, code, prose, sentence, table

TITLES = {
    "statistics": (
        "Statistics of a flow",
        "What `--columns` takes, beside other columns; [what each means](../metrics.md), [how exact it is](../"
        "accuracy-statistics.md).",
    ),
    "tasks": (
        "Tasks",
        "Questions asked of every window; [how to ask them](../operating.md#tasks-and-events), [how right the answers "
        "are](../accuracy.md#tasks).",
    ),
    "sources": (
        "Sources and built-in traffic",
        "What can be read; [more on sources](../operating.md#sources), [on built-in traffic](../traffic.md).",
    ),
    "outputs": ("Outputs", "Where records go as they end, and formats of reports; [how they are used](../exports.md)."),
    "counters": (
        "Counters",
        "Everything that a run counts, by its name in JSON; [how they add up](../metrics.md#the-account).",
    ),
    "testing": ("Goals and scenarios of device tests", "[How devices are tested](../testing-devices.md)."),
    "models": ("Models of classes", "For `parshall train`; [how applications are told](../classes.md)."),
    "lab": (
        "Tables, hashes and experiments of the lab",
        "What [the lab](../lab.md) measures, and `parshall-lab watch` can run with.",
    ),
}
HEADINGS = {
    "tasks": "Tasks of a window",
    "fields": "Numbers of a flow in a window",
    "presets": "Presets",
    "traffic": "Built-in traffic",
    "sources": "Sources",
    "exporters": "Exporters",
    "formats": "Formats of reports",
    "groups": "Groups of flows",
    "goals": "Goals",
    "scenarios": "Scenarios",
    "tables": "Tables",
    "hashes": "Hashes",
    "experiments": "Experiments",
}
NAMES = r"(\S+) +(.+)"
SHAPES = {  # topic: heads, and a line's groups, of which the first is a name
    "statistics": (
        ("statistic", "unit", "memory", "workers", "what"),
        r"(\S+) +(?:(\w+) +(?=\d+ bytes/))?(?:(\d+ bytes/flow) +)?(?:(mergeable) )?(.+)",
    ),
    "fields": (("number", "what"), NAMES),
    "sources": (("source", "what"), r"(\S+ \S+) +(.+)"),
    "traffic": (("setting", "values", "what (and unless given)"), r"(\S+) +(\S+) +(.+)"),
    "exporters": (("`--export`", "what"), NAMES),
    "formats": (("`--format`", "what"), NAMES),
    "groups": (("name", "what"), NAMES),
    "counters": (("counter", "unit", "when", "what"), r"(\S+) +(\S+) +(at any time|in reports) +(.+)"),
    "goals": (("goal", "what"), NAMES),
    "scenarios": (("scenario", "what"), NAMES),
    "models": (("model", "what"), NAMES),
    "tables": (("table", "identity", "memory", "what"), r"(\S+) +(.+?) +(\d+ bytes/flow) +(.+)"),
    "hashes": (("hash", "length", "", "of", "what"), r"(\S+) +(\d+ bits)(?: +(keyed))? +(\S.*?)  +(.+)"),
}


def groups(topic, pattern, line):
    """What the line says, by the pattern's groups; one that is otherwise is an error: no page is silently without
    it."""
    found = re.fullmatch(pattern, line)
    if not found:
        raise ValueError(f"tools/site/lists.py cannot read a line of `parshall list {topic}`: {line!r}")
    return [(group or "").strip() for group in found.groups()]


def plain(topic, lines):
    """A table, parted by lines such as `of each class:`, and with what is no row of it below."""
    heads, pattern = SHAPES[topic]
    rows = []
    for line in lines:
        if re.fullmatch(r"[a-z ]+:", line):
            yield from table(heads, rows)
            yield f"## {line[0].upper()}{line[1:-1]}\n"
            rows = []
        elif line.startswith("others: "):
            yield from table(heads, rows)
            yield sentence(line) + "\n"
            rows = []
        else:
            name, *cells = groups(topic, pattern, line)
            rows.append([code(name), *map(prose, cells)])
    if rows:
        yield from table(heads, rows)


def sections(topic, lines, is_heading, heading, is_row, heads, row):
    """Headings with text and a table below each."""
    rows = []
    for line in lines:
        if is_row(line):
            rows.append(row(line))
            continue
        if rows:
            yield from table(heads, rows)
            rows = []
        yield heading(line) if is_heading(line) else sentence(line.strip()) + "\n"
    if rows:
        yield from table(heads, rows)


def tasks(lines):
    def heading(line):
        name, _, what = line.partition(": ")
        if re.fullmatch(r"[a-z-]+", name) and what:
            return f"### {name}\n\n{sentence(what)}\n"
        return "### What all take\n" if line == "all:" else f"### A condition of yours\n\n{prose(line)}\n"

    def row(line):
        name, what, default = groups("tasks", r"    (\S+) +(.+?)(?: \[([^\[\]]*)\])?", line)
        return code(name), code(default), prose(what)

    return sections(
        "tasks",
        lines,
        lambda line: line[0] != " ",
        heading,
        lambda line: line.startswith("    "),
        ("parameter", "unless given", "what"),
        row,
    )


def presets(lines):
    """Each as the file that it is."""
    return ["```toml", *lines, "```", ""]


def experiments(lines):
    def heading(line):
        name, what = groups("experiments", r"parshall bench (\S+): (.+)", line)
        return f"### {name}\n\n[`parshall bench {name}`](parshall-lab-bench-{name}.md): {prose(what)}\n"

    def row(line):
        name, what = groups("experiments", "  " + NAMES, line)
        return code(name), prose(what)

    return sections(
        "experiments",
        lines,
        lambda line: line[0] != " ",
        heading,
        lambda line: line[0] == " ",
        ("candidate", "what"),
        row,
    )


def page(parshall, name):
    title, intro = TITLES[name]
    yield f"# {title}\n\n{intro}\n"
    program = str(pathlib.Path(parshall).with_name("parshall-lab")) if name == "lab" else parshall
    for topic in (topic for topic, where in PAGE_OF_TOPIC.items() if where == f"reference/{name}.md"):
        if topic in HEADINGS:
            yield f"## {HEADINGS[topic]}\n"
        lines = [line.rstrip() for line in option_tree.said_by(program, "list", topic).splitlines() if line.strip()]
        yield from {"tasks": tasks, "presets": presets, "experiments": experiments}.get(
            topic, lambda lines, topic=topic: plain(topic, lines)
        )(lines)


def pages(parshall):
    """{path below docs/: Markdown}."""
    return {f"reference/{name}.md": "\n".join(page(parshall, name)) for name in TITLES}
