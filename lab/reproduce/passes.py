# SPDX-License-Identifier: Apache-2.0
"""What each pass over the papers concluded, lab/docs/reproduce/passes.json: whether another day, or another machine,
says the same.

What is measured again in part, or judged anew, takes the place of the pass that it shares runs with; those without
noise, alike in all, are not its.
Verdicts are those that the rules of their day gave.
"""

import collections
import datetime
import hashlib
import json

from judge import FAILS, HOLDS, IN_PART, NOT_DECIDED

JUDGED = (HOLDS, IN_PART, NOT_DECIDED, FAILS)


def _mark(path):
    """Of what a run measured, wherever it is kept and however old its file is."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


class Passes:
    """In a file, which is made. Of each pass: its paper's name, its day, its cpu, marks of its runs, and its answers by
    figure."""

    def __init__(self, path):
        self._path = path
        self.all = json.loads(path.read_text())["passes"] if path.exists() else []

    def add(self, paper, results, paths, cpu):
        """Of what was judged from the runs in these files, without those that are alike in all; returns the pass, or
        None where there is none."""
        answers = {result.figure.name: result.answer for result in results if result.answer in JUDGED}
        if not answers or not paths:
            return None
        days = [datetime.date.fromtimestamp(path.stat().st_mtime).isoformat() for path in paths]
        runs = sorted({_mark(path) for path in paths})
        before = [one for one in self.all if one["paper"] == paper and set(runs) & set(one["runs"])]
        this = {
            "paper": paper,
            "day": min([max(days), *(one["day"] for one in before)]),
            "cpu": cpu,
            "answers": answers,
            "runs": runs,
        }
        self.all = sorted(
            [*(one for one in self.all if one not in before), this], key=lambda one: (one["paper"], one["day"])
        )
        self._path.write_text('{"passes": [\n' + ",\n".join(json.dumps(one) for one in self.all) + "\n]}\n")
        return this

    def before(self, this):
        """The last pass of the same paper that is not later, or None."""
        return next(
            (
                one
                for one in reversed(self.all)
                if one is not this and one["paper"] == this["paper"] and one["day"] <= this["day"]
            ),
            None,
        )


def other_answers(before, results):
    """Figures whose answer was another in the pass before: {name: what it was}."""
    answers = before["answers"] if before else {}
    return {
        result.figure.name: answers[result.figure.name]
        for result in results
        if result.answer in JUDGED and answers.get(result.figure.name, result.answer) != result.answer
    }


def agreement(passes, papers):
    """In words, of the last two passes of each paper; empty where there is none twice."""
    same = both = undecided = turned = 0
    runs, cpus = collections.Counter(), {}
    for paper in papers:
        of_paper = [one for one in passes.all if one["paper"] == paper][-2:]
        if len(of_paper) < 2:
            continue
        before, last = (one["answers"] for one in of_paper)
        common = set(before) & set(last)
        both += len(common)
        same += sum(before[name] == last[name] for name in common)
        undecided += sum((before[name] == NOT_DECIDED) != (last[name] == NOT_DECIDED) for name in common)
        turned += sum({before[name], last[name]} == {HOLDS, FAILS} for name in common)
        for one in of_paper:
            runs[one["day"]] += len(one["runs"])
            cpus.setdefault(one["day"], set()).update(filter(None, [one["cpu"]]))
    if not both:
        return ""
    days = [f"{day} ({', '.join([*sorted(cpus[day]), f'{runs[day]} runs'])})" for day in sorted(runs)]
    return (
        f"Two passes judged {both} conclusions, on {' and '.join(days)}. {same} have the same verdict in both "
        f"({100 * same / both:.0f} %). {undecided} were undecided in one of the two, "
        f"and {turned} changed from confirmed to refuted or back. Each pass used the rules of its day."
    )
