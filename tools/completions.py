#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""completions.py PARSHALL FOLDER: completions for bash, zsh and fish, of each program beside PARSHALL, of what they say
of themselves, into FOLDER/bash/PROGRAM, FOLDER/zsh/_PROGRAM and FOLDER/fish/PROGRAM.fish."""

import itertools
import pathlib
import sys
import textwrap

import option_tree

HERE = pathlib.Path(__file__).parent / "completions"


def quoted(text):
    """For any of these shells, outside of other quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


def function_of(path):
    return "_" + "_".join(path).replace("-", "_")


def positionals(command):
    return [option for option in command.options if option.positional and not option.names]


def how(option):
    """What can be offered for its words, as a shell's functions call it: a kind, and values."""
    return " ".join(["list" if option.is_list else option.kind, *option.values])


# bash: three functions that know, by the words of a command, its commands, its options, and what an option takes;
# completions/parshall.bash asks them.
def bash_cases(name, cases):
    yield f"{name}() {{"
    yield '  case "$1" in'
    yield from (
        f"    {'|'.join(quoted(key) for key in keys)}) REPLY={quoted(value)} ;;" for keys, value in cases if value
    )
    yield "    *) REPLY='' ;;"
    yield "  esac"
    yield "}"


def same_together(pairs):
    """(key, value) pairs as (keys, value), so that what many commands share is said once."""
    together = {}
    for key, value in pairs:
        together.setdefault(value, []).append(key)
    return [(keys, value) for value, keys in together.items()]


def bash(program):
    commands = list(program.walk())
    name = function_of(program.path)
    yield f"# bash completion of {program.name}; made by its build"
    yield from bash_cases(
        f"_{name}_commands",
        same_together((" ".join(c.path), " ".join(inner.name for inner in c.commands)) for c in commands),
    )
    yield from bash_cases(
        f"_{name}_options",
        same_together((" ".join(c.path), " ".join(n for o in c.options for n in o.names)) for c in commands),
    )
    yield from bash_cases(
        f"_{name}_takes",
        same_together(
            (" ".join((*c.path, n)), ("many " if o.many else "one ") + how(o))
            for c in commands
            for o in c.options
            if o.words != 0
            for n in o.names
        ),
    )
    yield from bash_cases(
        f"_{name}_words", same_together((" ".join(c.path), how(o)) for c in commands for o in positionals(c)[:1])
    )
    yield (HERE / "parshall.bash").read_text().replace("@NAME@", name).replace("@PROGRAM@", program.name).rstrip()


# zsh: a function of _arguments for each command.
def zsh_text(text):
    return "".join("\\" + c if c in "[]:\\" else c for c in text)


def zsh_action(option):
    values = zsh_text(" ".join(option.values))
    if option.is_list:
        return f'{{compset -P "*,"; compadd -S "" - {values}}}'
    if any(value[-1] == ":" for value in option.values):
        return f'{{compset -P "*\\:" && _files || compadd -S "" - {values}}}'
    if option.values:
        return f"({values})"
    return {"interface": "_net_interfaces", "file": "_files"}.get(option.kind, " ")


def zsh_specs(command):
    place = itertools.count(1)
    for option in command.options:
        if option.names:
            excluded = "" if option.many else f"({' '.join(option.names)})"
            star = "*" if option.many else ""
            said = f"[{zsh_text(option.help)}]"
            word = (
                f":{zsh_text(option.takes.split(':')[0] or 'FILE')}:{zsh_action(option)}" if option.words != 0 else ""
            )
            for name in option.names:
                equals = "=" if option.words != 0 and name.startswith("--") else ""
                yield quoted(excluded + star + name + equals + said + word)
        elif option.positional:
            yield quoted(f"{'*' if option.many else next(place)}:{zsh_text(option.positional)}:{zsh_action(option)}")
    if command.commands:
        yield quoted("1:command:->command")
        yield quoted("*::word:->words")


def zsh(program):
    yield f"#compdef {program.name}"
    yield f"# zsh completion of {program.name}; made by its build"
    for command in program.walk():
        yield f"{function_of(command.path)}() {{"
        yield "  local curcontext=$curcontext context state state_descr line"
        yield "  typeset -A opt_args"
        yield " \\\n    ".join([f"  _arguments -s{' -C' if command.commands else ''}", *zsh_specs(command)])
        if command.commands:
            yield "  case $state in"
            yield "    command)"
            yield "      local -a commands=("
            yield from (f"        {quoted(inner.name + ':' + inner.help)}" for inner in command.commands)
            yield "      )"
            yield "      _describe -t commands command commands ;;"
            yield "    words)"
            yield "      case $words[1] in"
            yield from (f"        {inner.name}) {function_of(inner.path)} ;;" for inner in command.commands)
            yield "      esac ;;"
            yield "  esac"
        yield "}"
    yield f'{function_of(program.path)} "$@"'


# fish: a line for each option of each command, under the condition that the words so far are that command.
def fish_values(option):
    if option.is_list:
        return "-xa " + quoted(f"(__parshall_list {' '.join(option.values)})")
    if option.kind == "values":
        return ("-ra " if any(value[-1] == ":" for value in option.values) else "-xa ") + quoted(
            " ".join(option.values)
        )
    return {"interface": "-xa '(__fish_print_interfaces)'", "file": "-rF"}.get(option.kind, "-x")


def fish(program):
    yield f"# fish completion of {program.name}; made by its build"
    yield (HERE / "parshall.fish").read_text().rstrip()
    known = function_of(program.path) + "_at"
    commands = list(program.walk())
    takers = dict.fromkeys(n for c in commands if c.commands for o in c.options if o.words != 0 for n in o.names)
    yield f"function {known}"
    yield (
        f"    __parshall_at {quoted(' '.join(takers))} {quoted(','.join(' '.join(c.path[1:]) for c in commands))} "
        f'"$argv"'
    )
    yield "end"
    yield f"complete -c {program.name} -f"
    for command in commands:
        here = f"complete -c {program.name} -n {quoted(known + ' ' + ' '.join(command.path[1:]))}"
        for inner in command.commands:
            yield f"{here} -a {inner.name} -d {quoted(inner.help)}"
        for option in command.options:
            if option.names:
                names = [f"-s {name[1:]}" if name[1] != "-" else f"-l {name[2:]}" for name in option.names]
                yield " ".join(
                    [here, *names, *([fish_values(option)] if option.words != 0 else []), "-d", quoted(option.help)]
                )
            elif option.values:
                yield f"{here} -a {quoted(' '.join(option.values))}"
            elif option.kind == "file":
                yield f"{here} -F"


def main():
    if len(sys.argv) != 3:
        sys.exit(textwrap.dedent(__doc__))
    folder = pathlib.Path(sys.argv[2])
    programs, _ = option_tree.programs(sys.argv[1])
    for program in programs:
        for shell, name, text in (
            ("bash", program.name, bash),
            ("zsh", "_" + program.name, zsh),
            ("fish", program.name + ".fish", fish),
        ):
            (folder / shell).mkdir(parents=True, exist_ok=True)
            (folder / shell / name).write_text("\n".join(text(program)) + "\n")


if __name__ == "__main__":
    main()
