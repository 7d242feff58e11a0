# SPDX-License-Identifier: Apache-2.0
"""`parshall.compare`: the same numbers as the command line, as objects and as frames.

usage: test_between.py PARSHALL [unittest arguments], by a Python that has parshall, pyarrow, pandas and polars
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import parshall

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "compare"))
import two_taps

PROGRAM = None


class Between(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        network = two_taps.Network(loss=0.02, doubled=0.01, late=0.02)
        sent = two_taps.send(network, 4000, 1)
        two_taps.write_taps(network, sent, self.folder / "up.pcap", self.folder / "down.pcap")

    def told(self, up, down, *arguments):
        words = [PROGRAM, "compare", self.folder / up, self.folder / down, "--format", "json", *arguments]
        return json.loads(subprocess.run(words, capture_output=True, check=True, timeout=60).stdout)

    def check(self, between, told):
        for name in ("there", "back", "up", "down", "clocks", "warnings"):
            self.assertEqual(getattr(between, name), told[name])
        flows = list(between)
        self.assertEqual(len(between), len(told["flows"]))
        for flow, other in zip(flows, told["flows"]):
            mine = flow._asdict()
            self.assertEqual(mine.keys(), other.keys())
            for name, value in mine.items():
                if isinstance(value, float):  # text has 12 digits of it
                    self.assertTrue(math.isclose(value, other[name], rel_tol=1e-11), (name, value, other[name]))
                else:
                    self.assertEqual(value, other[name], name)
        self.assertGreater(sum(flow.packets_lost for flow in flows), 10)

    def test_captures(self):
        between = parshall.compare(self.folder / "up.pcap", str(self.folder / "down.pcap"))
        self.check(between, self.told("up.pcap", "down.pcap"))
        self.assertIn(f"{between.there['packets_lost']} of", repr(between))

    def test_a_filter_and_nat(self):
        between = parshall.compare(self.folder / "up.pcap", self.folder / "down.pcap", filter="tcp", nat=True)
        self.check(between, self.told("up.pcap", "down.pcap", "--nat", "tcp"))
        self.assertEqual({flow.protocol for flow in between}, {6})

    def test_records(self):
        for tap in ("up", "down"):
            words = [PROGRAM, "watch", "-r", self.folder / f"{tap}.pcap", "-q", "--seed", "7", "--digest"]
            words += ["--export", f"parquet:{self.folder / tap}", "-o", "/dev/null"]
            subprocess.run(words, check=True, timeout=60)
        self.check(parshall.compare(self.folder / "up", self.folder / "down"), self.told("up", "down"))

    def test_frames(self):
        between = parshall.compare(self.folder / "up.pcap", self.folder / "down.pcap")
        pandas, polars = between.to_pandas(), between.to_polars()
        self.assertEqual(list(pandas.columns), [column.name for column in between.schema])
        self.assertEqual(int(pandas.packets_lost.sum()), between.there["packets_lost"] + between.back["packets_lost"])
        self.assertEqual(polars["packets_sent"].sum(), int(pandas.packets_sent.sum()))
        self.assertEqual(set(pandas.way), {"there", "back"})
        self.assertEqual(between.to_arrow().num_rows, len(between))

    def test_what_cannot_be(self):
        up = self.folder / "up.pcap"
        for other, words, more in (
            (up, "twice", {}),
            (self.folder, "has records", {}),
            (self.folder / "none.pcap", "none.pcap", {}),
            (self.folder / "down.pcap", "filter", {"filter": "tcp prot 80"}),
        ):
            with self.assertRaisesRegex(parshall.Error, words):
                parshall.compare(up, other, **more)

    def test_what_may_be_wrong_is_a_warning(self):
        whole = (self.folder / "down.pcap").read_bytes()
        (self.folder / "down.pcap").write_bytes(whole[: len(whole) * 3 // 4 + 5])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            between = parshall.compare(self.folder / "up.pcap", self.folder / "down.pcap")
        self.assertTrue(any("broke" in str(warning.message) for warning in caught))
        self.assertTrue(all(issubclass(warning.category, parshall.LossWarning) for warning in caught))
        self.assertGreater(between.there["packets_outside_sent"], 100)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
