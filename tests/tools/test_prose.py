# SPDX-License-Identifier: Apache-2.0
"""The check of prose, on texts made to be good and bad."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
from prose import fragments, page_numbers, page_problems, subject_problem

SHORT = "Parshall counts every packet. "
LONG = "Parshall " + "very " * 40 + "long. "


class Prose(unittest.TestCase):
    def test_sentences_end_at_points_items_and_headings_and_code_is_one_word(self):
        text = (
            "# A heading of words\n\nOne two three. Four five six seven!\n- an item of five words\n\n```\nnot "
            "counted at all here\n```\nSee `a b c d` for [more of it](x y z)."
        )
        self.assertEqual(page_numbers(text), ([3, 4, 5, 6], 0))

    def test_a_page_of_short_sentences_is_good(self):
        self.assertEqual(list(page_problems("page", SHORT * 20)), [])

    def test_too_many_long_sentences_are_a_problem(self):
        self.assertEqual(list(page_problems("page", SHORT * 39 + LONG)), [])
        self.assertIn("more than 35 words", *page_problems("page", SHORT * 18 + LONG))
        self.assertEqual(len(list(page_problems("page", SHORT * 8 + LONG * 2))), 2, "the ninth decile, too")

    def test_a_wordy_cell_is_a_problem_on_any_page(self):
        self.assertEqual(list(page_problems("page", "| " + "word " * 30 + "| b |")), [])
        self.assertIn("31 words", *page_problems("page", "| a | " + "word " * 31 + "|"))

    def test_the_first_line_of_a_comment_shows_a_fragment(self):
        lines = [
            "/// Of a flow: its packets.",
            "/// What follows.",
            "int a;",
            "/// Returns it.",
            "int b;  ///< whose",
            "  /// Whether it is.",
        ]
        self.assertEqual(fragments(lines), (3, 2))

    def test_subjects_are_an_area_and_an_imperative(self):
        for subject in (
            "output: resolve UDP collectors again after an error",
            "verify, output: accept columns",
            "lab: pass the seed",
        ):
            self.assertEqual(subject_problem(subject), "", subject)
        for subject in (
            "Have a process of its own tell",
            "output: resolved collectors",
            "output: resolving",
            "output: adds a column",
            "output: end it.",
            "output: " + "x" * 65,
        ):
            self.assertNotEqual(subject_problem(subject), "", subject)


if __name__ == "__main__":
    unittest.main()
