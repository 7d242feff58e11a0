#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the names of flows with those that tshark finds in the same captures: server name (TLS and QUIC), HTTP host
and DNS name. Prints a line for each difference, and the sums.

A flow's name by tshark is the first in its packets. Packets in tunnels are left out: there the flow is the tunnel.

usage: compare_names.py PARSHALL CAPTURE...
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FIELDS = {
    "server_name": "tls.handshake.extensions_server_name",
    "http_host": "http.host",
    "dns_name": "dns.qry.name",
}
KEY = ("ip.src", "ipv6.src", "ip.dst", "ipv6.dst", "tcp.srcport", "udp.srcport", "tcp.dstport", "udp.dstport")
SEPARATOR = "\x1f"


def ours(program, capture, folder):
    """{key: {column: name}}, by the first record of each flow that has any."""
    flows = folder / "flows.jsonl"
    command = [program, "watch", "-q", "-r", capture, "--columns", "+names", "-o", os.devnull, "--idle", "0"]
    done = subprocess.run([*command, "--export", f"jsonl:{flows}"], capture_output=True, timeout=600)
    if done.returncode != 0:
        return None
    found = {}
    for line in flows.read_text().splitlines():
        flow = json.loads(line).get("flow")
        if flow is None or flow["protocol"] not in (6, 17):
            continue
        key = (flow["protocol"], flow["src_ip"], flow["src_port"], flow["dst_ip"], flow["dst_port"])
        names = {column: flow[column] for column in FIELDS if flow[column]}
        found[key] = {**names, **found.get(key, {})}
    return found


def theirs(capture):
    """The same by tshark, without reassembly of IP fragments, which have no ports here either."""
    command = ["tshark", "-n", "-r", capture, "-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE"]
    command += [
        "-Y",
        " or ".join(FIELDS.values()),
        "-T",
        "fields",
        "-E",
        f"separator={SEPARATOR}",
        "-E",
        "occurrence=a",
    ]
    command += ["-E", "aggregator=\x1e"]
    for field in (*KEY, *FIELDS.values()):
        command += ["-e", field]
    lines = subprocess.run(command, capture_output=True, timeout=900).stdout.decode(errors="replace").splitlines()
    found = collections.defaultdict(dict)
    for line in lines:
        values = line.split(SEPARATOR)
        if len(values) != len(KEY) + len(FIELDS):
            continue
        head = dict(zip(KEY, values))
        if head["ip.src"] and head["ipv6.src"]:
            continue
        ends = [head["ip.src"] or head["ipv6.src"], head["ip.dst"] or head["ipv6.dst"]]
        is_tcp = bool(head["tcp.srcport"])
        ports = [head["tcp.srcport" if is_tcp else "udp.srcport"], head["tcp.dstport" if is_tcp else "udp.dstport"]]
        if any("\x1e" in part for part in (*ends, *ports)) or not all((*ends, *ports)):
            continue
        key = (6 if is_tcp else 17, ends[0], int(ports[0]), ends[1], int(ports[1]))
        for column, value in zip(FIELDS, values[len(KEY) :]):
            name = value.split("\x1e")[0]
            is_ours = {"dns_name": {53, 5353, 5355} & {key[2], key[4]}, "http_host": is_tcp}.get(column, True)
            if name and is_ours:  # the others are NBNS, SSDP and the like
                found[key].setdefault(column, name)
    return found


def same(column, one, other):
    if column == "dns_name":
        one = re.sub(r"\\(\d{3})", lambda digits: f"\\x{int(digits[1]):02x}", one)
        other = other.replace("<Root>", ".")
    octets = re.sub(r"\\x([0-9a-f]{2})", lambda digits: chr(int(digits[1], 16)), one).encode("latin-1")
    plain = re.compile(r"[^\x21-\x7e]")  # tshark shows what is not printable in several ways
    return plain.sub("", octets.decode(errors="replace"))[:250] == plain.sub("", other)[:250]


def main():
    program, captures = sys.argv[1], sys.argv[2:]
    sums = collections.Counter()
    for capture in captures:
        with tempfile.TemporaryDirectory() as folder:
            own = ours(program, capture, pathlib.Path(folder))
        if own is None:
            sums["captures that break off"] += 1
            continue
        sums["captures"] += 1
        other = theirs(capture)
        for key in own.keys() | other.keys():
            for column in FIELDS:
                mine, their = own.get(key, {}).get(column), other.get(key, {}).get(column)
                if mine is None and their is None:
                    continue
                kind = "only tshark" if mine is None else "only parshall" if their is None else "differs"
                if kind == "differs" and same(column, mine, their):
                    kind = "equal"
                sums[f"{column} {kind}"] += 1
                if kind != "equal":
                    print(f"{pathlib.Path(capture).name} {key} {column} {kind}: {mine!r} {their!r}")
    for name, count in sorted(sums.items()):
        print(f"{count:8} {name}")


if __name__ == "__main__":
    main()
