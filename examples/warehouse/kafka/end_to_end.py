#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A broker, a monitor that fills a topic, two consumers with a ClickHouse engine each, and whether all that was seen
has arrived: on this machine alone.

usage: end_to_end.py PARSHALL FOLDER [--packets N] [--kill-broker]

Takes Java 17 and Maven (Kafka 4.1 comes from there), and Python's confluent-kafka and chdb-core, which it installs into
FOLDER/venv. With --kill-broker the broker is killed while records come, and started again: what is missing then is what
the account says was not sent. FOLDER keeps what was installed; what was in it of a run before goes.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.1.0</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency></dependencies></project>"""  # noqa: E501
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
COLUMNS = {
    "probe": "String",
    "run": "String",
    "sequence_num": "UInt32",
    "time_received_ns": "UInt64",
    "time_flow_start_ns": "UInt64",
    "time_flow_end_ns": "UInt64",
    "src_addr": "IPv6",
    "dst_addr": "IPv6",
    "src_port": "UInt32",
    "dst_port": "UInt32",
    "proto": "UInt32",
    "tcp_flags": "UInt32",
    "end_reason": "UInt32",
    "packets": "UInt64",
    "bytes": "UInt64",
    "reverse_packets": "UInt64",
    "reverse_ip_bytes": "UInt64",
    "flow_id": "UInt64",
    "record": "UInt32",
    "exact": "Bool",
}
ROW = ", ".join(
    f"fromUnixTimestamp64Nano(toInt64({name}), 'UTC')" if name.startswith("time_") else name for name in COLUMNS
)
STRUCTURE = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())


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
            subprocess.run(
                [
                    "mvn",
                    "-q",
                    "-B",
                    "-f",
                    folder / "pom.xml",
                    "dependency:copy-dependencies",
                    f"-DoutputDirectory={self.libraries}",
                ],
                check=True,
            )
        for old in [folder / "data", folder / "all", *folder.glob("shard*")]:
            shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
        (folder / "server.properties").write_text(SERVER.format(port=self.port, controller=free_port(), folder=folder))
        subprocess.run(
            self.java(
                "kafka.tools.StorageTool",
                "format",
                "-t",
                "AAAAAAAAAAAAAAAAAAAAAQ",
                "-c",
                folder / "server.properties",
                "--ignore-formatted",
            ),
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.start()

    def java(self, *words):
        return ["java", "-Xmx512m", "-cp", f"{self.libraries}/*", *map(str, words)]

    def start(self):
        self.process = subprocess.Popen(
            self.java("kafka.Kafka", self.folder / "server.properties"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
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


def warehouse(path):
    """A ClickHouse engine of that folder, with the tables. Nothing in them goes because it is old: built-in traffic is
    of 2020."""
    from chdb import session

    engine = session.Session(str(path))
    engine.query("CREATE DATABASE IF NOT EXISTS d")
    engine.query("USE d")
    text = "\n".join(line for line in (HERE / "clickhouse.sql").read_text().splitlines() if not line.startswith("--"))
    for statement in re.sub(r" TTL [^;]*? \+ INTERVAL \d+ \w+", "", text).split(";"):
        if statement.strip():
            engine.query(statement)
    return engine


def consume(folder, number, port):
    """One of the group: what comes goes into a ClickHouse of its own; offsets are committed behind that, so that what
    comes twice replaces itself."""
    from confluent_kafka import Consumer

    engine = warehouse(folder / f"shard{number}")
    consumer = Consumer(
        {
            "bootstrap.servers": f"127.0.0.1:{port}",
            "group.id": "clickhouse",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
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
        if messages:  # one behind the other they are one
            path.write_bytes(b"".join(message.value() for message in messages))
            engine.query(
                f"INSERT INTO flows SELECT {ROW} FROM file('{path}', 'Protobuf', '{STRUCTURE}') SETTINGS "
                f"format_schema='{HERE / 'flow.proto'}:FlowMessage'"
            )
            consumer.commit(asynchronous=False)
    consumer.close()
    print(
        f"shard {number}:",
        str(engine.query("SELECT count(), sum(packets) FROM flows FINAL", "CSV")).strip(),
        "records, packets",
    )
    engine.query(f"INSERT INTO FUNCTION file('{folder}/shard{number}.parquet', 'Parquet') SELECT * FROM flows FINAL")


def account_of(port):
    """As it came."""
    from confluent_kafka import Consumer

    consumer = Consumer(
        {"bootstrap.servers": f"127.0.0.1:{port}", "group.id": "account", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["flows-accounting"])
    for _ in range(60):
        for message in consumer.consume(10, 1.0):
            if not message.error():
                consumer.close()
                return message.value().decode()
    sys.exit("there is no account")


def adds_up(folder, account):
    """What the view of that name says of both shards together, as a dictionary; and what the minutes have."""
    engine = warehouse(folder / "all")
    engine.query(f"INSERT INTO flows SELECT * FROM file('{folder}/shard*.parquet', 'Parquet')")
    (folder / "account.json").write_text(account)
    engine.query(
        f"INSERT INTO accounting (probe, run, summary) SELECT JSONExtractString(summary, 'probe'), "
        f"JSONExtractString(summary, 'run'), summary "
        f"FROM file('{folder}/account.json', 'RawBLOB', 'summary String')"
    )
    (row,) = json.loads(str(engine.query("SELECT * FROM adds_up", "JSON")))["data"]
    minutes = int(str(engine.query("SELECT sum(packets) FROM flows_by_minute", "CSV")))
    return {name: value if name in ("probe", "run") else int(value) for name, value in row.items()}, minutes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parshall")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--packets", type=int, default=400_000, help="of which there are half as many records")
    parser.add_argument("--kill-broker", action="store_true")
    parser.add_argument("--consume", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if options.consume:
        return consume(folder, *options.consume)
    if not os.environ.get("IN_VENV"):
        python = subprocess.run(
            [HERE.parents[2] / "tools/readers.sh", folder / "venv", "confluent-kafka", "chdb-core"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        os.execve(python, [python, *sys.argv], {**os.environ, "IN_VENV": "1"})
    broker = Broker(folder)
    try:
        pace = f",pace={options.packets // 20}" if options.kill_broker else ""
        began = time.monotonic()
        monitor = subprocess.Popen(
            [
                options.parshall,
                "watch",
                "-q",
                "-g",
                f"flows=20000,packets=1000000,ipv6=0.3{pace}",
                "--count",
                str(options.packets),
                "--flows",
                "64Ki",
                "--idle",
                "1ms",
                "--columns",
                "+identity",
                "--format",
                "json",
                "--top",
                "1",
                "--export",
                f"kafka:127.0.0.1:{broker.port}/flows,wait=60s",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        if options.kill_broker:
            time.sleep(6)
            broker.kill()
            print("the broker was killed")
            time.sleep(3)
            broker.start()
            print("and started again")
        report = json.loads(monitor.communicate(timeout=300)[0])["summary"]
        print(f"the monitor took {time.monotonic() - began:.1f} s")
        consumers = [
            subprocess.Popen(
                [sys.executable, __file__, options.parshall, folder, "--consume", str(number), str(broker.port)]
            )
            for number in (1, 2)
        ]
        if any(consumer.wait() for consumer in consumers):
            sys.exit("a consumer failed")
        account = account_of(broker.port)
    finally:
        broker.stop()
    row, minutes = adds_up(folder, account)
    print(
        f"account: {row['counted']} packets in flows, {row['offered']} offered = {row['offered'] - row['not_sent']} "
        f"delivered + {row['not_sent']} not sent"
    )
    print(f"here:    {row['here']} packets; by minute {minutes}")
    accounting = json.loads(account)["accounting"]
    if (
        not accounting["balanced"]
        or accounting != report["accounting"]
        or not row["counted"] == row["offered"] == options.packets
        or minutes != row["here"]
    ):
        sys.exit("WRONG: the account is another one than the report's")
    if row["missing"] > 0:
        sys.exit(f"WRONG: {row['missing']} packets are missing that nobody knows of")
    print(
        "equal, to the packet"
        if row["missing"] == 0
        else f"{-row['missing']} packets arrived of which no broker had told"
    )


if __name__ == "__main__":
    main()
