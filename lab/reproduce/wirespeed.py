# SPDX-License-Identifier: Apache-2.0
"""The paper on classification at wire speed: its figures and tables, and what is run for them."""

import headers
import weka
from paper import Figure, Paper, Run
from wirespeed_judges import (
    OURS,
    THEIRS,
    figure_3_classes,
    figure_3_interfaces,
    figure_3_locking,
    figure_3_simplest,
    figure_3_threads,
    figure_3_wire_speed,
    figure_4,
    figure_5,
)
from wirespeed_plots import draw_caps, draw_cpu, draw_stages
from wirespeed_table import factor, table_1

CITATION = (
    "Santiago del Rio et al., *Wire-speed statistical classification of network traffic on commodity "
    "hardware*, "
    "IMC 2012"
)
INTRO = (
    "This machine has no network card, and there is no second machine. The sniffing threads generate packets in "
    "memory, or copy them from a "
    "capture in memory. They do so at a fixed pace into a modelled queue of 4096 packets. A packet that finds the "
    "queue full is lost.",
    "",
    "- The paper's machine had eight cores, one for each thread. Here up to six threads share the available cores. The "
    "configuration 1I-1Q-1P has"
    " one core (chain) or all cores (any).",
    "- A thread that waits for its core loses packets that it had time for. Rates without loss are therefore below the "
    "rates handled under "
    "overload.",
    "- The rate that a configuration must reach is compared with a limit scaled by the threads per core, and so are "
    "losses. No verdict is "
    "therefore due to missing cores. CPU time a packet depends much less on this.",
    "- Flows end after 0.2 s (figure 3), 0.5 s (4) or 0.1 s (5) without a packet. In the paper they end after 15 s.",
    "- Tables have room for 1 Mi, 2 Mi or 512 Ki flows. In the paper they have room for 50 million.",
    "- The model is naive Bayes with ten classes. Rates are totals over all interfaces. On a 10 Gb/s line each frame "
    "takes 24 more bytes.",
)
WORST = ("classify", "--flows", "1Mi", "--idle", "200ms")
REAL = ("--flows", "2Mi", "--idle", "500ms")
CAPPED = ("--flows", "512Ki", "--idle", "100ms")  # small tables are made quickly, for many short runs
ONCE = ("--seconds", "1", "--rounds", "3")
RUNS = {
    "worst-case": Run(
        (*WORST, "--seconds", "1", "--rounds", "3"),
        None,
        "handled_mpps",
        by_clock=True,
        draw=draw_stages,
        quick=(*WORST, "--seconds", "0.5", "--rounds", "1"),
    ),
    "worst-case-any": Run(
        (*WORST, "--seconds", "1", "--rounds", "3", "--placement", "any", "--shape", ",".join(THEIRS)),
        None,
        "handled_mpps",
        by_clock=True,
        draw=draw_stages,
        quick=(*WORST, "--seconds", "0.5", "--rounds", "1", "--placement", "any", "--shape", ",".join(THEIRS[:2])),
    ),
    "worst-case-lossless": Run(
        (*WORST, "--seconds", "0.3", "--rounds", "3", "--find-rate"),
        None,
        "lossless_mpps",
        by_clock=True,
        quick=(*WORST, "--seconds", "0.1", "--rounds", "1", "--find-rate"),
    ),
    "headers": Run(
        ("classify", headers.PLACE, *REAL, *ONCE), None, "cpu", by_clock=True, draw=draw_cpu, counted=("memory_mb",)
    ),
    "headers-mix": Run(
        ("classify", *headers.MIX, *REAL, *ONCE, "--shape", ",".join(THEIRS + OURS)),
        None,
        "cpu",
        by_clock=True,
        draw=draw_cpu,
        counted=("memory_mb",),
        quick=("classify", *headers.MIX, *REAL, "--seconds", "0.5", "--rounds", "1", "--shape", ",".join(THEIRS)),
    ),
    "headers-capped": Run(
        (
            "classify",
            headers.PLACE,
            *CAPPED,
            "--seconds",
            "0.3",
            "--rounds",
            "3",
            "--find-rate",
            "--cap",
            "64,200,500,1500",
            "--shape",
            ",".join(THEIRS),
        ),
        "cap",
        "lossless_gbps",
        by_clock=True,
        draw=draw_caps,
        quick=(
            "classify",
            *headers.MIX,
            *CAPPED,
            "--seconds",
            "0.1",
            "--rounds",
            "1",
            "--find-rate",
            "--cap",
            "200",
            "--shape",
            "1I-1Q-1P",
        ),
    ),
    "off-line": Run(module=weka.OFF_LINE, passes=1),
}

FIGURES = (
    Figure(
        "table 1",
        "Two queues and two processes classify 2.8 Mflows/s, more than all earlier work.",
        ("worst-case",),
        table_1,
    ),
    Figure(
        "table 1, the factor",
        "On-line classification handles 93 times as many flows as an off-line study with Weka (0.03 Mflows/s).",
        ("worst-case", "off-line"),
        factor,
    ),
    Figure(
        "1",
        "(Modules: sniffing, flow handling, classification, joined by rings.)",
        not_here="a drawing: it states nothing that is measured",
    ),
    Figure(
        "2",
        "(Configurations of interfaces, queues and processes.)",
        not_here="a drawing: it states nothing that is measured",
    ),
    Figure(
        "3, 1I-1Q-1P",
        "One queue with three threads does not reach 14.2 Mpps. Sniffing and flow handling are at their limits, and "
        "all handled flows are classified.",
        ("worst-case", "worst-case-any", "worst-case-lossless"),
        figure_3_simplest,
        plot="worst-case",
    ),
    Figure(
        "3, locking",
        "Two queues with one locked table (1I-2Q-1P) handle 2.1 Mpps. This is less than one queue alone, and far less "
        "than with a table each "
        "(1I-2Q-2P).",
        ("worst-case", "worst-case-any", "worst-case-lossless"),
        figure_3_locking,
        plot="worst-case-lossless",
    ),
    Figure(
        "3, wire speed",
        "Two queues with a table each (1I-2Q-2P) classify all 14.2 Mpps, 2.8 Mflows/s.",
        ("worst-case", "worst-case-lossless"),
        figure_3_wire_speed,
    ),
    Figure(
        "3, two interfaces",
        "Two interfaces (2I-1Q-2P) behave like one interface twice: sniffing and flow handling do not keep up.",
        ("worst-case",),
        figure_3_interfaces,
    ),
    Figure(
        "3, classification",
        "One thread is enough for classification. It is never the bottleneck.",
        ("worst-case",),
        figure_3_classes,
    ),
    Figure(
        "4",
        "With a backbone's trace at full length (744 bytes a frame), all configurations classify 10 or 20 Gb/s without "
        "loss. "
        "The simplest takes least CPU; a second process doubles the memory.",
        ("headers-mix",),
        figure_4("headers-mix", "flows and frames are generated, with the means of the trace"),
        plot="headers-mix",
    ),
    Figure(
        "5",
        "With shorter frames, and so more packets a second, 1I-1Q-1P handles up to 3.8 Mpps.",
        ("headers-capped",),
        figure_5,
        plot="headers-capped",
    ),
    Figure(
        "3, threads",
        "Wire speed needs a thread for each module of each queue (implied by the paper).",
        ("worst-case", "worst-case-lossless"),
        figure_3_threads,
        ours=True,
    ),
    Figure(
        "4, other headers",
        "The claims of figure 4 also hold for headers from other captures, whose frames are shorter.",
        ("headers",),
        figure_4("headers", "captures of other networks, frame behind frame"),
        plot="headers",
        ours=True,
    ),
)

PAPER = Paper(
    "wirespeed",
    CITATION,
    INTRO,
    FIGURES,
    RUNS,
    title="Classification at wire speed",
    doi="10.1145/2398776.2398784",
    main=("table 1", "table 1, the factor", "3, wire speed", "4", "5"),
)
