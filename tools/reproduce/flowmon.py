# SPDX-License-Identifier: Apache-2.0
"""The demo paper on FlowMon-DPDK: its two figures."""
import devices
from flowatcher_rivals import ABSENT, figure_8
from paper import Figure, Paper, Run

CITATION = "Zhang et al., *High-speed per-flow software monitoring with limited resources* (FlowMon-DPDK), SIGCOMM Posters and Demos 2018"
INTRO = ("There is no network card here, and no line: a DPDK device in software hands over packets from memory, and rates stand for losses.",)

FIGURES = (
    Figure("1", "(Generator, device under test and monitor; two queues, each with a receiving and a monitoring thread.)",
           not_here="a drawing: it states nothing that is measured"),
    Figure("2, hardware", "The card's own counters already lose a millionth of the packets.", not_here="there is no network card"),
    Figure("2, packets", "Of what counts packets, Speedometer (tuned) and FlowMon-DPDK lose alike, MoonGen and pktgen-DPDK more, for their Lua.", not_here=ABSENT),
    Figure("2, flows", "Counting flows loses only a little more than counting packets.", ("devices",), figure_8("uniform"), plot="devices"),
)

PAPER = Paper("flowmon", CITATION, INTRO, FIGURES, {"devices": Run(y="mpps", module=devices, by_clock=True, quick=())}, title="FlowMon-DPDK",
              doi="10.1145/3234200.3234203", main=("2, hardware", "2, packets", "2, flows"))
