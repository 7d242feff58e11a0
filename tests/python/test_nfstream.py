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
BACK = ["protocol", "dst_ip", "dst_port", "src_ip", "src_port"]
# Read in a process of its own: NFStream starts others by fork, which a process with threads should not.
READ = (
    "import nfstream, sys; nfstream.NFStreamer(source=sys.argv[1], n_dissections=0, n_meters=1, "
    "idle_timeout=10**9, "
    "active_timeout=10**9, statistical_analysis=True).to_csv(path=sys.argv[2])"
)
FLOAT32 = 2.0**-22
FEW, MANY = 3, 40  # real captures, the largest


def code_of(*words):
    """The page's only block of code that has these words."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (code,) = (block for block in blocks if all(word in block for word in words))
    return code


def made(path, traffic="flows=600,dist=zipf:1.1,protocol=sessions,size=imix,ipv6=0.2,rate=20000,packets=40000,seed=9"):
    """A capture of 40,000 packets."""
    parshall.send(path, generate=traffic, count=40000)


def frame_of(code, folder):
    """What a block of the page calls frame, as if its capture were in the folder."""
    run = [sys.executable, "-c", f"import parshall\n{code}\nframe.to_pickle('frame')"]
    subprocess.run(run, check=True, capture_output=True, cwd=folder)
    import pandas

    return pandas.read_pickle(pathlib.Path(folder) / "frame")


class Page(unittest.TestCase):
    """What needs no NFStream."""

    def test_its_plugin_computes_what_a_frame_does(self):
        with tempfile.TemporaryDirectory() as folder:
            made(pathlib.Path(folder) / "capture.pcap")
            frame = frame_of(code_of("def balance"), folder)
        back = frame.reverse_wire_bytes.fillna(0)
        self.assertGreater(len(frame), 250)
        self.assertEqual(list(frame.returned), list(back / (frame.wire_bytes + back)))
        self.assertEqual(list(frame.is_unanswered), list(back == 0))

    def test_its_plugin_reads_payload(self):
        path = TRACES / "pcap/nDPI__instagram.pcap"
        if not path.exists():
            self.skipTest("PARSHALL_TRACES is not there")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "capture.pcap").symlink_to(path)
            frame = frame_of(code_of("def tls"), folder)
        self.assertTrue((frame[frame.is_tls].dst_port.eq(443) | frame[frame.is_tls].src_port.eq(443)).all())
        self.assertGreater(frame.is_tls.sum(), 5)
        self.assertGreater((~frame.is_tls).sum(), 5)

    def test_its_files_have_the_frame(self):
        with tempfile.TemporaryDirectory() as folder:
            made(pathlib.Path(folder) / "capture.pcap")
            frame = frame_of(code_of("export="), folder)
            lines = pathlib.Path(folder, "flows.csv").read_text().splitlines()
            self.assertEqual(len(lines), 1 + len(frame))
            self.assertEqual(len(list(pathlib.Path(folder, "flows").rglob("*.parquet"))), 1)


@unittest.skipIf(importlib.util.find_spec("nfstream") is None, "without nfstream")
class NFStream(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scope = {}
        exec(code_of("def conversations"), scope)
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
            same(f"{direction}_stddev_ps", 1e-5, 1e-3)
            for flag in ("syn", "cwr", "ece", "urg", "ack", "psh", "rst", "fin"):
                same(f"{direction}_{flag}_packets")
            packets = both[f"{direction}_packets"].fillna(0)
            for what, ms in (("min", 1), ("max", 1), ("stddev", 1.5)):
                same(f"{direction}_{what}_piat_ms", FLOAT32, ms)
            same(f"{direction}_mean_piat_ms", FLOAT32, 1 / (packets - 1).clip(lower=1) + 1e-9)
        rows = parshall.flows(path).to_pandas()
        for direction, ends in (("src2dst", KEY), ("dst2src", BACK)):
            names = dict(zip(KEY, ends, strict=True)) | {
                end: f"{direction}_{end}" for end in ("first_seen", "last_seen")
            }
            rows_of_direction = rows[[*KEY, "first_seen", "last_seen"]].rename(columns=names)
            both = both.merge(rows_of_direction, on=KEY, how="left")
            packets = both[f"{direction}_packets"].fillna(0)
            for end in ("first", "last"):
                has = both[packets > 0]
                ms = has[f"{direction}_{end}_seen"].astype("int64") // 10**6
                self.assertTrue((ms == has[f"{direction}_{end}_seen_ms"]).all())
        return len(both), int(both.bidirectional_packets.sum())

    def test_what_is_called_equal_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "made.pcap"
            made(path)
            conversations, packets = self.compare(path, folder)
            self.assertGreater(conversations, 250)
            self.assertEqual(packets, 40000)

    def test_plugins_compute_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            made(pathlib.Path(folder) / "capture.pcap")
            theirs = frame_of(code_of("(NFPlugin)"), folder)
            ours = frame_of(code_of("def balance"), folder)
        both = ours.merge(theirs, on=KEY, how="outer", indicator=True)
        self.assertEqual(list(both._merge.unique()), ["both"])
        self.assertEqual(list(both.returned), list(both["udps.returned"]))
        self.assertEqual(list(both.is_unanswered), list(both["udps.is_unanswered"]))
        self.assertGreater((both.returned > 0).sum(), 0)

    def test_names_are_the_same_but_for_case_and_ports(self):
        path = TRACES / "pcap/nDPI__instagram.pcap"
        if not path.exists():
            self.skipTest("PARSHALL_TRACES is not there")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "capture.pcap").symlink_to(path)
            ours = frame_of(code_of("+names"), folder)
            theirs = frame_of("import nfstream\nframe = nfstream.NFStreamer('capture.pcap').to_pandas()", folder)
        both = ours.merge(theirs, on=KEY, suffixes=("", "_nfstream"))
        names = ["requested_server_name", "requested_server_name_nfstream", "ja4", "client_fingerprint"]
        both = both[both.application_name.str.match("TLS|HTTP|DNS|QUIC")][names].astype(str).replace("nan", "")
        self.assertGreater((both.requested_server_name != "").sum(), 20)
        without_port = both.requested_server_name.str.lower().str.replace(r":\d+$", "", regex=True)
        self.assertEqual(list(without_port), list(both.requested_server_name_nfstream))
        self.assertGreater((both.ja4 != "").sum(), 5)
        self.assertEqual(list(both.ja4), list(both.client_fingerprint))

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
