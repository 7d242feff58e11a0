# SPDX-License-Identifier: Apache-2.0
"""`parshall compare UP/ DOWN/`: whole flows from the records that two taps exported.

usage: test_compare_records.py PARSHALL [unittest arguments]
"""

import importlib.util
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import test_compare
import two_taps
from side_by_side import thorough
from two_taps import Network

PROGRAM = None


class Exported(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def export(self, tap, *arguments, seed="7", columns="+flow_key"):
        words = ["watch", "-r", self.folder / f"{tap}.pcap", "-q", "--seed", seed, "--columns", columns]
        words += ["--export", f"parquet:{self.folder / tap}", "-o", "/dev/null", *arguments]
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def write(self, network, packets=6000, seed=1):
        sent = two_taps.send(network, packets, seed)
        two_taps.write_taps(network, sent, self.folder / "up.pcap", self.folder / "down.pcap")
        return sent

    def compare(self, *arguments, status=0):
        words = [PROGRAM, "compare", self.folder / "up", self.folder / "down", *arguments]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def told(self):
        told = json.loads(self.compare("--format", "json").stdout)
        for passed in (told["there"], told["back"], *told["flows"]):
            sent = ("delivered", "lost", "outside_sent", "unlike_sent")
            received = ("delivered", "duplicated", "extra", "outside_received", "unlike_received")
            self.assertEqual(passed["packets_sent"], sum(passed[f"packets_{name}"] for name in sent))
            self.assertEqual(passed["packets_received"], sum(passed[f"packets_{name}"] for name in received))
        return told

    def both(self, network, *arguments, **more):
        """Exports both and compares; returns (told, {(connection, is back): packets})."""
        flows = {}
        for packet in self.write(network, **more):
            flows.setdefault((packet.connection, packet.is_back), []).append(packet)
        for tap in ("up", "down"):
            self.export(tap, *arguments)
        return self.told(), flows

    def flow_of(self, told):
        is_back = told["way"] == "back"
        return (told["dst_port"] if is_back else told["src_port"]) - 40000, is_back

    def check_flows(self, told, flows):
        self.assertEqual(len(told["flows"]), len(flows))
        for flow in told["flows"]:
            mine = flows[self.flow_of(flow)]
            lost = sum(not packet.arrivals for packet in mine)
            more = sum(len(packet.arrivals) - 1 for packet in mine if packet.arrivals)
            self.assertEqual(flow["packets_sent"], len(mine))
            self.assertEqual(flow["packets_received"], len(mine) - lost + more)
            if not self.is_at_edge(mine):
                self.assertEqual(flow["packets_lost"], max(lost - more, 0))
                self.assertEqual(flow["packets_duplicated"], max(more - lost, 0))

    def is_at_edge(self, packets):
        """Whether a tap may not have watched all of the flow: it has packets in the first or last 10 ms."""
        begin, end = two_taps.BEGIN_NS + 10**8, two_taps.BEGIN_NS + 10**8 + 4 * 10**9
        return min(p.sent_ns for p in packets) < begin + 10**7 or max(p.sent_ns for p in packets) > end - 10**7


class Records(Exported):
    def test_nothing_lost(self):
        told, flows = self.both(Network())
        self.check_flows(told, flows)
        for way in ("there", "back"):
            self.assertEqual(told[way]["packets_sent"], told[way]["packets_delivered"])
            self.assertEqual(told[way]["packets_lost"], 0)
            self.assertAlmostEqual(told[way]["delay_mean_ns"], 2_100_000, delta=30_000)

    def test_losses(self):
        told, flows = self.both(Network(loss=0.02), seed=2)
        self.check_flows(told, flows)
        self.assertGreater(told["there"]["packets_lost"] + told["back"]["packets_lost"], 10)

    def test_copies(self):
        told, flows = self.both(Network(doubled=0.02), seed=3)
        self.check_flows(told, flows)

    def test_digests_give_the_mean_of_all_packets(self):
        for offset_ns, arguments in ((0, ()), (5 * 10**12, ("--idle", "50ms", "--active", "300ms"))):
            for tap in ("up", "down"):
                shutil.rmtree(self.folder / tap, ignore_errors=True)
            network = Network(loss=0.0005, offset_ns=offset_ns, hops=0, vlan=42, dscp=46)
            flows = {}
            for packet in self.write(network, packets=20_000):
                flows.setdefault((packet.connection, packet.is_back), []).append(packet)
            for tap in ("up", "down"):
                self.export(tap, *arguments, columns="+digest")
            told = self.told()
            self.check_flows(told, flows)
            whole = [flow for flow in told["flows"] if flow["packets_lost"] + flow["packets_outside_sent"] == 0]
            self.assertGreater(len(whole), 20)
            for flow in whole:
                mine = flows[self.flow_of(flow)]
                mean = sum(packet.arrivals[0] - packet.sent_ns for packet in mine) / len(mine)
                room = told["clocks"]["error_ns"] if offset_ns else 0
                self.assertEqual(flow["delay_packets"], len(mine))
                self.assertAlmostEqual(flow["delay_mean_ns"], mean, delta=room + 1)
                self.assertEqual(flow["delay_mean_error_ns"], 0)

    def test_digests_tell_losses_and_copies_apart(self):
        for seed in range(3):
            for tap in ("up", "down"):
                shutil.rmtree(self.folder / tap, ignore_errors=True)
            network = Network(loss=0.02, doubled=0.02, offset_ns=5 * 10**9)
            flows = {}
            for packet in self.write(network, packets=12_000, seed=20 + seed):
                flows.setdefault((packet.connection, packet.is_back), []).append(packet)
            for tap in ("up", "down"):
                self.export(tap, "--active", "500ms", columns="+digest")
            told, lost, more = self.told(), 0, 0
            for flow in told["flows"]:
                mine = flows[self.flow_of(flow)]
                if self.is_at_edge(mine):
                    continue
                self.assertEqual(flow["packets_lost"], sum(not packet.arrivals for packet in mine))
                self.assertEqual(flow["packets_duplicated"], sum(max(len(packet.arrivals) - 1, 0) for packet in mine))
                lost, more = lost + flow["packets_lost"], more + flow["packets_duplicated"]
            self.assertGreater(min(lost, more), 20)

    def test_the_mean_delay_is_within_the_error_that_is_told(self):
        """In 95 % of all flows, wherever packets were lost, and exactly if none was."""
        within = uncertain = 0
        for seed, network in enumerate(
            (
                Network(loss=0.02),
                Network(loss=0.002, jitter_ns=2_000_000),
                Network(loss=0.05, late=0.05, late_ns=20_000_000),
                Network(loss=0.01, doubled=0.01, jitter_ns=1_500_000),
            )
        ):
            for tap in ("up", "down"):
                shutil.rmtree(self.folder / tap, ignore_errors=True)
            flows = {}
            for packet in self.write(network, packets=20_000, seed=30 + seed):
                flows.setdefault((packet.connection, packet.is_back), []).append(packet)
            for tap in ("up", "down"):
                self.export(tap, "--active", "200ms", columns="+digest")
            for flow in self.told()["flows"]:
                arrived = [packet for packet in flows[self.flow_of(flow)] if packet.arrivals]
                if flow["delay_packets"] != len(arrived):
                    continue
                mean = sum(packet.arrivals[0] - packet.sent_ns for packet in arrived) / len(arrived)
                error = flow["delay_mean_error_ns"]
                is_within = abs(flow["delay_mean_ns"] - mean) <= error + 1
                if error == 0:
                    self.assertTrue(is_within, flow)
                else:
                    uncertain, within = uncertain + 1, within + is_within
        self.assertGreater(uncertain, 100)
        self.assertGreaterEqual(within / uncertain, 0.95, f"{within} of {uncertain}")

    def test_what_is_left_of_a_flow_has_its_own_mean(self):
        """Flows of two packets, half a second apart, of which the second is lost: the delay is that of the first."""
        sent = two_taps.send(Network(jitter_ns=0), 6000, 9)
        for connection in range(30):
            for is_back in (False, True):
                mine = [packet for packet in sent if (packet.connection, packet.is_back) == (connection, is_back)]
                first, *others = sorted(mine, key=lambda packet: packet.sent_ns)[len(mine) // 3 :] or [None]
                second = next((one for one in others if one.sent_ns > first.sent_ns + 5 * 10**8), None)
                if second:
                    second.arrivals.clear()
                gone = {packet.number for packet in mine if packet is not first and packet is not second}
                sent = [packet for packet in sent if packet.number not in gone]
        two_taps.write_taps(Network(), sent, self.folder / "up.pcap", self.folder / "down.pcap")
        for tap in ("up", "down"):
            self.export(tap, columns="+digest")
        told = self.told()
        lossy = [flow for flow in told["flows"] if flow["packets_sent"] == 2 and flow["packets_lost"] == 1]
        self.assertEqual({flow["way"] for flow in lossy}, {"there", "back"})
        for flow in lossy:
            self.assertAlmostEqual(flow["delay_mean_ns"], 2_000_000, delta=flow["delay_mean_error_ns"] + 1)
        for way in ("there", "back"):
            error = told[way]["delay_mean_error_ns"]
            self.assertAlmostEqual(told[way]["delay_mean_ns"], 2_000_000, delta=error + 1)

    def test_records_without_repeats_have_no_sums(self):
        self.write(Network(doubled=0.05), seed=3)
        sums = "digest_packets,digest_names,digest_times_ns"
        cuts = "cut_name,cut_time_ns,cut_packets,cut_names,cut_times_ns"
        self.export("up", columns=f"+flow_key,{sums},{cuts}")
        self.export("down", columns="+digest")
        told = self.told()
        self.assertEqual(told["there"]["packets_lost"] + told["back"]["packets_lost"], 0)

    def test_nothing_is_written_among_the_records(self):
        self.write(Network())
        for tap in ("up", "down"):
            self.export(tap)
        inside = self.folder / "up" / "told.parquet"
        errors = self.compare("--format", "parquet", "-o", inside, status=2).stderr
        self.assertIn(str(inside), errors)
        self.assertFalse(inside.exists())
        self.compare("--format", "parquet", "-o", self.folder / "told.parquet")
        self.assertEqual((self.folder / "told.parquet").read_bytes()[:4], b"PAR1")

    def test_digests_see_what_counts_do_not(self):
        """One packet of a flow lost and another one doubled: as many packets at both taps."""
        sent = two_taps.send(Network(), 6000, 7)
        middle = two_taps.BEGIN_NS + 2 * 10**9
        sent = [packet for packet in sent if packet.connection != 1 or abs(packet.sent_ns - middle) < 10**9]
        flow = [packet for packet in sent if packet.connection == 1 and not packet.is_back]
        flow[len(flow) // 2].arrivals.clear()
        other = flow[len(flow) // 2 + 1]
        other.arrivals.append(other.arrivals[0] + 1000)
        two_taps.write_taps(Network(), sent, self.folder / "up.pcap", self.folder / "down.pcap")
        for columns, lost in (("+flow_key", 0), ("+digest", 1)):
            for tap in ("up", "down"):
                shutil.rmtree(self.folder / tap, ignore_errors=True)
                self.export(tap, columns=columns)
            told = self.told()
            self.assertEqual(told["there"]["packets_lost"], lost)
            self.assertEqual(told["there"]["packets_duplicated"], lost)

    def test_records_of_a_flow_are_added_up(self):
        told, flows = self.both(Network(loss=0.02), "--idle", "50ms", "--active", "300ms", seed=2)
        self.check_flows(told, flows)

    def test_clocks_that_differ(self):
        for offset_ns in (-37_000_000, 3 * 365 * 86400 * 10**9):
            shutil.rmtree(self.folder / "up", ignore_errors=True)
            shutil.rmtree(self.folder / "down", ignore_errors=True)
            told, flows = self.both(Network(loss=0.005, offset_ns=offset_ns, hops=0), seed=4)
            self.assertEqual(told["clocks"]["clocks"], "corrected")
            self.assertLessEqual(abs(told["clocks"]["offset_ns"] - offset_ns), told["clocks"]["error_ns"] + 1000)
            self.check_flows(told, flows)

    def test_every_flow_lost_some(self):
        told, flows = self.both(Network(loss=0.1), seed=5, packets=12_000)
        self.check_flows(told, flows)

    def test_a_flow_that_one_tap_did_not_watch_to_its_end_is_not_lost(self):
        network = Network()
        sent = two_taps.send(network, 6000, 6)
        two_taps.write_taps(network, sent, self.folder / "up.pcap", self.folder / "down.pcap")
        early = [packet for packet in sent if packet.sent_ns < two_taps.BEGIN_NS + 2 * 10**9]
        two_taps.write_taps(network, early, self.folder / "cut.pcap", self.folder / "down.pcap")
        for tap in ("up", "down"):
            self.export(tap)
        told = self.told()
        self.assertEqual(told["there"]["packets_lost"], 0)
        self.assertGreater(told["there"]["packets_outside_sent"], 1000)

    def test_a_missing_file_is_not_a_loss(self):
        self.write(Network())
        self.export("up")
        self.export("down", "--idle", "20ms", "--active", "100ms")
        files = sorted((self.folder / "down").rglob("flows-*.parquet"))
        self.assertGreaterEqual(len(files), 1)
        account = next((self.folder / "down" / "_accounting").iterdir())
        account.unlink()
        told = self.told()
        self.assertEqual(told["there"]["packets_lost"] + told["back"]["packets_lost"], 0)
        self.assertIn("account", " ".join(told["warnings"]))

    def check_bounds(self, told, flows):
        """No more is lost or duplicated than was: what is not known is outside."""
        for flow in told["flows"]:
            mine = flows[self.flow_of(flow)]
            lost = sum(not packet.arrivals for packet in mine)
            doubled = sum(len(packet.arrivals) - 1 for packet in mine if packet.arrivals)
            self.assertLessEqual(flow["packets_lost"], lost, flow)
            self.assertLessEqual(flow["packets_duplicated"] + flow["packets_extra"], doubled, flow)

    def test_packets_that_overtake_are_neither_lost_nor_duplicated(self):
        for active in ("20ms", "100ms", "500ms"):
            for network in (
                Network(late=0.1, late_ns=30_000_000),  # than a record of 20 ms is long
                Network(late=0.05, loss=0.01, doubled=0.01),
            ):
                for tap in ("up", "down"):
                    shutil.rmtree(self.folder / tap, ignore_errors=True)
                told, flows = self.digests(network, "--active", active)
                self.check_bounds(told, flows)

    def digests(self, network, *arguments, packets=6000):
        flows = {}
        for packet in self.write(network, packets=packets, seed=9):
            flows.setdefault((packet.connection, packet.is_back), []).append(packet)
        for tap in ("up", "down"):
            self.export(tap, *arguments, columns="+digest")
        return self.told(), flows

    def test_a_monitor_that_begins_later(self):
        sent = self.write(Network())
        for columns in ("+flow_key", "+digest"):
            for later_ns in (5_000_000, 100_000_000, 1_000_000_000):
                for late_tap in ("up", "down"):
                    self.write_later(sent, late_tap, later_ns)
                    for tap in ("up", "down"):
                        shutil.rmtree(self.folder / tap, ignore_errors=True)
                        self.export(tap, "--active", "200ms", columns=columns)
                    told = self.told()
                    self.assertEqual(told["clocks"]["clocks"], "agree", (columns, later_ns, late_tap))
                    for way in ("there", "back"):
                        for name in ("lost", "duplicated", "extra"):
                            self.assertEqual(told[way][f"packets_{name}"], 0, (columns, later_ns, late_tap, way))
                        self.assertAlmostEqual(told[way]["delay_mean_ns"], 2_100_000, delta=60_000)

    def write_later(self, sent, late_tap, later_ns):
        """Writes both captures; one of them begins later."""
        two_taps.write_taps(Network(), sent, self.folder / "up.pcap", self.folder / "down.pcap")
        path = self.folder / f"{late_tap}.pcap"
        begin_ns = two_taps.BEGIN_NS + 10**8 + later_ns
        frames = [(time_ns, data) for time_ns, data in two_taps.read_capture(path) if time_ns >= begin_ns]
        two_taps.write_capture(path, frames)

    def test_monitors_that_were_restarted(self):
        self.write(Network())
        whole = {tap: list(two_taps.read_capture(self.folder / f"{tap}.pcap")) for tap in ("up", "down")}
        middle, pause = two_taps.BEGIN_NS + 2 * 10**9, 3 * 10**8
        for attempt in range(4):  # names of runs are random, and files are read by name
            for tap in ("up", "down"):
                shutil.rmtree(self.folder / tap, ignore_errors=True)
                for is_first in (True, False):
                    if tap == "up" and attempt % 2 == 0:
                        frames = whole[tap] if is_first else []
                    else:
                        frames = [one for one in whole[tap] if (one[0] < middle) == is_first]
                        frames = [one for one in frames if is_first or one[0] > middle + pause]
                    if frames:
                        two_taps.write_capture(self.folder / f"{tap}.pcap", frames)
                        self.export(tap, "--active", "200ms", columns=("+digest", "+flow_key")[attempt // 2])
            told = self.told()
            for way in ("there", "back"):
                self.assertEqual(told[way]["packets_lost"] + told[way]["packets_duplicated"], 0, (attempt, way))
            if attempt % 2 == 0:  # one of them alone
                self.assertGreater(told["there"]["packets_outside_sent"], 100)

    def test_a_device_that_rewrites_packets(self):
        self.write(Network())
        path = self.folder / "down.pcap"
        frames = []
        for number, (time_ns, data) in enumerate(two_taps.read_capture(path)):
            if data[12:14] == b"\x08\x00":
                data = data[:18] + (number * 7 % 65536).to_bytes(2, "big") + data[20:]
            frames.append((time_ns, data))
        two_taps.write_capture(path, frames)
        for tap in ("up", "down"):
            self.export(tap, columns="+digest")
        told = self.told()
        self.assertEqual(told["there"]["packets_lost"] + told["there"]["packets_duplicated"], 0)
        self.assertIn("rewrite", " ".join(told["warnings"]))

    def test_filters_that_differ_are_refused(self):
        self.write(Network())
        self.export("up")
        self.export("down", "tcp")
        self.assertIn("filter", self.compare(status=2).stderr)

    def test_settings_that_differ_are_refused(self):
        self.write(Network())
        self.export("up")
        self.export("down", seed="8")
        refused = self.compare(status=2)
        self.assertIn("--seed", refused.stderr)
        shutil.rmtree(self.folder / "down")
        self.export("down", "--inner")
        refused = self.compare(status=2)
        self.assertIn("--inner true", refused.stderr)
        self.assertIn("--inner false", refused.stderr)
        shutil.rmtree(self.folder / "down")
        self.export("down", "--key", "src")
        self.assertIn("--key", self.compare(status=2).stderr)

    def test_what_has_no_flow_key(self):
        self.write(Network())
        self.export("up", columns="+tcp_flags")
        self.export("down")
        self.assertIn("flow_key", self.compare(status=1).stderr)

    def test_biflows_are_refused(self):
        self.write(Network())
        self.export("up", "--biflow")
        self.export("down")
        self.assertIn("--biflow", self.compare(status=1).stderr)

    def test_records_and_packets_are_not_compared(self):
        self.write(Network())
        self.export("down")
        os.rename(self.folder / "up.pcap", self.folder / "up")
        self.assertIn("two folders", self.compare(status=2).stderr)

    def test_broken_files(self):
        self.write(Network())
        for tap in ("up", "down"):
            self.export(tap)
        file = next((self.folder / "down").rglob("flows-*.parquet"))
        whole = file.read_bytes()
        for at in range(0, len(whole), max(len(whole) // 100, 1)):
            broken = bytearray(whole)
            broken[at] ^= 0x55
            file.write_bytes(broken)
            done = subprocess.run(
                [PROGRAM, "compare", self.folder / "up", self.folder / "down"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertIn(done.returncode, (0, 1), (at, done.stderr))
        file.write_bytes(whole[: len(whole) // 2])
        self.assertIn(file.name, self.compare(status=1).stderr)


class Digests(Exported):
    def setUp(self):
        super().setUp()
        self.write(Network(late=0.05, doubled=0.03))

    def records(self, *arguments):
        file = self.folder / "down.jsonl"
        words = [
            "watch",
            "-r",
            self.folder / "down.pcap",
            "-q",
            "--seed",
            "7",
            "--columns",
            "+digest",
            "-o",
            "/dev/null",
        ]
        words += ["--export", f"jsonl:{file}", *arguments]
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        flows = {}
        for line in file.read_text().splitlines():
            if record := json.loads(line).get("flow"):
                flows.setdefault(record["flow_key"], []).append(record)
        return flows

    def times(self):
        """{(src, sport, dst, dport, protocol): times of packets, and whether each repeats another}, of the capture."""
        times, seen = {}, {}
        for time_ns, data in two_taps.read_capture(self.folder / "down.pcap"):
            key = two_taps.key_of(data)
            is_repeat = time_ns - seen.get((key, data), 0) <= 10**8
            seen[key, data] = time_ns
            times.setdefault(key, []).append((time_ns, is_repeat))
        return times

    def check(self, flows):
        times = self.times()
        self.assertEqual(len(flows), len(times))
        for records in flows.values():
            first = records[0]
            key = tuple(first[name] for name in ("src_ip", "src_port", "dst_ip", "dst_port", "protocol"))
            mine, repeats, done = [at for at, _ in times[key]], [is_repeat for _, is_repeat in times[key]], 0
            for record in records:
                begin, done = done, done + record["packets"]
                self.assertEqual(record["digest_packets"], done)
                self.assertEqual(record["digest_times_ns"], sum(mine[:done]) % 2**64)
                self.assertEqual(record["digest_repeats"], sum(repeats[:done]))
                cut = record["cut_packets"]
                self.assertTrue(begin < cut <= done, record)
                self.assertEqual(record["cut_time_ns"], mine[cut - 1])
                self.assertEqual(record["cut_times_ns"], sum(mine[:cut]) % 2**64)
                self.assertEqual(record["cut_repeats"], sum(repeats[:cut]))
            self.assertEqual(done, len(mine))
            for record in records:  # of one packet, the name is the sum's step
                if record["packets"] == 1:
                    self.assertEqual(record["cut_names"], record["digest_names"])

    def test_sums_are_those_of_the_packets(self):
        self.check(self.records())

    def test_sums_go_on_over_records(self):
        flows = self.records("--active", "200ms")
        self.assertGreater(max(len(records) for records in flows.values()), 10)
        self.check(flows)

    def test_workers_and_tables_tell_the_same(self):
        alone = self.records("--active", "200ms")
        for arguments in (
            ("--workers", "2"),
            ("--threads", "pipeline"),
            ("--flows", "64Ki"),
            ("--columns", "+digest,iat_mean"),
        ):
            more = self.records("--active", "200ms", *arguments)
            self.assertEqual(more.keys(), alone.keys())
            for key, records in alone.items():
                of_digest = [{name: record[name] for name in record if name in more[key][0]} for record in records]
                mine = [{name: record[name] for name in of_digest[0]} for record in more[key]]
                self.assertEqual(mine, of_digest, arguments)


@unittest.skipUnless(importlib.util.find_spec("duckdb"), "SKIPPED: duckdb is not installed")
class Path(Exported):
    def test_three_taps_tell_which_link_lost_it(self):
        rng, taps = random.Random(3), ([], [], [])
        lost = [0, 0]
        for packet in two_taps.send(Network(back=0), 6000, 8):
            for tap, frames in enumerate(taps):
                if tap and (rng.random() < (0.02, 0.005)[tap - 1] or packet.connection == 30 + tap):
                    lost[tap - 1] += 1
                    break
                frames.append((packet.sent_ns + 10**6 * tap, two_taps.frame(packet, False, Network(hops=0))))
        for tap, frames in enumerate(taps, 1):
            two_taps.write_capture(self.folder / f"tap{tap}.pcap", frames)
            self.export(f"tap{tap}")
        script = pathlib.Path(__file__).resolve().parents[2] / "examples/warehouse/path.py"
        words = [sys.executable, script, *(self.folder / f"tap{tap}" for tap in (1, 2, 3))]
        lines = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
        for link, line in enumerate(lines):
            self.assertIn(f"{lost[link]} of {len(taps[link])} packets lost", line)
            self.assertIn("1 of which vanish", line)
        self.assertEqual(len(lines), 2)


class Captures(Exported):
    """Real captures, and copies that lost packets: what records tell against what packets tell."""

    def check_some(self, captures):
        rng, seen, all_lost = random.Random(2), 0, 0
        of_packets = test_compare.Captures("test_forty")
        for path in captures:
            frames, link_type = of_packets.frames(path)
            if not frames or len(frames) < 2:
                continue
            kept = [frame for frame in frames if rng.random() >= 0.05]
            of_packets.write(self.folder / "up.pcap", frames, link_type)
            of_packets.write(
                self.folder / "down.pcap", [(time_ns + 10**6, *rest) for time_ns, *rest in kept], link_type
            )
            by_packet = self.of_packets()
            if not by_packet["flows"] or by_packet["up"]["later_fragments"]:
                continue
            for tap in ("up", "down"):
                shutil.rmtree(self.folder / tap, ignore_errors=True)
                self.export(tap, "--inner", "--active", "1s", columns="+digest")
            if not by_packet["down"]["compared"]:
                self.assertIn("no record", self.compare(status=1).stderr)
                continue
            told = self.told()
            truth = {self.key(flow): flow for flow in by_packet["flows"]}
            self.assertEqual({self.key(flow) for flow in told["flows"]}, truth.keys(), path.name)
            for flow in told["flows"]:
                mine, its = self.missing(flow), self.missing(truth[self.key(flow)])
                self.assertEqual(mine, its, (path.name, flow))
                whole = ("lost", "duplicated", "extra", "outside_sent", "outside_received")
                if not any(flow[f"packets_{name}"] for name in whole) and flow["delay_mean_error_ns"] == 0:
                    self.assertEqual(its, 0, (path.name, flow))
                    if (
                        told["clocks"]["clocks"] == "not_checked"
                    ):  # else clocks were corrected, as both directions go there
                        self.assertAlmostEqual(flow["delay_mean_ns"], 10**6, delta=1, msg=(path.name, flow))
            seen, all_lost = seen + 1, all_lost + told["up"]["packets"] - told["down"]["packets"]
        return seen, all_lost

    def of_packets(self):
        words = [PROGRAM, "compare", self.folder / "up.pcap", self.folder / "down.pcap", "--format", "json"]
        return json.loads(subprocess.run(words, capture_output=True, check=True, timeout=60).stdout)

    @staticmethod
    def key(flow):
        return tuple(flow[name] for name in ("src_ip", "src_port", "dst_ip", "dst_port", "protocol"))

    @staticmethod
    def missing(flow):
        """Packets that UP saw and DOWN did not, whichever way they went."""
        sent = flow["packets_lost"] + flow["packets_outside_sent"] + flow["packets_unlike_sent"]
        received = ("duplicated", "extra", "outside_received", "unlike_received")
        more = sent - sum(flow[f"packets_{name}"] for name in received)
        return more if flow["way"] == "there" else -more

    def captures(self):
        return test_compare.Captures("test_forty").captures()

    def test_some(self):
        seen, lost = self.check_some(self.captures()[::40])
        self.assertGreater(seen, 5)
        self.assertGreater(lost, 20)

    @thorough
    def test_all(self):
        seen, lost = self.check_some(self.captures())
        print(f"{seen} captures, {lost} packets lost")
        self.assertGreater(seen, 400)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
