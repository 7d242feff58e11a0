#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What collectors have of the records that parshall sends them: nfcapd (nfdump), nfacctd (pmacct), goflow2 with two
workers, tshark, and the ipfix module of
Python, each where it is installed. Prints a table: records and packets sent and there, and what the collector says was
missing. Status 1: not all is there at the usual pace, or slower.

usage: collectors.py PARSHALL [RECORDS]

To install them: apt-get install nfdump pmacct tshark; go install github.com/netsampler/goflow2/v2/cmd/goflow2@latest;
pip install ipfix
"""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).parent.parent / "lab" / "bench" / "peers"))
import make_captures

SETTLE_S, END_S = 2, 20


class Collector:
    """Receives on `port`, into `folder`; a program that has begun once it is made."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.said = open(folder / "said", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [str(word) for word in self.command()],
            cwd=folder,
            stdout=self.said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        time.sleep(SETTLE_S)

    def end(self):
        """Once its socket is empty."""
        time.sleep(SETTLE_S)
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.said.seek(0)
        self.output = self.said.read()
        self.said.close()


class Nfcapd(Collector):
    program = "nfcapd"

    def command(self):
        return "nfcapd", "-b", "127.0.0.1", "-p", self.port, "-w", self.folder, "-t", 3600

    def there(self):
        said = subprocess.run(["nfdump", "-R", self.folder, "-I"], capture_output=True, text=True, check=True).stdout
        number = {name: int(count) for name, count in re.findall(r"^(\w[\w ]*): (\d+)$", said, re.MULTILINE)}
        return number["Flows"], number["Packets"], f"{number['Sequence failures']} sequence failures"


class Nfacctd(Collector):
    """It keeps no records, but sums by whatever is asked for."""

    program = "nfacctd"
    aggregate = "proto"

    def command(self):
        options = self.folder / "nfacctd.conf"
        options.write_text(
            f"nfacctd_ip: 127.0.0.1\nnfacctd_port: {self.port}\nplugins: print\nprint_output: json\nprint_output_file: "
            f"{self.folder}/sums\n"
            f"print_refresh_time: 5\nprint_output_file_append: true\naggregate: {self.aggregate}\nplugin_pipe_size: "
            f"104857600\nplugin_buffer_size: 600\n"
        )
        return "nfacctd", "-f", options

    def end(self):
        time.sleep(6)  # of a refresh
        super().end()

    def there(self):
        sums = [json.loads(line) for line in (self.folder / "sums").read_text().splitlines()]
        return None, sum(one["packets"] for one in sums), ""


class Goflow2(Collector):
    program = "goflow2"

    def command(self):
        (self.folder / "templates").mkdir()
        return (
            "goflow2",
            "-listen",
            f"netflow://127.0.0.1:{self.port}/?count=2&workers=2",
            "-transport.file",
            self.folder / "flows",
            "-addr",
            "127.0.0.1:0",
            "-templates.path",
            self.folder / "templates",
        )

    def there(self):
        records = packets = 0
        with open(self.folder / "flows", encoding="utf-8") as lines:
            for line in lines:
                records += 1
                packets += int(re.search(r'"packets":(\d+)', line).group(1))
        wrong = len(re.findall("error|template not found", self.output, re.IGNORECASE))
        return records, packets, f"{wrong} errors" if wrong else ""


def records_of(records):
    """Options for so many records, each of a flow or a few."""
    return "-g", f"flows={2 * records},size=64,ipv6=0.3", "--flows", "64Ki", "--idle", "10us", "--count", str(records)


def watch(parshall, export, *options):
    """Its account."""
    done = subprocess.run(
        [parshall, "watch", "-q", "--format", "json", "--top", "1", "--export", export, *options],
        capture_output=True,
        text=True,
        check=True,
    )
    summary = json.loads(done.stdout)["summary"]
    (account,) = (output for output in summary["outputs"] if output["name"] == export)
    return account["written"]


def row(*cells):
    print("{:<10}{:<12}{:<24}{:>10}{:>10}{:>10}{:>10}{:>7}  {}".format(*map(str, cells)), flush=True)


def try_collector(kind, parshall, records, what, target, *options):
    """Whether all is there."""
    with tempfile.TemporaryDirectory() as folder:
        collector = kind(pathlib.Path(folder))
        began = time.monotonic()
        try:
            sent = watch(parshall, target.format(port=collector.port), *records_of(records), *options)
        finally:
            took = time.monotonic() - began
            collector.end()
        there, packets, wrong = collector.there()
    protocol = target.partition(":")[0]
    row(
        kind.program,
        protocol,
        what,
        sent["records"],
        "-" if there is None else there,
        sent["packets"],
        packets,
        f"{took:.1f}",
        wrong,
    )
    return packets == sent["packets"] and there in (None, sent["records"])


EVERYTHING = "all,first_sizes,first_times,first_flags,community_id"


def try_tshark(parshall, what, *options):
    """Of a file: it decodes every element, and finds nothing odd; packets of all records add up."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/flows.ipfix"
        began = time.monotonic()
        sent = watch(parshall, f"ipfix:{path}", *options)
        decoded = subprocess.run(
            [
                "tshark",
                "-r",
                path,
                "-T",
                "fields",
                "-e",
                "cflow.packets",
                "-e",
                "_ws.expert.message",
                "-E",
                "separator=;",
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    packets, odd = 0, 0
    for line in decoded.splitlines():
        counts, _, said = line.partition(";")  # of both directions
        packets += sum(int(count) for count in counts.split(",") if count)
        odd += said != ""
    row(
        "tshark",
        "file",
        what,
        sent["records"],
        "-",
        sent["packets"],
        packets,
        f"{time.monotonic() - began:.1f}",
        f"{odd} complaints" if odd else "",
    )
    return packets == sent["packets"] and not odd


def try_python(parshall, what, *options):
    """Of a file, by B. Trammell's module of Python: it knows nothing of this program but what the file says of its
    elements."""
    import ipfix
    import ipfix.reader

    ipfix.ie.use_iana_default()
    ipfix.ie.use_5103_default()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/flows.ipfix"
        began = time.monotonic()
        sent = watch(parshall, f"ipfix:{path}", *options)
        there = packets = 0
        with open(path, "rb") as file:
            for record in ipfix.reader.from_stream(file).namedict_iterator():
                if "packetDeltaCount" in record:
                    there += 1
                    packets += record["packetDeltaCount"] + record.get("reversePacketDeltaCount", 0)
    row(
        "ipfix.py",
        "file",
        what,
        sent["records"],
        there,
        sent["packets"],
        packets,
        f"{time.monotonic() - began:.1f}",
        "",
    )
    return (there, packets) == (sent["records"], sent["packets"])


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    parshall, records = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 1_000_000
    row("collector", "by", "what", "records", "there", "packets", "there", "s", "it says")
    good = True
    for kind in (Nfcapd, Nfacctd, Goflow2):
        if not shutil.which(kind.program):
            print(f"SKIPPED {kind.program}: not installed")
            continue
        few = records // 10
        good &= try_collector(kind, parshall, records, "usual pace", "ipfix:udp://127.0.0.1:{port}")
        good &= try_collector(kind, parshall, records, "rate=20M", "netflow9:udp://127.0.0.1:{port},rate=20M")
        good &= try_collector(kind, parshall, records, "usual pace", "netflow9:udp://127.0.0.1:{port}")
        good &= try_collector(
            kind,
            parshall,
            few,
            "all columns",
            "ipfix:udp://127.0.0.1:{port}",
            "--columns",
            "all,first_sizes,community_id",
        )
        try_collector(kind, parshall, records, "rate=1G", "ipfix:udp://127.0.0.1:{port},rate=1G")
        try_collector(kind, parshall, records, "rate=0: none", "ipfix:udp://127.0.0.1:{port},rate=0")
    conversations, _ = make_captures.ensure_capture("/tmp/parshall-peers", "mix", records // 2, seed=1)
    for name, there, read in (
        ("tshark", shutil.which("tshark"), try_tshark),
        ("ipfix of Python", importlib.util.find_spec("ipfix"), try_python),
    ):
        if not there:
            print(f"SKIPPED {name}: not installed")
            continue
        good &= read(parshall, "all columns", *records_of(records // 20), "--columns", EVERYTHING)
        good &= read(parshall, "biflow", "-r", conversations, "--biflow", "--columns", EVERYTHING)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
