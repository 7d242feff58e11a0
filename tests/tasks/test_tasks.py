# SPDX-License-Identifier: Apache-2.0
"""Every task of the program against an oracle that counts the plain way, on traffic with planted events.

usage: test_tasks.py PARSHALL [unittest arguments]
"""

import collections
import csv
import itertools
import json
import math
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import oracle
import tcp_simulator

import traffic

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [TESTS, os.path.join(TESTS, "live")]
from rivals import program_for
from side_by_side import is_thorough, thorough

PROGRAM = None
SECOND = traffic.SECOND
ARRANGEMENTS = [
    ("run-to-completion", 1),
    ("run-to-completion", 3),
    ("pipeline", 1),
    ("pipeline", 2),
    ("cooperative", 2),
]


def run(capture, *arguments, timeout=120):
    """(events, report) of a run over a capture; the account has to balance, that of every window too."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        room = [] if "--flows" in arguments else ["--flows", "32Ki"]
        done = subprocess.run(
            [
                program_for(PROGRAM, arguments),
                "watch",
                "-r",
                capture,
                "--export",
                f"events:{file.name}",
                "--format",
                "json",
                "--quiet",
                "--top",
                "1",
                *room,
                *arguments,
            ],
            capture_output=True,
            timeout=timeout,
        )
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        events = [json.loads(line) for line in file]
    report = json.loads(done.stdout)
    assert report["summary"]["accounting"]["balanced"], report["summary"]["accounting"]
    assert report["summary"]["tasks"]["windows_balanced"] and report["summary"]["tasks"]["events_not_taken"] == 0
    return events, report


def findings(capture, *arguments):
    """The same without the summaries that say what was left out."""
    events, report = run(capture, *arguments)
    return [event for event in events if "keys_left_out" not in event["values"]], report


def found(events, task):
    """window begin -> key -> values."""
    result = collections.defaultdict(dict)
    for event in events:
        if event["task"] != task or "keys_left_out" in event["values"]:
            continue
        begin = event["window"].get("begin_ns", event["window"].get("begin_packet"))
        key = tuple(sorted((event["key"] or {}).items()))
        assert key not in result[begin], f"{task} says {key} twice"
        result[begin][key] = event["values"]
    return result


def write_pcapng(path, packets, times):
    """Time stamps in nanoseconds; those of `times` instead of the packets' own."""

    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))

    with open(path, "wb") as file:
        file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        file.write(block(1, struct.pack("<HHI", 1, 0, 65535) + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)))
        for i, p in enumerate(packets):
            data, time_ns = traffic.frame(p), times.get(i, p.time_ns)
            file.write(
                block(6, struct.pack("<IIIII", 0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(data), len(data)) + data)
            )


class TaskTest(unittest.TestCase):
    maxDiff = 2000

    def assert_alike(self, said, truth, what=""):
        """Whole numbers equal, others but for rounding."""
        self.assertEqual(sorted(said), sorted(truth), what)
        for key, values in truth.items():
            self.assertEqual(sorted(said[key]), sorted(values), f"{what} {key}")
            for name, value in values.items():
                if isinstance(value, int):
                    self.assertEqual(said[key][name], value, f"{what} {key} {name}")
                else:
                    self.assertTrue(
                        math.isclose(said[key][name], value, rel_tol=1e-9, abs_tol=1e-9),
                        f"{what} {key} {name}: {said[key][name]} is not {value}",
                    )


class Planted(TaskTest):
    """One capture for all; each test runs its tasks over it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="parshall-tasks-")
        cls.packets = traffic.planted(seed=1)
        cls.capture = os.path.join(cls.folder.name, "planted.pcap")
        traffic.write_capture(cls.capture, cls.packets)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, spec, truth_of, window=("1s", {"ns": SECOND}), arguments=(), least=1):
        """`truth_of(window)` for each; the events are exact, and at least so many."""
        name, length = window
        events, _ = run(
            self.capture,
            "--task",
            f"{spec}{',' if ':' in spec else ':'}name=it,most=100000",
            "--window",
            name,
            *arguments,
        )
        self.assertTrue(all(event["exact"] for event in events))
        self.assertGreaterEqual(len(events), least, "hardly anything is tested")
        said = found(events, "it")
        for window in oracle.windows(self.packets, **length):
            self.assert_alike(
                said.pop(window.begin, {}), truth_of(window), f"{spec} in the window from {window.begin}:"
            )
        self.assertEqual(said, {}, "windows that there were not")

    def test_count_in_every_kind_of_window_and_arrangement(self):
        lengths = [
            ("10ms", {"ns": SECOND // 100}),
            ("30s", {"ns": 30 * SECOND}),
            ("1000p", {"count": 1000}),
            ("1Mp", {"count": 10**6}),
        ]
        for window, (model, workers) in itertools.product(lengths, ARRANGEMENTS):
            with self.subTest(window=window, model=model, workers=workers):
                self.check("count", oracle.count, window, ["--threads", model, "--workers", str(workers)])

    def test_the_traffic_is_hard_enough(self):
        windows = oracle.windows(self.packets, ns=SECOND)
        self.assertGreater(sum(window.late for window in windows), 50)
        self.assertTrue(windows[0].partial and windows[-1].partial and not windows[1].partial)
        self.assertGreater(max(b.begin - a.begin for a, b in zip(windows, windows[1:])), SECOND, "a silent window")

    def test_heavy_hitters(self):
        keys = ["5tuple", "src-dst", "src", "dst", "src-port", "dst-port", "protocol", "src/16", "dst/24/64"]
        for key, by in zip(keys, itertools.cycle(oracle.AMOUNTS)):
            with self.subTest(key=key, by=by):
                self.check(
                    f"heavy-hitters:key={key},by={by},threshold=2%",
                    lambda window: oracle.heavy_hitters(window, key, by, share=0.02),
                )
        self.check(
            "heavy-hitters:by=packets,threshold=50", lambda window: oracle.heavy_hitters(window, by="packets", least=50)
        )

    def test_heavy_hitters_are_found_in_every_arrangement(self):
        for model, workers in ARRANGEMENTS:
            with self.subTest(model=model, workers=workers):
                self.check(
                    "heavy-hitters:key=src,threshold=1%",
                    lambda window: oracle.heavy_hitters(window, share=0.01),
                    ("100ms", {"ns": SECOND // 10}),
                    ["--threads", model, "--workers", str(workers)],
                    least=50,
                )

    def test_the_planted_heavy_hitter_is_the_first(self):
        events, _ = run(self.capture, "--task", "heavy-hitters:top=1", "--window", "1s")
        window = (traffic.BEGIN_NS // SECOND + 1) * SECOND
        self.assertEqual(
            [event["key"] for event in events if event["window"]["begin_ns"] == window], [{"src_ip": "10.1.77.1"}]
        )

    def test_top(self):
        for model, workers in ARRANGEMENTS:
            events, _ = run(
                self.capture,
                "--task",
                "heavy-hitters:key=5tuple,top=7,by=packets",
                "--threads",
                model,
                "--workers",
                str(workers),
            )
            for window in oracle.windows(self.packets, ns=SECOND):
                inside = [event["values"]["packets"] for event in events if event["window"]["begin_ns"] == window.begin]
                everyone = sorted((c["packets"] for c in oracle.aggregate(window, "5tuple").values()), reverse=True)
                self.assertEqual(inside, everyone[:7], "largest first")

    def test_hierarchical_heavy_hitters(self):
        for key, by, percent in (("src", "wire_bytes", 1), ("dst", "packets", 5), ("src", "flows", 0.5)):
            self.check(
                f"hierarchical-heavy-hitters:key={key},by={by},threshold={percent}%",
                lambda window: oracle.hierarchical(window, key, by, percent / 100),
                least=10,
            )

    def test_superspreaders_and_victims(self):
        for key, ports, threshold in (("src", False, 128), ("src", True, 30), ("src/24", False, 5), ("src", False, 1)):
            of = "dst-and-port" if ports else "dst"
            self.check(
                f"superspreaders:key={key},of={of},threshold={threshold}",
                lambda window: oracle.spreaders(window, key, ports, threshold),
            )
        for key, ports, threshold in (("dst", False, 128), ("dst", True, 3), ("dst/16", False, 10)):
            of = "src-and-port" if ports else "src"
            self.check(
                f"victims:key={key},of={of},threshold={threshold}",
                lambda window: oracle.spreaders(window, key, ports, threshold),
            )

    def test_planted_scanner_and_victim(self):
        events, _ = run(self.capture, "--tasks", "superspreaders,victims")
        self.assertEqual(
            [(e["key"], e["values"]) for e in events],
            [({"src_ip": "10.2.99.9"}, {"destinations": 300}), ({"dst_ip": "10.8.8.8"}, {"sources": 500})],
        )

    def test_estimated_spreaders_are_within_their_stated_error(self):
        for method in ("bloom", "linear", "hyperloglog"):
            for seed in range(20):
                events, _ = run(
                    self.capture, "--task", f"superspreaders:method={method},threshold=100", "--seed", str(seed)
                )
                self.assertEqual([event["key"] for event in events], [{"src_ip": "10.2.99.9"}])
                self.assertFalse(events[0]["exact"])
                estimate, error = events[0]["values"]["destinations"], events[0]["error"]["destinations_relative"]
                self.assertLess(abs(estimate - 300), error * 300, f"{method}, seed {seed}")
                self.assertLess(error, 0.3)
                if method == "bloom":
                    self.assertLessEqual(estimate, 300)

    def test_entropy(self):
        for key, by in zip(
            ["src", "dst", "dst-port", "5tuple", "src/8"], ["packets", "wire_bytes", "flows", "ip_bytes", "new_flows"]
        ):
            self.check(f"entropy:key={key},by={by}", lambda window: oracle.entropy(window, key, by))

    def test_flow_sizes(self):
        for by in ("packets", "ip_bytes", "wire_bytes"):
            self.check(f"flow-sizes:by={by}", lambda window: oracle.flow_sizes(window, by))

    def test_changes(self):
        for key, by, method in [
            (key, by, method)
            for key, by in (("src", "wire_bytes"), ("src-dst", "packets"), ("dst-port", "new_flows"))
            for method in ("ewma", "previous")
        ]:
            with self.subTest(key=key, by=by, method=method):
                for name, ns in (("1s", SECOND), ("100ms", SECOND // 10)):
                    truth = oracle.changes(oracle.windows(self.packets, ns=ns), ns, key, by, method)
                    self.check(
                        f"change:key={key},by={by},method={method}",
                        lambda window: truth.get(window.begin, {}),
                        (name, {"ns": ns}),
                        least=0,
                    )

    def test_the_planted_change_is_found(self):
        events, _ = run(self.capture, "--task", "change:key=src-dst,threshold=2%")
        sixth = (traffic.BEGIN_NS // SECOND + 6) * SECOND
        self.assertIn(
            {"src_ip": "10.4.44.4", "dst_ip": "10.5.55.5"},
            [event["key"] for event in events if event["window"]["begin_ns"] == sixth],
        )

    def test_a_key_that_was_never_seen_is_expected_to_be_silent(self):
        """It comes to half of the traffic in one window, and once stays below the threshold in its first."""
        begin = traffic.BEGIN_NS // SECOND * SECOND
        steady = [traffic.packet(0, f"10.0.0.{i}", "10.0.1.1", payload=1000) for i in range(10)] * 10
        new = [traffic.packet(0, "10.9.9.9", "10.0.1.1", payload=1000)] * 100
        late = [traffic.packet(0, "10.8.8.8", "10.0.1.1", payload=1000)] * 100
        packets = []
        for window in range(12):
            these = steady + (new if window >= 6 else []) + (late[:1] if window == 7 else late if window >= 8 else [])
            packets += traffic.spread(begin + window * SECOND, 0.99, these)
        with tempfile.TemporaryDirectory() as folder:
            capture = os.path.join(folder, "new.pcap")
            traffic.write_capture(capture, tuple(packets))
            events, _ = run(capture, "--task", "change")
            self.assertEqual(
                [
                    (event["window"]["begin_ns"], event["key"]["src_ip"], event["values"]["wire_bytes_expected"])
                    for event in events
                ],
                [(begin + 6 * SECOND, "10.9.9.9", 0), (begin + 8 * SECOND, "10.8.8.8", 1042 / 8)],
            )
            for warm_up, first in (("0", 0), ("1", 6)):
                events, _ = run(capture, "--task", f"change:warm-up={warm_up}")
                self.assertEqual(min(event["window"]["begin_ns"] for event in events), begin + first * SECOND)

    def test_a_long_silence_counts_window_by_window(self):
        """A hundred windows without a packet: what was expected has decayed by all of them."""
        begin = traffic.BEGIN_NS // SECOND * SECOND
        burst = [traffic.packet(0, f"10.0.0.{i}", "10.0.1.1", payload=1400) for i in range(3)] * 400
        parts = [traffic.spread(begin + n * SECOND // 10, 0.09, burst) for n in (*range(6), *range(106, 112))]
        packets = tuple(p for part in parts for p in part)
        with tempfile.TemporaryDirectory() as folder:
            capture = os.path.join(folder, "silent.pcap")
            traffic.write_capture(capture, packets)
            truth = oracle.changes(oracle.windows(packets, ns=SECOND // 10), SECOND // 10, warm_up=1, deviations=0)
            events, _ = run(capture, "--task", "change:warm-up=1,deviations=0", "--window", "100ms")
            said = found(events, "change")
            self.assertGreater(len(events), 3)
            for begins, keys in truth.items():
                self.assert_alike(said.pop(begins, {}), keys)
            self.assertEqual(said, {})

    def test_quantiles_are_within_their_error(self):
        fields = {
            "wire_bytes": lambda flow, did: did.wire_bytes,
            "packets": lambda flow, did: did.packets,
            "duration_s": lambda flow, did: max(0, did.last_ns - did.first_ns) / 1e9,
            "rate_pps": lambda flow, did: (
                did.packets / ((did.last_ns - did.first_ns) / 1e9) if did.last_ns > did.first_ns else None
            ),
        }
        for (name, field), error in zip(fields.items(), (0.01, 0.001, 0.2, 0.05)):
            events, _ = run(self.capture, "--task", f"quantiles:of={name},error={error}")
            said = found(events, "quantiles")
            for window in oracle.windows(self.packets, ns=SECOND):
                truth, flows = oracle.quantiles(window, field)
                values = said.pop(window.begin)[()]
                self.assertEqual(values["flows"], flows)
                for quantile, value in truth.items():
                    self.assertLessEqual(abs(values[f"{name}_{quantile}"] - value), error * value * (1 + 1e-9) + 1e-9)
            self.assertEqual(said, {})

    def test_conditions(self):
        size = lambda flow, did: did.wire_bytes / did.packets
        rate = lambda did: did.packets / ((did.last_ns - did.first_ns) / 1e9) if did.last_ns > did.first_ns else None
        cases = [
            (
                "packets > 10 and size_mean_bytes < 200",
                lambda flow, did: did.packets > 10 and size(flow, did) < 200,
                lambda flow, did: {"size_mean_bytes": size(flow, did)},
            ),
            (
                "not protocol == 6 and (dst_port == 53 or dst_port == 80)",
                lambda flow, did: flow[2] != 6 and flow[4] in (53, 80),
                lambda flow, did: {"protocol": flow[2], "dst_port": flow[4]},
            ),
            (
                "rate_pps >= 20 or packets * 2 > 100",
                lambda flow, did: rate(did) is not None and (rate(did) >= 20 or did.packets > 50),
                lambda flow, did: {"rate_pps": rate(did)},
            ),
            (
                "starts and wire_bytes >= 1000",
                lambda flow, did: did.starts and did.wire_bytes >= 1000,
                lambda flow, did: {"starts": int(did.starts)},
            ),
        ]
        for text, holds, fields in cases:
            with self.subTest(condition=text):
                events, _ = run(self.capture, "--task", f"it={text}", "--workers", "2")
                said = found(events, "it")
                for window in oracle.windows(self.packets, ns=SECOND):
                    self.assert_alike(said.pop(window.begin, {}), oracle.condition(window, holds, fields), text)
                self.assertEqual(said, {})
                self.assertGreaterEqual(len(events), 3)

    def test_several_windows_at_once_each_say_what_they_say_alone(self):
        specs = [
            "heavy-hitters:window=100ms,threshold=2%",
            "superspreaders:window=1s,threshold=20",
            "entropy:window=2000p",
            "count:window=3s",
            "flow-sizes:window=100ms",
        ]
        together, _ = run(self.capture, *itertools.chain.from_iterable(("--task", spec) for spec in specs))
        for spec in specs:
            alone, _ = run(self.capture, "--task", spec, "--workers", "2")
            task = spec.partition(":")[0]
            inside = [e for e in together if e["task"] == task]
            self.assertEqual([(e["window"], e["key"]) for e in inside], [(e["window"], e["key"]) for e in alone], spec)
            for a, b in zip(inside, alone):  # sums of logarithms depend on the order
                self.assert_alike({"": a["values"]}, {"": b["values"]}, spec)
            self.assertTrue(alone)

    def test_evicted_and_timed_out_flows_are_in_their_windows(self):
        """Far more flows than the table holds: aggregates are as exact as ever."""
        for extra in (
            ["--flows", "64"],
            ["--idle", "20ms"],
            ["--active", "50ms"],
            ["--flows", "128", "--table", "cuckoo-4"],
            ["--flows", "128", "--table", "robin-hood"],
        ):
            with self.subTest(extra=extra):
                events, report = run(self.capture, "--task", "heavy-hitters:threshold=1", "--window", "100ms", *extra)
                self.assertGreater(report["summary"]["ended_records"], 500, "hardly anything is tested")
                said = found(events, "heavy-hitters")
                for window in oracle.windows(self.packets, ns=SECOND // 10):
                    truth = oracle.heavy_hitters(window, least=1)
                    self.assertEqual(
                        {k: (v["packets"], v["wire_bytes"]) for k, v in said.pop(window.begin).items()},
                        {k: (v["packets"], v["wire_bytes"]) for k, v in truth.items()},
                    )

    def test_reports_at_intervals_carry_the_events_since_the_one_before(self):
        done = subprocess.run(
            [
                PROGRAM,
                "watch",
                "-r",
                "-",
                "--tasks",
                "count",
                "--window",
                "10ms",
                "--every",
                "50ms",
                "--format",
                "json",
                "--quiet",
                "--top",
                "1",
                "--flows",
                "32Ki",
            ],
            input=pathlib.Path(self.capture).read_bytes(),
            capture_output=True,
            timeout=60,
        )
        reports = [json.loads(line) for line in done.stdout.splitlines()]
        events = [event for report in reports for event in report["events"]]
        self.assertEqual(
            [event["window"]["packets"] for event in events],
            [len(window.packets) for window in oracle.windows(self.packets, ns=SECOND // 100)],
        )


class FlowHistories(TaskTest):
    """Tasks that need to know what a flow, or its TCP connection, did before."""

    COUNTS = " and ".join(
        f"tcp_{name} >= 0"
        for name in ("retransmissions", "out_of_order", "lost_segments", "acked_unseen", "payload_bytes")
    )
    LENGTHS = [
        ("100ms", {"ns": SECOND // 10}),
        ("1s", {"ns": SECOND}),
        ("1000p", {"count": 1000}),
        ("1h", {"ns": 3600 * SECOND}),
    ]

    def say(self, packets, window, turn, *tasks):
        """What each says of the packets, in an arrangement whose turn it is. A task is NAME:PARAMETERS or a
        condition."""
        specs = [
            f"it{i}:most=1M:{task}" if " " in task else f"{task}{',' if ':' in task else ':'}most=1M,name=it{i}"
            for i, task in enumerate(tasks)
        ]
        model, workers = ARRANGEMENTS[turn % len(ARRANGEMENTS)]
        with tempfile.TemporaryDirectory(prefix="parshall-tcp-") as folder:
            capture = os.path.join(folder, "tcp.pcap")
            traffic.write_capture(capture, packets)
            events, _ = run(
                capture,
                *itertools.chain.from_iterable(("--task", spec) for spec in specs),
                "--window",
                window,
                "--threads",
                model,
                "--workers",
                str(workers),
            )
        self.assertTrue(all(event["exact"] for event in events))
        return [found(events, f"it{i}") for i in range(len(tasks))]

    def assert_says(self, said, truth, what):
        """`truth`: window begin -> key -> values."""
        for begin, keys in truth.items():
            self.assert_alike(said.pop(begin, {}), keys, f"{what}, window from {begin}:")
        self.assertEqual(dict(said), {}, f"{what}: windows that there were not")

    def truth(self, windows, holds, values):
        return {window.begin: oracle.tcp(window, holds, values) for window in windows}

    def captures(self, seeds, **options):
        """(what, packets, windows, their length's name, turn) of captures of many connections."""
        for seed in range(seeds):
            packets = tcp_simulator.connections(seed, **options)
            name, length = self.LENGTHS[seed // len(ARRANGEMENTS) % len(self.LENGTHS)]
            yield (
                f"seed {seed}, windows of {name}, {ARRANGEMENTS[seed % len(ARRANGEMENTS)]}",
                packets,
                oracle.windows(packets, **length),
                name,
                seed,
            )

    def test_retransmissions_where_all_that_is_sent_is_seen(self):
        total = collections.Counter()
        for what, packets, windows, *how in self.captures(20):
            said, counts = self.say(packets, *how, "retransmissions", self.COUNTS)
            for window in windows:
                for key, values in said[window.begin].items():
                    fast = values.pop("tcp_fast_retransmissions")
                    (truth,) = (
                        did for flow, did in oracle.tcp_counts(window).items() if oracle.key_of(flow, "5tuple") == key
                    )
                    self.assertLessEqual(
                        truth.fast, fast, f"{what} {key}: timeouts soon after duplicates may look fast too"
                    )
                    total.update(
                        fast=truth.fast, looks_fast=fast, retransmission=truth.retransmission, spurious=truth.spurious
                    )
            self.assert_says(
                said,
                self.truth(
                    windows,
                    lambda c: c.retransmission,
                    lambda c: {
                        "tcp_data_packets": c.data_packets,
                        "tcp_retransmissions": c.retransmission,
                        "tcp_spurious_retransmissions": c.spurious,
                        "tcp_out_of_order": 0,
                    },
                ),
                what,
            )
            self.assert_says(
                counts,
                self.truth(
                    windows,
                    lambda c: True,
                    lambda c: {
                        "tcp_retransmissions": c.retransmission,
                        "tcp_out_of_order": 0,
                        "tcp_lost_segments": 0,
                        "tcp_acked_unseen": 0,
                        "tcp_payload_bytes": c.payload_bytes,
                    },
                ),
                what,
            )
        self.assertGreater(total["retransmission"], 1000)
        self.assertGreater(total["fast"], 0.9 * total["looks_fast"])
        self.assertGreater(total["fast"], 100)

    def test_spurious_retransmissions(self):
        """Timeouts that are too short, and acknowledgements on their way from the capture point to the sender."""
        spurious = 0
        for what, packets, windows, *how in self.captures(
            5, near_ns=lambda _: 30 * tcp_simulator.MS, loss=0.01, goes_back=True, timeout_ns=75 * tcp_simulator.MS
        ):
            (said,) = self.say(packets, *how, "tcp_retransmissions > 0 and tcp_spurious_retransmissions >= 0")
            self.assert_says(
                said,
                self.truth(
                    windows,
                    lambda c: c.retransmission,
                    lambda c: {"tcp_retransmissions": c.retransmission, "tcp_spurious_retransmissions": c.spurious},
                ),
                what,
            )
            spurious += sum(c.spurious for window in windows for c in oracle.tcp_counts(window).values())
        self.assertGreater(spurious, 100)

    def test_retransmissions_and_gaps_behind_a_loss(self):
        gaps = below = 0
        for what, packets, windows, *how in self.captures(20, behind_loss=True):
            said, lost = self.say(packets, *how, self.COUNTS, "lost-segments")
            for keys in said.values():
                for values in keys.values():
                    values["resent"] = values.pop("tcp_retransmissions") + values.pop("tcp_out_of_order")
            self.assert_says(
                said,
                self.truth(
                    windows,
                    lambda c: True,
                    lambda c: {
                        "resent": c.below,
                        "tcp_lost_segments": c.gap,
                        "tcp_acked_unseen": 0,
                        "tcp_payload_bytes": c.payload_bytes,
                    },
                ),
                what,
            )
            truth = self.truth(windows, lambda c: c.gap, lambda c: {"tcp_lost_segments": c.gap, "tcp_acked_unseen": 0})
            for window in windows:
                everyone = sum(c.gap for c in oracle.tcp_counts(window).values())
                truth[window.begin][()] = {
                    "tcp_packets": len(window.packets),
                    "tcp_lost_segments": everyone,
                    "tcp_acked_unseen": 0,
                }
                gaps += everyone
                below += sum(c.below for c in oracle.tcp_counts(window).values())
            self.assert_says(lost, truth, what)
        self.assertGreater(gaps, 300)
        self.assertGreater(below, 1000)

    def test_round_trips(self):
        least = 0
        for what, packets, windows, *how in self.captures(20):
            trips, handshakes = self.say(
                packets,
                *how,
                "rtt_samples >= 1 and rtt_min_ms >= 0 and rtt_mean_ms >= 0 and rtt_max_ms >= 0",
                "rtt_handshake_ms > 0",
            )
            self.assert_says(trips, self.truth(windows, lambda c: c.round_trips_ns, lambda c: c.round_trips()), what)
            self.assert_says(
                handshakes,
                self.truth(
                    windows, lambda c: c.handshake_ns is not None, lambda c: {"rtt_handshake_ms": c.handshake_ns / 1e6}
                ),
                what,
            )
            least += sum(c.handshake_ns is not None for window in windows for c in oracle.tcp_counts(window).values())
        self.assertEqual(least, 20 * 25)

    def test_a_handshake_ends_with_what_the_one_who_began_it_says(self):
        """Not with the other end's giving up, nor its acknowledgement of data that came after a loss."""
        client, server, ms = ("10.1.0.1", 4000), ("10.2.0.1", 80), tcp_simulator.MS
        syn, syn_ack, rst, ack = 2, 18, 20, 16

        def packet(at_ms, to, flags, seq, acks, length=0):
            (src, src_port), (dst, dst_port) = (client, server) if to is server else (server, client)
            return traffic.packet(
                traffic.BEGIN_NS + at_ms * ms, src, dst, traffic.TCP, src_port, dst_port, length, flags
            )._replace(tcp=traffic.Tcp(seq, acks, 1024))

        refused = [
            packet(0, server, syn, 100, 0),
            packet(20, client, syn_ack, 500, 101),
            packet(900, client, rst, 501, 101),
        ]
        lost = [
            packet(0, server, syn, 100, 0),
            packet(20, client, syn_ack, 500, 101),
            packet(60, server, ack, 601, 501, 500),
            packet(61, client, ack, 501, 101),
        ]
        for turn, packets in enumerate((refused, lost)):
            (handshakes,) = self.say(packets, "1h", turn, "rtt_handshake_ms > 0")
            self.assertEqual(
                [key for keys in handshakes.values() for key in keys if dict(key)["src_ip"] == server[0]], []
            )

    def test_latency_changes(self):
        """A step in the middle of every third connection; some others have changes too, since round trips vary."""
        cases = [
            (2, 8),
            (3, 20),
            (0.5, 2),
            (1.03, 40),
        ]  # none on the border: 52, 112 and 172 ms can be just 1 standard deviation from the mean
        found_in = collections.Counter()
        for seed in range(8):
            rng, packets = random.Random(seed), []
            for i in range(12):

                def far_ns(
                    now_ns,
                    base=rng.randrange(5, 40) * 10**6,
                    jitter=rng.choice([1, 10**5, 10**6]),
                    step=60 * 10**6 * (i % 3 == 0),
                ):
                    return base + rng.randrange(jitter) + (step if now_ns > traffic.BEGIN_NS + 2 * SECOND else 0)

                packets += tcp_simulator.connection(
                    rng,
                    traffic.BEGIN_NS + rng.randrange(SECOND // 2),
                    (f"10.1.0.{i}", 2000 + i),
                    ("10.2.0.1", 443),
                    loss=0.01 * (i % 2),
                    far_ns=far_ns,
                    segments=150,
                    in_flight=4,
                    gap_ns=lambda: 20 * 10**6,
                )
            packets = tuple(sorted(packets, key=lambda p: p.time_ns))
            name, length = self.LENGTHS[seed % len(self.LENGTHS)]
            windows = oracle.windows(packets, **length)
            said = self.say(
                packets,
                name,
                seed,
                *(f"latency-change:beta={beta},after={after}" for beta, after in cases),
                "latency_changes > 0",
                "latency-change:least=3",
            )
            for it, (beta, after) in zip(said, cases):
                truth = oracle.latency_changes(windows, beta, after)
                found_in.update(
                    (beta, int(dict(key)["src_port"] == 443 and int(dict(key)["dst_port"]) % 3 == 2000 % 3))
                    for keys in truth.values()
                    for key in keys
                )
                self.assert_says(it, truth, f"seed {seed}, windows of {name}, beyond {beta} after {after}")
            truth = oracle.latency_changes(windows)
            self.assertEqual(
                {
                    begin: {key: values["latency_changes"] for key, values in keys.items()}
                    for begin, keys in said[4].items()
                },
                {
                    begin: {key: values["latency_changes"] for key, values in keys.items()}
                    for begin, keys in truth.items()
                    if keys
                },
            )
            self.assert_says(
                said[5],
                {
                    begin: {key: values for key, values in keys.items() if values["latency_changes"] >= 3}
                    for begin, keys in truth.items()
                },
                f"seed {seed}, three at least",
            )
        for beta, _ in cases:
            self.assertGreater(found_in[beta, 1], 30, f"planted steps, beyond {beta}")

    def test_zero_windows(self):
        stalled = 0
        for what, packets, windows, *how in self.captures(10, stalls_at=3, stalls_ns=700 * tcp_simulator.MS):
            said, many, counts = self.say(packets, *how, "zero-windows", "zero-windows:least=3", self.COUNTS)
            for it, least in ((said, 1), (many, 3)):
                self.assert_says(
                    it,
                    self.truth(
                        windows, lambda c: c.zero_windows >= least, lambda c: {"tcp_zero_windows": c.zero_windows}
                    ),
                    what,
                )
            self.assert_says(
                counts,
                self.truth(
                    windows,
                    lambda c: True,
                    lambda c: {
                        "tcp_retransmissions": c.retransmission,
                        "tcp_out_of_order": 0,
                        "tcp_lost_segments": 0,
                        "tcp_acked_unseen": 0,
                        "tcp_payload_bytes": c.payload_bytes,
                    },
                ),
                f"probes are no retransmissions, {what}",
            )
            stalled += sum(c.zero_windows for window in windows for c in oracle.tcp_counts(window).values())
        self.assertGreater(stalled, 500)

    def test_conditions_of_tcp_flows(self):
        """Over each other, and over fields that a flow may lack; other protocols have none."""
        packets = tuple(sorted(tcp_simulator.connections(5) + traffic.bursts(3)[:2000], key=lambda p: p.time_ns))
        packets = tuple(
            p if p.tcp else p._replace(protocol=traffic.UDP, tcp_flags=0, ip_bytes=92, wire_bytes=106) for p in packets
        )
        windows = oracle.windows(packets, ns=SECOND)
        only_tcp = oracle.windows(tuple(p for p in packets if p.tcp), ns=SECOND)
        cases = [
            (
                "tcp_retransmissions * 20 > tcp_data_packets and tcp_data_packets > 10",
                lambda c: c.data_packets > 10 and c.retransmission * 20 > c.data_packets,
                lambda c: {"tcp_retransmissions": c.retransmission, "tcp_data_packets": c.data_packets},
            ),
            (
                "rtt_samples >= 3 and rtt_max_ms > 2 * rtt_min_ms",
                lambda c: len(c.round_trips_ns) >= 3 and max(c.round_trips_ns) > 2 * min(c.round_trips_ns),
                lambda c: {name: c.round_trips()[name] for name in ("rtt_samples", "rtt_max_ms", "rtt_min_ms")},
            ),
            (
                "tcp_payload_bytes > 5000 and not tcp_retransmissions > 0",
                lambda c: c.payload_bytes > 5000 and c.retransmission == 0,
                lambda c: {"tcp_payload_bytes": c.payload_bytes, "tcp_retransmissions": 0},
            ),
            (
                "tcp_data_packets >= 0 and packets > 5",
                lambda c: c.packets > 5,
                lambda c: {"tcp_data_packets": c.data_packets},
            ),
        ]
        self.assertLess(sum(len(window.packets) for window in only_tcp), sum(len(window.packets) for window in windows))
        for turn, (text, holds, values) in enumerate(cases):
            (said,) = self.say(packets, "1s", turn, text)
            self.assertGreater(sum(map(len, said.values())), 5, text)
            self.assert_says(said, self.truth(only_tcp, holds, values), text)

    def test_tcp_tasks_take_flows_of_five_tuples(self):
        for task in (
            "retransmissions",
            "lost-segments",
            "zero-windows",
            "latency-change",
            "it=rtt_mean_ms > 1",
            "quantiles:of=rtt_max_ms",
        ):
            for key in ("src", "dst", "src-dst"):
                done = subprocess.run(
                    [PROGRAM, "watch", "-g", "flows=10", "--count", "1000", "--key", key, "--task", task, "--quiet"],
                    capture_output=True,
                    text=True,
                    timeout=60,
                )
                self.assertEqual(done.returncode, 2, f"{task} by {key}")
                self.assertIn("takes flows of five-tuples: leave out --key", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_bursty(self):
        events = 0
        for seed in range(10):
            packets = traffic.bursts(seed)
            cases = [
                ("1ms", 10**6, 0.1, 10),
                ("50us", 50_000, 0.5, 3),
                ("10ms", 10**7, 0.9, 1),
                ("1s", SECOND, 1, 2),
                ("1us", 1000, 0, 20),
            ]
            name, length = self.LENGTHS[seed % len(self.LENGTHS)]
            windows = oracle.windows(packets, **length)
            self.assertGreater(sum(b.time_ns < a.time_ns for a, b in zip(packets, packets[1:])), 20, "late packets")
            said = self.say(
                packets,
                name,
                seed,
                *(f"bursty:within={within},share={share},packets={least}" for within, _, share, least in cases),
            )
            for it, (within, ns, share, least) in zip(said, cases):
                truth = oracle.bursty(windows, ns, share, least)
                events += sum(map(len, truth.values()))
                self.assert_says(it, truth, f"seed {seed}, windows of {name}, within {within}")
        self.assertGreater(events, 1000)


class Memory(unittest.TestCase):
    """What is said in advance is not exceeded, however many keys there are."""

    TRACE_BYTES = 64 + 4  # of a packet of built-in traffic, which is in memory before the start

    def peak_and_said(self, packets, *arguments, output=os.devnull, form="csv", times=1):
        command = [
            PROGRAM,
            "watch",
            "-g",
            f"flows={packets},packets={packets},rate={packets},protocol=tcp",
            "--count",
            str(times * packets),
            *arguments,
            "--format",
            form,
            "-o",
            output,
        ]
        peak = 0
        with tempfile.TemporaryFile("w+") as said, subprocess.Popen(command, stderr=said) as process:
            while (
                process.poll() is None
            ):  # by what the kernel says of it alone: resource usage begins with that of who started it
                with open(f"/proc/{process.pid}/status", encoding="ascii", errors="replace") as status:
                    found = re.search(r"VmHWM:\s*(\d+) kB", status.read())
                peak = max(peak, int(found[1]) * 1024 if found else 0)
                time.sleep(0.002)
            said.seek(0)
            message = said.read()
        self.assertEqual(process.returncode, 0, message)
        self.assertGreater(peak, packets * self.TRACE_BYTES)
        return peak - packets * self.TRACE_BYTES, int(re.search(r"at most (\d+) MB", message).group(1)) << 20

    def test_a_flood_of_a_million_sources(self):
        tasks = ["--task", "superspreaders", "--task", "heavy-hitters:threshold=0.01%", "--task", "entropy"]
        for room in (
            ["--flows", "1Mi"],
            ["--flows", "64Ki"],
            ["--flows", "64Ki", "--task-keys", "64Ki", "--task", "retransmissions"],
        ):
            with self.subTest(room=room):
                peak, said = self.peak_and_said(
                    1_000_000, *tasks, *room, "--top", "1", "--export", f"events:{os.devnull}"
                )
                self.assertLess(peak, said)

    @thorough
    def test_a_sorted_report_of_many_more_flows_than_have_room(self):
        for report in (["--sort", "packets"], ["--top", "1500000"]):
            with self.subTest(report=report), tempfile.NamedTemporaryFile() as output:
                peak, said = self.peak_and_said(2_000_000, "--flows", "64Ki", *report, output=output.name)
                self.assertLess(peak, said)

    @thorough
    def test_a_full_table_with_rates_since_the_report_before(self):
        for workers in ("1", "2"):
            with self.subTest(workers=workers), tempfile.NamedTemporaryFile("r+", encoding="ascii") as output:
                peak, said = self.peak_and_said(
                    1_000_000,
                    "--flows",
                    "256Ki",
                    "--workers",
                    workers,
                    "--columns",
                    "+interval_rate_pps",
                    "--every",
                    "20ms",
                    "--top",
                    "1",
                    output=output.name,
                    times=8,
                )
                self.assertLess(peak, said)
                rates = [row["interval_rate_pps"] for row in csv.DictReader(output)]
                self.assertTrue(any(rates), "one report after another")

    def test_a_report_of_the_first_few_has_little_that_waits(self):
        with tempfile.NamedTemporaryFile() as output:
            peak, said = self.peak_and_said(1_000_000, "--flows", "64Ki", output=output.name, form="text")
            self.assertLess(peak, said)
        self.assertLess(said - self.peak_and_said(1_000_000, "--flows", "64Ki", form="text")[1], 16 << 20)

    def test_a_text_report_of_many_more_flows_than_have_room(self):
        with tempfile.NamedTemporaryFile() as output:
            peak, said = self.peak_and_said(2_000_000, "--flows", "64Ki", "--top", "0", output=output.name, form="text")
            self.assertLess(peak, said)
            self.assertGreater(sum(1 for _ in output), 2_000_000)


class Microbursts(TaskTest):
    """Short times in which the link carries much: against whole windows of bins, in a dictionary."""

    @staticmethod
    def truth(windows, length, bin_ns, times=10, packets=10, rate=None):
        """window begin -> list of values."""
        result = {}
        for window in windows:
            bins = collections.defaultdict(lambda: [0, 0])
            for p in window.packets:
                bins[max(0, p.time_ns - window.begin) // bin_ns][0] += 1
                bins[max(0, p.time_ns - window.begin) // bin_ns][1] += p.wire_bytes
            own = [p.time_ns for p in window.packets]
            seen_ns = min(max(own) - min(own) + bin_ns, length) if window.partial else length
            mean = float(sum(p.wire_bytes for p in window.packets)) * bin_ns / seen_ns
            least = rate * bin_ns / 8e9 if rate else times * mean
            bursts = []
            for number in sorted(number for number, (_, size) in bins.items() if size >= least):
                if bursts and bursts[-1][-1] == number - 1:
                    bursts[-1].append(number)
                else:
                    bursts.append([number])
            result[window.begin] = [
                {
                    "begin_ns": window.begin + burst[0] * bin_ns,
                    "duration_ns": len(burst) * bin_ns,
                    "packets": sum(bins[n][0] for n in burst),
                    "wire_bytes": sum(bins[n][1] for n in burst),
                    "peak_bps": 8e9 * max(bins[n][1] for n in burst) / bin_ns,
                    "mean_bps": 8e9 * mean / bin_ns,
                }
                for burst in bursts
                if sum(bins[n][0] for n in burst) >= packets
            ]
        return result

    @staticmethod
    def train(at_ns, count, gap_ns, payload=1000):
        return [
            traffic.packet(at_ns + i * gap_ns, "10.1.7.7", f"10.6.0.{i % 4}", payload=payload) for i in range(count)
        ]

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="parshall-bursts-")
        rng, second = random.Random(7), lambda n: traffic.BEGIN_NS // SECOND * SECOND + int(n * SECOND)
        cls.planted = {
            "within a bin": cls.train(second(1.1) + 10_000, 40, 1000),
            "across a border": cls.train(second(1.2) - 20_000, 40, 1000),
            "of a millisecond": cls.train(second(1.3), 400, 2500),
            "two, a bin apart": cls.train(second(1.4), 30, 3000) + cls.train(second(1.4) + 200_000, 30, 3000),
            "at the start": cls.train(second(2), 50, 1000),
            "at the end": cls.train(second(3) - 50_000, 50, 1000),
            "across windows": cls.train(second(4) - 40_000, 80, 1000),
            "few but large": cls.train(second(4.5), 6, 1000, 1400),
            "the last": cls.train(second(5.5), 50, 1000),
        }
        packets = sorted(
            itertools.chain(traffic.background(rng, traffic.BEGIN_NS, 5.2, 2000), *cls.planted.values()),
            key=lambda p: p.time_ns,
        )
        cls.packets = tuple(
            p._replace(time_ns=max(traffic.BEGIN_NS, p.time_ns - rng.choice([5000, 10**6, 3 * 10**8, 2 * SECOND])))
            if rng.random() < 0.01 and p.src != "10.1.7.7" and p.time_ns > traffic.BEGIN_NS + SECOND
            else p
            for p in packets
        )
        cls.capture = os.path.join(cls.folder.name, "bursts.pcap")
        traffic.write_capture(cls.capture, cls.packets)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, spec, window, bin_ns, arguments=(), least=1, **how):
        name, length = window
        events, _ = run(self.capture, "--task", f"microbursts:{spec}", "--window", name, *arguments)
        said = collections.defaultdict(list)
        for event in events:
            self.assertTrue(event["exact"])
            self.assertIsNone(event["key"])
            said[event["window"]["begin_ns"]].append(event["values"])
        truth = self.truth(oracle.windows(self.packets, ns=length), length, bin_ns, **how)
        for begin, bursts in truth.items():
            self.assert_alike(
                dict(enumerate(said.pop(begin, []))), dict(enumerate(bursts)), f"{spec}, window from {begin}:"
            )
        self.assertEqual(said, {})
        self.assertGreaterEqual(len(events), least, "hardly anything is tested")
        return [values for begin in sorted(truth) for values in truth[begin]]

    def test_planted_bursts(self):
        bursts = self.check("", ("1s", SECOND), 100_000, least=len(self.planted))
        for name, train in self.planted.items():
            covered = sum(
                b["packets"]
                for b in bursts
                if b["begin_ns"] <= train[-1].time_ns and b["begin_ns"] + b["duration_ns"] > train[0].time_ns
            )
            self.assertGreaterEqual(covered, 0 if name == "few but large" else len(train), name)
        at = lambda name: [
            b
            for b in bursts
            if b["begin_ns"] <= self.planted[name][-1].time_ns
            and b["begin_ns"] + b["duration_ns"] > self.planted[name][0].time_ns
        ]
        self.assertEqual([b["duration_ns"] for b in at("across a border")], [200_000])
        self.assertEqual([b["duration_ns"] for b in at("of a millisecond")], [1_000_000])
        self.assertEqual(len(at("two, a bin apart")), 2)
        self.assertEqual(len(at("across windows")), 2, "one in each window")
        self.assertEqual(at("few but large"), [], "fewer than ten packets")

    def test_every_parameter(self):
        second = ("1s", SECOND)
        self.check("packets=1", second, 100_000, packets=1, least=15)
        self.check("packets=60", second, 100_000, packets=60)
        self.check("bin=10ms,times=1,packets=1,most=100000", second, 10_000_000, times=1, packets=1, least=100)
        self.check("bin=1ms,times=2.5,packets=3,most=100000", second, 1_000_000, times=2.5, packets=3, least=15)
        self.check("bin=1us,times=500,packets=1,most=100000", second, 1000, times=500, packets=1, least=15)
        self.check("bin=7us,times=30,packets=5,most=100000", second, 7000, times=30, packets=5, least=5)
        self.check("bin=333ms,times=1,packets=1", second, 333_000_000, times=1, packets=1, least=4)
        for rate, bps in (("1e9", 10**9), ("5e7", 5 * 10**7), ("100000", 10**5)):
            self.check(f"rate={rate},most=100000", second, 100_000, rate=bps, least=5)
        self.check("rate=5e8,packets=45,bin=50us", second, 50_000, rate=5 * 10**8, packets=45, least=5)

    def test_every_window_and_arrangement(self):
        for window, (model, workers) in itertools.product(
            (("10ms", SECOND // 100), ("100ms", SECOND // 10), ("30s", 30 * SECOND)), ARRANGEMENTS
        ):
            with self.subTest(window=window, model=model, workers=workers):
                self.check(
                    "times=5,most=100000",
                    window,
                    100_000,
                    ["--threads", model, "--workers", str(workers)],
                    times=5,
                    least=5,
                )

    def test_several_at_once(self):
        """Those of one window length share its bins; others have their own."""
        specs = [
            "microbursts:name=a",
            "microbursts:name=b,times=2,packets=3",
            "microbursts:name=c,window=100ms,bin=1ms",
            "count",
        ]
        together, _ = run(self.capture, *itertools.chain.from_iterable(("--task", spec) for spec in specs))
        for spec in specs:
            alone, _ = run(self.capture, "--task", spec)
            task = alone[0]["task"]
            self.assertEqual([event for event in together if event["task"] == task], alone)

    def test_errors(self):
        cases = [
            (["--task", "microbursts:bin=999ns"], "bin"),
            (["--task", "microbursts:bin=1s"], "bin"),
            (["--task", "microbursts:bin=2s"], "bin"),
            (["--task", "microbursts:bin=1us", "--window", "2s"], "bin"),
            (["--task", "microbursts", "--window", "2000p"], "windows of time"),
            (
                ["--task", "microbursts:name=a", "--task", "microbursts:name=b,bin=1ms"],
                "bin: another task of this window length",
            ),
            (["--task", "microbursts:times=0.5"], "times"),
            (["--task", "microbursts:packets=0"], "packets"),
            (["--task", "microbursts:rate=0"], "rate"),
            (["--task", "microbursts:rate=fast"], "rate"),
            (["--task", "microbursts:bin=x"], "bin"),
        ]
        for arguments, mention in cases:
            with self.subTest(arguments=arguments):
                done = subprocess.run(
                    [PROGRAM, "watch", "-g", "flows=10", "--count", "1000", "--quiet", *arguments],
                    capture_output=True,
                    text=True,
                    timeout=60,
                )
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, f"microbursts.*{mention}|{mention}.*microbursts")
                self.assertEqual(len(done.stderr.splitlines()), 1)


class LittleRoom(unittest.TestCase):
    """More keys than --task-keys: what is said is within what it says."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="parshall-tasks-")
        cls.capture = os.path.join(cls.folder.name, "flood.pcap")
        begin = traffic.BEGIN_NS // SECOND * SECOND
        flood = traffic.spread(
            begin,
            1,
            (
                traffic.packet(
                    0,
                    f"172.{16 + i % 16}.{i // 256 % 256}.{i % 256}",
                    "10.0.0.1",
                    traffic.TCP,
                    1024 + i % 60000,
                    80,
                    0,
                    2,
                )
                for i in range(30000)
            ),
        )
        heavy = [
            traffic.spread(
                begin,
                1,
                (
                    traffic.packet(0, f"10.0.1.{n}", "10.0.0.2", traffic.TCP, 1000, 443, 1000)
                    for _ in range(400 + 10 * n)
                ),
            )
            for n in range(20)
        ]
        cls.packets = tuple(sorted(itertools.chain(flood, *heavy), key=lambda p: p.time_ns))
        traffic.write_capture(cls.capture, cls.packets)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_heavy_hitters_survive_a_flood_of_keys_within_the_error(self):
        (window,) = oracle.windows(self.packets, ns=SECOND)
        truth = oracle.aggregate(window, "src")
        for by in ("packets", "wire_bytes"):
            events, _ = findings(
                self.capture, "--task", f"heavy-hitters:by={by},threshold=300", "--task-keys", "1024", "--flows", "1024"
            )
            self.assertGreaterEqual(len(events), 20)
            for event in events:
                key = tuple(sorted(event["key"].items()))
                missing = event["error"][f"{by}_missing"]
                self.assertLess(missing, 0.2 * event["values"][by], "an error that says something")
                self.assertGreater(missing, 0)
                self.assertLessEqual(event["values"][by], truth[key][by])
                self.assertGreaterEqual(event["values"][by] + missing, truth[key][by])
            told = {tuple(sorted(event["key"].items())) for event in events}
            self.assertLessEqual(
                {k for k, c in truth.items() if c[by] >= 300 + events[0]["error"][f"{by}_missing"]}, told
            )

    def assert_within_errors(self, events, truth_of):
        """What is said is no more than the truth, and what may be missing makes it no less."""
        for event in events:
            truth = truth_of(tuple(sorted(event["key"].items())))
            for name, value in truth.items():
                said = event["values"][name]
                self.assertLessEqual(said, value, f"{event}")
                self.assertGreaterEqual(said + event.get("error", {}).get(f"{name}_missing", 0), value, f"{event}")

    def test_every_count_of_a_heavy_hitter_is_within_its_error(self):
        truth = oracle.aggregate(oracle.windows(self.packets, ns=SECOND)[0], "src")
        for by in ("packets", "new_flows"):
            events, _ = findings(
                self.capture, "--task", f"heavy-hitters:by={by},top=1000,most=1000", "--task-keys", "1024"
            )
            self.assertGreater(len(events), 500)
            self.assert_within_errors(events, lambda key: truth[key])

    def test_keys_of_equal_weight_are_dropped_by_halves(self):
        folder = tempfile.TemporaryDirectory()
        capture = os.path.join(folder.name, "ties.pcap")
        traffic.write_capture(
            capture,
            traffic.spread(
                traffic.BEGIN_NS,
                0.5,
                (traffic.packet(0, f"10.0.{i % 1500 // 250}.{i % 250}", "10.9.0.1") for i in range(30 * 1500)),
            ),
        )
        events, _ = findings(
            capture, "--task", "heavy-hitters:top=2000,most=2000", "--task-keys", "1024", "--window", "10s"
        )
        self.assertGreater(len(events), 500)
        folder.cleanup()

    def test_prefixes_lack_no_more_than_they_say(self):
        (window,) = oracle.windows(self.packets, ns=SECOND)
        for by in ("packets", "wire_bytes"):
            events, _ = findings(
                self.capture, "--task", f"hierarchical-heavy-hitters:by={by},threshold=0.2%", "--task-keys", "1024"
            )
            wholes = {}
            for bits4, bits6 in ((32, 128), (24, 64), (16, 48), (8, 32), (0, 0)):
                for key, counts in oracle.aggregate(window, f"src/{bits4}/{bits6}").items():
                    wholes[key] = {by: counts[by]}
            self.assertTrue(any("/" in event["key"]["src_ip"] for event in events))
            self.assert_within_errors(events, lambda key: wholes[key])

    def test_entropy_is_too_large_by_no_more_than_it_says(self):
        (window,) = oracle.windows(self.packets, ns=SECOND)
        for key, by in (("src", "packets"), ("5tuple", "packets"), ("src", "wire_bytes"), ("src", "new_flows")):
            events, _ = findings(self.capture, "--task", f"entropy:key={key},by={by}", "--task-keys", "1024")
            truth = oracle.entropy(window, key, by)[()]
            said, error = events[0]["values"], events[0]["error"]
            self.assertLessEqual(truth["entropy_bits"], said["entropy_bits"] + 1e-9)
            self.assertLessEqual(said["entropy_bits"] - error["entropy_bits_too_many"], truth["entropy_bits"])
            self.assertLessEqual(said["keys"] - error["keys_too_many"], truth["keys"])
            self.assertLessEqual(truth["keys"], said["keys"])

    def test_entropy_of_what_few_of_the_keys_dropped_have(self):
        """Twenty thousand old flows, eight new ones: what was dropped had nothing of it."""
        begin = traffic.BEGIN_NS // SECOND * SECOND
        old = [traffic.packet(0, f"172.16.{i // 250}.{i % 250}", "10.0.0.1", src_port=5) for i in range(20000)]
        new = [traffic.packet(0, f"10.0.2.{i}", "10.0.0.1", src_port=6) for i in range(8)]
        packets = traffic.spread(begin, 0.9, old) + traffic.spread(begin + SECOND, 0.9, old[:10000] + new + old[10000:])
        with tempfile.TemporaryDirectory() as folder:
            capture = os.path.join(folder, "old.pcap")
            traffic.write_capture(capture, packets)
            events, _ = findings(capture, "--task", "entropy:by=new_flows", "--task-keys", "1024")
            self.assertLessEqual(3, events[1]["values"]["entropy_bits"] + 1e-9)
            self.assertLessEqual(
                events[1]["values"]["entropy_bits"] - events[1].get("error", {}).get("entropy_bits_too_many", 0), 3
            )

    def test_a_change_after_a_window_that_lacked_keys_is_not_said_to_be_exact(self):
        begin = traffic.BEGIN_NS // SECOND * SECOND
        packets = []
        for second in range(6):
            steady = [traffic.packet(0, f"10.0.1.{i}", "10.0.0.1", payload=1400) for i in range(5)]
            flood = (
                [traffic.packet(0, f"172.16.{i // 250}.{i % 250}", "10.0.0.1") for i in range(20000)] * 2
                if second == 2
                else []
            )
            packets += traffic.spread(begin + second * SECOND, 0.9, steady + flood)
        with tempfile.TemporaryDirectory() as folder:
            capture = os.path.join(folder, "steady.pcap")
            traffic.write_capture(capture, packets)
            events, _ = findings(
                capture, "--task", "change:method=previous,threshold=1000,most=100000", "--task-keys", "1024"
            )
            after = [
                event
                for event in events
                if event["window"]["begin_ns"] == begin + 3 * SECOND and event["key"]["src_ip"].startswith("10.0.1.")
            ]
            self.assertTrue(after, "the traffic was to drop steady keys")
            for event in after:
                self.assertFalse(event["exact"])
                self.assertGreaterEqual(
                    event["error"]["wire_bytes_expected_missing"], abs(event["values"]["wire_bytes_difference"])
                )

    def test_spreaders_say_what_is_missing(self):
        for method in ("exact", "bloom"):
            events, _ = run(
                self.capture, "--task", f"superspreaders:threshold=0,method={method}", "--task-keys", "1024"
            )
            left_out = [event for event in events if "keys_left_out" in event["values"]]
            self.assertTrue(left_out)
            self.assertTrue(all(event["values"]["keys_left_out"] > 5000 for event in left_out))
        begin = traffic.BEGIN_NS // SECOND * SECOND
        pairs = [traffic.packet(0, f"10.0.1.{i}", f"10.1.{j}.{i}") for j in range(200) for i in range(100)]
        with tempfile.TemporaryDirectory() as folder:
            capture = os.path.join(folder, "pairs.pcap")
            traffic.write_capture(capture, traffic.spread(begin, 0.9, pairs))
            events, _ = findings(capture, "--task", "superspreaders:threshold=5", "--task-keys", "1024")
            self.assertEqual(len(events), 100)
            for event in events:
                self.assertGreaterEqual(
                    event["values"]["destinations"] + event.get("error", {}).get("destinations_missing", 0), 200
                )

    def test_estimates_beyond_their_range_are_said_to_be_lower_bounds(self):
        begin = traffic.BEGIN_NS // SECOND * SECOND
        with tempfile.TemporaryDirectory() as folder:
            capture = os.path.join(folder, "scan.pcap")
            for count, method, bounded in (
                (500, "bloom", True),
                (2000, "bloom", False),
                (3000, "linear", True),
                (20000, "linear", False),
                (20000, "hyperloglog", True),
            ):
                traffic.write_capture(
                    capture,
                    traffic.spread(
                        begin,
                        0.9,
                        (
                            traffic.packet(0, "10.0.0.1", f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}")
                            for i in range(1 << 8, (1 << 8) + count)
                        ),
                    ),
                )
                for seed in range(5):
                    events, _ = findings(capture, "--task", f"superspreaders:method={method}", "--seed", str(seed))
                    said, error = events[0]["values"]["destinations"], events[0]["error"]
                    if bounded:
                        self.assertLessEqual(
                            abs(said - count), error["destinations_relative"] * said * 1.3, f"{method} {count}"
                        )
                    else:
                        self.assertLessEqual(error["destinations_at_least"], count)

    def test_more_events_than_anyone_takes_at_once_lose_nothing_and_stop_nothing(self):
        """Reports wait for workers, those for the tasks, and those for room for their events."""
        windows = 500 if is_thorough() else 100
        done = subprocess.run(
            [
                PROGRAM,
                "watch",
                "-g",
                "flows=50000,packets=500000",
                "--count",
                str(2000 * windows),
                "--task",
                "heavy-hitters:top=1000",
                "--window",
                "2000p",
                "--every",
                "50ms",
                "--format",
                "json",
                "--quiet",
                "--top",
                "1",
                "--export",
                f"events:{os.devnull}",
            ],
            capture_output=True,
            timeout=120,
        )
        last = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(done.returncode, 0)
        self.assertEqual(last["summary"]["tasks"]["events"]["heavy-hitters"]["written"], windows * 1000)
        self.assertEqual(last["summary"]["tasks"]["events_not_taken"], 0)

    def test_a_time_beyond_all_others_loses_no_window(self):
        """A broken time stamp, as large as a number can be, in the middle and at the end; any number of workers."""
        begin = traffic.BEGIN_NS // SECOND * SECOND
        packets = traffic.spread(begin, 3, (traffic.packet(0, f"10.0.0.{i % 50}", "10.0.1.1") for i in range(3000)))
        for broken in (1500, 2999):
            with tempfile.TemporaryDirectory() as folder:
                capture = os.path.join(folder, "broken.pcapng")
                write_pcapng(capture, packets, {broken: 2**64 - 1})
                for model, workers in ARRANGEMENTS:
                    with self.subTest(broken=broken, model=model, workers=workers):
                        events, report = run(capture, "--task", "count", "--threads", model, "--workers", str(workers))
                        self.assertEqual(sum(event["values"]["packets"] for event in events), 3000)
                        self.assertTrue(
                            all(event["window"]["begin_ns"] < event["window"]["end_ns"] for event in events)
                        )

    def test_a_task_says_what_it_left_out(self):
        _, report = run(self.capture, "--task", "heavy-hitters:threshold=1,most=100")
        self.assertEqual(
            report["summary"]["tasks"]["events"]["heavy-hitters"],
            {"written": 100, "left_out": 30000 + 20 - 100, "keys_left_out": 0},
        )
        self.assertEqual(len(report["events"]), 100)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
