# SPDX-License-Identifier: Apache-2.0
"""The first page, docs/reproduce.md: what all papers' pages say together, read from them."""
import re

from judge import FAILS, HOLDS, IN_PART, NOT_DECIDED
from page import OURS, slug
from paper import ANSWERS, NOT_HERE
from passes import JUDGED

LINE = re.compile(rf"^\| (.*?) \| (.*?) \|.*\| \*\*({'|'.join(ANSWERS)})\*\*: (.*) \|$")


def lines_of(text):
    """Rows of a page: (figure, statement, answer, why), first the paper's, then ours."""
    theirs, _, ours = text.partition(f"\n{OURS}\n")
    return tuple([found.groups() for found in map(LINE.match, part.splitlines()) if found] for part in (theirs, ours))


def from_here(text):
    """Links of the papers' pages, which are a folder below this one."""
    return re.sub(r"\]\((?!https?:)(\.\./)?", lambda found: "](" if found[1] else "](reproduce/", text)


def summary(papers, folder, agreement=""):
    """The page; a paper without one counts as not run. agreement: how passes agree, in words."""
    lines = ["# The published experiments on this machine", "",
             "Five papers, figure by figure: made by `make reproduce`, or a paper's own command. A conclusion **holds** only if its headline and most of the rest do,",
             "by intervals that do not overlap, and nothing is the other way round; each row says why, the headline in bold. `make reproduce-quick` takes ten minutes for",
             "those headlines that short runs can answer.",
             "", "| paper | " + " | ".join(ANSWERS) + " |", "|---|" + "---|" * len(ANSWERS)]
    beyond, against = [], []
    totals = dict.fromkeys(ANSWERS, 0)
    for paper in papers:
        path = folder / "reproduce" / f"{paper.name}.md"
        theirs, ours = lines_of(path.read_text()) if path.exists() else ((), ())
        counts = {answer: sum(line[2] == answer for line in theirs) for answer in ANSWERS}
        totals = {answer: totals[answer] + count for answer, count in counts.items()}
        link = f"[{paper.citation}](reproduce/{paper.name}.md)" if path.exists() else paper.citation
        lines.append(f"| {link} | " + " | ".join(str(counts[answer]) for answer in ANSWERS) + " |")
        where = f"reproduce/{paper.name}.md"
        beyond += [f"| [{paper.name} {name}]({where}{f'#{slug(name)}' if answer in JUDGED else ''}) | {states} | **{answer}**: {from_here(why)} |" for name, states, answer, why in ours]
        against += [f"| [{paper.name} {name}]({where}#{slug(name)}) | {states} | {from_here(why)} |" for name, states, answer, why in theirs if answer == FAILS]
    lines += ["| all | " + " | ".join(str(totals[answer]) for answer in ANSWERS) + " |"]
    judged = sum(totals[answer] for answer in (HOLDS, IN_PART, NOT_DECIDED, FAILS))
    lines += ["", f"Of {judged} conclusions that could be put to the test {totals[HOLDS]} hold, {totals[IN_PART]} in part, {totals[FAILS]} do not, and {totals[NOT_DECIDED]} "
              f"are not decided; {totals[NOT_HERE]} figures and tables are not reproducible here, each with the reason in its row."]
    lines += ["", agreement] if agreement else []
    lines += ["", "## What does not hold here", "", *(["| figure | the paper states | seen here |", "|---|---|---|", *against] if against else ["Nothing."])]
    lines += ["", "## New beyond the papers", "", *(["| beside figure | what is stated | verdict |", "|---|---|---|", *beyond] if beyond else ["Nothing was run yet."])]
    return "\n".join(lines) + "\n"
