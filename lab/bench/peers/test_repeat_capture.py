#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""repeat_capture.py: each repetition has the flows of the first by other addresses, and their directions belong
together. Run by a Python that has parshall."""

import collections
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import repeat_capture

import parshall


class Repeated(unittest.TestCase):
    def test_each_repetition_has_conversations_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            once, thrice = Path(folder) / "once.pcap", Path(folder) / "thrice.pcap"
            traffic = "flows=100,protocol=sessions,ipv6=0.3,vlan=7,packets=2000,seed=2"
            subprocess.run(
                [sys.executable, "-m", "parshall", "send", "-g", traffic, "--count", "2000", "-w", str(once)],
                check=True,
                capture_output=True,
            )
            self.assertEqual(repeat_capture.write(repeat_capture.read(once), thrice, 5000), (6000, 3))
            shapes = []
            for path in (once, thrice):
                with parshall.flows(path, biflow=True) as flows:
                    shapes.append(
                        collections.Counter(
                            (
                                flow.ip_version,
                                flow.src_port,
                                flow.dst_port,
                                flow.packets,
                                flow.wire_bytes,
                                flow.reverse_packets,
                            )
                            for flow in flows
                        )
                    )
                self.assertEqual(flows.accounting["malformed"], 0)
            self.assertEqual(shapes[1], collections.Counter({shape: 3 * count for shape, count in shapes[0].items()}))
            self.assertEqual(sum(shapes[0].values()), 50)


if __name__ == "__main__":
    unittest.main()
