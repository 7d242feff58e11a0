#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What nfcapd (nfdump), nfacctd (pmacct) and tshark have of each flow, against the CSV file of the same run, with one
worker and with two. Prints a line for each trial; status 1 where a flow differs.

usage: collector_flows.py PARSHALL CAPTURE...

To install them: apt-get install nfdump pmacct tshark
"""

import collections
import csv
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

from collectors import Collector, Nfacctd, Nfcapd

PORTS = {6: True, 17: True, 33: True, 132: True}  # protocols whose ports all collectors keep
TCP, UDP = 6, 17


def key(src, dst, src_port, dst_port, protocol):
    return src, dst, int(src_port or 0), int(dst_port or 0), int(protocol)


class Flows(collections.Counter):
    """Packets and bytes by direction of a connection; those of protocols that collectors keep no ports of are left
    out."""

    def add(self, flow, packets, octets):
        if flow[4] in PORTS and int(packets or 0):
            self[flow, "packets"] += int(packets)
            self[flow, "octets"] += int(octets)


def reversed_key(flow):
    return flow[1], flow[0], flow[3], flow[2], flow[4]


def of_csv(path, parts):
    """`parts`: "forward", or "both"."""
    flows = Flows()
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            flow = key(row["src_ip"], row["dst_ip"], row["src_port"], row["dst_port"], row["protocol"])
            flows.add(flow, row["packets"], row["ip_bytes"])
            if parts == "both":
                flows.add(reversed_key(flow), row.get("reverse_packets"), row.get("reverse_ip_bytes"))
    return flows


class NfcapdFlows(Nfcapd):
    parts = {"biflow ipfix": "both", "biflow netflow9": "both"}  # what came back of IPFIX is in out_packets

    def flows(self):
        os.remove(self.folder / "said")
        said = subprocess.run(
            ["nfdump", "-R", self.folder, "-o", "json"], capture_output=True, text=True, check=True
        ).stdout
        flows = Flows()
        for one in json.loads(said or "[]"):
            src, dst = (one.get(f"{end}4_addr") or one.get(f"{end}6_addr") for end in ("src", "dst"))
            flow = key(src, dst, one.get("src_port"), one.get("dst_port"), one["proto"])
            flows.add(flow, one["in_packets"], one["in_bytes"])
            flows.add(reversed_key(flow), one.get("out_packets"), one.get("out_bytes"))
        return flows


class NfacctdFlows(Nfacctd):
    parts = {"biflow ipfix": "forward", "biflow netflow9": "both"}  # it knows no elements of RFC 5103
    aggregate = "src_host,dst_host,src_port,dst_port,proto"

    def flows(self):
        numbers = {"tcp": TCP, "udp": UDP, "dccp": 33, "sctp": 132}
        flows = Flows()
        path = self.folder / "sums"
        for line in path.read_text().splitlines() if path.exists() else ():
            one = json.loads(line)
            protocol = numbers.get(one["ip_proto"], one["ip_proto"])
            if protocol in PORTS:
                flows.add(
                    key(one["ip_src"], one["ip_dst"], one["port_src"], one["port_dst"], protocol),
                    one["packets"],
                    one["bytes"],
                )
        return flows


class Tshark(Collector):
    program = "tshark"
    parts = {"biflow ipfix": "both", "biflow netflow9": "both"}

    def command(self):
        self.listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)  # else the host refuses what it captures
        self.listener.bind(("127.0.0.1", self.port))
        return "tshark", "-q", "-i", "lo", "-f", f"udp port {self.port}", "-w", self.folder / "messages.pcapng"

    def flows(self):
        self.listener.close()
        said = subprocess.run(
            ["tshark", "-r", self.folder / "messages.pcapng", "-d", f"udp.port=={self.port},cflow", "-T", "json"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        flows = Flows()

        def visit(pairs):
            fields = collections.defaultdict(list)
            for name, value in pairs:
                fields[name].append(value)
            src, dst = (
                next((fields[name][0] for name in (f"cflow.{end}addr", f"cflow.{end}addrv6") if name in fields), None)
                for end in ("src", "dst")
            )
            if src and dst and "cflow.packets" in fields:
                flow = key(
                    src, dst, fields["cflow.srcport"][0], fields["cflow.dstport"][0], fields["cflow.protocol"][0]
                )
                for way, packets, octets in zip(
                    (flow, reversed_key(flow)), fields["cflow.packets"], fields["cflow.octets"]
                ):
                    flows.add(way, packets, octets)
            return dict(pairs)

        json.loads(said or "[]", object_pairs_hook=visit)
        return flows


def try_one(parshall, kind, what, capture, workers):
    protocol = what.split()[-1]
    biflow = ("--biflow",) if what.startswith("biflow") else ()
    columns = "all" if what == "biflow ipfix" else "default"
    with tempfile.TemporaryDirectory() as folder:
        collector = kind(pathlib.Path(folder))
        table = pathlib.Path(folder).parent / f"{pathlib.Path(folder).name}.csv"
        try:
            subprocess.run(
                [
                    parshall,
                    "watch",
                    "-q",
                    "-r",
                    capture,
                    "-o",
                    "/dev/null",
                    "--columns",
                    columns,
                    "--workers",
                    str(workers),
                    "--export",
                    f"{protocol}:udp://127.0.0.1:{collector.port},rate=20M",
                    "--export",
                    f"csv:{table}",
                    *biflow,
                ],
                check=True,
            )
        finally:
            collector.end()
        seen, wanted = collector.flows(), of_csv(table, kind.parts.get(what, "forward"))
        os.remove(table)
    wrong = [flow for flow in seen.keys() | wanted.keys() if seen[flow] != wanted[flow]]
    print(
        f"{kind.program:<8} {what:<16} {workers} worker{'s' if workers > 1 else ' '} {pathlib.Path(capture).name:<40} "
        f"{len(wanted) // 2:>7} flows, {len(wrong)} counts differ",
        flush=True,
    )
    for flow in wrong[:3]:
        print(f"    {flow}: {seen[flow]} there, {wanted[flow]} sent")
    return bool(wanted) and not wrong


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    good = True
    for kind in (NfcapdFlows, NfacctdFlows, Tshark):
        if not shutil.which(kind.program):
            print(f"SKIPPED {kind.program}: not installed")
            continue
        for what in ("plain ipfix", "plain netflow9", "biflow netflow9", "biflow ipfix"):
            for capture in sys.argv[2:]:
                for workers in (1, 2):
                    good &= try_one(os.path.abspath(sys.argv[1]), kind, what, capture, workers)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
