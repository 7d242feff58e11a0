# SPDX-License-Identifier: Apache-2.0
"""Figures that are made up, and what judges say of them."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reproduce"))
from judge import Conclusion, Estimate, Of


def about(value, share=0.02):
    return Estimate(value, (1 - share) * value, (1 + share) * value, Of.RUNS)


def answers(seen):
    return {one.what: one.answer() for one in seen.comparisons}


def verdict(seen):
    return Conclusion(seen.comparisons).verdict().answer
