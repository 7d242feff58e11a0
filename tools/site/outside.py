#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""outside.py SITE: what pages of the site would load from elsewhere, and where they say so; nothing where there is
none. Links that a reader may follow are none of it."""

import html.parser
import pathlib
import re
import sys

LOADS = {
    "src",
    "srcset",
    "data",
    "poster",
    "background",
    "action",
    "formaction",
}  # attributes that a browser follows by itself; href is one of `link` and of what SVG draws
FOLLOWED = (
    "stylesheet",
    "icon",
    "preload",
    "prefetch",
    "preconnect",
    "dns-prefetch",
    "manifest",
    "modulepreload",
    "apple-touch-icon",
)
ELSEWHERE = re.compile(r"(?:https?:|wss?:|ftp:)?//[^/]", re.IGNORECASE)
IN_STYLE = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)
IN_SCRIPT = re.compile(r"""(?:https?:|wss?:|(?<=["'`]))//[\w$][^"'`\s)]*\.[^"'`\s)]*""")
# What scripts of the theme know and do not load here. A diagram would: a page that has one is named below.
KNOWN = {
    r"https?://(www\.w3\.org/|clipboardjs\.com/|lunrjs\.com|tartarus\.org/|bit\.ly/)": "names and sources in comments",
    r"https://(api\.github\.com/|\$\{e\}/api/v4/)": "asked where the configuration has a repo_url, which it has not",
    r"https://unpkg\.com/mermaid@": "loaded where a page has a diagram",
    r"https://unpkg\.com/resize-observer-polyfill": "loaded by browsers of before 2020",
}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.loads, self._inside = [], None

    def handle_starttag(self, tag, attributes):
        self._inside = tag
        values = {name: value or "" for name, value in attributes}
        for name, value in values.items():
            if (
                name in LOADS
                or name in ("href", "xlink:href")
                and (
                    tag in ("use", "image", "base")
                    or tag == "link"
                    and any(kind in FOLLOWED for kind in values.get("rel", "").lower().split())
                )
            ):
                self.loads += [url for url in re.split(r",\s+|\s+", value) if ELSEWHERE.match(url)]
            elif name == "style":
                self.loads += IN_STYLE.findall(value)
        if tag == "meta" and values.get("http-equiv", "").lower() == "refresh" and "//" in values.get("content", ""):
            self.loads.append(values["content"])
        if "mermaid" in values.get("class", "").split():
            self.loads.append("what draws a diagram (mermaid)")

    def handle_data(self, data):
        if self._inside == "style":
            self.loads += IN_STYLE.findall(data)
        elif self._inside == "script":
            self.loads += in_script(data)

    def handle_endtag(self, tag):
        self._inside = None


def in_script(text):
    return [url for url in IN_SCRIPT.findall(text) if not any(re.match(known, url) for known in KNOWN)]


def of_page(text):
    page = Page()
    page.feed(text)
    page.close()
    return page.loads


def of_index(text):
    """The index that a search reads is text of the pages: as long as it is one value, nothing in it is run."""
    return [] if re.fullmatch(r"var __index = \{.*\}", text, re.DOTALL) else in_script(text)


READERS = {".html": of_page, ".svg": of_page, ".css": IN_STYLE.findall, ".js": in_script}


def loads(site):
    """(file, URL) of each."""
    for path in sorted(site.rglob("*")):
        reader = of_index if path.name == "search_index.js" else READERS.get(path.suffix)
        for url in reader(path.read_text()) if reader else ():
            yield path.relative_to(site).as_posix(), url


if __name__ == "__main__":
    found = list(loads(pathlib.Path(sys.argv[1])))
    print(*(f"{path}: loads {url}" for path, url in found), sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
