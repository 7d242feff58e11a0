# SPDX-License-Identifier: Apache-2.0
"""The Python package against the command line that came with it, and against misuse.

usage: test_flows.py [unittest arguments], by a Python that has parshall and pyarrow; PARSHALL_THOROUGH=1 takes all
captures
"""

import collections
import csv
import doctest
import gc
import itertools
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import warnings

import pyarrow

import parshall

TRACES = pathlib.Path(os.environ.get("PARSHALL_TRACES", pathlib.Path(__file__).parents[2] / "../shared/traces"))
FEW = 60  # captures, where not all are asked for
ENDLESS = "flows=1000000,dist=uniform,size=64"


def from_command_line(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "parshall", "watch", "-q", *arguments, "--format", "csv"],
        capture_output=True,
        text=True,
        check=False,
    )
    return list(csv.reader(done.stdout.splitlines()))


def cells(table):
    """As CSV has them."""
    columns = []
    for column in table.columns:
        if pyarrow.types.is_timestamp(column.type):
            column = column.cast(pyarrow.int64())
        columns.append(["" if value is None else str(value) for value in column.to_pylist()])
    return collections.Counter(zip(*columns))


def captures():
    if not TRACES.is_dir():
        raise unittest.SkipTest("PARSHALL_TRACES is not there")
    files = sorted(path for path in TRACES.rglob("*") if path.name.endswith((".pcap", ".pcapng", ".cap", ".pcap.gz")))
    return files if os.environ.get("PARSHALL_THOROUGH") else files[:: max(1, len(files) // FEW)]


class Frames(unittest.TestCase):
    def test_captures_have_the_rows_of_the_command_line(self):
        compared = 0
        for path in captures():
            with self.subTest(path=path.name):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", parshall.LossWarning)
                    try:
                        with parshall.flows(path, flows=65536) as flows:
                            table = flows.to_arrow()
                    except parshall.Error:
                        continue
                header, *rows = from_command_line("-r", str(path), "--flows", "65536") or [[]]
                self.assertEqual(cells(table), collections.Counter(map(tuple, rows)))
                self.assertEqual(table.schema.names, [name.removesuffix("_ns") for name in header])
                self.assertTrue(flows.accounting["balanced"])
                compared += 1
        self.assertGreater(compared, FEW // 2)

    def test_statistics_directions_and_workers(self):
        settings = {
            "generate": "flows=500,dist=zipf:1.1,seed=3",
            "count": 50000,
            "seed": 5,
            "columns": ["+size_mean", "gap_p99", "end_reason"],
        }
        with parshall.flows(**settings) as flows:
            one = flows.to_arrow()
        self.assertEqual(one["packets"].to_pylist() and sum(one["packets"].to_pylist()), 50000)
        header, *rows = from_command_line(
            "-g", settings["generate"], "--count", "50000", "--seed", "5", "--columns", "+size_mean,gap_p99,end_reason"
        )
        key = [
            name for name in header if name not in ("size_mean_bytes", "gap_p99_packets")
        ]  # float32 has other digits as text
        self.assertEqual(
            cells(one.select([name.removesuffix("_ns") for name in key])),
            collections.Counter(tuple(row[header.index(name)] for name in key) for row in rows),
        )
        for name in ("size_mean_bytes", "gap_p99_packets"):
            by_key = {tuple(row[:6]): row[header.index(name)] for row in rows}
            ours = zip(
                *(["" if v is None else str(v) for v in one[column].to_pylist()] for column in one.schema.names[:6]),
                one[name].to_pylist(),
            )
            for *flow, value in ours:
                text = by_key[tuple(flow)]
                self.assertTrue(
                    (value is None and text == "") or abs(value - float(text)) <= 1e-6 * abs(value), (flow, value, text)
                )
        with parshall.flows(workers=2, **settings) as flows:
            self.assertEqual(cells(flows.to_arrow()), cells(one))

    def test_biflows_are_those_of_the_command_line(self):
        generate = "flows=500,protocol=connections,seed=3"
        with parshall.flows(generate=generate, count=20000, seed=5, biflow=True, workers=2) as flows:
            table = flows.to_arrow()
        header, *rows = from_command_line("-g", generate, "--count", "20000", "--seed", "5", "--biflow")
        self.assertEqual(table.schema.names, [name.removesuffix("_ns") for name in header])
        self.assertEqual(cells(table), collections.Counter(map(tuple, rows)))
        self.assertEqual(
            sum(table["packets"].to_pylist()) + sum(count or 0 for count in table["reverse_packets"].to_pylist()), 20000
        )

    def test_light_rows_are_those_of_the_frame(self):
        settings = {
            "generate": "flows=50,ipv6=0.5,seed=3",
            "count": 1000,
            "seed": 5,
            "columns": ["rtt_min", "end_reason", "exact"],
        }
        rows = [tuple("" if value is None else str(value) for value in flow) for flow in parshall.flows(**settings)]
        self.assertEqual(collections.Counter(rows), cells(parshall.flows(**settings).to_arrow()))

    def test_polars_has_what_arrow_has(self):
        try:
            import polars  # noqa: F401
        except ImportError:
            self.skipTest("without polars")
        settings = {
            "generate": "flows=50,ipv6=0.5,seed=3",
            "count": 1000,
            "seed": 5,
            "columns": ["rtt_min", "end_reason", "exact"],
        }
        frame = parshall.flows(**settings).to_polars()
        self.assertEqual(cells(frame.to_arrow()), cells(parshall.flows(**settings).to_arrow()))
        self.assertEqual(parshall.flows(generate="flows=5", count=100, filter="vlan 99").to_polars().shape[0], 0)

    def test_no_records_still_have_columns(self):
        with parshall.flows(generate="flows=5", count=100, filter="vlan 99") as flows:
            table = flows.to_arrow()
        self.assertEqual(
            (table.num_rows, "packets" in table.schema.names, flows.accounting["filtered"]), (0, True, 100)
        )

    def test_buffers_are_those_of_the_engine(self):
        batch = next(parshall.flows(generate="flows=5000", count=20000, columns="all").batches())
        there = batch.addresses()
        given = pyarrow.record_batch(batch)
        self.assertEqual(
            [column.buffers()[-1].address for column in given.columns if not pyarrow.types.is_dictionary(column.type)],
            [address for address, column in zip(there, given.columns) if not pyarrow.types.is_dictionary(column.type)],
        )
        given.validate(full=True)
        with self.assertRaisesRegex(parshall.Error, "given to another library"):
            batch.lists()

    def test_a_stream_outlives_its_flows(self):
        reader = pyarrow.RecordBatchReader.from_stream(parshall.flows(generate="flows=5000", count=200000))
        gc.collect()
        self.assertEqual(sum(batch.column("packets").to_numpy().sum() for batch in reader), 200000)

    def test_two_at_once_in_threads(self):
        sums = {}

        def take(seed):
            with parshall.flows(generate=f"flows=20000,seed={seed}", count=300000) as flows:
                sums[seed] = sum(flow.packets for flow in flows)

        threads = [threading.Thread(target=take, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sums, dict.fromkeys(range(4), 300000))

    def test_frames_have_what_a_loop_left(self):
        settings = {"generate": "flows=100000,seed=1", "count": 300000, "seed": 5}
        for plugins in ((), lambda batch: {"twice": batch["packets"]}):
            for read in (lambda flows: flows.to_arrow(), pyarrow.table):
                for taken in (0, 10, 70000):
                    flows = parshall.flows(plugins=plugins, **settings)
                    packets = sum(flow.packets for flow in itertools.islice(flows, taken))
                    table = read(flows)
                    self.assertEqual(packets + sum(table["packets"].to_pylist()), 300000, taken)
                    self.assertTrue(flows.accounting["balanced"])

    def test_doctests(self):
        tried = [
            doctest.testmod(module)
            for module in (parshall, parshall._anonymizer, parshall._runs, parshall._frames, parshall._models)
        ]
        self.assertEqual(sum(results.failed for results in tried), 0)
        self.assertGreater(sum(results.attempted for results in tried), 10)


class Ends(unittest.TestCase):
    def test_leaving_early_ends_the_run(self):
        began = time.monotonic()
        with parshall.flows(generate=ENDLESS, idle="1us") as flows:
            next(flows.batches())
        flows.close()
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(list(flows.batches()), [])

    def test_forgetting_it_ends_the_run(self):
        before = threading.active_count(), len(os.listdir("/proc/self/task"))
        for _ in range(5):
            parshall.flows(generate=ENDLESS)
        gc.collect()
        self.assertEqual((threading.active_count(), len(os.listdir("/proc/self/task"))), before)

    def interrupted(self, code, error_is="KeyboardInterrupt"):
        """How long it took until the program had ended by Ctrl-C."""
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.assertEqual(process.stdout.readline(), "begins\n")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, error = process.communicate(timeout=20)
        self.assertIn(error_is, error)
        return time.monotonic() - began

    def test_ctrl_c_ends_it_soon(self):
        begin = (
            f"import parshall, pyarrow, signal; signal.signal(signal.SIGINT, signal.default_int_handler); flows = "
            f"parshall.flows(generate='{ENDLESS}'); print('begins', flush=True)\n"
        )
        self.assertLess(self.interrupted(begin + "flows.to_arrow()"), 2)
        self.assertLess(
            self.interrupted(
                begin + "pyarrow.RecordBatchReader.from_stream(flows).read_all()", "OSError: interrupted (Ctrl-C)"
            ),
            2,
        )  # the reader's own

    def test_a_broken_capture_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cut.pcap"
            subprocess.run(
                [sys.executable, "-m", "parshall", "send", "-g", "flows=10", "--count", "1000", "-w", str(path)],
                check=True,
                capture_output=True,
            )
            path.write_bytes(path.read_bytes()[:-20])
            with (
                parshall.flows(path) as flows,
                self.assertWarnsRegex(parshall.LossWarning, "measured up to where the input broke"),
            ):
                self.assertEqual(sum(flow.packets for flow in flows), 999)

    def test_accounting_is_there_at_the_end(self):
        flows = parshall.flows(generate="flows=10", count=1000)
        list(flows)
        account = flows.accounting
        self.assertEqual(
            (account["offered"], account["counted"], account["lost"], account["balanced"]), (1000, 1000, 0, True)
        )
        (output,) = account["outputs"]
        self.assertEqual(output["offered"], output["written"])
        self.assertEqual(output["written"]["packets"], 1000)


class Misuse(unittest.TestCase):
    def test_a_second_read_is_an_error_that_says_so(self):
        for read in (lambda flows: list(flows), lambda flows: flows.to_arrow(), lambda flows: list(flows.batches())):
            flows = parshall.flows(generate="flows=9,seed=1", count=100)
            self.assertEqual(len(list(flows)), 9)
            with self.assertRaisesRegex(parshall.Error, "flows of flows=9,seed=1 were read to their end"):
                read(flows)
        found = parshall.windows(generate="flows=9,rate=1000,seed=1", count=2000, window="1s", tasks=["count"])
        self.assertEqual(len(list(found)), 2)
        with self.assertRaisesRegex(parshall.Error, "were read to their end"):
            list(found)
        part = parshall.flows(generate="flows=9,seed=1", count=100)
        for _ in part:
            break
        self.assertEqual(len(list(part)), 8)  # a loop that was left goes on

    def test_it_shows_what_it_is(self):
        flows = parshall.flows(generate="flows=9,seed=1", count=100, columns=["+rate"])
        self.assertRegex(repr(flows), r"^<parshall.Flows of flows=9,seed=1: 13 columns; \d+ packets so far>$")
        self.assertIn("<th>rate_pps</th>", flows._repr_html_())
        table = flows.to_arrow()
        self.assertEqual(flows.accounting["counted"], 100)
        self.assertEqual(repr(flows), "<parshall.Flows of flows=9,seed=1: 13 columns; 100 packets, 0 lost>")
        shown = flows._repr_html_()
        self.assertEqual(shown.count("<tr>"), 1 + 5)
        self.assertIn(f"<td>{table.column('src_ip')[0].as_py()}</td>", shown)

    def test_names_are_in_frames_and_harm_no_page(self):
        request = b"GET / HTTP/1.1\r\nHost: <b>a.example</b>\r\n\r\n"
        tcp = struct.pack(">HHIIBBHHH", 40000, 80, 1, 1, 0x50, 24, 65535, 0, 0) + request
        packet = bytes(12) + b"\x08\x00" + struct.pack(">BBHHHBBHII", 69, 0, 20 + len(tcp), 0, 0, 64, 6, 0, 1, 2) + tcp
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "names.pcap"
            head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
            path.write_bytes(head + struct.pack("<IIII", 1, 0, len(packet), len(packet)) + packet)
            flows = parshall.flows(path, columns=["+http_host", "dns_name"])
            table = flows.to_arrow()
        self.assertEqual(table.column("http_host").to_pylist(), ["<b>a.example</b>"])
        self.assertEqual(table.column("dns_name").to_pylist(), [None])
        self.assertIn("&lt;b&gt;a.example", flows._repr_html_())
        self.assertNotIn("<b>a", flows._repr_html_())

    def test_errors_are_those_of_the_command_line(self):
        for settings, message in (
            ({"source": "/nonexistent.pcap"}, "cannot open /nonexistent.pcap: No such file or directory"),
            ({"source": "/etc/passwd"}, "not a pcap, pcapng or ERF capture"),
            ({"generate": "flows=1", "idle": "5x"}, "^idle=5x: give a time"),
            ({"generate": "flows=1", "idel": "5s"}, "idel is no setting"),
            ({"generate": "flows=1", "columns": ["+gap_p100"]}, "gap_p100"),
            ({"generate": 'flows="1\n'}, "does not understand"),
            ({"generate": "flows=1", "filter": "tcp prot 1"}, "filter"),
            ({}, "give one source"),
            ({"interface": "no-such-interface0"}, "no-such-interface0"),
        ):
            with self.subTest(settings), self.assertRaisesRegex(parshall.Error, message):
                parshall.flows(**settings)

    def test_values_of_another_type(self):
        for value in ({1: 2}, object(), b"\xff", [None]):
            with self.subTest(value=value), self.assertRaises((TypeError, parshall.Error)):
                parshall.flows(generate="flows=1", key=value)
        with self.assertRaises(TypeError):
            parshall.flows(3)

    def test_the_native_part_by_itself(self):
        native = parshall._native
        for call in (
            lambda: native.Batch(),
            lambda: native.Stream(),
            lambda: native.open(3),
            lambda: native.open("\x00"),
            lambda: native.open("= ="),
        ):
            with self.assertRaises((TypeError, parshall.Error)):
                call()


class Windows(unittest.TestCase):
    def test_findings_are_those_of_the_command_line(self):
        traffic = {"generate": "flows=1000,dist=zipf:1.1,rate=1000000,seed=2", "count": 3_000_000, "seed": 7}
        with parshall.windows(tasks=["heavy-hitters:key=src", "count"], window="1s", **traffic) as found:
            ours = list(found)
        self.assertTrue(found.accounting["balanced"])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "events"
            from_command_line(
                "-g",
                traffic["generate"],
                "--count",
                "3000000",
                "--seed",
                "7",
                "--task",
                "heavy-hitters:key=src",
                "--task",
                "count",
                "--window",
                "1s",
                "--export",
                f"events:{str(path)}",
            )
            theirs = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertGreater(len(ours), 30)
        self.assertEqual(ours, theirs)

    def test_a_reader_of_findings_who_is_slow_gets_all(self):
        settings = {
            "generate": "flows=200000,packets=1000000",
            "count": 4_000_000,
            "window": "1000p",
            "tasks": ["heavy-hitters:threshold=1"],
        }
        with parshall.windows(**settings) as found:
            time.sleep(1)
            self.assertLess(found.counters["counted"], 4_000_000)
            number = sum(1 for _ in found)
        self.assertEqual(found.accounting["outputs"][0]["written"]["findings"], number)
        self.assertGreater(number, 65536)

    def test_as_a_frame(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("without pandas")
        with parshall.windows(generate="flows=9,rate=1000,seed=1", count=3000, window="1s", tasks=["count"]) as found:
            frame = found.to_pandas()
        self.assertEqual((list(frame.task), list(frame["values.packets"])), (["count"] * 3, [1000] * 3))


@unittest.skipUnless(os.geteuid() == 0, "as root alone")
class Live(unittest.TestCase):
    def test_an_interface(self):
        code = """
            import parshall, socket
            with parshall.flows(interface="lo", idle="200ms") as flows:
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
                    for _ in range(100):
                        out.sendto(b"parshall", ("127.0.0.1", 9))
                for flow in flows:
                    if flow.dst_port == 9:
                        print(flow.src_ip, flow.packets)
                        break
        """
        done = subprocess.run(
            [
                "unshare",
                "-n",
                "sh",
                "-c",
                'ip link set lo up && exec "$0" -c "$1"',
                sys.executable,
                textwrap.dedent(code),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual((done.stdout, done.stderr), ("127.0.0.1 100\n", ""))


if __name__ == "__main__":
    unittest.main()
