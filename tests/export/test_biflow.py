# SPDX-License-Identifier: Apache-2.0
"""Biflows (RFC 5103): each connection is one record of the initiator, whoever reads it and whatever ends it, in every
output; no packet is lost or invented.

usage: test_biflow.py PARSHALL [unittest arguments]
"""

import collections
import csv
import gzip
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import typing
import unittest

from ipfix import Reader

PROGRAM = None
CASES = pathlib.Path(__file__).resolve().parent.parent / "cases"
COUNTS = ("packets", "ip_bytes", "wire_bytes", "tcp_flags")
CLIENT, SERVER = "10.0.0.1", "10.0.0.2"


class Biflows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, status=0):
        done = subprocess.run(
            [PROGRAM, "watch", "-q", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def watch(self, *arguments, name="flows.csv", columns="tcp_flags"):
        """Rows of the exported CSV; every account balances."""
        path = self.folder / name
        done = self.run_program(
            "--columns", f"+{columns}", "--format", "json", "--top", "1", "--export", f"csv:{path}", *arguments
        )
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        summary = json.loads(done.stdout)["summary"]
        self.assertTrue(summary["accounting"]["balanced"])
        for output in summary["outputs"]:
            for unit in ("records", "packets"):
                self.assertEqual(output["offered"][unit], output["written"][unit] + output["dropped"][unit])
            self.assertEqual(output["written"]["packets"], summary["accounting"]["counted"])
        self.assertEqual(
            sum(int(row["packets"]) + int(row.get("reverse_packets") or 0) for row in rows),
            summary["accounting"]["counted"],
        )
        return rows

    @staticmethod
    def key(row):
        return tuple(row[name] for name in ("protocol", "src_ip", "src_port", "dst_ip", "dst_port"))

    def compare(self, *traffic):
        """With and without; of flows that have one record each. How many are of both directions."""
        rows = self.watch(*traffic, name="uniflows.csv")
        uniflows = {self.key(row): row for row in rows}
        self.assertEqual(len(uniflows), len(rows))
        both = 0
        for row in self.watch(*traffic, "--biflow"):
            forward = uniflows.pop(self.key(row))
            self.assertEqual([row[name] for name in COUNTS], [forward[name] for name in COUNTS])
            protocol, src_ip, src_port, dst_ip, dst_port = self.key(row)
            if row["reverse_packets"] == "":
                continue
            both += 1
            back = uniflows.pop((protocol, dst_ip, dst_port, src_ip, src_port))
            self.assertEqual([row["reverse_" + name] for name in COUNTS], [back[name] for name in COUNTS])
            times = [[int(each[name]) for each in (forward, back)] for name in ("first_seen_ns", "last_seen_ns")]
            self.assertEqual([int(row["first_seen_ns"]), int(row["last_seen_ns"])], [min(times[0]), max(times[1])])
        self.assertEqual(uniflows, {}, "each is in one")
        return both

    def test_chosen_columns_without_a_packet_column_are_verified_by_the_rest(self):
        for columns in ("src_ip,dst_ip", "src_ip,packets", "src_ip,reverse_packets", "src_ip,packets,reverse_packets"):
            for suffix, kind in (("parquet", "parquet"), ("jsonl", "jsonl"), ("ipfix", "ipfix")):
                with self.subTest(columns=columns, kind=kind):
                    path = self.folder / f"{columns}.{suffix}"
                    self.run_program(
                        "-q",
                        "-r",
                        CASES / "biflow_active_timeout_udp.pcap",
                        "--biflow",
                        "--columns",
                        columns,
                        "--export",
                        f"{kind}:{path}",
                    )
                    subprocess.run([PROGRAM, "verify", path], check=True, stdout=subprocess.DEVNULL)

    def test_connections_become_records_of_both_directions(self):
        traffic = "-g", "flows=5000,packets=300000,protocol=connections", "--count", "300k"
        for more in (
            (),
            ("--workers", "2"),
            ("--workers", "3", "--threads", "pipeline"),
            ("--identity", "fingerprint"),
            ("--key", "src-dst"),
        ):
            with self.subTest(more=more):
                self.assertGreater(self.compare(*traffic, *more), 2000)

    def test_ipv6_connections_do_too(self):
        self.assertGreater(
            self.compare(
                "-g", "flows=5000,packets=100000,protocol=connections,ipv6=0.5", "--count", "100k", "--workers", "2"
            ),
            2000,
        )

    def test_what_goes_one_way_stays_as_it_is(self):
        self.assertEqual(self.compare("-g", "flows=5000,packets=100000", "--count", "100k"), 0)

    def test_a_link_that_does_not_wait(self):
        rows = self.watch(
            "-g", "flows=2000,pace=50000,protocol=connections", "--idle", "200ms", "--duration", "3s", "--biflow"
        )
        self.assertGreater(sum(row["reverse_packets"] != "" for row in rows), 100)

    def test_every_connection_is_one_record_whoever_reads(self):
        with gzip.open(CASES / "biflow_1500_connections.pcap.gz") as packed:
            capture = self.folder / "connections.pcap"
            capture.write_bytes(packed.read())
        seen = []
        for threads in (
            ("--workers", "1"),
            ("--workers", "2"),
            ("--workers", "4"),
            ("--workers", "1", "--threads", "pipeline"),
            ("--workers", "4", "--threads", "pipeline"),
        ):
            for seed in (1, 2):
                rows = self.watch(
                    "-r",
                    capture,
                    "--biflow",
                    "--idle",
                    "15s",
                    "--linger",
                    "1s",
                    "--seed",
                    seed,
                    *threads,
                    columns="tcp_flags,end_reason",
                )
                self.assertEqual(len(rows), 1500)
                self.assertEqual(
                    {(row["packets"], row["reverse_packets"], row["biflow_direction"], row["dst_ip"]) for row in rows},
                    {("4", "2", "1", SERVER)},
                )
                seen.append(sorted(tuple(row.values()) for row in rows))
        self.assertTrue(all(each == seen[0] for each in seen), "the same records, for every seed and number of workers")

    def test_every_output_counts_the_source_s_direction(self):
        capture = CASES / "biflow_synack_first_in_file.pcap"
        base = "-r", capture, "--biflow"
        wanted = {
            "src_ip": CLIENT,
            "dst_ip": SERVER,
            "packets": 3,
            "ip_bytes": 122,
            "reverse_packets": 2,
            "reverse_ip_bytes": 80,
            "biflow_direction": 1,
        }

        def check(flow, where):
            self.assertEqual(
                {name: int(flow[name]) if isinstance(value, int) else flow[name] for name, value in wanted.items()},
                wanted,
                where,
            )

        for more in ((), ("--top", "5"), ("--sort", "packets"), ("--every", "1s")):
            text = self.run_program(*base, *more).stdout
            rows = [line.split() for line in text.splitlines() if line.startswith("TCP")]
            self.assertEqual(len(rows), 1, text)
            self.assertEqual(rows[0][:6], ["TCP", f"{CLIENT}:40000", f"{SERVER}:80", "3", "122", "164"], more)
            self.assertIn("2", rows[0][6:])
            self.assertIn("80", rows[0][6:])
        for more in ((), ("--sort", "packets"), ("--top", "5"), ("--sort", "reverse_packets")):
            for kind in ("json", "jsonl", "csv"):
                done = (
                    self.run_program(*base, "--format", kind, *more)
                    if kind != "jsonl"
                    else self.run_program(*base, "--export", "jsonl:-", *more, "--output", self.folder / "report")
                )
                flows = {
                    "json": lambda text: json.loads(text)["flows"],
                    "jsonl": lambda text: [
                        json.loads(line)["flow"] for line in text.splitlines() if line.startswith('{"flow"')
                    ],
                    "csv": lambda text: list(csv.DictReader(text.splitlines())),
                }[kind](done.stdout)
                self.assertEqual(len(flows), 1, done.stdout)
                check(flows[0], (kind, more))
        for line in self.run_program(*base, "--format", "json", "--every", "1s").stdout.splitlines():
            (flow,) = json.loads(line)["flows"]
            check(flow, "every")

    def test_who_began_is_told_by_syn_and_order_not_by_the_table(self):
        for seed in range(1, 9):
            for protocol, direction in (("dns", "0"), ("tcp", "1")):
                rows = self.watch("-r", CASES / f"biflow_equal_times_{protocol}.pcap", "--biflow", "--seed", seed)
                self.assertEqual(len(rows), 20)
                self.assertEqual({row["dst_ip"] for row in rows}, {SERVER})
                self.assertEqual({row["biflow_direction"] for row in rows}, {direction}, protocol)

    def statistics_of_directions(self, packets, of_each, of_both, *more):
        """Checks each direction's statistics against flows of one direction, and those of both against flows of a
        capture in which what comes back goes the same way."""
        paths = {name: self.folder / f"{name}.pcap" for name in ("packets", "one_way")}
        paths["packets"].write_bytes(pcap_of(packets))
        paths["one_way"].write_bytes(pcap_of(one_way(packets)))
        columns = [
            *of_each,
            *(f"{way}_{name}" for way, names in (("reverse", of_each), ("both", of_both)) for name in names),
        ]
        biflows = self.watch("-r", paths["packets"], "--biflow", *more, columns=",".join(columns))
        rows = {
            self.key(row): row for row in self.watch("-r", paths["packets"], *more, columns=",".join(of_each or COUNTS))
        }
        together = {self.key(row): row for row in self.watch("-r", paths["one_way"], *more, columns=",".join(of_both))}
        self.assertEqual(len(together), len(biflows))
        answered = 0
        for row in biflows:
            protocol, src_ip, src_port, dst_ip, dst_port = self.key(row)
            back = rows.get((protocol, dst_ip, dst_port, src_ip, src_port))
            forward = rows.get(self.key(row), {})
            both = together.get(self.key(row)) or together[(protocol, dst_ip, dst_port, src_ip, src_port)]
            for name in of_each:
                self.assertEqual(row[name], forward[name], (name, self.key(row)))
                absent = "0" if name.startswith("tcp_flags_") and not name[-1].isdigit() else ""
                self.assertEqual(row[f"reverse_{name}"], back[name] if back else absent, (name, self.key(row)))
            for name in of_both:
                self.assertEqual(row[f"both_{name}"], both[name], (name, self.key(row)))
            answered += back is not None
        return answered

    def test_statistics_of_the_reverse_direction_and_of_both(self):
        draw = random.Random(7)
        packets = [packet._replace(flags=packet.flags & ACK) for packet in random_packets(draw, 12_000)]
        packets += silent_servers(packets[-1].time_ns, 30)
        of_each = (
            "size_mean_bytes",
            "iat_min_ns",
            "iat_p99_ns",
            "iat_1_ns",
            "gap_mean_packets",
            "tcp_flags_ack",
            "ttl_max",
        )
        of_both = (
            "iat_mean_ns",
            "iat_sd_ns",
            "iat_p50_ns",
            "gap_max_packets",
            "gap_p90_packets",
            "ttl_3",
            "tcp_flags_2",
        )
        for more in (
            (),
            ("--seed", "9"),
            ("--workers", "2"),
            ("--workers", "3", "--threads", "pipeline"),
            ("--quantiles", "p2"),
        ):
            with self.subTest(more=more):
                self.assertEqual(self.statistics_of_directions(packets, of_each, of_both, *more), 150)

    def test_statistics_of_one_direction_alone_may_be_asked(self):
        packets = [packet._replace(flags=packet.flags & ACK) for packet in random_packets(random.Random(3), 3000)]
        self.statistics_of_directions(packets, (), ("iat_max_ns",))
        capture = self.folder / "packets.pcap"
        rows = self.watch("-r", capture, "--biflow", columns="iat_max_ns,reverse_iat_max_ns")
        for name in ("iat_max_ns", "reverse_iat_max_ns"):
            alone = self.watch("-r", capture, "--biflow", columns=name)
            self.assertEqual(*({self.key(row): row[name] for row in some} for some in (alone, rows)))
            self.assertTrue(any(row[name] for row in rows))

    def test_reports_have_statistics_of_both_alone(self):
        """Flows that live, in a report and in one of several."""
        capture = CASES / "biflow_active_timeout_udp.pcap"
        (row,) = self.watch("-r", capture, "--biflow", columns="both_iat_max_ns")
        wanted = int(row["both_iat_max_ns"])
        self.assertGreater(wanted, 0)
        base = "-r", capture, "--biflow", "--columns", "+both_iat_max", "--format", "json"
        (flow,) = json.loads(self.run_program(*base).stdout)["flows"]
        self.assertEqual(flow["both_iat_max_ns"], wanted)
        reports = [json.loads(line) for line in self.run_program(*base, "--every", "1s").stdout.splitlines()]
        seen = [flow["both_iat_max_ns"] for report in reports for flow in report["flows"]]
        self.assertEqual(seen[-1], wanted)
        self.assertGreater(len(seen), 3)
        self.assertEqual(seen, sorted(seen, key=lambda value: value or 0))

    def test_statistics_of_directions_restart_with_each_record(self):
        """An active timeout begins a record; the first packets are still the connection's."""
        rows = self.watch(
            "-r",
            CASES / "biflow_active_timeout_udp.pcap",
            "--biflow",
            "--active",
            "1s",
            columns="record,size_max_bytes,reverse_size_max_bytes,both_size_max_bytes,both_iat_max_ns,both_size_1_bytes",
        )
        for row in rows:
            sizes = [row[name] for name in ("size_max_bytes", "reverse_size_max_bytes")]
            self.assertEqual(
                [size != "" for size in sizes], [(row[f"{way}packets"] or "0") != "0" for way in ("", "reverse_")]
            )
            self.assertEqual(row["both_size_max_bytes"], str(max(int(size or 0) for size in sizes)))
            self.assertTrue(row["both_iat_max_ns"] == "" or int(row["both_iat_max_ns"]) <= S)
        self.assertEqual(len({row["both_size_1_bytes"] for row in rows}), 1)
        self.assertGreater(sum(row["size_max_bytes"] == "" for row in rows), 3)

    def test_round_trips_of_both_sides_come_together(self):
        names = [f"{way}{name}" for name in ("rtt_min_ns", "tcp_retransmissions") for way in ("", "reverse_", "both_")]
        traffic = "-g", "flows=500,packets=30000,protocol=sessions,resend=0.02", "--count", "30k", "--seed", "4"
        rows = self.watch(*traffic, "--biflow", columns=",".join(names))
        known = [row for row in rows if row["rtt_min_ns"] and row["reverse_rtt_min_ns"]]
        self.assertGreater(len(known), 30)
        for row in known:
            self.assertEqual(int(row["both_rtt_min_ns"]), min(int(row["rtt_min_ns"]), int(row["reverse_rtt_min_ns"])))
        resent = [[int(row[f"{way}tcp_retransmissions"] or 0) for way in ("", "reverse_", "both_")] for row in rows]
        self.assertEqual([a + b for a, b, _ in resent], [both for *_, both in resent])
        self.assertGreater(sum(both for *_, both in resent), 30)

    def test_statistics_of_directions_are_of_biflows(self):
        for name in ("reverse_iat_mean", "both_size_p99_bytes", "reverse_packets"):
            done = self.run_program("-g", "flows=10", "--count", "10", "--columns", f"+{name}", status=2)
            self.assertIn(f"{name} is of biflows: give --biflow", done.stderr)
        done = self.run_program("-g", "flows=10", "--count", "10", "--biflow", "--columns", "+both_iat_maen", status=2)
        self.assertIn("both_iat_mean", done.stderr)
        (row,) = self.watch("-r", CASES / "biflow_synack_first_in_file.pcap", "--biflow", columns="both_first_flags_2")
        self.assertEqual([int(row[f"both_tcp_flags_{n}"]) for n in (1, 2)], [SYN | ACK, SYN])

    def test_the_initiator_stays_over_active_timeouts(self):
        rows = self.watch(
            "-r",
            CASES / "biflow_active_timeout_udp.pcap",
            "--biflow",
            "--active",
            "10s",
            columns="flow_id,record,packets_total",
        )
        self.assertEqual([row["record"] for row in rows], ["0", "1", "2"])
        self.assertEqual({row["src_ip"] for row in rows}, {CLIENT})
        self.assertEqual(len({row["flow_id"] for row in rows}), 1)
        totals = [int(row["packets_total"]) for row in rows]
        sums = [sum(int(row["packets"]) for row in rows[: i + 1]) for i in range(3)]
        self.assertEqual(totals, sums)
        self.assertEqual(len(set(totals)), 3)

    def test_a_direction_that_is_silent_in_a_record_has_nothing_of_the_one_before(self):
        """Statistics are of the source's packets in this record alone."""
        rows = self.watch(
            "-r",
            CASES / "biflow_active_timeout_udp.pcap",
            "--biflow",
            "--active",
            "1s",
            columns="record,size_max_bytes,size_mean_bytes,packets_total",
        )
        silent = [row for row in rows if row["packets"] == "0"]
        self.assertGreater(len(silent), 3)
        self.assertEqual({(row["size_max_bytes"], row["size_mean_bytes"]) for row in silent}, {("", "")})
        self.assertTrue(all(row["size_max_bytes"] for row in rows if row["packets"] != "0"))
        self.assertEqual([int(row["record"]) for row in rows], list(range(len(rows))))

    def test_idle_time_counts_packets_of_either_direction(self):
        (row,) = self.watch("-r", CASES / "biflow_one_side_idles.pcap", "--biflow", "--idle", "15s")
        self.assertEqual((row["src_ip"], row["biflow_direction"]), (CLIENT, "1"))

    def test_a_reset_of_either_side_ends_both_directions(self):
        rows = self.watch(
            "-r", CASES / "biflow_three_resets.pcap", "--biflow", "--linger", "1s", columns="tcp_flags,end_reason"
        )
        self.assertEqual(
            [(row["packets"], row["reverse_packets"]) for row in rows], [("4", "2"), ("5", "3"), ("6", "4")]
        )
        self.assertEqual({row["src_ip"] for row in rows}, {CLIENT})
        self.assertEqual([row["end_reason"] for row in rows], ["end_of_flow", "end_of_flow", "forced"])

    def test_a_fin_of_one_side_alone_does_not(self):
        capture = self.folder / "half.pcap"
        capture.write_bytes(half_closed())
        (row,) = self.watch("-r", capture, "--biflow", "--linger", "1s", "--idle", "1min")
        self.assertEqual((row["packets"], row["reverse_packets"]), ("2", "4"))

    def test_random_connections_are_those_of_an_oracle(self):
        """Timeouts, resets and initiators, for every seed and number of workers."""
        for seed in range(3):
            packets = random_packets(random.Random(seed), 20_000)
            capture = self.folder / "random.pcap"
            capture.write_bytes(pcap_of(packets))
            wanted = sorted(biflows_of(packets, idle_ns=2 * S, active_ns=5 * S, linger_ns=S // 2))
            self.assertGreater(len(wanted), 2000)
            for more in ((), ("--workers", "2"), ("--workers", "4", "--threads", "pipeline", "--seed", "9")):
                rows = self.watch(
                    "-r",
                    capture,
                    "--biflow",
                    "--idle",
                    "2s",
                    "--active",
                    "5s",
                    "--linger",
                    "500ms",
                    *more,
                    columns="tcp_flags,record,packets_total",
                )
                seen = sorted(
                    (
                        row["src_ip"],
                        int(row["src_port"]),
                        row["dst_ip"],
                        int(row["dst_port"]),
                        int(row["record"]),
                        int(row["packets"]),
                        int(row["reverse_packets"] or 0),
                        int(row["tcp_flags"]),
                        int(row["reverse_tcp_flags"] or 0),
                        int(row["packets_total"]),
                        int(row["biflow_direction"]),
                    )
                    for row in rows
                )
                self.assertEqual(seen, wanted, (seed, more))

    def test_tasks_see_what_they_see_without(self):
        traffic = (
            "-g",
            "flows=2000,packets=200000,protocol=sessions,resend=0.01",
            "--count",
            "200k",
            "--seed",
            "3",
            "--window",
            "50ms",
        )
        tasks = [
            word
            for task in ("heavy-hitters", "retransmissions", "superspreaders", "latency-change", "bursty")
            for word in ("--task", task)
        ]
        events = []
        for more in (
            (),
            ("--biflow",),
            ("--biflow", "--workers", "2"),
            ("--biflow", "--workers", "2", "--threads", "pipeline"),
        ):
            path = self.folder / "events"
            self.run_program(*traffic, *tasks, "--export", f"events:{path}", *more)
            events.append(sorted(path.read_text().splitlines()))
        self.assertGreater(len(events[0]), 20)
        for each in events[1:]:
            self.assertEqual(each, events[0])

    def test_evicted_connections_leave_whole(self):
        rows = self.watch(
            "-g",
            "flows=5000,packets=100000,protocol=connections",
            "--count",
            "100k",
            "--biflow",
            "--flows",
            "256",
            columns="end_reason",
        )
        self.assertGreater(sum(row["end_reason"] == "evicted" for row in rows), 1000)
        self.assertGreater(sum(row["reverse_packets"] != "" for row in rows), 1000)

    def test_ipfix_and_the_files_that_add_up_have_both(self):
        paths = {kind: self.folder / f"x.{kind}" for kind in ("ipfix", "jsonl", "parquet")}
        exports = [word for kind, path in paths.items() for word in ("--export", f"{kind}:{path}")]
        rows = self.watch("-g", "flows=5000,packets=300000,protocol=sessions", "--count", "300k", "--biflow", *exports)
        for path in paths.values():
            done = subprocess.run([PROGRAM, "verify", path], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        reader = Reader()
        reader.read(paths["ipfix"].read_bytes())
        wanted = sorted(
            (
                row["src_ip"],
                int(row["src_port"]),
                int(row["packets"]),
                int(row["reverse_packets"]),
                int(row["reverse_ip_bytes"]),
            )
            for row in rows
            if row["reverse_packets"]
        )
        seen = sorted(
            (flow["src"], flow["src_port"], flow["packets"], flow["reverse_packets"], flow["reverse_octets"])
            for flow in reader.flows
            if "reverse_packets" in flow
        )
        self.assertGreater(len(wanted), 1000)
        self.assertEqual(seen, wanted)

    def test_what_has_no_other_direction_is_refused(self):
        for words, said in (
            (("--key", "src"), "--biflow: a flow of one address"),
            (("--packets-only",), "leave out --biflow"),
        ):
            self.assertIn(said, self.run_program("-g", "flows=10", "--biflow", *words, status=2).stderr)
        for words, said in (
            (("--identity", "nic-hash"), "hashes the two directions"),
            (("--via", "af_xdp", "--workers", "2"), "give --threads pipeline"),
            (("--inner", "--workers", "2"), "give --threads pipeline"),
            (("--key", "src-dst", "--workers", "2"), "give --threads pipeline"),
            (("--forward", "other"), "leave out one of them"),
        ):
            self.assertIn(said, self.run_program("-i", "nowhere", "--biflow", *words, status=2).stderr)


class Packet(typing.NamedTuple):
    time_ns: int
    src: tuple[str, int]
    dst: tuple[str, int]
    protocol: int
    flags: int


FIN, SYN, RST, ACK = 1, 2, 4, 16
S = 1_000_000_000
ENDS = (CLIENT, 40000), (SERVER, 80)


def pcap_of(packets):
    """Frames of an IPv4 header with 20 bytes behind it, at times of whole us."""
    file = [b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(8) + b"\xff\xff\0\0\x01\0\0\0"]
    for packet in packets:
        ends = [bytes(map(int, address.split("."))) for address, _ in (packet.src, packet.dst)]
        ports = struct.pack(">HH", packet.src[1], packet.dst[1])
        rest = (
            bytes(8) + bytes([0x50, packet.flags]) + bytes(6)
            if packet.protocol == 6
            else struct.pack(">H", 20) + bytes(14)
        )
        frame = (
            bytes(12)
            + b"\x08\x00"
            + bytes([0x45, 0, 0, 40, 0, 0, 0, 0, 64, packet.protocol, 0, 0])
            + b"".join(ends)
            + ports
            + rest
        )
        file.append(
            struct.pack("<IIII", packet.time_ns // S, packet.time_ns % S // 1000, len(frame), len(frame)) + frame
        )
    return b"".join(file)


def one_way(packets):
    """The same packets, all of a connection from one end."""
    first = {}
    for packet in packets:
        ends = first.setdefault((packet.protocol, frozenset((packet.src, packet.dst))), (packet.src, packet.dst))
        yield packet._replace(src=ends[0], dst=ends[1])


def silent_servers(after_ns, count):
    """UDP packets, one each, that nobody answers."""
    for i in range(1, count + 1):
        yield Packet(after_ns + i * 1000, ("10.1.0.1", 2000 + i), ("10.1.0.2", 53), 17, 0)


def half_closed():
    """The client closes with FIN; the server goes on for seconds."""
    packets = []
    for at_s, way, flags in (
        (0, 1, SYN),
        (0, -1, SYN | ACK),
        (0, 1, ACK | FIN),
        (5, -1, ACK),
        (10, -1, ACK),
        (15, -1, ACK),
    ):
        packets.append(Packet(at_s * S, *ENDS[::way], 6, flags))
    return pcap_of(packets)


def random_packets(draw, count):
    """Of 150 connections, TCP or UDP, with flags that make no sense; some times are equal."""
    packets, now = [], 0
    for _ in range(count):
        now += draw.choice((0, 1, 3, 10, 200)) * 100_000
        number = draw.randrange(150)
        protocol = 6 if number % 3 else 17
        ends = [(f"10.0.{number % 7}.1", 1000 + number), (f"10.0.{number % 5}.2", 80)]
        draw.shuffle(ends)
        flags = draw.choices((ACK, SYN, SYN | ACK, FIN | ACK, RST), (30, 4, 4, 2, 1))[0] if protocol == 6 else 0
        packets.append(Packet(now, *ends, protocol, flags))
    return packets


class Connection:
    def __init__(self, packet):
        self.source, self.began, self.syn = packet.src, packet.time_ns, packet.flags & (SYN | ACK) == SYN
        self.known, self.both, self.record, self.total = self.syn, False, 0, 0
        self.all_flags = collections.Counter()
        self.begin(packet)

    def begin(self, packet):
        self.first, self.packets, self.flags = packet.time_ns, collections.Counter(), collections.Counter()

    def add(self, packet):
        if packet.src != self.source and not self.both:
            self.both = True
            if packet.flags & (SYN | ACK) == SYN and not self.syn and self.record == 0:
                self.source, self.known = packet.src, True
            elif packet.protocol != 6:
                self.known = packet.time_ns > self.began
        self.packets[packet.src] += 1
        self.flags[packet.src] |= packet.flags
        self.all_flags[packet.src] |= packet.flags
        self.last, self.latest = packet.time_ns, packet

    def is_closed(self):
        """All that either had, and what both had."""
        flags = [*self.all_flags.values(), 0][:2]
        return (flags[0] | flags[1]) & RST or flags[0] & flags[1] & FIN

    def row(self):
        other = next(end for end in (self.latest.src, self.latest.dst) if end != self.source)
        self.total += self.packets[self.source]
        self.record += 1
        return (
            *self.source,
            *other,
            self.record - 1,
            self.packets[self.source],
            self.packets[other],
            self.flags[self.source],
            self.flags[other],
            self.total,
            int(self.known),
        )


def biflows_of(packets, idle_ns, active_ns, linger_ns):
    """By definition: docs/exports.md."""
    rows, connections = [], {}
    for packet in packets:
        key = frozenset((packet.src, packet.dst)), packet.protocol
        known = connections.get(key)
        if known is not None:
            quiet = packet.time_ns - known.last
            if quiet > idle_ns or (quiet > linger_ns and known.is_closed()):
                rows.append(known.row())
                known = None
            elif packet.time_ns - known.first > active_ns:
                rows.append(known.row())
                known.begin(packet)
        if known is None:
            known = connections[key] = Connection(packet)
        known.add(packet)
    return rows + [known.row() for known in connections.values()]


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
