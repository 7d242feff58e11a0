# SPDX-License-Identifier: Apache-2.0
"""Addresses have the autonomous systems and countries of the files of --geo. make_places.py makes them.

usage: test_places.py PARSHALL [unittest arguments]
"""

import csv
import ipaddress
import os
import pathlib
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import test_names
from test_names import tcp, udp

PROGRAM = None
PLACES = pathlib.Path(__file__).with_name("places.mmdb")


def udp6(ends):
    payload = struct.pack(">HHHH", 1, 2, 8, 0)
    head = struct.pack(">IHBB", 6 << 28, len(payload), 17, 64) + b"".join(
        ipaddress.ip_address(end).packed for end in ends
    )
    return bytes(12) + b"\x86\xdd" + head + payload


class Places(test_names.Captures):
    ENDS = [("192.0.2.1", "198.51.100.1"), ("198.51.100.200", "203.0.113.9"), ("10.0.0.1", "192.0.2.200")]

    def packets(self):
        return [tcp(1, ends=ends) for ends in self.ENDS] + [udp6(("2001:db8:1::7", "2001:db8:2::7"))]

    def test_flows_have_the_places_of_both_ends(self):
        flows = self.watch(self.capture(self.packets()), "--geo", PLACES, columns="+duration")
        found = {
            flow["src_ip"]: [flow[name] for name in ("src_asn", "src_country", "dst_asn", "dst_country")]
            for flow in flows
        }
        self.assertEqual(
            found,
            {
                "192.0.2.1": [64496, "DE", 4200000000, "FR"],
                "198.51.100.200": [None, None, None, "US"],
                "10.0.0.1": [None, None, 64496, "DE"],
                "2001:db8:1::7": [64496, "JP", None, None],
            },
        )

    def rows(self, by):
        command = [PROGRAM, "watch", "-q", "-r", self.capture(self.packets()), "--geo", PLACES, "--by", by]
        done = subprocess.run([*command, "--format", "csv"], capture_output=True, text=True, timeout=60, check=True)
        return {row[by]: (row["out_packets"], row["in_packets"]) for row in csv.DictReader(done.stdout.splitlines())}

    def test_groups_have_what_each_end_sent_and_received(self):
        self.assertEqual(self.rows("asn"), {"": ("2", "2"), "64496": ("2", "1"), "4200000000": ("0", "1")})
        self.assertEqual(
            self.rows("country"),
            {"": ("2", "1"), "DE": ("1", "1"), "FR": ("0", "1"), "JP": ("1", "0"), "US": ("0", "1")},
        )

    def test_the_first_file_that_knows_it_counts(self):
        more = PLACES.with_name("more_places.mmdb")
        for files, expected in (
            ([PLACES, more], {"192.0.2.1": (64496, "DE"), "203.0.113.9": (64500, "US")}),
            ([more, PLACES], {"192.0.2.1": (64511, "CH"), "203.0.113.9": (64500, "CH")}),
        ):
            flows = self.watch(self.capture(self.packets()), "--geo", ",".join(map(str, files)), columns="+duration")
            found = {flow["src_ip"]: (flow["src_asn"], flow["src_country"]) for flow in flows}
            found |= {flow["dst_ip"]: (flow["dst_asn"], flow["dst_country"]) for flow in flows}
            self.assertEqual({address: found[address] for address in expected}, expected)

    def test_a_file_that_is_replaced_during_the_run_harms_nobody(self):
        file, pipe = self.folder / "live.mmdb", self.folder / "packets"
        file.write_bytes(PLACES.read_bytes())
        os.mkfifo(pipe)
        flows = self.folder / "flows.jsonl"
        command = [PROGRAM, "watch", "-q", "-r", pipe, "--geo", file, "-o", os.devnull, "--export", f"jsonl:{flows}"]
        running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.addCleanup(running.stderr.close)
        content = self.capture(self.packets()).read_bytes()
        with open(pipe, "wb") as writer:
            writer.write(content[:200])
            writer.flush()
            time.sleep(1)
            file.write_bytes(b"")
            writer.write(content[200:])
        self.assertEqual((running.wait(30), running.stderr.read()), (0, ""))
        self.assertIn('"src_country":"DE"', flows.read_text())

    def test_what_cannot_be(self):
        path, wrong = self.capture([udp(b"x")]), self.folder / "wrong.mmdb"
        wrong.write_bytes(b"nonsense")
        self.assertIn(
            "give a file in MaxMind's format", self.watch(path, "--geo", wrong, columns="+duration", status=2)
        )
        wrong.write_bytes(PLACES.read_bytes()[:300])
        self.assertIn(
            "give a file in MaxMind's format", self.watch(path, "--geo", wrong, columns="+duration", status=2)
        )
        self.assertIn("--geo", self.watch(path, "--geo", self.folder / "none", columns="+duration", status=2))
        self.assertIn("--geo", self.watch(path, "--by", "asn", columns="asn", status=2))

    def test_a_damaged_file_harms_nobody(self):
        whole = PLACES.read_bytes()
        path = self.capture(self.packets())
        for at in range(0, len(whole), 7):
            damaged = self.folder / "damaged.mmdb"
            damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
            command = [PROGRAM, "watch", "-q", "-r", path, "--geo", damaged, "-o", os.devnull]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            self.assertIn(done.returncode, (0, 2), f"byte {at}: {done.stderr}")


if __name__ == "__main__":
    PROGRAM = test_names.PROGRAM = sys.argv.pop(1)
    if (
        "this build does not have libmaxminddb"
        in subprocess.run(
            [PROGRAM, "watch", "-g", "flows=1", "--count", "1", "--geo", PLACES], capture_output=True, text=True
        ).stderr
    ):
        print("SKIPPED: this build is without libmaxminddb")
        sys.exit(77)
    unittest.main(verbosity=1)
