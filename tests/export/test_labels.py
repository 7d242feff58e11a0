# SPDX-License-Identifier: Apache-2.0
"""Connections that --label chooses have the application that nDPI finds in their first packets.

usage: test_labels.py PARSHALL [unittest arguments]
"""

import csv
import operator
import os
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import test_names
from test_names import CLIENT, SERVER, client_hello, dns, tcp, udp

PROGRAM = None
FIRST_SEEN = operator.itemgetter("first_seen_ns")
HTTP = b"GET / HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: x\r\n\r\n"


class Labels(test_names.Captures):
    def flows(self, packets, *options, status=0):
        return self.watch(self.capture(packets), "--label", *options, columns="+duration", status=status)

    def applications(self, packets, *options):
        return {flow["src_port"]: flow["application"] for flow in self.flows(packets, *options)}

    def connection(self, port, *payloads, server_port=443):
        """A TCP connection: its handshake, and these payloads of the client."""
        back = {"ports": (server_port, port), "ends": (SERVER, CLIENT)}
        packets = [tcp(0, flags=2, ports=(port, server_port)), tcp(0, flags=18, **back)]
        packets.append(tcp(1, flags=16, ports=(port, server_port)))
        at = 1
        for payload in payloads:
            packets.append(tcp(at, payload, ports=(port, server_port)))
            at += len(payload)
        return packets

    def test_both_directions_have_the_application_whatever_the_port(self):
        packets = self.connection(40000, HTTP, server_port=12345) + self.connection(40001, client_hello())
        packets += [udp(dns(), (40002, 53)), udp(dns(is_answer=True), (53, 40002), (SERVER, CLIENT))]
        packets += self.connection(40003, b"\x00" * 100, server_port=80)
        flows = {(flow["src_port"], flow["dst_port"]): flow for flow in self.flows(packets, "all")}
        for ends, application in {
            (40000, 12345): "HTTP",
            (12345, 40000): "HTTP",
            (40001, 443): "TLS",
            (443, 40001): "TLS",
            (40002, 53): "DNS",
            (53, 40002): "DNS",
            (40003, 80): None,  # the port alone is no label
        }.items():
            self.assertEqual(flows[ends]["application"], application, ends)
            self.assertEqual(flows[ends]["application_confidence"], application and "payload", ends)
        self.assertEqual(
            self.summary["labels"], {"connections": 4, "labelled": 3, "given_up": 0, "packets": 5, "dropped_packets": 0}
        )

    def test_acknowledgements_before_the_payload_do_not_count(self):
        packets = self.connection(40000)
        packets += [tcp(1, flags=16, ports=(40000, 443))] * 20 + [tcp(1, HTTP, ports=(40000, 443))]
        for options in ((), ("--biflow",), ("--resolve",)):
            flows = self.flows(packets, "all", *options)
            self.assertEqual({flow["application"] for flow in flows}, {"HTTP"}, options)

    def test_a_packet_that_is_longer_than_a_copy_has_its_application(self):
        packets = self.connection(40000, HTTP[:-2] + b"X-Long: " + b"x" * 3000 + b"\r\n\r\n")
        packets += [udp(dns() + bytes(2000), (40001, 53))]
        self.assertEqual(self.applications(packets, "all")[40000], "HTTP")
        self.assertEqual(self.applications(packets, "all")[40001], "DNS")

    def test_a_biflow_and_a_group_have_the_application(self):
        packets = self.connection(40000, HTTP) + self.connection(40001, client_hello())
        flows = self.watch(self.capture(packets), "--label", "all", "--biflow", columns="+duration")
        self.assertEqual({flow["src_port"]: flow["application"] for flow in flows}, {40000: "HTTP", 40001: "TLS"})
        command = [PROGRAM, "watch", "-q", "-r", self.capture(packets), "--by", "application", "--label", "all"]
        done = subprocess.run([*command, "--format", "csv"], capture_output=True, text=True, timeout=60, check=True)
        rows = {row["application"]: row for row in csv.DictReader(done.stdout.splitlines())}
        self.assertEqual({name: row["in_packets"] for name, row in rows.items()}, {"HTTP": "3", "TLS": "3"})
        self.assertEqual({name: row["out_packets"] for name, row in rows.items()}, {"HTTP": "1", "TLS": "1"})

    def test_a_share_of_connections_is_chosen_the_same_in_every_run(self):
        packets = [
            packet
            for port in range(20000, 22000)
            for packet in (udp(dns(), (port, 53)), udp(dns(is_answer=True), (53, port), (SERVER, CLIENT)))
        ]
        chosen = []
        for options in (("1/10",), ("1/10", "--seed", "5"), ("1/10", "--flows", "64"), ("1/10", "--idle", "1s")):
            labelled = [flow for flow in self.flows(packets, *options) if flow["application"]]
            chosen.append(sorted((flow["src_port"], flow["dst_port"]) for flow in labelled))
            self.assertEqual({(back, to) for to, back in chosen[-1]}, set(chosen[-1]), "both directions")
        self.assertTrue(150 < len(chosen[0]) / 2 < 250, len(chosen[0]))
        for others in chosen[1:]:
            self.assertEqual(others, chosen[0])

    def test_a_connection_with_the_ports_of_an_earlier_one_has_its_own_application(self):
        path = self.folder / "two.pcap"
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for second, payload in ((1, HTTP), (100, client_hello())):
                for packet in self.connection(40000, payload):
                    file.write(struct.pack("<IIII", second, 0, len(packet), len(packet)) + packet)
        flows = self.watch(path, "--label", "all", "--idle", "10s", columns="+duration")
        for port in (40000, 443):
            found = sorted((flow["first_seen_ns"], flow["application"]) for flow in flows if flow["src_port"] == port)
            self.assertEqual([name for _, name in found], ["HTTP", "TLS"])

    def test_labels_of_many_connections_that_reuse_ports_depend_on_nothing_else(self):
        path = self.folder / "reuse.pcap"
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for second, payload, seq in ((1, HTTP, 0), (60, client_hello(), 7)):
                for port in range(20000, 20300):
                    packets = self.connection(port, payload)
                    packets[0] = tcp(seq, flags=2, ports=(port, 443))
                    for packet in packets:
                        file.write(struct.pack("<IIII", second, port, len(packet), len(packet)) + packet)
        for options in ((), ("--seed", "3"), ("--flows", "64"), ("--flows", "1k", "--seed", "9")):
            flows = self.watch(path, "--label", "all", "--idle", "10s", *options, columns="+duration")
            found = {(flow["first_seen_ns"] // 10**9, flow["application"]) for flow in flows}
            self.assertEqual(found, {(1, "HTTP"), (60, "TLS")}, options)

    def learnt(self, *options, model="model.toml", with_dns=False):
        """The flows of 600 connections of two applications, 300 ms apart, with classes that were learnt meanwhile."""
        path = self.folder / "learn.pcap"
        if not path.exists():
            with open(path, "wb") as file:
                file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
                for number in range(600):
                    payload = HTTP + bytes(number % 5) if number % 2 else client_hello(key_share=100 + number % 7)
                    packets = self.connection(20000 + number, payload, b"x" * (50 if number % 2 else 300))
                    if with_dns:
                        packets.append(udp(dns(), (30000 + number, 53)))
                        packets.append(udp(dns(is_answer=True), (53, 30000 + number), (SERVER, CLIENT)))
                    for packet in packets:
                        time = (number * 300_000 // 10**6, number * 300_000 % 10**6)
                        file.write(struct.pack("<IIII", *time, len(packet), len(packet)) + packet)
        learn = ("--label", "all", "--learn", self.folder / model, "--idle", "5s")
        return self.watch(path, *learn, *options, columns="+duration")

    def test_classes_are_learnt_from_labels_and_used_at_once(self):
        flows = [flow for flow in self.learnt() if flow["src_port"] >= 20000]
        flows.sort(key=lambda flow: flow["first_seen_ns"])
        self.assertEqual({flow["class"] for flow in flows[:200]}, {"unknown"})
        self.assertEqual(
            {(flow["application"], flow["class"]) for flow in flows[400:]}, {("TLS", "TLS"), ("HTTP", "HTTP")}
        )
        learning = self.summary["learning"]
        self.assertEqual(learning["models"], 3)
        self.assertGreater(learning["learnt_flows"], 550)
        self.assertGreater(learning["agreed_flows"], 0.9 * learning["judged_flows"])
        self.assertLess(learning["agreement_low95"], learning["agreed_flows"] / learning["judged_flows"])
        text = (self.folder / "model.toml").read_text()
        self.assertEqual(len(list(self.folder.glob("*.part"))), 0)
        for options in (("--seed", "7"), ("--flows", "1k")):
            again = self.learnt(*options, model="again.toml")
            key = lambda flow: (flow["first_seen_ns"], flow["src_port"])
            same = [(flow["src_port"], flow["class"]) for flow in sorted(again, key=key) if flow["src_port"] >= 20000]
            self.assertEqual(same, [(flow["src_port"], flow["class"]) for flow in sorted(flows, key=key)])
            self.assertEqual((self.folder / "again.toml").read_text(), text)
            (self.folder / "again.toml").unlink()

    def test_flows_with_few_packets_have_the_class_that_their_port_was_learnt_to_have(self):
        for number, options in enumerate(((), ("--seed", "7"), ("--flows", "1k"))):
            flows = self.learnt(*options, model=f"model{number}.toml", with_dns=True)
            flows = sorted((flow for flow in flows if 53 in (flow["src_port"], flow["dst_port"])), key=FIRST_SEEN)
            self.assertEqual(len(flows), 1200)
            told = [(flow["class"], flow["class_basis"]) for flow in flows]
            self.assertEqual(set(told[:398]), {(None, None)})  # the first model is of 200 flows with four packets
            self.assertEqual(set(told[402:]), {("DNS", "port")}, options)

    def test_a_model_that_was_learnt_is_one_as_any_other_and_the_beginning_of_the_next(self):
        self.learnt()
        path, model = self.folder / "learn.pcap", self.folder / "model.toml"
        flows = self.watch(path, "--model", model, columns="+duration")
        self.assertEqual({flow["class"] for flow in flows if flow["src_port"] >= 20000}, {"TLS", "HTTP"})
        flows = [flow for flow in self.learnt() if flow["src_port"] >= 20000]
        self.assertEqual({flow["class"] for flow in flows}, {"TLS", "HTTP"})

    def test_learning_says_what_it_cannot_do(self):
        path, model = self.capture(self.connection(40000, HTTP)), self.folder / "model.toml"
        self.assertIn("say for how many connections", self.watch(path, "--learn", model, columns="+class", status=2))
        model.write_text("nonsense")
        self.assertIn("model.toml", self.watch(path, "--learn", model, "--label", "all", columns="+class", status=2))
        model.unlink()
        said = self.watch(path, "--learn", model, "--label", "all", "--model", model, columns="+class", status=2)
        self.assertIn("leave out --model", said)

    def test_what_cannot_be(self):
        packets = self.connection(40000, HTTP)
        for share in ("0", "1/0", "2/3", "some", "1/x"):
            self.assertIn("give a share of connections", self.flows(packets, share, status=2))
        self.assertIn("leave out --workers", self.flows(packets, "all", "--workers", "2", status=2))
        self.assertIn("leave out --threads", self.flows(packets, "all", "--threads", "pipeline", status=2))
        self.assertIn("leave out --key", self.flows(packets, "all", "--key", "src-dst", status=2))
        self.assertIn("--label", self.watch(self.capture(packets), columns="+application", status=2))


if __name__ == "__main__":
    PROGRAM = test_names.PROGRAM = sys.argv.pop(1)
    if (
        "nDPI"
        in subprocess.run(
            [PROGRAM, "watch", "-g", "flows=1", "--count", "1", "--label", "all"], capture_output=True, text=True
        ).stderr
    ):
        print("SKIPPED: this build is without nDPI")
        sys.exit(77)
    unittest.main(verbosity=1)
