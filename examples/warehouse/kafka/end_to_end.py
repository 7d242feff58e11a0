#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A broker, a monitor that fills a topic, two consumers with a ClickHouse engine each, and whether all that was seen has arrived: on this machine alone.

usage: end_to_end.py PARSHALL FOLDER [--records N] [--kill-broker]

Takes Java 17 and Maven (Kafka 4.1 comes from there), and Python's confluent-kafka and chdb-core, which it installs into FOLDER/venv. With --kill-broker
the broker is killed while records come, and started again: what is missing then is what the account says was not sent.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.1.0</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency></dependencies></project>"""
SERVER = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
num.partitions=4
"""
COLUMNS = ("time_received_ns UInt64, time_flow_start_ns UInt64, time_flow_end_ns UInt64, src_addr IPv6, dst_addr IPv6, src_port UInt32, dst_port UInt32, proto UInt32, "
           "tcp_flags UInt32, end_reason UInt32, packets UInt64, bytes UInt64, flow_id UInt64, record UInt32, exact Bool")
TIMES = ", ".join(f"fromUnixTimestamp64Nano(toInt64({name}), 'UTC')" for name in ("time_received_ns", "time_flow_start_ns", "time_flow_end_ns"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Broker:
    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.libraries = folder / "lib"
        if not self.libraries.exists():
            (folder / "pom.xml").write_text(POM)
            subprocess.run(["mvn", "-q", "-B", "-f", folder / "pom.xml", "dependency:copy-dependencies", f"-DoutputDirectory={self.libraries}"], check=True)
        (folder / "server.properties").write_text(SERVER.format(port=self.port, controller=free_port(), folder=folder))
        subprocess.run(self.java("kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", folder / "server.properties", "--ignore-formatted"),
                       check=True, stdout=subprocess.DEVNULL)
        self.start()

    def java(self, *words):
        return ["java", "-Xmx512m", "-cp", f"{self.libraries}/*", *map(str, words)]

    def start(self):
        self.process = subprocess.Popen(self.java("kafka.Kafka", self.folder / "server.properties"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        sys.exit("the broker does not start")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait()


def consume(folder, number, port):
    """One of the group: what comes goes into a ClickHouse of its own; offsets are committed behind that, so that what comes twice replaces itself."""
    from chdb import session
    from confluent_kafka import Consumer
    engine = session.Session(str(folder / f"shard{number}"))
    engine.query("CREATE DATABASE IF NOT EXISTS d")
    for statement in statements():
        engine.query(statement.replace("EXISTS ", "EXISTS d.", 1).replace(" TO flows", " TO d.flows").replace(" FROM flows", " FROM d.flows").replace("FROM accounting", "FROM d.accounting"))
    consumer = Consumer({"bootstrap.servers": f"127.0.0.1:{port}", "group.id": "clickhouse", "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe(["flows"])
    idle, path = 0, folder / f"batch{number}.pb"
    while idle < 15:
        messages = []
        for message in consumer.consume(200, 1.0):
            if message.error():
                print(f"shard {number}: {message.error()}")
            else:
                messages.append(message)
        idle = 0 if messages else idle + 1
        for message in messages:
            path.write_bytes(message.value())
            engine.query(f"INSERT INTO d.flows SELECT {TIMES}, src_addr, dst_addr, src_port, dst_port, proto, tcp_flags, end_reason, packets, bytes, flow_id, record, exact, "
                         f"{message.partition()}, {message.offset()}, rowNumberInAllBlocks() FROM file('{path}', 'Protobuf', '{COLUMNS}') "
                         f"SETTINGS format_schema='{HERE / 'flow.proto'}:FlowMessage', max_threads=1")
        if messages:
            consumer.commit(asynchronous=False)
    consumer.close()
    text = str(engine.query("SELECT count(), sum(packets), sum(bytes) FROM d.flows FINAL", "CSV")).strip()
    minutes = str(engine.query("SELECT sum(records), sum(packets) FROM d.flows_by_minute", "CSV")).strip()
    print(f"shard {number}: {text} records, packets, bytes; by minute {minutes}")
    (folder / f"sums{number}.json").write_text(json.dumps([int(each or 0) for each in text.split(",")]))


def statements():
    """Without what has old records go: built-in traffic is of 2020."""
    text = "\n".join(line for line in (HERE / "clickhouse.sql").read_text().splitlines() if not line.startswith("--"))
    text = re.sub(r" TTL [^;]*? \+ INTERVAL \d+ \w+", "", text)
    return [each for each in (part.strip() for part in text.split(";")) if each and "adds_up" not in each]


def account_of(port):
    from confluent_kafka import Consumer
    consumer = Consumer({"bootstrap.servers": f"127.0.0.1:{port}", "group.id": "account", "auto.offset.reset": "earliest"})
    consumer.subscribe(["flows-accounting"])
    for _ in range(60):
        for message in consumer.consume(10, 1.0):
            if not message.error():
                consumer.close()
                return json.loads(message.value())
    sys.exit("there is no account")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parshall")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--kill-broker", action="store_true")
    parser.add_argument("--consume", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if options.consume:
        return consume(folder, *options.consume)
    if not os.environ.get("IN_VENV"):
        python = subprocess.run([HERE.parents[2] / "tools/readers.sh", folder / "venv", "confluent-kafka", "chdb-core"], check=True, capture_output=True, text=True).stdout.strip()
        os.execve(python, [python, *sys.argv], {**os.environ, "IN_VENV": "1"})
    broker = Broker(folder)
    try:
        packets = 2 * options.records
        pace = ["--duration", "20s"] if options.kill_broker else ["--count", str(packets)]
        speed = f",pace={packets // 20}" if options.kill_broker else ""
        began = time.monotonic()
        monitor = subprocess.Popen([options.parshall, "watch", "-q", "-g", f"dist=trains:2,packets={max(packets, 1 << 20)}{speed}", *pace, "--flows", "64Ki", "--idle", "1ms",
                                    "--columns", "identity", "--format", "json", "--top", "1", "--export", f"kafka:127.0.0.1:{broker.port}/flows,wait=60s"],
                                   stdout=subprocess.PIPE, text=True)
        if options.kill_broker:
            time.sleep(6)
            broker.kill()
            print("the broker was killed")
            time.sleep(3)
            broker.start()
            print("and started again")
        report = json.loads(monitor.communicate(timeout=300)[0])["summary"]
        print(f"the monitor took {time.monotonic() - began:.1f} s")
        consumers = [subprocess.Popen([sys.executable, __file__, options.parshall, folder, "--consume", str(number), str(broker.port)]) for number in (1, 2)]
        if any(consumer.wait() for consumer in consumers):
            sys.exit("a consumer failed")
        account = account_of(broker.port)
    finally:
        broker.stop()
    records, packets, octets = (sum(sums) for sums in zip(*(json.loads((folder / f"sums{number}.json").read_text()) for number in (1, 2))))
    output = next(output for output in account["outputs"] if output["name"].startswith("kafka:"))
    counted = account["accounting"]["live_flow_packets"] + account["accounting"]["ended_record_packets"]
    print(f"arrived: {records} records, {packets} packets, {octets} bytes")
    print(f"account: {counted} packets in flows = {output['written']['packets']} delivered + {output['dropped']['packets']} not sent")
    assert report["accounting"]["balanced"] and account["accounting"] == report["accounting"]
    if (packets, records) == (output["written"]["packets"], output["written"]["records"]) and counted == packets + output["dropped"]["packets"]:
        print("equal, to the packet")
    elif packets > output["written"]["packets"]:
        print(f"{packets - output['written']['packets']} packets arrived of which no broker had told")
    else:
        sys.exit("WRONG: packets are missing that nobody knows of")


if __name__ == "__main__":
    main()
