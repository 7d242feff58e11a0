# SPDX-License-Identifier: Apache-2.0
"""The notebooks of docs/notebooks: each runs from scratch, and shows what an independent count of the packets it read
comes to.

usage: test_notebooks.py [unittest arguments], by a Python that has parshall and docs/notebooks/requirements.txt
"""

import collections
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import frames
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
try:
    import notebooks
except ImportError as problem:
    raise unittest.SkipTest(f"{problem}: pip install -r docs/notebooks/requirements.txt") from problem


class Ran:
    """A notebook that ran in `folder`: what it showed, and what Python expressions came to at its end."""

    def __init__(self, name, folder, **facts):
        notebook = notebooks.run(
            notebooks.FOLDER / f"{name}.py",
            folder,
            "import json; print(json.dumps({" + ", ".join(f"{fact!r}: {code}" for fact, code in facts.items()) + "}))",
        )
        outputs = [output for cell in notebook.cells[:-1] if cell.cell_type == "code" for output in cell.outputs]
        self.text = "\n".join(map(notebooks.shown, outputs))
        self.plots = sum("image/png" in output.get("data", {}) for output in outputs)
        self.facts = json.loads(notebook.cells[-1].outputs[-1].text)
        self.folder = pathlib.Path(folder)

    def packets(self, name):
        return list(frames.packets((self.folder / name).read_bytes()))


def conversation_of(flow):
    src_ip, src_port, dst_ip, dst_port, protocol = flow
    return protocol, *sorted([(src_ip, src_port), (dst_ip, dst_port)])


class Notebooks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_what_is_in_my_capture(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("PARSHALL_CAPTURE", None)
            self.check_capture("capture.pcap", 50000)

    def test_what_is_in_a_capture_of_yours(self):
        path = pathlib.Path(self.folder) / "mine.pcap"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "parshall",
                "send",
                "-g",
                "flows=70,protocol=mix,rate=1000,packets=3000,seed=4",
                "--count",
                "3000",
                "-w",
                str(path),
            ],
            check=True,
            capture_output=True,
        )
        with mock.patch.dict(os.environ, PARSHALL_CAPTURE=str(path)):
            self.check_capture("mine.pcap", 3000)

    def check_capture(self, name, made):
        ran = Ran(
            "what-is-in-my-capture",
            self.folder,
            account="account",
            conversations="len(frame)",
            packets="int(frame.all_packets.sum())",
            bytes="int(frame.all_bytes.sum())",
            largest="int(frame.all_bytes.max())",
            in_windows="int(load['values.packets'].sum())",
            bytes_in_windows="int(load['values.wire_bytes'].sum())",
        )
        packets = ran.packets(name)
        bytes_of = collections.Counter()
        for packet in packets:
            bytes_of[conversation_of(packet.flow)] += packet.wire_bytes
        self.assertEqual(len(packets), made)
        self.assertEqual(
            (ran.facts["account"]["offered"], ran.facts["account"]["counted"], ran.facts["account"]["lost"]),
            (made, made, 0),
        )
        self.assertEqual(
            {
                key: ran.facts[key]
                for key in ("conversations", "packets", "bytes", "largest", "in_windows", "bytes_in_windows")
            },
            {
                "conversations": len(bytes_of),
                "packets": made,
                "bytes": sum(bytes_of.values()),
                "largest": max(bytes_of.values()),
                "in_windows": made,
                "bytes_in_windows": sum(bytes_of.values()),
            },
        )
        self.assertIn(f"{len(bytes_of)} conversations, {made} packets, {sum(bytes_of.values()) / 1e6:.1f} MB", ran.text)
        self.assertIn(str(max(bytes_of.values())), ran.text)
        self.assertEqual(ran.plots, 2)

    def test_elephants_and_mice(self):
        ran = Ran(
            "elephants-and-mice",
            self.folder,
            gaps="frame[['src_ip', 'src_port', 'dst_ip', 'dst_port', 'protocol', 'gap_mean_packets', "
            "'gap_p99_packets']].fillna(-1).values.tolist()",
            elephants="int(elephants.packets.sum())",
            off_mean="float(off_mean.median())",
            off_p99="float(off_p99.median())",
        )
        truth = frames.by_flow((self.folder_path() / "zipf.pcap").read_bytes())
        self.assertEqual(len(ran.facts["gaps"]), len(truth))
        for *flow, mean, p99 in ran.facts["gaps"]:
            gaps = numpy.sort(numpy.diff(truth[tuple(flow)]["place"]) - 1)
            if len(gaps) == 0:
                self.assertEqual((mean, p99), (-1, -1))
                continue
            self.assertAlmostEqual(mean, gaps.mean(), delta=1e-6 * gaps.mean())
            exact = gaps[math.ceil(0.99 * len(gaps)) - 1]
            self.assertAlmostEqual(p99, exact, delta=0.0501 * exact)
        sizes = sorted((len(of["place"]) for of in truth.values()), reverse=True)
        largest = sum(sizes[: len(sizes) // 100])
        self.assertEqual(ran.facts["elephants"], largest)
        self.assertIn(f"{len(sizes) // 100} of {len(sizes)} flows have {largest / 400000:.1%} of the packets", ran.text)
        # The law of the page: chance alone leaves 1 / sqrt(packets) of the mean, 7 % for the median flow of those
        # shown.
        self.assertLess(ran.facts["off_mean"], 0.08)
        self.assertLess(ran.facts["off_p99"], 0.25)
        self.assertEqual(ran.plots, 2)

    def folder_path(self):
        return pathlib.Path(self.folder)

    def test_tcp_health(self):
        ran = Ran(
            "tcp-health",
            self.folder,
            again="int(frame.tcp_retransmissions.sum())",
            lost="int(frame.tcp_lost_segments.sum())",
            in_windows="int(again_of.sum())",
            rtt="frame[['src_ip', 'src_port', 'dst_ip', 'dst_port', 'protocol', 'rtt_min_ms', "
            "'rtt_mean_ms']].values.tolist()",
            slow="list(slow_windows.index)",
            ratio="float(slow_windows.median() / medians.median())",
            changes="[[float(s), int(n)] for s, n in changes.items()]",
        )
        packets = ran.packets("slow.pcap")
        again, seen = 0, set()
        for packet in packets:
            if packet.tcp[3] > 0:
                again += (packet.flow, packet.tcp[1]) in seen
                seen.add((packet.flow, packet.tcp[1]))
        self.assertGreater(again, 1000)
        self.assertEqual((ran.facts["again"], ran.facts["in_windows"], ran.facts["lost"]), (again, again, 0))
        self.assertIn(f"{again} of {len(packets)} packets are retransmissions", ran.text)
        self.check_round_trips(packets, ran.facts["rtt"])
        begins = ran.facts["slow"]
        self.assertEqual((round(min(begins), 2), round(max(begins), 2), len(begins)), (4.0, 5.75, 8))
        self.assertIn("slow from second 4.00 to 6.00", ran.text)
        self.assertTrue(3 < ran.facts["ratio"] < 6, ran.facts["ratio"])
        changes = dict(ran.facts["changes"])
        in_slow = sum(n for second, n in changes.items() if 4 <= round(second, 2) < 6)
        self.assertGreater(
            in_slow / 2, 3 * (sum(changes.values()) - in_slow) / 10
        )  # a second of the slow time, and of the others
        self.assertEqual(ran.plots, 1)

    def check_round_trips(self, packets, shown):
        """The plain way: from a segment to the packet of the other direction that acknowledges its end, unless it was
        sent again before."""
        sent, waiting, samples = set(), {}, collections.defaultdict(list)
        for packet in packets:
            src_ip, src_port, dst_ip, dst_port, protocol = packet.flow
            back = (dst_ip, dst_port, src_ip, src_port, protocol)
            flags, sequence, acknowledgement, data = packet.tcp
            began = waiting.pop((back, acknowledgement), None)
            if began is not None:
                samples[packet.flow].append((packet.time_ns - began) / 1e6)
            if data > 0:
                segment = packet.flow, (sequence + data) % 2**32
                if segment in sent:
                    waiting.pop(segment, None)
                else:
                    waiting[segment] = packet.time_ns
                sent.add(segment)
        self.assertEqual(len(shown), len(samples))
        for *flow, least, mean in shown:
            self.assertAlmostEqual(least, min(samples[tuple(flow)]), delta=1e-5)
            self.assertAlmostEqual(mean, sum(samples[tuple(flow)]) / len(samples[tuple(flow)]), delta=1e-5 * mean)

    def test_flowatcher(self):
        ran = Ran(
            "flowatcher",
            self.folder,
            flows="len(frame)",
            packets="int(frame.packets.sum())",
            least="int(frame.packets.min())",
            largest="int(frame.packets.max())",
            gaps="float((frame.gap_mean_packets * (frame.packets - 1)).sum())",
            counted="int(counted_in_flows)",
            account="account",
            rates="rates.values.tolist()",
            flow_counts="list(map(int, rates.index))",
            p99="sorted(map(float, frame.gap_p99_packets))",
        )
        # The same traffic, as a capture: frames of one length, so that numpy reads them in one go.
        path = self.folder_path() / "same.pcap"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "parshall",
                "send",
                "-g",
                "flows=4096,dist=uniform,seed=2,packets=2000000",
                "--count",
                "2000000",
                "-w",
                str(path),
            ],
            check=True,
            capture_output=True,
        )
        record = numpy.dtype(
            [
                ("header", "V16"),
                ("ethernet", "V14"),
                ("ip", "V9"),
                ("protocol", "u1"),
                ("checksum", "V2"),
                ("addresses_and_ports", "V12"),
                ("rest", "V22"),
            ]
        )
        table = numpy.frombuffer(path.read_bytes()[24:], dtype=record)
        self.assertEqual(len(table), 2_000_000)
        _, flow = numpy.unique(
            table[["protocol", "addresses_and_ports"]].astype([("protocol", "u1"), ("rest", "V12")]).view("V13"),
            return_inverse=True,
        )
        order = numpy.argsort(flow, kind="stable")
        gaps = (numpy.diff(order) - 1)[numpy.diff(flow[order]) == 0]
        counts = numpy.bincount(flow)
        self.assertEqual(
            [ran.facts[key] for key in ("flows", "packets", "least", "largest")],
            [len(counts), 2_000_000, counts.min(), counts.max()],
        )
        self.assertAlmostEqual(ran.facts["gaps"], gaps.sum(), delta=1e-6 * gaps.sum())
        self.assertIn(f"{len(counts)} flows, 2000000 packets; the mean gap of all is {gaps.mean():.0f}", ran.text)
        exact = sorted(
            of[math.ceil(0.99 * len(of)) - 1]
            for of in map(numpy.sort, numpy.split(gaps, numpy.cumsum(counts - 1)[:-1]))
        )
        for ours, theirs in zip(ran.facts["p99"], exact):  # each is within 5 % of its own, so in order they are, too
            self.assertAlmostEqual(ours, theirs, delta=0.0501 * theirs)
        account = ran.facts["account"]
        self.assertEqual(account["offered"], account["counted"] + account["lost"])
        self.assertEqual(
            (account["counted"], account["nic_missed"], account["balanced"]),
            (ran.facts["counted"], account["lost"], True),
        )
        self.assertGreater(account["lost"], 0)
        self.assertTrue(
            0.8e9 < account["offered"] < 3e9, account
        )  # a second at that pace, or more where the end came late
        self.assertIn(
            f"{account['lost']} of {account['offered']} packets were lost before they could be counted", ran.text
        )
        self.assertEqual(ran.facts["flow_counts"], [1000, 10_000, 100_000, 1_000_000])
        self.assertTrue(all(0.1 < rate < 1000 for row in ran.facts["rates"] for rate in row), ran.facts["rates"])
        self.assertEqual(ran.plots, 2)

    def test_applications(self):
        sizes = "['capture', 'src_ip', 'src_port', 'dst_ip', 'dst_port', 'protocol', *SIZES]"
        ran = Ran(
            "applications",
            self.folder,
            sizes=f"flows[{sizes}].values.tolist()",
            right="right.to_dict()",
            new="float((new['class'] == new.application).mean())",
            many="len(new)",
            folds="flows[['capture', 'fold']].drop_duplicates().values.tolist()",
        )
        first = {}
        for path in sorted((self.folder_path() / "captures").glob("*.pcap")):
            for flow, of in frames.by_flow(path.read_bytes()).items():
                first[path.name, flow] = list(map(int, of["ip_bytes"][:4]))
        self.assertEqual(len(first), 4 * 8 * 100)
        self.assertEqual(
            {
                (capture, tuple(flow)): row
                for capture, *flow, a, b, c, d in ran.facts["sizes"]
                for row in [[a, b, c, d]]
            },
            first,
        )
        self.assertEqual(len(ran.facts["folds"]), 32)
        # Their naive Bayes with these sizes and folds, once more.
        from sklearn.model_selection import PredefinedSplit, cross_val_score
        from sklearn.naive_bayes import GaussianNB

        fold_of = dict(ran.facts["folds"])
        again = cross_val_score(
            GaussianNB(priors=[0.25] * 4),
            numpy.array(list(first.values())),
            [capture.partition("-")[0] for capture, _ in first],
            cv=PredefinedSplit([fold_of[capture] for capture, _ in first]),
        )
        self.assertAlmostEqual(again.mean(), ran.facts["right"]["scikit-learn"]["naive-bayes"], delta=0.002)
        for model, limit in (("naive-bayes", 0.01), ("c45", 0.03)):
            self.assertAlmostEqual(
                ran.facts["right"]["parshall"][model], ran.facts["right"]["scikit-learn"][model], delta=limit
            )
        self.assertEqual(ran.facts["many"], 400)
        self.assertAlmostEqual(ran.facts["new"], ran.facts["right"]["parshall"]["c45"], delta=0.05)
        self.assertIn(f"{ran.facts['new']:.1%} of 400 new flows are classified correctly", ran.text)
        self.assertEqual(ran.plots, 1)


if __name__ == "__main__":
    unittest.main()
