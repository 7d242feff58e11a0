# SPDX-License-Identifier: Apache-2.0
"""The first page, lab/docs/reproduce.md: a summary of the papers' pages, read from them."""

import itertools
import re

from judge import FAILS, HOLDS, IN_PART, NOT_DECIDED
from page import OURS, slug
from paper import ANSWERS, NOT_HERE
from passes import JUDGED

LINE = re.compile(rf"^\| (.*?) \| (.*?) \| (.*?) ?\| \*\*({'|'.join(ANSWERS)})\*\*: (.*) \|$")
MOST_WORDS = 20  # in a cell
FIRST_CLAIM = re.compile(r"(.*?\))(?:\.|, )")
INTRO = """# The published experiments on this machine

`make reproduce` repeats the experiments of five papers, figure by figure. Each paper has its own page with all figures, plots and commands. `make reproduce-quick` takes ten minutes and repeats the headlines.

A conclusion of a paper is a set of claims. Its main claims are the headline. A claim is confirmed or refuted only if the intervals of both sides do not overlap.

| verdict | meaning |
|---|---|
| confirmed | the headline and most other claims are confirmed, and no claim is refuted |
| partly confirmed | a part of the headline is confirmed, or all of it without most of the rest |
| undecided | no claim of the headline is confirmed or refuted |
| refuted | a claim of the headline is refuted, and none is confirmed |
"""  # noqa: E501


def lines_of(text):
    """Rows of a page: (figure, statement, answer, why), first the paper's, then ours."""
    theirs, _, ours = text.partition(f"\n{OURS}\n")
    rows = ([found.groups() for found in map(LINE.match, part.splitlines()) if found] for part in (theirs, ours))
    return tuple([(name, states, answer, why) for name, states, _, answer, why in part] for part in rows)


def from_here(text):
    """Links of the papers' pages, which are a folder below this one."""
    return re.sub(r"\]\((?!https?:)(\.\./)?", lambda found: "](" if found[1] else "](reproduce/", text)


def first_claim(why):
    """The first claim of a verdict, with its numbers."""
    found = FIRST_CLAIM.match(why)
    return found[1].replace("**", "") if found else why


def brief(states):
    """The first sentences of a statement, as many as a cell has room for."""
    sentences = re.split(r"(?<=\.) (?=[A-Z])", states)
    words = list(itertools.accumulate(len(sentence.split()) for sentence in sentences))
    return " ".join(sentences[: max(1, sum(count <= MOST_WORDS for count in words))])


def row(line, where, of=""):
    name, states, answer, why = line
    anchor = f"#{slug(name)}" if answer in JUDGED else ""
    return f"| [{of}{name}]({where}{anchor}) | {brief(states)} | **{answer}**: {from_here(first_claim(why))} |"


def section(paper, theirs, counts, where):
    """Ten lines for a paper: its citation, its verdicts, and five figures at most."""
    doi = f" DOI: [{paper.doi}](https://doi.org/{paper.doi})." if paper.doi else ""
    verdicts = ", ".join(f"{number} {answer}" for answer, number in counts.items() if number)
    rows = [row(line, where) for name in paper.main for line in theirs if line[0] == name]
    return [
        "",
        f"## {paper.title or paper.name}",
        "",
        f"{paper.citation}.{doi} [All figures]({where}): {verdicts}.",
        *(["", "| figure | the paper states | verdict here |", "|---|---|---|", *rows] if rows else []),
    ]


def summary(papers, folder, agreement=""):
    """The page; a paper without one counts as not run. agreement: how passes agree, in words."""
    lines = [*INTRO.splitlines(), "", "| paper | " + " | ".join(ANSWERS) + " |", "|---|" + "---|" * len(ANSWERS)]
    beyond, sections = [], []
    totals = dict.fromkeys(ANSWERS, 0)
    for paper in papers:
        where = f"reproduce/{paper.name}.md"
        path = folder / where
        theirs, ours = lines_of(path.read_text()) if path.exists() else ((), ())
        counts = {answer: sum(line[2] == answer for line in theirs) for answer in ANSWERS}
        totals = {answer: totals[answer] + count for answer, count in counts.items()}
        name = paper.title or paper.name
        lines.append(
            f"| {f'[{name}]({where})' if path.exists() else name} | "
            + " | ".join(str(counts[answer]) for answer in ANSWERS)
            + " |"
        )
        if path.exists():
            sections += section(paper, theirs, counts, where)
        beyond += [row(line, where, of=f"{paper.name} ") for line in ours]
    lines += ["| all | " + " | ".join(str(totals[answer]) for answer in ANSWERS) + " |"]
    judged = sum(totals[answer] for answer in (HOLDS, IN_PART, NOT_DECIDED, FAILS))
    lines += [
        "",
        f"{judged} conclusions were tested: {totals[HOLDS]} are confirmed, {totals[IN_PART]} partly confirmed, "
        f"{totals[FAILS]} refuted and {totals[NOT_DECIDED]} undecided. "
        f"{totals[NOT_HERE]} figures and tables are not reproducible on this machine. Their rows give the reason.",
    ]
    lines += ["", agreement] if agreement else []
    lines += sections
    lines += [
        "",
        "## Beyond the papers",
        "",
        *(
            ["These claims are our own.", "", "| beside figure | claim | verdict |", "|---|---|---|", *beyond]
            if beyond
            else ["Nothing was run yet."]
        ),
    ]
    return "\n".join(lines) + "\n"
