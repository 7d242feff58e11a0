# SPDX-License-Identifier: Apache-2.0
"""Records to Kafka: what arrives is what CSV has, and what does not arrive is told. Brokers are one of our own, and
librdkafka's mock ones for how it compresses.

usage: test_kafka.py PARSHALL PROTO [unittest arguments]
With PARSHALL_THOROUGH, Java and Maven examples/warehouse/kafka/end_to_end.py, too, which has a real broker.
"""

import csv
import ipaddress
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from kafka_broker import Broker

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "live"))
import side_by_side

PROGRAM = PROTO = None
TRAFFIC = [
    "-g",
    "flows=20000,packets=1000000,ipv6=0.3",
    "--count",
    "200k" if side_by_side.is_thorough() else "60k",
    "--idle",
    "1ms",
]
FEW = [*TRAFFIC[:2], "--count", "40k" if side_by_side.is_thorough() else "20k", *TRAFFIC[4:]]
PACED = ["-g", "flows=20000,packets=1000000,pace=15000", "--duration", "4s", "--idle", "10ms", "--flows", "8Ki"]
COLUMN = {
    "src_addr": "src_ip",
    "dst_addr": "dst_ip",
    "bytes": "ip_bytes",
    "proto": "protocol",
    "ip_ttl": "ttl_min",
    "vlan_id": "vlan",
    "time_flow_start_ns": "first_seen_ns",
    "time_flow_end_ns": "last_seen_ns",
}
END_REASONS = {"idle": 1, "active": 2, "end_of_flow": 3, "forced": 4, "evicted": 5}  # RFC 5102


class FlowMessages:
    """Reads what is written, by the schema."""

    def __init__(self, text):
        self.fields = {
            int(number): (kind, name)
            for kind, name, number in re.findall(r"^ +(\w+) (\w+) = (\d+);", text, re.MULTILINE)
        }

    @staticmethod
    def varint(data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                return value, at

    def read(self, data):
        """Records of one message, as dictionaries."""
        records, at = [], 0
        while at < len(data):
            length, at = self.varint(data, at)
            records.append(self.record(data[at : at + length]))
            at += length
        assert at == len(data)
        return records

    def record(self, data):
        record, at = {}, 0
        while at < len(data):
            tag, at = self.varint(data, at)
            kind, name = self.fields[tag >> 3]
            assert name not in record, name
            wire = {"double": 1, "bytes": 2, "string": 2}.get(kind, 0)
            assert wire == tag & 7, name
            if wire == 0:
                record[name], at = self.varint(data, at)
            else:
                length, at = (8, at) if wire == 1 else self.varint(data, at)
                value, at = data[at : at + length], at + length
                record[name] = (
                    struct.unpack("<d", value)[0] if wire == 1 else value.decode() if kind == "string" else value
                )
        return record


class KafkaTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def mock(self, *more, mocks=3):
        path = self.folder / "kafka.conf"
        path.write_text("\n".join(["# brokers that are not there", f"test.mock.num.brokers={mocks}", *more]) + "\n")
        return f"config={path}"

    def watch(self, target, *more, traffic=tuple(TRAFFIC), status=0):
        done = subprocess.run(
            [
                PROGRAM,
                "watch",
                "-q",
                *traffic,
                "--format",
                "json",
                "--top",
                "1",
                "--export",
                f"csv:{self.folder / 'flows.csv'}",
                "--export",
                f"kafka:{target}",
                *more,
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if "built without Kafka" in done.stderr:
            self.assertIn("install librdkafka-dev", done.stderr)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
            self.skipTest("SKIPPED: built without Kafka")
        self.said = done.stderr
        self.assertEqual(done.returncode, status, done.stderr)
        if not done.stdout:
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            return done.stderr
        self.summary = summary = json.loads(done.stdout)["summary"]
        output = next(output for output in summary["outputs"] if output["name"].startswith("kafka:"))
        for unit in ("records", "packets"):
            self.assertEqual(
                output["offered"][unit], output["written"][unit] + output["dropped"][unit], "nothing waits in the end"
            )
        self.assertEqual(output["offered"]["packets"], summary["accounting"]["counted"])
        return output

    def rows(self):
        with open(self.folder / "flows.csv", newline="") as file:
            return list(csv.DictReader(file))

    def broker(self, **how):
        broker = Broker(**how)
        self.addCleanup(broker.stop)
        return broker


class Records(KafkaTest):
    """Of a broker that takes all."""

    def assert_is_row(self, record, row):
        for name, text in row.items():
            if text == "":
                self.assertNotIn(name, record)
                continue
            value = record[name]
            if isinstance(value, bytes):
                address = ipaddress.IPv6Address(value)
                value = str(address.ipv4_mapped or address)
            if isinstance(value, float):
                self.assertAlmostEqual(value, float(text), delta=1e-9 * abs(float(text)), msg=name)
            else:
                self.assertEqual(
                    str(value),
                    {"true": "1", "false": "0"}.get(text, str(END_REASONS[text]) if name == "end_reason" else text),
                    name,
                )

    def test_a_topic_has_what_csv_has(self):
        broker, schema = self.broker(), FlowMessages(pathlib.Path(PROTO).read_text())
        self.watch(
            f'127.0.0.1:{broker.port}/flows,compression=none,batch=100,probe=edge "1"',
            "--columns",
            "all,iat_p50,size_p99,iat_p10",
            traffic=FEW,
        )
        (output,) = [one for one in self.summary["outputs"] if one["name"].startswith("kafka:")]
        self.assertEqual(output["left_out"], ["iat_p10_ns"])
        self.assertIn("lacks iat_p10_ns\n", self.said)
        messages = [schema.read(value) for value in broker.values("flows")]
        self.assertEqual(max(map(len, messages)), 100)
        records = sorted(
            (record for message in messages for record in message), key=lambda record: record["sequence_num"]
        )
        rows = self.rows()
        self.assertEqual([record["sequence_num"] for record in records], list(range(len(rows))))
        known = {COLUMN.get(name, name) for _, name in schema.fields.values()}
        for record, row in zip(records, rows):
            self.assertEqual(
                (record["type"], record["sampling_rate"], record["etype"]),
                (4, 1, {"4": 0x0800, "6": 0x86DD}[row["ip_version"]]),
            )
            self.assertEqual((record["probe"], record["run"]), ('edge "1"', records[0]["run"]))
            self.assertLess(abs(record["time_received_ns"] / 1e9 - time.time()), 120)
            self.assertEqual({len(record[name]) for name in ("src_addr", "dst_addr")}, {16})
            self.assert_is_row(
                {COLUMN.get(name, name): value for name, value in record.items()},
                {name: text for name, text in row.items() if name in known},
            )
        self.assertGreater(len(known & set(rows[0])), 30)
        self.assertEqual({row["ip_version"] for row in rows}, {"4", "6"})

    def test_json_has_what_csv_has(self):
        broker = self.broker()
        self.watch(
            f'127.0.0.1:{broker.port}/flows,format=json,compression=gzip,probe=edge "1"',
            "--columns",
            "+identity",
            traffic=FEW,
        )
        lines = [line for value in broker.values("flows") for line in value.decode().splitlines()]
        wanted = {(row["flow_id"], row["record"]): row for row in self.rows()}
        self.assertEqual(len(lines), len(wanted))
        runs = [json.loads(value)["run"] for value in broker.values("flows-accounting")]
        for line in lines:
            flow = json.loads(line)
            self.assertEqual((flow["probe"], flow["run"]), ('edge "1"', runs[0]))
            row = wanted[str(flow["flow_id"]), str(flow["record"])]
            self.assertEqual(
                row,
                {name: str(flow[name]).lower() if isinstance(flow[name], bool) else str(flow[name]) for name in row},
            )

    def test_the_account_is_in_a_topic_of_its_own(self):
        broker = self.broker()
        output = self.watch(f"127.0.0.1:{broker.port}/flows,compression=none")
        ((key, value),) = broker.topics["flows-accounting"]
        self.assertEqual(key.decode(), socket.gethostname())
        account = json.loads(value)
        self.assertEqual(account["probe"], socket.gethostname())
        self.assertEqual(
            {
                record["run"]
                for each in broker.values("flows")
                for record in FlowMessages(pathlib.Path(PROTO).read_text()).read(each)
            },
            {account["run"]},
        )
        self.assertEqual(account["accounting"], self.summary["accounting"])
        self.assertEqual(next(each for each in account["outputs"] if each["name"] == account["output"]), output)

    def test_no_message_is_longer_than_a_broker_takes(self):
        """As it comes, with room for a megabyte; ten thousand of these records take several."""
        broker = self.broker()
        output = self.watch(
            f"127.0.0.1:{broker.port}/flows,format=json,compression=none,batch=10000", "--columns", "all"
        )
        self.assertEqual((broker.refused, output["dropped"]["records"]), (0, 0))
        self.assertGreater(max(map(len, broker.values("flows"))), 500_000)


class Faults(KafkaTest):
    def during(self, broker, *steps):
        """Each a time, and what is done then; the first is counted from the first message that the broker has."""

        def play():
            until = time.monotonic() + 30
            while not broker.topics and time.monotonic() < until:
                time.sleep(0.01)
            for seconds, step in steps:
                time.sleep(seconds)
                step()

        thread = threading.Thread(target=play)
        thread.start()
        self.addCleanup(thread.join)

    def packets(self, broker):
        schema = FlowMessages(pathlib.Path(PROTO).read_text())
        return sum(record["packets"] for value in broker.values("flows") for record in schema.read(value))

    def test_a_broker_that_comes_back_gets_all(self):
        broker = self.broker()
        self.during(broker, (1.5, broker.stop), (1, broker.start))
        output = self.watch(f"127.0.0.1:{broker.port}/flows,compression=none", traffic=PACED)
        self.assertEqual(output["dropped"]["records"], 0)
        self.assertEqual(self.packets(broker), self.summary["accounting"]["counted"])
        self.assertEqual(len(broker.topics["flows-accounting"]), 1)
        self.assertIn("127.0.0.1", self.said)

    def test_what_a_broker_that_stays_away_did_not_take_is_lost_and_told(self):
        broker = self.broker()
        self.during(broker, (2, broker.stop))
        began = time.monotonic()
        output = self.watch(f"127.0.0.1:{broker.port}/flows,compression=none,wait=1s", traffic=PACED, status=1)
        self.assertLess(time.monotonic() - began, 30)
        arrived = self.packets(broker)
        self.assertGreater(output["dropped"]["packets"], 0.2 * output["offered"]["packets"])
        self.assertLessEqual(output["written"]["packets"], arrived)  # the answer to the last ones may not have come
        self.assertLess(arrived - output["written"]["packets"], 0.05 * output["offered"]["packets"])
        self.assertIn("the account did not get to flows-accounting", self.said)

    def test_a_topic_that_may_not_be_written_to(self):
        broker = self.broker(forbidden="flows")
        output = self.watch(f"127.0.0.1:{broker.port}/flows,compression=none", traffic=FEW)
        self.assertEqual(output["written"]["records"], 0)
        self.assertIn("Topic authorization failed", self.said)
        broker = self.broker(forbidden="flows-accounting")
        output = self.watch(f"127.0.0.1:{broker.port}/flows,compression=none", traffic=FEW, status=1)
        self.assertEqual(self.packets(broker), output["written"]["packets"])
        self.assertEqual(output["dropped"]["records"], 0)
        self.assertIn("the account did not get to flows-accounting: Broker: Topic authorization failed", self.said)

    def test_what_finds_no_room_is_lost_and_told(self):
        broker = self.broker()
        self.during(broker, (1.5, broker.stop), (1.5, broker.start))
        output = self.watch(
            f"127.0.0.1:{broker.port}/flows,compression=none,{self.mock('queue.buffering.max.kbytes=500', mocks=0)}",
            traffic=PACED,
        )
        self.assertGreater(output["dropped"]["records"], 0)
        self.assertEqual(self.packets(broker), output["written"]["packets"])
        self.assertRegex(self.said, r"records? \(\d+ packets?\) dropped so far|is counted and dropped")

    def test_all_is_delivered(self):
        for options in (("batch=1000",), ("format=json", "compression=lz4"), ("batch=7", "compression=none")):
            output = self.watch(",".join(["mock/flows", *options, self.mock()]))
            self.assertEqual(output["dropped"]["records"], 0, options)
            self.assertGreater(output["written"]["records"], 1000)

    def test_what_no_broker_takes_in_time_is_lost_and_told(self):
        """Brokers answer after a second, and no message may take more than 1 ms; an answer that is there when somebody
        looks counts all the same."""
        output = self.watch(
            f"mock/flows,{self.mock('test.mock.broker.rtt=1000', 'linger.ms=0', 'message.timeout.ms=1')}", status=1
        )
        self.assertGreater(output["dropped"]["records"], 1000)
        self.assertIn("the account did not get to flows-accounting: Local: Message timed out", self.said)

    def test_what_is_wrong_is_told_at_the_start(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        began = time.monotonic()
        said = self.watch(f"127.0.0.1:{port}/flows", status=1)
        self.assertIn(f"cannot reach any broker of 127.0.0.1:{port}: ", said)
        self.assertIn("Connection refused", said)
        self.assertLess(time.monotonic() - began, 15)
        self.assertIn("Failed to resolve", self.watch("no.such.host.invalid:9092/flows", status=1))
        for target, said, status in (
            ("127.0.0.1:9092", "give HOST:PORT/TOPIC", 2),
            ("x/flows,format=xml", "format=xml: protobuf", 2),
            ("x/flows,batch=0", "batch=0: records", 2),
            ("x/flows,config=/absent", "config=/absent: No such file", 1),
            (f"x/flows,{self.mock('no.such=1')}", "line 3: ", 1),
        ):
            self.assertIn(said, self.watch(target, status=status))

    def test_the_schema_has_every_field_once(self):
        text = pathlib.Path(PROTO).read_text()
        numbers = [int(number) for number in re.findall(r"= (\d+);", text)]
        self.assertEqual(len(numbers), len(set(numbers)))
        source = (
            pathlib.Path(__file__).resolve().parents[2] / "src/pipeline/output/kafka/flow_message.cpp"
        ).read_text()
        wanted = {int(number) for number in re.findall(r'\{"\w+", (\d+)\}', source)} | {1, 3, 4, 30, 110, 2033, 2034}
        self.assertEqual(set(numbers), wanted)

    @side_by_side.alone  # in a network of its own there is nothing to install from
    @side_by_side.thorough
    def test_a_real_broker_and_the_warehouse_behind_it(self):
        if not shutil.which("mvn") or not shutil.which("java"):
            self.skipTest("SKIPPED: Kafka takes Java and Maven")
        example = pathlib.Path(PROTO).parent / "end_to_end.py"
        for more, said in (((), "equal, to the packet"), (("--kill-broker",), "packets in flows, ")):
            done = subprocess.run(
                [sys.executable, example, PROGRAM, self.folder / "".join(["end_to_end", *more]), *more],
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(said, done.stdout)


if __name__ == "__main__":
    PROGRAM, PROTO = os.path.abspath(sys.argv.pop(1)), sys.argv.pop(1)
    os.environ.pop("PARSHALL_CONFIG", None)
    side_by_side.main(PROGRAM, PROTO)
