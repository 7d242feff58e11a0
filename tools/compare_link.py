#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is what a lossy link does to packets what `parshall compare` tells? Prints a table: for each factor the packets of
all runs, what the link counted, what was told, and in how many runs both are the same. It asks `compare -i A --to B`;
with --records, two monitors export digests, and it asks `compare UP/ DOWN/`.

Sessions are sent both ways through `parshall test link`; what it does, it does to those that go there. All is in
namespaces of its own: S -> (host: bridge, a0) -> link -> (b0, bridge: host) <- R. With NAT, a router that masquerades
is between the link and b0.

usage: compare_link.py [--records] PARSHALL [RUNS [PACKETS]]   (root)
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

FACTORS = [  # name, options of the link, of the traffic
    ("nothing", "", ""),
    ("loss 0.1 %", "--loss 0.1", ""),
    ("loss 1 %", "--loss 1", ""),
    ("loss 5 %", "--loss 5", ""),
    ("a queue of 100 that overflows", "--delay 10ms --limit 100", ""),
    ("duplicates 1 %", "--duplicate 1", ""),
    ("overtaking 5 %", "--delay 10ms --reorder 5", ""),
    ("delay 0.1 ms", "--loss 1 --delay 100us", ""),
    ("delay 10 ms +- 5 ms", "--loss 1 --delay 10ms --jitter 5ms", ""),
    ("delay 50 ms", "--loss 1 --delay 50ms", ""),
    ("IPv6", "--loss 1", ",ipv6=1"),
    ("VLAN", "--loss 1", ",vlan=42"),
    ("NAT", "--loss 1", ",addresses=benchmark"),
    ("all at once", "--loss 1 --duplicate 1 --delay 20ms --jitter 1ms --reorder 2", ",ipv6=0.3,resend=0.05"),
]
RATE = "20kpps"
SENT_TO = {"there": "02:00:00:00:01:02", "back": "02:00:00:00:01:01"}


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Network:
    """Four namespaces; everything in them ends with them."""

    def __init__(self, nat=False):
        self.nat = nat
        spaces = ("send", "host", "link", "recv", *(("nat",) if nat else ()))
        self.names = {name: f"parshall{os.getpid()}{name}" for name in spaces}

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        for space in self.names.values():
            ip("netns", "add", space)
            for scope in ("all", "default"):
                ip("netns", "exec", space, "sysctl", "-qw", f"net.ipv6.conf.{scope}.disable_ipv6=1")
        for one, its_space, other, other_space in (
            ("s0", "send", "s1", "host"),
            ("a0", "host", "a1", "link"),
            ("b0", "host", "b1", "nat" if self.nat else "link"),
            ("r0", "recv", "r1", "host"),
            *((("m0", "link", "m1", "nat"),) if self.nat else ()),
        ):
            other_space = self.names[other_space]
            ip("-n", self.names[its_space], "link", "add", one, "type", "veth", "peer", other, "netns", other_space)
            for space, name in ((self.names[its_space], one), (other_space, other)):
                ip("-n", space, "link", "set", "dev", name, "multicast", "off", "up")
        for bridge, ports in (("br0", ("s1", "a0")), ("br1", ("r1", "b0"))):
            host = ("-n", self.names["host"], "link")
            ip(*host, "add", bridge, "multicast", "off", "type", "bridge", "mcast_snooping", "0")
            ip(*host, "set", "dev", bridge, "up")
            for port in ports:
                ip(*host, "set", "dev", port, "master", bridge)
        if self.nat:
            self.make_router()
        time.sleep(1.5)  # until the kernel tells of all carriers

    def make_router(self):
        """m1 has the address of frames from S, b1 of those from R; what goes there leaves with the router's address."""
        space = self.names["nat"]
        run = ("netns", "exec", space)
        sides = (("m1", "there", "back", "192.0.3", 100), ("b1", "back", "there", "192.0.2", 101))
        for name, way, other, network, _ in sides:
            ip("-n", space, "link", "set", "dev", name, "address", SENT_TO[way])
            ip("-n", space, "address", "add", f"{network}.1/24", "dev", name)
            ip(*run, "sysctl", "-qw", f"net.ipv4.conf.{name}.rp_filter=0")
            ip("-n", space, "neighbour", "add", f"{network}.2", "lladdr", SENT_TO[other], "dev", name)
        for (name, *_, table), (opposite, _, _, network, _) in zip(sides, reversed(sides)):
            ip("-n", space, "rule", "add", "iif", name, "lookup", str(table))
            ip("-n", space, "route", "add", "default", "via", f"{network}.2", "dev", opposite, "table", str(table))
        ip(*run, "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0")
        rules = "add table ip nat; add chain ip nat out { type nat hook postrouting priority 100; }"
        ip(*run, "nft", f"{rules}; add rule ip nat out oifname b1 masquerade")

    def __exit__(self, *_):
        for space in self.names.values():
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def start(self, space, *command, **more):
        return subprocess.Popen(["ip", "netns", "exec", self.names[space], *map(str, command)], **more)


def send(parshall, network, traffic, seed, packets):
    """Sends half of the packets from each side, and waits for the end."""
    senders = []
    for space, name, way, other, share in (("send", "s0", "there", "back", 0), ("recv", "r0", "back", "there", 1)):
        what = f"flows=200,dist=zipf:1.1,size=imix,protocol=sessions,seed={2 * seed + share}"
        what += f",src-mac={SENT_TO[other]},dst-mac={SENT_TO[way]}{traffic}"
        command = [parshall, "send", "-q", "-g", what, "-i", name, "--rate", RATE, "--count", packets // 2]
        senders.append(network.start(space, *command, stdout=subprocess.DEVNULL))
    if any(sender.wait() for sender in senders):
        raise SystemExit("a sender failed")
    time.sleep(0.3)


def ask_live(parshall, network, folder, send_all):
    compare = [parshall, "compare", "-i", "a0", "--to", "b0", "--format", "json", *(["--nat"] if network.nat else [])]
    compare = network.start("host", *compare, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    compare.stderr.readline()
    time.sleep(0.5)
    send_all()
    compare.send_signal(signal.SIGINT)
    return compare.communicate(timeout=60)[0]


def ask_records(parshall, network, folder, send_all):
    taps = []
    for name in ("a0", "b0"):
        watch = [parshall, "watch", "-i", name, "--seed", "7", "--columns", "+digest", "--active", "500ms"]
        watch += ["--export", f"parquet:{folder}/{name}", "-o", "/dev/null"]
        taps.append(network.start("host", *watch, stderr=subprocess.PIPE, text=True))
        taps[-1].stderr.readline()
    time.sleep(0.5)
    send_all()
    for tap in taps:
        tap.send_signal(signal.SIGINT)
        tap.communicate(timeout=60)
    compare = [parshall, "compare", f"{folder}/a0", f"{folder}/b0", "--format", "json"]
    return subprocess.run(compare, check=True, capture_output=True, text=True).stdout


def run(parshall, network, ask, link_options, traffic, seed, packets):
    """(what compare tells, what the link counted)."""
    with tempfile.TemporaryDirectory() as folder:
        counted = os.path.join(folder, "link.json")
        behind = "m0" if network.nat else "b1"
        link = [parshall, "test", "link", "-q", "-i", "a1", "--forward", behind, "--seed", seed, "-o", counted]
        if "--limit" not in link_options:
            link += ["--limit", 1 << 20]
        link = network.start("link", *link, *link_options.split(), stderr=subprocess.DEVNULL)

        def send_all():
            """Others before and after, so that the taps are known to watch from beginning to end."""
            for its_seed, count in ((1000 + seed, 40), (seed, packets), (2000 + seed, 40)):
                send(parshall, network, traffic, its_seed, count)

        told = json.loads(ask(parshall, network, folder, send_all))
        link.send_signal(signal.SIGINT)
        link.wait(timeout=60)
        with open(counted) as file:
            return told, json.load(file)


def compared(told, counted):
    """{number: (of the link, told)} of both directions."""
    there, back = told["there"], told["back"]
    forward, backward = counted["forward"], counted["backward"]
    gone = ("missed", "lost", "queue_full", "unsent", "dropped", "too_long")
    return {
        "sent": (
            forward["entered"] + forward["missed"] + backward["entered"] + backward["missed"],
            there["packets_sent"] + back["packets_sent"],
        ),
        "lost": (
            sum(way[name] for way in (forward, backward) for name in gone),
            there["packets_lost"] + back["packets_lost"],
        ),
        "duplicated": (forward["duplicated"], there["packets_duplicated"] + back["packets_duplicated"]),
    }


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--records"]
    ask = ask_live if arguments == sys.argv[1:] else ask_records
    parshall = os.path.abspath(arguments[0])
    runs = int(arguments[1]) if len(arguments) > 1 else 20
    packets = int(arguments[2]) if len(arguments) > 2 else 20_000
    print(
        "| factor | runs | sent | lost by the link | told | duplicated by the link | told | runs exact | mean delay |"
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for name, link, traffic in FACTORS:
        if name == "NAT" and ask is ask_records:
            continue
        with Network(nat=name == "NAT") as network:
            sums = {number: [0, 0] for number in ("sent", "lost", "duplicated")}
            exact, delays = 0, []
            for seed in range(1, runs + 1):
                told, counted = run(parshall, network, ask, link, traffic, seed, packets)
                found = compared(told, counted)
                exact += all(link == told for link, told in found.values())
                if any(link != told for link, told in found.values()):
                    print(f"{name}, seed {seed}: {found} {told['warnings']}", file=sys.stderr)
                delays.append(told["there"]["delay_mean_ns"])
                for number, values in found.items():
                    sums[number] = [total + value for total, value in zip(sums[number], values)]
            (sent, _), (lost, lost_told), (doubled, doubled_told) = sums.values()
            delay_ms = sorted(delays)[len(delays) // 2] / 1e6
            row = (name, runs, sent, lost, lost_told, doubled, doubled_told, f"{exact} of {runs}", f"{delay_ms:.2f} ms")
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
