# SPDX-License-Identifier: Apache-2.0
"""Tasks of who watches a network: floods, beacons, new hosts, outages, and what the preset office finds of what was
planted in traffic.

usage: test_watching.py PARSHALL [unittest arguments]
"""

import collections
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

import test_tasks

import traffic
from traffic import SECOND, TCP, UDP

sys.path.insert(0, os.path.join(test_tasks.TESTS, "conformance"))
from side_by_side import is_thorough, thorough
from test_traces import find_traces

BEGIN_NS = 1_600_000_000 * SECOND
SYN, ACK, RST = 2, 16, 4


def of_key(event):
    return tuple(sorted(event["key"].items()))


class Watching(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="parshall-watching-")
        self.capture = os.path.join(self.folder.name, "it.pcap")

    def tearDown(self):
        self.folder.cleanup()

    def find(self, packets, task, *arguments):
        """Returns the findings of the task by window's beginning, in seconds since BEGIN_NS."""
        traffic.write_capture(self.capture, packets)
        events, _ = test_tasks.run(self.capture, "--task", task, *arguments)
        found = collections.defaultdict(list)
        for event in events:
            if event["type"] == "finding":
                found[(event["window"].get("begin_ns", BEGIN_NS) - BEGIN_NS) / SECOND].append(event)
        return dict(found)


class Floods(Watching):
    @staticmethod
    def truth(packets, threshold):
        """Unanswered packets by window and destination, in a plain way."""
        windows = collections.defaultdict(list)
        for p in packets:
            windows[p.time_ns // SECOND - BEGIN_NS // SECOND].append(p)
        found = {}
        for second, inside in windows.items():
            flags, keys = collections.Counter(), set()
            for p in inside:
                key = (p.src, p.src_port, p.dst, p.dst_port, p.protocol)
                keys.add(key)
                flags[key] |= p.tcp_flags
            counts = collections.Counter()
            for p in inside:
                key = (p.src, p.src_port, p.dst, p.dst_port, p.protocol)
                if p.protocol == TCP:
                    counts[p.dst] += not flags[key] & ACK and flags[key] != RST
                else:
                    counts[p.dst] += (p.dst, p.dst_port, p.src, p.src_port, p.protocol) not in keys
            for dst, count in counts.items():
                if count > threshold:
                    found[second, dst] = count
        return found

    def test_unanswered_packets_are_counted_exactly(self):
        rng = random.Random(1)
        packets = list(traffic.background(rng, BEGIN_NS, 4, 2000))
        for i in range(3000):
            at_ns = BEGIN_NS + rng.randrange(4 * SECOND)
            packets.append(traffic.packet(at_ns, f"172.16.{i % 200}.{i % 7}", "10.0.0.1", TCP, i, 80, 0, SYN))
            packets.append(traffic.packet(at_ns + 9, "10.0.0.1", f"172.16.{i % 200}.{i % 7}", TCP, 80, i, 0, SYN | ACK))
            packets.append(traffic.packet(at_ns, "192.0.2.7", "10.0.0.2", UDP, 4000 + i % 50, 53, 900))
            packets.append(traffic.packet(at_ns, "192.0.2.8", "10.0.0.3", UDP, 4000 + i % 50, 53, 60))
            packets.append(traffic.packet(at_ns + 9, "10.0.0.3", "192.0.2.8", UDP, 53, 4000 + i % 50, 90))
        packets.sort(key=lambda p: p.time_ns)
        truth = self.truth(packets, 100)
        found = self.find(packets, "floods:threshold=100")
        said = {
            (second, event["key"]["dst_ip"]): event["values"]["unanswered_packets"]
            for second, events in found.items()
            for event in events
        }
        self.assertEqual(said, truth)
        self.assertTrue({"10.0.0.1", "10.0.0.2"} <= {dst for _, dst in said})
        self.assertNotIn("10.0.0.3", {dst for _, dst in said})
        self.assertTrue(all(event["exact"] for events in found.values() for event in events))

    def test_more_flows_than_keys_leave_what_is_missing_within_what_is_said(self):
        packets = []
        for i in range(6000):
            at_ns = BEGIN_NS + i * 100_000
            packets.append(traffic.packet(at_ns, f"172.{16 + i % 9}.{i // 250}.{i % 250}", "10.0.0.1", UDP, i, 53))
            packets.append(traffic.packet(at_ns + 9, "10.0.0.2", f"172.31.{i // 250}.{i % 250}", UDP, 53, i))
            packets.append(traffic.packet(at_ns + 50_000_000, f"172.31.{i // 250}.{i % 250}", "10.0.0.2", UDP, i, 53))
        packets.sort(key=lambda p: p.time_ns)
        truth = self.truth(packets, 500)
        self.assertEqual(set(truth), {(0, "10.0.0.1")})
        [events] = self.find(packets, "floods:threshold=500", "--task-keys", "1024").values()
        said = {event["key"]["dst_ip"]: event for event in events}
        values, error = said["10.0.0.1"]["values"], said["10.0.0.1"]["error"]
        self.assertLessEqual(
            values["unanswered_packets"] - error.get("packets_maybe_answered", 0), truth[0, "10.0.0.1"]
        )
        self.assertGreaterEqual(
            values["unanswered_packets"] + error.get("unanswered_packets_missing", 0), truth[0, "10.0.0.1"]
        )


class NewHosts(Watching):
    def test_each_is_new_once_after_the_learning(self):
        packets = []
        for second in range(60):
            for host in range(second // 2 + 1):  # another one every other second
                packets.append(traffic.packet(BEGIN_NS + second * SECOND + host, f"10.0.0.{host}", "192.0.2.1"))
                packets.append(traffic.packet(BEGIN_NS + second * SECOND + host, f"198.51.100.{host}", "10.0.0.9"))
        packets.sort(key=lambda p: p.time_ns)
        found = self.find(packets, "new-hosts:learn=20s")
        said = {second: [event["key"]["src_ip"] for event in events] for second, events in found.items()}
        self.assertEqual(said, {float(2 * host): [f"10.0.0.{host}"] for host in range(10, 30)})
        self.assertEqual({event["values"]["packets"] for events in found.values() for event in events}, {1})
        both = self.find(packets, "new-hosts:learn=20s,networks=all")
        self.assertEqual([len(events) for events in both.values()], [2] * 20)
        own = self.find(packets, "new-hosts:learn=0,networks=198.51.100.0/24+2001:db8::/32")
        self.assertEqual(sum(map(len, own.values())), 30)

    def test_a_new_host_raises_an_alarm_however_little_it_sends(self):
        packets = [traffic.packet(BEGIN_NS + second * SECOND, "10.0.0.1", "192.0.2.1") for second in range(60)]
        packets.append(traffic.packet(BEGIN_NS + 50 * SECOND + 9, "10.0.0.2", "192.0.2.1"))
        packets.sort(key=lambda p: p.time_ns)
        traffic.write_capture(self.capture, packets)
        _, report = test_tasks.run(self.capture, "--task", "new-hosts:learn=20s")
        self.assertEqual([alarm["key_text"] for alarm in report["alarms"]], ["10.0.0.2"])

    def test_a_first_packet_of_a_wrong_time_does_not_end_the_learning(self):
        packets = [traffic.packet(0, "10.0.0.99", "192.0.2.1")] + [
            traffic.packet(BEGIN_NS + i * SECOND, f"10.0.0.{i}", "192.0.2.1") for i in range(30)
        ]
        self.assertEqual(self.find(packets, "new-hosts"), {})

    def test_time_without_packets_teaches_nothing(self):
        packets = [traffic.packet(BEGIN_NS + i * SECOND, f"10.0.0.{i}", "192.0.2.1") for i in range(5)]
        packets += [traffic.packet(BEGIN_NS + (86400 + i) * SECOND, f"10.0.1.{i}", "192.0.2.1") for i in range(7)]
        found = self.find(packets, "new-hosts:learn=10s")
        said = [event["key"]["src_ip"] for events in found.values() for event in events]
        self.assertEqual(said, ["10.0.1.5", "10.0.1.6"])

    def test_who_stayed_away_for_long_is_new_again(self):
        at = [0, 1, 2, 30, 31, 80]
        packets = [traffic.packet(BEGIN_NS + second * SECOND, "10.0.0.1", "10.0.0.2") for second in at]
        found = self.find(packets, "new-hosts:learn=0,forget=25s")
        self.assertEqual(sorted(found), [0, 30, 80])

    def test_within_a_window_the_order_of_flows_does_not_matter(self):
        packets = [
            traffic.packet(BEGIN_NS + second * SECOND, "10.0.0.1", "10.0.0.2", UDP, port, port)
            for second in (0, 40)
            for port in range(1, 30)
        ]
        for threads, workers in test_tasks.ARRANGEMENTS:
            found = self.find(
                packets, "new-hosts:learn=0,forget=25s,window=1000p", "--threads", threads, "--workers", str(workers)
            )
            self.assertEqual([[event["values"]["packets"] for event in events] for events in found.values()], [[58]])

    def test_a_flood_of_hosts_forgets_the_longest_unseen_and_says_so(self):
        packets = [
            traffic.packet(BEGIN_NS + i * 1_000_000, f"10.1.{i // 250}.{i % 250}", "10.2.0.1") for i in range(5000)
        ]
        traffic.write_capture(self.capture, packets)
        events, _ = test_tasks.run(
            self.capture, "--task", "new-hosts:learn=0,most=100k", "--task-keys", "1024", "--flows", "16Ki"
        )
        new = [of_key(event) for event in events if event["type"] == "finding"]
        left_out = sum(event["values"].get("keys_left_out", 0) for event in events if event["type"] == "summary")
        self.assertEqual(len(new), 5000)
        self.assertGreaterEqual(left_out, 5000 - 1024)


class Outages(Watching):
    def test_a_talker_that_falls_silent_is_reported_until_it_comes_back(self):
        packets = []
        for second in range(60):
            packets += [traffic.packet(BEGIN_NS + second * SECOND + i, "10.0.0.1", "10.9.0.1") for i in range(3)]
            if not 20 <= second < 40:
                packets += [traffic.packet(BEGIN_NS + second * SECOND + i, "10.0.0.2", "10.9.0.1") for i in range(200)]
            if second < 8 or second == 30:  # not for long enough
                packets.append(traffic.packet(BEGIN_NS + second * SECOND, "10.0.0.3", "10.9.0.1"))
        packets.sort(key=lambda p: p.time_ns)
        found = self.find(packets, "outages:steady=10,silent=3")
        self.assertEqual(sorted(found), list(range(22, 40)))
        for second, [event] in found.items():
            self.assertEqual(event["key"], {"src_ip": "10.0.0.2"})
            self.assertEqual(event["values"]["silent_windows"], second - 19)
            self.assertEqual(event["values"]["packets_before"], 200)
        found = self.find(packets, "outages:steady=10,silent=3,forget=7")
        self.assertEqual(sorted(found), list(range(22, 27)))

    def test_if_nothing_at_all_came_the_talkers_are_reported_when_they_come_back(self):
        packets = [
            traffic.packet(BEGIN_NS + second * SECOND + i, f"10.0.0.{host}", "10.9.0.1")
            for second in [*range(20), *range(50, 60)]
            for host in (1, 2)
            for i in range(4)
        ]
        found = self.find(packets, "outages:steady=10,silent=3")
        self.assertEqual(sorted(found), [50])
        self.assertEqual([event["values"]["silent_windows"] for event in found[50]], [30, 30])

    def test_more_keys_than_room_keep_the_talkers(self):
        packets = []
        for second in range(40):
            if second < 30:
                packets += [traffic.packet(BEGIN_NS + second * SECOND + i, "10.0.0.2", "10.9.0.1") for i in range(50)]
            for i in range(2000):
                packets.append(
                    traffic.packet(
                        BEGIN_NS + second * SECOND + 1000 + i, f"172.16.{second}.{i % 250}", "10.9.0.1", UDP, i
                    )
                )
                packets.append(
                    traffic.packet(
                        BEGIN_NS + second * SECOND + 1000 + i, f"172.{17 + i % 8}.{second}.{i % 250}", "10.9.0.1"
                    )
                )
        packets.sort(key=lambda p: p.time_ns)
        found = self.find(packets, "outages:steady=10,silent=3", "--task-keys", "1024", "--flows", "64Ki")
        self.assertEqual(sorted(found), list(range(32, 40)))


class Beacons(Watching):
    def test_regular_contacts_are_found_as_long_as_they_go_on(self):
        rng = random.Random(2)
        packets, contacts = [], collections.defaultdict(list)
        for second, host in ((7, 1), (11, 2), (30, 3)):  # regular, 3 % off
            at = 0.0
            while at < 400:
                contacts[host].append(at)
                at += second * rng.uniform(0.97, 1.03)
        at = 0.0
        while at < 600:  # irregular
            contacts[4].append(at)
            at += rng.expovariate(1 / 12) + 5
        contacts[5] = [second * 0.5 for second in range(1200)]  # all the time
        missed = [20.0 * i for i in range(30) if i % 6 != 3]  # one of six missing
        contacts[6] = missed
        for host, times in contacts.items():
            for at in times:
                for i in range(3):
                    packets.append(
                        traffic.packet(
                            BEGIN_NS + int(at * SECOND) + i * 1_000_000,
                            f"10.0.0.{host}",
                            "192.0.2.1",
                            TCP,
                            2000 + int(at),
                            443,
                            50,
                            SYN | ACK,
                        )
                    )
        packets.sort(key=lambda p: p.time_ns)
        found = self.find(packets, "beacons")
        said = collections.defaultdict(dict)
        for second, events in found.items():
            for event in events:
                said[event["key"]["src_ip"]][second] = event["values"]
        self.assertEqual(set(said), {f"10.0.0.{host}" for host in (1, 2, 3, 6)})
        for host, interval in ((1, 7), (2, 11), (3, 30), (6, 20)):
            windows, times = said[f"10.0.0.{host}"], contacts[host]
            gaps = [b - a for a, b in zip(times, times[1:])]
            regular = []
            for n in range(9, len(times)):
                latest = gaps[max(0, n - 16) : n]
                middle = sorted(latest)[len(latest) // 2]
                if sum(abs(gap - middle) <= 0.1 * middle for gap in latest) >= 0.8 * len(latest):
                    regular.append(int(times[n]))
            self.assertEqual(sorted(windows), regular)
            self.assertGreater(len(regular), 3)
            last = windows[max(windows)]
            self.assertAlmostEqual(last["interval_s"], interval, delta=0.03 * interval)
            self.assertEqual(last["contacts"], sum(at <= max(windows) + 1 for at in times))

    def test_one_alarm_lasts_as_long_as_the_contacts(self):
        at = [600 * i for i in range(20)] + [600 * i for i in range(40, 60)]
        packets = [traffic.packet(BEGIN_NS + second * SECOND, "10.0.0.1", "192.0.2.1", UDP, 5000, 53) for second in at]
        packets += [
            traffic.packet(BEGIN_NS + second * SECOND, "10.0.0.2", "10.0.0.3", TCP, 9, 9) for second in range(36000)
        ]
        packets.sort(key=lambda p: p.time_ns)
        traffic.write_capture(self.capture, packets)
        file = os.path.join(self.folder.name, "alarms.jsonl")
        test_tasks.run(self.capture, "--task", "beacons:hold-off=10s", "--export", f"alarms:{file}")
        with open(file) as lines:
            alarms = [json.loads(line) for line in lines]
        self.assertEqual([alarm["alarm"] for alarm in alarms], ["began", "ended", "began", "open"])
        self.assertEqual(alarms[1]["end_ns"], BEGIN_NS + (600 * 19 + 1) * SECOND)

    def test_keep_alives_of_a_connection_are_no_contacts(self):
        packets = [traffic.packet(BEGIN_NS, "10.0.0.1", "192.0.2.1", TCP, 9, 443, 0, SYN)]
        for i in range(1, 40):
            packets.append(traffic.packet(BEGIN_NS + i * 10 * SECOND, "10.0.0.1", "192.0.2.1", TCP, 9, 443, 1, ACK))
        self.assertEqual(self.find(packets, "beacons"), {})

    def test_of_two_directions_the_first_counts_and_who_polls_many_is_none(self):
        packets = []
        for i in range(30):
            at_ns = BEGIN_NS + i * 10 * SECOND
            packets.append(traffic.packet(at_ns, "10.0.0.9", "192.0.2.9", UDP, 123, 123))
            packets.append(traffic.packet(at_ns + 20_000_000, "192.0.2.9", "10.0.0.9", UDP, 123, 123))
            for host in range(9):
                packets.append(traffic.packet(at_ns + 9, "10.0.0.8", f"192.0.2.{host + 20}", UDP, 40000, 9987))
        packets.sort(key=lambda p: p.time_ns)
        for arguments, sources in (("", {"10.0.0.9"}), (":destinations=9", {"10.0.0.9", "10.0.0.8"})):
            found = self.find(packets, "beacons" + arguments)
            self.assertEqual({event["key"]["src_ip"] for events in found.values() for event in events}, sources)

    def test_what_is_not_regular_enough_is_none(self):
        rng = random.Random(3)
        packets, at = [], 0.0
        for _ in range(40):
            packets.append(traffic.packet(BEGIN_NS + int(at * SECOND), "10.0.0.1", "192.0.2.1"))
            at += 10 * rng.uniform(0.5, 1.5)
        self.assertEqual(self.find(packets, "beacons"), {})
        self.assertNotEqual(self.find(packets, "beacons:jitter=0.6"), {})

    def test_more_pairs_than_room_keep_those_with_contacts(self):
        packets = []
        for i in range(30):
            packets.append(traffic.packet(BEGIN_NS + i * 8 * SECOND, "10.0.0.1", "192.0.2.1", TCP, 1, 443, 0, SYN))
            for other in range(400):
                packets.append(
                    traffic.packet(
                        BEGIN_NS + i * 8 * SECOND + other * 1000, f"10.1.{i}.{other % 250}", f"10.9.{other // 250}.1"
                    )
                )
        packets.sort(key=lambda p: p.time_ns)
        found = self.find(packets, "beacons", "--task-keys", "1024", "--flows", "64Ki")
        self.assertEqual({event["key"]["src_ip"] for events in found.values() for event in events}, {"10.0.0.1"})


class Planted(Watching):
    """Ten mixes: what the preset office says of them, and what was planted."""

    SECONDS = 130

    def mix(self, seed):
        """Returns (packets, planted): planted are pairs of task and address."""
        rng = random.Random(seed)
        packets = list(traffic.background(rng, BEGIN_NS, self.SECONDS, 60))
        planted = set()

        def put(at_s, *of):
            packets.append(traffic.packet(BEGIN_NS + int(at_s * SECOND), *of))

        for i in range(rng.randrange(1, 3)):
            src, at, hosts = f"10.66.0.{i}", rng.uniform(1, 60), rng.random() < 0.5
            for n in range(rng.randrange(150, 400)):
                put(
                    at + n * 0.002,
                    src,
                    f"10.7.0.{n % 250}" if hosts else "10.7.0.1",
                    TCP,
                    40000,
                    22 if hosts else n + 1,
                    0,
                    SYN,
                )
            planted |= {("scans", src), ("slow-scans", src)}
        src = "10.66.1.1"
        for n in range(250):
            put(1 + n * 0.4, src, "10.7.0.2", TCP, 40000, n + 1, 0, SYN)
        planted.add(("slow-scans", src))
        at = rng.uniform(1, 100)
        for n in range(rng.randrange(30_000, 40_000)):
            src = f"172.{16 + n % 16}.{rng.randrange(256)}.{rng.randrange(256)}"
            put(at + n * 0.00005, src, "10.8.0.1", TCP, rng.randrange(1024, 65536), 80, 0, SYN)
        planted.add(("floods", "10.8.0.1"))
        for i in range(2):
            at, interval = rng.uniform(0, 5), rng.uniform(6, 10)
            while at < self.SECONDS:
                put(at, f"10.5.0.{i}", "192.0.2.99", TCP, 50000 + int(at), 443, 80, SYN)
                at += interval * rng.uniform(0.95, 1.05)
            planted.add(("beacons", f"10.5.0.{i}"))
        at = 0
        while at < self.SECONDS:  # a person
            put(at, "10.5.0.9", "192.0.2.98", TCP, 50000 + int(at), 443, 80, SYN)
            at += 5 + rng.expovariate(1 / 4)
        return sorted(packets, key=lambda p: p.time_ns), planted

    def test_what_is_planted_is_found_and_hardly_anything_else(self):
        said = planted = right = 0
        for seed in range(10 if is_thorough() else 4):
            packets, truth = self.mix(seed)
            traffic.write_capture(self.capture, packets)
            file = os.path.join(self.folder.name, "alarms.jsonl")
            test_tasks.run(self.capture, "--preset", "office", "--export", f"alarms:{file}", "--flows", "256Ki")
            with open(file) as lines:
                alarms = [json.loads(line) for line in lines]
            found = {
                (alarm["task"], alarm["key"].get("src_ip") or alarm["key"]["dst_ip"])
                for alarm in alarms
                if alarm["task"] in ("scans", "slow-scans", "floods", "beacons")
            }
            said, planted, right = said + len(found), planted + len(truth), right + len(found & truth)
            self.assertLessEqual(truth, found, seed)
        print(f"recall {right / planted:.3f} of {planted}, precision {right / said:.3f} of {said}")
        self.assertGreater(right / said, 0.9)


class Captures(unittest.TestCase):
    """Each preset on all captures of the trace set, attacks among them."""

    MOST_ALARMS_PER_FLOW = 0.001

    @thorough
    def test_of_a_thousand_flows_fewer_than_one_raises_an_alarm(self):
        traces = find_traces()
        if traces is None:
            self.skipTest("SKIPPED: no traces")
        captures = sorted((traces / "pcap").iterdir())
        for preset in ("office", "server", "uplink", "lab"):
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                counts = list(pool.map(lambda capture, preset=preset: self.alarms_and_flows(capture, preset), captures))
            alarms, flows = map(sum, zip(*counts))
            print(f"{preset}: {alarms} alarms of {flows} flows in {len(captures)} captures")
            self.assertGreater(flows, 50_000)
            self.assertLess(alarms / flows, self.MOST_ALARMS_PER_FLOW, preset)

    @staticmethod
    def alarms_and_flows(capture, preset):
        ran = subprocess.run(
            [test_tasks.PROGRAM, "watch", "-q", "-r", capture, "--preset", preset, "--flows", "64Ki", "--task-keys"]
            + ["64Ki", "--top", "1", "--format", "json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,  # a damaged capture counts as far as it goes, an empty file not at all
        )
        if not ran.stdout:
            return 0, 0
        summary = json.loads(ran.stdout)["summary"]
        return summary["tasks"]["alarms"]["begun"], summary["live_flows"] + summary["ended_records"]


if __name__ == "__main__":
    test_tasks.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
