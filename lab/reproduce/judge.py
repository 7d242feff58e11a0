# SPDX-License-Identifier: Apache-2.0
"""The verdict on a conclusion, from its comparisons.

A paper concludes an order or a factor. Each is a Comparison of two estimates with intervals. A comparison is confirmed
or refuted only if the intervals do not overlap. A conclusion is confirmed if its main claims (the headline) are, most
of the others are, and none is refuted.
"""

import dataclasses
import enum
import math

from wording import measured

NAMED = 2  # claims that a verdict names of those that decide it; it counts the others


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
    AGREES = "confirmed"
    OPEN = "undecided"
    DISAGREES = "refuted"


HOLDS, IN_PART, NOT_DECIDED, FAILS = "confirmed", "partly confirmed", "undecided", "refuted"
FIRST = {
    FAILS: (Answer.DISAGREES, Answer.AGREES, Answer.OPEN),
    NOT_DECIDED: (Answer.OPEN, Answer.AGREES, Answer.DISAGREES),
}  # answers in the order of a verdict


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A value, and the interval that it is known to within. unit: for display alone."""

    value: float
    low: float
    high: float
    of: Of
    unit: str = dataclasses.field(default="", compare=False)

    def __post_init__(self):
        if not self.low <= self.value <= self.high:
            raise ValueError(f"an estimate of {self.value} is not within its interval, {self.low} to {self.high}")

    def times(self, factor):
        return Estimate(factor * self.value, factor * self.low, factor * self.high, self.of, self.unit)

    @property
    def is_bound(self):
        return self.of is Of.BOUND

    @property
    def is_open(self):
        """Whether one end of its interval is not known."""
        return math.isinf(self.low) or math.isinf(self.high)

    @property
    def is_unknown(self):
        return self == UNKNOWN


UNKNOWN = Estimate(0, -math.inf, math.inf, Of.COUNT)  # could not be measured: every comparison with it is undecided


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
            raise ValueError(
                f"{self.what}: a factor is above 0 and a slack not below it, not {self.factor} and {self.slack}"
            )

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
        answer = self._answer()
        return Verdict(answer, self._why(answer))

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

    def _why(self, answer):
        """The claims that decide, with their numbers; the headline is first, and in bold. Of the others, one that is
        refuted, and how many there are."""
        ordered = sorted(self.comparisons, key=lambda one: (not one.headline, measured(one) == "counted"))
        parts = []
        for at, kind in enumerate(FIRST.get(answer, (Answer.AGREES, Answer.DISAGREES, Answer.OPEN))):
            claims = [
                f"**{one.what}** ({measured(one)})" if one.headline else f"{one.what} ({measured(one)})"
                for one in ordered
                if one.answer() == kind
            ]
            if claims and at == 0:
                parts.append(_named(claims, NAMED))
            elif claims:
                parts.append(
                    f"{kind.value.capitalize()}: "
                    + (
                        _named(claims, 1)
                        if kind is Answer.DISAGREES
                        else f"{len(claims)} claim{'s' if len(claims) > 1 else ''}"
                    )
                )
        return ". ".join(parts) + "."


def _named(claims, most):
    """The first ones, and how many more there are."""
    rest = len(claims) - most
    return ", ".join(claims[:most]) + (f", and {rest} more" if rest > 0 else "")
