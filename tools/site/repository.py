# SPDX-License-Identifier: Apache-2.0
"""The repository's pages as the site has them: those outside of docs/ have a place in it, files of examples/ are on one
page, and links between them go there."""

import pathlib
import posixpath
import re

from check_links import ELSEWHERE, FENCE, LINK, prose, slug

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ("docs", "lab/docs", "tester/docs")  # folders of pages, which the site has as one
OUTSIDE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "tests/fuzz/README.md": "fuzzing.md",
    "python/README.md": "python.md",
}
EXAMPLES = "examples.md"
LANGUAGES = {
    ".cpp": "cpp",
    ".json": "json",
    ".proto": "protobuf",
    ".py": "python",
    ".sql": "sql",
    ".toml": "toml",
    ".yaml": "yaml",
    ".yml": "yaml",
    "": "dockerfile",  # Containerfile
}
# Code, or a link; one whose words are the name of a page, [metrics.md](metrics.md), has that page's title in the site.
CODE_OR_LINK = re.compile(
    f"{FENCE.pattern}|`[^`\n]*`|(?P<name>\\[[\\w./-]+\\.md(?=\\]))?(?P<link>{LINK.pattern})", re.DOTALL | re.MULTILINE
)


def anchor(path):
    return re.sub(r"[^a-z0-9]+", "-", path.lower())


def place(path):
    """Where the site has a file or folder of the repository: a path below docs/, perhaps with an anchor; None if it
    does not."""
    if path == "examples" or path.startswith("examples/"):
        return EXAMPLES + (f"#{anchor(path)}" if path != "examples" else "")
    if path in OUTSIDE:
        return OUTSIDE[path]
    return next((path.removeprefix(f"{folder}/") for folder in DOCS if path.startswith(f"{folder}/")), None)


def title(path, heading):
    """The words of a page's title, or of that heading."""
    found = re.findall(r"^#+ +(.*?) *#*$", prose((ROOT / path).read_text()), re.MULTILINE)
    return next((words for words in found if not heading or slug(words) == heading), path)


def relinked(text, source):
    """The Markdown of the repository's file `source`, with its links as they are in the site."""
    here = posixpath.dirname(place(source)) or "."

    def link(found):
        target = found["link"] and LINK.match(found["link"])[1]
        if not target or ELSEWHERE.match(target) or target.startswith("#"):
            return found[0]
        path, _, heading = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if not place(path):
            raise ValueError(f"{source}: the site does not have {path}: give it a place in tools/site/repository.py")
        page, _, own = place(path).partition("#")
        anchored = f"#{own or heading}" if own or heading else ""
        return f"{'[' + title(path, heading) if found['name'] else ''}]({posixpath.relpath(page, here)}{anchored})"

    return CODE_OR_LINK.sub(link, text)


def examples():
    """One page with each file of examples/, under its folder."""
    yield "# Examples\n\nFiles to start from, as they are in `examples/`."
    folder = None
    for path in sorted((ROOT / "examples").rglob("*"), key=lambda path: (path.parent, path.name)):
        if path.suffix not in LANGUAGES or not path.is_file():
            continue
        name = path.relative_to(ROOT).as_posix()
        if path.parent != folder:
            folder = path.parent
            inside = folder.relative_to(ROOT).as_posix()
            yield f"## {inside} {{ #{anchor(inside)} }}"
        yield f"### {path.name} {{ #{anchor(name)} }}\n\n```{LANGUAGES[path.suffix]}\n{path.read_text().rstrip()}\n```"


def pages():
    """{path below docs/: Markdown} of those that are not in docs/."""
    there = {uri: relinked((ROOT / path).read_text(), path) for path, uri in OUTSIDE.items() if path != "README.md"}
    return there | {EXAMPLES: "\n\n".join(examples()) + "\n"}
