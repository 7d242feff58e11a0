# SPDX-License-Identifier: Apache-2.0
"""Flows whose application is known, for classes.py: of captures, and of lists of sizes.

A folder of traces has pcap/, labels.tsv.gz (flows of those captures) and labels_extra.tsv.gz (of captures that are not
there, with sizes); both are what payload inspection said, a connection a line, sizes below 0 being of packets that came
back.
"""

import concurrent.futures
import csv
import gzip
import io
import ipaddress
import subprocess
import sys

PACKETS = 4
NO_CLASS = ("", "Unknown")
MOST_BYTES = 65535
SAMPLE_HEAD = ["class", "capture", *(f"size_{number}" for number in range(1, PACKETS + 1))]
FLOW_HEAD = [*SAMPLE_HEAD, "packets", "ip_bytes"]


def rows_of(path):
    """Those of a known class."""
    with gzip.open(path, "rt") as file:
        yield from (
            row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["master"] not in NO_CLASS
        )


def write_labels(traces, path):
    """As `parshall train --labels` reads them."""
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["capture", "protocol", "src_ip", "src_port", "dst_ip", "dst_port", "class"])
        for row in rows_of(traces / "labels.tsv.gz"):
            out.writerow(
                [row["file"], row["proto"], row["client"], row["cport"], row["server"], row["sport"], row["master"]]
            )


def connection(capture, protocol, *ends):
    """What a label is of: both directions."""
    return capture, int(protocol), frozenset((ipaddress.ip_address(address), int(port)) for address, port in ends)


def classes_by_connection(traces):
    """None where lines differ."""
    classes = {}
    for row in rows_of(traces / "labels.tsv.gz"):
        key = connection(row["file"], row["proto"], (row["client"], row["cport"]), (row["server"], row["sport"]))
        classes[key] = row["master"] if classes.get(key, row["master"]) == row["master"] else None
    return classes


def flows_of(parshall, capture):
    """Each flow's record, as `parshall train` tells flows apart, the earliest first: by themselves they come in any
    order."""
    run = subprocess.run(
        [parshall, "watch", "-r", capture, "--columns", "+first_sizes", "--idle", "15s", "--format", "csv", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )
    return sorted(
        csv.DictReader(io.StringIO(run.stdout)), key=lambda flow: (int(flow["first_seen_ns"]), *flow.values())
    )


def write_flows(parshall, traces, path):
    """All flows of a known class in captures, with as many of their first sizes as there are, packets and bytes."""
    classes = classes_by_connection(traces)
    captures = sorted({traces / "pcap" / key[0] for key in classes if (traces / "pcap" / key[0]).exists()})
    with open(path, "w", newline="") as file, concurrent.futures.ThreadPoolExecutor(4) as pool:
        out = csv.writer(file)
        out.writerow(FLOW_HEAD)
        for capture, flows in zip(captures, pool.map(lambda one: flows_of(parshall, one), captures)):
            for flow in flows:
                ends = (flow["src_ip"], flow["src_port"]), (flow["dst_ip"], flow["dst_port"])
                known = classes.get(connection(capture.name, flow["protocol"], *ends))
                if known is not None:
                    sizes = [flow[f"ip_size_{number}_bytes"] for number in range(1, PACKETS + 1)]
                    out.writerow([known, capture.name, *sizes, flow["packets"], flow["ip_bytes"]])


def sizes_of(row):
    """Of a connection: there, and back."""
    sizes = [int(size) for size in row["ip_sizes"].split(",") if size]
    return [min(size, MOST_BYTES) for size in sizes if size > 0], [min(-size, MOST_BYTES) for size in sizes if size < 0]


def extra_flows(traces):
    """Flows of captures that are not there: class, capture and sizes of each direction with enough packets among the
    connection's first ten."""
    for row in rows_of(traces / "labels_extra.tsv.gz"):
        for sizes in sizes_of(row):
            if len(sizes) >= PACKETS:
                yield [row["master"], row["file"], *sizes[:PACKETS]]


def connections(traces):
    """Of each connection with enough packets that went there: class, capture, sizes of these, and of those that came
    back."""
    for name in ("labels.tsv.gz", "labels_extra.tsv.gz"):
        for row in rows_of(traces / name):
            there, back = sizes_of(row)
            if len(there) >= PACKETS:
                yield row["master"], row["file"], there[:PACKETS], back[:PACKETS]


def check_flows(said, whole, short):
    """That what was gathered here is what `parshall train` found in the same captures with the same labels."""
    words = f"{whole} flows of a known class, and {short} with too few packets"
    if words not in said:
        sys.exit(f"gathered {words}, but parshall train says:\n{said}")
