#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prose.py [ROOT]: checks that pages, doc comments and commit subjects are short and plain.

Bounds of a page: 90 % of its sentences have at most 30 words, at most 5 % have more than 35, and no table cell has more
than 30.
Bound of all doc comments: at most 2 % begin as a fragment, such as "Of ..." or "What ...".
Subjects of commits since RULE_BEGINS: `area: imperative`, at most 72 characters.
Generated pages (columns, notebooks, reproduced papers) are not checked. Prints each problem; `-v` also prints a line
per page."""

import pathlib
import re
import subprocess
import sys

MOST_P90, LONG, MOST_LONG, MOST_CELL, FEWEST_SENTENCES = 30, 35, 0.05, 30, 8
MOST_FRAGMENTS = 0.02
FRAGMENT = re.compile(r"\s*///\s*(<\s*)?(Of|What|Those|That|Nothing|Who|Whether|Where|From|Whose|Which)\b")
SOURCES = ("src", "lab", "tester", "python")
RULE_BEGINS = "2026-11-28T02:00:00+0000"
SUBJECT = re.compile(r"[a-z][a-z0-9 ,/_.+-]*: (?P<verb>[A-Za-z]+)\b.*[^.]")
NO_VERB_FORM = {
    "need",
    "embed",
    "feed",
    "seed",
    "shed",
    "speed",
    "bring",
    "ring",
    "ping",
    "pass",
    "address",
    "bless",
    "cross",
    "press",
    "process",
    "access",
}


def page_numbers(text):
    """Returns (sorted words per sentence, words of the longest table cell)."""
    text = re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    prose, cells = [], [0]
    for line in text.splitlines():
        if line.lstrip().startswith("|"):
            cells += [len(cell.split()) for cell in line.strip().strip("|").split("|") if set(cell) - set("-: ")]
        elif line.startswith("#") or not line.strip():
            prose.append("\n")
        else:
            prose.append(re.sub(r"^\s*([-*]|\d+\.)\s+", "\n", line))
    prose = re.sub(r"`[^`]*`", "x", " ".join(prose))
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    sentences = re.split(r'(?<=[.!?:])\s+(?=[A-Z"\[(])|\n', prose)
    return sorted(words for words in (len(sentence.split()) for sentence in sentences) if words > 2), max(cells)


def page_problems(name, text):
    sentences, cell = page_numbers(text)
    if cell > MOST_CELL:
        yield f"{name}: a table cell has {cell} words, more than {MOST_CELL}"
    if len(sentences) < FEWEST_SENTENCES:
        return
    p90, long = sentences[int(0.9 * (len(sentences) - 1))], sum(words > LONG for words in sentences) / len(sentences)
    if p90 > MOST_P90:
        yield f"{name}: one sentence in ten has {p90} words or more; at most {MOST_P90}"
    if long > MOST_LONG:
        yield (
            f"{name}: {100 * long:.1f} % of the sentences have more than {LONG} words; at most {100 * MOST_LONG:.0f} %"
        )


def pages(root):
    for path in sorted(root.glob("*.md")) + sorted(
        path for folder in ("docs", "lab", "tester", "python") for path in (root / folder).rglob("*.md")
    ):
        if path.name != "columns.md" and not {"notebooks", "reproduce", "build"} & set(path.relative_to(root).parts):
            yield path


def fragments(lines):
    """Returns (comments, those that begin as fragments) of the lines of a source."""
    begins = [
        line
        for before, line in zip(["", *lines], lines)
        if line.lstrip().startswith("///") and not before.lstrip().startswith("///")
    ]
    return len(begins), sum(bool(FRAGMENT.match(line)) for line in begins)


def subject_problem(subject):
    """Returns what is wrong with the first line of a commit message, or an empty string."""
    if len(subject) > 72:
        return f"{len(subject)} characters, more than 72"
    match = SUBJECT.fullmatch(subject)
    if match is None:
        return "not of the form `area: imperative`"
    verb = match["verb"].lower()
    if verb not in NO_VERB_FORM and (verb.endswith(("ed", "ing")) or (verb.endswith("s") and not verb.endswith("ss"))):
        return f'"{match["verb"]}" is no imperative'
    return ""


def commit_problems(root):
    log = subprocess.run(
        ["git", "-C", root, "log", "--no-merges", f"--since={RULE_BEGINS}", "--format=%h %s"],
        capture_output=True,
        text=True,
        check=False,
    )
    if log.returncode:
        print("SKIPPED subjects of commits: this is no git repository")
    for line in log.stdout.splitlines():
        commit, _, subject = line.partition(" ")
        if problem := subject_problem(subject):
            yield f"commit {commit}: {problem}: {subject}"


def problems(root):
    for path in pages(root):
        yield from page_problems(path.relative_to(root), path.read_text(encoding="utf-8"))
    comments = found = 0
    for path in (
        path for folder in SOURCES for path in (root / folder).rglob("*.[ch]*") if path.suffix in (".hpp", ".cpp", ".h")
    ):
        counts = fragments(path.read_text(encoding="utf-8").splitlines())
        comments, found = comments + counts[0], found + counts[1]
    if found > MOST_FRAGMENTS * comments:
        yield f"{found} of {comments} doc comments begin as fragments; at most {100 * MOST_FRAGMENTS:.0f} %"
    yield from commit_problems(root)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "-v"]
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[1]).resolve()
    if "-v" in sys.argv:
        for path in pages(root):
            sentences, cell = page_numbers(path.read_text(encoding="utf-8"))
            if sentences:
                print(
                    f"{path.relative_to(root)!s:32} median {sentences[len(sentences) // 2]:3}  p90 "
                    f"{sentences[int(0.9 * (len(sentences) - 1))]:3}  cell {cell:3}"
                )
    found = list(problems(root))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
