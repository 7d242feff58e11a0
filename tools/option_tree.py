# SPDX-License-Identifier: Apache-2.0
"""What the programs can be told, of their own making: commands and options as dataclasses, for man.py and
completions.py."""

import dataclasses
import functools
import json
import pathlib
import re
import subprocess

PROGRAMS = "parshall", "parshall-lab", "parshall-test"
NUMBERS = re.compile(r"(COUNT|TIME|NUMBER|U?INT|FLOAT)\b")


@dataclasses.dataclass
class Option:
    names: list  # "-r", "--read"; of a mere positional none
    positional: str  # what help calls it among words without a name, or nothing
    group: str
    words: object  # how many it takes; "more" is any number
    takes: str
    default: str
    required: bool
    needs: list
    excludes: list
    help: str
    values: list = dataclasses.field(
        default_factory=list
    )  # what it can be, if that is known: ends in : or = where more has to follow
    is_list: bool = False  # several with commas between

    @property
    def many(self):
        return self.words == "more"

    @property
    def kind(self):
        """values, interface, file, number or text: what can be offered for it."""
        if self.values:
            return "values"
        if NUMBERS.match(self.takes):
            return "number"
        if re.search(r"\bkernel interface\b", self.help, re.IGNORECASE):
            return "interface"
        if re.search(r"FILE", self.takes) or re.search(r"\b(files?|folders?)\b", self.help, re.IGNORECASE):
            return "file"
        return "text"


@dataclasses.dataclass
class Command:
    path: tuple  # ("parshall", "watch")
    page: tuple  # the same of the program that it is of: ("parshall-lab", "bench") for ("parshall", "bench")
    help: str
    footer: str
    options: list
    commands: list

    @property
    def name(self):
        return self.path[-1]

    def walk(self):
        yield self
        for command in self.commands:
            yield from command.walk()


def said_by(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


@functools.cache
def listed(program, topic):
    """The names that `list TOPIC` begins its lines with: `name: what` or `name  what`, as the first line is."""
    lines = said_by(program, "list", topic).splitlines()
    shape = r"([a-z0-9_-]+): " if re.match(r"[a-z0-9_-]+: ", lines[0]) else r"([a-z0-9_-]+)  +"
    names = [found[1] for line in lines if (found := re.match(shape, line)) and found[1] + "s" != topic]
    return list(dict.fromkeys(names))


def option_of(described, program):
    option = Option(**described)
    topic = re.search(r"\(parshall list ([a-z]+)|parshall list ([a-z]+)\)", option.help)
    choices = re.search(r"\{([^{}]+)\}", option.takes)
    if choices:
        option.values = choices[1].split(",")
    elif topic and option.words != 0:
        more = {"traffic": "=", "exporters": ":"}.get(topic[1] or topic[2], "")
        option.values = [name + more for name in listed(program, topic[1] or topic[2])]
        option.is_list = option.many or more == "="
    return option


def command_of(described, path, page, folder, trees):
    """The same command; of one that another program is, that one's command of this name, or all of it."""
    other = described.get("program")
    if other:
        whole, name = trees[other], described["name"]
        own = next((command for command in whole["commands"] if command["name"] == name), None)
        described, page = own or whole, (other, name) if own else (other,)
    options = [option_of(option, str(folder / page[0])) for option in described["options"]]
    commands = [
        command_of(command, (*path, command["name"]), (*page, command["name"]), folder, trees)
        for command in described["commands"]
    ]
    return Command(path, page, described["help"], described["footer"], options, commands)


def programs(parshall):
    """A Command for each program in the folder of this one, and the version."""
    folder = pathlib.Path(parshall).resolve().parent
    trees = {name: json.loads(said_by(str(folder / name), "--describe-options")) for name in PROGRAMS}
    return [command_of(tree, (name,), (name,), folder, trees) for name, tree in trees.items()], trees["parshall"][
        "version"
    ]
