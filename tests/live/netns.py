# SPDX-License-Identifier: Apache-2.0
"""Network namespaces, veth pairs, small captures and senders for tests with live devices."""

import ctypes
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def why_not():
    """Why namespaces cannot be made here, or None."""
    if os.geteuid() != 0:
        return "not root"
    if not shutil.which("ip"):
        return "no ip command"
    probe = subprocess.run(["ip", "netns", "add", f"probe{os.getpid()}"], capture_output=True, text=True)
    if probe.returncode != 0:
        return "no network namespaces: " + probe.stderr.strip()
    subprocess.run(["ip", "netns", "del", f"probe{os.getpid()}"], check=False)
    return None


def _run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def wait_until(done, what, seconds=60):
    """What `done` gives, as soon as that is true."""
    end = time.monotonic() + seconds
    while not (found := done()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)
    return found


def is_up(space, name):
    """Whether the kernel tells of a carrier: of one that came or went it does up to a second late, and sends nothing
    before."""
    return "state UP" in _run("ip", "-n", space, "link", "show", "dev", name)


def wait_for_carrier(*ends):
    for space, name in ends:
        wait_until(lambda: is_up(space, name), f"a carrier of {name}")


class VethPair:
    """Two namespaces joined by a veth pair: `wire0` sends in one, `tap0` is watched in the other. Nothing else sends on
    it.

    Use as a context manager; both namespaces are removed at the end, whatever happened.
    """

    _number = 0

    def __init__(self, queues=1, mtu=1500):
        VethPair._number += 1
        stem = f"parshall{os.getpid()}n{VethPair._number}"
        self.tx_space, self.rx_space = stem + "tx", stem + "rx"
        self.queues, self.mtu = queues, mtu

    def __enter__(self):
        try:
            for space in (self.tx_space, self.rx_space):
                _run("ip", "netns", "add", space)
                _run(
                    "ip",
                    "netns",
                    "exec",
                    space,
                    "sysctl",
                    "-qw",
                    "net.ipv6.conf.all.disable_ipv6=1",
                    "net.ipv6.conf.default.disable_ipv6=1",
                )
            count = str(self.queues)
            queues = ("numtxqueues", count, "numrxqueues", count)
            _run(
                "ip",
                "-n",
                self.tx_space,
                "link",
                "add",
                "name",
                "wire0",
                *queues,
                "type",
                "veth",
                "peer",
                "name",
                "tap0",
                *queues,
                "netns",
                self.rx_space,
            )
            for space, name in ((self.tx_space, "wire0"), (self.rx_space, "tap0")):
                # multicast off: no IGMP or MLD report of ours may be counted
                _run("ip", "-n", space, "link", "set", "dev", name, "mtu", str(self.mtu), "multicast", "off", "up")
            wait_for_carrier((self.tx_space, "wire0"), (self.rx_space, "tap0"))
            return self
        except Exception:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for space in (self.tx_space, self.rx_space):
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def add_link(self, sends, comes):
        """Another veth pair between the two."""
        _run(
            "ip",
            "-n",
            self.tx_space,
            "link",
            "add",
            "name",
            sends,
            "type",
            "veth",
            "peer",
            "name",
            comes,
            "netns",
            self.rx_space,
        )
        for space, name in ((self.tx_space, sends), (self.rx_space, comes)):
            _run("ip", "-n", space, "link", "set", "dev", name, "multicast", "off", "up")
        wait_for_carrier((self.tx_space, sends), (self.rx_space, comes))

    def watch(self, *command, **options):
        """Starts a command where `tap0` is."""
        return subprocess.Popen(
            ["ip", "netns", "exec", self.rx_space, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def link(self):
        """What `ip` says of `tap0`: flags, XDP program."""
        return _run("ip", "-d", "-n", self.rx_space, "link", "show", "dev", "tap0")

    def set_link(self, *words):
        _run("ip", "-n", self.rx_space, "link", "set", "dev", "tap0", *words)

    def rx_packets(self, name="tap0"):
        """What the kernel says came in on `tap0`."""
        return int(_run("ip", "netns", "exec", self.rx_space, "cat", f"/sys/class/net/{name}/statistics/rx_packets"))

    def deliver(self, frames, name="wire0", **pace):
        """Sends, and waits until the kernel has received them all: it does so later where it is busy."""
        comes = name.replace("wire", "tap")
        before = self.rx_packets(comes)
        self.send(frames, name, **pace)
        wait_until(lambda: self.rx_packets(comes) >= before + len(frames), "all that was sent comes")

    def send(self, frames, name="wire0", **pace):
        sender = RawSender(self.tx_space, name)
        try:
            sender.send(frames, **pace)
        finally:
            sender.close()


def in_namespace(space):
    """Moves this thread into a namespace; returns a function that moves it back."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    wanted = os.open(f"/run/netns/{space}", os.O_RDONLY)
    try:
        if _libc.setns(wanted, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(wanted)

    def back():
        _libc.setns(before, _CLONE_NEWNET)
        os.close(before)

    return back


class RawSender:
    """Sends frames as they are; the kernel picks the transmit queue by the flow."""

    def __init__(self, space, interface):
        back = in_namespace(space)
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self._socket.bind((interface, 0))
        finally:
            back()

    def send(self, frames, pause_every=200, pause_s=0.002):
        """Pauses now and then: a veth has no flow control, and the reader has a ring of some thousand frames."""
        for number, frame in enumerate(frames, 1):
            while True:
                try:
                    self._socket.send(frame)
                    break
                except OSError as error:  # ENOBUFS: the queue of the device is full
                    if error.errno != 105:
                        raise
                    time.sleep(0.001)
            if number % pause_every == 0:
                time.sleep(pause_s)

    def close(self):
        self._socket.close()


def _checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def reply_to(frame):
    """The same the other way round, of a frame of udp_frame() without a tag."""
    return frame[:26] + frame[30:34] + frame[26:30] + frame[36:38] + frame[34:36] + frame[38:]


def udp_frame(flow, payload_bytes=18, fragment=0, more_fragments=False, vlan=None):
    """A frame of UDP flow number `flow`: 60 bytes unless the payload is longer."""
    payload = bytes((flow + i) & 0xFF for i in range(payload_bytes))
    length = 28 + payload_bytes
    offset = fragment | (0x2000 if more_fragments else 0)
    ip = struct.pack(
        "!BBHHHBBH4s4s",
        0x45,
        0,
        length,
        1,
        offset,
        64,
        17,
        0,
        socket.inet_aton(f"10.0.{flow >> 8 & 255}.{flow & 255}"),
        socket.inet_aton("10.1.0.1"),
    )
    ip = ip[:10] + struct.pack("!H", _checksum(ip)) + ip[12:]
    udp = struct.pack("!HHHH", 1024 + flow % 50000, 53, 8 + payload_bytes, 0)
    tag = struct.pack("!HH", 0x8100, vlan) if vlan is not None else b""
    return bytes.fromhex("020000000001020000000002") + tag + b"\x08\x00" + ip + udp + payload


def udp_frames(count, flows=500, payload_bytes=18):
    return [udp_frame(number % flows, payload_bytes) for number in range(count)]


def frames_of(pcap):
    """The frames of a capture file's bytes, little-endian and classic."""
    frames, at = [], 24
    while at < len(pcap):
        (captured,) = struct.unpack_from("<I", pcap, at + 8)
        frames.append(pcap[at + 16 : at + 16 + captured])
        at += 16 + captured
    return frames


def write_pcap(path, frames, first_s=1700000000, step_us=10):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for number, frame in enumerate(frames):
            seconds, micros = divmod(number * step_us, 1000000)
            file.write(struct.pack("<IIII", first_s + seconds, micros, len(frame), len(frame)) + frame)


class Folder:
    """A temporary folder that goes when the test does."""

    def __enter__(self):
        self._folder = tempfile.mkdtemp(prefix="parshall-live-")
        return self._folder

    def __exit__(self, *_):
        shutil.rmtree(self._folder, ignore_errors=True)
