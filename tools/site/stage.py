#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts together what the site is made of: pages of the folders of documents and of other folders, pages made of what
the programs say, and the configuration with all of them.

usage: stage.py PARSHALL FOLDER
"""

import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import commands
import lists
import repository

LEFT_OUT = shutil.ignore_patterns(
    "requirements.txt", "captures", "new", "__pycache__"
)  # of docs/: what notebooks make and need


WHOLE_WIDTH = (
    "---\nhide:\n  - navigation\n  - toc\n---\n"  # of the first page; what shows the repository would show it, too
)


def nav_lines(entries, indent):
    """The navigation of the commands, as mkdocs.yml has it."""
    for entry in entries:
        for title, what in entry.items():
            yield f"{indent}- {title}:" + ("" if isinstance(what, list) else f" {what}")
            if isinstance(what, list):
                yield from nav_lines(what, indent + "    ")


def configuration(parshall):
    lines = (HERE / "mkdocs.yml").read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip() == "- COMMANDS")
    indent = lines[at][: lines[at].index("-")]
    return "\n".join([*lines[:at], *nav_lines(commands.nav(parshall), indent), *lines[at + 1 :]]) + "\n"


def stage(parshall, folder):
    """Writes FOLDER/mkdocs.yml and FOLDER/docs, which are made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    for docs in repository.DOCS:
        shutil.copytree(repository.ROOT / docs, folder / "docs", ignore=LEFT_OUT, dirs_exist_ok=True)
        for page in (repository.ROOT / docs).rglob("*.md"):
            path = page.relative_to(repository.ROOT).as_posix()
            (folder / "docs" / repository.place(path)).write_text(repository.relinked(page.read_text(), path))
    shutil.copytree(HERE / "assets", folder / "docs/assets")
    (folder / "docs/index.md").write_text(WHOLE_WIDTH + (folder / "docs/index.md").read_text())
    for path, text in (commands.pages(parshall) | lists.pages(parshall) | repository.pages()).items():
        target = folder / "docs" / path
        if target.exists():
            raise ValueError(f"docs/{path} is there, and is a page that is made, too")
        target.parent.mkdir(exist_ok=True)
        target.write_text(text)
    (folder / "mkdocs.yml").write_text(configuration(parshall))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    stage(sys.argv[1], pathlib.Path(sys.argv[2]))


if __name__ == "__main__":
    main()
