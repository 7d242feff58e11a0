# SPDX-License-Identifier: Apache-2.0
"""The documentation site: what is put together for it, what it would load, and, where its environment can be had, the
site as it is built.

usage: test_site.py PARSHALL [unittest arguments]
"""

import collections
import functools
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/site"), str(ROOT / "tools")]
import commands
import lists
import option_tree
import outside
import repository
import words

PARSHALL = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
SITE_ENV = ROOT / "tools/site_env.sh"
CANNOT_BE_HAD = 69
LARGEST_PICTURE = 200_000


def said_by(program, *arguments):
    return subprocess.run(
        [str(pathlib.Path(PARSHALL).with_name(program)), *arguments], capture_output=True, text=True, check=True
    ).stdout


class Reference(unittest.TestCase):
    """Pages that are made, held against --help and list."""

    def test_every_option_of_every_command_has_its_heading(self):
        pages = commands.pages(PARSHALL)
        waiting = [(program,) for program in option_tree.PROGRAMS]
        while waiting:
            program, *path = words_of_command = waiting.pop()
            text = said_by(program, *path, "--help-all" if path in (["watch"], ["classify"]) else "--help")
            if words_of_command[:2] in [("parshall", "bench"), ("parshall", "test")]:
                continue  # of the programs that it becomes, which have their turn
            waiting += [
                (*words_of_command, name)
                for name in re.findall(r"(?m)^  ([a-z][\w-]*) ", text.partition("\nSubcommands:\n")[2])
            ]
            headings = "\n".join(re.findall(r"(?m)^#### .*", pages[f"reference/{'-'.join(words_of_command)}.md"]))
            for name in ",".join(re.findall(r"(?m)^  (-\S+)", text)).split(","):
                self.assertIn(f"`{name}`", headings, words_of_command)

    def test_every_topic_of_list_has_a_page_with_all_its_names(self):
        pages = lists.pages(PARSHALL) | {"columns.md": (ROOT / "docs/columns.md").read_text()}
        for topic in re.findall(r"(?m)^\w+", said_by("parshall", "list")):
            page = pages[words.PAGE_OF_TOPIC[topic]]
            for name in option_tree.listed(
                str(pathlib.Path(PARSHALL).with_name("parshall-lab" if topic in ("tables", "hashes") else "parshall")),
                topic,
            ):
                self.assertRegex(page, rf"(?m)(`|^#+ ){re.escape(name)}", topic)

    def test_a_row_for_each_line(self):
        page = lists.pages(PARSHALL)["reference/statistics.md"]
        self.assertEqual(
            len(re.findall(r"(?m)^\| (`|<code>)", page)), len(said_by("parshall", "list", "statistics").splitlines())
        )

    def test_a_line_that_cannot_be_read_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "parshall list counters.*'what is this'"):
            list(lists.plain("counters", ["what is this"]))

    def test_what_markdown_would_take_for_its_own_stays_text(self):
        self.assertEqual(words.prose("a_b *c* <d> [e] --all 2|3"), r"a\_b \*c\* &lt;d&gt; \[e\] `--all` 2\|3")
        self.assertEqual(
            words.prose("of `a_b --c`, as in docs/metrics.md"), "of `a_b --c`, as in [metrics.md](../metrics.md)"
        )
        self.assertEqual(words.code("a|<b>"), "<code>a&#124;&lt;b&gt;</code>")


class Links(unittest.TestCase):
    def test_links_go_where_the_site_has_it(self):
        self.assertEqual(
            repository.relinked("[a](docs/web.md#who-may-see-it) [b](ARCHITECTURE.md)", "CHANGELOG.md"),
            "[a](web.md#who-may-see-it) [b](architecture.md)",
        )
        self.assertEqual(
            repository.relinked("[a](../python/README.md#from-nfstream)", "docs/notebooks/../x.md"),
            "[a](python.md#from-nfstream)",
        )
        self.assertEqual(
            repository.relinked("[a](../../examples/states)", "docs/notebooks/x.md"),
            "[a](../examples.md#examples-states)",
        )

    def test_the_name_of_a_file_becomes_the_title_of_its_page(self):
        self.assertEqual(
            repository.relinked("[metrics.md](metrics.md), [metrics.md](metrics.md#the-account)", "docs/x.md"),
            "[Every number Parshall prints](metrics.md), [The account](metrics.md#the-account)",
        )

    def test_code_and_links_elsewhere_stay(self):
        text = "`[a](../x)`\n```\n[a](../x)\n```\n[b](https://b.example/x.md) [c](#d)"
        self.assertEqual(repository.relinked(text, "docs/x.md"), text)

    def test_a_file_that_the_site_has_not_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "docs/x.md: the site does not have src/base"):
            repository.relinked("[a](../src/base)", "docs/x.md")


class Outside(unittest.TestCase):
    """What a page would load from elsewhere is found, and no more."""

    def assert_loads(self, name, text, *urls):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / name).write_text(text)
            self.assertEqual([url for _, url in outside.loads(pathlib.Path(folder))], list(urls))

    def test_what_a_page_loads(self):
        self.assert_loads(
            "a.html",
            '<script src="https://x.example/a.js"></script><link rel="stylesheet" href="//x.example/a.css">',
            "https://x.example/a.js",
            "//x.example/a.css",
        )
        self.assert_loads(
            "a.html",
            '<img srcset="a.png 1x, http://x.example/b.png 2x"><p style="background:url(http://x.example/c)">',
            "http://x.example/b.png",
            "http://x.example/c",
        )
        self.assert_loads(
            "a.html",
            '<link rel="preconnect" href="https://x.example"><style>@import "https://x.example/b";</style>',
            "https://x.example",
            "https://x.example/b",
        )
        self.assert_loads("a.html", "<script>fetch('https://x.example/d')</script>", "https://x.example/d")
        self.assert_loads("a.html", '<pre class="mermaid">', "what draws a diagram (mermaid)")
        self.assert_loads(
            "a.svg", '<svg><image xlink:href="https://x.example/e.png"/></svg>', "https://x.example/e.png"
        )

    def test_what_styles_and_scripts_load(self):
        self.assert_loads(
            "a.css", "a{src:url('https://x.example/font.woff2')} b{c:url(data:x)}", "https://x.example/font.woff2"
        )
        self.assert_loads(
            "a.js",
            'import("https://x.example/f.js"); load(`//x.example/g.js`)',
            "https://x.example/f.js",
            "//x.example/g.js",
        )
        self.assert_loads(
            "search_index.js", 'var __index = {"a": 1}; fetch("https://x.example/h")', "https://x.example/h"
        )

    def test_what_a_reader_may_follow_is_not_loaded(self):
        self.assert_loads(
            "a.html",
            '<a href="https://x.example/">x</a><link rel="canonical" href="https://x.example/"><code>https://'
            "x.example</code>",
        )
        self.assert_loads("search_index.js", 'var __index = {"text": "see https://x.example/"}')
        self.assert_loads("a.svg", '<svg xmlns="http://www.w3.org/2000/svg"></svg>')


@functools.cache
def made_environment():
    return subprocess.run(
        [SITE_ENV, pathlib.Path(PARSHALL).with_name("site")], capture_output=True, text=True, check=False
    )


def environment():
    """The Python of tools/site_env.sh; skips the test where it cannot be had."""
    made = made_environment()
    if made.returncode == CANNOT_BE_HAD:
        raise unittest.SkipTest(f"SKIPPED the site as it is built: {made.stderr.strip().splitlines()[-1]}")
    if made.returncode:
        raise RuntimeError(f"{SITE_ENV.name} failed:\n{made.stderr}")
    return pathlib.Path(made.stdout.strip())


class Shown(html.parser.HTMLParser):
    """What a reader sees of a page's text: its words, and how many of each tag there are."""

    COUNTED = "h1", "h2", "h3", "h4", "li", "td", "th", "pre", "a", "img", "em", "strong"

    def __init__(self, text):
        super().__init__()
        self.words, self.tags = "", collections.Counter()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += tag in self.COUNTED

    def handle_data(self, data):
        self.words += "".join(data.split())


def article(page):
    """The text of a page of the site, without what its headings have to be linked by."""
    text = re.search(r"<article[^>]*>(.*)</article>", page.read_text(), re.DOTALL)[1]
    return re.sub(r'<a class="headerlink".*?</a>', "", text)


class Built(unittest.TestCase):
    """The site, by tools/site.sh."""

    @classmethod
    def setUpClass(cls):
        cls.env = environment()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work, cls.site = pathlib.Path(folder.name), pathlib.Path(folder.name) / "site"
        (cls.work / "env").symlink_to(cls.env)
        cls.done = subprocess.run(
            [ROOT / "tools/site.sh", PARSHALL, cls.site, cls.work], capture_output=True, text=True, check=False
        )

    def setUp(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)

    def pages(self):
        """(Markdown, HTML) of each."""
        folder = self.work / "pages/docs"
        for page in folder.rglob("*.md"):
            made = self.site / page.relative_to(folder).with_suffix(".html")
            yield page, made.with_name("index.html") if page.name == "README.md" else made

    def test_a_page_for_each_of_docs_and_nothing_from_elsewhere(self):
        self.assertLessEqual(
            {
                page.relative_to(ROOT / docs)
                for docs in ("docs", "lab/docs", "tester/docs")
                for page in (ROOT / docs).rglob("*.md")
            },
            {page.relative_to(self.work / "pages/docs") for page, _ in self.pages()},
        )
        self.assertEqual([page for _, page in self.pages() if not page.exists()], [])
        self.assertEqual(list(outside.loads(self.site)), [])

    def test_pages_say_what_a_forge_shows(self):
        texts = {
            page: re.sub(r"\A---\n.*?\n---\n| \{ #[\w-]+ \}", "", page.read_text(), flags=re.DOTALL)
            for page, _ in self.pages()
        }
        script = (
            "import json, sys, markdown_it\n"
            "print(json.dumps([markdown_it.MarkdownIt('commonmark').enable('table').render(text) for text in "
            "json.load(sys.stdin)]))"
        )
        read = subprocess.run(
            [self.env / "bin/python", "-c", script],
            input=json.dumps(list(texts.values())),
            capture_output=True,
            text=True,
            check=True,
        )
        made = dict(self.pages())
        for page, text in zip(texts, json.loads(read.stdout)):
            forge, site = Shown(text), Shown(article(made[page]))
            with self.subTest(page=page.name):
                self.assertEqual(site.tags, forge.tags)
                self.assertEqual(site.words, forge.words)

    def test_the_search_has_every_page(self):
        index = (self.site / "search/search_index.js").read_text()
        for page in (self.work / "pages/docs").rglob("*.md"):
            if "exclude: true" not in page.read_text()[:40] and page.name != "README.md":
                self.assertIn(
                    f'"location":"{page.relative_to(self.work / "pages/docs").with_suffix(".html")}"',
                    index.replace('": "', '":"'),
                )

    def test_links_that_lead_nowhere_and_pages_without_a_place_are_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            pages = pathlib.Path(folder) / "pages"
            shutil.copytree(self.work / "pages", pages)
            (pages / "docs/alone.md").write_text("# Alone\n\n[a](gone.md) [b](operating.md#nowhere)\n")
            done = subprocess.run(
                [ROOT / "tools/site/render.sh", self.env, pages, pathlib.Path(folder) / "site"],
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertNotEqual(done.returncode, 0)
        for what in ("- alone.md", "'gone.md'", "'#nowhere'"):
            self.assertIn(what, done.stderr)


class Picture(unittest.TestCase):
    """tools/terminal_picture.py, and the picture that it made."""

    def drawn(self, script, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "picture.svg"
            done = subprocess.run(
                [
                    environment() / "bin/python",
                    ROOT / "tools/terminal_picture.py",
                    path,
                    "--size",
                    "20x4",
                    *options,
                    "--",
                    "bash",
                    "-c",
                    textwrap.dedent(script),
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            return done, ElementTree.fromstring(path.read_text()) if path.exists() else None

    def test_letters_blocks_and_frames(self):
        done, picture = self.drawn(
            r"""
            printf '\033[H\033[32mgreen\033[0m \033[1;7mbold\033[0m \xe2\x96\x88\xe2\x96\x88\r\nready'
            for i in {10..49}; do printf '\r\n\033[A\033[6G%s' $i; sleep 0.1; done; read -n 1""",
            "--after",
            "ready",
            "--frames",
            "3",
            "--every",
            "0.5",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        svg = "{http://www.w3.org/2000/svg}"
        texts = [(text.get("class"), text.text) for text in picture.iter(f"{svg}text")]
        self.assertEqual(texts[:2], [("green", "green"), ("ground b", "bold")])
        self.assertIn(
            ("default", str(round(2 * 8.4, 1))),
            [(box.get("class"), box.get("width")) for box in picture.iter(f"{svg}rect")],
        )
        frames = [" ".join(text.text for text in group.iter(f"{svg}text")) for group in picture.iter(f"{svg}g")]
        self.assertEqual(len(frames), 3)
        self.assertGreater(len(set(frames)), 1, frames)  # all three, but on a machine that stands still

    def test_a_command_that_ends_early_or_is_not_there_is_an_error(self):
        done, picture = self.drawn("echo no such interface; exit 1")
        self.assertEqual((done.returncode, picture), (1, None))
        self.assertIn("no such interface", done.stderr)

    def test_the_picture_of_the_first_page(self):
        text = (ROOT / "docs/live.svg").read_text()
        self.assertLess(len(text.encode()), LARGEST_PICTURE)
        picture = ElementTree.fromstring(text)
        self.assertIn("prefers-color-scheme:dark", text)
        self.assertGreaterEqual(
            len({ElementTree.tostring(group) for group in picture.iter("{http://www.w3.org/2000/svg}g")}), 8
        )
        self.assertIn("offered =", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says what is left out
