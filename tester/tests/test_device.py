#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`parshall test run` through devices that it makes: what it says is what they did. Usage: test_device.py PARSHALL"""

import csv
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import device_runs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/live"))
import netns
import processes
import side_by_side


def max_min(offered, capacity):
    """The share that those get who offer more, where all others get what they offer."""
    for left, least in zip(range(len(offered), 0, -1), sorted(offered)):
        if least * left > capacity:
            return capacity / left
        capacity -= least
    return float("inf")


class Devices(device_runs.DeviceTest):
    def check_that_it_loses_nothing(self, device):
        for traffic in (
            "flows=20",
            "flows=50,protocol=mix,ipv6=0.5,size=94:7+570:4+1518:1",
            "flows=5,protocol=tcp,size=1518",
        ):
            found = self.check_nothing_lost("--through", device, "-g", traffic, "--rate", "2kpps", "--count", "2000")
            self.assertEqual(found["summary"]["sent_frames"], 2000, (device, traffic))
            flows = int(traffic.split("flows=")[1].split(",")[0])
            self.assertEqual(len(found["flows"]), flows)
            self.assertEqual(sum(flow["sent_frames"] for flow in found["flows"]), 2000)

    def test_a_wire_loses_nothing(self):
        self.check_that_it_loses_nothing("wire")

    def test_a_router_loses_nothing(self):
        self.check_that_it_loses_nothing("router")

    @side_by_side.alone
    def test_what_a_lossy_link_did_is_recovered(self):
        done = device_runs.test_run(
            "--through",
            "link:loss=1,delay=10ms,jitter=1ms,reorder=5,duplicate=2,limit=100000",
            "-g",
            "flows=10",
            "--rate",
            "3kpps",
            "--count",
            "12000",
            "--confidence",
            "99",
            "--format",
            "json",
        )
        found = json.loads(done.stdout)
        total, did = found["summary"], found["device_did"]["forward"]
        lost_of_all = did["lost"]
        self.assertEqual(total["sent_frames"], 12000)
        # A frame that is drawn for loss and for duplication goes on once; a copy of one may be lost on its own.
        learnt = did["entered"] - 12000  # before the test, to see whether the link is there
        self.assertIn(lost_of_all - total["lost_frames"], range(learnt + 1))
        self.assertIn(did["duplicated"] - total["duplicate_frames"], range(learnt + 1))
        self.assertAlmostEqual(total["latency_p50_ns"] / 1e6, 10, delta=0.8)
        self.assertLess(total["latency_min_ns"], 3e6, "those that overtook")
        self.assertGreater(total["overtaking_frames"], 300)

    @staticmethod
    def stop_for_a_while(links):
        try:
            for number, pause_s in ((signal.SIGSTOP, 0.2), (signal.SIGCONT, 0)):
                for link in links:
                    os.kill(link, number)
                time.sleep(pause_s)
        except ProcessLookupError:
            pass  # it has ended

    @side_by_side.alone
    def test_what_a_link_has_no_room_for_is_in_its_account(self):
        process = subprocess.Popen(
            [
                device_runs.PARSHALL,
                "test",
                "run",
                "--settle",
                "500ms",
                "--through",
                "link:delay=1ms,limit=1000",
                "-g",
                "flows=10,size=1500",
                "--rate",
                "100kpps",
                "--count",
                "400000",
                "--format",
                "json",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            with ThreadPoolExecutor(1) as pool:
                outcome = pool.submit(process.communicate, timeout=60)
                while (
                    not outcome.done()
                ):  # what its ring has no room for meanwhile is missed, however fast the machine is
                    time.sleep(0.3)
                    self.stop_for_a_while(processes.links_of(process.pid))
                out, said = outcome.result()
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        self.assertEqual(process.returncode, 0, said)
        found = json.loads(out)
        did, total = found["device_did"]["forward"], found["summary"]
        self.assertGreater(did["missed"], 10000)
        offered = did["entered"] + did["missed"]
        self.assertGreaterEqual(offered, 0.99 * total["sent_frames"], "a full backlog of the kernel drops some before")
        self.assertLessEqual(offered, total["sent_frames"] + 200, "and some were sent before the test")
        self.assertEqual(
            did["entered"],
            did["lost"] + did["queue_full"] + did["too_long"] + did["still_waiting"] + did["sent"] + did["unsent"],
        )

    def test_what_a_link_loses_follows_from_one_seed_that_is_told(self):
        def lost(*options, link="link:loss=5"):
            found = device_runs.report(
                "--through", link, "-g", "flows=50", "--rate", "20kpps", "--count", "2000", *options
            )
            return found, [flow["lost_frames"] for flow in found["flows"]]

        first, of_first = lost()
        self.assertGreater(sum(of_first), 40)
        self.assertNotEqual(lost()[1], of_first, "a repeat is a trial of its own")
        again, of_again = lost("--seed", str(first["seed"]))
        self.assertEqual(
            (again["seed"], again["device_seed"], again["traffic"]),
            (first["seed"], first["device_seed"], first["traffic"]),
        )
        self.assertEqual(of_again, of_first)
        alone, of_alone = lost("--seed", str(first["seed"]), link=f"link:loss=5,seed={first['device_seed']}")
        self.assertEqual(alone["device_seed"], first["device_seed"], "the user's stays his")
        self.assertEqual(of_alone, of_first)
        self.assertNotEqual(lost("--seed", str(first["seed"]), link="link:loss=5,seed=1")[1], of_first)
        self.assertIn(
            f"seed        {first['seed']}, of the device {first['device_seed']}",
            device_runs.test_run("--through", "link:loss=5", "--count", "100", "--seed", str(first["seed"])).stdout,
        )

    @side_by_side.alone
    def test_a_token_bucket_loses_what_is_above_its_rate(self):
        # Its queue lasts for a quarter of a second in which a busy machine may not send.
        found = device_runs.report(
            "--through",
            "tbf:rate=1mbit,burst=3000,limit=30000",
            "-g",
            "flows=10,size=1000",
            "--rate",
            "2Mbps",
            "--duration",
            "3s",
        )
        total = found["summary"]
        # tc counts 1000 - 4 bytes a frame; the line 1020.
        self.assertAlmostEqual(total["received_pps"], 1e6 / 8 / 996, delta=0.05 * 125.5)
        self.assertGreater(total["lost_ratio"], 0.4)

    @side_by_side.thorough
    @unittest.skipUnless(shutil.which("nft"), "SKIPPED: no nft")
    @side_by_side.alone
    def test_a_fair_queue_gives_each_flow_its_max_min_share(self):
        # 20 flows, the k-th k times slower than the first; seven of them are above the share at this rate.
        limit, frame, pps, seconds = 64, 124, 4000, 8
        ladder = [1 / k for k in range(1, 21)]
        rate_pps = pps * sum(min(share, 1 / 7.5) for share in ladder) / sum(ladder)
        found = device_runs.report(
            "--through",
            f"fair-queue:rate={round(rate_pps * 8 * frame)}bit,flows=20,limit={limit},quantum={frame}",
            "-g",
            "flows=20,dist=ladder,size=128,protocol=mix,ipv6=0.5",
            "--rate",
            f"{pps}pps",
            "--duration",
            f"{seconds}s",
        )
        sent = [flow["sent_frames"] for flow in found["flows"]]
        self.assertEqual({flow["ip_version"] for flow in found["flows"]}, {4, 6})
        self.assertEqual({flow["protocol"] for flow in found["flows"]}, {6, 17})
        self.assertGreater(sum(sent), 0.95 * pps * seconds)
        share = max_min(sent, rate_pps * sum(sent) / pps)
        for flow in found["flows"]:
            due, came = min(flow["sent_frames"], share), flow["received_frames"]
            if flow["sent_frames"] < share:  # for half a second it may come faster than it is served
                self.assertEqual(came, flow["sent_frames"], f"{flow['stream']} of {sent}, share {share}")
            # What its queue holds at the end still comes. Where a busy machine sends late, queues that are empty miss
            # their turn, and where it
            # sees to the router late, some of the rate is lost.
            self.assertGreaterEqual(came, 0.95 * due, f"{flow['stream']} of {sent}, share {share}")
            self.assertLessEqual(came, 1.05 * due + limit, f"{flow['stream']} of {sent}, share {share}")

    @unittest.skipUnless(shutil.which("nft"), "SKIPPED: no nft")
    def test_a_fair_queue_for_a_thousand_flows_is_there_in_seconds(self):
        began = time.monotonic()
        found = device_runs.report(
            "--through", "fair-queue:rate=100mbit,flows=1000", "-g", "flows=1000", "--rate", "5kpps", "--count", "5000"
        )
        self.assertEqual((found["summary"]["lost_frames"], len(found["flows"])), (0, 1000))
        self.assertLess(time.monotonic() - began, 15)

    @side_by_side.thorough
    def test_bursts_and_slow_preparations_lose_nothing(self):
        self.check_nothing_lost(
            "--through", "wire", "--rate", "1kpps", "--count", "3000", "--burst", "1000", "-g", "flows=1,packets=100"
        )
        self.check_nothing_lost(
            "--through", "wire", "--rate", "2kpps", "--count", "1000", "-g", "flows=300000", "--flow-latency"
        )

    @side_by_side.alone
    def test_frames_of_another_test_on_the_same_wire_are_not_ours(self):
        with netns.VethPair() as pair:
            space = pair.rx_space
            for words in (
                ("-n", pair.tx_space, "link", "set", "wire0", "netns", space),
                ("-n", space, "link", "set", "wire0", "up"),
                ("-n", space, "link", "add", "dead0", "type", "veth", "peer", "name", "dead1"),
                ("-n", space, "link", "set", "dead0", "multicast", "off", "up"),
                ("-n", space, "link", "set", "dead1", "multicast", "off", "up"),
            ):
                subprocess.run(["ip", *words], check=True)
            traffic = ("-g", "flows=10", "--rate", "2kpps", "--format", "json")
            other = pair.watch(
                device_runs.PARSHALL,
                "test",
                "run",
                "-i",
                "wire0",
                "--receive-on",
                "tap0",
                "--duration",
                "20s",
                *traffic,
            )
            try:
                other.stderr.readline()
                time.sleep(3)
                dead = ("-i", "dead0", "--receive-on", "tap0")
                learning = pair.watch(device_runs.PARSHALL, "test", "run", *dead, "--learn", "1s", "--duration", "1s")
                _, said = learning.communicate(timeout=60)
                sure = pair.watch(
                    device_runs.PARSHALL,
                    "test",
                    "run",
                    *dead,
                    "--learn",
                    "0",
                    "--duration",
                    "2s",
                    "--settle",
                    "500ms",
                    *traffic,
                )
                out, errors = sure.communicate(timeout=60)
            finally:
                other.send_signal(signal.SIGINT)
                other.communicate(timeout=60)
        self.assertEqual(learning.returncode, 1)
        self.assertIn("nothing comes back", said)
        self.assertEqual(sure.returncode, 0, errors)
        total = json.loads(out)["summary"]
        self.assertGreater(total["sent_frames"], 1000)
        self.assertEqual((total["received_frames"], total["lost_frames"]), (0, total["sent_frames"]))
        self.assertGreater(total["frames_that_came"]["contradictory"], 1000)

    def test_csv_has_a_line_a_flow(self):
        rows = list(
            csv.DictReader(
                io.StringIO(
                    device_runs.test_run(
                        "--through", "wire", "-g", "flows=30", "--rate", "3kpps", "--count", "3000", "--format", "csv"
                    ).stdout
                )
            )
        )
        self.assertEqual(len(rows), 30)
        self.assertEqual(sum(int(row["sent_frames"]) for row in rows), 3000)
        self.assertTrue(all(row["src_ip"].startswith("198.18.") for row in rows))


if __name__ == "__main__":
    device_runs.PARSHALL = os.path.abspath(sys.argv.pop(1))
    reason = netns.why_not()
    if reason:
        print("SKIPPED devices under test:", reason)
        sys.exit(0)
    side_by_side.main(device_runs.PARSHALL, lanes=8)
