# SPDX-License-Identifier: Apache-2.0
"""What each pass over the papers concluded, docs/reproduce/passes.json: whether another day, or another machine, says the same.

A pass of a paper is of the day on which its oldest run was measured, and of a processor.
"""
import datetime
import json

from judge import FAILS, HOLDS, IN_PART, NOT_DECIDED

JUDGED = (HOLDS, IN_PART, NOT_DECIDED, FAILS)


class Passes:
    """In a file, which is made; of each pass its day, its cpu, and its answers: {figure: answer} by the paper's name."""

    def __init__(self, path):
        self._path = path
        self.all = json.loads(path.read_text())["passes"] if path.exists() else []

    def add(self, paper, results, paths, cpu):
        """Of what was judged from the runs in these files; returns the pass, or None where there is none."""
        answers = {result.figure.name: result.answer for result in results if result.answer in JUDGED}
        if not answers or not paths:
            return None
        day = datetime.date.fromtimestamp(min(path.stat().st_mtime for path in paths)).isoformat()
        this = next((one for one in self.all if (one["day"], one["cpu"]) == (day, cpu)), None)
        if this is None:
            this = {"day": day, "cpu": cpu, "answers": {}}
            self.all.append(this)
        this["answers"][paper] = answers
        self.all.sort(key=lambda one: one["day"])
        self._path.write_text(json.dumps({"passes": self.all}, indent=1) + "\n")
        return this

    def before(self, this, paper):
        """The last pass of this paper but this one, or None."""
        return next((one for one in reversed(self.all) if one is not this and paper in one["answers"]), None)


def other_answers(before, paper, results):
    """Figures whose answer was another in the pass before: {name: what it was}."""
    answers = before["answers"][paper] if before else {}
    return {result.figure.name: answers[result.figure.name] for result in results
            if result.answer in JUDGED and answers.get(result.figure.name, result.answer) != result.answer}


def agreement(passes, papers):
    """In words, of the last two passes of each paper; empty where there is none twice."""
    same = both = 0
    days = set()
    for paper in papers:
        of_paper = [one for one in passes.all if paper in one["answers"]][-2:]
        if len(of_paper) < 2:
            continue
        before, last = (one["answers"][paper] for one in of_paper)
        common = set(before) & set(last)
        both += len(common)
        same += sum(before[name] == last[name] for name in common)
        days |= {f"{one['day']} ({one['cpu']})" for one in of_paper}
    if not both:
        return ""
    return f"Of {both} that two passes judged, {' and '.join(sorted(days))}, {same} have the same verdict in both, {100 * same / both:.0f} %; the rows of the others say so."
