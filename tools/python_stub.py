#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_stub.py [FILE]: writes python/parshall/__init__.pyi, or FILE, from the settings that the installed package
takes. Call it with a Python that has parshall, such as build-python/env/bin/python."""

import inspect
import pathlib
import sys

import parshall
from parshall import _signatures

STUB = pathlib.Path(__file__).parents[1] / "python/parshall/__init__.pyi"
HEAD = """# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stub.py.
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, overload

import pyarrow

"""
WIDTH = 120
# What a function returns depends on one parameter: its type, its default, and what is returned then.
OVERLOADS = {
    "watch": (
        "on_window",
        [("None", None, "Watch"), ("Callable[[Window], object]", inspect.Parameter.empty, "dict[str, Any]")],
    ),
    "send": (
        "to",
        [("None", None, "Frames"), ("str | os.PathLike[str]", inspect.Parameter.empty, "Sent")],
    ),
}


def text(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


def definition(name, signature):
    """A function, as many parameters in a line as there is room for."""
    words = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*," not in words:
            words.append("*,")
        default = "" if parameter.default is parameter.empty else f" = {text(parameter.default)}"
        words.append(f"{parameter.name}: {parameter.annotation}{default},")
    yield f"def {name}("
    line = ""
    for word in words:
        if line and len(line) + len(word) >= WIDTH:
            yield line
            line = ""
        line += (" " if line else "    ") + word
    yield line
    yield f") -> {signature.return_annotation}: ..."


def overloads(name, signature):
    if name not in OVERLOADS:
        yield from definition(name, signature)
        return
    which, variants = OVERLOADS[name]
    for annotation, default, returns in variants:
        parameters = [
            one.replace(annotation=annotation, default=default) if one.name == which else one
            for one in signature.parameters.values()
        ]
        yield "@overload"
        yield from definition(name, inspect.Signature(parameters, return_annotation=returns))


def stub():
    functions = dict(_signatures.signatures())
    lines = [HEAD.rstrip("\n"), ""]
    modules = {}
    for name in sorted(set(parshall.__all__) - set(functions)):
        module = "_run" if name == "Error" else getattr(parshall, name).__module__.split(".")[-1]
        modules.setdefault(module, []).append(f"{name} as {name}")
    lines += [f"from .{module} import {name}" for module, names in sorted(modules.items()) for name in names]
    lines += ["", "__version__: str", ""]
    for name, signature in functions.items():
        lines += overloads(name, signature)
    return "\n".join(lines) + "\n"


def main():
    (pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else STUB).write_text(stub())


if __name__ == "__main__":
    main()
