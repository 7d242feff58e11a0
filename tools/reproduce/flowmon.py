# SPDX-License-Identifier: Apache-2.0
"""The demo paper on FlowMon-DPDK: its two figures."""
import devices
from flowatcher_flows import figure_8
from paper import Figure, Paper, Run

CITATION = "Zhang et al., *High-speed per-flow software monitoring with limited resources* (FlowMon-DPDK), SIGCOMM Posters and Demos 2018"

FIGURES = (
    Figure("1", "(Generator, device under test and monitor; two queues, each with a receiving and a monitoring thread.)",
           not_here="a drawing: it states nothing that is measured"),
    Figure("2, hardware", "The card's own counters already lose a millionth of the packets.", not_here="there is no network card"),
    Figure("2, packets", "Of what counts packets, Speedometer and FlowMon-DPDK lose alike, MoonGen and pktgen-DPDK more, for their Lua.",
           not_here="MoonGen, pktgen-DPDK and Speedometer are not in Debian, and lose at a card that there is not"),
    Figure("2, flows", "Counting flows loses only a little more than counting packets.", ("devices",), figure_8("uniform"), plot="devices"),
)

PAPER = Paper("flowmon", CITATION, (), FIGURES, {"devices": Run(y="mpps", module=devices, by_clock=True, passes=1)})
