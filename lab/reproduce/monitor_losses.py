# SPDX-License-Identifier: Apache-2.0
"""The highest rate of 64-byte packets on a link that monitors of packets and of flows take without loss, each as it
comes and tuned as its documentation says: by bisection, each trial in processes and namespaces of its own (`parshall
test watch-loss`)."""

import json
import pathlib
import shutil
import subprocess
import tempfile

import network

STEP, RUNGS = 1.5, 8  # rates that are tried: each so many times the one before
SHARE = 0.8  # of what the sender reaches with nobody listening: the highest of them
SECONDS = 1  # of a trial
TRIALS = 2  # at a rate: the better one counts, so that one pause of the machine is nobody's loss
OURS = "flows, parshall"
TESTPMD = (
    "dpdk-testpmd --no-huge -m 512 --no-pci --vdev=net_af_packet0,iface={{interface}}{device} -l 0,1 --file-prefix "
    "watchloss -- {options} "
    "--forward-mode=rxonly --auto-start --stats-period 1"
)
# name: (program, regular expression of what it counted, and of what it says when it captures, {setting: its command})
MONITORS = {
    OURS: (
        "parshall",
        None,
        None,
        {
            "default": "PARSHALL watch -i {interface} --top 1",
            "tuned": "PARSHALL watch -i {interface} --top 1 --descriptors 32768 --flows 128Ki",
        },
    ),
    "packets, dpdk-testpmd": (
        "dpdk-testpmd",
        "RX-packets: +([0-9]+)",
        "Port statistics",
        {
            "default": TESTPMD.format(device="", options="--total-num-mbufs=16384"),
            "tuned": TESTPMD.format(
                device=",framecnt=16384,blocksz=65536",
                options="--total-num-mbufs=65536 --mbcache=512 --burst=256 --rxd=4096",
            ),
        },
    ),
    "packets, tcpdump": (
        "tcpdump",
        "([0-9]+) packets captured",
        None,
        {
            "default": "tcpdump -n -i {interface} -w /dev/null",
            "tuned": "tcpdump -n -i {interface} -B 65536 -s 96 -w /dev/null",
        },
    ),
    "flows, nfpcapd": (
        "nfpcapd",
        "Processed: ([0-9]+), skipped",
        None,
        {
            "default": "nfpcapd -i {interface} -w FOLDER",
            "tuned": "nfpcapd -i {interface} -b 256 -B 1048576 -s 96 -w FOLDER",
        },
    ),
    "flows, suricata": (
        "suricata",
        "packets: ([0-9]+)",
        "engine started",
        {"default": "suricata -i {interface} -S /dev/null -l FOLDER --runmode single"},
    ),
}
COMMANDS = (
    f"parshall test watch-loss --rate RATE --count COUNT --runs 1 --monitor COMMAND --counts EXPRESSION, {SECONDS} s "
    f"at rates {STEP:g} times one another, of "
    + "; ".join(command for *_, settings in MONITORS.values() for command in settings.values())
)


def version():
    return (
        f"{pathlib.Path(__file__).read_text()} {pathlib.Path(network.__file__).read_text()} "
        f"{[shutil.which(program) for program, *_ in MONITORS.values()]}"
    )


def sending_pps(parshall):
    """What the sender reaches on a link to nobody."""
    with network.Wire() as wire:
        sender = wire.start(
            "sender",
            parshall,
            "send",
            "-q",
            "-i",
            "wire0",
            "-g",
            "flows=65536",
            "--rate",
            "asap",
            "--count",
            "300k",
            "--format",
            "json",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            told, errors = sender.communicate(timeout=60)
        finally:
            sender.kill()
            sender.wait()
    if not told:
        raise RuntimeError(f"parshall send says nothing: {errors[-500:]}")
    return json.loads(told)["rate_pps"]


def lost(parshall, command, counts, ready, pps):
    """The share that one run loses."""
    with tempfile.TemporaryDirectory() as folder:
        command = command.replace("FOLDER", folder).replace("PARSHALL", str(parshall))
        said = [*(["--counts", counts] if counts else []), *(["--ready", ready] if ready else [])]
        done = subprocess.run(
            [
                parshall,
                "test",
                "watch-loss",
                "--rate",
                f"{pps:.0f}pps",
                "--count",
                str(round(SECONDS * pps)),
                "--runs",
                "1",
                "-q",
                "--format",
                "json",
                "--monitor",
                command,
                *said,
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"parshall test watch-loss ended with {done.returncode}: {done.stderr[-500:]}")
    told = json.loads(done.stdout)
    if told["loss_ratio"] is None:
        raise RuntimeError(f"parshall test watch-loss: {told['not_known']}")
    return told["loss_ratio"]


def least_of(trial, trials=TRIALS):
    """The least of what so many trials lose; none after one that loses nothing."""
    least = 1.0
    for _ in range(trials):
        least = min(least, trial())
        if least == 0:
            break
    return least


def highest(losses, rates):
    """Which of the rates, the least first, is the highest that loses nothing, as if all below it lost nothing, -1 where
    none is; and the share lost at the last of them. losses(rate) gives that share."""
    at_most = losses(rates[-1])
    if at_most == 0:
        return len(rates) - 1, 0.0
    taken, refused = -1, len(rates) - 1
    while refused - taken > 1:
        middle = (taken + refused) // 2
        if losses(rates[middle]) == 0:
            taken = middle
        else:
            refused = middle
    return taken, at_most


def row_of(name, setting, losses, rates):
    """What it takes is known to lie from one rate to the next; no loss of n packets may be one of 3 / n (95 %)."""
    taken, lost_share = highest(losses, rates)
    kpps = [0.0, *(pps / 1e3 for pps in rates)]
    return {
        "row": name,
        "setting": setting,
        "interval_of": "RUNS",
        "lossless_kpps": kpps[taken + 1],
        "low_lossless_kpps": kpps[taken + 1],
        "high_lossless_kpps": kpps[min(taken + 2, len(rates))],
        "lost_share": lost_share,
        "low_lost_share": lost_share,
        "high_lost_share": max(lost_share, 3 / (SECONDS * rates[-1])),
        "highest_kpps": kpps[-1],
    }


def measure(parshall, path):
    missing = network.why_not()
    load = " ".join(pathlib.Path("/proc/loadavg").read_text().split()[:3])
    rows = []
    if missing is None:
        most = SHARE * sending_pps(parshall)
        rates = [most / STEP**rung for rung in reversed(range(RUNGS))]
        for name, (program, counts, ready, settings) in MONITORS.items():
            if name == OURS or shutil.which(program):
                rows += [
                    row_of(
                        name,
                        setting,
                        lambda pps, command=command: least_of(lambda: lost(parshall, command, counts, ready, pps)),
                        rates,
                    )
                    for setting, command in settings.items()
                ]
    path.write_text(
        json.dumps({"experiment": "monitor-losses", "machine": {"load": load}, "missing": missing, "rows": rows})
        + "\n",
        encoding="utf-8",
    )
