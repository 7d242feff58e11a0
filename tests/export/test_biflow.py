# SPDX-License-Identifier: Apache-2.0
"""Biflows (RFC 5103): each connection is one record of the initiator, whoever reads it and whatever ends it, in every output; no packet is lost or invented.

usage: test_biflow.py PARSHALL [unittest arguments]
"""
import csv
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
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
        done = subprocess.run([PROGRAM, "watch", "-q", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def watch(self, *arguments, name="flows.csv", columns="tcp_flags"):
        """Rows of the exported CSV; every account balances."""
        path = self.folder / name
        done = self.run_program("--stats", columns, "--format", "json", "--top", "1", "--export", f"csv:{path}", *arguments)
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        summary = json.loads(done.stdout)["summary"]
        self.assertTrue(summary["accounting"]["balanced"])
        for output in summary["outputs"]:
            for unit in ("records", "packets"):
                self.assertEqual(output["offered"][unit], output["written"][unit] + output["dropped"][unit])
            self.assertEqual(output["written"]["packets"], summary["accounting"]["counted"])
        self.assertEqual(sum(int(row["packets"]) + int(row.get("reverse_packets") or 0) for row in rows), summary["accounting"]["counted"])
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

    def test_connections_become_records_of_both_directions(self):
        traffic = "-g", "flows=5000,packets=300000,protocol=connections", "--count", "300k"
        for more in ((), ("--workers", "2"), ("--workers", "3", "--threads", "pipeline"), ("--identity", "fingerprint"), ("--key", "src-dst")):
            with self.subTest(more=more):
                self.assertGreater(self.compare(*traffic, *more), 2000)

    def test_ipv6_connections_do_too(self):
        self.assertGreater(self.compare("-g", "flows=5000,packets=100000,protocol=connections,ipv6=0.5", "--count", "100k", "--workers", "2"), 2000)

    def test_what_goes_one_way_stays_as_it_is(self):
        self.assertEqual(self.compare("-g", "flows=5000,packets=100000", "--count", "100k"), 0)

    def test_a_link_that_does_not_wait(self):
        rows = self.watch("-g", "flows=2000,pace=50000,protocol=connections", "--idle", "200ms", "--duration", "3s", "--biflow")
        self.assertGreater(sum(row["reverse_packets"] != "" for row in rows), 100)

    def test_every_connection_is_one_record_whoever_reads(self):
        with gzip.open(CASES / "biflow_1500_connections.pcap.gz") as packed:
            capture = self.folder / "connections.pcap"
            capture.write_bytes(packed.read())
        seen = []
        for threads in (("--workers", "1"), ("--workers", "2"), ("--workers", "4"), ("--workers", "1", "--threads", "pipeline"), ("--workers", "4", "--threads", "pipeline")):
            for seed in (1, 2):
                rows = self.watch("-r", capture, "--biflow", "--idle", "15s", "--linger", "1s", "--seed", seed, *threads, columns="tcp_flags,end_reason")
                self.assertEqual(len(rows), 1500)
                self.assertEqual({(row["packets"], row["reverse_packets"], row["biflow_direction"], row["dst_ip"]) for row in rows}, {("4", "2", "1", SERVER)})
                seen.append(sorted(tuple(row.values()) for row in rows))
        self.assertTrue(all(each == seen[0] for each in seen), "the same records, for every seed and number of workers")

    def test_every_output_counts_the_source_s_direction(self):
        capture = CASES / "biflow_synack_first_in_file.pcap"
        base = "-r", capture, "--biflow"
        wanted = {"src_ip": CLIENT, "dst_ip": SERVER, "packets": 3, "ip_bytes": 122, "reverse_packets": 2, "reverse_ip_bytes": 80, "biflow_direction": 1}

        def check(flow, where):
            self.assertEqual({name: int(flow[name]) if isinstance(value, int) else flow[name] for name, value in wanted.items()}, wanted, where)

        for more in ((), ("--top", "5"), ("--sort", "packets"), ("--every", "1s")):
            text = self.run_program(*base, *more).stdout
            rows = [line.split() for line in text.splitlines() if line.startswith("TCP")]
            self.assertEqual(len(rows), 1, text)
            self.assertEqual(rows[0][:6], ["TCP", f"{CLIENT}:40000", f"{SERVER}:80", "3", "122", "164"], more)
            self.assertIn("2", rows[0][6:])
            self.assertIn("80", rows[0][6:])
        for more in ((), ("--sort", "packets"), ("--top", "5"), ("--sort", "reverse_packets")):
            for kind in ("json", "jsonl", "csv"):
                done = self.run_program(*base, "--format", kind, *more) if kind != "jsonl" else self.run_program(*base, "--export", "jsonl:-", *more, "--output", self.folder / "report")
                flows = {"json": lambda text: json.loads(text)["flows"], "jsonl": lambda text: [json.loads(line)["flow"] for line in text.splitlines() if line.startswith('{"flow"')],
                         "csv": lambda text: list(csv.DictReader(text.splitlines()))}[kind](done.stdout)
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

    def test_the_initiator_stays_over_active_timeouts(self):
        rows = self.watch("-r", CASES / "biflow_active_timeout_udp.pcap", "--biflow", "--active", "10s", columns="flow_id,record,packets_total")
        self.assertEqual([row["record"] for row in rows], ["0", "1", "2"])
        self.assertEqual({row["src_ip"] for row in rows}, {CLIENT})
        self.assertEqual(len({row["flow_id"] for row in rows}), 1)
        totals = [int(row["packets_total"]) for row in rows]
        sums = [sum(int(row["packets"]) for row in rows[: i + 1]) for i in range(3)]
        self.assertEqual(totals, sums)
        self.assertEqual(len(set(totals)), 3)

    def test_a_direction_that_is_silent_in_a_record_has_nothing_of_the_one_before(self):
        """Statistics are of the source's packets in this record alone."""
        rows = self.watch("-r", CASES / "biflow_active_timeout_udp.pcap", "--biflow", "--active", "1s", columns="record,size_max_bytes,size_mean_bytes,packets_total")
        silent = [row for row in rows if row["packets"] == "0"]
        self.assertGreater(len(silent), 3)
        self.assertEqual({(row["size_max_bytes"], row["size_mean_bytes"]) for row in silent}, {("", "")})
        self.assertTrue(all(row["size_max_bytes"] for row in rows if row["packets"] != "0"))
        self.assertEqual([int(row["record"]) for row in rows], list(range(len(rows))))

    def test_idle_time_counts_packets_of_either_direction(self):
        (row,) = self.watch("-r", CASES / "biflow_one_side_idles.pcap", "--biflow", "--idle", "15s")
        self.assertEqual((row["src_ip"], row["biflow_direction"]), (CLIENT, "1"))

    def test_a_reset_of_either_side_ends_both_directions(self):
        rows = self.watch("-r", CASES / "biflow_three_resets.pcap", "--biflow", "--linger", "1s", columns="tcp_flags,end_reason")
        self.assertEqual([(row["packets"], row["reverse_packets"]) for row in rows], [("4", "2"), ("5", "3"), ("6", "4")])
        self.assertEqual({row["src_ip"] for row in rows}, {CLIENT})
        self.assertEqual([row["end_reason"] for row in rows], ["end_of_flow", "end_of_flow", "forced"])

    def test_a_fin_of_one_side_alone_does_not(self):
        capture = self.folder / "half.pcap"
        capture.write_bytes(half_closed())
        (row,) = self.watch("-r", capture, "--biflow", "--linger", "1s", "--idle", "1min")
        self.assertEqual((row["packets"], row["reverse_packets"]), ("2", "4"))

    def test_tasks_see_what_they_see_without(self):
        traffic = "-g", "flows=2000,packets=200000,protocol=sessions,resend=0.01", "--count", "200k", "--seed", "3", "--window", "50ms"
        tasks = [word for task in ("heavy-hitters", "retransmissions", "superspreaders", "latency-change", "bursty") for word in ("--task", task)]
        events = []
        for more in ((), ("--biflow",), ("--biflow", "--workers", "2"), ("--biflow", "--workers", "2", "--threads", "pipeline")):
            path = self.folder / "events"
            self.run_program(*traffic, *tasks, "--events", path, *more)
            events.append(sorted(path.read_text().splitlines()))
        self.assertGreater(len(events[0]), 20)
        for each in events[1:]:
            self.assertEqual(each, events[0])

    def test_evicted_connections_leave_whole(self):
        rows = self.watch("-g", "flows=5000,packets=100000,protocol=connections", "--count", "100k", "--biflow", "--flows", "256", columns="end_reason")
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
        wanted = sorted((row["src_ip"], int(row["src_port"]), int(row["packets"]), int(row["reverse_packets"]), int(row["reverse_ip_bytes"])) for row in rows
                        if row["reverse_packets"])
        seen = sorted((flow["src"], flow["src_port"], flow["packets"], flow["reverse_packets"], flow["reverse_octets"]) for flow in reader.flows
                      if "reverse_packets" in flow)
        self.assertGreater(len(wanted), 1000)
        self.assertEqual(seen, wanted)

    def test_what_has_no_other_direction_is_refused(self):
        for words, said in ((("--key", "src"), "--biflow: a flow of one address"), (("--packets-only",), "leave out --biflow")):
            self.assertIn(said, self.run_program("-g", "flows=10", "--biflow", *words, status=2).stderr)
        for words, said in ((("--identity", "nic-hash"), "hashes the two directions"), (("--via", "af_xdp", "--workers", "2"), "give --threads pipeline"),
                            (("--inner", "--workers", "2"), "give --threads pipeline"), (("--forward", "other"), "leave out one of them")):
            self.assertIn(said, self.run_program("-i", "nowhere", "--biflow", *words, status=2).stderr)


def half_closed():
    """The client closes with FIN; the server goes on for seconds."""
    frames = []

    def add(at_s, from_client, flags):
        ends = [bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])]
        ports = [(40000).to_bytes(2, "big"), (80).to_bytes(2, "big")]
        if not from_client:
            ends.reverse()
            ports.reverse()
        tcp = ports[0] + ports[1] + bytes(8) + bytes([0x50, flags]) + bytes(6)
        ip = bytes([0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0]) + ends[0] + ends[1]
        frame = bytes(12) + b"\x08\x00" + ip + tcp
        frames.append(at_s.to_bytes(4, "little") + bytes(4) + 2 * len(frame).to_bytes(4, "little") + frame)

    fin, syn, ack = 1, 2, 16
    for at_s, from_client, flags in ((0, True, syn), (0, False, syn | ack), (0, True, ack | fin), (5, False, ack), (10, False, ack), (15, False, ack)):
        add(at_s, from_client, flags)
    return b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(8) + b"\xff\xff\0\0\x01\0\0\0" + b"".join(frames)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
