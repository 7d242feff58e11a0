# SPDX-License-Identifier: Apache-2.0
"""The task scans: what is a scan, and what only looks like one.

usage: test_scans.py PARSHALL [unittest arguments]
"""

import collections
import os
import random
import sys
import tempfile
import unittest

import test_tasks

import traffic
from traffic import SECOND, TCP, UDP

SYN, RST, ACK, PSH = 2, 4, 16, 8
SCANNER, TARGET = "10.66.0.1", "192.0.2.9"
BEGIN_NS = 1_600_000_000 * SECOND


def tcp(at_ns, src, dst, port, flags, payload=0, src_port=40000):
    return traffic.packet(at_ns, src, dst, TCP, src_port, port, payload, flags)


def answer(packet, flags=0, payload=0):
    """Returns a packet in the other direction, a little later."""
    return traffic.packet(
        packet.time_ns + 1000, packet.dst, packet.src, packet.protocol, packet.dst_port, packet.src_port, payload, flags
    )


def scan(count, flags=SYN, begin_ns=BEGIN_NS, src=SCANNER, reply=None):
    """Probes of `count` ports of one host within a second, with answers if these have flags."""
    for i in range(count):
        probe = tcp(begin_ns + i * 1_000_000, src, TARGET, 1 + i, flags)
        yield probe
        if reply is not None:
            yield answer(probe, reply)


def attempts_by_source(packets):
    """Counts the targets of each source in each window of a second, independently of the program."""
    windows = collections.defaultdict(lambda: collections.defaultdict(int))
    for p in packets:
        key = (p.src, p.src_port, p.dst, p.dst_port, p.protocol)
        windows[p.time_ns // SECOND][key] |= p.tcp_flags
    found = {}
    for second, flows in windows.items():
        targets = collections.defaultdict(set)
        for (src, _src_port, dst, dst_port, protocol), flags in flows.items():
            if protocol == TCP:
                is_attempt = not flags & ACK and flags != RST
            else:
                answers = (flow for flow in flows if flow[:2] == (dst, dst_port) and flow[2] == src and flow[4] == UDP)
                is_attempt = next(answers, None) is None
            if is_attempt:
                targets[src].add((dst, dst_port, protocol))
        for src, tried in targets.items():
            if len(tried) > 64:
                found[second, src] = {
                    "attempts": len(tried),
                    "destinations": len({target[0] for target in tried}),
                    "ports": len({target[1:] for target in tried}),
                }
    return found


class Scans(unittest.TestCase):
    def say(self, packets, *arguments):
        """Returns {(second, source): values} of what the program finds, and the events."""
        with tempfile.TemporaryDirectory() as folder:
            capture = os.path.join(folder, "c.pcap")
            traffic.write_capture(capture, sorted(packets, key=lambda p: p.time_ns))
            events, _ = test_tasks.run(capture, "--tasks", "scans", *arguments)
        alarms = [event for event in events if event["type"] == "finding"]
        return {
            (event["window"]["begin_ns"] // SECOND, event["key"]["src_ip"]): event["values"] for event in alarms
        }, events

    def test_every_kind_of_scan_is_found(self):
        closed = RST | ACK
        for what, packets in {
            "SYN, filtered": scan(100),
            "SYN, closed": scan(100, reply=closed),
            "FIN": scan(100, 1, reply=closed),
            "NULL": scan(100, 0, reply=closed),
            "Xmas": scan(100, 1 | 8 | 32, reply=closed),
            "SYN, open": (
                p for probe in scan(100) for p in (probe, answer(probe, SYN | ACK), probe._replace(tcp_flags=RST))
            ),
            "UDP": (traffic.packet(BEGIN_NS + i, SCANNER, TARGET, UDP, 40000, 1 + i) for i in range(100)),
        }.items():
            with self.subTest(what):
                said, _ = self.say(list(packets))
                expected = {"attempts": 100, "destinations": 1, "ports": 100}
                self.assertEqual(said, {(BEGIN_NS // SECOND, SCANNER): expected})

    def test_hosts_are_counted_apart_from_ports(self):
        sweep = [tcp(BEGIN_NS + i, SCANNER, f"192.0.2.{i}", 22, SYN) for i in range(1, 101)]
        said, _ = self.say(sweep)
        self.assertEqual(said[BEGIN_NS // SECOND, SCANNER], {"attempts": 100, "destinations": 100, "ports": 1})

    def test_busy_hosts_are_no_scanners(self):
        queries = [traffic.packet(BEGIN_NS + i, SCANNER, f"198.51.100.{i}", UDP, 5353, 53) for i in range(200)]
        for what, packets in {
            "a client": (p for c in scan(200) for p in (c, answer(c, SYN | ACK), c._replace(tcp_flags=ACK | PSH))),
            "a server that resets": scan(200, RST, src=TARGET),
            "answers to a spoofed flood": scan(200, SYN | ACK, src=TARGET),
            "queries with answers": (p for query in queries for p in (query, answer(query))),
            "one port too few": scan(64),
        }.items():
            with self.subTest(what):
                self.assertEqual(self.say(list(packets))[0], {})

    def test_slow_scans_are_found_in_longer_windows(self):
        slow = [tcp(BEGIN_NS + i * 400_000_000, SCANNER, TARGET, 1 + i, SYN) for i in range(300)]
        self.assertEqual(self.say(slow)[0], {})
        said, _ = self.say(slow, "--window", "1m")
        self.assertEqual([values["attempts"] for values in said.values()], [150, 100])  # the first one has 50

    def test_any_mix_is_counted_as_by_the_oracle(self):
        rng = random.Random(5)
        packets = list(traffic.background(rng, BEGIN_NS, 3, 2000))
        for second in range(3):
            begin_ns = BEGIN_NS + second * SECOND + 100
            packets += scan(rng.randrange(60, 300), begin_ns=begin_ns)
            for host in range(3):
                src = f"10.77.0.{host}"
                for _ in range(rng.randrange(50, 120)):
                    port, is_udp = rng.randrange(1, 400), rng.random() < 0.5
                    dst = f"192.0.2.{rng.randrange(1, 20)}"
                    at_ns = begin_ns + rng.randrange(SECOND // 2)
                    if is_udp:
                        probe = traffic.packet(at_ns, src, dst, UDP, 5000, port)
                    else:
                        probe = tcp(at_ns, src, dst, port, SYN)
                    packets.append(probe)
                    if rng.random() < 0.3:
                        packets.append(answer(probe, 0 if is_udp else RST | ACK))
        expected = attempts_by_source(packets)
        self.assertGreater(len(expected), 6)
        for arguments in ((), ("--workers", "3"), ("--threads", "pipeline", "--workers", "2")):
            self.assertEqual(self.say(packets, *arguments)[0], expected, arguments)

    def test_a_flood_of_sources_does_not_hide_a_scan(self):
        """Four times --task-keys targets find room: 4,096."""
        flood = [
            tcp(BEGIN_NS + 1000 * i, f"172.16.{i >> 8}.{i & 255}", TARGET, 80, SYN, src_port=1000 + i % 50000)
            for i in range(20_000)
        ]
        said, events = self.say(
            flood + list(scan(500)), "--task-keys", "1024", "--flood-filter", "0", "--flows", "64Ki"
        )
        self.assertEqual([source for _, source in said], [SCANNER])
        [event] = [event for event in events if event["type"] == "finding"]
        self.assertLessEqual(event["values"]["attempts"], 500)
        self.assertGreaterEqual(event["values"]["attempts"] + event["error"]["attempts_missing"], 500)
        self.assertIn("keys_left_out", [name for event in events for name in event["values"]])

    def test_a_scan_that_fills_the_table_is_reported_and_hides_no_other(self):
        large = [
            tcp(BEGIN_NS + 1000 * i, "10.66.0.2", f"192.0.{i >> 8}.{i & 255}", 1 + i % 3, SYN) for i in range(20_000)
        ]
        said, events = self.say(
            large + list(scan(100, begin_ns=BEGIN_NS + 400_000_000)),
            "--task-keys",
            "1024",
            "--flows",
            "64Ki",
        )
        self.assertEqual({source for _, source in said}, {SCANNER, "10.66.0.2"})
        self.assertEqual(said[BEGIN_NS // SECOND, SCANNER]["attempts"], 100)
        [event] = [event for event in events if event["key"].get("src_ip") == "10.66.0.2"]
        self.assertEqual(event["error"], {"attempts_at_least": event["values"]["attempts"]})
        self.assertLess(event["values"]["attempts"], 20_000)

    def test_scans_that_fill_the_table_together_are_all_reported(self):
        scanners = [f"10.66.0.{i}" for i in range(1, 5)]
        packets = [
            tcp(BEGIN_NS + 1000 * i, src, f"192.0.{i >> 8}.{i & 255}", 80, SYN) for i in range(3000) for src in scanners
        ]
        said, _ = self.say(packets, "--task-keys", "1024", "--flows", "64Ki")
        self.assertEqual({source for _, source in said}, set(scanners))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    test_tasks.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
