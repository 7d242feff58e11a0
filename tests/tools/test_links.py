# SPDX-License-Identifier: Apache-2.0
"""What the check of links says of pages that were made to have good and bad ones."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
from absolute_links import absolute
from check_links import anchors, problems


class Links(unittest.TestCase):
    def found(self, **pages):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "docs").mkdir()
            for name, text in pages.items():
                (root / "docs" / f"{name}.md").write_text(text)
            return list(problems(root))

    def test_links_to_files_folders_headings_and_elsewhere_are_good(self):
        self.assertEqual(
            self.found(
                a="# One\n[b](b.md) [c](b.md#two-words) [d](../docs) [e](#one) [f](https://x.example/y#z)",
                b="## Two words",
            ),
            [],
        )

    def test_a_file_that_is_not_there_is_named_with_its_line(self):
        self.assertEqual(self.found(a="# One\n\n[b](gone.md)"), ["docs/a.md:3: gone.md: there is no such file"])

    def test_a_heading_that_is_not_there_is_named(self):
        self.assertEqual(
            self.found(a="[b](b.md#two)", b="## Two words"), ["docs/a.md:1: b.md#two: b.md has no such heading"]
        )
        self.assertEqual(self.found(a="[b](#one)\n```\n# One\n```"), ["docs/a.md:1: #one: a.md has no such heading"])

    def test_a_file_outside_is_none_of_the_project(self):
        self.assertEqual(len(self.found(a="[b](../../etc)")), 1)

    def test_what_is_code_is_no_link(self):
        self.assertEqual(self.found(a="`[b](gone.md)`\n```\n[b](gone.md)\n```\n"), [])

    def test_a_link_whose_words_are_code_is_one(self):
        self.assertEqual(len(self.found(a="[`b`](gone.md)")), 1)

    def test_headings_that_come_again_are_numbered(self):
        self.assertEqual(anchors("# A `b`, c\n## A [b](d), c\n# A"), {"a-b-c", "a-b-c-1", "a"})


class AbsoluteLinks(unittest.TestCase):
    def made(self, text):
        return absolute(text, "python/README.md", "https://x.example")

    def test_links_to_files_become_addresses(self):
        self.assertEqual(self.made("[a](../docs/names.md)"), "[a](https://x.example/docs/names.md)")
        self.assertEqual(self.made("[a](meson.build#b)"), "[a](https://x.example/python/meson.build#b)")

    def test_other_text_stays(self):
        for text in ("[a](https://y.example/z)", "[a](#b)", "```\n[a](../docs/names.md)\n```", "a (b.md)"):
            self.assertEqual(self.made(text), text)

    def test_the_page_of_the_package_has_no_relative_link(self):
        page = pathlib.Path(__file__).parents[2] / "python/README.md"
        self.assertIn("](../docs/", page.read_text())
        self.assertNotIn("](../", self.made(page.read_text()))


if __name__ == "__main__":
    unittest.main()
