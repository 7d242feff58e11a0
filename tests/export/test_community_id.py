# SPDX-License-Identifier: Apache-2.0
"""Community IDs, computed anew from each record: in CSV, JSON, IPFIX, Parquet and Arrow. In builds with OpenSSL.

usage: test_community_id.py PARSHALL [unittest arguments]
"""

import base64
import csv
import hashlib
import ipaddress
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from ipfix import Reader

PROGRAM = None


def community_id(row):
    """As github.com/corelight/community-id-spec has it."""
    protocol, ends = (
        int(row["protocol"]),
        [
            (ipaddress.ip_address(row[f"{end}_ip"]).packed, struct.pack(">H", int(row[f"{end}_port"])))
            for end in ("src", "dst")
        ],
    )
    (first, second), ports = sorted(ends), protocol in (6, 17, 132)
    text = bytes(2) + first[0] + second[0] + bytes([protocol, 0]) + (first[1] + second[1] if ports else b"")
    return "" if protocol in (1, 58) else "1:" + base64.b64encode(hashlib.sha1(text).digest()).decode()


class CommunityIds(unittest.TestCase):
    def test_every_output_has_them(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            done = subprocess.run(
                [
                    PROGRAM,
                    "watch",
                    "-q",
                    "-g",
                    "flows=5000,packets=50000,ipv6=0.3,protocol=sessions",
                    "--count",
                    "50k",
                    "--columns",
                    "+community_id",
                    "--format",
                    "json",
                    "--top",
                    "1",
                    "--export",
                    f"csv:{folder}/csv",
                    "--export",
                    f"jsonl:{folder}/jsonl",
                    "--export",
                    f"ipfix:{folder}/ipfix",
                    "--export",
                    f"parquet:{folder}/parquet,partition=none",
                    "--export",
                    f"arrow:{folder}/arrow",
                ],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(folder / "csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertGreater(len(rows), 1000)
            for row in rows:
                self.assertEqual(row["community_id"], community_id(row))
            wanted = sorted(row["community_id"] for row in rows)
            self.assertEqual(len(set(wanted)), len(wanted) // 2, "both directions of each connection have one")
            lines = [json.loads(line) for line in (folder / "jsonl").read_text().splitlines()]
            reader = Reader()
            reader.read((folder / "ipfix").read_bytes())
            self.assertEqual(sorted(line["flow"]["community_id"] for line in lines if "flow" in line), wanted)
            self.assertEqual(sorted(flow["community_id"] for flow in reader.flows), wanted)
            (parquet,) = (folder / "parquet").glob("flows-*.parquet")
            verified = subprocess.run(
                [PROGRAM, "verify", folder / "parquet", folder / "ipfix"],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
            try:
                import pyarrow.ipc
                import pyarrow.parquet
            except ImportError:
                print("SKIPPED reading of Parquet and Arrow: pyarrow is not installed")
                return
            self.assertEqual(sorted(pyarrow.parquet.read_table(parquet)["community_id"].to_pylist()), wanted)
            with open(folder / "arrow", "rb") as file:
                self.assertEqual(sorted(pyarrow.ipc.open_stream(file).read_all()["community_id"].to_pylist()), wanted)

    def test_it_takes_whole_keys(self):
        done = subprocess.run(
            [PROGRAM, "watch", "-g", "flows=10", "--count", "10", "--key", "src-dst", "--columns", "+community_id"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("community_id is of flows by their 5-tuple: leave out --key", done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
