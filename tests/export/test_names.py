# SPDX-License-Identifier: Apache-2.0
"""What flows say of themselves in their first packets is in their records, however the packets come and whatever the
names are made of. The captures are made here; tools/compare_names.py compares real ones with tshark.

usage: test_names.py PARSHALL [unittest arguments]
"""

import csv
import ipaddress
import itertools
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None
CLIENT, SERVER = "10.0.0.1", "192.0.2.7"
SYN, ACK, PUSH = 2, 16, 24


def ipv4(protocol, source, destination, payload):
    head = struct.pack(
        ">BBHHHBBH4s4s",
        0x45,
        0,
        20 + len(payload),
        0,
        0,
        64,
        protocol,
        0,
        ipaddress.ip_address(source).packed,
        ipaddress.ip_address(destination).packed,
    )
    return bytes(12) + b"\x08\x00" + head + payload


def tcp(seq, payload=b"", flags=PUSH, ports=(40000, 443), ends=(CLIENT, SERVER)):
    head = struct.pack(">HHIIBBHHH", *ports, seq % 2**32, 1, 0x50, flags, 65535, 0, 0)
    return ipv4(6, *ends, head + payload)


def udp(payload, ports=(40000, 53), ends=(CLIENT, SERVER)):
    return ipv4(17, *ends, struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload)


def extension(number, content):
    return struct.pack(">HH", number, len(content)) + content


def client_hello(server=b"www.example.org", alpn=(b"h2", b"http/1.1"), key_share=32):
    """A TLS record with a ClientHello; a key share of 1,216 bytes is that of X25519MLKEM768."""
    names = struct.pack(">HBH", 3 + len(server), 0, len(server)) + server
    protocols = b"".join(bytes([len(name)]) + name for name in alpn)
    extensions = extension(0, names) if server else b""
    extensions += extension(16, struct.pack(">H", len(protocols)) + protocols)
    extensions += extension(43, b"\x04\x03\x04\x03\x03")
    extensions += extension(51, struct.pack(">HHH", 4 + key_share, 0x11EC, key_share) + bytes(key_share))
    body = b"\x03\x03" + bytes(32) + b"\x00" + struct.pack(">HHH", 4, 0x1301, 0x1302) + b"\x01\x00"
    body += struct.pack(">H", len(extensions)) + extensions
    message = b"\x01" + struct.pack(">I", len(body))[1:] + body
    return b"\x16\x03\x01" + struct.pack(">H", len(message)) + message


def dns(name=b"\x03www\x07example\x03net\x00", is_answer=False, rcode=0, addresses=()):
    flags = (0x8180 if is_answer else 0x0100) | rcode
    message = struct.pack(">HHHHHH", 7, flags, 1, len(addresses), 0, 0) + name + struct.pack(">HH", 1, 1)
    for address in map(ipaddress.ip_address, addresses):
        kind = 1 if address.version == 4 else 28
        message += struct.pack(">HHHIH", 0xC00C, kind, 1, 60, len(address.packed)) + address.packed
    return message


def dns_name(text):
    return b"".join(bytes([len(label)]) + label for label in text.encode().split(b".")) + b"\x00"


def pieces(content, *cuts):
    """(offset, bytes) of the parts between the cuts."""
    ends = [0, *cuts, len(content)]
    return [(begin, content[begin:end]) for begin, end in itertools.pairwise(ends)]


class Captures(unittest.TestCase):
    """Captures that are made here, and the flows in them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def capture(self, packets):
        path = self.folder / "packets.pcap"
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for number, packet in enumerate(packets):
                file.write(struct.pack("<IIII", 1, number, len(packet), len(packet)) + packet)
        return path

    def watch(self, path, *options, columns="+names", status=0):
        flows = self.folder / "flows.jsonl"
        command = [PROGRAM, "watch", "-q", "-r", path, "--columns", columns, "-o", os.devnull]
        command += ["--export", f"jsonl:{flows}", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        if status != 0:
            return done.stderr
        lines = [json.loads(line) for line in flows.read_text().splitlines()]
        self.summary = next(line["summary"] for line in lines if "summary" in line)
        return [line["flow"] for line in lines if "flow" in line]


class Names(Captures):
    def flow_of(self, *packets, options=()):
        flows = self.watch(self.capture(packets), *options)
        self.assertEqual(len(flows), 1)
        return flows[0]

    def test_a_client_hello_in_any_pieces_in_any_order_and_twice(self):
        hello = client_hello(b"shop.example.org", key_share=1216)
        parts = pieces(hello, 1, 6, 700, 1300)
        for order in random.Random(1).sample(list(itertools.permutations(range(len(parts)))), 40):
            start = 2**32 - 500  # sequence numbers wrap within the message
            packets = [tcp(start - 1, flags=SYN)]
            for place in order:
                offset, part = parts[place]
                packets += [tcp(start + offset, part)] * (1 + place % 2)
            flow = self.flow_of(*packets)
            self.assertEqual(flow["server_name"], "shop.example.org", order)
            self.assertEqual((flow["alpn"], flow["tls_version"]), ("h2,http/1.1", "TLS 1.3"), order)

    def test_without_a_syn_the_first_payload_is_the_beginning(self):
        hello = client_hello()
        for cuts in ((), (100,), (5, 90, 130)):
            packets = [tcp(1000 + offset, part) for offset, part in pieces(hello, *cuts)]
            self.assertEqual(self.flow_of(*packets)["server_name"], "www.example.org")

    def test_what_lacks_bytes_has_no_name(self):
        (first, whole), (at, _), (end, rest) = pieces(client_hello(key_share=1216), 40, 200)
        flow = self.flow_of(tcp(0, flags=SYN), tcp(1 + first, whole), tcp(1 + end, rest), *[tcp(1 + at)] * 50)
        self.assertIsNone(flow["server_name"])
        self.assertEqual(self.summary["names_not_read_flows"], 0)

    def test_the_two_directions_have_their_own_names_and_a_biflow_both(self):
        ask, answer = udp(dns()), udp(dns(is_answer=True, rcode=3), (53, 40000), (SERVER, CLIENT))
        back, forth = sorted(self.watch(self.capture([ask, answer])), key=lambda flow: flow["src_port"])
        self.assertEqual((forth["dns_name"], forth["dns_rcode"]), ("www.example.net", None))
        self.assertEqual((back["dns_name"], back["dns_rcode"]), ("www.example.net", "NXDOMAIN"))
        biflow = self.flow_of(ask, answer, options=("--biflow",))
        self.assertEqual((biflow["dns_name"], biflow["dns_rcode"]), ("www.example.net", "NXDOMAIN"))
        request = tcp(1, b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n", ports=(40000, 80))
        response = tcp(1, b"HTTP/1.1 200 OK\r\n\r\n", ports=(80, 40000), ends=(SERVER, CLIENT))
        self.assertEqual(self.flow_of(response, request, options=("--biflow",))["http_host"], "a.example")

    def test_names_of_anything_are_text_that_harms_nobody(self):
        agent = b'Mozilla, "quoted" \\ <b> \x1b[31m \xc3\xa9'
        shown = 'Mozilla, "quoted" \\ <b> \\x1b[31m \\xc3\\xa9'
        request = b"GET / HTTP/1.1\r\nHost: a,b\r\nUser-Agent: " + agent + b"\r\n\r\n"
        path = self.capture([tcp(1, request, ports=(40000, 80)), tcp(1, client_hello(b"\x00\n=1+1\xff"))])
        with_host, with_name = sorted(self.watch(path), key=lambda flow: flow["dst_port"])
        self.assertEqual((with_host["http_host"], with_host["http_user_agent"]), ("a,b", shown))
        self.assertEqual(with_name["server_name"], "\\x00\\x0a=1+1\\xff")
        table = self.folder / "flows.csv"
        self.watch(path, "--export", f"csv:{table}")
        with open(table, newline="") as file:
            rows = {row["dst_port"]: row for row in csv.DictReader(file)}
        self.assertEqual((rows["80"]["http_host"], rows["80"]["http_user_agent"]), ("a,b", shown))
        self.assertEqual(rows["443"]["server_name"], "\\x00\\x0a=1+1\\xff")
        text = subprocess.run(
            [PROGRAM, "watch", "-r", path, "--columns", "+names"], capture_output=True, timeout=60, check=True
        ).stdout
        self.assertIn(b"\\x1b[31m", text)
        self.assertNotIn(b"\x1b", text)

    def test_long_names_are_cut_and_no_column_takes_anothers_room(self):
        name = b"x" * 300
        agent = b"y" * 400
        request = b"GET / HTTP/1.1\r\nUser-Agent: " + agent + b"\r\nHost: " + name + b"\r\n\r\n"
        flow = self.flow_of(tcp(1, request, ports=(40000, 80)))
        self.assertEqual((flow["http_host"], flow["http_user_agent"]), ("x" * 255, "y" * 255))
        (flow,) = self.watch(self.capture([tcp(1, request)]), columns="+http_user_agent")
        self.assertEqual(flow["http_user_agent"], "y" * 255)
        self.assertNotIn("http_host", flow)

    def test_only_the_beginning_of_a_flow_counts(self):
        for greetings in (1, 7, 8):  # as those before STARTTLS
            before = [tcp(1 + 10 * i, b"greeting\r\n") for i in range(greetings)]
            flow = self.flow_of(*before, tcp(1 + 10 * greetings, client_hello()))
            self.assertEqual(flow["server_name"], "www.example.org" if greetings < 8 else None, greetings)
        (head, first), (end, rest) = pieces(client_hello(), 60)
        flow = self.flow_of(tcp(0, flags=SYN), tcp(11 + end, rest), tcp(1, b"greeting\r\n"), tcp(11 + head, first))
        self.assertIsNone(flow["server_name"])  # TLS in a segment that came before what it follows is not looked for
        flow = self.flow_of(*[tcp(1, flags=ACK)] * 33, tcp(1, client_hello()))
        self.assertIsNone(flow["server_name"])
        flow = self.flow_of(*[tcp(1, flags=ACK)] * 31, tcp(1, client_hello()))
        self.assertEqual(flow["server_name"], "www.example.org")

    def test_all_records_of_a_flow_have_its_name(self):
        path = self.folder / "long.pcap"
        packets = [tcp(1, client_hello()), *[tcp(10**6 + i, b"x") for i in range(9)]]
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for number, packet in enumerate(packets):
                file.write(struct.pack("<IIII", number, 0, len(packet), len(packet)) + packet)
        for more in ("", ",iat_p99"):
            flows = self.watch(path, "--active", "2s", "--idle", "60s", columns="+server_name" + more)
            self.assertGreater(len(flows), 3)
            self.assertEqual({flow["server_name"] for flow in flows}, {"www.example.org"})

    def test_the_same_for_all_seeds_and_workers_and_columns(self):
        rng = random.Random(3)
        packets = []
        for number in range(3000):
            ports = (1024 + number, 443)
            parts = pieces(client_hello(f"host{number}.example".encode(), key_share=1216), 300, 900)
            packets.append((number, tcp(0, flags=SYN, ports=ports)))
            packets += [(number + rng.random() * 50, tcp(1 + at, part, ports=ports)) for at, part in parts]
        path = self.capture([packet for _, packet in sorted(packets, key=lambda each: each[0])])
        for options in (
            ("--seed", "1"),
            ("--seed", "2", "--workers", "2"),
            ("--workers", "3", "--flows", "1k", "--idle", "1s"),
        ):
            for columns in ("+names", "+server_name,iat_p99,tcp_retransmissions,flow_id"):
                flows = self.watch(path, *options, columns=columns)
                names = {flow["src_port"]: flow["server_name"] for flow in flows if flow["server_name"]}
                expected = {1024 + number: f"host{number}.example" for number in range(3000)}
                if "1k" in options:  # flows that were evicted begin anew, without their first packets
                    self.assertGreater(len(names), 2000)
                    self.assertEqual({**expected, **names}, expected)
                else:
                    self.assertEqual(names, expected, (options, columns))

    def test_sorted_flows_keep_their_names_in_memory_and_in_files(self):
        packets = [
            tcp(1, client_hello(f"host{number % 7919}.example".encode()), ports=(number % 60000, 443 + number // 60000))
            for number in range(70000)
        ]
        path = self.capture(packets)
        for top in ((), ("--top", "10")):
            command = [
                PROGRAM,
                "watch",
                "-r",
                path,
                "--columns",
                "+server_name",
                "--sort",
                "server_name",
                "--format",
                "csv",
            ]
            done = subprocess.run([*command, *top], capture_output=True, text=True, timeout=120, check=True)
            rows = list(csv.DictReader(line for line in done.stdout.splitlines() if "," in line))
            for row in rows:
                number = int(row["src_port"]) + 60000 * (int(row["dst_port"]) - 443)
                self.assertEqual(row["server_name"], f"host{number % 7919}.example")
            names = [row["server_name"] for row in rows]
            self.assertEqual(names, sorted(names, reverse=True))
            self.assertEqual(len(names), 10 if top else 70000)

    def test_more_unfinished_names_than_there_is_room_for_are_counted(self):
        parts = pieces(client_hello(), 100)
        flows = range(20000)
        begin = [tcp(1, parts[0][1], ports=(1024 + number, 443)) for number in flows]
        end = [tcp(1 + parts[1][0], parts[1][1], ports=(1024 + number, 443)) for number in flows]
        found = [flow["server_name"] for flow in self.watch(self.capture(begin + end))]
        self.assertEqual(len(found), len(flows))
        named = sum(name is not None for name in found)
        self.assertEqual(named, 16384)
        self.assertEqual(self.summary["names_not_read_flows"], len(flows) - named)

    def test_a_stream_that_ends_makes_room_for_others(self):
        head, tail = (part for _, part in pieces(client_hello(b"first.example"), 100))
        packets = [tcp(1, head, ports=(1000, 443))]
        for number in range(20000):
            packets += [tcp(1 + at, part, ports=(2000 + number, 443)) for at, part in pieces(client_hello(), 100)]
        flows = self.watch(self.capture([*packets, tcp(101, tail, ports=(1000, 443))]))
        names = {flow["src_port"]: flow["server_name"] for flow in flows}
        self.assertEqual(names.pop(1000), "first.example")
        self.assertEqual(set(names.values()), {"www.example.org"})
        self.assertEqual(self.summary["names_not_read_flows"], 0)

    def test_a_biflow_has_what_the_server_chose_whoever_comes_first(self):
        hello = tcp(1, client_hello())
        chosen = extension(16, b"\x00\x03\x02h2")
        body = b"\x03\x03" + bytes(32) + b"\x00\x13\x01\x00" + struct.pack(">H", len(chosen)) + chosen
        message = b"\x02" + struct.pack(">I", len(body))[1:] + body
        answer = b"\x16\x03\x03" + struct.pack(">H", len(message)) + message
        back = tcp(1, answer, ports=(443, 40000), ends=(SERVER, CLIENT))
        for packets in ((hello, back), (back, hello)):
            flow = self.flow_of(*packets, options=("--biflow",))
            self.assertEqual(flow["server_name"], "www.example.org")
            self.assertEqual((flow["tls_version"], flow["alpn"]), ("TLS 1.2", "h2"))
            self.assertTrue(flow["ja4"].startswith("t13d"))

    def test_a_biflow_without_answer_has_no_name_of_the_flow_before(self):
        path = self.folder / "reused.pcap"
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for number in range(400):
                ports = (1024 + number, 53)
                packets = [udp(dns(), ports)] if number < 200 else [udp(b"hello", (1024 + number, 9999))]
                if number < 200:
                    packets.append(udp(dns(is_answer=True, rcode=3), ports[::-1], (SERVER, CLIENT)))
                for packet in packets:
                    file.write(struct.pack("<IIII", number, 0, len(packet), len(packet)) + packet)
        flows = self.watch(path, "--biflow", "--idle", "5s", "--flows", "64")
        self.assertEqual(len(flows), 400)
        for flow in flows:
            is_dns = flow["dst_port"] == 53
            self.assertEqual(flow["dns_name"], "www.example.net" if is_dns else None)
            self.assertEqual(flow["dns_rcode"], "NXDOMAIN" if is_dns else None)

    def test_what_a_cut_packet_says_counts(self):
        whole = tcp(1, client_hello(key_share=1216))
        path = self.folder / "cut.pcap"
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            file.write(struct.pack("<IIII", 1, 0, 200, len(whole)) + whole[:200])
        (flow,) = self.watch(path)
        self.assertEqual(flow["server_name"], "www.example.org")
        head = b"GET / HTTP/1.1\r\nHost: a.example\r\n"
        lines = [b"X: " + b"x" * 1000 + b"\r\n"] * 9
        packets, at = [], 1
        for part in (head, *lines):
            packets.append(tcp(at, part, ports=(40000, 80)))
            at += len(part)
        self.assertEqual(self.flow_of(*packets)["http_host"], "a.example")

    def test_a_file_names_addresses_and_networks(self):
        hosts = self.folder / "hosts"
        hosts.write_text(
            "# comment\n\n10.0.0.1\tclient another # more\n10.0.0.0/8 ten\n192.0.2.0/24 net\n192.0.0.0/8 wide\n"
            "10.0.0.1 later\n2001:db8::/32 lab\n2001:db8::1 six\n"
        )
        ends = [(CLIENT, SERVER), ("10.9.9.9", "192.1.1.1"), ("172.16.0.1", CLIENT)]
        path = self.capture([udp(b"x", (1000 + i, 9999), pair) for i, pair in enumerate(ends)])
        flows = sorted(self.watch(path, "--hosts", hosts, columns="+duration"), key=lambda flow: flow["src_port"])
        self.assertEqual(
            [(flow["src_name"], flow["dst_name"]) for flow in flows],
            [("client", "net"), ("ten", "wide"), (None, "client")],
        )
        command = [PROGRAM, "watch", "-q", "-r", path, "--by", "host", "--hosts", hosts, "--format", "csv"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        names = {row["host"]: row["name"] for row in csv.DictReader(done.stdout.splitlines())}
        self.assertEqual(
            names, {CLIENT: "client", SERVER: "net", "10.9.9.9": "ten", "192.1.1.1": "wide", "172.16.0.1": ""}
        )
        for text, wrong in (
            ("10.0.0.1\n", "hosts, line 1: 10.0.0.1 has no name behind it"),
            ("\n10.0.0.300 x\n", "hosts, line 2: 10.0.0.300 is no address or network"),
            ("10.0.0.0/33 x\n", "hosts, line 1: 10.0.0.0/33 is no address or network"),
            ("10.0.0.1 \x1b[31m\n", "is no name: give at most 255 printable characters"),
        ):
            hosts.write_text(text)
            self.assertIn(wrong, self.watch(path, "--hosts", hosts, status=2))
        self.assertIn("No such file", self.watch(path, "--hosts", self.folder / "none", status=2))

    RESOLVER = "9.9.9.9"

    def answer(self, client, name, *addresses, port=40000, is_tcp=False):
        message = dns(dns_name(name), is_answer=True, addresses=addresses)
        ends = {"ports": (53, port), "ends": (self.RESOLVER, client)}
        return tcp(1, struct.pack(">H", len(message)) + message, **ends) if is_tcp else udp(message, **ends)

    def resolved(self, *packets, options=()):
        """The name of the server by the client's port, of flows that are not those of DNS."""
        flows = self.watch(self.capture(packets), "--resolve", *options, columns="+duration")
        return {flow["src_port"]: flow["dst_name"] for flow in flows if 53 not in (flow["src_port"], flow["dst_port"])}

    def test_addresses_have_the_names_that_clients_asked_for(self):
        other = "10.0.0.2"
        packets = [
            tcp(1, ports=(1, 443)),  # before any answer
            self.answer(CLIENT, "Shop.example", "192.0.2.99", SERVER, "2001:db8::1"),
            tcp(1, ports=(2, 443)),
            self.answer(other, "news.example", SERVER),
            tcp(1, ports=(3, 443)),
            tcp(1, ports=(4, 443), ends=(other, SERVER)),
            tcp(1, ports=(5, 443), ends=("10.0.0.3", SERVER)),
            self.answer(CLIENT, "tcp.example", "192.0.2.50", is_tcp=True),
            tcp(1, ports=(6, 443), ends=(CLIENT, "192.0.2.50")),
            tcp(1, ports=(7, 443), ends=(CLIENT, "192.0.2.51")),
        ]
        expected = {1: None, 2: "shop.example", 3: "shop.example", 4: "news.example", 5: "news.example"}
        self.assertEqual(self.resolved(*packets), {**expected, 6: "tcp.example", 7: None})
        for options in (("--seed", "1"), ("--seed", "2"), ("--flows", "64")):
            self.assertEqual(self.resolved(*packets, options=options), {**expected, 6: "tcp.example", 7: None})

    def test_all_answers_of_a_flow_of_dns_are_read(self):
        packets = [self.answer(CLIENT, f"host{i}.example", f"198.51.100.{i}") for i in range(100)]
        packets += [tcp(1, ports=(1000 + i, 443), ends=(CLIENT, f"198.51.100.{i}")) for i in range(100)]
        self.assertEqual(self.resolved(*packets), {1000 + i: f"host{i}.example" for i in range(100)})

    def test_answers_over_tcp_follow_a_handshake_and_other_segments(self):
        ends = {"ports": (53, 40000), "ends": (self.RESOLVER, CLIENT)}
        for others in (1, 40):  # more than the first packets of a flow
            packets = [tcp(0, flags=SYN | ACK, **ends)] + [tcp(1, flags=ACK, **ends)] * others
            packets += [self.answer(CLIENT, "late.example", SERVER, is_tcp=True), tcp(1, ports=(1, 443))]
            self.assertEqual(self.resolved(*packets), {1: "late.example"}, others)

    def test_both_directions_and_a_biflow_have_the_names(self):
        packets = [self.answer(CLIENT, "shop.example", SERVER), tcp(1, client_hello())]
        packets += [tcp(1, ports=(443, 40000), ends=(SERVER, CLIENT))]
        flows = self.watch(self.capture(packets), "--resolve", columns="+server_name")
        flows = {flow["src_port"]: flow for flow in flows}
        self.assertEqual((flows[40000]["dst_name"], flows[40000]["src_name"]), ("shop.example", None))
        self.assertEqual((flows[443]["src_name"], flows[443]["dst_name"]), ("shop.example", None))
        self.assertEqual(flows[40000]["server_name"], "www.example.org")
        for order in (packets, [packets[2], packets[0], packets[1]]):
            flows = self.watch(self.capture(order), "--resolve", "--biflow", columns="+server_name")
            flow = next(flow for flow in flows if 443 in (flow["src_port"], flow["dst_port"]))
            names = [flow["src_name"], flow["dst_name"]]
            self.assertEqual(names[flow["dst_port"] == 443], "shop.example")
            self.assertIsNone(names[flow["src_port"] == 443])
            self.assertEqual(flow["server_name"], "www.example.org")

    def test_a_list_of_hosts_counts_before_what_dns_says(self):
        hosts = self.folder / "hosts"
        hosts.write_text(f"{SERVER} listed\n")
        packets = [self.answer(CLIENT, "seen.example", SERVER, "192.0.2.8")]
        packets += [tcp(1, ports=(1, 443)), tcp(1, ports=(2, 443), ends=(CLIENT, "192.0.2.8"))]
        self.assertEqual(self.resolved(*packets, options=("--hosts", hosts)), {1: "listed", 2: "seen.example"})

    def test_hosts_and_services_have_names(self):
        packets = [self.answer(CLIENT, "shop.example", SERVER), tcp(1, ports=(40000, 443)), udp(b"x", (2, 9999))]
        path = self.capture(packets)
        command = [PROGRAM, "watch", "-q", "-r", path, "--format", "csv", "--by"]
        rows = lambda *by: list(
            csv.DictReader(
                subprocess.run(
                    [*command, *by], capture_output=True, text=True, timeout=60, check=True
                ).stdout.splitlines()
            )
        )
        names = {row["host"]: row["name"] for row in rows("host", "--resolve")}
        self.assertEqual(names, {CLIENT: "", SERVER: "shop.example", self.RESOLVER: ""})
        names = {(row["protocol"], row["port"]): row["name"] for row in rows("service")}
        self.assertEqual(names, {("6", "443"): "https", ("17", "53"): "domain", ("17", "2"): ""})
        services = {flow["src_port"]: flow["service"] for flow in self.watch(path, columns="+service")}
        self.assertEqual(services, {53: "domain", 40000: "https", 2: None})

    def test_resolving_takes_one_worker_of_a_capture(self):
        path = self.capture([tcp(1)])
        self.assertIn("leave out --workers", self.watch(path, "--resolve", "--workers", "2", status=2))

    def groups(self, path, *options):
        command = [PROGRAM, "watch", "-q", "-r", path, "--by", "server_name", "--format", "csv", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return {row["server_name"]: row for row in csv.DictReader(done.stdout.splitlines())}

    def connections(self, count, name_of, gap=0.01):
        """A capture of connections one after the other, each with a hello and two packets back."""
        path = self.folder / "connections.pcap"
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for number in range(count):
                ports, name = name_of(number)
                packets = [tcp(1, client_hello(name), ports=ports)]
                packets += [tcp(1, bytes(1000), ports=ports[::-1], ends=(SERVER, CLIENT))] * 2
                for i, packet in enumerate(packets):
                    micros = round(number * gap * 1e6) + i
                    head = struct.pack("<IIII", 1 + micros // 10**6, micros % 10**6, len(packet), len(packet))
                    file.write(head + packet)
        return path

    def test_a_group_has_both_directions_of_many_more_connections_than_there_is_room_for(self):
        path = self.connections(20000, lambda number: ((1024 + number, 443), b"same.example"))
        for options in (("--idle", "1s", "--flows", "1k"), ("--idle", "1s"), ("--idle", "1s", "--workers", "2")):
            rows = self.groups(path, *options)
            self.assertEqual(list(rows), ["same.example"], options)
            row = rows["same.example"]
            self.assertEqual((row["in_packets"], row["out_packets"], row["flows"]), ("20000", "40000", "40000"))

    def test_a_connection_with_the_ports_of_an_earlier_one_has_its_own_name(self):
        path = self.connections(4, lambda number: ((40000, 443), b"host%d.example" % number), gap=20)
        for options in (("--idle", "5s"), ("--idle", "5s", "--flows", "64")):
            rows = self.groups(path, *options)
            self.assertEqual(set(rows), {f"host{number}.example" for number in range(4)})
            self.assertEqual({row["out_packets"] for row in rows.values()}, {"2"})

    def test_names_take_whole_flows_where_packets_come(self):
        path = self.capture([tcp(1, client_hello())])
        self.assertIn("leave out --key", self.watch(path, "--key", "src-dst", status=2))
        self.assertIn("leave out --threads", self.watch(path, "--threads", "pipeline", status=2))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=1)
