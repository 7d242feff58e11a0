# SPDX-License-Identifier: Apache-2.0
"""`parshall compare` against networks whose losses and delays are known.

usage: test_compare.py PARSHALL [unittest arguments]
"""

import csv
import io
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

import two_taps
from two_taps import Network

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent / "conformance"), str(FOLDER.parent / "live")]
from side_by_side import thorough
from test_traces import find_traces

PROGRAM = None
DELAYS = ("delay_min_ns", "delay_p50_ns", "delay_p90_ns", "delay_p99_ns", "delay_max_ns", "delay_mean_ns")


class Compared(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.up, self.down = os.path.join(folder.name, "up.pcap"), os.path.join(folder.name, "down.pcap")

    def run_it(self, *arguments, status=0):
        ran = subprocess.run(
            [PROGRAM, "compare", self.up, self.down, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(ran.returncode, status, ran.stderr)
        return ran

    def told(self, *arguments):
        return json.loads(self.run_it("--format", "json", *arguments).stdout)

    def check(self, network, *arguments, packets=4000, seed=1):
        """Compares totals and each flow; returns what was told."""
        sent = two_taps.send(network, packets, seed)
        two_taps.write_taps(network, sent, self.up, self.down)
        told = self.told(*arguments)
        for way, is_back in (("there", False), ("back", True)):
            self.same(told[way], [packet for packet in sent if packet.is_back == is_back], told["clocks"], way)
        flows = {}
        for packet in sent:
            flows.setdefault((packet.connection, packet.is_back), []).append(packet)
        self.assertEqual(len(told["flows"]), len(flows))
        for flow in told["flows"]:
            is_back = flow["way"] == "back"
            port = flow["dst_port"] if is_back else flow["src_port"]
            connection = port - 40000 if 40000 <= port < 41000 else (port - 20000) // 7
            self.same(flow, flows[connection, is_back], told["clocks"], flow)
        return told

    def same(self, told, packets, clocks, where):
        truth = two_taps.truth(packets)
        for name, value in truth.items():
            if name in DELAYS:
                # Drift is estimated; it moves a delay by up to a thousandth of the error of the offset.
                room = 1.01 * (clocks["error_ns"] or 0) + 2000 if clocks["clocks"] == "corrected" else 0.51
                self.assertAlmostEqual(told[name], value, delta=room, msg=f"{name} of {where}")
            else:
                self.assertEqual(told[name], value, f"{name} of {where}")


class Networks(Compared):
    def test_one_that_loses_nothing(self):
        told = self.check(Network())
        self.assertEqual(told["clocks"]["clocks"], "agree")
        self.assertEqual(told["there"]["packets_lost"] + told["back"]["packets_lost"], 0)

    def test_losses(self):
        for loss in (0.001, 0.01, 0.2):
            self.check(Network(loss=loss), seed=int(1000 * loss))

    def test_copies(self):
        self.check(Network(doubled=0.03))

    def test_packets_that_overtake(self):
        told = self.check(Network(late=0.05, jitter_ns=0))
        self.assertGreater(told["there"]["packets_reordered"], 20)

    def test_all_at_once(self):
        self.check(Network(loss=0.02, doubled=0.02, late=0.02, hops=3, vlan=42, dscp=46), seed=5)

    def test_switches_that_leave_the_ttl(self):
        self.check(Network(loss=0.01, hops=0), seed=6)

    def test_a_tunnel_at_one_side(self):
        self.check(Network(loss=0.01, gre=True), seed=7)

    def test_one_direction_alone(self):
        self.check(Network(loss=0.01, back=0, hops=0), seed=8)
        self.check(Network(loss=0.01, back=1), seed=9)

    def test_clocks_that_differ(self):
        for offset_ns in (-37_000_000, 600 * 10**9, -3 * 365 * 86400 * 10**9):
            for hops in (0, 1):
                told = self.check(Network(loss=0.01, offset_ns=offset_ns, hops=hops), seed=10)
                clocks = told["clocks"]
                self.assertEqual(clocks["clocks"], "corrected")
                self.assertLessEqual(abs(clocks["offset_ns"] - offset_ns), clocks["error_ns"] + 1000)
                self.assertLess(clocks["error_ns"], 2_300_000)

    def test_a_clock_that_drifts(self):
        told = self.check(Network(loss=0.01, offset_ns=-37_000_000, drift=20e-6), packets=20000, seed=11)
        self.assertAlmostEqual(told["clocks"]["drift_ppm"], 20, delta=1)

    def test_a_clock_that_differs_without_traffic_back(self):
        network = Network(back=0, offset_ns=-(10**9), drift=50e-6)
        sent = two_taps.send(network, 4000, 12)
        two_taps.write_taps(network, sent, self.up, self.down)
        told = self.told()
        self.assertEqual(told["clocks"]["clocks"], "one_way")
        self.assertEqual(told["there"]["delay_min_ns"], 0)
        self.assertAlmostEqual(told["there"]["delay_max_ns"], network.jitter_ns, delta=5000)

    def test_translated_addresses(self):
        told = self.check(Network(loss=0.02, doubled=0.01, nat=True), "--nat", seed=13)
        changed = [flow for flow in told["flows"] if flow["src_ip"].startswith("10.")]
        self.assertTrue(changed)
        self.assertEqual({flow["down_src_ip"] for flow in changed}, {"192.0.2.1"})


class Seeds(Compared):
    def test_the_result_does_not_depend_on_the_seed_of_the_ids(self):
        network = Network(loss=0.02, doubled=0.02, late=0.02, nat=True, hops=0, offset_ns=-(10**8), drift=20e-6)
        sent = two_taps.send(network, 3000, 40)
        for packet in sent[::7]:
            packet.number, packet.payload = packet.number % 5, b"again"
        two_taps.write_taps(network, sent, self.up, self.down)
        for options in (["--nat"], []):
            told = {self.run_it("--format", "json", *options).stdout for _ in range(6)}
            self.assertEqual(len(told), 1)


class Edges(Compared):
    def test_what_was_sent_while_the_other_did_not_watch_is_not_lost(self):
        network = Network(loss=0.05, back=0.4)
        sent = two_taps.send(network, 4000, 20)
        two_taps.write_taps(network, sent, self.up, self.down)
        whole = self.told()
        data = pathlib.Path(self.down).read_bytes()
        frames, at = [], 24
        while at < len(data):
            seconds, ns, length, _ = struct.unpack_from("<IIII", data, at)
            frames.append((seconds * 10**9 + ns, data[at + 16 : at + 16 + length]))
            at += 16 + length
        first, last = len(frames) // 4, len(frames) // 2
        two_taps.write_capture(self.down, frames[first:last])
        told = self.told()
        begin_ns, end_ns = frames[first][0], frames[last - 1][0]
        there = [packet for packet in sent if not packet.is_back]
        within = [p for p in there if begin_ns <= p.sent_ns + network.delay_ns and p.sent_ns <= end_ns]
        lost = sum(not packet.arrivals for packet in within)
        self.assertGreater(told["there"]["packets_outside_sent"], 1000)
        self.assertAlmostEqual(told["there"]["packets_lost"], lost, delta=6)  # at the very edges
        self.assertLess(told["there"]["packets_lost"], whole["there"]["packets_lost"])
        self.accounts(told)

    def test_alike_packets_are_counted_right(self):
        one = two_taps.Packet(1, 1, False, two_taps.BEGIN_NS, [], b"again")
        alike = [one.__class__(1, 1, False, two_taps.BEGIN_NS + i * 10**7, [], b"again") for i in range(50)]
        for i, packet in enumerate(alike):
            if i % 5:
                packet.arrivals = [packet.sent_ns + 1000]
        two_taps.write_taps(Network(), alike, self.up, self.down)
        told = self.told()
        self.assertEqual(told["there"]["packets_lost"], 10)
        self.assertEqual(told["there"]["packets_alike"], 50)
        self.assertEqual(told["there"]["delay_packets"], 0, "which of them was lost is not known")

    def test_a_flow_that_vanishes_is_lost(self):
        network = Network(back=0.4)
        sent = two_taps.send(network, 4000, 21)
        for packet in sent:
            if packet.connection == 2:
                packet.arrivals = []
        two_taps.write_taps(network, sent, self.up, self.down)
        told = self.told("--only", "lossy")
        self.assertEqual(len(told["flows"]), 2)
        for flow in told["flows"]:
            truth = [p for p in sent if p.connection == 2 and p.is_back == (flow["way"] == "back")]
            self.assertEqual(flow["packets_lost"], len(truth))

    def test_other_traffic_is_said_so(self):
        network = Network()
        two_taps.write_taps(network, two_taps.send(network, 100, 22), self.up, self.down)
        other = two_taps.send(network, 100, 23, connections=3)
        for packet in other:
            packet.connection += 500
        with tempfile.NamedTemporaryFile() as unused:
            two_taps.write_taps(network, other, unused.name, self.down)
        ran = self.run_it()
        self.assertIn("no packet was seen at both points", ran.stdout)
        self.assertIn("--nat", ran.stdout)

    def test_packets_that_change_are_not_lost(self):
        network = Network(back=0)
        sent = two_taps.send(network, 500, 24)
        two_taps.write_taps(network, sent, self.up, self.down)
        for packet in sent:  # a proxy: other sequence numbers and contents
            packet.number += 100_000
            packet.payload = b"other" + packet.payload
        with tempfile.NamedTemporaryFile() as unused:
            two_taps.write_taps(network, sent, unused.name, self.down)
        told = self.told()
        self.assertEqual(told["there"]["packets_lost"], 0)
        self.assertEqual(told["there"]["packets_unlike_sent"], 500)
        self.assertIn("gro off", self.run_it().stdout)
        self.accounts(told)

    def accounts(self, told):
        for passed in (told["there"], told["back"], *told["flows"]):
            self.assertEqual(
                passed["packets_sent"],
                passed["packets_delivered"]
                + passed["packets_lost"]
                + passed["packets_outside_sent"]
                + passed["packets_unlike_sent"],
            )
            self.assertEqual(
                passed["packets_received"],
                passed["packets_delivered"]
                + passed["packets_duplicated"]
                + passed["packets_extra"]
                + passed["packets_outside_received"]
                + passed["packets_unlike_received"],
            )
        for tap in (told["up"], told["down"]):
            self.assertEqual(
                tap["packets"],
                tap["compared"] + tap["filtered"] + tap["not_ip"] + tap["malformed"] + tap["later_fragments"],
            )

    def test_the_same_capture_has_no_loss_and_no_delay(self):
        network = Network()
        two_taps.write_taps(network, two_taps.send(network, 300, 25), self.up, self.down)
        pathlib.Path(self.down).write_bytes(pathlib.Path(self.up).read_bytes())
        told = self.told("--only", "lossy")
        self.assertEqual((told["there"]["packets_lost"], told["there"]["delay_max_ns"], told["flows"]), (0, 0, []))


MS = 10**6


class Odd(Compared):
    """Traffic and clocks that make it hard to tell directions, delays and losses."""

    def packet(self, number, connection, is_back, at_ns, *delays_ns, payload=b"some payload of this"):
        sent_ns = two_taps.BEGIN_NS + at_ns
        return two_taps.Packet(number, connection, is_back, sent_ns, [sent_ns + d for d in delays_ns], payload)

    def compare(self, packets, network=None, *arguments):
        two_taps.write_taps(network or Network(hops=0), packets, self.up, self.down)
        return self.told(*arguments)

    def ways(self, told, *names):
        return [tuple(told[way][f"packets_{name}"] for name in names) for way in ("there", "back")]

    def test_what_is_sent_again_unchanged_is_not_reordered(self):
        """IPv6 has no identification: the copy has the id of what was lost."""
        packets = [self.packet(i, 4, False, i * MS, *([] if i % 100 == 50 else [MS])) for i in range(1, 1000)]
        packets += [self.packet(i, 4, False, (i + 20) * MS + 9, MS) for i in range(1, 1000) if i % 100 == 50]
        packets.sort(key=lambda p: p.sent_ns)
        told = self.compare(packets, Network(hops=1))
        self.assertEqual(self.ways(told, "sent", "lost", "reordered"), [(1009, 10, 0), (0, 0, 0)])

    def test_a_queue_that_fills_is_no_drift(self):
        packets = [self.packet(i, 1, False, i * MS, MS + i * 50_000) for i in range(10_000)]
        told = self.compare(packets, Network(offset_ns=-(10**10)))
        self.assertEqual(told["clocks"]["clocks"], "one_way")
        self.assertEqual(told["there"]["delay_max_ns"], 9999 * 50_000)

    def test_few_packets_tell_of_no_drift(self):
        packets = [self.packet(i, 1, i % 2 == 1, i * 500 * MS, MS + i * 300_000) for i in range(6)]
        told = self.compare(packets, Network(offset_ns=10**9, hops=1))
        self.assertEqual((told["clocks"]["clocks"], told["clocks"]["drift_ppm"]), ("corrected", 0))
        self.assertLessEqual(abs(told["clocks"]["offset_ns"] - 10**9), told["clocks"]["error_ns"])

    def test_a_clock_that_was_set_is_told(self):
        packets = [self.packet(i, 1, i % 2 == 1, i * MS, 2 * MS) for i in range(2000)]
        two_taps.write_taps(Network(), packets, self.up, self.down)
        frames, _ = Captures.frames(pathlib.Path(self.down))
        half = two_taps.BEGIN_NS + 1000 * MS
        set_back = [(ns - 10**9 if ns > half else ns, data) for ns, _, data in frames]
        two_taps.write_capture(self.down, set_back)
        told = self.told()
        self.assertEqual(told["clocks"]["clocks"], "uneven")
        self.assertIn("a clock was set", told["warnings"][0])
        self.assertEqual(self.ways(told, "lost", "reordered"), [(0, 0), (0, 0)])

    def test_drift_turns_no_direction_round(self):
        for drift in (50e-6, -50e-6):
            packets = [
                self.packet(i, 1, False, i * 10 * MS, *([] if i % 200 == 99 else [100_000])) for i in range(3000)
            ]
            packets += [
                self.packet(3000 + i, 1, True, 30_000 * MS + i * 10 * MS, *([] if i % 200 == 99 else [100_000]))
                for i in range(3000)
            ]
            told = self.compare(packets, Network(hops=0, drift=drift))
            self.assertEqual(self.ways(told, "lost", "extra"), [(15, 0), (15, 0)])

    def test_a_flow_of_one_direction_is_judged_by_others_of_its_time(self):
        packets = [self.packet(i, 1, i % 2 == 1, i * MS, 100_000) for i in range(1000)]
        packets += [
            self.packet(1000 + i, 2, True, 60_000 * MS + i * MS, *([] if i % 10 == 5 else [100_000]))
            for i in range(100)
        ]
        packets += [self.packet(9000 + i, 3, i % 2 == 1, 60_000 * MS + i * MS + 50_000, 100_000) for i in range(100)]
        packets.sort(key=lambda p: p.sent_ns)
        told = self.compare(packets, Network(hops=0, drift=50e-6))
        self.assertEqual(self.ways(told, "lost", "extra"), [(0, 0), (10, 0)])

    def test_a_stream_each_way_on_one_host(self):
        packets = [
            self.packet(i, 1 + i % 2, i % 2 == 1, i * MS, *([] if i % 100 in (50, 51) else [MS])) for i in range(1000)
        ]
        told = self.compare(packets)
        self.assertEqual(self.ways(told, "lost", "extra"), [(10, 0), (10, 0)])
        self.assertEqual(told["clocks"]["clocks"], "agree")

    def test_a_capture_replayed_one_way_has_both_directions_of_connections(self):
        rng = random.Random(50)
        delays = [MS + rng.randrange(MS) for _ in range(3000)]
        packets = [self.packet(i, 1, False, i * MS, *([] if i % 100 == 50 else [delays[i]])) for i in range(3000)]
        two_taps.write_taps(Network(hops=0), packets, self.up, self.down)
        for path in (self.up, self.down):  # every other packet is of the other direction
            frames = []
            for ns, _, data in Captures.frames(pathlib.Path(path))[0]:
                number = int.from_bytes(data[18:20], "big")  # of IPv4: the identification
                turned = data[:26] + data[30:34] + data[26:30] + data[36:38] + data[34:36] + data[38:]
                frames.append((ns, turned if number % 2 else data))
            two_taps.write_capture(path, frames)
        told = self.told()
        self.assertEqual(len(told["flows"]), 2)
        self.assertEqual(self.ways(told, "lost", "extra"), [(30, 0), (0, 0)])
        self.assertEqual(told["there"]["delay_max_ns"], max(d for i, d in enumerate(delays) if i % 100 != 50))

    def test_alike_packets_have_a_direction_by_their_ttl(self):
        packets = [self.packet(1, 1, True, i * MS, *([] if i % 10 == 5 else [MS])) for i in range(100)]
        told = self.compare(packets, Network(hops=1))
        self.assertEqual(self.ways(told, "sent", "lost", "duplicated"), [(0, 0, 0), (100, 10, 0)])

    def test_a_device_that_sets_the_ttl(self):
        packets = [self.packet(i, 1, i % 2 == 1, i * MS, *([] if i % 100 in (50, 51) else [MS])) for i in range(1000)]
        told = self.compare(packets, Network(set_ttl=255))
        self.assertEqual(self.ways(told, "lost", "extra"), [(10, 0), (10, 0)])

    def test_what_is_in_a_queue_when_captures_end_is_not_lost(self):
        packets = [self.packet(i, 1, False, i * MS, MS + i * 50_000) for i in range(10_000)]
        two_taps.write_taps(Network(), packets, self.up, self.down)
        frames, _ = Captures.frames(pathlib.Path(self.down))
        end_ns = packets[-1].sent_ns
        two_taps.write_capture(self.down, [(ns, data) for ns, _, data in frames if ns <= end_ns])
        told = self.told()
        self.assertLess(told["there"]["packets_lost"], 10)
        self.assertGreater(told["there"]["packets_outside_sent"], 450)

    def test_joined_segments_are_suspected(self):
        packets = [self.packet(i, 1, i % 4 == 0, i * MS, MS) for i in range(1, 1000)]
        two_taps.write_taps(Network(), packets, self.up, self.down)
        for packet in packets:
            if not packet.is_back:
                packet.payload, packet.number = packet.payload * 4, packet.number + 7
        with tempfile.NamedTemporaryFile() as unused:
            two_taps.write_taps(Network(), packets, unused.name, self.down)
        self.assertIn("gro off", self.run_it().stdout)

    def test_time_zero_is_a_time(self):
        packets = [self.packet(i, 1, False, i * MS - two_taps.BEGIN_NS, MS) for i in range(10)]
        told = self.compare(packets)
        self.assertEqual(told["flows"][0]["first_ns"], 0)


class Outputs(Compared):
    def setUp(self):
        super().setUp()
        network = Network(loss=0.05)
        two_taps.write_taps(network, two_taps.send(network, 1000, 30), self.up, self.down)

    @staticmethod
    def in_csv(value):
        if value is None:
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    def test_csv_says_the_same_as_json(self):
        rows = list(csv.DictReader(io.StringIO(self.run_it("--format", "csv").stdout)))
        flows = self.told()["flows"]
        self.assertEqual(len(rows), len(flows))
        for row, flow in zip(rows, flows):
            self.assertEqual(row, {name: self.in_csv(value) for name, value in flow.items()})

    def test_text_shows_the_flows_with_the_most_losses(self):
        text = self.run_it("--top", "2").stdout
        flow = self.told()["flows"][0]
        self.assertIn("2 of ", text)
        self.assertRegex(text, rf"{flow['src_ip']}\]?:{flow['src_port']} -> .* {flow['packets_lost']} ")

    def test_bad_input(self):
        self.assertIn("cannot", self.run_it("--output", "/no/such/folder/x", status=1).stderr)
        for arguments, said in (
            ([self.up, self.up], "named twice"),
            (["-", "-"], "named twice"),
            ([self.up], "DOWN"),
            ([self.up, "/no/such/file"], "/no/such/file"),
            ([self.up, self.down, "-o", self.up], "is read from"),
            ([self.up, self.down, "--only", "some"], "lossy"),
        ):
            ran = subprocess.run([PROGRAM, "compare", *arguments], capture_output=True, text=True, check=False)
            self.assertIn(ran.returncode, (1, 2))
            self.assertIn(said, ran.stderr)

    def test_a_damaged_capture_counts_as_far_as_it_goes(self):
        data = pathlib.Path(self.down).read_bytes()
        pathlib.Path(self.down).write_bytes(data[: len(data) // 2])
        ran = self.run_it("--format", "json", status=3)
        told = json.loads(ran.stdout)
        self.assertGreater(told["there"]["packets_delivered"], 100)
        self.assertGreater(told["there"]["packets_outside_sent"], 100)
        self.assertIn(self.down, ran.stderr)


class Captures(Compared):
    """Real captures, and copies of them with known losses and copies of packets."""

    @staticmethod
    def frames(path):
        data = path.read_bytes()
        forms = {b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\x4d\x3c\xb2\xa1": ("<", 1), b"\xa1\xb2\xc3\xd4": (">", 1000)}
        if data[:4] not in forms or len(data) < 24:
            return None, None
        order, unit = forms[data[:4]]
        frames, at = [], 24
        while at + 16 <= len(data):
            seconds, part, captured, wire = struct.unpack_from(order + "IIII", data, at)
            if at + 16 + captured > len(data):
                return None, None
            frames.append((seconds * 10**9 + part * unit, wire, data[at + 16 : at + 16 + captured]))
            at += 16 + captured
        return frames, struct.unpack_from(order + "I", data, 20)[0]

    def write(self, path, frames, link_type):
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link_type))
            for time_ns, wire, data in frames:
                file.write(struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, len(data), wire) + data)

    def check_some(self, captures):
        rng, seen, all_lost = random.Random(1), 0, 0
        for path in captures:
            frames, link_type = self.frames(path)
            if not frames or len(frames) < 2:
                continue
            kept = [i for i in range(len(frames)) if rng.random() >= 0.05]
            self.write(self.up, frames, link_type)
            self.write(self.down, [(frames[i][0] + 10**6, *frames[i][1:]) for i in kept], link_type)
            told = self.told()
            ways = told["there"], told["back"]
            lost = sum(way["packets_lost"] + way["packets_outside_sent"] + way["packets_unlike_sent"] for way in ways)
            self.assertEqual(lost, told["up"]["compared"] - told["down"]["compared"], path.name)
            self.assertEqual(sum(way["packets_duplicated"] + way["packets_extra"] for way in ways), 0, path.name)
            for way in ways:
                if way["delay_packets"]:
                    self.assertEqual((way["delay_min_ns"], way["delay_max_ns"]), (10**6, 10**6), path.name)
            doubled = rng.choices(range(len(frames)), k=len(frames) // 20 + 1)
            self.write(self.down, sorted([*frames, *(frames[i] for i in doubled)], key=lambda f: f[0]), link_type)
            told = self.told()
            more = told["down"]["compared"] - told["up"]["compared"]
            ways = told["there"], told["back"]
            self.assertEqual(sum(way["packets_duplicated"] for way in ways), more, path.name)
            self.assertEqual(sum(way["packets_lost"] for way in ways), 0, path.name)
            seen, all_lost = seen + 1, all_lost + lost
        return seen, all_lost

    def captures(self):
        traces = find_traces()
        if traces is None:
            self.skipTest("SKIPPED: no traces")
        return sorted(path for path in (traces / "pcap").iterdir() if path.suffix != ".pcapng")

    def test_forty(self):
        seen, lost = self.check_some(self.captures()[::20])
        self.assertGreater(seen, 15)
        self.assertGreater(lost, 50)

    @thorough
    def test_all(self):
        seen, lost = self.check_some(self.captures())
        print(f"{seen} captures, {lost} packets lost")
        self.assertGreater(seen, 500)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
