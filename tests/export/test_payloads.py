# SPDX-License-Identifier: Apache-2.0
"""First payloads of flows are in their records, byte for byte, in every output and by every number of workers.

usage: test_payloads.py PARSHALL [unittest arguments]
"""

import collections
import csv
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

import test_names
from ipfix import Reader
from test_names import ACK, CLIENT, SERVER, SYN, Captures, tcp, udp

TRACES = (
    pathlib.Path(os.environ.get("PARSHALL_TRACES", pathlib.Path(__file__).resolve().parents[2] / "../shared/traces"))
    / "pcap"
)
MOST, READ = 255, 32  # bytes of a payload, and packets at a flow's beginning


class Payloads(Captures):
    def rows(self, path, *options, columns="+first_payloads_8"):
        flows = self.folder / "flows.csv"
        command = [test_names.PROGRAM, "watch", "-q", "-r", path, "--columns", columns, "-o", os.devnull]
        subprocess.run([*command, "--export", f"csv:{flows}", *options], check=True, timeout=60)
        with open(flows, newline="") as file:
            return list(csv.DictReader(file))

    def payloads(self, packets, *options, way="", columns="+first_payloads_8"):
        """Of the only flow."""
        (row,) = self.rows(self.capture(packets), *options, columns=columns)
        return [bytes.fromhex(row[name]) for name in row if name.startswith(f"{way}payload_") and row[name]]

    def test_packets_without_payload_are_left_out(self):
        packets = [tcp(0, flags=SYN), tcp(1, flags=ACK), tcp(1, b"first"), tcp(6, flags=ACK), tcp(6, b'\x00\xff\n,"')]
        self.assertEqual(self.payloads(packets), [b"first", b'\x00\xff\n,"'])

    def test_padding_of_a_frame_is_no_payload(self):
        self.assertEqual(self.payloads([tcp(1, flags=ACK) + bytes(6), udp(b"")[:-1]][:1]), [])
        self.assertEqual(self.payloads([udp(b"abc") + bytes(15)]), [b"abc"])

    def test_as_many_as_asked_for_of_255_bytes(self):
        sizes = [1, 254, 255, 256, 1400, 2, 3, 4, 5, 6]
        sent = [random.Random(size).randbytes(size) for size in sizes]
        packets = [udp(payload) for payload in sent]
        for count in (1, 3, 8):
            self.assertEqual(
                self.payloads(packets, columns=f"+first_payloads_{count}"), [each[:MOST] for each in sent[:count]]
            )
        self.assertEqual(self.payloads(packets, columns="+payload_3"), [sent[2]])

    def test_only_the_first_packets_are_read(self):
        before = [tcp(0, flags=SYN), *(tcp(1, flags=ACK) for _ in range(READ - 2))]
        self.assertEqual(self.payloads([*before, tcp(1, b"x"), tcp(2, b"late")]), [b"x"])
        self.assertEqual(self.payloads([*before, tcp(1, flags=ACK), tcp(1, b"late")]), [])

    def test_records_of_one_flow_all_have_them(self):
        rows = self.rows(self.capture_of_times([(0, b"a"), (1, b"b"), (5, b"c"), (9, b"d")]), "--active", "2s")
        self.assertEqual([row["payload_1"] for row in rows], [b"a".hex()] * len(rows))
        self.assertGreater(len(rows), 1)
        self.assertEqual(rows[-1]["payload_3"], b"c".hex())

    def capture_of_times(self, sent):
        path = self.capture([udp(payload) for _, payload in sent])
        data = bytearray(path.read_bytes())
        at = 24
        for second, payload in sent:
            data[at : at + 4] = second.to_bytes(4, "little")
            at += 16 + len(udp(payload))
        path.write_bytes(data)
        return path

    def test_each_direction_of_a_connection_has_its_own(self):
        def back(payload):
            return udp(payload, (53, 40000), (SERVER, CLIENT))

        packets = [udp(b"q1"), back(b"a1"), back(b"a2"), udp(b"q2")]
        columns = "+first_payloads_2,reverse_first_payloads_3"
        self.assertEqual(self.payloads(packets, "--biflow", columns=columns), [b"q1", b"q2"])
        self.assertEqual(self.payloads(packets, "--biflow", columns=columns, way="reverse_"), [b"a1", b"a2"])
        self.assertEqual(self.payloads(packets[:1], "--biflow", columns=columns, way="reverse_"), [])
        only_back = "+reverse_payload_2,both_iat_max"
        self.assertEqual(self.payloads(packets, "--biflow", columns=only_back, way="reverse_"), [b"a2"])

    def test_every_output_has_the_same_bytes(self):
        draw = random.Random(5)
        packets, sent = [], collections.defaultdict(list)
        for _ in range(3000):
            port = draw.randrange(1000, 1200)
            sent[port].append(draw.randbytes(draw.choice((1, 20, 254, 255, 256, 900))))
            packets.append(udp(sent[port][-1], (port, 53)))
        path = self.capture(packets)
        wanted = {port: [each[:MOST].hex() for each in payloads[:2]] for port, payloads in sent.items()}
        for more in ((), ("--workers", "3"), ("--seed", "7")):
            rows = self.rows(path, *more, columns="+first_payloads_2")
            self.assertEqual({int(row["src_port"]): [row["payload_1"], row["payload_2"]] for row in rows}, wanted)
        ipfix, jsonl = self.folder / "flows.ipfix", self.folder / "flows.jsonl"
        self.rows(path, "--export", f"ipfix:{ipfix}", "--export", f"jsonl:{jsonl}", columns="+first_payloads_2")
        reader = Reader()
        reader.read(ipfix.read_bytes())
        self.assertEqual(reader.types[32473, 441], ("payload_1", 0), "octetArray")
        seen = {
            flow["src_port"]: [flow[name].hex() if name in flow else "" for name in ("payload_1", "payload_2")]
            for flow in reader.flows
        }
        self.assertEqual(seen, wanted)
        lines = [json.loads(line).get("flow") for line in jsonl.read_text().splitlines()]
        self.assertEqual({flow["src_port"]: [flow["payload_1"], flow["payload_2"]] for flow in lines if flow}, wanted)

    def test_where_packets_are_gone_it_is_refused(self):
        path = self.capture([udp(b"x")])
        for options, said in (
            (("--threads", "pipeline"), "payload_1 is read where packets are received"),
            (("--key", "src"), "payload_1 needs flows by their whole key"),
        ):
            done = subprocess.run(
                [test_names.PROGRAM, "watch", "-q", "-r", path, "--columns", "+payload_1", *options],
                capture_output=True,
                text=True,
                timeout=60,
            )
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    @unittest.skipUnless(TRACES.is_dir() and shutil.which("tshark"), "SKIPPED: no PARSHALL_TRACES, or no tshark")
    def test_real_captures_have_what_tshark_says(self):
        compared = 0
        for name in ("nDPI__instagram.pcap", "nDPI__dns.pcap", "nDPI__http-lines-split.pcap"):
            wanted = collections.defaultdict(list)
            packets = collections.Counter()
            for ends, payload in tshark_payloads(TRACES / name):
                packets[ends] += 1
                if payload and packets[ends] <= READ and len(wanted[ends]) < 4:
                    wanted[ends].append(payload[: 2 * MOST])
            for row in self.rows(TRACES / name, columns="+first_payloads_4"):
                ends = tuple(row[column] for column in ("src_ip", "src_port", "dst_ip", "dst_port"))
                if row["protocol"] not in ("6", "17"):
                    continue
                self.assertEqual([row[f"payload_{n}"] for n in range(1, 5) if row[f"payload_{n}"]], wanted[ends], ends)
                compared += len(wanted[ends])
        self.assertGreater(compared, 100)


def tshark_payloads(path):
    """The ends of each packet of TCP and UDP, and its payload in hexadecimal digits."""
    columns = (
        "ip.src",
        "ip.dst",
        "tcp.srcport",
        "tcp.dstport",
        "tcp.payload",
        "udp.srcport",
        "udp.dstport",
        "udp.payload",
    )
    fields = [word for column in columns for word in ("-e", column)]
    command = ["tshark", "-r", path, "-Y", "ip && (tcp || udp) && !icmp", "-T", "fields", *fields]
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        source, destination, *rest = line.split("\t")
        source_port, destination_port, payload = rest[:3] if rest[0] else rest[3:]
        yield (source, source_port, destination, destination_port), payload


if __name__ == "__main__":
    test_names.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
