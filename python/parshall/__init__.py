# SPDX-License-Identifier: Apache-2.0
"""Exact statistics of every flow of a capture or a link, as data frames; models of application classes; and traffic to
try them on.

>>> import parshall
>>> with parshall.flows(generate="flows=3,seed=1", count=1000, seed=1) as flows:
...     sum(flow.packets for flow in flows)
1000
>>> flows.accounting["balanced"]
True
"""

from . import _load

_native = _load.native()  # before the modules that take it from here

from . import _signatures
from ._anonymizer import Anonymizer
from ._comparisons import Comparison, compare
from ._flows import Flows
from ._frames import Frames, Sent, send
from ._models import Evaluation, Model, train
from ._run import Column, Error, LossWarning
from ._runs import classify, flows, watch, windows
from ._windows import Findings, Watch, Window

_signatures.set_signatures(globals())
__version__ = _native.version
__all__ = [
    "Anonymizer",
    "Column",
    "Comparison",
    "Error",
    "Evaluation",
    "Findings",
    "Flows",
    "Frames",
    "LossWarning",
    "Model",
    "Sent",
    "Watch",
    "Window",
    "classify",
    "compare",
    "flows",
    "send",
    "train",
    "watch",
    "windows",
]
