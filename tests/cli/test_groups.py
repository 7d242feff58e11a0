# SPDX-License-Identifier: Apache-2.0
"""Hosts, services, prefixes, ... in place of flows: --by.

usage: test_groups.py PARSHALL [unittest arguments]
"""

import collections
import ipaddress
import json
import os
import struct
import unittest

from program import DAMAGED, DONE, FILE_HEADER, PROGRAM, USAGE, Case, rows, run

TRACES = os.environ.get("PARSHALL_TRACES", os.path.join(os.path.dirname(PROGRAM), "..", "..", "shared", "traces"))
LOCAL = ["10.0.0.0/8", "128.0.0.0/1", "2000::/4"]
GROUPS = {
    "host": ["host"],
    "prefix": ["prefix", "prefix_length"],
    "service": ["protocol", "port"],
    "conversation": ["protocol", "client", "client_port", "server", "server_port"],
    "protocol": ["protocol"],
    "direction": ["direction"],
}
COUNTS = ["flows", "wire_bytes", "in_packets", "out_packets", "in_bytes", "out_bytes", "first_seen_ns", "last_seen_ns"]


def service_is_source(flow):
    """Returns whether the flow comes from the end with the lower port."""
    source, destination = int(flow["src_port"]), int(flow["dst_port"])
    if source != destination:
        return source < destination
    return ipaddress.ip_address(flow["src_ip"]).packed > ipaddress.ip_address(flow["dst_ip"]).packed


def groups_of(flow, by):
    """Returns (group, whether it sent the flow's packets, the other end's address) for each group of a flow."""
    source, destination = flow["src_ip"], flow["dst_ip"]
    if by in ("host", "prefix"):
        return [(group_of_address(source, by), True, destination), (group_of_address(destination, by), False, source)]
    if by == "protocol":
        return [((flow["protocol"],), True, None)]
    if by == "direction":
        return [direction_of(source, destination)]
    sends = service_is_source(flow)
    ends = [(source, flow["src_port"]), (destination, flow["dst_port"])]
    server, client = ends if sends else ends[::-1]
    if by == "service":
        return [((flow["protocol"], server[1]), sends, client[0])]
    return [((flow["protocol"], *client, *server), not sends, None)]


def direction_of(source, destination):
    inside = [ipaddress.ip_network(network) for network in LOCAL]
    comes, goes = (any(ipaddress.ip_address(end) in network for network in inside) for end in (source, destination))
    name = ("inside" if goes else "outside") if comes == goes else "in" if goes else "out"
    return ((name,), name != "in", None)


def group_of_address(address, by):
    if by == "host":
        return (address,)
    bits = 48 if ":" in address else 24
    return (str(ipaddress.ip_network((address, bits), strict=False).network_address), str(bits))


def add_up(flows, by):
    """Adds the flows of a report up, independently of the program."""
    groups = collections.defaultdict(lambda: dict.fromkeys(COUNTS, 0) | {"peers": set()})
    for flow in flows:
        known = set()
        for name, sends, peer in groups_of(flow, by):
            group = groups[name]
            group["flows"] += name not in known
            known.add(name)
            group["wire_bytes"] += int(flow["wire_bytes"])
            group["out_packets" if sends else "in_packets"] += int(flow["packets"])
            group["out_bytes" if sends else "in_bytes"] += int(flow["wire_bytes"])
            first = int(flow["first_seen_ns"])
            group["first_seen_ns"] = min(group["first_seen_ns"] or first, first)
            group["last_seen_ns"] = max(group["last_seen_ns"], int(flow["last_seen_ns"]))
            group["peers"].add(peer)
    return {name: group | {"peers": len(group["peers"])} for name, group in groups.items()}


def read(row, by):
    """Returns a group's name and counts from a CSV row."""
    counts = {name: int(row[name]) for name in COUNTS}
    if "peers" in row:
        counts["peers"] = int(row["peers"])
    return tuple(row[name] for name in GROUPS[by]), counts


def tcp_packet(second, source, destination, length, vlan=None):
    tcp = struct.pack(">HHIIBBHHH", source[1], destination[1], 0, 0, 0x50, 0x10, 0, 0, 0)
    ends = ipaddress.ip_address(source[0]).packed + ipaddress.ip_address(destination[0]).packed
    ip = struct.pack(">BBHHHBBH", 0x45, 0, length, 0, 0, 64, 6, 0) + ends
    tag = b"" if vlan is None else struct.pack(">HH", 0x8100, vlan)
    frame = b"\x02" * 12 + tag + b"\x08\x00" + ip + tcp + bytes(length - 40)
    return struct.pack("<IIII", second, 0, len(frame), len(frame)) + frame


class Groups(Case):
    def write(self, *packets):
        with open(self.path("c.pcap"), "wb") as file:
            file.write(FILE_HEADER + b"".join(packets))
        return self.path("c.pcap")

    def web_requests(self):
        """Two clients of one server, in two seconds."""
        server, one, two = ("192.0.2.1", 443), ("10.0.0.1", 50000), ("10.0.0.2", 50001)
        return self.write(
            tcp_packet(100, one, server, 100, vlan=7),
            tcp_packet(100, server, one, 1000, vlan=7),
            tcp_packet(101, two, server, 100, vlan=8),
            tcp_packet(102, server, two, 1000, vlan=8),
        )

    def check_all(self, capture):
        """Compares every grouping with the flows of the same capture; returns the number of hosts."""
        flows = rows(run("watch", "-q", "-r", capture, "--format", "csv").out)
        for by in GROUPS:
            local = ["--local", ",".join(LOCAL)] if by == "direction" else []
            done = run("watch", "-q", "-r", capture, "--format", "csv", "--by", by, "--workers", "2", *local)
            found = dict(read(row, by) for row in rows(done.out))
            expected = add_up(flows, by)
            if by in ("conversation", "protocol", "direction"):
                expected = {name: {k: v for k, v in group.items() if k != "peers"} for name, group in expected.items()}
            self.assertEqual(found, expected, (capture, by))
        return len(add_up(flows, "host"))

    def test_every_grouping_adds_up_the_flows(self):
        capture = self.path("sessions.pcap")
        spec = "flows=3000,dist=zipf:1.1,protocol=sessions,size=imix,ipv6=0.3"
        run("send", "-q", "-g", spec, "--count", "20k", "-w", capture)
        self.assertGreater(self.check_all(capture), 2000)

    def test_real_captures(self):
        if not os.path.isdir(TRACES):
            self.skipTest("SKIPPED: no captures (PARSHALL_TRACES)")
        captures = sorted(
            os.path.join(folder, name)
            for folder, _, names in os.walk(TRACES)
            for name in names
            if name.endswith((".pcap", ".pcapng", ".cap"))
        )
        chosen = [path for path in captures[:: max(1, len(captures) // 40)] if os.path.getsize(path) < 4_000_000]
        self.assertGreater(len(chosen), 20)
        self.assertGreater(sum(self.check_all(path) for path in chosen), 100)

    def test_text_names_who_talked_most(self):
        done = run("watch", "-q", self.web_requests(), "--by", "host", "--local", "10.0.0.0/8", "--top", "2")
        head, *lines = done.out.decode().split("\n\n")[1].splitlines()
        self.assertEqual(
            head.split(),
            "host place peers flows wire_bytes in_packets out_packets in_bytes out_bytes in_bps out_bps".split(),
        )
        # 36 bytes more than the IP length: 14 of Ethernet and 4 of the VLAN tag in two packets each way.
        self.assertEqual(lines[0].split()[:9], "192.0.2.1 outside 2 4 2272 2 2 236 2036".split())
        self.assertEqual(lines[1].split()[:9], "10.0.0.1 inside 1 2 1136 1 1 1018 118".split())
        self.assertEqual(len(lines), 2)

    def test_rates_are_of_the_whole_packet_time(self):
        done = run("watch", "-q", self.web_requests(), "--by", "host", "--format", "csv", "--columns", "host,out_bps")
        rates = {row["host"]: float(row["out_bps"]) for row in rows(done.out)}
        self.assertEqual(rates["192.0.2.1"], 8 * 2036 / 2)

    def test_vlans_and_interfaces(self):
        columns = ["--format", "csv", "--local", "10.0.0.0/8"]
        done = run("watch", "-q", self.web_requests(), "--by", "vlan", *columns)
        found = {row["vlan"]: (row["in_packets"], row["out_packets"], row["flows"]) for row in rows(done.out)}
        self.assertEqual(found, {"7": ("1", "1", "2"), "8": ("1", "1", "2")})
        done = run("watch", "-q", self.capture(), "--by", "interface", "--format", "csv")
        self.assertEqual([(row["interface"], row["flows"]) for row in rows(done.out)], [("", "10")])
        done = run("watch", "-q", self.capture(), "--by", "vlan", "--format", "csv")
        self.assertEqual([(row["vlan"], row["flows"]) for row in rows(done.out)], [("", "10")])

    def test_each_interval_has_what_came_in_it(self):
        done = run(
            "watch", "-q", self.web_requests(), "--by", "host", "--every", "1s", "--format", "json", "--top", "0"
        )
        reports = [json.loads(line) for line in done.out.splitlines()]
        sent = [
            {row["host"]: row["out_packets"] for row in report["hosts"] if row["out_packets"]} for report in reports
        ]
        self.assertEqual(sent, [{"10.0.0.1": 1, "192.0.2.1": 1}, {"10.0.0.2": 1}, {"192.0.2.1": 1}])

    def test_outputs_cover_the_whole_run_whatever_reports_do(self):
        ends = [(f"10.0.{i // 100}.{i % 100}", 40000 + i) for i in range(300)]
        seconds = [i // 500 for i in range(5000)]
        capture = self.write(
            *(tcp_packet(1000 + s, ends[(7 * s + i) % 300], ("192.0.2.1", 80), 60) for i, s in enumerate(seconds))
        )
        for options in (["--every", "3s"], ["--idle", "1s", "--every", "1s"], ["--idle", "1s"]):
            file = self.path("hosts.csv")
            done = run(
                *("watch", "-q", capture, "--by", "host", *options, "--export", f"csv:{file}"),
                *("--format", "json", "--top", "0"),
            )
            self.assertEqual(done.status, DONE, done.err)
            with open(file, encoding="ascii") as text:
                hosts = rows(text.read())
            self.assertEqual(sum(int(row["out_packets"]) for row in hosts), 5000, options)
            reports = [json.loads(line) for line in done.out.splitlines()] if "--every" in options else []
            sent = sum(row["out_packets"] for report in reports for row in report["hosts"])
            self.assertEqual(sent, 5000 if reports else 0, options)

    def test_outputs_have_groups_too(self):
        capture = self.capture(packets=1000, flows=10)
        outputs = {kind: self.path(f"h.{kind}") for kind in ("csv", "jsonl", "ipfix", "parquet")}
        exports = [word for kind, path in outputs.items() for word in ("--export", f"{kind}:{path}")]
        done = run("watch", "-q", capture, "--by", "host", "-o", self.path("report"), *exports)
        self.assertEqual(done.status, DONE, done.err)
        with open(outputs["csv"], encoding="ascii") as file:
            hosts = rows(file.read())
        self.assertEqual(sum(int(row["out_packets"]) for row in hosts), 1000)
        self.assertEqual(sum(int(row["in_packets"]) for row in hosts), 1000)
        self.assertEqual({row["host"]: row["in_packets"] for row in hosts}["192.0.2.1"], "1000")
        with open(outputs["jsonl"], encoding="ascii") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual(len([line for line in lines if "host" in line]), 11)
        with open(self.path("less.jsonl"), "w", encoding="ascii") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines[1:])
        self.assertEqual(run("verify", self.path("less.jsonl")).status, DAMAGED)
        for kind in ("jsonl", "ipfix", "parquet"):
            checked = run("verify", outputs[kind])
            self.assertEqual(checked.status, DONE, checked.out)
            self.assertIn(b"11 records", checked.out)
            self.assertIn(b"it adds up", checked.out)

    def test_mistakes_are_named(self):
        capture = self.capture()
        for options, words in (
            (["--by", "hosts"], ["did you mean host?"]),
            (["--by", "host", "--columns", "host,in_byte"], ["hosts have no column", "did you mean in_bytes?"]),
            (["--by", "host", "--columns", "+rtt"], ["leave out --columns +rtt"]),
            (["--by", "host", "--biflow"], ["leave out --biflow"]),
            (["--by", "host", "--key", "src"], ["leave out --key"]),
            (["--by", "host", "--packets-only"], ["leave out --packets-only"]),
            (["--by", "host", "--local", "10.0.0.0/33"], ["--local 10.0.0.0/33", "10.0.0.0/8"]),
            (["--by", "host", "--local", "lan"], ["--local lan"]),
            (["--local", "10.0.0.0/8"], ["--local", "--local needs --by, --live or --web"]),
            (["--by", "host", "--export", "netflow9:udp://127.0.0.1:2055"], ["netflow9", "ipfix"]),
            (["--by", "host", "--sort", "rate"], ["no column"]),
            (["--by", "direction"], ["--by direction", "--local 10.0.0.0/8"]),
        ):
            with self.subTest(options=options):
                self.assert_says(run("watch", capture, *options), USAGE, *words)


if __name__ == "__main__":
    unittest.main()
