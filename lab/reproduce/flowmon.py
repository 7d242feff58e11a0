# SPDX-License-Identifier: Apache-2.0
"""The demo paper on FlowMon-DPDK: its two figures."""

import devices
from flowatcher_rivals import ABSENT, figure_8
from paper import Figure, Paper, Run

CITATION = (
    "Zhang et al., *High-speed per-flow software monitoring with limited resources* (FlowMon-DPDK), SIGCOMM "
    "Posters and Demos 2018"
)
INTRO = (
    "This machine has no network card and no line. A DPDK device in software hands over packets from memory. The page "
    "compares rates instead of "
    "losses.",
)

FIGURES = (
    Figure(
        "1",
        "(Generator, device under test and monitor; two queues, each with a receiving and a monitoring thread.)",
        not_here="a drawing: it states nothing that is measured",
    ),
    Figure(
        "2, hardware",
        "Even the card's own counters lose a millionth of the packets.",
        not_here="there is no network card",
    ),
    Figure(
        "2, packets",
        "Among packet counters, Speedometer (tuned) and FlowMon-DPDK lose equally little. MoonGen and pktgen-DPDK lose "
        "more, because of Lua.",
        not_here=ABSENT,
    ),
    Figure(
        "2, flows",
        "Counting flows loses only a little more than counting packets.",
        ("devices",),
        figure_8("uniform"),
        plot="devices",
    ),
)

PAPER = Paper(
    "flowmon",
    CITATION,
    INTRO,
    FIGURES,
    {"devices": Run(y="mpps", module=devices, by_clock=True, quick=())},
    title="FlowMon-DPDK",
    doi="10.1145/3234200.3234203",
    main=("2, hardware", "2, packets", "2, flows"),
)
