#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""absolute_links.py FILE PAGE: makes relative links in FILE absolute, under the homepage that pyproject.toml names.

FILE contains the text of PAGE, as a wheel's METADATA does, which a package index shows without the files around it."""

import pathlib
import re
import sys
import tomllib

import check_links

ROOT = pathlib.Path(__file__).resolve().parents[1]
FENCED = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)


def absolute(text, page, base):
    """`text` with links to files of the repository, relative to `page`, as addresses under `base`."""

    def link(found):
        target = found[1]
        if check_links.ELSEWHERE.match(target) or target.startswith("#"):
            return found[0]
        path, hash_, anchor = target.partition("#")
        place = (ROOT / page).parent.joinpath(path).resolve().relative_to(ROOT)
        return found[0].replace(target, f"{base}/{place}{hash_}{anchor}")

    parts = FENCED.split(text)
    return "".join(part if part.startswith("```") else check_links.LINK.sub(link, part) for part in parts)


def main():
    file, page = map(pathlib.Path, sys.argv[1:])
    base = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]
    file.write_text(absolute(file.read_text(), page, base))


if __name__ == "__main__":
    main()
