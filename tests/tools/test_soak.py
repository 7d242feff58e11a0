#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The soak's own analysis, on series and accounts that are made to be right or wrong; and as root a soak of some
seconds.

usage: test_soak.py PARSHALL [unittest arguments]
"""

import copy
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

SOAK = pathlib.Path(__file__).resolve().parents[2] / "tools" / "soak"
sys.path.insert(0, str(SOAK))
import account
import checks
import cut_files
import data
import flow_messages
import growth
import kills
import network
import process
import report
import trend

PROGRAM = None
SECONDS, EVERY_S = 6300, 10
REPORT_S = 2400  # of a made-up run


def correlated(draw, seconds=60.0, deviation=8.0):
    """An autoregressive series: a sample each EVERY_S, correlated over `seconds`."""
    keeps = math.exp(-EVERY_S / seconds)
    value, values = draw.gauss(0, deviation), []
    for _ in range(SECONDS // EVERY_S):
        value = keeps * value + math.sqrt(1 - keeps * keeps) * draw.gauss(0, deviation)
        values.append(value)
    return values


def times():
    return [float(EVERY_S * number) for number in range(SECONDS // EVERY_S)]


class Trends(unittest.TestCase):
    def test_a_planted_leak_is_found_and_a_flat_series_is_flat(self):
        draw, grows = random.Random(1), 0
        for _ in range(40):
            noise = correlated(draw)
            flat = trend.of_series(times(), [1000 + value for value in noise])
            leak = trend.of_series(times(), [1000 + value + 40 * time / SECONDS for time, value in zip(times(), noise)])
            self.assertAlmostEqual(leak.growth()[0] - flat.growth()[0], 40 * flat.seconds / SECONDS)
            self.assertEqual(leak.verdict(4), "grows")
            grows += flat.verdict(4) == "grows"
        self.assertLess(grows, 5)  # one in forty is expected

    def test_the_interval_has_the_truth_in_it_as_often_as_it_says(self):
        draw = random.Random(2)
        for correlation_s, least in ((1, 0.92), (60, 0.92), (120, 0.89)):
            inside = 0
            for _ in range(200):
                found = trend.of_series(
                    times(), [0.001 * time + value for time, value in zip(times(), correlated(draw, correlation_s))]
                )
                inside += found.low <= 0.001 <= found.high
            self.assertGreater(inside / 200, least, correlation_s)
            self.assertLess(inside / 200, 0.99, correlation_s)

    def test_one_descriptor_that_stays_shows_through_clients_that_come_and_go(self):
        draw = random.Random(3)
        visited = [
            17 + (second > 9000) + (draw.randrange(150) if draw.random() < 0.2 else 0) for second in range(5 * 3600)
        ]
        calm = trend.least_of(list(range(5 * 3600)), visited, growth.CALM_S)
        self.assertEqual(trend.of_series(*calm).verdict(0.5), "grows")
        steady = trend.least_of(
            list(range(5 * 3600)), [value - (second > 9000) for second, value in enumerate(visited)], growth.CALM_S
        )
        self.assertEqual(trend.of_series(*steady).verdict(0.5), "flat")

    def test_what_is_exact_has_an_interval_of_nothing(self):
        line = trend.of_series(times(), [3 + 0.25 * time for time in times()])
        for value in (line.slope, line.low, line.high):
            self.assertAlmostEqual(value, 0.25)
        constant = trend.of_series(times(), [7.0] * len(times()))
        self.assertEqual((constant.slope, constant.verdict(0.5)), (0, "flat"))
        self.assertEqual(trend.of_series(times(), [-time for time in times()]).verdict(4), "shrinks")

    def test_growth_below_the_bound_is_flat_and_above_it_is_not(self):
        line = trend.of_series(times(), [3 + 0.001 * time for time in times()])
        self.assertEqual(line.verdict(7), "flat")
        self.assertEqual(line.verdict(6), "grows")

    def test_too_little_tells_nothing(self):
        self.assertIsNone(trend.of_series([], []))
        self.assertIsNone(trend.of_series([1.0] * 100, [1.0] * 100))
        self.assertIsNone(trend.of_series(times()[:5], [1.0] * 5))


ACCOUNT = {
    "offered": 1000,
    "nic_received": 995,
    "nic_missed": 5,
    "nic_error": None,
    "no_mbuf": None,
    "joined": 0,
    "ring_full": 1,
    "filtered": 20,
    "not_ip": 3,
    "malformed": {"cut_ip_header": 2, "bad_ip_version": 1},
    "counted": 968,
    "live_flow_packets": 68,
    "ended_record_packets": 850,
    "kept_out_packets": 50,
    "balanced": True,
}
OUTPUT = {"name": "csv:a", "whole_run": True} | {
    part: {"records": count, "packets": 2 * count, "findings": 0}
    for part, count in (("offered", 100), ("written", 80), ("waiting", 13), ("dropped", 6), ("unconfirmed", 1))
}


def summary():
    return {
        "accounting": copy.deepcopy(ACCOUNT),
        "workers": [{"accounting": copy.deepcopy(ACCOUNT)}],
        "outputs": [copy.deepcopy(OUTPUT)],
    }


class Identity(unittest.TestCase):
    def test_one_that_holds_has_nothing_to_say(self):
        self.assertEqual(account.of_summary(summary()), [])

    def test_an_off_by_one_in_any_counter_is_found(self):
        for name in (
            "offered",
            "nic_missed",
            "ring_full",
            "filtered",
            "not_ip",
            "counted",
            "live_flow_packets",
            "ended_record_packets",
            "kept_out_packets",
        ):
            for wrong in (1, -1):
                off = summary()
                off["accounting"][name] += wrong
                self.assertNotEqual(account.of_summary(off), [], name)
        off = summary()
        off["accounting"]["malformed"]["bad_ip_version"] += 1
        self.assertNotEqual(account.of_summary(off), [])
        off = summary()
        off["accounting"]["balanced"] = False
        self.assertNotEqual(account.of_summary(off), [])

    def test_workers_and_outputs_are_looked_at_too(self):
        for part in ("offered", "written", "unconfirmed", "waiting", "dropped"):
            for unit in account.UNITS:
                off = summary()
                off["outputs"][0][part][unit] += 1
                (sentence,) = account.of_summary(off)
                self.assertIn("csv:a", sentence)
        off = summary()
        for name in ("offered", "counted", "live_flow_packets"):  # it balances, but is not the run's
            off["workers"][0]["accounting"][name] += 1
        self.assertEqual(len(account.of_summary(off)), 3)

    def test_a_receive_thread_has_what_it_did_not_hand_to_a_worker(self):
        ended = ACCOUNT | {name: 0 for name in ("counted", *account.SHARES)}
        ended["offered"] = ACCOUNT["offered"] - ACCOUNT["counted"]
        counted = (
            {name: 0 for name in ACCOUNT}
            | {name: ACCOUNT[name] for name in ("counted", *account.SHARES)}
            | {"offered": ACCOUNT["counted"], "malformed": {}, "balanced": True}
        )
        parted = summary() | {"workers": [{"accounting": counted}], "receivers": [{"accounting": ended}]}
        self.assertEqual(account.of_summary(parted), [])
        del parted["receivers"]
        self.assertEqual(len(account.of_summary(parted)), 1)

    def test_counters_do_not_fall(self):
        self.assertEqual(account.of_growth(ACCOUNT, ACCOUNT), [])
        self.assertEqual(len(account.of_growth(ACCOUNT, ACCOUNT | {"counted": 967})), 1)

    def test_metrics_balance_or_not(self):
        metrics = {
            f'parshall_output_records_total{{output="csv:a",state="{state}"}}': float(count)
            for state, count in (("offered", 100), ("dropped", 6), ("unconfirmed", 1))
        }
        metrics['parshall_output_written_records{output="csv:a"}'] = 80.0
        metrics['parshall_output_waiting_records{output="csv:a"}'] = 13.0
        self.assertEqual(account.of_metrics(metrics), [])
        metrics['parshall_output_waiting_records{output="csv:a"}'] = 12.0
        self.assertEqual(len(account.of_metrics(metrics)), 1)
        self.assertEqual(len(account.of_metrics({})), 1)


def message(sequence, records, number=256, exported_s=1000, template=True):
    """An IPFIX message with a template of (protocol, packets), and so many records of 3 packets."""
    sets = struct.pack(">HHHHHHHH", 2, 16, number, 2, 4, 1, 2, 8) if template else b""
    if records:
        sets += struct.pack(">HH", number, 4 + 9 * records) + records * struct.pack(">BQ", 6, 3)
    return struct.pack(">HHIII", 10, 16 + len(sets), exported_s, sequence, 1) + sets


class Messages(unittest.TestCase):
    def test_records_packets_and_what_is_missing(self):
        stream = flow_messages.Stream()
        self.assertEqual(
            stream.read(message(0, 2) + message(2, 3, template=False)),
            len(message(0, 2)) + len(message(2, 3, template=False)),
        )
        stream.read(message(12, 1))
        self.assertEqual((stream.messages, stream.records, stream.packets, stream.gaps), (3, 6, 18, 7))

    def test_half_a_message_waits_for_the_rest(self):
        stream, whole = flow_messages.Stream(), message(0, 2)
        self.assertEqual(stream.read(whole[:-1]), 0)
        self.assertEqual(stream.read(whole + whole[:5]), len(whole))
        self.assertEqual(stream.records, 2)

    def test_records_without_a_template_and_steps_of_the_clock_are_told(self):
        stream = flow_messages.Stream()
        stream.read(message(0, 2, template=False) + message(0, 0, exported_s=4600) + message(0, 0, exported_s=1000))
        self.assertEqual((stream.without_template, stream.clock_steps), (1, [3600, -3600]))

    def test_what_is_no_message_is_an_error(self):
        with self.assertRaises(ValueError):
            flow_messages.Stream().read(b"\x00\x05" + bytes(30))
        with self.assertRaises(ValueError):
            flow_messages.Stream().read(struct.pack(">HHIIIHH", 10, 20, 0, 0, 1, 2, 99))

    def test_options_are_no_records_of_flows(self):
        stream = flow_messages.Stream()
        body = struct.pack(">HHHHHHHHH", 3, 18, 300, 2, 1, 149, 4, 2, 8) + struct.pack(">HHIQ", 300, 16, 1, 99)
        stream.read(struct.pack(">HHIII", 10, 16 + len(body), 0, 0, 1) + body)
        self.assertEqual((stream.records, stream.packets, stream.options, stream.sequence), (0, 0, 1, 1))

    def test_netflow_9_counts_messages(self):
        stream = flow_messages.Stream()
        sets = struct.pack(">HHHHHHHH", 0, 16, 256, 2, 4, 1, 2, 4) + struct.pack(">HHBIBIBB", 256, 16, 6, 3, 6, 4, 0, 0)
        for sequence in (0, 1, 5):
            stream.read(struct.pack(">HHIIII", 9, 3, 0, 1000, sequence, 1) + sets)
        self.assertEqual((stream.records, stream.packets, stream.gaps), (6, 21, 3))


class Cut(unittest.TestCase):
    """Files that end anywhere have a beginning of the records in them, and nothing else."""

    def check(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.write_text(text)
            every, cut = cut_files.READERS[name](path)
            self.assertEqual((len(every), cut), (2, False))
            for length in range(text.index("\n") + 1 if name == "csv" else 0, len(text)):
                path.write_text(text[:length])
                found, cut = cut_files.READERS[name](path)
                self.assertEqual(found, every[: len(found)])
                self.assertEqual(cut, not text[:length].endswith("\n") and length > 0)

    def test_csv(self):
        self.check("csv", "packets,flow_id,record\n12,345,0\n6,789,1\n")

    def test_json(self):
        self.check(
            "jsonl",
            '{"flow": {"flow_id": 1, "record": 0, "packets": 3}}\n{"flow": {"flow_id": 2, "record": 0, "packets": '
            "4}}\n",
        )

    def test_a_line_that_is_whole_and_wrong_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "jsonl")
            path.write_text('{"flow": {"fl\n{"flow": {"flow_id": 2, "record": 0, "packets": 4}}\n')
            with self.assertRaises(ValueError):
                cut_files.of_jsonl(path)


class Kills(unittest.TestCase):
    def round(self, written, offered):
        one = kills.Round("parshall", pathlib.Path("/nowhere"), 0, random.Random(1))
        one.accounts = [
            (10, {"csv": {part: {"records": count} for part, count in (("written", written), ("offered", offered))}})
        ]
        return one

    def test_a_record_that_is_lacking_or_there_twice_is_found(self):
        records = [((number, 0), 1) for number in range(5)]
        for told, there, wrong in ((5, records, 0), (6, records, 1), (4, records, 0), (5, records + records[:1], 1)):
            one = self.round(told, 9)
            one._check("csv", there)
            self.assertEqual(len(one.wrong), wrong, (told, one.wrong))

    def test_packets_that_differ_are_found(self):
        one = self.round(0, 0)
        one.compare({"csv": {(1, 0): 5}, "jsonl": {(1, 0): 5, (2, 0): 1}})
        self.assertEqual(one.wrong, [])
        one.compare({"csv": {(1, 0): 5}, "jsonl": {(1, 0): 6}})
        self.assertEqual(len(one.wrong), 1)

    def test_whole_files_that_go_or_change_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            parquet = pathlib.Path(folder, "parquet", "hour=00")
            parquet.mkdir(parents=True)
            (parquet / "a.parquet").write_bytes(b"1")
            (parquet / "b.parquet").write_bytes(b"2")
            (parquet / "_c.parquet.part").write_bytes(b"")
            whole, wrong = kills.Folder(pathlib.Path(folder)), []
            self.assertEqual([file.name for file in whole.fresh(wrong)], ["a.parquet", "b.parquet"])
            self.assertEqual((whole.fresh(wrong), wrong), ([], []))
            (parquet / "a.parquet").write_bytes(b"3")
            (parquet / "b.parquet").unlink()
            (parquet / "d.tmp").write_bytes(b"")
            whole.fresh(wrong)
            self.assertEqual(len(wrong), 3, wrong)


class Processes(unittest.TestCase):
    def test_numbers_of_this_process(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile(dir=folder) as unnamed:
            unnamed.write(bytes(1 << 20))
            unnamed.flush()
            pathlib.Path(folder, "named").write_bytes(bytes(1 << 20))
            before = process.sample(os.getpid(), folder)
            self.assertGreaterEqual(before["temporary_bytes"], 2 << 20)
            with open(os.devnull, "rb"):
                self.assertEqual(process.sample(os.getpid(), folder)["fds"], before["fds"] + 1)
        self.assertGreater(before["rss_kb"], before["anon_kb"])
        self.assertGreater(process.heap_kb(os.getpid()), 0)
        self.assertLess(process.heap_kb(os.getpid()), before["rss_kb"] + 1024)


class Reports(unittest.TestCase):
    """A made-up run, of which each number is wrong by one in turn."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        without_pictures = unittest.mock.patch("plots.draw", return_value=False)
        without_pictures.start()
        self.addCleanup(without_pictures.stop)
        self.folder = pathlib.Path(folder.name)
        self.facts = {"parshall": "x", "hours": 1, "began": "now", "seed": 1, "kpps": 1, "command": ["parshall"]}
        draw = random.Random(4)
        noise = [value for value in correlated(draw, 30) for _ in range(EVERY_S)]
        self.samples = [
            {
                "t": float(second),
                "rss_kb": 100_000 + noise[second],
                "pss_kb": 99_000 + noise[second],
                "heap_kb": 5000 + noise[second] / 4,
                "fds": 17 + second % 7,
                "threads": 18,
                "temporary_bytes": 0,
                "disk_bytes": 1,
                "cpu_s": second / 10,
                "tap0_rx_packets": 10 * second,
                "live_flows": 3,
                "account": {"offered": 10 * second},
                "new_state": True,
                "wrong": 0,
                "metrics_wrong": 0,
            }
            for second in range(REPORT_S)
        ]
        said = [
            "capturing; at most 300 MB for 9 flows",
            "csv:/x/csv-0000.csv was removed as an output: 30 records (60 packets) = 30 (60) written + 0 (0) dropped",
        ]
        self.events = [{"t": 1, "what": "said", "text": text} for text in said] + [
            {"t": 2, "what": "rotated", "number": 0, "files": {"csv": {"records": 30, "packets": 60, "bytes": 1}}}
        ]
        whole = {
            part: {"records": 30 * (part in ("offered", "written")), "packets": 0, "findings": 0}
            for part in ("offered", "written", "unconfirmed", "waiting", "dropped")
        }
        counters = {"tap0_rx_packets": 1000, "wire0_tx_packets": 1000, "wire0_tx_dropped": 2}
        session = {"records": 30, "gaps": 0, "without_template": 0}
        self.ends = {
            "status": 0,
            "counters_before": dict.fromkeys(counters, 0),
            "counters_after": counters,
            "sent": 1002,
            "broken": [],
            "visitors": 0,
            "parquet": {"status": 0, "said": "it adds up"},
            "collectors": {
                name: {"sessions": [dict(session)], "wrong": []} for name in ("ipfix udp", "ipfix tcp", "netflow9")
            },
            "summary": {
                "accounting": dict(ACCOUNT),
                "evicted_records": 0,
                "dropped_records": 0,
                "outputs": [
                    {"name": name, "whole_run": True} | copy.deepcopy(whole)
                    for name in ("ipfix:udp://h:1", "ipfix:tcp://h:1", "netflow9:udp://h:1")
                ],
            },
        }

    def holds(self):
        for name, value in (("facts", self.facts), ("ends", self.ends)):
            (self.folder / f"{name}.json").write_text(json.dumps(value))
        for name, values in (("samples", self.samples), ("events", self.events)):
            (self.folder / f"{name}.jsonl").write_text("".join(json.dumps(value) + "\n" for value in values))
        return report.write(data.Data(self.folder))

    def test_one_that_holds(self):
        self.assertTrue(self.holds(), (self.folder / "report.md").read_text())
        self.assertNotIn("does not hold", (self.folder / "report.md").read_text())

    def test_a_number_that_is_wrong_by_one(self):
        def output(number):
            return self.ends["summary"]["outputs"][number]["written"]

        for place, key in (
            (self.ends["counters_after"], "tap0_rx_packets"),
            (self.ends["counters_after"], "wire0_tx_packets"),
            (self.ends["counters_after"], "wire0_tx_dropped"),
            (self.ends, "sent"),
            (self.ends, "status"),
            (self.ends["parquet"], "status"),
            (self.ends["summary"]["accounting"], "counted"),
            (self.ends["summary"]["accounting"], "offered"),
            (self.samples[90]["account"], "offered"),
            (self.samples[77], "wrong"),
            (self.samples[80], "metrics_wrong"),
            (output(0), "records"),
            (output(1), "packets"),
            (output(2), "findings"),
            (self.ends["collectors"]["ipfix udp"]["sessions"][0], "records"),
            (self.events[2]["files"]["csv"], "records"),
            (self.events[2]["files"]["csv"], "packets"),
        ):
            by = 11 if place is self.samples[90]["account"] else 1  # more than comes in a second
            place[key] += by
            if key == "wire0_tx_packets":
                self.ends["sent"] += 1
            if key == "metrics_wrong":
                self.events.append({"t": 80, "what": "wrong metrics", "sentences": ["x"]})
            self.assertFalse(self.holds(), key)
            place[key] -= by
            self.ends["sent"] = 1002
            self.events = [event for event in self.events if event["what"] != "wrong metrics"]
        self.assertTrue(self.holds())

    def test_a_collector_that_lacks_records_is_believed_where_their_numbers_say_so(self):
        output = {part: {"records": count} for part, count in (("offered", 100), ("written", 90), ("dropped", 10))}

        def holds(name, *sessions):
            return checks._of_collector(
                name,
                output,
                {
                    "sessions": [dict(zip(("records", "gaps", "without_template"), session)) for session in sessions],
                    "wrong": [],
                },
            ).holds

        self.assertTrue(holds("ipfix udp", (90, 10, 0)))
        self.assertTrue(holds("ipfix udp", (85, 15, 0)))
        self.assertTrue(holds("ipfix udp", (85, 17, 3)))  # two of options
        self.assertTrue(holds("ipfix udp", (90, 0, 0)))  # dropped before they had a number
        for wrong in ((85, 4, 0), (91, 10, 0), (90, 1000, 0)):
            self.assertFalse(holds("ipfix udp", wrong), wrong)
        self.assertTrue(holds("ipfix tcp", (90, 0, 0)))
        self.assertTrue(holds("ipfix tcp", (50, 0, 0), (30, 0, 0)))
        for wrong in (((89, 0, 0),), ((50, 0, 0), (41, 0, 0)), ((50, 1, 0), (40, 0, 0))):
            self.assertFalse(holds("ipfix tcp", *wrong), wrong)
        self.assertTrue(holds("netflow9", (80, 1, 0)))
        self.assertFalse(holds("netflow9", (80, 0, 0)))

    def test_mappings_that_changed_are_told(self):
        for at, resident in ((10, 1), (REPORT_S - 700, 100), (REPORT_S - 10, 164)):
            self.events.append(
                {"t": at, "what": "mappings", "resident": {"7f00": [512, "[heap]", resident], "7f99": [64, "", 64]}}
            )
        self.holds()
        text = (self.folder / "report.md").read_text()
        self.assertIn("| 7f00 [heap] | 512 | 100 | 164 |", text)
        self.assertNotIn("7f99", text)

    def test_a_leak(self):
        for column, rate in (
            ("heap_kb", 5.0),
            ("rss_kb", 20.0),
            ("fds", 1 / 900),
            ("threads", 1 / 900),
            ("temporary_bytes", 10_000.0),
        ):
            kept = [sample[column] for sample in self.samples]
            for second, sample in enumerate(self.samples):
                sample[column] += int(rate * second)
            self.assertFalse(self.holds(), column)
            self.assertIn("| grows |", (self.folder / "report.md").read_text())
            for sample, value in zip(self.samples, kept):
                sample[column] = value
        self.assertTrue(self.holds())

    def test_a_run_that_goes_on_has_a_report_and_does_not_hold_yet(self):
        self.ends = {}
        self.assertFalse(self.holds())
        self.assertIn("So far", (self.folder / "report.md").read_text())
        with open(self.folder / "samples.jsonl", "a", encoding="utf-8") as file:
            file.write('{"t": 36')  # it is being written
        report.write(data.Data(self.folder))

    def test_what_is_no_run_is_said(self):
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run(
                [sys.executable, str(SOAK), "report", empty], capture_output=True, text=True, check=False
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn("facts.json", done.stderr)

    def test_what_a_line_at_an_output_s_end_says(self):
        self.assertEqual(
            checks.ENDED.search(
                "parshall watch: csv:/d/csv-0003.csv: 7 records of flows (9 packets) = 6 (8) written + 1 (1) dropped"
            ).groups(),
            ("csv:/d/csv-0003.csv", "7", "9", "6", "8", "1", "1"),
        )


@unittest.skipIf(network.why_not(), f"SKIPPED: {network.why_not()}")
class Short(unittest.TestCase):
    def test_a_soak_of_some_seconds_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [
                    sys.executable,
                    str(SOAK),
                    "run",
                    PROGRAM,
                    f"{folder}/soak",
                    "--hours",
                    "0.0025" if os.environ.get("PARSHALL_THOROUGH") else "0.0015",
                    "--alone",
                    "--seed",
                    "5",
                    "--captures",
                    "",
                ],
                capture_output=True,
                text=True,
                timeout=400,
                check=False,
            )
            said = pathlib.Path(folder, "soak", "report.md")
            self.assertEqual(done.returncode, 0, done.stderr + (said.read_text() if said.exists() else ""))
            ends = json.loads(pathlib.Path(folder, "soak", "ends.json").read_text())
            self.assertGreater(ends["summary"]["accounting"]["offered"], 1000)
            self.assertFalse(os.path.ismount(f"{folder}/soak/disk"))


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
