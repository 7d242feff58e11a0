# SPDX-License-Identifier: Apache-2.0
"""What programs say, as Markdown."""

import html
import re

# The page that has what `parshall list TOPIC` says; a topic that is missing here is an error where a page is made.
PAGE_OF_TOPIC = {
    "statistics": "reference/statistics.md",
    "tasks": "reference/tasks.md",
    "fields": "reference/tasks.md",
    "presets": "reference/tasks.md",
    "sources": "reference/sources.md",
    "traffic": "reference/sources.md",
    "exporters": "reference/outputs.md",
    "formats": "reference/outputs.md",
    "groups": "reference/outputs.md",
    "counters": "reference/counters.md",
    "goals": "reference/testing.md",
    "scenarios": "reference/testing.md",
    "models": "reference/models.md",
    "tables": "reference/lab.md",
    "hashes": "reference/lab.md",
    "experiments": "reference/lab.md",
    "columns": "columns.md",
}


def prose(text):
    """A sentence, for a page in reference/: options as code, pages and lists that it names as links; what is in `
    stays."""
    return "".join(part if i % 2 else words(part) for i, part in enumerate(re.split(r"(`[^`]*`)", text)))


def words(text):
    text = re.sub(r"([\\`*_{}\[\]|])", r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"\bdocs/([a-z-]+)\.md", r"[\1.md](../\1.md)", text)
    text = re.sub(
        r"parshall list ([a-z]+)", lambda named: f"[`parshall list {named[1]}`](../{PAGE_OF_TOPIC[named[1]]})", text
    )
    return re.sub(r"(?<![\w`-])(--?[a-z][a-z0-9-]*)", r"`\1`", text)


def sentence(text):
    return prose(text[0].upper() + text[1:].rstrip(".")) + "."


def code(text):
    """For a cell of a table: there a bar would end it, and readers of Markdown differ in what keeps it from that."""
    return f"<code>{html.escape(text).replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`" if text else ""


def table(heads, rows):
    """Lines of a table; columns that are empty in all rows are left out."""
    rows = [list(row) for row in rows]
    kept = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    yield "| " + " | ".join(heads[i] for i in kept) + " |"
    yield "|" + "---|" * len(kept)
    yield from ("| " + " | ".join(row[i] for i in kept) + " |" for row in rows)
    yield ""
