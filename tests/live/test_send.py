#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`parshall send`: what it says it sent is what `parshall watch` counts, per flow, through files and devices. Usage:
test_send.py PARSHALL"""

import csv
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time
import unittest

import netns
import side_by_side

PARSHALL = "parshall"
TRAFFIC = "flows=2000,dist=zipf:1.1,ipv6=0.2,size=200,packets=50000"
PACKETS = 60000
KEY = ("ip_version", "protocol", "src_ip", "src_port", "dst_ip", "dst_port")
COUNTS = ("packets", "ip_bytes", "wire_bytes")


def send(*arguments, status=0, **options):
    done = subprocess.run([PARSHALL, "send", *arguments], capture_output=True, text=True, timeout=180, **options)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done


def flows_of(text):
    """Packets, IP bytes and wire bytes of each flow in a CSV report."""
    rows = list(csv.reader(text.splitlines()))
    flows = {tuple(row[:6]): tuple(int(value) for value in row[6:9]) for row in rows[1:]}
    assert len(flows) == len(rows) - 1, "a flow has two lines"
    return flows


def watched(path):
    done = subprocess.run(
        [PARSHALL, "watch", "-r", path, "--format", "csv", "--quiet"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return flows_of(done.stdout)


def packets_of(flows):
    return sum(packets for packets, _, _ in flows.values())


class Watcher:
    """`parshall watch` on a device, started and reading."""

    def __init__(self, start, *arguments):
        self.process = start(PARSHALL, "watch", *arguments, "--format", "json")
        said = self.process.stderr.readline()
        if " MB for " not in said:
            raise AssertionError(said + self.process.communicate()[1])

    def flows(self):
        """As `flows_of`; `missed` has what found no room while a busy machine kept the reader waiting."""
        self.process.send_signal(signal.SIGINT)
        out, said = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, said
        report = json.loads(out)
        self.missed = report["summary"]["accounting"]["nic_missed"]
        return {
            tuple(str(flow[name]) for name in KEY): tuple(flow[name] for name in COUNTS) for flow in report["flows"]
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def refused(summary):
    return int(re.search(r"not sent +(\d+) refused", summary)[1])


def ran_for(process, thread, seconds):
    """Waits until the thread of that name has had a core for so long from now on: a busy machine may leave it
    without."""

    def had():
        for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == thread:
                return int((task / "schedstat").read_text().split()[0]) / 1e9
        return None

    netns.wait_until(lambda: had() is not None, f"a thread named {thread}")
    before = had()
    netns.wait_until(lambda: had() >= before + seconds, f"{seconds} s of a core for {thread}")


def start(*command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Files(unittest.TestCase):
    def test_a_file_has_every_frame_of_every_flow(self):
        with netns.Folder() as folder:
            path = f"{folder}/sent.pcap"
            sent = flows_of(
                send("-g", TRAFFIC, "-w", path, "--count", str(PACKETS), "--per-flow", "--format", "csv").stdout
            )
            self.assertEqual(packets_of(sent), PACKETS)
            self.assertGreater(len(sent), 1000)
            self.assertEqual(sent, watched(path))

    def test_a_replay_has_every_packet_of_the_capture_in_every_loop(self):
        with netns.Folder() as folder:
            first, again = f"{folder}/first.pcap", f"{folder}/again.pcap"
            send("-g", TRAFFIC, "-w", first, "--count", "5000")
            sent = flows_of(send("-r", first, "--loops", "3", "-w", again, "--per-flow", "--format", "csv").stdout)
            self.assertEqual(sent, watched(again))
            self.assertEqual(
                sent, {key: tuple(3 * value for value in values) for key, values in watched(first).items()}
            )
            send("-r", first, "-w", again)
            with open(first, "rb") as a, open(again, "rb") as b:
                self.assertEqual(a.read(), b.read(), "frames and time stamps as they were")

    def test_loops_of_fresh_flows_have_no_flow_in_common(self):
        with netns.Folder() as folder:
            first, again = f"{folder}/first.pcap", f"{folder}/again.pcap"
            send("-g", TRAFFIC, "-w", first, "--count", "5000")
            send("-r", first, "--loops", "4", "--fresh-flows", "-w", again)
            flows, once = watched(again), watched(first)
            self.assertEqual(len(flows), 4 * len(once))
            self.assertEqual(packets_of(flows), 20000)
            self.assertLessEqual(once.keys(), flows.keys())

    def test_a_pipe_has_what_a_file_has(self):
        with netns.Folder() as folder:
            path = f"{folder}/sent.pcap"
            send("-g", TRAFFIC, "-w", path, "--count", "1000")
            piped = subprocess.run(
                f"{PARSHALL} send -q -g {TRAFFIC} -w - --count 1000 | cmp - {path}",
                shell=True,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertEqual(piped.returncode, 0, piped.stdout + piped.stderr)
            self.assertIn("sent      1000 frames", piped.stderr, "the report goes elsewhere")

    def test_a_reader_that_goes_away_and_a_full_disk_are_errors_and_what_was_sent_adds_up(self):
        gone = subprocess.run(
            f"{PARSHALL} send -q -g {TRAFFIC} -w - --count 1M --format json | head -c 5000000 >/dev/null; "
            "exit ${PIPESTATUS[0]}",
            shell=True,
            executable="/bin/bash",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(gone.returncode, 1)
        self.assertIn("cannot write more to standard output", gone.stderr)
        full = send("-q", "-g", TRAFFIC, "-w", "/dev/full", "--count", "1M", "--format", "json", status=1)
        self.assertIn("/dev/full", full.stderr)
        report = json.loads(full.stdout)
        self.assertEqual(report["sent"], 0)
        self.assertEqual(
            report["taken"],
            report["sent"]
            + report["dropped"]
            + report["refused"]
            + report["too_long"]
            + report["unsendable"]
            + report["unsent"],
        )

    def test_damage_to_a_capture_is_told_and_what_was_before_it_is_sent(self):
        with netns.Folder() as folder:
            path, out = f"{folder}/cut.pcap", f"{folder}/out.pcap"
            send("-g", TRAFFIC, "-w", path, "--count", "100")
            os.truncate(path, os.path.getsize(path) - 50)
            done = send("-r", path, "-w", out, "--format", "json", status=3)
            self.assertEqual(json.loads(done.stdout)["sent"], 99)
            self.assertEqual(packets_of(watched(out)), 99)

    def test_a_capture_of_which_no_packet_makes_a_frame_ends_in_loops_too(self):
        with netns.Folder() as folder:
            path = f"{folder}/wireless.pcap"
            netns.write_pcap(path, [bytes(60)] * 3)
            with open(path, "r+b") as file:
                file.seek(20)
                file.write(struct.pack("<I", 105))  # 802.11
            for way in (
                ["--null", "--rate", "1kpps"],
                ["-w", f"{folder}/out.pcap", "--duration", "1h"],
                ["--null", "--duration", "1h"],
            ):
                done = send("-r", path, "--loops", "0", *way)
                self.assertRegex(done.stderr + done.stdout, r"sent +0 frames")
                self.assertRegex(done.stderr + done.stdout, r"[1-9][0-9]* without a frame")


class Usage(unittest.TestCase):
    def test_what_does_not_go_together_is_told(self):
        for arguments, said in (
            ([], "what to send"),
            (["-g", "flows=1"], "where to"),
            (["-g", "flows=1", "--null", "-w", "x"], "send writes to one place"),
            (["-g", "flows=1", "-r", "x", "--null"], "what to send"),
            (["-g", "flows=1", "--null", "--rate", "5"], "is not a rate"),
            (["-g", "flows=1", "--null", "--rate", "2x"], "no speed of its own"),
            (["-g", "flows=1", "--null", "--rate", "10%", "--count", "1"], "--line-rate"),
            (["-g", "flows=1", "--null", "--rate", "10kpps", "--ramp", "1kbps:1s"], "same unit"),
            (["-g", "flows=1", "--null", "--ramp", "1kpps:1s"], "same unit"),
            (["-g", "flows=1", "-w", "x"], "has to end"),
            (["-g", "flows=1", "--null", "--loops", "3"], "are of captures"),
            (["-g", "flows=1", "--null", "--src-mac", "02:00:00:00:00:09"], "src-mac=02:00:00:00:00:09"),
            (["-r", "x", "--null", "--dst-mac", "2:0:0:0:0:9"], "six bytes"),
            (["-r", "x", "--null", "--cap", "100", "--pad", "200"], "--pad is above --cap"),
            (["-r", "-", "--null", "--loops", "2"], "only once"),
            (["-r", "x", "--null", "--prompt"], "--prompt"),
            (["-g", "flows=1", "--null", "--format", "csv"], "--per-flow"),
            (["-g", "flows=1", "-w", "-", "--count", "1", "--per-flow"], "the capture's"),
            (["-g", "flows=1", "-w", "x", "-o", "x", "--count", "1"], "another file"),
            (["-g", "flows=1", "--null", "--burst", "4"], "--rate"),
            (["-g", "flows=1,pace=5", "--null"], "leave out pace"),
        ):
            done = subprocess.run(
                [PARSHALL, "send", *arguments], capture_output=True, text=True, timeout=20, check=False
            )
            self.assertIn(done.returncode, (1, 2), arguments)
            self.assertIn(said, done.stderr, arguments)
            self.assertEqual(done.stdout, "")

    @side_by_side.alone
    def test_a_share_of_a_line_that_is_told_is_kept(self):
        report = json.loads(
            send(
                "-g",
                "flows=10,size=1000",
                "--null",
                "--rate",
                "1%",
                "--line-rate",
                "1Gbps",
                "--duration",
                "1s",
                "--format",
                "json",
                "-q",
            ).stdout
        )
        self.assertAlmostEqual(report["line_bps"], 1e7, delta=2e5)
        self.assertEqual(
            report["sent"] + report["unsent"], 1226, "frames of 1020 bytes of the line that begin in a second"
        )


class Devices(unittest.TestCase):
    def through_veth(self, via):
        """All that is sent is counted; anew, at a lower rate, where a busy machine kept the reader waiting for longer
        than its ring holds."""
        for kpps in (20, 10, 5):
            with (
                netns.VethPair() as pair,
                Watcher(pair.watch, "-i", "tap0", "--via", via, "--descriptors", "32768") as watcher,
            ):
                sent = flows_of(
                    send(
                        "-i",
                        "wire0",
                        "--via",
                        via,
                        "-g",
                        TRAFFIC,
                        "--count",
                        str(PACKETS),
                        "--per-flow",
                        "--format",
                        "csv",
                        "--rate",
                        f"{kpps}kpps",
                        preexec_fn=lambda: netns.in_namespace(pair.tx_space),
                    ).stdout
                )
                netns.wait_until(lambda: pair.rx_packets() >= packets_of(sent), "all that was sent comes")
                time.sleep(1)
                counted = watcher.flows()
                self.assertEqual(packets_of(sent), pair.rx_packets(), "what the kernel says")
            self.assertEqual(packets_of(sent), PACKETS)
            self.assertEqual(packets_of(counted) + watcher.missed, PACKETS)
            if watcher.missed == 0:
                break
        self.assertEqual(sent, counted)

    def test_af_packet(self):
        self.through_veth("af_packet")

    def test_af_xdp(self):
        self.through_veth("af_xdp")

    def test_memif(self):
        with netns.Folder() as folder:
            device = f"id=0,socket={folder}/memif.sock,socket-abstract=no"
            with Watcher(start, "-i", f"vdev:net_memif0,role=server,{device}") as watcher:
                done = send(
                    "-i",
                    f"vdev:net_memif0,role=client,{device}",
                    "-g",
                    TRAFFIC,
                    "--count",
                    str(PACKETS),
                    "--per-flow",
                    "--format",
                    "csv",
                )
                sent, counted = flows_of(done.stdout), watcher.flows()
                self.assertIn("0 dropped", done.stderr)
                self.assertEqual(
                    packets_of(sent), packets_of(counted), "at once: none is on its way when the sender has ended"
                )
                self.assertEqual(sent, counted)
                self.assertEqual(packets_of(sent) + refused(done.stderr), PACKETS)

    def test_what_a_reader_that_stopped_leaves_in_a_memif_ring_is_counted_as_dropped(self):
        with netns.Folder() as folder:
            device = f"id=0,socket={folder}/memif.sock,socket-abstract=no"
            with Watcher(start, "-i", f"vdev:net_memif0,role=server,{device}") as watcher:
                process = subprocess.Popen(
                    [
                        PARSHALL,
                        "send",
                        "-i",
                        f"vdev:net_memif0,role=client,{device}",
                        "-g",
                        TRAFFIC,
                        "--rate",
                        "1kpps",
                        "--prompt",
                        "--format",
                        "json",
                    ],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                while " -> " not in process.stderr.readline():  # else it waits for the reader
                    self.assertIsNone(process.poll())
                watcher.process.send_signal(signal.SIGSTOP)
                ran_for(process, "send", 0.01)
                time.sleep(0.1)
                out, said = process.communicate("quit\n", timeout=60)
                self.assertEqual(process.returncode, 0, said)
                report = json.loads(out)
                self.assertGreater(report["dropped"], 50)
                self.assertEqual(report["taken"], report["sent"] + report["dropped"] + report["refused"])

    def test_net_pcap(self):
        with netns.Folder() as folder:
            sent = flows_of(
                send(
                    "-i",
                    f"vdev:net_pcap0,tx_pcap={folder}/out.pcap",
                    "-g",
                    TRAFFIC,
                    "--count",
                    str(PACKETS),
                    "--per-flow",
                    "--format",
                    "csv",
                ).stdout
            )
            self.assertEqual(sent, watched(f"{folder}/out.pcap"))
            self.assertEqual(packets_of(sent), PACKETS)

    def test_nobody_at_the_other_end_is_an_error_after_a_while(self):
        with netns.Folder() as folder:
            device = f"vdev:net_memif0,role=server,id=0,socket={folder}/memif.sock,socket-abstract=no"
            done = send("-i", device, "-g", TRAFFIC, "--wait", "1s", status=1)
            self.assertIn("is down", done.stderr)

    def test_an_interface_that_goes_down_ends_nothing_and_is_counted(self):
        with netns.VethPair() as pair:
            process = subprocess.Popen(
                [PARSHALL, "send", "-i", "wire0", "-g", TRAFFIC, "--rate", "10kpps", "--format", "json"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=lambda: netns.in_namespace(pair.tx_space),
            )
            netns.wait_until(lambda: pair.rx_packets() > 1000, "frames come")
            pair.set_link("down")
            netns.wait_until(lambda: not netns.is_up(pair.tx_space, "wire0"), "the kernel tells of the lost carrier")
            ran_for(process, "send", 0.2)
            before = pair.rx_packets()
            pair.set_link("up")
            netns.wait_until(lambda: pair.rx_packets() > before + 1000, "frames come again")
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, said)
            report = json.loads(out)
            self.assertEqual(report["sent"], pair.rx_packets())
            self.assertGreater(report["refused"] + report["dropped"], 1000)
            self.assertEqual(report["taken"], report["sent"] + report["dropped"] + report["refused"] + report["unsent"])


class Orders(unittest.TestCase):
    @side_by_side.alone
    def test_a_pause_holds_with_a_report_per_flow_too(self):
        for more in ([], ["--per-flow"]):
            process = subprocess.Popen(
                [PARSHALL, "send", "-g", "flows=10", "--null", "--rate", "1kpps", "--prompt", "-o", "/dev/null", *more],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            process.stderr.readline()
            time.sleep(0.3)
            process.stdin.write("pause\n")
            process.stdin.flush()
            time.sleep(1.5)
            process.stdin.write("go\n")
            process.stdin.flush()
            time.sleep(0.3)
            _, said = process.communicate("quit\n", timeout=20)
            self.assertEqual(process.returncode, 0, said)
            if more:
                sent = int(said.split("sent ")[1].split()[0])
                self.assertLess(sent, 1300, "what was due meanwhile is not sent later")
                self.assertGreater(sent, 300)

    @side_by_side.alone
    def test_traffic_and_rate_change_while_it_runs(self):
        with netns.VethPair() as pair, Watcher(pair.watch, "-i", "tap0") as watcher:
            process = subprocess.Popen(
                [
                    PARSHALL,
                    "send",
                    "-i",
                    "wire0",
                    "-g",
                    "flows=10,protocol=udp",
                    "--rate",
                    "1kpps",
                    "--prompt",
                    "--format",
                    "json",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=lambda: netns.in_namespace(pair.tx_space),
            )
            process.stderr.readline()

            def order(line, then_s=0.5):
                process.stdin.write(line + "\n")
                process.stdin.flush()
                time.sleep(then_s)
                return pair.rx_packets()

            at_first = order("")
            faster = order("rate 10kpps") - at_first
            order("nonsense")
            paused = order("pause", 0.2)
            self.assertEqual(order("", 0.3), paused)
            order("flows=500,size=128")
            self.assertEqual(order("", 0.2), paused)
            order("go")
            process.stdin.write("quit\n")
            process.stdin.flush()
            out, more = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 0, more)
            flows = watcher.flows()
            report = json.loads(out)
            self.assertEqual(report["sent"], packets_of(flows) + watcher.missed)
            self.assertGreater(faster, 3 * at_first)
            self.assertIn("nonsense", more)
            self.assertEqual(len(flows), 500, "the ten flows of before are the first of them")
            longer = [flow for flow, (packets, _, wire) in flows.items() if wire == 124 * packets]
            self.assertEqual(len(longer), 490)


if __name__ == "__main__":
    PARSHALL = os.path.abspath(sys.argv.pop(1))
    reason = netns.why_not()
    if reason:
        print("SKIPPED devices:", reason)
        del Devices, Orders
    side_by_side.main(PARSHALL)
