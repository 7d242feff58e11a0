# SPDX-License-Identifier: Apache-2.0
"""Records to Kafka: what is delivered, and what is told of that which is not. Brokers are librdkafka's own mock ones; examples/warehouse/kafka/end_to_end.py has a
real one.

usage: test_kafka.py PARSHALL PROTO [unittest arguments]
"""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = PROTO = None
TRAFFIC = ["-g", "flows=20000,packets=1000000,ipv6=0.3", "--count", "200k", "--idle", "1ms"]


class Kafka(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def mock(self, *more):
        path = self.folder / "kafka.conf"
        path.write_text("\n".join(["# brokers that are not there", "test.mock.num.brokers=3", *more]) + "\n")
        return f"config={path}"

    def watch(self, target, status=0):
        done = subprocess.run([PROGRAM, "watch", "-q", *TRAFFIC, "--format", "json", "--top", "1", "--export", f"kafka:{target}"], capture_output=True, text=True,
                              timeout=120, check=False)
        if "built without Kafka" in done.stderr:
            self.skipTest("SKIPPED: built without Kafka")
        self.assertEqual(done.returncode, status, done.stderr)
        if status:
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            return done.stderr
        summary = json.loads(done.stdout)["summary"]
        output = next(output for output in summary["outputs"] if output["name"].startswith("kafka:"))
        for unit in ("records", "packets"):
            self.assertEqual(output["offered"][unit], output["written"][unit] + output["dropped"][unit], "nothing waits in the end")
        self.assertEqual(output["offered"]["packets"], summary["accounting"]["counted"])
        return output

    def test_all_is_delivered(self):
        for options in (("batch=1000",), ("format=json", "compression=lz4"), ("batch=7", "compression=none")):
            output = self.watch(",".join(["mock/flows", *options, self.mock()]))
            self.assertEqual(output["dropped"]["records"], 0, options)
            self.assertGreater(output["written"]["records"], 1000)

    def test_what_no_broker_takes_in_time_is_lost_and_told(self):
        """Brokers answer after 300 ms, and no message may take more than one."""
        output = self.watch(f"mock/flows,{self.mock('test.mock.broker.rtt=300', 'linger.ms=0', 'message.timeout.ms=1')}")
        self.assertEqual(output["written"]["records"], 0)
        self.assertGreater(output["dropped"]["records"], 1000)

    def test_what_is_wrong_is_told_at_the_start(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        began = time.monotonic()
        self.assertIn(f"cannot reach any broker of 127.0.0.1:{port}", self.watch(f"127.0.0.1:{port}/flows", status=1))
        self.assertLess(time.monotonic() - began, 15)
        for target, said in (("127.0.0.1:9092", "give HOST:PORT/TOPIC"), ("x/flows,format=xml", "format=xml: protobuf"), ("x/flows,batch=0", "batch=0: records"),
                             ("x/flows,config=/absent", "config=/absent: No such file"), (f"x/flows,{self.mock('no.such=1')}", "line 3: ")):
            self.assertIn(said, self.watch(target, status=1))

    def test_the_schema_has_every_field_once(self):
        text = pathlib.Path(PROTO).read_text()
        numbers = [int(number) for number in re.findall(r"= (\d+);", text)]
        self.assertEqual(len(numbers), len(set(numbers)))
        source = (pathlib.Path(__file__).resolve().parents[2] / "src/pipeline/output/kafka/flow_message.cpp").read_text()
        wanted = {int(number) for number in re.findall(r'\{"\w+", (\d+)\}', source)} | {1, 3, 4, 30, 110}
        self.assertEqual(set(numbers), wanted)


if __name__ == "__main__":
    PROGRAM, PROTO = os.path.abspath(sys.argv.pop(1)), sys.argv.pop(1)
    unittest.main()
