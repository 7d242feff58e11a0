# SPDX-License-Identifier: Apache-2.0
"""What tasks find in a flood, where keys or flows have no room.

usage: test_floods.py PARSHALL [unittest arguments]
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

import floods

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "live"))
from side_by_side import thorough

PROGRAM = None
CASES = os.path.join(FOLDER, "..", "cases")
METHODS = ("exact", "bloom", "linear", "hyperloglog")


def run(capture, *arguments):
    """(alarms, what was left out, report) of a run with windows of a second."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        done = subprocess.run(
            [
                PROGRAM,
                "watch",
                "-r",
                capture,
                "--window",
                "1s",
                "--export",
                f"events:{file.name}",
                "--format",
                "json",
                "-q",
                "--top",
                "1",
                *arguments,
            ],
            capture_output=True,
            timeout=300,
        )
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        events = [json.loads(line) for line in file]
    report = json.loads(done.stdout)
    assert report["summary"]["tasks"]["windows_balanced"]
    left_out = [event for event in events if "keys_left_out" in event["values"]]
    return [event for event in events if event["key"]], left_out, report


class Floods(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.capture = os.path.join(folder.name, "flood.pcap")

    def test_a_scanner_behind_a_flood_is_found_and_what_was_left_out_is_said(self):
        alarms, left_out, report = run(
            os.path.join(CASES, "flood_hides_a_scanner.pcap.gz"), "--task-keys", "4Ki", "--tasks", "superspreaders"
        )
        self.assertEqual([event["key"]["src_ip"] for event in alarms], ["192.0.2.1"])
        self.assertLessEqual(alarms[0]["values"]["destinations"], 10_000)
        self.assertGreaterEqual(
            alarms[0]["values"]["destinations"] + alarms[0].get("error", {}).get("destinations_missing", 0), 10_000
        )
        self.assertEqual(len(left_out), 1)
        said = left_out[0]["values"]["keys_left_out"]
        self.assertGreaterEqual(said, 5_001 - 4096)
        self.assertEqual(report["summary"]["tasks"]["events"]["superspreaders"]["keys_left_out"], said)

    def find(self, task, name, frames, expected, *arguments):
        """Every event's number has the true one within what it says."""
        floods.write(self.capture, frames)
        alarms, left_out, _ = run(self.capture, "--task", task, *arguments)
        self.assertEqual(len(alarms), len(expected), task)
        for event in alarms:
            key = event["key"].get("src_ip") or event["key"].get("dst_ip")
            true, said, error = expected[key], event["values"][name], event.get("error", {})
            relative = error.get(f"{name}_relative", 0) * max(said, true)
            self.assertLessEqual(said - relative, true, event)
            if f"{name}_at_least" not in error:
                self.assertGreaterEqual(said + relative + error.get(f"{name}_missing", 0), true, event)
        return left_out

    def test_scanners_are_found_by_every_method_wherever_they_are_in_a_flood(self):
        expected = {f"192.0.2.{i + 1}": 300 for i in range(20)}
        flood, scans = floods.spoofed(30_000), floods.scans(20, 300)
        mixed = flood + scans
        random.Random(1).shuffle(mixed)
        for method in METHODS:
            for frames in (flood + scans, scans + flood, mixed):
                left_out = self.find(
                    f"superspreaders:method={method}", "destinations", frames, expected, "--task-keys", "2Ki"
                )
                self.assertGreater(left_out[0]["values"]["keys_left_out"], 20_000)

    def test_a_victim_of_more_sources_than_have_room_hides_no_other(self):
        expected = {"198.51.100.1": 60_000, **{f"198.51.100.{i}": 400 for i in range(2, 11)}}
        flood, others = floods.attacks([1], 60_000), floods.attacks(range(2, 11), 400)
        for frames in (flood + others, others + flood):
            self.find("victims", "sources", frames, expected, "--task-keys", "4Ki")

    def test_a_spreader_lacks_no_more_than_it_says(self):
        """Sources of 1 to 3000 destinations, many of which stop to be counted and are dropped later."""
        rng, frames, true = random.Random(6), [], {}
        for source in range(1200):
            others = true.setdefault(f"10.0.{source >> 8}.{source & 255}", set())
            for _ in range(rng.choice([1, 2, 5, 20, 100, 400, 3000]) if rng.random() < 0.3 else 1):
                others.add(rng.randrange(1 << 20))
            frames += [
                floods.frame(0x0A000000 + source, 0x14000000 + other, port) for other in others for port in (1000, 1001)
            ]
        rng.shuffle(frames)
        floods.write(self.capture, frames)
        alarms, left_out, _ = run(
            self.capture, "--task", "superspreaders:threshold=50,most=100000", "--task-keys", "1Ki"
        )
        found = {
            event["key"]["src_ip"]: (
                event["values"]["destinations"],
                event.get("error", {}).get("destinations_missing", 0),
            )
            for event in alarms
        }
        self.assertGreater(len(found), 100)
        for source, others in true.items():
            said, missing = found.get(source, (0, 50 + left_out[0]["error"]["destinations_missing"]))
            self.assertLessEqual(said, len(others), source)
            self.assertGreaterEqual(said + missing, len(others), source)

    def test_a_change_behind_a_flood_is_found(self):
        """Windows full of keys, which come once each, before the one in which a host begins to send much."""
        for second in range(6):
            frames = floods.spoofed(5_000, first=second * 5_000) + (floods.connections(1, 3000) if second == 5 else [])
            floods.write(self.capture, frames, floods.BEGIN_NS + second * floods.SECOND, append=second != 0)
        floods.write(self.capture, floods.spoofed(10), floods.BEGIN_NS + 6 * floods.SECOND, append=True)
        for method in ("ewma", "previous"):
            alarms, left_out, _ = run(
                self.capture, "--task", f"change:method={method},by=packets,threshold=1000", "--task-keys", "1Ki"
            )
            self.assertIn("10.1.0.0", [event["key"]["src_ip"] for event in alarms], method)
            self.assertGreater(len(left_out), 3)

    def test_a_change_lacks_no_more_than_it_says(self):
        """Against a run with room for all keys, which floods of some windows drop here, from the first window on."""
        rng = random.Random(1)
        for second in range(10):
            frames = floods.spoofed(
                {0: 4700, 1: 100}.get(second) or rng.choice([100, 2000, 5000]), first=rng.randrange(20_000)
            )
            for host in range(30):
                frames += (
                    floods.connections(1, rng.choice([1, 3, 10, 50, 200]), first=host) if rng.random() < 0.7 else []
                )
            rng.shuffle(frames)
            floods.write(self.capture, frames, floods.BEGIN_NS + second * floods.SECOND, append=second != 0)
        for method in ("ewma", "previous"):
            task = f"change:method={method},by=packets,threshold=1,most=1000000" + (
                ",deviations=0,warm-up=0" if method == "ewma" else ""
            )
            runs = [run(self.capture, "--task", task, "--task-keys", keys) for keys in ("1Ki", "64Ki")]
            little, all_keys = (
                {(event["window"]["begin_ns"], event["key"]["src_ip"]): event for event in alarms}
                for alarms, _, _ in runs
            )
            left_out = {event["window"]["begin_ns"]: event for event in runs[0][1]}
            self.assertGreater(len(little), 1000)
            checked = 0
            for (begin, source), event in all_keys.items():  # what was left out lacks no more than its window says
                if (begin, source) not in little and begin in left_out:
                    checked += 1
                    bounds = left_out[begin]["error"]
                    self.assertLessEqual(
                        abs(event["values"]["packets_difference"]),
                        bounds.get("packets_missing", 0) + bounds.get("packets_expected_missing", 0) + 1,
                        event,
                    )
            self.assertGreater(checked, 100)
            for key, event in little.items():
                said, error = event["values"], event.get("error", {})
                missing, expected_missing = error.get("packets_missing", 0), error.get("packets_expected_missing", 0)
                if key not in all_keys:
                    self.assertLessEqual(abs(said["packets_difference"]), missing + expected_missing + 1, event)
                    continue
                true = all_keys[key]["values"]
                self.assertLessEqual(0, true["packets"] - said["packets"], event)
                self.assertLessEqual(true["packets"] - said["packets"], missing, event)
                self.assertLessEqual(-1e-6, true["packets_expected"] - said["packets_expected"], event)
                self.assertLessEqual(
                    true["packets_expected"] - said["packets_expected"], expected_missing + 1e-6, event
                )

    def test_every_task_that_keeps_keys_says_how_many_it_left_out(self):
        floods.write(self.capture, floods.spoofed(10_000))
        tasks = ("superspreaders", "victims", "heavy-hitters", "hierarchical-heavy-hitters", "entropy")
        _, left_out, report = run(self.capture, "--tasks", ",".join(tasks), "--task-keys", "1Ki")
        self.assertEqual({event["task"] for event in left_out}, set(tasks))
        for event in left_out:
            self.assertGreaterEqual(event["values"]["keys_left_out"], 10_000 - 1024)
            self.assertFalse(event["exact"])
            self.assertEqual(
                report["summary"]["tasks"]["events"][event["task"]]["keys_left_out"], event["values"]["keys_left_out"]
            )
        _, left_out, report = run(self.capture, "--tasks", ",".join(tasks))
        self.assertFalse(left_out)
        text = subprocess.run(
            [
                PROGRAM,
                "watch",
                "-r",
                self.capture,
                "--task",
                "superspreaders",
                "--window",
                "1s",
                "--task-keys",
                "1Ki",
                "-q",
            ],
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
        self.assertRegex(
            text, r"superspreaders: \d+ keys were left out because the table of keys was full \(--task-keys\)"
        )

    def judge(self, syns, flows, *arguments):
        """Connections of 40 packets and scanners, at random places of a flood that fills the table many times: (events
        of connections, scanners found)."""
        frames = floods.spoofed(syns) + floods.connections(200, 40) + floods.scans(5, 300)
        random.Random(3).shuffle(frames)
        floods.write(self.capture, frames)
        alarms, _, _ = run(
            self.capture,
            "--flows",
            flows,
            "--task",
            "long=packets >= 30",
            "--task",
            "superspreaders:threshold=250",
            *arguments,
        )
        found = [event for event in alarms if event["task"] == "long"]
        for event in found:
            said, error = event["values"]["packets"], event.get("error", {})
            self.assertLessEqual(said, 40)
            self.assertTrue(said == 40 or not event["exact"], event)
            self.assertTrue(said == 40 or error.get("packets_at_least") == said or "flows_missing" in error, event)
        return found, {
            event["key"]["src_ip"]: event["values"]["destinations"]
            for event in alarms
            if event["task"] == "superspreaders"
        }

    def assert_judged(self, syns, flows):
        found, scanners = self.judge(syns, flows)
        self.assertEqual(len({event["key"]["src_ip"] for event in found}), 200)
        self.assertEqual(scanners, {f"192.0.2.{i + 1}": 300 for i in range(5)})

    def test_connections_that_the_table_has_no_room_for_are_judged_as_a_whole(self):
        self.assert_judged(131_072, "8Ki")

    def test_an_event_of_a_flow_whose_record_was_evicted_is_a_lower_bound(self):
        found, _ = self.judge(131_072, "8Ki", "--flood-filter", "0")
        self.assertLess(len(found), 150, "the traffic was to have records evicted")
        self.assertTrue(any(not event["exact"] for event in found))
        floods.write(self.capture, floods.connections(200, 40))
        alarms, _, _ = run(self.capture, "--task", "long=packets >= 30")
        self.assertTrue(alarms and all(event["exact"] for event in alarms))

    def test_a_flood_that_has_room_keeps_nothing_out(self):
        floods.write(self.capture, floods.spoofed(50_000) + floods.connections(20, 40))
        _, _, report = run(self.capture, "--task", "long=packets >= 30", "--flows", "64Ki")
        self.assertEqual(report["summary"]["accounting"]["kept_out_packets"], 0)

    @thorough
    def test_connections_in_a_million_spoofed_packets_are_judged_as_a_whole(self):
        self.assert_judged(1_000_000, "64Ki")

    @thorough
    def test_twenty_scanners_behind_two_million_spoofed_packets_are_found(self):
        left_out = self.find(
            "superspreaders",
            "destinations",
            floods.spoofed(1_940_000) + floods.scans(20, 3000),
            {f"192.0.2.{i + 1}": 3000 for i in range(20)},
        )
        self.assertGreater(left_out[0]["values"]["keys_left_out"], 900_000)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
