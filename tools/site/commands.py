# SPDX-License-Identifier: Apache-2.0
"""A page for each command, of what the programs say of their options."""

import man
import option_tree
from words import prose, sentence, table


def uri(command):
    """Of its page, below docs/."""
    return f"reference/{'-'.join(command.page)}.md"


def synopsis(command):
    words = [" ".join(command.path)]
    if any(option.names for option in command.options):
        words.append("[OPTION ...]")
    if command.commands:
        words.append("COMMAND ...")
    for option in (option for option in command.options if option.positional):
        word = option.positional + (" ..." if option.many else "")
        words.append(word if option.required else f"[{word}]")
    return " ".join(words)


def described(option):
    """A heading that can be linked to and found, and what the option does."""
    takes = man.meta(option) if option.names else ""
    names = ", ".join(f"`{name}`" for name in option.names or [option.positional])
    anchor = (option.names[-1] if option.names else option.positional).lstrip("-").lower()
    word = "" if not takes else f" *{takes}*" if takes.isupper() else f" `{takes}`"
    yield f"#### {names}{word} {{ #{anchor} }}\n"
    yield prose(man.sentences(option)) + (
        "" if option.names or not option.values else f" One of {', '.join(f'`{value}`' for value in option.values)}."
    )
    yield ""


def search_setting(command, of_product):
    """A search finds the product's commands; of the lab those that are its own, after other pages."""
    if command.page[0] != "parshall-lab":
        return ""
    setting = "exclude: true" if command.path[0] == "parshall-lab" and command.name in of_product else "boost: 0.3"
    return f"---\nsearch:\n  {setting}\n---\n"


def page(command):
    yield f"# {' '.join(command.path)}\n"
    yield sentence(command.help) + "\n"
    yield f"```\n{synopsis(command)}\n```\n"
    footer = command.footer.strip()
    if footer:
        yield f"```text\n{footer}\n```\n" if "\n" in footer else prose(footer) + "\n"
    if command.commands:
        yield "## Commands\n"
        yield from table(
            ("command", "what"),
            ((f"[{inner.name}]({'-'.join(inner.page)}.md)", prose(inner.help)) for inner in command.commands),
        )
    groups = {}
    for option in command.options:
        groups.setdefault(option.group if option.names else "Arguments", []).append(option)
    for group, options in groups.items():
        yield f"## {group}\n"
        for option in options:
            yield from described(option)


def commands(parshall):
    """Every command that has a page of its own, by the words that its user says first."""
    programs, _ = option_tree.programs(parshall)
    own = {}
    for program in programs:
        for command in program.walk():
            own.setdefault(command.page, command)
    return list(own.values())


def pages(parshall):
    """{path below docs/: Markdown}."""
    found = commands(parshall)
    of_product = {command.name for command in found if command.page[0] == "parshall" and len(command.page) == 2}
    return {uri(command): search_setting(command, of_product) + "\n".join(page(command)) for command in found}


def nav(parshall):
    """For the site's navigation: the commands of each program, with those of `parshall` that others are among its
    own."""
    programs = {}
    for command in commands(parshall):
        programs.setdefault(command.page[0], []).append({" ".join(command.path): uri(command)})
    return [{f"Options of {program}": entries} for program, entries in programs.items()]
