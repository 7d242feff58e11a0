#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""man.py PARSHALL FOLDER: a manual page for each program beside PARSHALL and each of their commands, of what they say
of themselves, into FOLDER/PROGRAM: parshall-watch.1, ..."""

import datetime
import os
import pathlib
import re
import sys
import textwrap

import option_tree


def escaped(text):
    text = (
        text.replace("\\", r"\e")
        .replace("-", r"\-")
        .replace("'", r"\(aq")
        .replace("`", r"\(ga")
        .replace("^", r"\(ha")
        .replace("~", r"\(ti")
    )
    text = re.sub(r"([,|])(?=\S)", r"\1\\:", text)  # where a long one may be broken
    return re.sub(r"(?m)^\.", r"\\&.", text)


def bold(text):
    return rf"\fB{escaped(text)}\fR"


def italic(text):
    return rf"\fI{escaped(text)}\fR"


def link(page):
    return bold("-".join(page)) + "(1)"


def meta(option):
    """What an option takes, as a word for people."""
    if option.words == 0:
        return ""
    choices = re.search(r"\{([^{}]+)\}", option.takes)
    word = (
        choices[1].replace(",", "|")
        if choices
        else option.takes.split(":")[0]
        if not option.takes.startswith("KIND")
        else option.takes
    )
    return (word or "FILE") + (" ..." if option.many else "")


def sentences(option):
    """Its help, and what holds for it beside."""
    said = [option.help]
    bounds = re.search(r" in \[(.*) - (.*)\]", option.takes)
    if bounds:
        said.append(f"From {bounds[1]} to {bounds[2]}.")
    if option.default:
        said.append(f"Unless given: {option.default}.")
    if option.required:
        said.append("Has to be given.")
    if option.needs:
        said.append(f"Needs {', '.join(option.needs)}.")
    if option.excludes:
        said.append(f"Not with {', '.join(option.excludes)}.")
    if len(said) > 1 and not said[0].endswith("."):
        said[0] += "."
    return " ".join(said)


def options_of(command):
    group = None
    for option in (option for option in command.options if option.names):
        if option.group != group:
            group = option.group
            if group != "Options":
                yield f".SS {escaped(group)}"
        yield ".TP"
        word = meta(option)
        yield ", ".join(bold(name) for name in option.names) + (" " + italic(word) if word else "")
        yield escaped(sentences(option))


def synopsis(command):
    words = [bold(" ".join(command.path))]
    if any(option.names for option in command.options):
        words.append(f"[{italic('OPTION')} ...]")
    if command.commands:
        words.append(italic("COMMAND") + " ...")
    for option in (option for option in command.options if option.positional):
        word = italic(option.positional) + (" ..." if option.many else "")
        words.append(word if option.required else f"[{word}]")
    return " ".join(words)


def footer(text):
    """Text that is laid out in lines stays so; else it is a paragraph."""
    laid_out = [".nf", escaped(text), ".fi"] if "\n" in text.strip() else [escaped(text.strip())]
    return [".PP", *laid_out]


def sentence_in_a_list(text):
    """As NAME wants it: `sends built-in traffic`; a name stays one."""
    return text.rstrip(".") if text.startswith("Parshall") else text[0].lower() + text[1:].rstrip(".")


def month():
    """Of the source, as packagers have it; none elsewhere, so that the same source makes the same page."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    return f"{datetime.datetime.fromtimestamp(int(epoch), datetime.UTC):%Y-%m}" if epoch else '""'


def page(command, version, others):
    name = "-".join(command.page)
    yield f'.TH {escaped(name).upper()} 1 {month()} "parshall {version}" "Parshall"'
    yield ".ad l"
    yield ".nh"  # commands and options are words to look for
    yield ".SH NAME"
    yield rf"{escaped(name)} \- {escaped(sentence_in_a_list(command.help))}"
    yield ".SH SYNOPSIS"
    yield synopsis(command)
    if command.commands:
        yield ".SH COMMANDS"
        for inner in command.commands:
            yield ".TP"
            yield bold(inner.name)
            yield f"{escaped(inner.help)}; {link(inner.page)}"
    positionals = [option for option in command.options if option.positional]
    if positionals:
        yield ".SH ARGUMENTS"
        for option in positionals:
            yield ".TP"
            yield italic(option.positional)
            yield escaped(sentences(option) + (f" One of {', '.join(option.values)}." if option.values else ""))
    yield ".SH OPTIONS"
    yield from options_of(command)
    if command.footer:
        yield ".SH NOTES"
        yield from footer(command.footer)
    yield ".SH SEE ALSO"
    yield ",\n".join(link(other) for other in others)


def pages(parshall):
    """Each page's program, name and text."""
    programs, version = option_tree.programs(parshall)
    for program in programs:
        for command in program.walk():
            if command.path == command.page:
                above = [command.page[:count] for count in range(1, len(command.page))]
                beside = [other.page for other in programs if other is not command] if command is program else []
                others = dict.fromkeys(above + [inner.page for inner in command.commands] + beside)
                yield program.name, "-".join(command.page), "\n".join(page(command, version, others)) + "\n"
            elif "-".join(command.path) != "-".join(
                command.page
            ):  # `man parshall-bench` is the page of another program's
                yield command.page[0], "-".join(command.path), f".so man1/{'-'.join(command.page)}.1\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(textwrap.dedent(__doc__))
    for program, name, text in pages(sys.argv[1]):
        folder = pathlib.Path(sys.argv[2]) / program
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.1").write_text(text)


if __name__ == "__main__":
    main()
