# SPDX-License-Identifier: Apache-2.0
"""What a run tells Prometheus while it goes on, who cannot keep it from that, and whether dashboard and alerts ask for
what there is.

usage: test_prometheus.py PARSHALL EXAMPLES [unittest arguments]
promtool checks more, where there is one: in PATH, or named by PROMTOOL (tools/promtool.sh gets it).
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = EXAMPLES = None
SERIES = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? ([0-9.e+-]+|NaN|[+-]Inf)')
TOKEN = "correct-horse-battery"


def free_port():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


def ask(port, path="/metrics", headers=None, timeout=10):
    """Status, headers and body."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)) as connection:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def read(body):
    """Values by name and labels, of text in which every line is as the format says."""
    values, kinds = {}, {}
    lines = body.decode().split("\n")  # fails on what is not UTF-8
    assert lines.pop() == "", "the last line has an end"
    for line in lines:
        if line.startswith("# TYPE "):
            name, kind = line.split(" ")[2:]
            assert name not in kinds, f"{name} comes twice"
            kinds[name] = kind
        elif not line.startswith("# HELP "):
            found = SERIES.fullmatch(line)
            assert found, line
            name, labels, value = found.groups()
            assert name in kinds and (name, labels) not in values, line
            assert (kinds[name] == "counter") == name.endswith("_total"), line
            values[name, labels] = float(value)
    return values


def scrape(port, headers=None, until=30):
    give_up = time.monotonic() + until
    while True:
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, _, body = ask(port, headers=headers)
            if status == 200:
                return read(body)
        if time.monotonic() > give_up:
            raise AssertionError("no metrics")
        time.sleep(0.05)


@contextlib.contextmanager
def run(*arguments, traffic=("-g", "flows=2000,pace=100000")):
    """A monitor that goes on until the end, and the port of its metrics."""
    port = free_port()
    process = subprocess.Popen(
        [PROGRAM, "watch", "-q", *traffic, "-o", "/dev/null", "--export", f"prometheus:127.0.0.1:{port}", *arguments]
    )
    try:
        scrape(port)
        yield port, process
    finally:
        process.terminate()
        process.wait(30)


def promtool():
    return os.environ.get("PROMTOOL") or shutil.which("promtool")


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.started_s = time.time()
            with run("--idle", "100ms", "--export", f"csv:{folder}/flows.csv") as (port, _):
                cls.first = scrape(port)
                cls.scraped_s = time.time()
                time.sleep(2)
                _, cls.headers, cls.body = ask(port)
            cls.second = read(cls.body)
            cls.output = f'output="csv:{folder}/flows.csv"'

    def test_counters_grow_as_packets_come(self):
        for name, least in (
            ("parshall_counted_packets_total", 50_000),
            ("parshall_polled_packets_total", 50_000),
            ("parshall_offered_packets_total", 50_000),
            ("parshall_wire_bytes_total", 50_000 * 60),
            ("parshall_ip_bytes_total", 50_000 * 46),
        ):
            grown = self.second[name, None] - self.first[name, None]
            self.assertGreater(grown, least, name)
            self.assertLess(grown, 20 * least, name)
        self.assertGreaterEqual(
            self.second["parshall_polled_packets_total", None], self.second["parshall_counted_packets_total", None]
        )
        self.assertTrue(0 < self.second["parshall_live_flows", None] <= 2000)

    def test_losses_are_told_by_cause_even_where_there_are_none(self):
        self.assertEqual(
            self.second["parshall_lost_packets_total", 'cause="ring_full"'],
            self.second["parshall_ring_full_packets_total", None],
        )

    def test_the_outputs_account_holds(self):
        for unit in ("records", "packets"):
            of = {
                labels.partition('state="')[2][:-1]: value
                for (name, labels), value in self.second.items()
                if name == f"parshall_output_{unit}_total" and labels.startswith(self.output)
            }
            written, waiting = (
                self.second[f"parshall_output_{what}_{unit}", self.output] for what in ("written", "waiting")
            )
            self.assertGreater(written, 0)
            self.assertEqual(of, {"offered": written + waiting, "unconfirmed": 0, "dropped": 0})

    def test_who_watches_is_told(self):
        (labels,) = (labels for name, labels in self.second if name == "parshall_info")
        self.assertIn("version=", labels)

    def test_counters_say_since_when(self):
        began_s = self.second["parshall_start_time_seconds", None]
        self.assertEqual(self.first["parshall_start_time_seconds", None], began_s)
        self.assertTrue(self.started_s - 1 <= began_s <= self.scraped_s, (self.started_s, began_s, self.scraped_s))

    def test_it_is_of_the_type_that_prometheus_reads(self):
        self.assertEqual(self.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(int(self.headers["Content-Length"]), len(self.body))

    def test_promtool_finds_nothing_wrong(self):
        if not promtool():
            self.skipTest("no promtool: tools/promtool.sh gets it")
        done = subprocess.run(
            [promtool(), "check", "metrics"], input=self.body, capture_output=True, timeout=60, check=False
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))


class Asked(unittest.TestCase):
    """By dashboard and alerts."""

    @classmethod
    def setUpClass(cls):
        with run("--tasks", "heavy-hitters", "--window", "100ms", "--export", "csv:/dev/null") as (port, _):
            cls.known = {name for name, _ in scrape(port)}
        cls.dashboard = [
            target["expr"]
            for panel in json.loads((EXAMPLES / "grafana/parshall.json").read_text())["panels"]
            for target in panel["targets"]
        ]
        cls.alerts = (EXAMPLES / "prometheus/alerts.yml").read_text()

    def test_there_is_all_that_is_asked_for(self):
        for asked, least in (("\n".join(self.dashboard), 12), (self.alerts, 8)):
            names = set(re.findall(r"parshall_[a-z_]+", asked))
            self.assertGreaterEqual(len(names), least)
            self.assertEqual(names - self.known, set())

    def test_promtool_understands_each_question(self):
        if not promtool():
            self.skipTest("no promtool: tools/promtool.sh gets it")
        with tempfile.TemporaryDirectory() as folder:
            rules = [
                {"record": f"panel:{number}", "expr": expr.replace("$__rate_interval", "5m")}
                for number, expr in enumerate(self.dashboard)
            ]
            pathlib.Path(folder, "rules.yml").write_text(
                json.dumps({"groups": [{"name": "dashboard", "rules": rules}]})
            )
            for arguments in (
                ["check", "rules", f"{folder}/rules.yml"],
                ["check", "rules", "alerts.yml"],
                ["test", "rules", "alerts_test.yml"],
            ):
                done = subprocess.run(
                    [promtool(), *arguments],
                    cwd=EXAMPLES / "prometheus",
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_alert_is_tried(self):
        tried = (EXAMPLES / "prometheus/alerts_test.yml").read_text()
        for name in re.findall(r"- alert: (\w+)", self.alerts):
            self.assertRegex(tried, rf"alertname: {name}\n +exp_alerts:", name)


class Names(unittest.TestCase):
    def test_bytes_that_are_no_text_are_escaped(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.fsencode(folder) + b'/a"b\\c\nd\xff\xc3\xa9\x01.csv'
            with run("--export", b"csv:" + name) as (port, _):
                _, _, body = ask(port)
            self.assertTrue(os.path.exists(name))
        escaped = folder.encode() + rb"/a\"b\\c\nd\\xff" + b"\xc3\xa9" + rb"\\x01.csv"
        self.assertTrue(
            b'parshall_output_records_total{output="csv:' + escaped + b'",state="offered"} ' in body, body[-300:]
        )
        read(body)
        if promtool():
            done = subprocess.run(
                [promtool(), "check", "metrics"], input=body, capture_output=True, timeout=60, check=False
            )
            self.assertEqual((done.returncode, done.stderr), (0, b""))


class Ends(unittest.TestCase):
    def test_the_last_values_are_those_of_the_report(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo, port = f"{folder}/unread", free_port()
            os.mkfifo(fifo)
            reader = os.open(
                fifo, os.O_RDONLY | os.O_NONBLOCK
            )  # reads nothing yet: so the run stays when it has counted all
            process = subprocess.Popen(
                [
                    PROGRAM,
                    "watch",
                    "-q",
                    "-g",
                    "flows=30000,pace=100000,ipv6=0.3",
                    "--duration",
                    "2s",
                    "--idle",
                    "100ms",
                    "--window",
                    "100ms",
                    "--task",
                    "heavy-hitters:top=1,min-packets=0,min-rate=0",
                    "--tasks",
                    "entropy",
                    "--task-keys",
                    "1Ki",
                    "--format",
                    "json",
                    "--top",
                    "1",
                    "-o",
                    f"{folder}/report.json",
                    "--export",
                    f"csv:{fifo}",
                    "--export",
                    f"prometheus:127.0.0.1:{port}",
                ]
            )
            last, same = scrape(port), 0
            give_up = time.monotonic() + 60
            while same < 8 and time.monotonic() < give_up:
                time.sleep(0.2)
                before, last = last, scrape(port)
                same = same + 1 if before == last and last["parshall_counted_packets_total", None] > 0 else 0
            self.assertEqual(same, 8, "it came to an end")
            self.assertIsNone(process.poll())
            os.set_blocking(reader, True)
            with open(reader, "rb") as pipe:
                while pipe.read(1 << 16):
                    pass
            self.assertEqual(process.wait(60), 0)
            summary = json.loads(pathlib.Path(folder, "report.json").read_text())["summary"]
        account = summary["accounting"]
        for name, value in (
            ("counted_packets_total", account["counted"]),
            ("offered_packets_total", account["offered"]),
            ("live_flow_packets", account["live_flow_packets"]),
            ("ended_record_packets_total", account["ended_record_packets"]),
            ("ended_records_total", summary["ended_records"]),
            ("live_flows", summary["live_flows"]),
            ("wire_bytes_total", summary["wire_bytes"]),
            ("ip_bytes_total", summary["ip_bytes"]),
        ):
            self.assertEqual(last[f"parshall_{name}", None], value, name)
        self.assertEqual(last["parshall_unaccounted_packets", None], 0)
        self.assertGreater(account["counted"], 100_000)
        events = {name: told["written"] for name, told in summary["tasks"]["events"].items()}
        self.assertEqual(set(events), {"heavy-hitters", "entropy"})
        for name, count in events.items():
            self.assertEqual(last["parshall_task_events_total", f'task="{name}"'], count)
            left_out = summary["tasks"]["events"][name]["keys_left_out"]
            self.assertGreater(left_out, 0)
            self.assertEqual(last["parshall_task_keys_left_out_total", f'task="{name}"'], left_out)
        self.assertGreater(events["entropy"], 0)
        begun = [last["parshall_task_alarms_total", f'task="{name}"'] for name in ("heavy-hitters", "entropy")]
        self.assertEqual(begun, [summary["tasks"]["alarms"]["begun"], 0])
        self.assertGreater(begun[0], 0)
        self.assertLessEqual(last["parshall_task_open_alarms", 'task="heavy-hitters"'], begun[0])
        values = [labels for name, labels in last if name == "parshall_task_value"]
        self.assertTrue(
            values and all(labels.startswith('task="entropy"') for labels in values), "numbers of all traffic alone"
        )
        self.assertLess(sum("task=" in (labels or "") for _, labels in last), 20)
        self.assertFalse(
            any(
                re.search(r"\d+\.\d+\.\d+\.\d+", labels or "")
                for name, labels in last
                if name.startswith("parshall_task")
            )
        )


class Hostile(unittest.TestCase):
    """Who does not read, and who sends what is no request: each scrape has its answer within a second."""

    def assert_prompt(self, port, times=5):
        for _ in range(times):
            began = time.monotonic()
            status, _, body = ask(port)
            self.assertEqual(status, 200)
            self.assertLess(time.monotonic() - began, 1)
            read(body)

    def test_half_open_and_slow_requests_stop_no_scrape(self):
        with run() as (port, process):
            self.assert_prompt(port)
            for count in (2, 200):
                with contextlib.ExitStack() as stack:
                    sockets = [
                        stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
                        for _ in range(count)
                    ]
                    for number, one in enumerate(sockets):
                        if number % 3 == 1:
                            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
                    self.assert_prompt(port)
                    for _ in range(10):  # a byte at a time
                        for one in sockets[2::3]:
                            with contextlib.suppress(OSError):
                                one.sendall(b"G")
                        self.assert_prompt(port, 1)
                self.assert_prompt(port)
            self.assertIsNone(process.poll())

    def test_who_asks_and_reads_nothing_stops_no_scrape(self):
        with run() as (port, _), contextlib.ExitStack() as stack:
            for _ in range(50):
                one = stack.enter_context(socket.socket())
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                one.connect(("127.0.0.1", port))
                one.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            self.assert_prompt(port)

    def test_what_is_no_request_is_refused(self):
        with run() as (port, process):
            for text, status in (
                (b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 9000, 431),
                (b"\xff\x00\r\n\r\n", 400),
                (b"POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405),
                (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 404),
                (b"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 404),
                (b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
            ):
                with socket.create_connection(("127.0.0.1", port), timeout=10) as one:
                    one.sendall(text)
                    self.assertTrue(one.recv(100).startswith(b"HTTP/1.1 %d " % status), text[:40])
                self.assert_prompt(port, 1)
            self.assertIsNone(process.poll())

    def test_many_scrapers_cost_what_ten_a_second_do(self):
        with run() as (port, process):
            bodies, stop = [], time.monotonic() + 2

            def scrape_on():
                while time.monotonic() < stop:
                    bodies.append(ask(port)[2])

            threads = [threading.Thread(target=scrape_on) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertGreater(len(bodies), 100)
            self.assertLessEqual(len(set(bodies)), 23, "made at most once in 100 ms")
            self.assertGreater(len(set(bodies)), 5)
            self.assertIsNone(process.poll())


class OnThePage(unittest.TestCase):
    @contextlib.contextmanager
    def page(self, *arguments):
        process = subprocess.Popen(
            [PROGRAM, "watch", "-g", "flows=2000,pace=100000", "-o", "/dev/null", "--web", "127.0.0.1:0", *arguments],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            for line in process.stderr:
                if found := re.search(r"http://[^ /]+:(\d+)/", line):
                    break
            yield int(found[1])
        finally:
            process.terminate()
            process.stderr.close()
            process.wait(30)

    def test_the_pages_server_has_them_too(self):
        with self.page() as port:
            first = scrape(port)
            time.sleep(0.5)
            self.assertGreater(
                scrape(port)["parshall_counted_packets_total", None], first["parshall_counted_packets_total", None]
            )
            self.assertEqual(ask(port, headers={"Host": "evil.example"})[0], 403)

    def test_with_a_token_they_take_it_by_whatever_name_the_host_has(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(TOKEN + "\n")
            file.flush()
            with self.page("--web-token", file.name) as port:
                scrape(port, headers={"Authorization": f"Bearer {TOKEN}"})
                for headers, status in (
                    ({}, 401),
                    ({"Authorization": "Bearer " + TOKEN[:-1]}, 401),
                    ({"Authorization": f"Bearer {TOKEN}", "Host": "probe1.example.net:8080"}, 200),
                    ({"Host": "probe1.example.net:8080"}, 403),
                ):
                    self.assertEqual(ask(port, headers=headers)[0], status, headers)


class Refused(unittest.TestCase):
    def test_what_is_refused(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            for address, word in (
                (f"127.0.0.1:{taken.getsockname()[1]}", "cannot listen"),
                ("nowhere", "HOST:PORT"),
                ("127.0.0.1:", "HOST:PORT"),
                ("nowhere:9105", "HOST:PORT"),
                ("127.0.0.1:80,127.0.0.1:81", "HOST:PORT"),
            ):
                done = subprocess.run(
                    [
                        PROGRAM,
                        "watch",
                        "-q",
                        "-g",
                        "flows=10",
                        "--count",
                        "10",
                        "-o",
                        "/dev/null",
                        "--export",
                        f"prometheus:{address}",
                    ],
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                self.assertNotEqual(done.returncode, 0, address)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                self.assertIn(word, done.stderr)
                self.assertIn(f"prometheus:{address}", done.stderr)

    def test_beyond_this_host_scrapers_may_know_it_by_any_name(self):
        port = free_port()
        process = subprocess.Popen(
            [
                PROGRAM,
                "watch",
                "-q",
                "-g",
                "flows=2000,pace=100000",
                "-o",
                "/dev/null",
                "--export",
                f"prometheus:0.0.0.0:{port}",
            ]
        )
        try:
            scrape(port, headers={"Host": f"probe1.example.net:{port}"})
        finally:
            process.terminate()
            process.wait(30)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    EXAMPLES = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
