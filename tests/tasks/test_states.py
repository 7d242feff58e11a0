# SPDX-License-Identifier: Apache-2.0
"""Monitoring states (--states) against an oracle that evaluates every rule for every flow and window.

usage: test_states.py PARSHALL [unittest arguments]
"""

import collections
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

import state_oracle as states
import tcp_simulator
import test_tasks
from state_oracle import Clock, Rule
from tcp_simulator import Truth

import traffic

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [TESTS, os.path.join(TESTS, "live")]
from rivals import program_for
from side_by_side import is_thorough

SECOND, MS = traffic.SECOND, 10**6
TCP, UDP = traffic.TCP, traffic.UDP
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/states")
TENTH, MANY = ("100ms", Clock(SECOND // 10)), ("1000p", Clock(1000, by_time=False))
BEGIN_NS = traffic.BEGIN_NS // SECOND * SECOND

FILTERS = [
    ("tcp", lambda flow: flow[2] == TCP),
    ("udp port 53", lambda flow: flow[2] == UDP and 53 in flow[3:]),
    ("dst port 443", lambda flow: flow[4] == 443),
    ("ip6", lambda flow: ":" in flow[0]),
    ("not ip", lambda flow: ":" in flow[0]),
    ("src net 10.1.0.0/16", lambda flow: states.inside(flow[0], "10.1.0.0/16")),
    (
        "tcp and (port 80 or portrange 8000-9000)",
        lambda flow: flow[2] == TCP and any(p == 80 or 8000 <= p <= 9000 for p in flow[3:]),
    ),
    (
        "host 10.6.0.1 or net 2001:db8:3::/48",
        lambda flow: any(a == "10.6.0.1" or states.inside(a, "2001:db8:3::/48") for a in flow[:2]),
    ),
    ("ip proto 17 or ip6 proto 17", lambda flow: flow[2] == UDP),
]
PREFIXES = [
    "10.1.0.0/16",
    "10.6.2.0/23",
    "10.2.3.4/8",
    "0.0.0.0/0",
    "::/0",
    "2001:db8:2::/48",
    "2001:db8:5::/47",
    "10.7.1.128/25",
    "10.5.0.77",
    "2001:db8:8::100/121",
]
PORTS = [53, 80, 443, 8080, 0]


class StatesTest(test_tasks.TaskTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="parshall-states-")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name, content):
        path = os.path.join(self.folder.name, name)
        if isinstance(content, str):
            with open(path, "w") as file:
                file.write(content)
        else:
            traffic.write_capture(path, content)
        return path

    def say(self, plan, packets, *arguments, path=None):
        """(events as the oracle gives them, packets by state)"""
        capture = path or self.path("it.pcap", packets)
        events, report = test_tasks.run(capture, "--states", self.path("it.toml", plan.toml()), *arguments)
        said = collections.defaultdict(list)
        for event in events:
            self.assertTrue(event["exact"] or "--flows" in arguments)
            begin = event["window"].get("begin_ns", event["window"].get("begin_packet"))
            said[event["task"], begin].append((tuple(sorted((event["key"] or {}).items())), event["values"]))
        return said, self.packets_of(report)

    @staticmethod
    def packets_of(report):
        """By state; none of a program that does not say so yet."""
        states_said = report["summary"]["tasks"].get("states")
        return states_said and {name: state["packets"] for name, state in states_said.items()}

    def assert_events(self, said, truth):
        """Several events of a key are several parts of a flow: in any order."""
        self.assertEqual(sorted(said), sorted(truth))
        for which, events in truth.items():

            def numbered(events):
                turn = collections.Counter()
                for key, values in sorted(events, key=lambda event: (event[0], sorted(event[1].items()))):
                    turn[key] += 1
                    yield (key, turn[key]), values

            self.assert_alike(dict(numbered(said[which])), dict(numbered(events)), f"{which}")

    def check(self, plan, packets, *arguments, path=None):
        truth, by_state = plan.run(packets)
        said, packets_said = self.say(plan, packets, *arguments, path=path)
        self.assert_events(said, truth)
        if packets_said is not None:
            self.assertEqual(packets_said, {name: by_state[name] for name in plan.states})
        return truth, by_state


def busy(seed, seconds=1.5, per_second=4000):
    """Flows both ways, IPv4 and IPv6, with heavy ones that come and go, and late packets."""
    rng = random.Random(seed)
    packets = list(traffic.background(rng, BEGIN_NS, seconds, per_second, flows=120))
    packets = [
        p._replace(src=p.dst, dst=p.src, src_port=p.dst_port, dst_port=p.src_port) if rng.random() < 0.3 else p
        for p in packets
    ]
    for n in range(int(seconds * 10)):
        if n % 8 < 5:
            packets += traffic.spread(
                BEGIN_NS + n * SECOND // 10,
                0.09,
                (traffic.packet(0, "10.1.9.9", f"10.6.0.{i % 3 + 1}", TCP, 5000, 443, 1400) for i in range(150)),
            )
    packets.sort(key=lambda p: p.time_ns)
    return tuple(
        p._replace(time_ns=max(BEGIN_NS, p.time_ns - rng.choice([1000, 10 * MS, 300 * MS])))
        if rng.random() < 0.02
        else p
        for p in packets
    )


def per_state(count, window=TENTH):
    """A state for each, with a condition of its own that all of its flows fulfil."""
    return {f"s{i}": [states.everything(f"in{i}", *window)] for i in range(count)}


class Rules(StatesTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.packets = busy(1)
        cls.capture = os.path.join(cls.folder.name, "busy.pcap")
        traffic.write_capture(cls.capture, cls.packets)

    def check_rules(self, *rules, count=2):
        _, by_state = self.check(states.States("s0", per_state(count), rules), self.packets, path=self.capture)
        self.assertEqual(sum(by_state.values()), len(self.packets))
        return by_state

    def test_by_filter(self):
        for condition in FILTERS:
            with self.subTest(filter=condition[0]):
                by_state = self.check_rules(Rule("s1", filter=condition))
                self.assertGreater(min(by_state["s0"], by_state["s1"]), 50, "hardly anything is tested")

    def test_by_prefix_of_either_address(self):
        reached = collections.Counter()
        for prefix in PREFIXES:
            with self.subTest(prefix=prefix):
                reached[
                    "s0" if self.check_rules(Rule("s1", prefix=prefix))["s1"] < len(self.packets) / 2 else "s1"
                ] += 1
        self.assertGreater(min(reached.values()), 1)

    def test_a_prefix_sets_neither_a_family_nor_bits_behind_it(self):
        """Whole bytes, parts of them, none and all; every border of a byte."""
        near = {4: "10.1.255.254", 6: "2001:db8:1:ffff:8000::1"}
        packets = [
            traffic.packet(0, "10.1.0.1", "10.2.0.1"),
            traffic.packet(0, "10.1.255.255", "192.0.2.1"),
            traffic.packet(0, near[4], "0.0.0.0"),
            traffic.packet(0, "2001:db8:1::1", "2001:db8:2::1"),
            traffic.packet(0, near[6], "fe80::1"),
            traffic.packet(0, "::", "::1"),
        ]
        packets = traffic.spread(BEGIN_NS, 0.05, packets * 3)
        for bits in (0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 63, 64, 65, 127, 128):
            for family, whole in ((4, 32), (6, 128)):
                if bits <= whole:
                    self.check(
                        states.States("s0", per_state(2), [Rule("s1", prefix=f"{near[family]}/{bits}")]), packets
                    )

    def test_by_port_of_either_end(self):
        for port in PORTS:
            with self.subTest(port=port):
                self.check_rules(Rule("s1", port=port))

    def test_all_that_a_rule_asks_for_must_hold(self):
        by_state = self.check_rules(Rule("s1", filter=FILTERS[0], prefix="10.1.0.0/16", port=443))
        self.assertGreater(by_state["s1"], 50)
        self.assertEqual(self.check_rules(Rule("s1", filter=FILTERS[0], prefix="::/0", port=22))["s1"], 0)

    def test_a_rule_that_asks_for_nothing_holds_for_all(self):
        self.assertEqual(self.check_rules(Rule("s1"))["s0"], 0)

    def test_the_last_rule_decides(self):
        rules = [Rule("s1", filter=FILTERS[0]), Rule("s2", port=443), Rule("s3", prefix="10.6.0.0/16")]
        outcomes = [self.check_rules(*order, count=4) for order in itertools.permutations(rules)]
        self.assertGreater(len({tuple(sorted(by_state.items())) for by_state in outcomes}), 2, "the order matters here")
        self.assertEqual(self.check_rules(Rule("s1"), Rule("s0"))["s1"], 0)

    def test_from_takes_flows_as_the_rules_before_left_them(self):
        tcp = Rule("s1", filter=FILTERS[0])
        for origin in (["s0"], ["s1"], ["s0", "s1"], ["s2"]):
            with self.subTest(origin=origin):
                self.check_rules(
                    tcp, Rule("s2", origin=origin, prefix="10.6.0.0/16"), Rule("s0", origin=["s2"], port=80), count=3
                )

    def test_64_states_and_32_rules(self):
        rules = [
            Rule(f"s{2 * i + 1}", origin=None if i == 0 else [f"s{2 * i - 1}"], filter=FILTERS[i % len(FILTERS)])
            for i in range(32)
        ]
        self.check_rules(*rules[:31], Rule("s63", port=53), count=64)

    def test_tcp_flows_of_a_state_are_followed_as_if_there_were_no_others(self):
        for turn, (model, workers) in enumerate(test_tasks.ARRANGEMENTS):
            packets = tcp_simulator.connections(turn)
            spec = (
                test_tasks.FlowHistories.COUNTS
                + " and tcp_fast_retransmissions >= 0 and tcp_spurious_retransmissions >= 0"
            )
            seen = states.condition("seen", *TENTH, spec, None)
            for prefix in ("10.1.0.0/16", "10.2.0.0/15"):
                plan = states.States(
                    "s0", {"s0": [states.everything("rest", *TENTH)], "s1": [seen]}, [Rule("s1", prefix=prefix)]
                )
                said, _ = self.say(plan, packets, "--threads", model, "--workers", str(workers))
                events, _ = test_tasks.run(
                    os.path.join(self.folder.name, "it.pcap"), "--task", seen.spec, "--filter", f"net {prefix}"
                )
                alone = test_tasks.found(events, "seen")
                self.assertGreater(sum(map(len, alone.values())), 100)
                self.assertEqual(
                    {begin: dict(events) for (task, begin), events in said.items() if task == "seen"}, dict(alone)
                )

    def test_one_state_is_the_same_as_none(self):
        plan = states.States("s0", per_state(1), [Rule("s0", port=80)])
        said, _ = self.say(plan, self.packets, path=self.capture)
        events, _ = test_tasks.run(self.capture, "--task", plan.tasks[0].spec)
        self.assertEqual(sum(map(len, said.values())), len(events))
        self.check_rules(Rule("s0", port=80), count=1)


class Outcomes(StatesTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.packets = busy(2)
        cls.capture = os.path.join(cls.folder.name, "busy.pcap")
        traffic.write_capture(cls.capture, cls.packets)

    def plan(self, window=TENTH, other=TENTH):
        """Heavy sources are watched for many destinations; where they have some, their flows for size; and TCP's
        apart."""
        heavy = states.heavy_hitters("heavy", *window, least=20000)
        spread = states.superspreaders("spread", *other, threshold=2)
        size = states.condition("large", *window, "packets >= 3", lambda part: part.packets >= 3)
        all_of = [states.everything(f"in{i}", *window) for i in range(4)]
        count = states.count("count", *other)
        return states.States(
            "s0",
            {
                "s0": [heavy, all_of[0]],
                "s1": [heavy, spread, all_of[1]],
                "s2": [heavy, spread, size, all_of[2], count],
                "s3": [all_of[3], count],
            },
            [
                Rule("s1", origin=["s0"], reported_by="heavy"),
                Rule("s2", origin=["s1"], reported_by="spread"),
                Rule("s3", origin=["s0"], filter=FILTERS[7]),
            ],
        )

    def test_what_was_reported_holds_two_windows_later_and_for_both_directions(self):
        truth, by_state = self.check(self.plan(), self.packets, path=self.capture)
        self.assertGreater(min(by_state.values()), 200)
        self.assertGreater(sum(task == "large" for task, _ in truth), 1)

    def test_two_window_lengths_at_once(self):
        lengths = [
            TENTH,
            MANY,
            ("30ms", Clock(30 * MS)),
            ("250ms", Clock(250 * MS)),
            ("5000p", Clock(5000, by_time=False)),
        ]
        pairs = list(itertools.permutations(lengths, 2))
        if not is_thorough():  # each length is the first of two pairs, and the second of two
            pairs = [(a, b) for a, b in pairs if (lengths.index(b) - lengths.index(a)) % len(lengths) in (1, 2)]
        for window, other in pairs:
            with self.subTest(window=window, other=other):
                plan = self.plan(window, other)
                self.check(plan, self.packets, path=self.capture)

    def test_a_flow_whose_state_changes_within_a_window_is_judged_in_parts_and_counted_once(self):
        """States change every 100 ms, windows of the tasks are of a second."""
        plan = self.plan(("1s", Clock(SECOND)), TENTH)
        fast = states.heavy_hitters("fast", *TENTH, key="src-dst", by="packets", least=20)
        for tasks in plan.states.values():
            tasks.append(fast)
        rules = [Rule("s2", origin=["s0"], reported_by="fast"), Rule("s3", origin=["s0"], port=53)]
        plan = states.States("s0", plan.states, rules)
        truth, _ = self.check(plan, self.packets, path=self.capture)
        twice = sum(
            len(events) - len({key for key, _ in events})
            for (task, _), events in truth.items()
            if task.startswith("in")
        )
        self.assertGreater(twice, 3, "flows in several parts")
        flows = [values["flows"] for (task, _), events in truth.items() if task == "count" for _, values in events]
        self.assertGreater(max(flows), 0)

    def test_a_summary_of_all_traffic_decides_nothing(self):
        lossy = states.everything("lossy", *TENTH)
        lossy.spec = "lost-segments:name=lossy,least=1000000,window=100ms"
        plan = states.States(
            "s0",
            {"s0": [states.everything("in0", *TENTH), lossy], "s1": [states.everything("in1", *TENTH)]},
            [Rule("s1", reported_by="lossy")],
        )
        said, _ = self.say(plan, self.packets, path=self.capture)
        self.assertEqual({task for task, _ in said}, {"in0", "lossy"})

    def test_a_silence_of_any_length_forgets_what_was_reported(self):
        """Windows without a packet report nothing, and what was reported before them is over."""
        for silent in range(6):
            heavy = [traffic.packet(0, "10.1.0.1", "10.2.0.1", payload=1400)] * 30
            parts = [
                traffic.spread(BEGIN_NS + n * SECOND // 10, 0.09, heavy)
                for n in (*range(4), *range(4 + silent, 8 + silent))
            ]
            plan = self.plan()
            truth, by_state = self.check(plan, tuple(itertools.chain.from_iterable(parts)))
            states_of = {begin: task for task, begin in truth if task.startswith("in")}
            numbers = [
                (begin - BEGIN_NS) // (SECOND // 10) for begin, task in sorted(states_of.items()) if task == "in1"
            ]
            busy_windows = {*range(4), *range(4 + silent, 8 + silent)}
            self.assertEqual(numbers, [n for n in sorted(busy_windows) if n - 2 in busy_windows])

    def test_states_end_when_nothing_is_reported_any_more(self):
        """Heavy for five windows, then light: watched from the third to the seventh, the opposite direction too."""
        light, heavy = (
            [traffic.packet(0, "10.1.0.1", "10.2.0.1", payload=100)],
            [traffic.packet(0, "10.1.0.1", "10.2.0.1", payload=1400)] * 30,
        )
        back, other = (
            traffic.packet(0, "10.2.0.1", "10.1.0.1", src_port=53, dst_port=1000),
            traffic.packet(0, "10.3.0.1", "10.2.0.1"),
        )
        packets = []
        for n in range(12):
            packets += traffic.spread(
                BEGIN_NS + n * SECOND // 10, 0.09, [*(heavy if 1 <= n < 6 else light), back, other]
            )
        truth, _ = self.check(self.plan(), packets)
        inside = sorted(
            ((begin - BEGIN_NS) // (SECOND // 10), dict(key)["src_ip"])
            for (task, begin), events in truth.items()
            if task == "in1"
            for key, _ in events
        )
        self.assertEqual(inside, sorted(itertools.product(range(3, 8), ["10.1.0.1", "10.2.0.1"])))

    def test_a_task_given_beside_the_file_sees_all_flows_and_may_decide(self):
        always = states.heavy_hitters("beside", *TENTH, key="dst", least=15000)
        plan = states.States("s0", per_state(2), [Rule("s1", reported_by="beside")], always=[always])
        _, by_state = self.check(plan, self.packets, "--task", always.spec, path=self.capture)
        self.assertGreater(min(by_state.values()), 300)

    def test_tasks_go_by_names_not_kinds(self):
        least, most = (
            states.heavy_hitters("least", *TENTH, least=5000),
            states.heavy_hitters("most", *TENTH, least=50000),
        )
        plan = states.States(
            "s0",
            {f"s{i}": [least, most, states.everything(f"in{i}", *TENTH)] for i in range(3)},
            [Rule("s1", reported_by="least"), Rule("s2", reported_by="most")],
        )
        _, by_state = self.check(plan, self.packets, path=self.capture)
        self.assertGreater(min(by_state.values()), 300)

    def test_prefixes_and_single_ports_are_keys_too(self):
        for key in ("src/16", "dst/24/48", "dst-port", "src-port", "protocol", "src-dst", "5tuple"):
            with self.subTest(key=key):
                heavy = states.heavy_hitters("heavy", *TENTH, key=key, by="packets", least=60)
                plan = states.States(
                    "s0",
                    {f"s{i}": [heavy, states.everything(f"in{i}", *TENTH)] for i in range(2)},
                    [Rule("s1", reported_by="heavy")],
                )
                self.check(plan, self.packets, path=self.capture)

    def test_times_between_packets_are_of_a_stay_in_a_state(self):
        """A flow that leaves the states that ask for gaps and comes back begins anew."""
        burst = states.bursty("bursty:within=1ms,share=0.1,packets=2,window=100ms,most=100000", TENTH[1], 0.1, 2)
        heavy = states.heavy_hitters("heavy", *TENTH, key="5tuple", by="packets", least=8)
        plan = states.States("s0", {"s0": [heavy], "s1": [burst]}, [Rule("s1", reported_by="heavy")])
        packets = traffic.bursts(4)
        truth, _ = self.check(plan, packets)
        self.assertGreater(sum(task == "bursty" for task, _ in truth), 3)

    def test_workers_that_no_packet_comes_to_hold_up_no_others(self):
        heavy = [traffic.packet(0, "10.1.0.1", "10.2.0.1", payload=1400)] * 30
        packets = tuple(
            itertools.chain.from_iterable(traffic.spread(BEGIN_NS + n * SECOND // 10, 0.09, heavy) for n in range(40))
        )
        for model, workers in itertools.product(("run-to-completion", "pipeline", "cooperative"), (2, 5)):
            self.check(self.plan(MANY, TENTH), packets, "--threads", model, "--workers", str(workers), "--batch", "1")

    def test_flows_that_were_evicted_or_timed_out_keep_their_states(self):
        heavy = states.heavy_hitters("heavy", *TENTH, by="packets", least=20)
        plan = states.States(
            "s0",
            {f"s{i}": [heavy, states.everything(f"in{i}", *MANY)] for i in range(2)},
            [Rule("s1", reported_by="heavy")],
        )

        def packets_of(events):
            sums = collections.Counter()
            for which, found in events.items():
                for key, values in found:
                    sums[which, key] += values["packets"]
            return sums

        truth, _ = plan.run(self.packets)
        for extra in (
            ["--flows", "64"],
            ["--idle", "5ms"],
            ["--active", "30ms"],
            ["--flows", "128", "--table", "cuckoo-4"],
            ["--flows", "128", "--table", "robin-hood", "--workers", "2"],
        ):
            with self.subTest(extra=extra):
                said, _ = self.say(plan, self.packets, *extra, path=self.capture)
                self.assertEqual(packets_of(said), packets_of(truth))

    def test_every_arrangement_says_the_same_byte_by_byte(self):
        path = self.path("arranged.toml", self.plan(MANY, TENTH).toml())
        said = {}
        models, batches = ("run-to-completion", "pipeline", "cooperative"), (1, 7, 256)
        arrangements = list(itertools.product(models, (1, 2, 3), batches))
        if (
            not is_thorough()
        ):  # each two of model, workers and batch meet once; the first arrangement has batches of 256
            arrangements = [
                (model, workers, batch)
                for model, workers, batch in arrangements
                if (models.index(model) + workers + batches.index(batch)) % 3 == 0
            ]
        for model, workers, batch in arrangements:
            with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
                done = subprocess.run(
                    [
                        program_for(test_tasks.PROGRAM, [model]),
                        "watch",
                        "-r",
                        self.capture,
                        "--states",
                        path,
                        "--export",
                        f"events:{file.name}",
                        "--format",
                        "json",
                        "--quiet",
                        "--top",
                        "1",
                        "--flows",
                        "32Ki",
                        "--threads",
                        model,
                        "--workers",
                        str(workers),
                        "--batch",
                        str(batch),
                    ],
                    capture_output=True,
                    timeout=120,
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                said[model, workers, batch] = sorted(file.read().splitlines())
        first = said["run-to-completion", 1, 256]
        self.assertGreater(len(first), 500)
        for arrangement, events in said.items():
            self.assertEqual(events, first, arrangement)


class Chain(StatesTest):
    """A chain as in MONA's first configuration: of all flows the heavy sources', of these those that retransmit, of
    these the bursty ones."""

    WINDOW_NS, WINDOWS = 10 * MS, 24
    CLIENT, SERVER = ("10.1.0.1", 5000), ("10.2.0.1", 80)

    def connection(self, client, server, heavy, resends, bursty, round_trip_ns):
        """What a capture point beside the sender sees: 40 segments in a heavy window, 4 in others, in trains or evenly;
        in windows that resend, the last one comes again; round trips of the first ones."""
        packets, seq = [], 1000
        for n in range(self.WINDOWS):
            begin, count = BEGIN_NS + n * self.WINDOW_NS, 40 if n in heavy else 4
            sent = []

            def send(at_ns, resent=False):
                tcp = traffic.Tcp(seq - 1000 if resent else seq, 1, 1024, Truth(retransmission=resent))
                packets.append(traffic.packet(at_ns, *self.ends(client, server), 1000, 0x18)._replace(tcp=tcp))

            for i in range(count):
                at = begin + (100_000 * (i % 4) + 1_200_000 * (i // 4) // 2 if n in bursty else i * 9 * MS // 41)
                send(at)
                sent.append((at, seq + 1000))
                seq += 1000
            if n in resends:
                send(max(at, sent[-1][0]) + 500_000, resent=True)
            for at, end in sent[:2]:
                tcp = traffic.Tcp(1, end, 1024, Truth(rtt_ns=round_trip_ns(n)))
                packets.append(
                    traffic.packet(at + round_trip_ns(n), *self.ends(server, client), 0, 0x10)._replace(tcp=tcp)
                )
        return packets

    @staticmethod
    def ends(src, dst):
        return src[0], dst[0], TCP, src[1], dst[1]

    def plan(self, text):
        """That of the example, whose threshold is lowered."""
        window = ("10ms", Clock(self.WINDOW_NS))
        count = states.count("count", *window)
        count.spec = "count:window=10ms"
        heavy = states.heavy_hitters("heavy-hitters", *window, least=30000)
        heavy.spec = "heavy-hitters:key=src,threshold=30K,window=10ms"
        resent = states.retransmissions("retransmissions:window=10ms", window[1])
        burst = states.bursty("bursty:within=1ms,share=0.1,packets=2,window=10ms", window[1], 0.1, 2)
        change = states.latency_change("latency-change:beta=1,window=10ms", window[1])
        plan = states.States(
            "s2",
            {
                "s1": [count],
                "s2": [count, heavy],
                "s3": [count, heavy, resent],
                "s4": [count, heavy, resent, burst],
                "s5": [count, heavy, resent, burst, change],
            },
            [
                Rule("s3", origin=["s2"], reported_by="heavy-hitters"),
                Rule("s4", origin=["s3"], reported_by="retransmissions"),
                Rule("s5", origin=["s4"], reported_by="bursty"),
            ],
        )
        plan.toml = lambda: text
        return plan

    def test_monas_first_configuration_looks_deeper_into_what_it_found(self):
        with open(os.path.join(EXAMPLES, "mona-config1.toml")) as file:
            text = file.read().replace("threshold=5%", "threshold=30K")
        every = range(self.WINDOWS)
        trip = lambda n: MS + 1000 * (n % 3) + (400_000 if n == 12 else 0)
        all_of_it = self.connection(self.CLIENT, self.SERVER, range(2, 18), every, every, trip)
        heavy_alone = self.connection(("10.1.0.2", 5001), self.SERVER, range(4, 9), [], every, trip)
        light = self.connection(("10.1.0.3", 5002), self.SERVER, [], every, every, trip)
        resends_once = self.connection(("10.1.0.4", 5003), self.SERVER, range(0, 12), [6], every, trip)
        packets = sorted(all_of_it + heavy_alone + light + resends_once, key=lambda p: p.time_ns)
        truth, by_state = self.check(self.plan(text), packets)
        self.assertGreater(min(by_state[f"s{i}"] for i in (2, 3, 4, 5)), 50)

        def windows_of(task, src=None):
            return [
                (begin - BEGIN_NS) // self.WINDOW_NS
                for (name, begin), events in sorted(truth.items())
                if name == task and (src is None or any(dict(key).get("src_ip") == src for key, _ in events))
            ]

        self.assertEqual(windows_of("heavy-hitters", "10.1.0.1"), list(range(2, 18)))
        self.assertEqual(
            windows_of("retransmissions", "10.1.0.1"),
            list(range(4, 20)),
            "two windows after it was heavy first, and last",
        )
        self.assertEqual(windows_of("bursty", "10.1.0.1"), list(range(6, 20)), "once it had been seen to retransmit")
        self.assertIn(12, windows_of("latency-change", "10.2.0.1"), "the planted change")
        self.assertGreaterEqual(min(windows_of("latency-change")), 8, "once it had been bursty")
        self.assertEqual(windows_of("retransmissions", "10.1.0.2"), [])
        self.assertEqual(windows_of("retransmissions", "10.1.0.3"), [], "never heavy")
        self.assertEqual(windows_of("retransmissions", "10.1.0.4"), [6])
        self.assertEqual(windows_of("bursty", "10.1.0.4"), [8], "only while it retransmits")
        for model, workers in test_tasks.ARRANGEMENTS:
            self.check(self.plan(text), packets, "--threads", model, "--workers", str(workers), "--batch", "7")

    def test_data_of_a_flow_that_comes_back_is_not_taken_for_sent_before(self):
        """It was followed, then not, and the other end was silent meanwhile: what that had acknowledged was of other
        numbers."""
        packets, end = [], 1000
        for n, count in enumerate(
            (20, 1, 20, 1, 5)
        ):  # heavy in the first and third window, so followed in the third and fifth
            for i in range(count):
                at = BEGIN_NS + n * self.WINDOW_NS + i * 300_000
                data = traffic.packet(at, *self.ends(self.CLIENT, self.SERVER), 1000, 0x18)
                packets.append(data._replace(tcp=traffic.Tcp(end, 1, 1024, Truth())))
                end += 1000
                if n == 2 and i % 2:
                    ack = traffic.packet(at + 100_000, *self.ends(self.SERVER, self.CLIENT), 0, 0x10)
                    packets.append(ack._replace(tcp=traffic.Tcp(1, end, 1024, Truth())))
        window = ("10ms", Clock(self.WINDOW_NS))
        heavy = states.heavy_hitters("heavy", *window, by="packets", least=10)
        resent = states.condition(
            "resent",
            *window,
            "packets >= 1 and tcp_retransmissions >= 0",
            lambda part: True,
            lambda part: {"tcp_retransmissions": part.retransmissions},
            tcp=True,
        )
        plan = states.States("s0", {"s0": [heavy], "s1": [heavy, resent]}, [Rule("s1", reported_by="heavy")])
        truth, _ = self.check(plan, packets)
        self.assertEqual(sum(task == "resent" for task, _ in truth), 2)

    def test_a_record_that_ends_when_the_state_changes_changes_no_finding(self):
        """The flow is followed at first and at the end, and loses nothing. Its records end at an active timeout."""
        packets = []
        for n, heavy in enumerate([True] * 4 + [False] * 6 + [True] * 10):
            for i in range(20):
                at = BEGIN_NS + n * SECOND // 10 + i * 5 * MS + 1
                data = traffic.packet(at, "10.1.0.1", "10.2.0.1", TCP, 1000, 80, 100, 0x18)
                packets.append(data._replace(tcp=traffic.Tcp(1000 + 100 * (20 * n + i), 1, 1024, Truth())))
                for other in range(0 if heavy else 5):
                    packets.append(traffic.packet(at + 1000 + other, "10.3.0.1", "10.2.0.1", payload=300))
        heavy = '"heavy-hitters:key=src,threshold=50%,window=100ms"'
        text = (
            f'default = "light"\n[[state]]\nname = "light"\ntasks = [{heavy}]\n[[state]]\nname = "deep"\n'
            f'tasks = [{heavy}, "lost-segments:window=100ms"]\n'
            '[[rule]]\nfrom = ["light"]\nreported_by = "heavy-hitters"\nstate = "deep"\n'
        )
        capture, states_file = self.path("splits.pcap", packets), self.path("splits.toml", text)
        for active in (f"{ms}ms" for ms in range(585, 610, 5)):
            with self.subTest(active=active):
                events, _ = test_tasks.run(capture, "--states", states_file, "--active", active)
                lost = [event["values"] for event in events if event["task"] == "lost-segments"]
                self.assertGreater(len(lost), 5)
                self.assertEqual({values["tcp_lost_segments"] for values in lost}, {0})

    def test_both_examples_run_as_they_are(self):
        capture = self.path("example.pcap", busy(5, seconds=0.5))
        for name in ("mona-config1.toml", "mona-config2.toml"):
            events, report = test_tasks.run(capture, "--states", os.path.join(EXAMPLES, name), "--workers", "2")
            self.assertEqual({event["task"] for event in events if event["task"] == "count"}, {"count"})
            if packets_said := self.packets_of(report):
                self.assertEqual(sum(packets_said.values()), report["summary"]["packets"])
                self.assertGreater(packets_said["s3"], 0, "what the first state looks for is there")

    def test_monas_second_configuration_assigns_by_protocol_prefix_and_port(self):
        packets = busy(6)
        by_state = collections.Counter()
        for p in packets:
            ten = any(states.inside(a, "10.0.0.0/8") for a in (p.src, p.dst))
            by_state[
                "s4"
                if 443 in (p.src_port, p.dst_port)
                else "s3"
                if p.protocol == TCP and ten
                else "s2"
                if p.protocol == TCP
                else "s1"
            ] += 1
        with open(os.path.join(EXAMPLES, "mona-config2.toml")) as file:
            text, turn = file.read(), itertools.count(1)
        text = re.sub(r"tasks = \[", lambda found: f'tasks = ["in-s{next(turn)}:most=1M:packets >= 1", ', text)
        events, report = test_tasks.run(self.path("second.pcap", packets), "--states", self.path("second.toml", text))
        seen = collections.Counter()
        for event in events:
            if event["task"].startswith("in-"):
                seen[event["task"][3:]] += event["values"]["packets"]
        self.assertEqual(seen, by_state)
        self.assertEqual(self.packets_of(report) or dict(by_state), dict(by_state))


class RandomRules(StatesTest):
    def random_plan(self, rng):
        lengths = [TENTH, MANY, ("30ms", Clock(30 * MS)), ("1s", Clock(SECOND)), ("3000p", Clock(3000, by_time=False))]
        names = [f"s{i}" for i in range(rng.randrange(2, 7))]
        window, other = rng.choice(lengths), rng.choice(lengths)
        reporters = [
            states.heavy_hitters(
                "one",
                *window,
                key=rng.choice(["src", "dst/24", "5tuple", "src-dst", "dst-port"]),
                by=rng.choice(["packets", "wire_bytes", "flows"]),
                least=rng.choice([5, 20, 100]),
            ),
            states.heavy_hitters(
                "two",
                *other,
                key=rng.choice(["src", "protocol", "src/16"]),
                by=rng.choice(["packets", "new_flows"]),
                least=rng.choice([3, 30]),
            ),
            states.superspreaders("three", *rng.choice([window, other]), threshold=rng.choice([1, 3])),
            states.condition("four", *window, "packets > 4", lambda part: part.packets > 4),
        ]
        sees_all = [states.everything(f"in{i}", *window) for i in range(len(names))]
        plan = {name: [sees_all[i], *rng.sample(reporters, rng.randrange(0, 4))] for i, name in enumerate(names)}
        plan[names[0]] = [sees_all[0], *reporters]
        some = lambda options, chance: rng.choice(options) if rng.random() < chance else None
        rules = [
            Rule(
                rng.choice(names[1:]),
                origin=rng.sample(names, rng.randrange(1, len(names) + 1)) if rng.random() < 0.4 else None,
                filter=some(FILTERS, 0.3),
                prefix=some(PREFIXES[:3] + PREFIXES[4:], 0.2),
                port=some(PORTS[:4], 0.15),
                reported_by=some(["one", "two", "three", "four"], 0.6),
            )
            for _ in range(rng.randrange(2, 10))
        ]
        some_ask = [rule for rule in rules if rule.filter or rule.prefix or rule.port or rule.reported_by]
        return states.States(names[0], plan, some_ask or [Rule(names[1], reported_by="four")])

    def test_random_rules(self):
        changed, seeds = 0, 20 if is_thorough() else 8
        for seed in range(seeds):
            with self.subTest(seed=seed):
                rng = random.Random(seed)
                packets, plan = busy(seed + 100, seconds=0.8), self.random_plan(rng)
                model, workers = test_tasks.ARRANGEMENTS[seed % len(test_tasks.ARRANGEMENTS)]
                truth, by_state = self.check(
                    plan,
                    packets,
                    "--threads",
                    model,
                    "--workers",
                    str(workers),
                    "--batch",
                    rng.choice(["1", "7", "256"]),
                )
                seen = collections.Counter()
                for (task, _), events in truth.items():
                    if task.startswith("in"):
                        seen[f"s{task[2:]}"] += sum(values["packets"] for _, values in events)
                self.assertEqual(seen, by_state)
                self.assertEqual(sum(seen.values()), len(packets))
                changed += len(by_state) > 1
        self.assertGreater(changed, 15 * seeds // 20, "hardly anything is tested")


class Errors(StatesTest):
    # seven lines
    STATES = (
        'default = "a"\n[[state]]\nname = "a"\ntasks = ["count"]\n[[state]]\nname = "b"\ntasks = ["count", "entropy"]\n'
    )
    RULE = STATES + '[[rule]]\nstate = "b"\n'  # nine

    def refuse(self, text, *arguments, path=None):
        path = path or self.path("wrong.toml", text)
        done = subprocess.run(
            [test_tasks.PROGRAM, "watch", "-g", "flows=10", "--count", "1000", "--quiet", "--states", path, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(done.returncode, 2, f"{text}\n{done.stdout[:300]}{done.stderr}")
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        return done.stderr, path

    def refuse_at(self, line, text, *mentions):
        said, path = self.refuse(text)
        self.assertRegex(said, rf"{re.escape(path)}, line {line}\b", text)
        for mention in mentions:
            self.assertIn(mention, said, text)

    def test_the_files_below_but_for_what_is_wrong_with_them_run(self):
        for text in (
            self.STATES,
            self.RULE,
            self.RULE + 'filter = "host 10.0.0.1"\n',
            self.RULE + 'port = 0\nprefix = "::/0"\n',
        ):
            path = self.path("right.toml", text)
            done = subprocess.run(
                [
                    test_tasks.PROGRAM,
                    "watch",
                    "-g",
                    "flows=10",
                    "--count",
                    "1000",
                    "--quiet",
                    "--states",
                    path,
                    "-o",
                    os.devnull,
                ],
                capture_output=True,
                text=True,
                timeout=60,
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""), text)

    def test_unknown_keys(self):
        self.refuse_at(1, "wrong = 3\n" + self.STATES, "wrong is unknown here; there are default, state, rule")
        self.refuse_at(8, self.STATES + 'task = ["count"]\n', "task is unknown here")
        self.refuse_at(10, self.RULE + "ports = 3\n", "ports is unknown here")

    def test_unknown_states(self):
        self.refuse_at(1, self.STATES.replace('default = "a"', 'default = "c"'), "no state c; there are a, b")
        self.refuse_at(3, "# flows\n\n" + self.STATES.replace('default = "a"', 'default = "c"'), "no state c")
        self.refuse_at(9, self.RULE.replace('state = "b"', 'state = "c"'), "no state c")
        self.refuse_at("(8|10)", self.RULE + 'from = ["a", "c"]\n', "no state c")
        self.refuse_at(9, self.RULE.replace('state = "b"', 'state = ""'), "no state")

    def test_what_is_missing(self):
        self.assertIn("default is missing", self.refuse(self.STATES.replace('default = "a"\n', ""))[0])
        self.assertIn("there is no [[state]]", self.refuse('default = "a"\n')[0])
        self.assertIn("there is no [[state]]", self.refuse("")[0])
        self.refuse_at(8, self.STATES + "[[rule]]\nport = 3\n", "a [[rule]] must name the state")
        self.refuse_at(8, self.STATES + '[[state]]\ntasks = ["count"]\n', "a [[state]] must have a name")
        self.assertIn("no state has a task", self.refuse('default = "a"\n[[state]]\nname = "a"\n')[0])

    def test_two_states_of_one_name(self):
        self.refuse_at(9, self.STATES + '[[state]]\nname = "a"\n', "two states have the name a")

    def test_filters(self):
        self.refuse_at(10, self.RULE + 'filter = "tcp prot 80"\n', "tcp prot 80")
        # Not what all packets of a flow have in common: flags, lengths, time to live, sequence numbers, data.
        for text in (
            "ip[33] & 2 != 0",
            "ip6[42:4] > 7",
            "ip[8:4] > 5",
            "ip[6] & 0x40 != 0",
            "icmp[2:2] > 5",
            "tcp[ip[9]:2] > 5",
            "inbound",
            "ip protochain 6",
            "tcp[tcpflags] & tcp-syn != 0",
            "less 100",
            "greater 1000",
            "len > 70",
            "ip[2:2] > 500",
            "ip6[4:2] > 9",
            "ip[8] > 10",
            "ip6[7] > 10",
            "ip[1] = 0",
            "ip[10:2] = 0",
            "tcp[4:4] > 5",
            "udp[4:2] > 9",
            "udp[8] = 1",
            "tcp port 80 and tcp[13] = 2",
        ):
            self.refuse_at(10, self.RULE + f'filter = "{text}"\n', "addresses, protocol and ports")
        for text in ("vlan 5", "ether host 02:00:00:00:00:01", "tcp and vlan 5", "arp", "mpls"):
            self.refuse_at(10, self.RULE + f'filter = "{text}"\n', text)

    def test_prefixes(self):
        for prefix in (
            "10.0.0.0/33",
            "10.0.0/8",
            "2001:db8::/129",
            "here",
            "",
            "10.0.0.0/",
            "10.0.0.0/-1",
            "/8",
            "10.0.0.0/8/8",
            "::g/8",
            "10.0.0.0/8 ",
        ):
            self.refuse_at(10, self.RULE + f'prefix = "{prefix}"\n', f"prefix {prefix}")

    def test_ports(self):
        for port in ("65536", "-1", '"80"', "1.5", "80.0", "true", "[80]"):
            with self.subTest(port=port):
                self.refuse_at(10, self.RULE + f"port = {port}\n", "port must be a number from 0 to 65535")

    def test_what_has_the_wrong_type(self):
        for text, line in (
            ("default = 3\n" + self.STATES.partition("\n")[2], 1),
            (self.STATES.replace('name = "b"', "name = 3"), 6),
            (self.STATES.replace('["count"]', '"count"'), 4),
            (self.STATES.replace('["count"]', "[3]"), 4),
            (self.RULE + "filter = 3\n", 10),
            (self.RULE + "prefix = 10\n", 10),
            (self.RULE + 'from = "a"\n', 10),
            (self.RULE + "from = [1]\n", 10),
            (self.RULE + "reported_by = 3\n", 10),
            (self.RULE.replace('state = "b"', "state = 1"), 9),
            ("state = 3\n" + self.STATES.partition("\n")[0] + "\n", 1),
            ("rule = 3\n" + self.STATES, 1),
        ):
            with self.subTest(text=text):
                self.refuse_at(line, text)

    def test_reports_of_no_task(self):
        said, path = self.refuse(self.RULE + 'reported_by = "heavy-hitters"\n')
        self.assertIn(path, said)
        self.assertIn("reports of heavy-hitters, which is not a task of any state", said)

    def test_reports_about_all_traffic(self):
        said, _ = self.refuse(self.RULE + 'reported_by = "entropy"\n')
        self.assertIn("reports of entropy, which sums up all traffic", said)

    def test_task_specs(self):
        for spec in (
            "counts",
            "heavy-hitters:keys=src",
            "x=packetz > 3",
            "count:window=1ms",
            ":",
            "heavy-hitters:threshold=lots",
        ):
            said, path = self.refuse(self.STATES.replace('"entropy"', f'"{spec}"'))
            self.assertIn("task", said)
        self.refuse(self.STATES.replace('"entropy"', '"count:window=10ms"'))
        self.refuse(self.STATES, "--task", "entropy")
        self.refuse(self.STATES.replace("entropy", "retransmissions"), "--key", "src")

    def test_more_than_there_may_be(self):
        self.refuse_at(8 + 2 * 32, self.STATES + 33 * '[[rule]]\nstate = "b"\n', "more than 32 rules")
        self.refuse_at(
            8 + 2 * 62, self.STATES + "".join(f'[[state]]\nname = "c{i}"\n' for i in range(63)), "more than 64 states"
        )

    def test_what_is_not_toml(self):
        self.refuse_at(8, self.STATES + "name = = 3\n")
        self.refuse_at(3, 'default = "a"\n\n[[state\n')
        self.refuse_at(2, 'default = "a"\ndefault = "b"\n')
        self.refuse_at(1, "\0\1\2")

    def test_files_that_there_are_not(self):
        said, _ = self.refuse(None, path="/nowhere/states.toml")
        self.assertIn("cannot read states from /nowhere/states.toml: No such file or directory", said)
        said, _ = self.refuse(None, path=self.folder.name)
        self.assertIn(self.folder.name, said)

    def test_states_are_of_flows(self):
        self.refuse(self.STATES, "--packets-only")


if __name__ == "__main__":
    test_tasks.PROGRAM = sys.argv.pop(1)
    unittest.main()
