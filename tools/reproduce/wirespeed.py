# SPDX-License-Identifier: Apache-2.0
"""The paper on classification at wire speed: its figures and tables, and what is run for them."""
import headers
import weka
from paper import Figure, Paper, Run
from wirespeed_judges import (OURS, THEIRS, figure_3_classes, figure_3_interfaces, figure_3_locking, figure_3_simplest, figure_3_threads,
                              figure_3_wire_speed, figure_4, figure_5)
from wirespeed_plots import draw_caps, draw_cpu, draw_stages
from wirespeed_table import factor, table_1

CITATION = "Santiago del Rio et al., *Wire-speed statistical classification of network traffic on commodity hardware*, IMC 2012"
INTRO = (
    "There is no network card here, and no second machine: packets are made in memory, or copied from a capture there, by the threads that",
    "sniff, at a pace that waits for nobody, into a modelled queue of 4096 packets; what finds it full is missed. The paper's machine had eight",
    "cores, one for each thread; here six threads share the cores that there are. So 1I-1Q-1P has one core (chain), or all (any), and a thread",
    "that waits for its core misses packets that there was time for: rates without loss are below what is handled under overload. What a shape",
    "has to reach by itself is therefore judged by rates that may be as many times as high as threads share a core, and losses as much less: no",
    "verdict is for want of cores. CPU ns a packet depend on that far less. Flows end after 0.2 s (figure 3), 0.5 s (4) or 0.1 s (5) without a packet, the paper's after 15 s, and",
    "tables have room for 1 Mi, 2 Mi or 512 Ki flows, the paper's for 50 million. The model is naive Bayes of ten classes. Rates are of all",
    "interfaces together; a line of 10 Gb/s takes 24 bytes for each frame beside its own.",
)
WORST = ("classify", "--flows", "1Mi", "--idle", "200ms")
REAL = ("--flows", "2Mi", "--idle", "500ms")
CAPPED = ("--flows", "512Ki", "--idle", "100ms")  # small tables are made quickly, for many short runs
ONCE = ("--seconds", "1", "--rounds", "3")
RUNS = {
    "worst-case": Run((*WORST, "--seconds", "1", "--rounds", "3"), None, "handled_mpps", by_clock=True, draw=draw_stages,
                      quick=(*WORST, "--seconds", "0.5", "--rounds", "1")),
    "worst-case-any": Run((*WORST, "--seconds", "1", "--rounds", "3", "--placement", "any", "--shape", ",".join(THEIRS)), None, "handled_mpps", by_clock=True,
                          draw=draw_stages, quick=(*WORST, "--seconds", "0.5", "--rounds", "1", "--placement", "any", "--shape", ",".join(THEIRS[:2]))),
    "worst-case-lossless": Run((*WORST, "--seconds", "0.3", "--rounds", "3", "--find-rate"), None, "lossless_mpps", by_clock=True,
                               quick=(*WORST, "--seconds", "0.1", "--rounds", "1", "--find-rate")),
    "headers": Run(("classify", headers.PLACE, *REAL, *ONCE), None, "cpu", by_clock=True, draw=draw_cpu, counted=("memory_mb",)),
    "headers-mix": Run(("classify", *headers.MIX, *REAL, *ONCE, "--shape", ",".join(THEIRS + OURS)), None, "cpu", by_clock=True, draw=draw_cpu, counted=("memory_mb",),
                       quick=("classify", *headers.MIX, *REAL, "--seconds", "0.5", "--rounds", "1", "--shape", ",".join(THEIRS))),
    "headers-capped": Run(("classify", headers.PLACE, *CAPPED, "--seconds", "0.3", "--rounds", "3", "--find-rate", "--cap", "64,200,500,1500", "--shape",
                           ",".join(THEIRS)), "cap", "lossless_gbps", by_clock=True, draw=draw_caps,
                          quick=("classify", *headers.MIX, *CAPPED, "--seconds", "0.1", "--rounds", "1", "--find-rate", "--cap", "200", "--shape", "1I-1Q-1P")),
    "off-line": Run(module=weka.OFF_LINE, passes=1),
}

FIGURES = (
    Figure("table 1", "Two queues and two processes classify 2.8 Mflows/s, more than all earlier work.", ("worst-case",), table_1),
    Figure("table 1, the factor", "On line 93 times as many flows are classified as by an off-line study with Weka (0.03 Mflows/s).", ("worst-case", "off-line"), factor),
    Figure("1", "(Modules: sniffing, flow handling, classification, joined by rings.)", not_here="a drawing: it states nothing that is measured"),
    Figure("2", "(Configurations of interfaces, queues and processes.)", not_here="a drawing: it states nothing that is measured"),
    Figure("3, 1I-1Q-1P", "One queue and three threads do not take 14.2 Mpps: sniffing and flow handling are at their limits, and what is handled is "
           "classified.", ("worst-case", "worst-case-any", "worst-case-lossless"), figure_3_simplest, plot="worst-case"),
    Figure("3, locking", "Two queues that share a table under a lock (1I-2Q-1P) handle 2.1 Mpps, fewer than one queue alone, and far fewer than with a table "
           "each (1I-2Q-2P).", ("worst-case", "worst-case-any", "worst-case-lossless"), figure_3_locking, plot="worst-case-lossless"),
    Figure("3, wire speed", "Two queues with a table each (1I-2Q-2P) classify all 14.2 Mpps, 2.8 Mflows/s.", ("worst-case", "worst-case-lossless"),
           figure_3_wire_speed),
    Figure("3, two interfaces", "Two interfaces (2I-1Q-2P) are as one interface twice: more than sniffing and flow handling take.", ("worst-case",),
           figure_3_interfaces),
    Figure("3, classification", "One thread to classify is enough: it never is what holds packets up.", ("worst-case",), figure_3_classes),
    Figure("4", "A backbone's trace at full length (744 bytes a frame, 49 packets a flow, 1.6 Mpps an interface): all configurations classify 10 or 20 Gb/s without "
           "loss; the simplest takes least CPU, a second process as much memory again.", ("headers-mix",), figure_4("headers-mix", "flows and frames are made, of the trace's means"), plot="headers-mix"),
    Figure("5", "With frames capped for more packets a second, 1I-1Q-1P takes up to 3.8 Mpps.", ("headers-capped",), figure_5, plot="headers-capped"),
    Figure("3, threads", "Wire speed takes a thread for each module of each queue (as the paper implies).", ("worst-case", "worst-case-lossless"),
           figure_3_threads, ours=True),
    Figure("4, other headers", "What figure 4 states, of headers from captures, whose frames are shorter than the paper's.", ("headers",),
           figure_4("headers", "captures of other networks, frame behind frame"), plot="headers", ours=True),
)

PAPER = Paper("wirespeed", CITATION, INTRO, FIGURES, RUNS, title="Classification at wire speed", main=("table 1", "table 1, the factor", "3, wire speed", "4", "5"))
