#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_links.py [ROOT]: every relative link of every page leads to a file that is there, and to a heading of it.
Prints those that do not."""

import pathlib
import re
import sys
import urllib.parse

FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def prose(text):
    """`text` without what is code: there a bracket is no link, and a # no heading. Lines keep their numbers."""
    return FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), text)


def slug(heading):
    """The anchor that a forge gives a heading of these words: lower case, joined by -."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(text):
    """The anchors of a page's headings; -1 and so on where one comes again."""
    found = []
    for heading in re.findall(r"^#+ +(.*?) *#*$", prose(text), re.MULTILINE):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        found.append(slug(heading))
    return {name if name not in found[:i] else f"{name}-{found[:i].count(name)}" for i, name in enumerate(found)}


def pages(root):
    return sorted(
        p for p in root.rglob("*.md") if not any(part.startswith((".", "build")) for part in p.relative_to(root).parts)
    )


def problems(root):
    for page in pages(root):
        for number, line in enumerate(prose(page.read_text()).split("\n"), 1):
            for link in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if ELSEWHERE.match(link):
                    continue
                path, _, anchor = urllib.parse.unquote(link).partition("#")
                where = f"{page.relative_to(root)}:{number}: {link}:"
                target = (page.parent / path) if path else page
                if not target.exists() or root not in target.resolve().parents:
                    yield f"{where} there is no such file"
                elif anchor and (target.suffix != ".md" or anchor not in anchors(target.read_text())):
                    yield f"{where} {target.name} has no such heading"


if __name__ == "__main__":
    found = list(
        problems(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve())
    )
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
