# SPDX-License-Identifier: Apache-2.0
"""What a conclusion's comparisons say together.

A paper concludes an order or a factor. Each is a Comparison of two estimates with intervals; a comparison is answered only
where these do not overlap. A conclusion holds if what it states above all (its headline) does, most of the rest does, and
nothing is the other way round.
"""
import dataclasses
import enum
import math

NAMED = 2  # comparisons of each answer which a verdict's sentence names; of more it says how many


class Of(enum.Enum):
    """What an interval is of."""
    COUNT = "counted: the same in each run"
    ROUNDS = "rounds within one run"
    RUNS = "runs, each in a process of its own"
    PAIRS = "ratios, or differences, within each run: their mean over runs"
    CAPTURES = "captures"
    WINDOWS = "windows that were simulated"
    CASES = "cases that were simulated"
    BOUND = "a bound that is given"


class Answer(enum.Enum):
    AGREES = "as stated"
    OPEN = "within the noise"
    DISAGREES = "the other way round"


HOLDS, IN_PART, NOT_DECIDED, FAILS = "holds", "holds in part", "not decided", "does not hold"


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A value, and the interval that it is known to within."""
    value: float
    low: float
    high: float
    of: Of

    def __post_init__(self):
        if not self.low <= self.value <= self.high:
            raise ValueError(f"an estimate of {self.value} is not within its interval, {self.low} to {self.high}")

    def times(self, factor):
        return Estimate(factor * self.value, factor * self.low, factor * self.high, self.of)


UNKNOWN = Estimate(0, -math.inf, math.inf, Of.COUNT)  # of what cannot be measured: no comparison with it is answered


@dataclasses.dataclass(frozen=True)
class Comparison:
    """That `less` is below `factor` times `more`, or no more than that (`or_equal`).

    slack: what the measurement cannot resolve, in its unit: intervals that are no further apart overlap.
    headline: that the conclusion is about this above all.
    """
    what: str
    less: Estimate
    more: Estimate
    factor: float = 1
    or_equal: bool = False
    slack: float = 0
    headline: bool = False

    def __post_init__(self):
        if not (self.factor > 0 and self.slack >= 0):
            raise ValueError(f"{self.what}: a factor is above 0 and a slack not below it, not {self.factor} and {self.slack}")

    def answer(self):
        more = self.more.times(self.factor)
        if self.less.high + self.slack < more.low or (self.or_equal and self.less.high <= more.low):
            return Answer.AGREES
        return Answer.DISAGREES if more.high + self.slack < self.less.low else Answer.OPEN


@dataclasses.dataclass(frozen=True)
class Verdict:
    answer: str
    why: str


@dataclasses.dataclass(frozen=True)
class Conclusion:
    """What a paper concludes: comparisons, of which one at least is the headline."""
    comparisons: tuple

    def __post_init__(self):
        if not any(one.headline for one in self.comparisons):
            raise ValueError("a conclusion needs a headline: which of its comparisons is it about above all?")

    def verdict(self):
        return Verdict(self._answer(), self._why())

    def _shares(self, headline):
        """How many of the headlines, or of the others, agree, disagree, and are there."""
        answers = [one.answer() for one in self.comparisons if one.headline == headline]
        return answers.count(Answer.AGREES), answers.count(Answer.DISAGREES), len(answers)

    def _answer(self):
        agree, disagree, headlines = self._shares(True)
        others_agree, others_disagree, others = self._shares(False)
        if disagree == 0 and agree == headlines:
            is_most = 2 * others_agree > others or others == 0
            return HOLDS if is_most and others_disagree == 0 else IN_PART
        if disagree and agree == 0:
            return FAILS
        return IN_PART if agree else NOT_DECIDED

    def _why(self):
        """Headlines first, and in bold."""
        first = sorted(self.comparisons, key=lambda one: not one.headline)
        found = {answer: [f"**{one.what}**" if one.headline else one.what for one in first if one.answer() == answer] for answer in Answer}
        return "; ".join(f"{answer.value}: {_named(names)}" for answer, names in found.items() if names) + "."


def _named(names):
    """The first, and how many more there are."""
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
