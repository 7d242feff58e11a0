# SPDX-License-Identifier: Apache-2.0
"""The program under test, which a test is called with, and runs of it."""

import csv
import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from rivals import program_for

PROGRAM = os.path.abspath(sys.argv.pop(1))
HEADER = "ip_version,protocol,src_ip,src_port,dst_ip,dst_port,packets,ip_bytes,wire_bytes,first_seen_ns,last_seen_ns"
DONE, FAILED, USAGE, DAMAGED, READER_GONE = 0, 1, 2, 3, 141
FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


def packet(number, flows):
    """Record of a UDP packet of flow `number % flows`, one microsecond after the one before."""
    flow = number % flows
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 46, 0, 0, 64, 17, 0, 0x0A000000 + flow, 0xC0000201)
    frame = b"\x02" * 12 + b"\x08\x00" + ip + struct.pack(">HHHH", 1024 + flow % 60000, 53, 26, 0) + bytes(18)
    return struct.pack("<IIII", 1600000000 + number // 1000000, number % 1000000, len(frame), len(frame)) + frame


class Run:
    """A finished run of the program."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err
        self.lines = err.decode(errors="replace").splitlines()


def wait_until_it_measures(process):
    """Reads what `watch` without -q says until its workers run."""
    for line in process.stderr:
        if b"; at most " in line:
            return
    raise AssertionError(f"it ended before that: {process.wait()}")


def run(*arguments, stdin=None, env=None, timeout=60, lab=False, **more):
    done = subprocess.run(
        [PROGRAM + "-lab" if lab else program_for(PROGRAM, arguments), *arguments],
        input=stdin,
        stdout=more.pop("stdout", subprocess.PIPE),
        stderr=more.pop("stderr", subprocess.PIPE),
        timeout=timeout,
        env={**os.environ, **(env or {})},
        check=False,
        **more,
    )
    return Run(done.returncode, done.stdout or b"", done.stderr or b"")


def rows(text):
    return list(csv.DictReader(io.StringIO(text.decode() if isinstance(text, bytes) else text)))


def packets_in(flows):
    return sum(int(flow["packets"]) for flow in flows)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="parshall-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        os.chmod(self.folder, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def capture(self, packets=1000, flows=10, name="good.pcap", cut=0):
        data = FILE_HEADER + b"".join(packet(i, flows) for i in range(packets))
        with open(self.path(name), "wb") as file:
            file.write(data[: len(data) - cut])
        return self.path(name)

    def assert_says(self, done, status, *words, lines=4):
        text = done.err.decode(errors="replace")
        self.assertEqual(done.status, status, text)
        self.assertTrue(1 <= len(done.lines) <= lines, f"{len(done.lines)} lines:\n{text}")
        for word in words:
            self.assertIn(word, text)
        for trace in ("terminate called", "what():", "Aborted", "Segmentation", "runtime error", "0x7f"):
            self.assertNotIn(trace, text)
