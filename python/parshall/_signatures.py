# SPDX-License-Identifier: Apache-2.0
"""Signatures of the functions that take settings. Each setting that the native part takes is a parameter.

tools/python_stub.py writes __init__.pyi from them, for editors and type checkers.
"""

import textwrap
from inspect import Parameter, Signature

from . import _native, _settings

_PATH = "str | os.PathLike[str]"
_FILES = {"read", "states", "hosts", "learn"}
_SCALARS = {"": "bool", "COUNT": "float | str", "TIME": "float | str", "NUMBER": "float"}
_PLANS = {bool: "bool", int: "int", float: "float", str: "str"}
_SPECIAL = {  # attributes of plans that are text, but not any text
    "model": 'Literal["naive-bayes", "c45", "forest"]',
    **dict.fromkeys(["count", "duration", "idle"], "float | str"),
}
_TASKS = "str | Iterable[str]"
_PROGRESS = ("progress", "bool", False)
_PLUGIN = "Callable[[pyarrow.RecordBatch], Mapping[str, Any]]"
_PLUGINS = ("plugins", f"{_PLUGIN} | Iterable[{_PLUGIN}]", ())


def _scalar(name, takes):
    if name in _FILES:
        return _PATH
    if takes.startswith("{"):
        return "Literal[" + ", ".join(f'"{value}"' for value in takes[1:-1].split(",")) + "]"
    return _SCALARS.get(takes, "str")


def _of_runs(without=()):
    """(name, annotation, default) of each setting of a run."""
    for name, kind, takes, _, _ in _native.settings():
        item = "int" if takes == "COUNT" else "str"
        one = f"{item} | Sequence[{item}]" if kind == "list" else _scalar(name, takes)
        if name == "model":
            one = f"{_PATH} | Model"
        if name not in without:
            yield name.replace("-", "_"), f"{one} | None", None


def _of_plan(plan, without):
    """The same of the attributes of a plan, whose types are those of their defaults."""
    defaults = plan()
    for name, value in vars(plan).items():
        if not name.startswith("_") and not callable(value) and name not in without:
            one = _SPECIAL.get(name) or _PLANS[type(getattr(defaults, name))]
            yield name, f"{one} | None", None


def _signature(returns, first, own, settings):
    def parameters(kind, described):
        return [Parameter(name, kind, default=default, annotation=type_) for name, type_, default in described]

    named = parameters(Parameter.POSITIONAL_OR_KEYWORD, first)
    named += parameters(Parameter.KEYWORD_ONLY, [*own, *settings])
    return Signature(named, return_annotation=returns)


def signatures():
    """The name and signature of each function, with types as text."""
    source = [("source", f"{_PATH} | None", None)]
    model = ("model", f"{_PATH} | Model", Parameter.empty)
    tasks = ("tasks", _TASKS, Parameter.empty)
    yield "flows", _signature("Flows", source, [_PROGRESS, _PLUGINS], _of_runs())
    yield "classify", _signature("Flows", source, [model, _PROGRESS, _PLUGINS], _of_runs({"model"}))
    yield "windows", _signature("Findings", source, [tasks, _PROGRESS], _of_runs({"task", "tasks"}))
    own = [
        ("every", "float | str", "1s"),
        ("tasks", _TASKS, ()),
        ("on_window", "Callable[[Window], object] | None", None),
    ]
    settings = _of_runs({"task", "tasks", "window"})
    yield "watch", _signature("Watch | dict[str, Any]", source, [*own, _PROGRESS], settings)

    captures = [("source", f"{_PATH} | Iterable[{_PATH}] | None", None), ("labels", "Any", None)]
    own = [("samples", "Any", None), ("rules", "str | Iterable[str]", ())]
    settings = _of_plan(_native.TrainingPlan, {"read", "labels", "labels_text", "rule", "samples", "samples_text"})
    yield "train", _signature("Model", captures, own, settings)
    own = [("generate", "str | None", None), ("read", f"{_PATH} | None", None)]
    settings = _of_plan(_native.SendOptions, {"write", "kept", "read", "generate"})
    yield "send", _signature("Frames | Sent", [("to", f"{_PATH} | None", None)], own, settings)


def set_signatures(functions):
    """Gives the functions their signatures, without types so that help() stays short; and flows() the meaning of each
    setting."""
    for name, signature in signatures():
        parameters = [one.replace(annotation=Parameter.empty) for one in signature.parameters.values()]
        functions[name].__signature__ = signature.replace(parameters=parameters)
    if functions["flows"].__doc__:  # absent with -OO
        functions["flows"].__doc__ += "\n    Settings, all of them optional:\n" + "".join(_meanings())


def _meanings():
    for name, _, _, meaning, shown in _native.settings():
        default = f" (default: {shown})" if shown else ""
        text = f"{name.replace('-', '_')}: {_settings.in_python(meaning)}{default}\n"
        yield textwrap.fill(text, 110, initial_indent=" " * 8, subsequent_indent=" " * 12) + "\n"
