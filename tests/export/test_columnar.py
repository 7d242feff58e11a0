# SPDX-License-Identifier: Apache-2.0
"""Records as Parquet and Arrow: the same as in CSV, to the ns, by whoever reads them; files that are whole or not
there; and an account that adds up.

usage: test_columnar.py PARSHALL [unittest arguments]
Reads with pyarrow, DuckDB, polars and chdb, each where it is installed (tools/readers.sh installs them), and Spark
likewise (pyspark, and Java); without any, what `parshall verify` reads is compared.
"""

import csv
import importlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "live"))
from side_by_side import is_thorough, thorough

PROGRAM = None
TRAFFIC = ["-g", "flows=20000,packets=1000000,ipv6=0.3", "--count", "200k" if is_thorough() else "50k", "--idle", "1ms"]
COLUMNS = "+all,rate"


def reader(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class ColumnarTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.flows = self.folder / "flows"

    def watch(self, *arguments, traffic=tuple(TRAFFIC), before=()):
        done = subprocess.run(
            [
                *before,
                PROGRAM,
                "watch",
                "-q",
                *traffic,
                "--columns",
                COLUMNS,
                "--format",
                "json",
                "--top",
                "1",
                "--export",
                f"csv:{self.folder / 'flows.csv'}",
                *arguments,
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)["summary"]
        self.assertTrue(summary["accounting"]["balanced"])
        return summary

    def output(self, summary, kind):
        output = next(output for output in summary["outputs"] if output["name"].startswith(kind + ":"))
        for unit in ("records", "packets"):
            self.assertEqual(
                output["offered"][unit], output["written"][unit] + output["dropped"][unit], "nothing waits in the end"
            )
        self.assertEqual(output["offered"]["packets"], summary["accounting"]["counted"])
        return output

    def verify(self, *paths):
        done = subprocess.run(
            [PROGRAM, "verify", *map(str, paths)], capture_output=True, text=True, timeout=120, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def rows(self):
        with open(self.folder / "flows.csv", newline="") as file:
            return list(csv.DictReader(file))

    def assert_same(self, records):
        """Of records as dictionaries, whose times are ns."""
        rows = {(row["flow_id"], row["record"]): row for row in self.rows()}
        self.assertEqual(len(rows), len(records))
        for record in records:
            row = rows[str(record["flow_id"]), str(record["record"])]
            for name, text in row.items():
                value = record[
                    name.removesuffix("_ns")
                    if name in ("first_seen_ns", "last_seen_ns", "flow_first_seen_ns")
                    else name
                ]
                if text == "":
                    self.assertIsNone(value, name)
                elif isinstance(value, bool):
                    self.assertEqual(text, str(value).lower(), name)
                elif isinstance(value, float):
                    self.assertAlmostEqual(value, float(text), delta=1e-6 * abs(float(text)), msg=name)
                else:
                    self.assertEqual(str(value), text, name)

    @staticmethod
    def records_of(table):
        """Of pyarrow's: timestamps as the integers that they are."""
        pyarrow = reader("pyarrow")
        columns = {}
        for field in table.schema:
            column = table[field.name]
            if pyarrow.types.is_timestamp(field.type):
                column = column.cast(pyarrow.int64())
            columns[field.name] = column.to_pylist()
        return [dict(zip(columns, values)) for values in zip(*columns.values())]


class Parquet(ColumnarTest):
    def export(self, *options, **more):
        return self.watch("--export", ",".join([f"parquet:{self.flows}", *options]), **more)

    def files(self):
        return sorted(path for path in self.flows.rglob("flows-*.parquet"))

    def test_all_is_there_and_adds_up(self):
        summary = self.export("every=100ms", "probe=here")
        output = self.output(summary, "parquet")
        self.assertEqual(output["dropped"]["records"], 0)
        status, said = self.verify(self.flows)
        self.assertEqual(status, 0, said)
        self.assertIn("it adds up", said)
        self.assertIn(f"{output['written']['records']} records of {output['written']['packets']} packets", said)
        self.assertEqual(list(self.flows.rglob("*.part")), [])
        for path in self.files():
            self.assertRegex(
                str(path.relative_to(self.flows)), r"^date=\d{4}-\d\d-\d\d/hour=\d\d/flows-[0-9a-f]{16}-\d{6}\.parquet$"
            )

    def test_pyarrow_reads_what_csv_has(self):
        if not reader("pyarrow"):
            print("SKIPPED pyarrow is not installed")
            return
        parquet = importlib.import_module("pyarrow.parquet")
        self.export("partition=none", "size=1M")
        tables = [parquet.read_table(path, partitioning=None) for path in self.files()]
        records = [record for table in tables for record in self.records_of(table)]
        self.assert_same(records)
        self.assertEqual(sorted(record["export_sequence"] for record in records), list(range(len(records))))
        for path in self.files():
            file = parquet.ParquetFile(path)
            metadata = file.metadata
            for group in range(metadata.num_row_groups):
                for index in range(metadata.num_columns):
                    self.assert_bounds(
                        file, metadata.row_group(group).column(index), group, file.schema_arrow.field(index)
                    )
        (account,) = self.flows.glob("_accounting/*.pq")
        (told,) = self.records_of(parquet.read_table(account))
        self.assertEqual(told["counted_in_flows"], told["packets_written"])
        self.assertEqual(told["packets_written"], sum(record["packets"] for record in records))
        self.assertTrue(told["balanced"])

    def assert_bounds(self, file, chunk, group, field):
        """What is said of a chunk's values is so."""
        column = file.read_row_group(group, columns=[field.name])[field.name]
        values = [value for value in column.to_pylist() if value is not None]
        self.assertEqual(chunk.statistics.null_count, len(column) - len(values), field.name)
        self.assertEqual(chunk.statistics.has_min_max, bool(values), field.name)
        if values and not str(field.type).startswith("timestamp"):
            self.assertEqual((chunk.statistics.min, chunk.statistics.max), (min(values), max(values)), field.name)

    def test_others_read_the_same_sums(self):
        self.export("every=100ms")
        rows = self.rows()
        wanted = (
            len(rows),
            sum(int(row["packets"]) for row in rows),
            len({row["src_ip"] for row in rows}),
            sum(row["iat_p99_ns"] != "" for row in rows),
            min(int(row["first_seen_ns"]) for row in rows),
            max(int(row["last_seen_ns"]) for row in rows),
        )
        files = f"{self.flows}/date=*/hour=*/*.parquet"
        sums = "count(*), sum(packets), count(distinct src_ip), count(iat_p99_ns)"
        if duckdb := reader("duckdb"):
            times = "epoch_ns(min(first_seen)), epoch_ns(max(last_seen))"
            self.assertEqual(duckdb.sql(f"select {sums}, {times} from read_parquet('{files}')").fetchall()[0], wanted)
        if polars := reader("polars"):
            column = polars.col
            read = (
                polars.scan_parquet(files, hive_partitioning=True)
                .select(
                    polars.len(),
                    column("packets").sum(),
                    column("src_ip").n_unique(),
                    column("iat_p99_ns").count(),
                    column("first_seen").min().dt.epoch("ns").alias("first"),
                    column("last_seen").max().dt.epoch("ns").alias("last"),
                )
                .collect()
            )
            self.assertEqual(read.row(0), wanted)
        if chdb := reader("chdb"):
            times = "toUnixTimestamp64Nano(min(first_seen)), toUnixTimestamp64Nano(max(last_seen))"
            text = str(chdb.query(f"select {sums}, {times} from file('{files}', Parquet)", "CSV"))
            self.assertEqual(tuple(map(int, text.strip().split(","))), wanted)
        missing = [name for name in ("duckdb", "polars", "chdb") if not reader(name)]
        if missing:
            print(f"SKIPPED {', '.join(missing)}: not installed")

    def leave_a_part(self):
        """A run that is killed while it writes a file."""
        process = subprocess.Popen(
            [
                PROGRAM,
                "watch",
                "-q",
                "-g",
                "flows=20000,pace=400000",
                "--idle",
                "1ms",
                "--top",
                "1",
                "--columns",
                COLUMNS,
                "-o",
                os.devnull,
                "--export",
                f"parquet:{self.flows},every=300ms",
            ]
        )
        until = time.monotonic() + 20
        while not (self.files() and any(self.flows.rglob("*.part"))) and time.monotonic() < until:
            time.sleep(0.01)
        process.kill()
        process.wait()

    def test_the_folder_is_read_as_it_is_with_accounts_and_a_part_in_it(self):
        self.leave_a_part()
        self.export("every=100ms", "size=1M")
        found = [
            path.relative_to(self.flows)
            for path in self.flows.rglob("*")
            if path.is_file() and path not in self.files()
        ]
        self.assertEqual(sorted(path.suffix for path in found), [".part", ".pq"], found)
        self.assertTrue(
            all(any(part.startswith("_") for part in path.parts) for path in found),
            "Spark skips files and folders of such names, and pyarrow",
        )
        told = re.findall(r"\.parquet  (\d+) records of (\d+) packets", self.verify(self.flows)[1])
        self.assertEqual(len(told), len(self.files()))
        self.assertGreater(len(told), 2)
        wanted = tuple(sum(int(line[unit]) for line in told) for unit in (0, 1))
        if duckdb := reader("duckdb"):
            for more in ("", ", hive_partitioning=true"):
                self.assertEqual(
                    duckdb.sql(
                        f"select count(*), sum(packets) from read_parquet('{self.flows}/**/*.parquet'{more})"
                    ).fetchall()[0],
                    wanted,
                )
            self.assertEqual(
                duckdb.sql(f"select count(*) from read_parquet('{self.flows}/_accounting/*.pq')").fetchall()[0], (1,)
            )
        if reader("pyarrow"):
            dataset = importlib.import_module("pyarrow.dataset").dataset(self.flows, partitioning="hive")
            packets = dataset.to_table(columns=["packets"])["packets"].to_pylist()
            self.assertEqual((len(packets), sum(packets)), wanted)
            self.assertEqual(
                importlib.import_module("pyarrow.parquet").read_table(self.flows, columns=["packets"]).num_rows,
                wanted[0],
            )
        if polars := reader("polars"):
            read = (
                polars.scan_parquet(f"{self.flows}/**/*.parquet", hive_partitioning=True)
                .select(polars.len(), polars.col("packets").sum())
                .collect()
            )
            self.assertEqual(read.row(0), wanted)
            self.assertEqual(polars.read_parquet(f"{self.flows}/_accounting/*.pq").height, 1)
        if shutil.which("java") and (sql := reader("pyspark.sql")):
            spark = (
                sql.SparkSession.builder.master("local[1]")
                .config("spark.ui.enabled", "false")
                .config("spark.sql.legacy.parquet.nanosAsLong", "true")
                .getOrCreate()
            )
            self.addCleanup(spark.stop)
            read = spark.read.parquet(str(self.flows)).selectExpr("count(*)", "sum(packets)").first()
            self.assertEqual(tuple(map(int, read)), wanted)
            self.assertEqual(spark.read.parquet(str(self.flows / "_accounting")).count(), 1)
        missing = [name for name in ("duckdb", "pyarrow", "polars", "pyspark") if not reader(name)]
        if missing:
            print(f"SKIPPED {', '.join(missing)}: not installed")

    def test_the_questions_are_answered(self):
        if not reader("duckdb"):
            print("SKIPPED duckdb is not installed")
            return
        self.export("every=100ms")
        ask = pathlib.Path(__file__).resolve().parents[2] / "examples/warehouse/ask.py"
        done = subprocess.run(
            [sys.executable, ask, self.flows], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            len(
                [
                    line
                    for line in done.stdout.splitlines()
                    if line.split(".")[0].isdigit() and line.endswith(("?", ".", "low."))
                ]
            ),
            11,
            done.stdout,
        )
        sys.path.insert(0, str(ask.parent))
        warehouse = importlib.import_module("ask")
        connection = warehouse.open_folder(self.flows)
        answers = {number: connection.sql(sql).fetchall() for number, _, sql in warehouse.questions()}
        rows = self.rows()
        sent = {}
        for row in rows:
            sent[row["src_ip"]] = sent.get(row["src_ip"], 0) + int(row["wire_bytes"])
        self.assertEqual([row[1] for row in answers["1"]], sorted(sent.values(), reverse=True)[:10])
        packets = sum(int(row["packets"]) for row in rows)
        self.assertEqual(sum(row[2] for row in answers["8"]), packets)
        ((*_, counted, here, not_sent, missing),) = answers["11"]
        self.assertEqual((counted, here, not_sent, missing), (packets, packets, 0, 0))

        self.flows = self.folder / "connections"
        self.export(
            traffic=["-g", "flows=2000,packets=100000,protocol=sessions,resend=0.05,rate=20000", "--count", "100k"]
        )
        connection = warehouse.open_folder(self.flows)
        answers = {number: connection.sql(sql).fetchall() for number, _, sql in warehouse.questions()}
        rows = self.rows()
        ((_, percent, sent_again, packets),) = answers["9"]
        self.assertEqual(
            (sent_again, packets),
            (sum(int(row["tcp_retransmissions"]) for row in rows), sum(int(row["packets"]) for row in rows)),
        )
        self.assertGreater(sent_again, 0)
        self.assertAlmostEqual(percent, 100 * sent_again / packets)
        networks = {}
        for row in rows:
            if row["rtt_p50_ns"]:
                of = networks.setdefault(row["src_ip"].rpartition(".")[0] + ".0/24", [])
                of.append((float(row["rtt_p50_ns"]), int(row["rtt_min_ns"]), int(row["packets"])))
        self.assertGreater(len(networks), 0)
        self.assertEqual(len(answers["7"]), min(len(networks), 10))
        for network, rtt, least, count in answers["7"]:
            of = networks[network]
            self.assertEqual((least, count), (min(least for _, least, _ in of) / 1e6, sum(n for *_, n in of)))
            self.assertAlmostEqual(rtt, sum(rtt * n for rtt, _, n in of) / count / 1e6, delta=1e-4 * rtt)
        self.assertEqual([row[1] for row in answers["7"]], sorted((row[1] for row in answers["7"]), reverse=True))

    def test_what_is_missing_or_damaged_is_found(self):
        self.export("every=100ms", "size=1M", "partition=none")
        files = self.files()
        self.assertEqual(self.verify(self.flows)[0], 0)
        whole = files[0].read_bytes()
        files[0].rename(self.folder / "kept")
        status, said = self.verify(self.flows)
        self.assertEqual(status, 3)
        self.assertIn("WRONG", said)
        damaged = bytearray(whole)
        damaged[len(damaged) // 3] ^= 0xFF  # all bits: zstd ignores one of those in front of a frame
        files[0].write_bytes(damaged)
        status, said = self.verify(self.flows)
        self.assertEqual(status, 3)
        self.assertIn("BROKEN", said)
        files[0].write_bytes(whole[:-1])
        self.assertIn("not whole", self.verify(files[0])[1])
        files[0].write_bytes(whole)
        self.assertEqual(self.verify(self.flows)[0], 0)

    def test_a_killed_run_leaves_whole_files_and_one_part(self):
        self.kill(5)

    @thorough
    def test_a_run_killed_at_a_hundred_moments(self):
        self.kill(100)

    def kill(self, times):
        chance = random.Random(times)
        parts = 0
        for _ in range(times):
            process = subprocess.Popen(
                [
                    PROGRAM,
                    "watch",
                    "-q",
                    "-g",
                    "flows=20000,pace=400000",
                    "--idle",
                    "1ms",
                    "--top",
                    "1",
                    "--export",
                    f"parquet:{self.flows},every=100ms",
                ],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            until = time.monotonic() + 20
            while not any(self.flows.rglob("*.part")) and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.5))
            process.send_signal(signal.SIGKILL)
            process.wait()
            status, said = self.verify(self.flows)
            broken = [line for line in said.splitlines() if "BROKEN" in line]
            self.assertTrue(all(".part  BROKEN: not whole" in line for line in broken), said)
            self.assertLessEqual(len(broken), 1)
            self.assertIn(status, (1, 3), "there is nothing, or no account")
            parts += len(broken)
            shutil.rmtree(self.flows, ignore_errors=True)
        self.assertGreater(parts, 0, "some were killed while a file was written")

    def test_a_full_disk_costs_what_was_written_last_and_says_so(self):
        if os.geteuid() != 0:
            print("SKIPPED a full disk takes root to make")
            return
        self.flows.mkdir()
        script = (
            'mount -t tmpfs -o size=16m tmpfs "$0" && "$@" --export "parquet:$0,size=1M,partition=none" > "$0/../'
            'report.json" && "$1" verify "$0"; '
            'echo "verified $?" && du -s "$0"'
        )
        done = subprocess.run(
            [
                "unshare",
                "--mount",
                "sh",
                "-c",
                script,
                str(self.flows),
                PROGRAM,
                "watch",
                "-q",
                "-g",
                "flows=200000,packets=2000000",
                "--count",
                "400k",
                "--idle",
                "1ms",
                "--columns",
                COLUMNS,
                "--format",
                "json",
                "--top",
                "1",
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        output = self.output(json.loads((self.folder / "report.json").read_text())["summary"], "parquet")
        self.assertGreater(output["written"]["records"], 0)
        self.assertGreater(output["dropped"]["records"], 0)
        self.assertIn("verified 0", done.stdout, done.stdout + done.stderr)
        self.assertIn(f"+ {output['dropped']['packets']} not sent", done.stdout)

    def test_bad_targets_are_told_at_the_start(self):
        (self.folder / "file").write_text("")
        for target, said in (
            ("x,every=0", "every=0: time"),
            ("x,level=99", "level=99: of zstd"),
            ("-", "files go into a folder"),
            (f"{self.folder / 'file'}/x", "Not a directory"),
            ("x,size=1", "size=1: bytes"),
            ("x,partition=year", "partition=year"),
        ):
            done = subprocess.run(
                [PROGRAM, "watch", "-q", *TRAFFIC, "-o", os.devnull, "--export", f"parquet:{target}"],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
                cwd=self.folder,
            )
            self.assertEqual(done.returncode, 1 if "/" in target else 2, target)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Arrow(ColumnarTest):
    def test_a_stream_has_what_csv_has_and_its_account(self):
        path = self.folder / "flows.arrows"
        summary = self.watch("--export", f"arrow:{path}")
        output = self.output(summary, "arrow")
        self.assertEqual(path.read_bytes()[-8:], b"\xff\xff\xff\xff\0\0\0\0")
        if not reader("pyarrow"):
            print("SKIPPED pyarrow is not installed")
            return
        stream = importlib.import_module("pyarrow.ipc").open_stream(path)
        records, said = [], {}
        while True:
            try:
                batch, metadata = stream.read_next_batch_with_custom_metadata()
            except StopIteration:
                break
            batch.validate(full=True)
            records += self.records_of(reader("pyarrow").Table.from_batches([batch]))
            said = dict(metadata or {})
        self.assert_same(records)
        self.assertEqual(int(said[b"parshall.counted_in_flows"]), sum(record["packets"] for record in records))
        self.assertEqual(int(said[b"parshall.packets_written"]), output["written"]["packets"])

    def test_it_goes_through_a_pipe_while_the_run_goes_on(self):
        if not reader("pyarrow"):
            print("SKIPPED pyarrow is not installed")
            return
        process = subprocess.Popen(
            [
                PROGRAM,
                "watch",
                "-q",
                "-g",
                "flows=1000,pace=10000",
                "--idle",
                "1ms",
                "--duration",
                "2s",
                "-o",
                os.devnull,
                "--export",
                "arrow:-",
            ],
            stdout=subprocess.PIPE,
        )
        stream = importlib.import_module("pyarrow.ipc").open_stream(process.stdout)
        began = time.monotonic()
        self.assertGreater(stream.read_next_batch().num_rows, 0)
        self.assertLess(time.monotonic() - began, 1.5, "not only in the end")
        for _ in stream:
            pass
        self.assertEqual(process.wait(30), 0)
        process.stdout.close()


class Headers(ColumnarTest):
    def test_what_headers_say_beside_is_there_where_somebody_asks(self):
        for traffic, vlan in (
            ("flows=50,packets=1000,ipv6=0.5", ""),
            ("flows=50,packets=1000,ipv6=0.5,vlan=12.34", "12"),
        ):
            for more in ((), ("--workers", "2"), ("--threads", "pipeline"), ("greater 1",)):
                subprocess.run(
                    [
                        PROGRAM,
                        "watch",
                        "-q",
                        "-g",
                        traffic,
                        "--count",
                        "1000",
                        "--columns",
                        "+headers",
                        "--format",
                        "csv",
                        "-o",
                        self.folder / "flows.csv",
                        *more,
                    ],
                    check=True,
                    timeout=60,
                )
                rows = self.rows()
                self.assertEqual(len(rows), 50, more)
                self.assertEqual({row["vlan"] for row in rows}, {vlan}, more)
                self.assertEqual(
                    {(row["ttl_min"], row["ttl_max"], row["dscp"], row["icmp_type_code"]) for row in rows},
                    {("64", "64", "0", "")},
                    more,
                )


class OtherAccounts(ColumnarTest):
    def test_ipfix_and_json_lines_add_up_too(self):
        for kind in ("ipfix", "jsonl"):
            path = self.folder / f"flows.{kind}"
            self.watch("--export", f"{kind}:{path}")
            status, said = self.verify(path)
            self.assertEqual(status, 0, said)
            text = path.read_bytes()
            path.write_bytes(text[: len(text) * 2 // 3])
            status, said = self.verify(path)
            self.assertEqual(status, 3, said)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
