# SPDX-License-Identifier: Apache-2.0
"""The FloWatcher paper: its figures and tables, and what is run for them."""

import cache
import closed_loop
import devices
import events
import fair_queue
import flowatcher_devices as under_test
import losses
import monitor_losses
import receivers
from flowatcher_capture import figure_5a, figure_5b, figure_5c, table_2
from flowatcher_flows import draw_losses, figure_7a, figure_7a_losses, figure_7c
from flowatcher_hashes import figure_6a, figure_6b, figure_6c, seed
from flowatcher_rivals import ABSENT, beside_testpmd, draw_rates, figure_8, monitors, software_events, table_4
from flowatcher_rivals import receivers as other_receivers
from flowatcher_threads import figure_7b, table_3_models, table_3_schedulers
from paper import Figure, Paper, Run

CITATION = (
    "Zhang et al., *FloWatcher-DPDK: lightweight line-rate flow-level monitoring in software*, IEEE TNSM 16(3), 2019"
)
INTRO = (
    "This machine has no network card. Packets come from memory. The paper counts what its card drops; this page "
    "models a queue of 4096 packets "
    "instead.",
    "",
    "**Figure 9.** Clients, a router and a server are network namespaces of this machine, joined by veth pairs. They "
    "use the kernel's TCP, and "
    "the paper uses ClickNF over DPDK. The monitor has no core of its own, and there is no line rate: two cores do "
    "everything.",
    "A client connects from a random port, sends 512 bytes, waits for the echo and closes, again and again. Ports of "
    "closed connections can be "
    "used again after a second (tcp_tw_reuse). A flow is one direction of a connection. Its throughput covers the time "
    "from its first to its last"
    " packet. Total throughput covers both directions, and frames without their check sequence.",
    "",
    "You can watch any other client and server in the same way, such as nginx and wrk. Run `parshall watch -i "
    "INTERFACE tcp` in between, `iperf3 "
    "-s` at one end and `iperf3 -c ADDRESS -P 4 -b 50M` at the other.",
    "With veth pairs, first run `ip link set INTERFACE gso_max_segs 1` at both ends. Otherwise the kernel hands over "
    "up to 64 KB as one frame, "
    "and a receive buffer holds only its beginning.",
    "",
    "**The fair queue** is the kernel's (HTB with a queue for each flow). The paper's is a module of VPP. `parshall "
    "test run` sends through it "
    "and reports sent and received packets of each flow. The k-th of 1,000 flows is k times slower than the first.",
    "The rate of the queue is set so that 200 flows exceed the max-min fair share, as in the paper. The share follows "
    "from the sent packets and "
    "the rate, independent of the received packets. The machine must be quiet: if the kernel's timer or the sender is "
    "delayed for longer than the"
    " queues last, flows just below the share lose packets too.",
)
PAPERS_TOEPLITZ_MPPS = 10  # figure 6a
ROUNDS, QUICK = ("--rounds", "9"), ("--rounds", "5")
PARSED = ("parse", "--access", "descriptor,addresses,ports,five-tuple", "--traffic", "ipv4", "--memory", "256M")

RUNS = {
    "batch": Run(
        ("batch", "--batch", "16,32,64,128,256,512,1024,2048", *ROUNDS),
        "batch",
        "lossless_mpps",
        by_clock=True,
        quick=("batch", "--batch", "64,128,256,512,1024", *QUICK),
    ),
    "receive": Run(
        ("receive", "--cores", "1,2", "--cache", "0,256", "--burst", "256", *ROUNDS),
        "queues",
        by_clock=True,
        quick=("receive", "--cores", "1,2", "--cache", "0,256", "--burst", "256", *QUICK),
    ),
    "hashes": Run(
        ("hashes", *ROUNDS),
        seeded=True,
        counted=("random_overflow_share", "consecutive_overflow_share"),
        quick=("hashes", "--ip", "4", "--input", "ports", *QUICK),
        papers={"softrss input ports, ip_version 4": 1e3 / PAPERS_TOEPLITZ_MPPS},
    ),
    "parse": Run((*PARSED, *ROUNDS), quick=(*PARSED, *QUICK)),
    "models": Run(
        ("models", "--workers", "1", "--scheduler", "other,deadline", "--packets", "4M", "--rounds", "7"),
        None,
        "mpps",
        by_clock=True,
        quick=("models", "--workers", "1", "--scheduler", "other,deadline", "--packets", "2M", "--rounds", "3"),
    ),
    "structures": Run(
        (
            "tables",
            "--tables",
            "double-hash,combined,chained,bucketed",
            "--flows",
            "4Ki,64Ki,1Mi",
            "--zipf",
            "0,1",
            *ROUNDS,
        ),
        "flows",
        "p99_cycles",
        by_clock=True,
        quick=("tables", "--tables", "double-hash,combined,chained,bucketed", "--flows", "64Ki", *QUICK),
    ),
    "losses": Run(y="losses", module=losses, by_clock=True, draw=draw_losses, passes=1),
    "analytics": Run(
        (
            "pipeline",
            "--flows",
            "1Ki,64Ki,1Mi",
            "--tables",
            "bucketed",
            "--columns",
            "none,gap_mean,gap_p99",
            "--quantiles",
            "p2",
            *ROUNDS,
        ),
        by_clock=True,
        quick=(
            "pipeline",
            "--flows",
            "1Ki,64Ki",
            "--tables",
            "bucketed",
            "--columns",
            "none,gap_p99",
            "--quantiles",
            "p2",
            *QUICK,
        ),
    ),
    "devices": Run(y="mpps", module=devices, by_clock=True, quick=()),
    "monitor-losses": Run(y="lossless_kpps", module=monitor_losses, by_clock=True, draw=draw_rates),
    "receivers": Run(y="mpps_cpu", module=receivers, passes=1),
    "cache": Run(y="misses_per_1000", module=cache),
    "events": Run(y="faults_per_million", module=events, passes=1),
    "closed-loop": Run(
        x="clients",
        y="total_mbps",
        module=closed_loop,
        by_clock=True,
        draw=under_test.draw_throughput,
        counted=("miscounted",),
    ),
    "fair-queue": Run(x="flow", y="received", module=fair_queue, by_clock=True, draw=under_test.draw_shares),
}


def drawing(name, what):
    return Figure(name, f"({what}.)", not_here="a drawing: it states nothing that is measured")


FIGURES = (
    drawing("1", "How a device under test is measured, in an open and in a closed loop"),
    Figure(
        "table I",
        "A list of monitors in the literature, with rate, cores and functions.",
        not_here="a list of the literature; only its caption is available",
    ),
    drawing("2", "Run to completion, and the pipeline"),
    drawing("3", "A double hash, linked lists, and both combined"),
    drawing("4", "What an interleaving gap is"),
    Figure(
        "5a",
        "Batches of 256 packets lose least. Smaller and larger batches lose more.",
        ("batch",),
        figure_5a,
        plot="batch",
    ),
    Figure(
        "5b",
        "Two receive queues with a thread each lose least. More queues contend for the card's bus.",
        ("receive",),
        figure_5b,
        plot="receive",
    ),
    Figure(
        "5c",
        "A mempool for each queue loses a tenth of what one mempool for all loses, although each core has a cache in "
        "front.",
        ("receive",),
        figure_5c,
        plot="receive",
    ),
    Figure(
        "table II",
        "The best parameters are batches of 256, two queues, a mempool for each queue, and the pipeline.",
        ("batch", "receive", "models"),
        table_2,
    ),
    Figure(
        "6a",
        "Software Toeplitz is the only one of six hashes that is slower than the line (10 of 14.88 M/s). A call takes "
        "47 to 268 cycles, "
        "which the card's hash saves.",
        ("hashes", "parse"),
        figure_6a,
        plot="hashes",
    ),
    Figure(
        "6b",
        "Reading the five-tuple (up to 100 cycles a packet) loses four times as much as the card's hash.",
        ("parse",),
        figure_6b,
        plot="parse",
    ),
    Figure(
        "6c",
        "With the hash computed in software, Toeplitz loses 30 % of the packets, and the other hashes almost none. "
        "Murmur3 and Spooky miscount 11 and"
        " 13 % of the flows.",
        ("hashes", "parse", "structures"),
        figure_6c,
        plot="hashes",
    ),
    Figure("6c, the seed", "A better seed prevents miscounted flows.", ("hashes",), seed),
    Figure(
        "table III, models",
        "The pipeline loses less than run to completion.",
        ("models",),
        table_3_models,
        plot="models",
    ),
    Figure(
        "table III, schedulers",
        "A receiver and a monitor on one core lose a thousand times more under SCHED_DEADLINE than under SCHED_OTHER.",
        ("models",),
        table_3_schedulers,
    ),
    Figure(
        "7a",
        "The double hash loses about as little as counting packets alone. The combined table loses more, and linked "
        "lists lose most.",
        ("structures", "analytics"),
        figure_7a,
        plot="structures",
    ),
    Figure(
        "7a, losses",
        "The same as 7a, as the distribution of losses over runs. Linked lists lose orders of magnitude more.",
        ("losses",),
        figure_7a_losses,
        plot="losses",
    ),
    Figure(
        "7b",
        "Cooperative threads lose almost ten times more than separate threads. Separate threads lose least on separate "
        "cores.",
        ("models",),
        figure_7b,
    ),
    Figure(
        "7c",
        "The P-square percentile loses ten times what counting loses, and more with more flows. Up to one flow a slot "
        "both lose little.",
        ("analytics",),
        figure_7c,
        plot="analytics",
    ),
    Figure(
        "8a",
        "At line rate and with uniform traffic, counting flows loses hardly more than counting packets.",
        ("devices",),
        figure_8("uniform"),
        plot="devices",
    ),
    Figure("8b", "The same as 8a with Zipf's law.", ("devices",), figure_8("zipf")),
    Figure(
        "8, MoonGen and pktgen-DPDK",
        "When counting packets, FloWatcher-DPDK loses at least a hundred times less than these two, which wrap C in "
        "Lua.",
        not_here=f"{ABSENT}; other receivers are below",
    ),
    Figure(
        "8, MoonGen's flows",
        "MoonGen loses ten to a hundred times more when counting flows than when counting packets.",
        not_here=ABSENT,
    ),
    Figure(
        "8, Speedometer",
        "When counting packets, FloWatcher-DPDK loses about as much as Speedometer, which is also C on DPDK.",
        not_here=f"{ABSENT}; dpdk-testpmd, also C on DPDK, is below",
    ),
    Figure(
        "8, dpdk-testpmd",
        "When counting packets, Parshall reaches at least nine tenths of dpdk-testpmd's rate.",
        ("devices",),
        beside_testpmd,
        ours=True,
    ),
    Figure(
        "8, other receivers",
        "Debian's receivers, default or tuned, lose packets at lower rates than Parshall, which also counts flows. "
        "At the highest rate they lose a hundred times more.",
        ("monitor-losses",),
        monitors,
        plot="monitor-losses",
        ours=True,
    ),
    Figure(
        "8, CPU of receivers",
        "When reading a file, Parshall takes less CPU time a packet than tcpdump and nfpcapd.",
        ("receivers",),
        other_receivers,
        plot="receivers",
        ours=True,
    ),
    Figure(
        "table IV",
        "The testbed that loses packets has a lower cache miss rate than the two that lose none (25 MB of last-level "
        "cache against 30 and 25). "
        "Instruction rates are similar. So neither CPU nor cache is the cause.",
        ("cache",),
        table_4,
    ),
    Figure(
        "table IV, software events",
        "After its start, counting flows touches no new memory.",
        ("events",),
        software_events,
        ours=True,
    ),
    Figure(
        "9a, few clients",
        "With fewer than 400 concurrent clients total and per-flow throughput are far from line rate.",
        ("closed-loop",),
        under_test.few_clients,
        plot="closed-loop",
    ),
    Figure(
        "9a, many clients",
        "With more clients the server comes close to line rate (9.8 of 10 Gb/s).",
        ("closed-loop",),
        under_test.many_clients,
    ),
    Figure(
        "9a, the monitor",
        "The monitor complements the log of the system under test, and shows whether it is fair.",
        ("closed-loop",),
        under_test.same_log,
    ),
    Figure(
        "9a, its cost",
        "The monitor does not slow the system that it watches.",
        ("closed-loop",),
        under_test.cost_of_watching,
        ours=True,
    ),
    Figure(
        "9b, aggressive flows",
        "The first 200 flows are the most aggressive. They exceed their fair share, so their rates decrease.",
        ("fair-queue",),
        under_test.aggressive,
        plot="fair-queue",
    ),
    Figure(
        "9b, the others",
        "The output rates of all other flows match their input rates, which are below the fair share.",
        ("fair-queue",),
        under_test.others,
    ),
    Figure("9b, sharing", "Per-flow fair sharing operates as expected.", ("fair-queue",), under_test.operates),
)

PAPER = Paper(
    "flowatcher",
    CITATION,
    INTRO,
    FIGURES,
    RUNS,
    title="FloWatcher-DPDK",
    doi="10.1109/TNSM.2019.2913710",
    main=("5a", "6a", "7a", "7c", "8a"),
)
