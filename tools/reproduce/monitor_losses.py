# SPDX-License-Identifier: Apache-2.0
"""What monitors of packets and of flows lose of a known number of packets on a link, in turns, each run in processes and namespaces of
its own (`parshall test watch-loss`)."""
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile

import network

RATE, COUNT, ROUNDS = "200kpps", "400k", 7
# name: (program, its command, regular expression of what it counted, and of what it says when it captures)
OTHERS = {
    "packets, dpdk-testpmd": ("dpdk-testpmd", "dpdk-testpmd --no-huge -m 512 --no-pci --vdev=net_af_packet0,iface={interface} -l 0,1 --file-prefix watchloss -- "
                              "--total-num-mbufs=16384 --forward-mode=rxonly --auto-start --stats-period 1", "RX-packets: +([0-9]+)", "Port statistics"),
    "packets, tcpdump": ("tcpdump", "tcpdump -n -i {interface} -w /dev/null", "([0-9]+) packets captured", None),
    "flows, nfpcapd": ("nfpcapd", "nfpcapd -i {interface} -w FOLDER", "Processed: ([0-9]+), skipped", None),
    "flows, suricata": ("suricata", "suricata -i {interface} -S /dev/null -l FOLDER --runmode single", "packets: ([0-9]+)", "engine started"),
}
COMMANDS = f"parshall test watch-loss --rate {RATE} --count {COUNT} --runs 1 [--monitor COMMAND --counts EXPRESSION], {ROUNDS} times in turns"


def version():
    return f"{pathlib.Path(__file__).read_text()} {[shutil.which(program) for program, *_ in OTHERS.values()]}"


def lost(parshall, monitor):
    """The share that one run loses."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        if monitor:
            _, command, counts, ready = monitor
            arguments = ["--monitor", command.replace("FOLDER", folder), "--counts", counts, *(["--ready", ready] if ready else [])]
        done = subprocess.run([parshall, "test", "watch-loss", "--rate", RATE, "--count", COUNT, "--runs", "1", "-q", "--format", "json", *arguments],
                              capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"parshall test watch-loss ended with {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout)["loss_ratio"]


def measure(parshall, path):
    missing = network.why_not()
    ways = {"flows, parshall": None, **{name: monitor for name, monitor in OTHERS.items() if shutil.which(monitor[0])}}
    shares = {name: [] for name in ways}
    for _ in range(ROUNDS if missing is None else 0):
        for name, monitor in ways.items():
            shares[name].append(lost(parshall, monitor))
    load = " ".join(pathlib.Path("/proc/loadavg").read_text().split()[:3])
    rows = [{"row": name, "interval_of": "RUNS", "lost_share": statistics.median(found), "low_lost_share": min(found), "high_lost_share": max(found),
             "losses": found} for name, found in shares.items() if found]
    path.write_text(json.dumps({"experiment": "monitor-losses", "machine": {"load": load}, "missing": missing, "rows": rows}) + "\n", encoding="utf-8")
