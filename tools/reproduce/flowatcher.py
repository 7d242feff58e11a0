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

CITATION = "Zhang et al., *FloWatcher-DPDK: lightweight line-rate flow-level monitoring in software*, IEEE TNSM 16(3), 2019"
INTRO = (
    "There is no network card here: packets are made in memory, and a queue of 4096 packets is modelled where the paper counts what its card drops.",
    "",
    "Figure 9: clients, a router and a server are network namespaces of this machine, joined by veth pairs: their TCP is the kernel's, where the paper's is",
    "ClickNF's over DPDK, and the monitor has no core of its own. There is no line: what bounds the throughput is two cores that do everything. A",
    "client connects from a random port, sends 512 bytes, waits for their echo and closes, again and again; ports of closed connections are used",
    "again after a second (tcp_tw_reuse). A flow is one direction of a connection, its throughput that of the time from its first packet to its",
    "last, total throughput that of both directions, frames without their check sequence.",
    "",
    "Any other client and server is watched the same way: `parshall watch -i INTERFACE tcp` in between, `iperf3 -s` at one end and `iperf3 -c ADDRESS",
    "-P 4 -b 50M` at the other, or nginx and wrk. Where veth pairs join them, first let no frame be longer than the line's, at both ends: `ip link set",
    "INTERFACE gso_max_segs 1`; else the kernel hands over up to 64 KB as one, of which a receive buffer holds the beginning.",
    "",
    "The fair queue is the kernel's (HTB, a queue for each flow, in turns), where the paper's is a module of VPP; `parshall test run` sends through it and",
    "tells of each flow what was sent and what came. The k-th of 1,000 flows is k times slower than the first; the queue's rate is such that 200 of them",
    "exceed the max-min fair share, as in the paper: that share follows from what was sent and from the rate, and not from what came. The machine must",
    "have little else to do: where it holds up the kernel's timer, or the sender, for longer than queues last, flows just below the share lose too.",
)
ROUNDS, QUICK = ("--rounds", "9"), ("--rounds", "5")
PARSED = ("parse", "--access", "descriptor,addresses,ports,five-tuple", "--traffic", "ipv4", "--memory", "256M")

RUNS = {
    "batch": Run(("batch", "--batch", "16,32,64,128,256,512,1024,2048", *ROUNDS), "batch", "lossless_mpps", by_clock=True,
                 quick=("batch", "--batch", "64,128,256,512,1024", *QUICK)),
    "receive": Run(("receive", "--cores", "1,2", "--cache", "0,256", "--burst", "256", *ROUNDS), "queues", by_clock=True,
                   quick=("receive", "--cores", "1,2", "--cache", "0,256", "--burst", "256", *QUICK)),
    "hashes": Run(("hashes", *ROUNDS), seeded=True, counted=("random_overflow_share", "consecutive_overflow_share"),
                  quick=("hashes", "--ip", "4", "--input", "ports", *QUICK)),
    "parse": Run((*PARSED, *ROUNDS), quick=(*PARSED, *QUICK)),
    "models": Run(("models", "--workers", "1", "--scheduler", "other,deadline", "--packets", "4M", "--rounds", "7"), None, "mpps", by_clock=True,
                  quick=("models", "--workers", "1", "--scheduler", "other,deadline", "--packets", "2M", "--rounds", "3")),
    "structures": Run(("tables", "--tables", "double-hash,combined,chained,bucketed", "--flows", "4Ki,64Ki,1Mi", "--zipf", "0,1", *ROUNDS), "flows",
                      "p99_cycles", by_clock=True, quick=("tables", "--tables", "double-hash,combined,chained,bucketed", "--flows", "64Ki", *QUICK)),
    "losses": Run(y="losses", module=losses, by_clock=True, draw=draw_losses, passes=1),
    "analytics": Run(("pipeline", "--flows", "1Ki,64Ki,1Mi", "--tables", "bucketed", "--stats", "none,gap_mean,gap_p99", "--quantiles", "p2", *ROUNDS),
                     by_clock=True, quick=("pipeline", "--flows", "1Ki,64Ki", "--tables", "bucketed", "--stats", "none,gap_p99", "--quantiles", "p2", *QUICK)),
    "devices": Run(y="mpps", module=devices, by_clock=True, quick=()),
    "monitor-losses": Run(y="lossless_kpps", module=monitor_losses, by_clock=True, draw=draw_rates),
    "receivers": Run(y="mpps_cpu", module=receivers, passes=1),
    "cache": Run(y="misses_per_1000", module=cache),
    "events": Run(y="faults_per_million", module=events, passes=1),
    "closed-loop": Run(x="clients", y="total_mbps", module=closed_loop, by_clock=True, draw=under_test.draw_throughput,
                       counted=("miscounted",)),
    "fair-queue": Run(x="flow", y="received", module=fair_queue, by_clock=True, draw=under_test.draw_shares),
}


def drawing(name, what):
    return Figure(name, f"({what}.)", not_here="a drawing: it states nothing that is measured")


FIGURES = (
    drawing("1", "How a device under test is measured, in an open and in a closed loop"),
    Figure("table I", "Monitors of the literature, by rate, cores, and what they do.",
           not_here="a list of the literature, of which the text that there is has the caption alone"),
    drawing("2", "Run to completion, and the pipeline"),
    drawing("3", "A double hash, linked lists, and both combined"),
    drawing("4", "What an interleaving gap is"),
    Figure("5a", "Loss is least with batches of 256; smaller and larger ones lose more.", ("batch",), figure_5a, plot="batch"),
    Figure("5b", "Two receive queues, each with a thread of its own, lose least; more of them contend for the card's bus.", ("receive",),
           figure_5b, plot="receive"),
    Figure("5c", "A mempool for each queue loses a tenth of what one for all does, though cores have caches in front.", ("receive",), figure_5c, plot="receive"),
    Figure("table II", "The best parameters: batches of 256, two queues, a pool for each, the pipeline.", ("batch", "receive", "models"), table_2),
    Figure("6a", "Of six hashes software Toeplitz alone is slower than the line (10 of 14.88 M/s); a call takes 47 to 268 cycles, which the card's hash saves.",
           ("hashes", "parse"), figure_6a, plot="hashes"),
    Figure("6b", "Reading the five-tuple, up to 100 cycles a packet, loses four times as much as taking the card's hash.", ("parse",), figure_6b, plot="parse"),
    Figure("6c", "With its hash computed on the way software Toeplitz loses 30 % of the packets, the others next to none; Murmur3 and Spooky miscount 11 and 13 % of "
           "the flows.", ("hashes", "parse", "structures"), figure_6c, plot="hashes"),
    Figure("6c, the seed", "A better seed avoids that flows are miscounted.", ("hashes",), seed),
    Figure("table III, models", "The pipeline loses less than run to completion.", ("models",), table_3_models, plot="models"),
    Figure("table III, schedulers", "Receiver and monitor that share a core lose a thousand times more under SCHED_DEADLINE than under SCHED_OTHER.", ("models",),
           table_3_schedulers),
    Figure("7a", "Double hash loses about as little as counting packets alone, combined more, linked lists most.", ("structures", "analytics"), figure_7a,
           plot="structures"),
    Figure("7a, losses", "The same, as the distribution over runs of what is lost; linked lists lose more by orders of magnitude.", ("losses",), figure_7a_losses,
           plot="losses"),
    Figure("7b", "Cooperative threads lose nearly ten times more than threads of their own; on cores of their own these lose least.", ("models",), figure_7b),
    Figure("7c", "The percentile by P-square loses ten times what counting does, and more with more flows; up to as many flows as slots both lose little.",
           ("analytics",), figure_7c, plot="analytics"),
    Figure("8a", "Counting flows loses next to nothing over counting packets, at line rate: uniform traffic.", ("devices",), figure_8("uniform"),
           plot="devices"),
    Figure("8b", "The same with Zipf's law.", ("devices",), figure_8("zipf")),
    Figure("8, MoonGen and pktgen-DPDK", "Counting packets FloWatcher-DPDK loses at least a hundred times less than these two, whose C is wrapped in Lua.",
           not_here=f"{ABSENT}; receivers that are among them stand below"),
    Figure("8, MoonGen's flows", "Counting flows costs MoonGen ten to a hundred times more losses than counting packets.", not_here=ABSENT),
    Figure("8, Speedometer", "Counting packets FloWatcher-DPDK loses about as much as Speedometer, in C over DPDK too.",
           not_here=f"{ABSENT}; dpdk-testpmd, in C over DPDK too, stands below"),
    Figure("8, dpdk-testpmd", "Counting packets parshall has nine tenths of dpdk-testpmd's rate, or more.", ("devices",), beside_testpmd, ours=True),
    Figure("8, other receivers", "Debian's receivers, as they come and tuned, lose packets at lower rates than parshall, though it counts flows: a hundred times more at "
           "those that it takes.", ("monitor-losses",), monitors, plot="monitor-losses", ours=True),
    Figure("8, CPU of receivers", "Parshall takes less CPU a packet than they do, from a file.", ("receivers",), other_receivers, plot="receivers",
           ours=True),
    Figure("table IV", "The testbed that loses packets has a lower cache miss rate than the two that lose none (25 MB of last-level cache against 30 and 25), and a "
           "comparable instruction rate: neither CPU nor cache is to blame.", ("cache",), table_4),
    Figure("table IV, software events", "Once it runs, counting flows touches no new memory.", ("events",), software_events, ours=True),
    Figure("9a, few clients", "With fewer than 400 concurrent clients total and per-flow throughput are far from line rate.", ("closed-loop",),
           under_test.few_clients, plot="closed-loop"),
    Figure("9a, many clients", "With more the server comes close to line rate (9.8 of 10 Gb/s).", ("closed-loop",), under_test.many_clients),
    Figure("9a, the monitor", "The monitor complements the log of what is under test, and shows whether it is fair.", ("closed-loop",), under_test.same_log),
    Figure("9a, its cost", "Watching does not disturb what is watched.", ("closed-loop",), under_test.cost_of_watching, ours=True),
    Figure("9b, aggressive flows", "The first 200 flows, the most aggressive, exceed their fair share: their rates decrease.", ("fair-queue",),
           under_test.aggressive, plot="fair-queue"),
    Figure("9b, the others", "The output rates of all other flows match their input rates, which are below the fair share.", ("fair-queue",),
           under_test.others),
    Figure("9b, sharing", "Per-flow fair sharing operates as expected.", ("fair-queue",), under_test.operates),
)

PAPER = Paper("flowatcher", CITATION, INTRO, FIGURES, RUNS, title="FloWatcher-DPDK", main=("5a", "6a", "7a", "7c", "8a"))
