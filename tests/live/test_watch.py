#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`parshall watch` itself on live devices: every packet sent is in a flow. Usage: test_watch.py PARSHALL
FOLDER_OF_PROGRAMS"""

import collections
import concurrent.futures
import contextlib
import csv
import fcntl
import gzip
import ipaddress
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import netns
import side_by_side

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(1, os.path.join(sys.path[0], "export"))
import ipfix
from rivals import program_for

PARSHALL = "parshall"
PROGRAMS = "."
FRAMES = 10000
CASES = pathlib.Path(__file__).resolve().parent.parent / "cases"
ROOM = ("--descriptors", "16384")  # for all of them: how busy the machine is is not what is tested
FLOWS = 500
ETH_P_ALL, SO_RCVBUFFORCE = 3, 33
TUNSETIFF, IFF_TUN = 0x400454CA, 1


def expected_flows(frames):
    """Packets and wire bytes of each five-tuple, from the frames themselves."""
    flows = collections.Counter(), collections.Counter()
    for frame in frames:
        at = 14 if frame[12:14] == b"\x08\x00" else 18
        header = frame[at:]
        key = (
            header[9],
            str(ipaddress.ip_address(header[12:16])),
            *struct.unpack("!H", header[20:22]),
            str(ipaddress.ip_address(header[16:20])),
            *struct.unpack("!H", header[22:24]),
        )
        flows[0][key] += 1
        flows[1][key] += len(frame)
    return {key: (flows[0][key], flows[1][key]) for key in flows[0]}


def reported_flows(report):
    flows = {}
    for flow in report["flows"]:
        key = tuple(flow[name] for name in ("protocol", "src_ip", "src_port", "dst_ip", "dst_port"))
        if key in flows:
            raise AssertionError(f"{key} twice")
        flows[key] = flow["packets"], flow["wire_bytes"]
    return flows


class Watching:
    """`parshall watch` with a JSON report into a file, started and reading its device."""

    def __init__(self, start, *arguments):
        self._folder = tempfile.TemporaryDirectory(prefix="parshall-live-")
        self._file = self._folder.name + "/report.json"
        self.process = start(
            program_for(PARSHALL, arguments), "watch", *arguments, "--format", "json", "-o", self._file
        )
        self.said = self.process.stderr.readline()  # once the device is open
        if " MB for " not in self.said:
            raise AssertionError(self.said + self.process.communicate()[1])

    def report(self, stop_after=None):
        """The report at the end, which comes by itself or `stop_after` seconds by SIGINT."""
        if stop_after is not None:
            time.sleep(stop_after)
            self.process.send_signal(signal.SIGINT)
        status, errors, report = self.end()
        if status != 0 or errors:
            raise AssertionError(f"exit {status}: {errors}")
        return report

    def end(self):
        """Its status, what it said, and the report, if there is one, once it ends by itself."""
        try:
            _, errors = self.process.communicate(timeout=120)
            if not os.path.exists(self._file):
                return self.process.returncode, errors, None
            with open(self._file, encoding="utf-8") as file:
                return self.process.returncode, errors, json.load(file)
        finally:
            self._folder.cleanup()


def start(*command):
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


class Devices(unittest.TestCase):
    def check(self, report, frames, device=True):
        accounting = report["summary"]["accounting"]
        self.assertTrue(accounting["balanced"])
        self.assertEqual(accounting["counted"], len(frames))
        self.assertEqual(accounting["offered"], len(frames))
        if device:
            self.assertEqual(accounting["nic_received"], len(frames))
        self.assertEqual(reported_flows(report), expected_flows(frames))


@unittest.skipIf(netns.why_not(), f"SKIPPED: {netns.why_not()}")
class KernelInterfaces(Devices):
    def watch(self, frames, *arguments, queues=1):
        with netns.VethPair(queues) as pair:
            watching = Watching(pair.watch, "-i", "tap0", *(() if "af_xdp" in arguments else ROOM), *arguments)
            pair.deliver(frames)
            return watching.report(stop_after=1)

    @side_by_side.alone
    def test_every_model_and_driver_counts_every_flow(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        for via in ("af_packet", "af_xdp"):
            for model in ("run-to-completion", "pipeline", "cooperative"):
                with self.subTest(via=via, model=model):
                    self.check(self.watch(frames, "--via", via, "--threads", model), frames)

    @side_by_side.alone
    def test_two_queues_with_a_worker_each_count_every_flow(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        for via, queues in (("af_packet", 1), ("af_xdp", 2)):
            with self.subTest(via=via):
                report = self.watch(frames, "--via", via, "--workers", "2", queues=queues)
                self.check(report, frames)
                for worker in report["summary"]["workers"]:
                    self.assertGreater(worker["accounting"]["counted"], FRAMES // 5)

    @side_by_side.alone
    def test_every_connection_is_one_biflow_with_two_workers(self):
        with gzip.open(CASES / "biflow_1500_connections.pcap.gz") as packed:
            frames = netns.frames_of(packed.read())
        for threads in ("run-to-completion", "pipeline"):
            with self.subTest(threads=threads):
                report = self.watch(frames, "--workers", "2", "--threads", threads, "--biflow")
                self.assertTrue(report["summary"]["accounting"]["balanced"])
                self.assertEqual(report["summary"]["accounting"]["counted"], len(frames))
                self.assertEqual(
                    collections.Counter(
                        (flow["packets"], flow["reverse_packets"], flow["dst_port"]) for flow in report["flows"]
                    ),
                    {(120, 60, 80): 50},
                    "the same fifty again and again",
                )
                for worker in report["summary"]["workers"]:
                    self.assertGreater(worker["accounting"]["counted"], len(frames) // 5)

    def test_statistics_of_each_flow(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        with netns.VethPair() as pair:
            watching = Watching(pair.watch, "-i", "tap0", *ROOM, "--columns", "+gap_mean,size_max,iat_p99")
            pair.deliver(frames)
            report = watching.report(stop_after=1)
        self.check(report, frames)
        for flow in report["flows"]:
            self.assertEqual(flow["gap_mean_packets"], FLOWS - 1)
            self.assertEqual(flow["size_max_bytes"], 60)
            self.assertGreater(flow["iat_p99_ns"], 0)

    def test_live_and_file_give_the_same_records(self):
        """But for times: of every column that does not go by them."""
        of_times = re.compile(".*(_seen|duration|rate|iat|rtt|_times?_ns|flow_id|spurious|fast|_repeats)")
        columns = "all,first_sizes,first_flags,gap_mean,size_sd"
        with netns.Folder() as folder, netns.VethPair() as pair:
            subprocess.run(
                [
                    PARSHALL,
                    "send",
                    "-q",
                    "-g",
                    "flows=600,size=imix,ipv6=0.3,protocol=sessions,packets=20000,rate=20000,resend=0.05",
                    "--count",
                    "20000",
                    "-w",
                    folder + "/sent.pcap",
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            rows = {}
            for of, *source in (("file", "-r", folder + "/sent.pcap"), ("live", "-i", "tap0", *ROOM)):
                watching = Watching(
                    start if of == "file" else pair.watch,
                    *source,
                    "--seed",
                    "7",
                    "--columns",
                    columns,
                    "--idle",
                    "1h",
                    "--export",
                    f"csv:{folder}/{of}.csv",
                )
                if of == "live":
                    subprocess.run(
                        [
                            "ip",
                            "netns",
                            "exec",
                            pair.tx_space,
                            PARSHALL,
                            "send",
                            "-q",
                            "-r",
                            folder + "/sent.pcap",
                            "-i",
                            "wire0",
                        ],
                        check=True,
                        stdout=subprocess.DEVNULL,
                    )
                report = watching.report(stop_after=1 if of == "live" else None)
                self.assertEqual(report["summary"]["accounting"]["counted"], 20000)
                with open(f"{folder}/{of}.csv", encoding="utf-8", newline="") as file:
                    rows[of] = sorted(
                        tuple((name, value) for name, value in row.items() if not of_times.match(name))
                        for row in csv.DictReader(file)
                    )
        self.assertGreater(len(rows["file"]), 500)
        self.assertIn("gap_mean_packets", dict(rows["file"][0]))
        self.assertEqual(rows["live"], rows["file"])

    def test_ipfix_tells_which_interface(self):
        frames = netns.udp_frames(1000, 100)
        with netns.Folder() as folder, netns.VethPair() as pair:
            watching = Watching(pair.watch, "-i", "tap0", *ROOM, "--export", f"ipfix:{folder}/flows.ipfix,probe=here")
            pair.deliver(frames)
            number = int(pair.link().split(":")[0])
            watching.report(stop_after=1)
            reader = ipfix.Reader()
            with open(folder + "/flows.ipfix", "rb") as file:
                reader.read(file.read())
        self.assertEqual((len(reader.flows), sum(flow["packets"] for flow in reader.flows)), (100, 1000))
        self.assertEqual({flow["interface"] for flow in reader.flows}, {number})
        self.assertIn({"interface": number, "interface_name": "tap0"}, reader.options)
        self.assertIn({"domain": 1, "domain_name": "here"}, reader.options)

    def test_a_filter_counts_what_it_drops(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        report = self.watch(frames, "src host 10.0.0.1 or src host 10.0.0.2")
        accounting = report["summary"]["accounting"]
        self.assertTrue(accounting["balanced"])
        self.assertEqual(
            (accounting["offered"], accounting["filtered"], accounting["counted"]), (FRAMES, FRAMES - 40, 40)
        )

    @side_by_side.alone
    def test_packet_level_shows_device_and_software_counters_of_each_queue(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        for via in ("af_packet", "af_xdp"):
            with self.subTest(via=via):
                report = self.watch(frames, "--via", via, "--packets-only", "--workers", "2", queues=2)
                self.assertEqual(report["summary"]["packets"], FRAMES)
                self.assertEqual(report["summary"]["wire_bytes"], 60 * FRAMES)
                self.assertEqual(report["summary"]["accounting"]["nic_received"], FRAMES)
                of_queues = [worker["accounting"] for worker in report["summary"]["workers"]]
                self.assertEqual(len(of_queues), 2)
                for queue in of_queues:
                    self.assertEqual(queue["nic_received"], queue["counted"])
                    self.assertEqual(queue["nic_missed"], 0)
                    self.assertGreater(queue["counted"], FRAMES // 5)

    def test_what_a_slow_monitor_cannot_take_is_named_and_the_rest_is_whole(self):
        frames = netns.udp_frames(40000, FLOWS)
        for via in ("af_packet", "af_xdp"):
            with self.subTest(via=via), netns.VethPair() as pair:
                watching = Watching(pair.watch, "-i", "tap0", "--via", via, "--descriptors", "256")
                watching.process.send_signal(signal.SIGSTOP)  # nobody empties the queue
                pair.send(frames)
                watching.process.send_signal(signal.SIGCONT)
                report = watching.report(stop_after=1)
                accounting = report["summary"]["accounting"]
                self.assertTrue(accounting["balanced"])
                self.assertGreater(accounting["nic_missed"], 0)
                self.assertEqual(accounting["offered"], 40000)
                self.assertEqual(sum(packets for packets, _ in reported_flows(report).values()), accounting["counted"])
                self.assertGreater(report["summary"]["loss_ratio"], 0)


class Overheard:
    """What an AF_PACKET socket of our own sees on `tap0`, frame by frame, with the kernel's length."""

    def __init__(self, pair):
        back = netns.in_namespace(pair.rx_space)
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20)
            self._socket.bind(("tap0", ETH_P_ALL))
        finally:
            back()

    def flows(self):
        """Packets, wire bytes and IP bytes of each five-tuple; and how long the longest frame was."""
        self._socket.settimeout(0.5)
        flows, longest = {}, 0
        while True:
            try:
                frame = self._socket.recv(1 << 17)
            except TimeoutError:
                self._socket.close()
                return flows, longest
            if frame[12:14] != b"\x08\x00":
                continue
            ip = frame[14:]
            ports = struct.unpack("!HH", ip[20:24]) if ip[9] in (6, 17) else (0, 0)
            key = (
                ip[9],
                str(ipaddress.ip_address(ip[12:16])),
                ports[0],
                str(ipaddress.ip_address(ip[16:20])),
                ports[1],
            )
            packets, wire_bytes, ip_bytes = flows.get(key, (0, 0, 0))
            flows[key] = packets + 1, wire_bytes + len(frame), ip_bytes + struct.unpack("!H", ip[2:4])[0]
            longest = max(longest, len(frame))


def tcp_and_udp_between(pair, tcp_bytes=20 << 20):
    """TCP both ways and UDP between the two hosts, with whatever their devices do for them."""
    for space, name, address in ((pair.tx_space, "wire0", "198.18.0.1"), (pair.rx_space, "tap0", "198.18.0.2")):
        subprocess.run(["ip", "-n", space, "address", "add", f"{address}/24", "dev", name], check=True)
    back = netns.in_namespace(pair.rx_space)
    server, answers = socket.create_server(("198.18.0.2", 5001)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    answers.bind(("198.18.0.2", 5002))
    back()
    back = netns.in_namespace(pair.tx_space)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client = socket.create_connection(("198.18.0.2", 5001))
    back()
    accepted, _ = server.accept()

    def receive():
        got = 0
        while got < tcp_bytes:
            got += len(accepted.recv(1 << 20))
        accepted.sendall(bytes(tcp_bytes // 4))
        accepted.close()

    receiver = threading.Thread(target=receive)
    receiver.start()
    for size in range(0, 1400, 100):
        udp.sendto(bytes(size), ("198.18.0.2", 5002))
    client.sendall(bytes(tcp_bytes))
    while client.recv(1 << 20):
        pass
    receiver.join()
    for one in (client, server, udp, answers):
        one.close()


@unittest.skipIf(netns.why_not(), f"SKIPPED: {netns.why_not()}")
class Hosts(unittest.TestCase):
    def test_segments_that_a_host_joins_count_as_long_as_the_kernel_says(self):
        for arguments in ([], ["--workers", "2"]):
            with self.subTest(arguments=arguments), netns.VethPair() as pair:
                overheard = Overheard(pair)
                watching = Watching(pair.watch, "-i", "tap0", "--descriptors", "32768", *arguments)
                tcp_and_udp_between(pair)
                report = watching.report(stop_after=0.5)
                expected, longest = overheard.flows()
                self.assertGreater(longest, 1514, "nothing was joined here: nothing is tested")
                accounting = report["summary"]["accounting"]
                self.assertTrue(accounting["balanced"])
                self.assertEqual(accounting["nic_missed"], 0)
                self.assertGreater(accounting["joined"], 0)
                found = {
                    tuple(flow[name] for name in ("protocol", "src_ip", "src_port", "dst_ip", "dst_port")): (
                        flow["packets"],
                        flow["wire_bytes"],
                        flow["ip_bytes"],
                    )
                    for flow in report["flows"]
                }
                self.assertEqual(found, expected)
                for _, wire_bytes, ip_bytes in found.values():
                    self.assertGreaterEqual(wire_bytes, ip_bytes)

    def test_both_directions_of_a_connection_come_to_one_worker(self):
        """So following its segments finds what acknowledges them: round trips, of each connection. Frames of one
        direction alone have none."""
        with netns.VethPair() as pair:
            watching = Watching(pair.watch, "-i", "tap0", "--workers", "2", "--key", "5tuple", "tcp")
            for address, name, space in (("198.18.0.1", "wire0", pair.tx_space), ("198.18.0.2", "tap0", pair.rx_space)):
                subprocess.run(["ip", "-n", space, "address", "add", f"{address}/24", "dev", name], check=True)
            back = netns.in_namespace(pair.rx_space)
            server = socket.create_server(("198.18.0.2", 5001), backlog=64)
            back()
            for _ in range(16):
                back = netns.in_namespace(pair.tx_space)
                client = socket.create_connection(("198.18.0.2", 5001))
                back()
                accepted, _ = server.accept()
                client.close()
                accepted.close()
            server.close()
            report = watching.report(stop_after=0.5)
        workers = [worker["accounting"] for worker in report["summary"]["workers"]]
        packets = collections.Counter()  # of both directions of each
        for flow in report["flows"]:
            packets[frozenset(((flow["src_ip"], flow["src_port"]), (flow["dst_ip"], flow["dst_port"])))] += flow[
                "packets"
            ]
        self.assertEqual(len(packets), 16)
        counted = workers[0]["counted"]
        self.assertNotIn(0, (counted, workers[1]["counted"]))
        sums = {0}
        for count in packets.values():
            sums |= {so_far + count for so_far in sums}
        self.assertIn(counted, sums, "some connection is with both workers")

    def test_what_comes_to_the_loopback_interface_is_counted_once(self):
        with netns.VethPair() as pair:
            subprocess.run(["ip", "-n", pair.rx_space, "link", "set", "dev", "lo", "up"], check=True)
            watching = Watching(pair.watch, "-i", "lo")
            back = netns.in_namespace(pair.rx_space)
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            back()
            for _ in range(10):
                udp.sendto(bytes(100), ("127.0.0.1", 9))
            udp.close()
            report = watching.report(stop_after=0.5)
        self.assertEqual([flow["packets"] for flow in report["flows"] if flow["protocol"] == 17], [10])

    def test_tags_that_the_kernel_keeps_beside_a_frame_are_part_of_it(self):
        frames = [netns.udp_frame(flow, vlan=7) for flow in range(50)]
        with netns.VethPair() as pair:
            watching = Watching(pair.watch, "-i", "tap0", "--columns", "+size_max")
            pair.deliver(frames)
            report = watching.report(stop_after=0.5)
        self.assertEqual(reported_flows(report), expected_flows(frames))

    def test_packets_of_an_interface_without_a_link_layer(self):
        """A tun device: packets begin with their IP header."""
        with netns.VethPair() as pair:
            back = netns.in_namespace(pair.rx_space)
            tun = os.open("/dev/net/tun", os.O_RDWR)
            fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN))
            back()
            subprocess.run(["ip", "-n", pair.rx_space, "link", "set", "dev", "tun0", "up"], check=True)
            watching = Watching(pair.watch, "-i", "tun0")
            packets = [netns.udp_frame(flow)[14:] for flow in range(20)]
            for one in packets:
                os.write(tun, b"\0\0\x08\x00" + one)
            for _ in range(3):  # LLDP, though it looks like IPv4
                os.write(tun, b"\0\0\x88\xcc" + packets[0])
            report = watching.report(stop_after=0.5)
            os.close(tun)
        flows = [flow for flow in report["flows"] if flow["protocol"] == 17]
        self.assertEqual(len(flows), 20)
        self.assertEqual(report["summary"]["accounting"]["not_ip"], 3)
        for flow in flows:
            self.assertEqual((flow["packets"], flow["wire_bytes"], flow["ip_bytes"]), (1, 46, 46))

    def test_on_a_quiet_link_time_goes_on(self):
        """Flows end, and windows, though no packet comes to tell."""
        frames = netns.udp_frames(1000, 50)

        def check(*arguments):
            with netns.VethPair() as pair, netns.Folder() as folder:
                watching = start_at(
                    pair,
                    "-i",
                    "tap0",
                    "--idle",
                    "600ms",
                    "--every",
                    "300ms",
                    "--format",
                    "json",
                    "-o",
                    folder + "/report.json",
                    "--task",
                    "seen:window=200ms:packets > 0",
                    "--export",
                    f"events:{folder + '/events.jsonl'}",
                    *arguments,
                )
                pair.deliver(frames)

                def lines(name):
                    with open(folder + name, encoding="utf-8") as file:
                        return [json.loads(line) for line in file if line.endswith("\n")]

                def summary():
                    reports = lines("/report.json")
                    return reports[-1]["summary"] if reports else {"live_flows": None, "ended_records": 0}

                netns.wait_until(lambda: summary()["ended_records"] >= 50, "flows end")
                netns.wait_until(
                    lambda: sum(event["values"]["packets"] for event in lines("/events.jsonl")) >= 1000, "windows end"
                )
                self.assertIsNone(watching.poll(), "it runs on: neither waited for its end")
                self.assertEqual((summary()["live_flows"], summary()["ended_records"]), (0, 50))
                self.assertEqual(sum(event["values"]["packets"] for event in lines("/events.jsonl")), 1000)
                watching.send_signal(signal.SIGINT)
                watching.communicate(timeout=60)
                self.assertEqual(watching.returncode, 0)

        kinds = (["--via", "af_packet"], ["--via", "af_xdp"], ["--threads", "pipeline"], ["--threads", "cooperative"])
        with concurrent.futures.ThreadPoolExecutor(len(kinds)) as pool:
            list(pool.map(lambda words: check(*words), kinds))


def start_at(pair, *arguments):
    """`parshall watch` where `tap0` is, once it captures."""
    process = pair.watch(program_for(PARSHALL, arguments), "watch", *arguments)
    said = process.stderr.readline()
    if " MB for " not in said:
        raise AssertionError(said + process.communicate()[1])
    return process


def cpu_s(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


@unittest.skipIf(netns.why_not(), f"SKIPPED: {netns.why_not()}")
class Start(unittest.TestCase):
    @side_by_side.alone
    def test_a_quiet_link_costs_next_to_nothing(self):
        """Parshall takes 0.5 to 1 % of a core here; it took 10 to 35 % when its threads looked for packets by
        themselves."""
        with contextlib.ExitStack() as pairs:
            watched = []
            for arguments in (
                (),
                ("--workers", "4"),
                ("--workers", "4", "--threads", "pipeline"),
                ("--tasks", "heavy-hitters", "--export", "csv:/dev/null"),
            ):
                pair = pairs.enter_context(netns.VethPair())
                watched.append((arguments, pair, start_at(pair, "-i", "tap0", "--flows", "64Ki", *arguments)))
            time.sleep(1)
            before = [cpu_s(process) for _, _, process in watched]
            time.sleep(2)
            took = [cpu_s(process) - earlier for (_, _, process), earlier in zip(watched, before, strict=True)]
            for (arguments, pair, process), seconds in zip(watched, took, strict=True):
                with self.subTest(arguments=arguments):
                    self.assertLess(seconds / 2, 0.04)
                    pair.deliver(netns.udp_frames(100, 10))
                    process.send_signal(signal.SIGINT)
                    out, errors = process.communicate(timeout=60)
                    self.assertEqual((process.returncode, errors), (0, ""))
                    self.assertIn("100 offered", out, "and what comes then is seen")

    @side_by_side.alone
    def test_what_takes_gigabytes_captures_at_once_and_counts_from_then_on(self):
        """Memory comes while packets do: what was sent before it is all there is counted, or said to be missed."""
        frames = netns.udp_frames(20000, 5000)
        with netns.VethPair() as pair:
            began = time.monotonic()
            watching = Watching(
                pair.watch, "-i", "tap0", "--task", "retransmissions", "--task", "latency-change", "--flows", "2560Ki"
            )
            took = time.monotonic() - began
            pair.send(frames)
            report = watching.report(stop_after=1)
        self.assertGreater(report["summary"]["memory_bytes"], 3 << 30)
        self.assertLess(took, 4)
        accounting = report["summary"]["accounting"]
        self.assertTrue(accounting["balanced"])
        self.assertEqual(accounting["counted"] + accounting["nic_missed"], len(frames))


@unittest.skipIf(netns.why_not(), f"SKIPPED: {netns.why_not()}")
class SeveralInterfaces(Devices):
    """tap0 and tap1, with a wire each."""

    def pair(self):
        pair = netns.VethPair()
        self.enterContext(pair)
        pair.add_link("wire1", "tap1")
        return pair

    def report_of(self, pair, names, sent, *arguments):
        """The report of a run while the frames of `sent` come, by the interface that they leave on."""
        watching = Watching(pair.watch, "-i", names, "--columns", "+interface", *arguments)
        for name, frames in sent:
            pair.deliver(frames, name=name)
        return watching.report(stop_after=0.5)

    @staticmethod
    def interfaces_of(report):
        return {
            (flow["src_ip"], flow["src_port"]): (flow["interface"], flow["packets"])
            for flow in report["flows"]
            if flow["protocol"] == 17
        }

    def test_each_has_its_line_and_a_flow_the_interface_it_was_first_seen_on(self):
        first, both, second = (netns.udp_frame(flow) for flow in range(3))
        key = lambda frame: (str(ipaddress.ip_address(frame[26:30])), int.from_bytes(frame[34:36], "big"))
        sent = (("wire0", [first] * 3 + [both] * 2), ("wire1", [both] * 4 + [second] * 5))
        for names in ("tap0,tap1", "tap1,tap0", "any"):
            for more in ((), ("--workers", "2"), ("--threads", "pipeline")):
                with self.subTest(names=names, more=more):
                    pair = self.pair()
                    report = self.report_of(pair, names, sent, *more)
                    accounting = report["summary"]["accounting"]
                    self.assertTrue(accounting["balanced"])
                    self.assertEqual(
                        (accounting["offered"], accounting["counted"], accounting["nic_received"]), (14, 14, 14)
                    )
                    self.assertEqual(report["summary"]["interfaces"], {"tap0": 5, "tap1": 9})
                    self.assertEqual(
                        self.interfaces_of(report),
                        {key(first): ("tap0", 3), key(both): ("tap0", 6), key(second): ("tap1", 5)},
                    )

    def test_the_directions_of_a_biflow_may_come_on_two(self):
        there, back = netns.udp_frame(1), netns.reply_to(netns.udp_frame(1))
        report = self.report_of(
            self.pair(), "tap0,tap1", (("wire0", [there] * 2), ("wire1", [back] * 3)), "--biflow", "--workers", "2"
        )
        self.assertEqual(
            [(flow["packets"], flow["reverse_packets"], flow["interface"]) for flow in report["flows"]],
            [(2, 3, "tap0")],
        )

    def test_any_has_interfaces_without_a_link_layer_and_those_that_come_later(self):
        pair = self.pair()
        back = netns.in_namespace(pair.rx_space)
        tun = os.open("/dev/net/tun", os.O_RDWR)
        self.addCleanup(os.close, tun)
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN))
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(udp.close)
        back()
        for name in ("tun0", "lo"):
            subprocess.run(["ip", "-n", pair.rx_space, "link", "set", "dev", name, "up"], check=True)
        watching = Watching(pair.watch, "-i", "any", "--columns", "+interface")
        for _ in range(4):
            os.write(tun, b"\0\0\x08\x00" + netns.udp_frame(1)[14:])
        for _ in range(5):
            udp.sendto(bytes(100), ("127.0.0.1", 9))
        pair.add_link("wire2", "tap2")
        pair.deliver([netns.udp_frame(2)] * 6, name="wire2")
        pair.deliver([netns.udp_frame(3, vlan=7)] * 7)
        report = watching.report(stop_after=0.5)
        flows = {
            flow["interface"]: (flow["packets"], flow["ip_bytes"], flow["wire_bytes"])
            for flow in report["flows"]
            if flow["protocol"] == 17
        }
        self.assertEqual(
            flows,
            {
                "tun0": (4, 4 * 46, 4 * 46),
                "lo": (5, 5 * 128, 5 * 142),
                "other": (6, 6 * 46, 6 * 60),
                "tap0": (7, 7 * 46, 7 * 64),
            },
        )
        self.assertEqual(
            {name: count for name, count in report["summary"]["interfaces"].items() if name in flows and name != "lo"},
            {"tun0": 4, "other": 6, "tap0": 7},
        )

    def test_the_run_goes_on_until_the_last_is_gone(self):
        pair = self.pair()
        watching = Watching(pair.watch, "-i", "tap0,tap1", "--columns", "+interface")
        pair.deliver([netns.udp_frame(1)] * 2)
        subprocess.run(["ip", "-n", pair.rx_space, "link", "del", "tap0"], check=True)
        pair.deliver([netns.udp_frame(1)] * 3, name="wire1")
        self.assertIn(
            "tap0 was removed: the run continues with the other interfaces", watching.process.stderr.readline()
        )
        self.assertIsNone(watching.process.poll())
        subprocess.run(["ip", "-n", pair.rx_space, "link", "del", "tap1"], check=True)
        status, errors, report = watching.end()
        self.assertEqual(status, 1)
        self.assertIn("tap0,tap1 is gone", errors)
        self.assertEqual(report["summary"]["interfaces"], {"tap0": 2, "tap1": 3})

    def test_what_cannot_be_read_so_is_refused(self):
        pair = self.pair()
        for words, said in (
            (("tap0,nope",), "cannot open nope: no such interface here"),
            (("tap0,tap0",), "tap0 is named twice"),
            (("tap0,",), "cannot open : no such interface"),
            (("any", "--via", "af_xdp"), "several interfaces are read by AF_PACKET alone"),
            (("tap0,tap1", "--via", "af_xdp"), "several interfaces are read by AF_PACKET alone"),
            (("tap0", "--via", "af_xdp", "--descriptors", "65536"), "a DPDK device holds 65535 at most"),
        ):
            with self.subTest(words=words):
                process = pair.watch(PARSHALL, "watch", "-q", "-i", *words)
                self.assertIn(said, process.communicate(timeout=60)[1])
                self.assertIn(process.returncode, (1, 2))


@unittest.skipIf(netns.why_not(), f"SKIPPED: {netns.why_not()}")
class Stop(Devices):
    def test_what_waits_in_the_ring_when_the_run_ends_is_counted(self):
        frames = netns.udp_frames(20000, FLOWS)
        for arguments in (
            [],
            ["--threads", "pipeline", "--workers", "2"],
            ["--threads", "cooperative"],
            ["--workers", "2"],
        ):
            with self.subTest(arguments=arguments), netns.VethPair() as pair:
                watching = Watching(pair.watch, "-i", "tap0", "--descriptors", "32768", *arguments)
                watching.process.send_signal(signal.SIGSTOP)
                pair.send(frames)
                watching.process.send_signal(signal.SIGINT)
                watching.process.send_signal(signal.SIGCONT)
                self.check(watching.report(), frames)


@unittest.skipIf(netns.why_not(), f"SKIPPED: {netns.why_not()}")
class Changes(Devices):
    """Of an interface that is captured."""

    def test_an_interface_that_goes_ends_the_run_and_what_came_before_is_reported(self):
        frames = netns.udp_frames(1000, 100)
        for arguments in ((), ("--workers", "2"), ("--threads", "pipeline"), ("--via", "af_xdp")):
            for ways in (
                ["{here} link del tap0"],
                ["{here} link set tap0 netns {elsewhere}"],
                [
                    "{here} link del tap0",
                    "{here} link add tap0 index {number} type veth peer name tap1",
                    "{here} link set tap0 up",
                    "{here} link set tap1 up",
                ],
            ):
                with self.subTest(arguments=arguments, ways=ways), netns.Folder() as folder, netns.VethPair() as pair:
                    room = () if "af_xdp" in arguments else ROOM
                    watching = Watching(
                        pair.watch, "-i", "tap0", *room, "--export", f"csv:{folder}/flows.csv", *arguments
                    )
                    pair.deliver(frames[:500])
                    watching.process.send_signal(signal.SIGSTOP)
                    pair.deliver(frames[500:])
                    number = json.loads(
                        subprocess.run(
                            ["ip", "-n", pair.rx_space, "-j", "link", "show", "tap0"], capture_output=True, check=True
                        ).stdout
                    )[0]["ifindex"]
                    for way in ways:
                        subprocess.run(
                            [
                                "ip",
                                "-n",
                                *way.format(here=pair.rx_space, elsewhere=pair.tx_space, number=number).split(),
                            ],
                            check=True,
                        )
                    watching.process.send_signal(signal.SIGCONT)
                    status, errors, report = watching.end()
                    self.assertEqual(status, 1)
                    self.assertIn("tap0 is gone", errors)
                    self.assertEqual(errors.count("\n"), 1 + errors.count("written"), errors)
                    self.check(report, frames)
                    with open(f"{folder}/flows.csv", encoding="utf-8", newline="") as file:
                        self.assertEqual(sum(int(flow["packets"]) for flow in csv.DictReader(file)), len(frames))

    def test_a_link_that_goes_down_is_named_then_and_when_it_is_up_again(self):
        frames = netns.udp_frames(1000, 100)
        for arguments in (ROOM, ("--via", "af_xdp")):
            with self.subTest(arguments=arguments), netns.VethPair() as pair:
                watching = Watching(pair.watch, "-i", "tap0", *arguments)
                pair.deliver(frames[:500])
                pair.set_link("down")
                self.assertIn("tap0 is down", watching.process.stderr.readline())
                pair.set_link("up")
                self.assertIn("tap0 is up again", watching.process.stderr.readline())
                pair.deliver(frames[500:])
                self.check(watching.report(stop_after=1), frames)

    def test_a_filter_that_is_for_none_of_its_packets_is_refused(self):
        with netns.VethPair() as pair:
            for arguments in ((), ("--sandbox", "off"), ("--sandbox", "on")):
                process = pair.watch(PARSHALL, "watch", "-i", "tap0", *arguments, "inbound")
                _, errors = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 2, errors)
                self.assertIn("inbound/outbound not supported on Ethernet", errors)

    def test_a_new_name_and_a_new_mtu_change_nothing(self):
        frames = netns.udp_frames(1000, 100)
        with netns.VethPair() as pair:
            watching = Watching(pair.watch, "-i", "tap0", *ROOM)
            pair.deliver(frames[:500])
            pair.set_link("mtu", "1400")
            pair.set_link("name", "tap1")
            time.sleep(0.5)
            pair.send(frames[500:])
            self.check(watching.report(stop_after=1), frames)


ON_LOOPBACK = (
    "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nwhile True: s.sendto(bytes(10), "
    '("127.0.0.1", 9))'
)


class VirtualDevices(Devices):
    def test_what_other_interfaces_have_while_net_af_packet_begins_is_none_of_its(self):
        """Its sockets hear all of them until they are bound."""
        device = "vdev:net_af_packet0,iface=tap0,framecnt=16384,framesz=2048,blocksz=65536"
        with netns.VethPair() as pair:
            subprocess.run(["ip", "-n", pair.rx_space, "link", "set", "lo", "up"], check=True)
            others = pair.watch(sys.executable, "-c", ON_LOOPBACK)
            try:
                for _ in range(3):
                    watching = pair.watch(
                        PARSHALL, "watch", "-q", "-i", device, "--duration", "100ms", "--format", "json"
                    )
                    out, err = watching.communicate(timeout=60)
                    self.assertEqual(json.loads(out)["summary"]["accounting"]["offered"], 0, err)
                self.assertIsNone(others.poll(), "it went on")
            finally:
                others.kill()
                others.communicate()

    def test_net_pcap(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        with netns.Folder() as folder:
            netns.write_pcap(folder + "/x.pcap", frames)
            self.check(Watching(start, "-i", f"vdev:net_pcap0,rx_pcap={folder}/x.pcap").report(), frames)

    def test_net_null_is_counted_as_no_ip(self):
        report = Watching(start, "-i", "vdev:net_null0,size=64", "--count", "100000").report()
        accounting = report["summary"]["accounting"]
        self.assertTrue(accounting["balanced"])
        self.assertEqual((accounting["offered"], accounting["not_ip"]), (100000, 100000))

    def test_memif(self):
        with netns.Folder() as folder:
            device = f"id=0,socket={folder}/memif.sock,socket-abstract=no"
            watching = Watching(start, "-i", f"vdev:net_memif0,role=server,{device}")
            sent = subprocess.run(
                [f"{PROGRAMS}/send_device", f"vdev:net_memif0,role=client,{device}", "50000"],
                capture_output=True,
                text=True,
                timeout=60,
            )
            self.assertIn("accepted=50000", sent.stdout)
            report = watching.report(stop_after=1)
        self.assertTrue(report["summary"]["accounting"]["balanced"])
        self.assertEqual(report["summary"]["accounting"]["counted"], 50000)
        self.assertEqual(report["summary"]["wire_bytes"], 50000 * 60)


if __name__ == "__main__":
    PARSHALL, PROGRAMS = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    side_by_side.main(PARSHALL, PROGRAMS)
