# SPDX-License-Identifier: Apache-2.0
"""What docs/from-nfstream.md calls equal, against NFStream itself: with the page's own code, on a capture that is made,
and on real ones.

usage: test_nfstream.py [unittest arguments], by a Python that has parshall and pandas; skipped without nfstream
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import warnings

import frames

import parshall

PAGE = pathlib.Path(__file__).parents[2] / "docs/from-nfstream.md"
TRACES = pathlib.Path(os.environ.get("PARSHALL_TRACES", pathlib.Path(__file__).parents[2] / "../shared/traces"))
KEY = ["protocol", "src_ip", "src_port", "dst_ip", "dst_port"]
# Read in a process of its own: NFStream starts others by fork, which a process with threads should not.
READ = (
    "import nfstream, sys; nfstream.NFStreamer(source=sys.argv[1], n_dissections=0, n_meters=1, "
    "idle_timeout=10**9, "
    "active_timeout=10**9, statistical_analysis=True).to_csv(path=sys.argv[2])"
)
FLOAT32 = 2.0**-22
FEW, MANY = 3, 40  # real captures, the largest


@unittest.skipIf(importlib.util.find_spec("nfstream") is None, "without nfstream")
class NFStream(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        scope = {}
        exec(code, scope)  # the page's
        cls.conversations = staticmethod(scope["conversations"])

    def compare(self, path, folder):
        import pandas

        theirs = pathlib.Path(folder) / "theirs.csv"
        subprocess.run([sys.executable, "-c", READ, str(path), str(theirs)], check=True, capture_output=True)
        theirs = pandas.read_csv(theirs)
        ours = self.conversations(path)
        both = ours.merge(theirs, on=KEY, how="outer", suffixes=("", "_nfstream"), indicator=True)
        fragments = (
            (both._merge == "left_only") & both.protocol.isin([6, 17]) & (both.src_port == 0) & (both.dst_port == 0)
        )  # later ones, which NFStream leaves out
        both = both[~fragments].reset_index(drop=True)
        self.assertEqual((both._merge == "both").sum(), len(both), both[both._merge != "both"][[*KEY, "_merge"]])

        def same(name, relative=0.0, absolute=0.0):
            got, wanted = both[name].fillna(0).astype(float), both[f"{name}_nfstream"].astype(float)
            off = (got - wanted).abs() > relative * wanted.abs() + absolute
            self.assertFalse(off.any(), both[off][[*KEY, name, f"{name}_nfstream"]].head())

        for what in ("packets", "bytes"):
            for direction in ("src2dst", "dst2src", "bidirectional"):
                same(f"{direction}_{what}")
        for direction in ("src2dst", "dst2src", "bidirectional"):
            same(f"{direction}_min_ps")
            same(f"{direction}_max_ps")
            same(f"{direction}_mean_ps", FLOAT32)
            # Of both: a difference of squares of what was rounded to single precision.
            same(f"{direction}_stddev_ps", 1e-5, 1e-3)
        for direction in ("src2dst", "dst2src"):
            packets = both[f"{direction}_packets"].fillna(0)
            for what, ms in (("min", 1), ("max", 1), ("stddev", 1.5)):
                same(f"{direction}_{what}_piat_ms", FLOAT32, ms)
            same(f"{direction}_mean_piat_ms", FLOAT32, 1 / (packets - 1).clip(lower=1) + 1e-9)
            for end in ("first", "last"):
                has = both[packets > 0]
                ms = has[f"{direction}_{end}_seen"].astype("int64") // 10**6
                self.assertTrue((ms == has[f"{direction}_{end}_seen_ms"]).all())
        return len(both), int(both.bidirectional_packets.sum())

    def test_what_is_called_equal_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "made.pcap"
            traffic = "flows=600,dist=zipf:1.1,protocol=sessions,size=imix,ipv6=0.2,rate=20000,packets=40000,seed=9"
            subprocess.run(
                [sys.executable, "-m", "parshall", "send", "-g", traffic, "--count", "40000", "-w", str(path)],
                check=True,
                capture_output=True,
            )
            conversations, packets = self.compare(path, folder)
            self.assertGreater(conversations, 250)
            self.assertEqual(packets, 40000)

    def test_it_is_on_real_captures(self):
        files = sorted((TRACES / "pcap").glob("*.pcap*"), key=lambda path: -path.stat().st_size)
        if not files:
            self.skipTest("PARSHALL_TRACES is not there")
        compared = 0
        for path in files:
            if compared == (MANY if os.environ.get("PARSHALL_THOROUGH") else FEW):
                break
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("error", parshall.LossWarning)
                if not is_plain(path.read_bytes()):
                    continue
                self.assertGreater(self.compare(path, folder)[0], 0)
                compared += 1
        self.assertGreaterEqual(compared, FEW)


def is_plain(data):
    """Whether it has what the page says counts alike: frames that the plain reader is sure of, whole, of TCP, UDP and
    ICMP, neither with VLAN tags nor with time that goes back."""
    try:
        packets = list(frames.packets(data))
    except frames.Unsupported:
        return False
    times = [packet.time_ns for packet in packets]
    whole = all(
        len(frame) == wire and len(frame) >= 42 and frame[12:14] != b"\x81\x00"
        for _, _, frame, wire in frames.records(data)
    )
    return whole and times == sorted(times) and all(packet.flow[-1] in (1, 2, 6, 17, 58) for packet in packets)


if __name__ == "__main__":
    unittest.main()
