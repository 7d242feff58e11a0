#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`parshall watch --forward`: a wire that marks. Usage: test_forward.py PARSHALL"""

import collections
import hashlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

import netns
import side_by_side

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export"))
from test_names import client_hello, tcp

PARSHALL = "parshall"
UNHURRIED = {
    "pause_every": 100,
    "pause_s": 0.01,
}  # a ring holds what comes while a busy machine keeps its reader waiting
EF, AF21 = 46, 18
SENT = 5 << 20
OWN = bytes.fromhex("020000000002")  # what the tests' frames say they are from
# By the first packet; but only a second one makes a class.
MODEL = """version = 1
model = "c45"
packets = 2
longest = 1500
reject = 0
classes = ["small", "large"]
[training]
date = ""
command = ""
captures = 0
flows = [10, 20]
[c45]
nodes = [
  {packet = 1, size = 200, up_to = 1, above = 2},
  {flows = {"small" = 10}},
  {flows = {"large" = 20}},
]
"""


def read_pcap(path):
    with open(path, "rb") as file:
        data = file.read()
    frames, at = [], 24
    while at < len(data):
        captured, wire = struct.unpack_from("<II", data, at + 8)
        assert captured == wire
        frames.append(data[at + 16 : at + 16 + captured])
        at += 16 + captured
    return frames


def ip_at(frame):
    """Where the IPv4 or IPv6 header begins, or None."""
    at = 12
    while frame[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    return at + 2 if frame[at : at + 2] in (b"\x08\x00", b"\x86\xdd") else None


def dscp_of(frame):
    at = ip_at(frame)
    if frame[at] >> 4 == 6:
        return (struct.unpack_from("!H", frame, at)[0] >> 6) & 63
    return frame[at + 1] >> 2


def checksum_is_right(frame):
    at = ip_at(frame)
    total = sum(struct.unpack_from(f"!{(frame[at] & 15) * 2}H", frame, at))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total == 0xFFFF


def with_dscp(frame, dscp):
    """The frame as it has to leave, its checksum computed anew."""
    at = ip_at(frame)
    frame = bytearray(frame)
    if frame[at] >> 4 == 6:
        word = struct.unpack_from("!H", frame, at)[0]
        struct.pack_into("!H", frame, at, word & 0xF03F | dscp << 6)
    else:
        frame[at + 1] = dscp << 2 | frame[at + 1] & 3
        frame[at + 10 : at + 12] = b"\0\0"
        struct.pack_into("!H", frame, at + 10, netns._checksum(bytes(frame[at : at + (frame[at] & 15) * 4])))
    return bytes(frame)


def udp6_frame(flow, payload_bytes):
    payload = bytes(payload_bytes)
    header = (
        struct.pack("!IHBB", 0x60012345, 8 + payload_bytes, 17, 64)
        + bytes([0xFD])
        + bytes(13)
        + struct.pack("!H", flow)
        + bytes([0xFD])
        + bytes(14)
        + b"\1"
    )
    return (
        bytes.fromhex("02000000000102000000000286dd")
        + header
        + struct.pack("!HHHH", 1000 + flow, 53, 8 + payload_bytes, 0)
        + payload
    )


def arp_frame(number):
    return bytes.fromhex("ffffffffffff0200000000020806") + struct.pack("!I", number) + bytes(42)


class Wire:
    """Two devices joined, with the report in a file."""

    def __init__(self, start, folder, *arguments, classes=None):
        """`classes`: options that say where they come from, MODEL if None."""
        self.file = folder + "/report.json"
        if classes is None:
            with open(folder + "/model.toml", "w", encoding="utf-8") as file:
                file.write(MODEL)
            classes = ("--model", file.name)
        self.process = start(
            PARSHALL, "watch", *classes, "--flows", "4096", "--format", "json", "-o", self.file, *arguments
        )
        self.said = self.process.stderr.readline()
        if " MB for " not in self.said:
            raise AssertionError(self.said + self.process.communicate()[1])
        self.marked = self.process.stderr.readline()

    def report(self, stop_after=None):
        import json

        if stop_after is not None:
            time.sleep(stop_after)
            self.process.send_signal(signal.SIGINT)
        try:
            _, errors = self.process.communicate(timeout=60)
        finally:
            self.process.kill()
        slow_end = "waiting for the reader of"  # a busy machine takes longer than two seconds for the end
        if self.process.returncode != 0 or any(slow_end not in line for line in errors.splitlines()):
            raise AssertionError(f"exit {self.process.returncode}: {errors}")
        with open(self.file, encoding="utf-8") as file:
            return json.load(file)


class Case(unittest.TestCase):
    def check_balance(self, report):
        forwarding, accounting = report["summary"]["forwarding"], report["summary"]["accounting"]
        self.assertTrue(accounting["balanced"])
        polled = sum(worker["accounting"]["nic_received"] for worker in report["summary"]["workers"])
        self.assertEqual(forwarding["offered"], polled)
        self.assertEqual(forwarding["offered"], forwarding["sent"] + forwarding["not_sent"])
        self.assertEqual(forwarding["not_sent"], forwarding["too_long"] + forwarding["refused"])
        self.assertEqual(forwarding["marked"], sum(mark["packets"] for mark in forwarding["marks"].values()))
        return forwarding


def start(*command):
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


class Files(Case):
    """net_pcap: a file to a file, whose frames are known one by one."""

    def pass_on(self, frames, *arguments):
        with netns.Folder() as folder:
            netns.write_pcap(folder + "/in.pcap", frames)
            wire = Wire(
                start,
                folder,
                "-i",
                f"vdev:net_pcap0,rx_pcap={folder}/in.pcap",
                "--forward",
                f"vdev:net_pcap1,tx_pcap={folder}/out.pcap",
                *arguments,
            )
            report = wire.report()
            return report, read_pcap(folder + "/out.pcap"), wire.marked

    @staticmethod
    def mixed(count=4000):
        """Frames of flows, of one packet and of many, of either class and either IP version; others in between."""
        frames = []
        for i in range(count):
            flow = i % 37
            if i % 11 == 3:
                frames.append(arp_frame(i))
            elif i % 13 == 5:
                frames.append(bytes.fromhex("0200000000010200000000020800") + bytes([0x42]) + bytes(45))
            elif i % 17 == 7:
                frames.append(netns.udp_frame(10000 + i, 100))  # no second packet: no class
            elif flow % 3 == 0:
                frames.append(udp6_frame(flow, 900 if flow % 2 else 50))
            else:
                frame = netns.udp_frame(flow, 900 if flow % 2 else 50, vlan=7 if flow % 5 == 0 else None)
                at = ip_at(frame)
                frames.append(with_dscp(frame[: at + 1] + bytes([i % 4]) + frame[at + 2 :], 10))  # any ECN
        return frames

    @staticmethod
    def class_of(frame):
        return AF21 if len(frame) > 250 else EF

    def expected(self, frames, batch, kept=()):
        """A flow's packets are marked from the batch on in which its second one came."""
        seen, flows = collections.Counter(), []
        for frame in frames:
            at = ip_at(frame)
            is_ip = at is not None and frame[at] != 0x42
            key = None
            if is_ip:
                key = frame[at + 8 : at + 44] if frame[at] >> 4 == 6 else frame[at + 12 : at + 24]
            flows.append(key)
        expected = []
        for begin in range(0, len(frames), batch):
            part = range(begin, min(begin + batch, len(frames)))
            seen.update(flows[i] for i in part if flows[i])
            for i in part:
                known = flows[i] and seen[flows[i]] >= 2
                dscp = self.class_of(frames[i])
                expected.append(with_dscp(frames[i], dscp) if known and dscp not in kept else frames[i])
        return expected

    def test_every_frame_leaves_in_order_and_differs_in_the_code_point_of_its_class_alone(self):
        frames = self.mixed()
        for batch in (1, 8, 100, 256):
            report, left, said = self.pass_on(frames, "--dscp", "small=EF,large=AF21", "--batch", str(batch))
            self.assertEqual(left, self.expected(frames, batch), batch)
            forwarding = self.check_balance(report)
            self.assertEqual((forwarding["sent"], forwarding["not_sent"]), (len(frames), 0))
            expected = self.expected(frames, batch)
            self.assertEqual(forwarding["marked"], sum(a != b for a, b in zip(expected, frames)))
            self.assertEqual(forwarding["marks"]["large"]["dscp"], AF21)
            self.assertIn("marked: small EF, large AF21", said)

    def test_a_class_without_a_code_keeps_what_it_has(self):
        frames = self.mixed()
        report, left, _ = self.pass_on(frames, "--dscp", "large=18")
        self.assertEqual(left, self.expected(frames, 256, kept=(EF,)))
        self.assertIsNone(report["summary"]["forwarding"]["marks"]["small"]["dscp"])
        self.assertIsNone(report["summary"]["forwarding"]["marks"]["unknown"]["dscp"])

    def test_without_dscp_classes_get_code_points_for_local_use(self):
        report, left, said = self.pass_on([netns.udp_frame(1, 50)] * 10 + [netns.udp_frame(2, 500)] * 10)
        self.assertEqual([dscp_of(frame) for frame in left], [3] * 10 + [7] * 10)
        self.assertIn("marked: small 3, large 7", said)

    def test_filtered_packets_go_on_unmarked(self):
        frames = [netns.udp_frame(1, 50), netns.udp_frame(2, 50)] * 20
        report, left, _ = self.pass_on(frames, "src host 10.0.0.2")
        self.assertEqual([dscp_of(frame) for frame in left], [0, 3] * 20)
        self.assertEqual(report["summary"]["accounting"]["filtered"], 20)
        self.check_balance(report)


class Line:
    """client `cli0` - `a0` middle `b0` - `srv0` server, each end in a namespace of its own."""

    def __init__(self, mtus=(1500, 1500)):
        self.mtus = mtus
        stem = f"parshall{os.getpid()}f"
        self.client, self.middle, self.server = stem + "c", stem + "m", stem + "s"

    def __enter__(self):
        run = netns._run
        try:
            for space in (self.client, self.middle, self.server):
                run("ip", "netns", "add", space)
            run(
                "ip",
                "netns",
                "exec",
                self.middle,
                "sysctl",
                "-qw",
                "net.ipv6.conf.all.disable_ipv6=1",
                "net.ipv6.conf.default.disable_ipv6=1",
            )
            for space in (self.client, self.server):
                run(
                    "ip",
                    "netns",
                    "exec",
                    space,
                    "sysctl",
                    "-qw",
                    "net.ipv6.conf.default.accept_dad=0",
                    "net.ipv6.conf.all.accept_dad=0",
                )
            for space, end, inner, mtu in (
                (self.client, "cli0", "a0", self.mtus[0]),
                (self.server, "srv0", "b0", self.mtus[1]),
            ):
                run(
                    "ip",
                    "-n",
                    space,
                    "link",
                    "add",
                    "name",
                    end,
                    "type",
                    "veth",
                    "peer",
                    "name",
                    inner,
                    "netns",
                    self.middle,
                )
                for where, name in ((space, end), (self.middle, inner)):
                    without_offloads(where, name)
                    run("ip", "-n", where, "link", "set", "dev", name, "mtu", str(mtu), "up")
            for space, end, host in ((self.client, "cli0", 1), (self.server, "srv0", 2)):
                run("ip", "-n", space, "address", "add", f"10.9.0.{host}/24", "dev", end)
                run("ip", "-n", space, "address", "add", f"fd09::{host}/64", "dev", end, "nodad")
            self.wait_for_carrier()
            return self
        except Exception:
            self.__exit__()
            raise

    def wait_for_carrier(self):
        netns.wait_for_carrier((self.client, "cli0"), (self.middle, "a0"), (self.middle, "b0"), (self.server, "srv0"))

    def __exit__(self, *_):
        for space in (self.client, self.middle, self.server):
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def start(self, *command):
        return subprocess.Popen(["ip", "netns", "exec", self.middle, *command], stderr=subprocess.PIPE, text=True)

    def link(self, *words):
        netns._run("ip", "-n", self.middle, "link", "set", "dev", *words)

    def socket(self, space, *arguments):
        back = netns.in_namespace(space)
        try:
            return socket.socket(*arguments)
        finally:
            back()


def without_offloads(space, interface):
    """As `ethtool -K INTERFACE tx off tso off gso off gro off` does."""
    import fcntl

    siocethtool, _set_rx, set_tx, set_tso, set_gso, set_gro = 0x8946, 0x15, 0x17, 0x1F, 0x24, 0x2C
    back = netns.in_namespace(space)
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            import array

            for command in (set_gro, set_gso, set_tso, set_tx):
                value = array.array("B", struct.pack("II", command, 0))
                request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
                fcntl.ioctl(any_socket, siocethtool, request + bytes(24))
    finally:
        back()


class Capture:
    """Frames that come in on an interface, in order, tags put back."""

    def __init__(self, line, space, interface):
        self.socket = line.socket(space, socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 256 << 20)  # SO_RCVBUFFORCE
        self.socket.setsockopt(263, 8, 1)  # PACKET_AUXDATA
        self.socket.bind((interface, 0))
        self.socket.settimeout(0.2)
        self.frames, self.stopping, self.idle = [], False, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while True:
            try:
                frame, aux, _, address = self.socket.recvmsg(65536, 256)
            except TimeoutError:
                if self.stopping:
                    return
                self.idle.set()
                continue
            if address[2] == 4:  # outgoing
                continue
            status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", aux[0][2])
            if status & 0x10:
                frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
            self.frames.append(frame)

    def wait_for(self, count, seconds=30):
        """Of own(): that they have come, or do not come any more."""
        deadline = time.monotonic() + seconds
        while sum(frame[6:12] == OWN for frame in self.frames) < count and time.monotonic() < deadline:
            time.sleep(0.02)

    def catch_up(self):
        """Until nothing waits: the kernel keeps no more than its buffer takes for a reader that a busy machine holds
        up."""
        self.idle.clear()
        self.idle.wait()

    def stop(self):
        self.stopping = True
        self.thread.join()
        _, lost = struct.unpack("II", self.socket.getsockopt(263, 6, 8))  # PACKET_STATISTICS
        self.socket.close()
        if lost:
            raise AssertionError(f"this capture itself lost {lost} frames: it tells nothing of the wire")
        return self.frames

    def own(self):
        """Those that the tests' frames are: between these addresses, and nothing of the kernels'."""
        return [frame for frame in self.stop() if frame[6:12] == OWN]


def has_ndpi():
    done = subprocess.run(
        [PARSHALL, "watch", "-g", "flows=1", "--count", "1", "--label", "all"], capture_output=True, check=False
    )
    return done.returncode == 0


@unittest.skipIf(netns.why_not(), f"SKIPPED: {netns.why_not()}")
class LearntClasses(Case):
    """Marks by a model that learns on the wire, from labels by nDPI."""

    PAYLOADS = {"HTTP": b"GET / HTTP/1.1\r\nHost: www.example.org\r\n\r\n", "TLS": client_hello()}
    AFTER_FOURTH = 3

    def connections(self, number, first_port):
        """Their packets, a list for each step: SYN, ACK, payload, and data."""
        steps = [[] for _ in range(4 + self.AFTER_FOURTH)]
        for i in range(number):
            application, payload = list(self.PAYLOADS.items())[i % 2]
            ports = (first_port + i, 443)
            packets = [tcp(0, flags=2, ports=ports), tcp(1, flags=16, ports=ports), tcp(1, payload, ports=ports)]
            for part in range(1 + self.AFTER_FOURTH):
                at = 1 + len(payload) + 100 * part
                packets.append(tcp(at, bytes(100 if application == "TLS" else 700), ports=ports))
            for step, packet in zip(steps, packets):
                step.append((application, with_dscp(packet[:6] + OWN + packet[12:], 0)))
        return steps

    def test_packets_are_marked_by_what_was_learnt_on_the_wire(self):
        if not has_ndpi():
            self.skipTest("SKIPPED: built without nDPI")
        codes = {"HTTP": 10, "TLS": AF21}
        with Line() as line, netns.Folder() as folder:
            model = folder + "/model.toml"
            wire = Wire(
                line.start,
                folder,
                *("-i", "a0", "--forward", "b0", "--label", "all", "--dscp", "HTTP=AF11,TLS=AF21"),
                classes=("--learn", model),
            )
            self.addCleanup(wire.process.kill)
            got = Capture(line, line.server, "srv0")
            with line.socket(line.client, socket.AF_PACKET, socket.SOCK_RAW, 0) as sender:
                sender.bind(("cli0", 0))

                def send(steps):
                    for step in steps:
                        for _, packet in step:
                            sender.send(packet)
                        time.sleep(0.3)  # for the labels, which come later than the packets
                    return [each for step in steps for each in step]

                learnt = send(self.connections(240, 20000))
                got.wait_for(len(learnt))
                deadline = time.monotonic() + 30
                while not os.path.exists(model) and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.assertTrue(os.path.exists(model), "nothing was learnt")
                steps = self.connections(40, 30000)
                marked = send(steps)
                got.wait_for(len(learnt) + len(marked))
            frames = got.own()
            report = wire.report(stop_after=0)
        self.assertEqual(len(frames), len(learnt) + len(marked))
        self.assertEqual({dscp_of(frame) for frame in frames[:480]}, {0}, "SYN and ACK come before any class")
        last = list(zip(marked, frames[len(learnt) :]))[-len(steps[-1]) :]
        for (application, sent), frame in last:
            self.assertEqual(frame, with_dscp(sent, codes[application]))
        self.check_balance(report)
        self.assertGreaterEqual(report["summary"]["learning"]["models"], 1)


def ping(line, host):
    """The answer to an echo request must come."""
    echo = struct.pack("!BBHHH", 8, 0, 0, 77, 1) + b"parshall"
    echo = echo[:2] + struct.pack("!H", netns._checksum(echo)) + echo[4:]
    with line.socket(line.client, socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.settimeout(30)
        raw.sendto(echo, (host, 0))
        answer = raw.recv(1000)
        return answer[20] == 0 and answer[24:] == echo[4:]


def serve(listener, results):
    """Takes a file, answers with another one."""
    connection, _ = listener.accept()
    with connection:
        size = struct.unpack("!Q", connection.recv(8, socket.MSG_WAITALL))[0]
        digest = hashlib.sha256()
        while size:
            part = connection.recv(min(size, 1 << 16))
            digest.update(part)
            size -= len(part)
        answer = os.urandom(SENT)
        connection.sendall(digest.digest() + hashlib.sha256(answer).digest() + answer)
        results.append(True)


def tcp_sum(frame):
    """Of a TCP segment and its pseudo header, with its checksum: 0xffff if that is right."""
    at = ip_at(frame)
    if frame[at] >> 4 == 4:
        end, header, addresses = (
            at + struct.unpack_from("!H", frame, at + 2)[0],
            4 * (frame[at] & 15),
            frame[at + 12 : at + 20],
        )
    else:
        end, header, addresses = at + 40 + struct.unpack_from("!H", frame, at + 4)[0], 40, frame[at + 8 : at + 40]
    segment = frame[at + header : end]
    summed = addresses + struct.pack("!HH", 6, len(segment)) + segment + bytes(len(segment) % 2)
    total = sum(struct.unpack(f"!{len(summed) // 2}H", summed))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def good_by_tshark(case, path, frames):
    """How many checksums are right of each protocol; any that is wrong fails. tshark takes a TCP checksum of 0xffff for
    wrong, where the sum says 0: the two are the same number, and the kernel may write the first."""
    netns.write_pcap(path, frames)
    done = subprocess.run(
        [
            "tshark",
            "-r",
            path,
            "-T",
            "fields",
            "-e",
            "ip.checksum.status",
            "-e",
            "tcp.checksum.status",
            "-e",
            "udp.checksum.status",
            "-e",
            "tcp.checksum",
            "-o",
            "ip.check_checksum:TRUE",
            "-o",
            "tcp.check_checksum:TRUE",
            "-o",
            "udp.check_checksum:TRUE",
        ],
        capture_output=True,
        text=True,
        timeout=400,
        check=True,
    )
    good = collections.Counter()
    for frame, line in zip(frames, done.stdout.splitlines()):
        *statuses, checksum = line.split("\t")
        if checksum == "0xffff" and tcp_sum(frame) == 0xFFFF:
            statuses[1] = "1"
        for name, status in zip(("ip", "tcp", "udp"), statuses):
            case.assertIn(status, ("", "1"), name)  # 1: good
            good[name] += status == "1"
    return good


@unittest.skipUnless(shutil.which("tshark"), "SKIPPED: no tshark")
class Checksums(unittest.TestCase):
    def test_a_tcp_checksum_of_all_ones_is_that_of_zero_and_any_other_wrong_one_is_told(self):
        frame = bytearray(netns.udp_frame(1, 22))
        at = ip_at(frame)
        frame[at + 9] = 6
        frame[at + 10 : at + 12] = bytes(2)
        frame[at + 10 : at + 12] = struct.pack("!H", netns._checksum(bytes(frame[at : at + 20])))
        frame[at + 32 : at + 34] = b"\x50\x10"  # 20 bytes of header, ACK
        frame[at + 36 : at + 38] = frame[-2:] = bytes(2)
        frame[-2:] = struct.pack("!H", 0xFFFF - tcp_sum(frame))  # the checksum comes to 0
        right = bytes(frame)
        ones = right[: at + 36] + b"\xff\xff" + right[at + 38 :]
        wrong = right[: at + 36] + b"\xff\xfe" + right[at + 38 :]
        damaged = ones[:-1] + bytes([ones[-1] ^ 1])
        with netns.Folder() as folder:
            self.assertEqual(good_by_tshark(self, folder + "/some.pcap", [right, ones])["tcp"], 2)
            for frame in (wrong, damaged):
                with self.assertRaises(AssertionError):
                    good_by_tshark(self, folder + "/some.pcap", [frame])


@unittest.skipIf(netns.why_not(), f"SKIPPED: {netns.why_not()}")
class Veth(Case):
    def copy_files(self, line, family=socket.AF_INET, hosts=("10.9.0.1", "10.9.0.2")):
        """SENT bytes there and as many back over TCP."""
        listener = line.socket(line.server, family, socket.SOCK_STREAM)
        listener.bind((hosts[1], 5001))
        listener.listen()
        results = []
        thread = threading.Thread(target=serve, args=(listener, results), daemon=True)
        thread.start()
        data = os.urandom(SENT)
        with line.socket(line.client, family, socket.SOCK_STREAM) as client:
            client.settimeout(60)
            client.connect((hosts[1], 5001))
            client.sendall(struct.pack("!Q", len(data)) + data)
            digest = client.recv(32, socket.MSG_WAITALL)
            expected = client.recv(32, socket.MSG_WAITALL)
            answer = b"".join(iter(lambda: client.recv(1 << 20), b""))
        thread.join(30)
        listener.close()
        self.assertEqual(digest, hashlib.sha256(data).digest())
        self.assertEqual(expected, hashlib.sha256(answer).digest())
        self.assertEqual(len(answer), SENT)

    def check_marks(self, frames):
        """TCP towards the server begins with small packets; UDP is as its port says."""
        seen = collections.defaultdict(list)
        for frame in frames:
            at = ip_at(frame)
            if at is None:
                continue
            if frame[at] >> 4 == 4:
                self.assertTrue(checksum_is_right(frame))
                protocol, ports = frame[at + 9], at + 20
            else:
                protocol, ports = frame[at + 6], at + 40
            if protocol in (6, 17):
                seen[(frame[at] >> 4, protocol, struct.unpack_from("!HH", frame, ports))].append(dscp_of(frame))
        return seen

    def check_by_tshark(self, frames, folder):
        """Another's word on every checksum."""
        if not shutil.which("tshark"):
            print("SKIPPED: no tshark to check checksums by", file=sys.stderr)
            return
        good = good_by_tshark(self, folder + "/far.pcap", frames)
        at = [(frame, ip_at(frame)) for frame in frames]
        self.assertEqual(good["ip"], sum(begin is not None and frame[begin] >> 4 == 4 for frame, begin in at))
        self.assertGreater(good["tcp"], 5000)
        self.assertGreaterEqual(good["udp"], 200)

    def run_wire(self, via, *arguments):
        with Line() as line, netns.Folder() as folder:
            wire = Wire(
                line.start,
                folder,
                "-i",
                "a0",
                "--forward",
                "b0",
                "--via",
                via,
                "--dscp",
                "small=EF,large=AF21",
                *arguments,
            )
            self.assertNotIn("this host sends", wire.said)
            capture = Capture(line, line.server, "srv0")
            began = time.monotonic()
            self.copy_files(line)
            seconds = time.monotonic() - began
            capture.catch_up()
            self.copy_files(line, socket.AF_INET6, ("fd09::1", "fd09::2"))
            capture.catch_up()
            self.assertTrue(ping(line, "10.9.0.2"))
            for port, size in ((6001, 40), (6002, 800)):
                for family, host in ((socket.AF_INET, "10.9.0.2"), (socket.AF_INET6, "fd09::2")):
                    with line.socket(line.client, family, socket.SOCK_DGRAM) as sender:
                        for _ in range(50):
                            sender.sendto(bytes(size), (host, port))
                            time.sleep(0.001)
            report = wire.report(stop_after=0.5)
            frames = capture.stop()
            self.check_by_tshark(frames, folder)
        forwarding = self.check_balance(report)
        self.assertEqual(forwarding["not_sent"], 0, forwarding)
        self.assertTrue(any(ip_at(frame) is None for frame in frames), "no ARP came through")
        seen = self.check_marks(frames)
        for (version, protocol, ports), codes in seen.items():
            if protocol == 17:
                code = EF if ports[1] == 6001 else AF21
                self.assertEqual(set(codes[20:]), {code}, (version, ports))
                self.assertLessEqual(set(codes), {0, code})
            else:
                self.assertEqual(set(codes[len(codes) // 2 :]), {EF}, (version, ports))
        self.assertEqual(
            {(version, ports[1]) for version, protocol, ports in seen if protocol == 17},
            {(4, 6001), (4, 6002), (6, 6001), (6, 6002)},
        )
        self.assertGreater(sum(len(codes) for key, codes in seen.items() if key[1] == 6), 5000)
        print(f"{via}: {2 * SENT >> 20} MB of TCP over IPv4 in {seconds:.2f} s, {forwarding}", file=sys.stderr)
        return report

    def test_tcp_udp_arp_and_ping_pass_both_ways_and_are_marked(self):
        for via in ("af_packet", "af_xdp"):
            with self.subTest(via=via):
                self.run_wire(via)

    def pass_frames(self, line, frames, *arguments, sent_by=None, passing=None):
        """What comes out at the server's end of what the client's end was sent, of which `passing` have to, or all; the
        report."""
        with netns.Folder() as folder:
            wire = Wire(line.start, folder, "-i", "a0", "--forward", "b0", "--dscp", "small=EF,large=AF21", *arguments)
            capture = Capture(line, line.server, "srv0")
            sender = netns.RawSender(*(sent_by or (line.client, "cli0")))
            sender.send(frames)
            sender.close()
            capture.wait_for(len(frames) if passing is None else passing)
            report = wire.report(stop_after=0.5)
            return capture.own(), report

    def test_tags_leave_as_they_came(self):
        frames = []
        for i in range(400):
            frames.append(netns.udp_frame(i % 20, 60 + i % 20 * 30, vlan=(None, 5, 0x6007, 4094)[i % 4]))
        for via in ("af_packet", "af_xdp"):
            with self.subTest(via=via), Line() as line:
                out, report = self.pass_frames(line, frames, "--via", via)
                self.assertEqual(len(out), len(frames))
                for before, after in zip(frames, out):
                    self.assertIn(after, (before, with_dscp(before, EF), with_dscp(before, AF21)))
                self.assertGreater(self.check_balance(report)["marked"], 300)

    def test_frames_that_are_too_long_are_counted_and_the_others_pass(self):
        sizes = (1472, 1473, 2900, 60)
        frames = [netns.udp_frame(i, sizes[i % 4], vlan=7 if i % 8 < 4 else None) for i in range(400)]
        for via in ("af_packet", "af_xdp"):
            with self.subTest(via=via), Line(mtus=(3000, 1500)) as line:
                short = [frame for frame in frames if ip_at(frame) - 14 + 1514 >= len(frame)]
                out, report = self.pass_frames(line, frames, "--via", via, passing=len(short))
                self.assertEqual(out, short)
                forwarding = self.check_balance(report)
                self.assertEqual((forwarding["too_long"], forwarding["refused"]), (200, 0))

    def test_frames_that_were_cut_when_they_came_do_not_go_on(self):
        # A slot of the ring for an MTU of 1500 takes 1982 bytes.
        frames = [netns.udp_frame(i, 2900 if i % 2 else 60) for i in range(200)]
        with Line(mtus=(1500, 9000)) as line:
            netns._run("ip", "-n", line.client, "link", "set", "dev", "cli0", "mtu", "3000")
            with netns.Folder() as folder:
                wire = Wire(line.start, folder, "-i", "a0", "--forward", "b0")
                line.link("a0", "mtu", "3000")
                capture = Capture(line, line.server, "srv0")
                sender = netns.RawSender(line.client, "cli0")
                sender.send(frames)
                sender.close()
                capture.wait_for(100)
                report = wire.report(stop_after=0.5)
                self.assertEqual(capture.own(), frames[::2])
        self.assertEqual(self.check_balance(report)["too_long"], 100)

    def test_what_the_host_itself_sends_does_not_go_on(self):
        frames = netns.udp_frames(300)
        for workers in ("1", "2"):
            for interface in ("a0", "b0"):
                with self.subTest(workers=workers, interface=interface), Line() as line:
                    out, report = self.pass_frames(
                        line,
                        frames,
                        "--workers",
                        workers,
                        sent_by=(line.middle, interface),
                        passing=300 if interface == "b0" else 0,
                    )
                    self.assertEqual(len(out), 300 if interface == "b0" else 0)
                    self.assertLess(report["summary"]["forwarding"]["offered"], 100)

    def test_while_the_other_end_is_down_nothing_hangs_and_nothing_is_sent_late(self):
        for via in ("af_packet", "af_xdp"):
            with self.subTest(via=via), Line() as line, netns.Folder() as folder:
                wire = Wire(line.start, folder, "-i", "a0", "--forward", "b0", "--via", via)
                capture = Capture(line, line.server, "srv0")
                sender = netns.RawSender(line.client, "cli0")
                sender.send(netns.udp_frames(1000))
                capture.wait_for(1000)
                line.link("b0", "down")
                sender.send(netns.udp_frames(10000), **UNHURRIED)
                time.sleep(1)
                if via == "af_packet":
                    line.link("b0", "up")
                    line.wait_for_carrier()
                    sender.send(netns.udp_frames(1000))
                    capture.wait_for(2000)
                sender.close()
                report = wire.report(stop_after=0.5)
                out = capture.own()
                forwarding, missed = self.check_balance(report), report["summary"]["accounting"]["nic_missed"]
                self.assertGreaterEqual(forwarding["refused"] + missed, 10000, report["summary"])
                self.assertGreater(
                    forwarding["refused"], 5000, "it goes on while a busy machine keeps it waiting now and then"
                )
                self.assertEqual(len(out), 2000 if via == "af_packet" else 1000)

    def test_what_the_driver_takes_for_an_interface_that_is_gone_is_not_sent(self):
        with Line() as line, netns.Folder() as folder:
            wire = Wire(
                line.start, folder, "-i", "a0", "--forward", "b0", "--descriptors", "16384"
            )  # room for all, however busy the machine is
            sender = netns.RawSender(line.client, "cli0")
            netns._run("ip", "-n", line.middle, "link", "delete", "dev", "b0")
            sender.send(netns.udp_frames(6000), **UNHURRIED)
            sender.close()
            forwarding = self.check_balance(wire.report(stop_after=1))
            self.assertGreaterEqual(forwarding["refused"], 6000)
            self.assertLess(forwarding["sent"], 100)  # what the host itself sent before

    def test_two_workers_each_way(self):
        report = self.run_wire("af_packet", "--workers", "2")
        self.assertEqual(len(report["summary"]["workers"]), 4)


if __name__ == "__main__":
    PARSHALL = os.path.abspath(sys.argv.pop(1))
    side_by_side.main(PARSHALL)
