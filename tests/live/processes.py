# SPDX-License-Identifier: Apache-2.0
"""Processes that a program made."""


def descendants(pid):
    """Children before their own; without those that ended meanwhile."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return children + [far for near in children for far in descendants(near)]


def links_of(pid):
    """Each `parshall test link` that a device test runs its frames through."""
    return [one for one in descendants(pid) if b"test\0link" in command_of(one)]


def command_of(pid):
    """Its words, each with a zero byte behind it; none of one that has ended."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""
