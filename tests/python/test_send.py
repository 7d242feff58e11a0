# SPDX-License-Identifier: Apache-2.0
"""Frames that Python sends to memory and to files: against the command line, and against misuse.

usage: test_send.py [unittest arguments], by a Python that has parshall and numpy
"""

import gc
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import numpy

import parshall

TRAFFIC = "flows=50,dist=zipf:1.1,ipv6=0.3,size=200,seed=3"


def records_of(path):
    """(time in ns, frame) of each, of a pcap file with nanoseconds."""
    data = pathlib.Path(path).read_bytes()
    assert struct.unpack_from("<I", data)[0] == 0xA1B23C4D
    at, records = 24, []
    while at < len(data):
        seconds, nanoseconds, captured, _ = struct.unpack_from("<IIII", data, at)
        records.append((seconds * 10**9 + nanoseconds, data[at + 16 : at + 16 + captured]))
        at += 16 + captured
    return records


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="parshall-send-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def command_line(self, *arguments):
        path = self.folder / "theirs.pcap"
        done = subprocess.run(
            [sys.executable, "-m", "parshall", "send", *map(str, arguments), "-w", str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return path, done


class Sending(Case):
    def test_frames_are_those_of_the_command_line(self):
        capture = self.folder / "capture.pcap"
        parshall.send(capture, generate=TRAFFIC, count=500)
        for settings, options in (
            ({"generate": TRAFFIC, "count": 3000}, ["-g", TRAFFIC, "--count=3000"]),
            (
                {"generate": TRAFFIC, "count": "2k", "rate": "1Mpps", "burst": 8},
                ["-g", TRAFFIC, "--count=2k", "--rate=1Mpps", "--burst=8"],
            ),
            (
                {"generate": "flows=9", "duration": "1ms", "rate": "100kpps"},
                ["-g", "flows=9", "--duration=1ms", "--rate=100kpps"],
            ),
            ({"read": capture}, ["-r", capture]),
            (
                {"read": str(capture), "loops": 3, "fresh_flows": True, "cap": 90, "src_mac": "02:00:00:00:00:07"},
                ["-r", capture, "--loops=3", "--fresh-flows", "--cap=90", "--src-mac=02:00:00:00:00:07"],
            ),
            (
                {"read": capture, "pad": 300, "fix_checksums": True, "rate": "2x"},
                ["-r", capture, "--pad=300", "--fix-checksums", "--rate=2x"],
            ),
        ):
            with self.subTest(settings):
                path, done = self.command_line(*options)
                self.assertEqual(done.returncode, 0, done.stderr)
                expected = records_of(path)
                frames = parshall.send(**settings)
                self.assertEqual([(int(when), bytes(frame)) for when, frame in zip(frames.times, frames)], expected)
                ours = self.folder / "ours.pcap"
                sent = parshall.send(ours, **settings)
                self.assertEqual(ours.read_bytes(), path.read_bytes())
                self.assertEqual(sent, (len(expected), sum(len(frame) for _, frame in expected), 0))

    def test_frames_are_views(self):
        frames = parshall.send(generate=TRAFFIC, count=3000)
        self.assertEqual(
            [frames.data.dtype, frames.offsets.dtype, frames.lengths.dtype, frames.times.dtype],
            ["uint8", "int64", "uint32", "int64"],
        )
        self.assertTrue(numpy.shares_memory(frames[7], frames.data))
        self.assertEqual(frames[7].ctypes.data, frames.data.ctypes.data + int(frames.offsets[7]))
        frames[7][0] = 0xAA
        self.assertEqual(frames.data[frames.offsets[7]], 0xAA)
        self.assertEqual((len(frames), len(list(frames)), len(frames[10:20:2])), (3000, 3000, 5))
        self.assertTrue((frames[-1] == frames[2999]).all() and (frames[numpy.int64(5)] == frames[5]).all())
        self.assertEqual(frames.lengths.sum(), len(frames.data))
        for wrong, error in ((3000, IndexError), (-3001, IndexError), ("x", TypeError), (1.5, TypeError)):
            with self.assertRaises(error):
                frames[wrong]

    def test_views_outlive_the_frames(self):
        frame = parshall.send(generate=TRAFFIC, count=200000)[199999]
        copy = bytes(frame)
        gc.collect()
        others = [parshall.send(generate=TRAFFIC, count=200000) for _ in range(3)]
        self.assertEqual((bytes(frame), len(others)), (copy, 3))

    def test_what_is_sent_is_what_is_counted(self):
        path = self.folder / "sent.pcap"
        sent = parshall.send(path, generate=TRAFFIC, count=5000)
        with parshall.flows(path) as flows:
            self.assertEqual(sum(flow.packets for flow in flows), sent.frames)

    def test_no_frames_are_empty_arrays(self):
        capture = self.folder / "empty.pcap"
        capture.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        frames = parshall.send(read=capture)
        self.assertEqual((len(frames), frames.data.shape, frames.times.shape, list(frames)), (0, (0,), (0,), []))

    def test_a_broken_capture_is_sent_up_to_there(self):
        path = self.folder / "cut.pcap"
        parshall.send(path, generate=TRAFFIC, count=100)
        path.write_bytes(path.read_bytes()[:-20])
        with self.assertWarnsRegex(parshall.LossWarning, "where the capture broke"):
            self.assertEqual(len(parshall.send(read=path)), 99)


class Misuse(Case):
    def test_errors_are_those_of_the_command_line(self):
        capture = self.folder / "capture.pcap"
        parshall.send(capture, generate=TRAFFIC, count=10)
        for settings, options in (
            ({}, []),
            ({"generate": "flows=1"}, ["-g", "flows=1"]),
            ({"generate": "flows=1", "read": capture}, ["-g", "flows=1", "-r", capture]),
            ({"generate": "flows=x", "count": 1}, ["-g", "flows=x", "--count=1"]),
            ({"generate": "flows=1", "count": "x"}, ["-g", "flows=1", "--count=x"]),
            ({"read": "/nonexistent.pcap"}, ["-r", "/nonexistent.pcap"]),
            ({"read": "/etc/passwd"}, ["-r", "/etc/passwd"]),
            ({"read": capture, "cap": 7}, ["-r", capture, "--cap=7"]),
            ({"read": capture, "pad": 65536}, ["-r", capture, "--pad=65536"]),
            ({"read": capture, "cap": 64, "pad": 65}, ["-r", capture, "--cap=64", "--pad=65"]),
            ({"read": capture, "loops": 0}, ["-r", capture, "--loops=0"]),
            ({"generate": "flows=1", "count": 9, "burst": 0}, ["-g", "flows=1", "--count=9", "--burst=0"]),
            ({"generate": "flows=1", "count": 9, "rate": "5x"}, ["-g", "flows=1", "--count=9", "--rate=5x"]),
            ({"generate": "flows=1", "count": 9, "rate": "5%"}, ["-g", "flows=1", "--count=9", "--rate=5%"]),
            ({"read": capture, "src_mac": "02"}, ["-r", capture, "--src-mac=02"]),
        ):
            with self.subTest(settings):
                _, done = self.command_line(*options)
                self.assertNotEqual(done.returncode, 0)
                for to in (None, self.folder / "ours.pcap"):
                    with self.assertRaises(parshall.Error) as caught:
                        parshall.send(to, **settings)
                    self.assertIn(str(caught.exception), done.stderr)
        with self.assertRaisesRegex(parshall.Error, "is the capture itself"):
            parshall.send(capture, read=capture)
        with self.assertRaisesRegex(parshall.Error, "cannot write /nonexistent/x"):
            parshall.send("/nonexistent/x", generate="flows=1", count=1)
        with self.assertRaisesRegex(parshall.Error, "cuont is no setting of parshall send"):
            parshall.send(generate="flows=1", cuont=1)

    def test_values_of_another_type(self):
        for to, settings in (
            (3, {}),
            (None, {"generate": 3.5j}),
            (None, {"burst": "x"}),
            (None, {"burst": -1}),
            (None, {"loops": 2**70}),
            (None, {"fresh_flows": "x"}),
            (None, {"kept_": 1}),
        ):
            with self.subTest(settings=settings), self.assertRaises((TypeError, parshall.Error)):
                parshall.send(to, **{"generate": "flows=1", "count": 1, **settings})

    def test_no_room_is_an_error(self):
        code = """
            import resource, parshall, numpy
            resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
            try:
                parshall.send(generate="flows=10,size=1500", count=10_000_000)
            except parshall.Error as error:
                print(error)
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(
            (done.stdout, done.stderr),
            ("there is not enough memory for so many frames: ask for fewer, or send them to a file\n", ""),
        )

    def test_ctrl_c_ends_it_soon(self):
        for to in ("'/dev/null'", f"{str(self.folder / 'x.pcap')!r}"):
            code = f"""
                import parshall, signal, time
                signal.signal(signal.SIGINT, signal.default_int_handler)
                print("begins", flush=True)
                try:
                    parshall.send({to}, generate="flows=1000,size=64", count="1G" if "null" in {to} else "20M")
                except KeyboardInterrupt:
                    print(time.monotonic())
            """
            process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
            self.assertEqual(process.stdout.readline(), "begins\n")
            time.sleep(0.3)
            asked = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 0)
            self.assertLess(float(out) - asked, 0.1)


if __name__ == "__main__":
    unittest.main()
