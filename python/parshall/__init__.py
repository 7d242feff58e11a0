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
from ._comparisons import Comparison, compare
from ._frames import Frames, Sent, send
from ._models import Evaluation, Model, train
from ._runs import Column, Error, Findings, Flows, LossWarning, Watch, Window, classify, flows, watch, windows

_native = _load.native()
__version__ = _native.version
__all__ = [
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
