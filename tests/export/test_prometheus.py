# SPDX-License-Identifier: Apache-2.0
"""What a run tells Prometheus while it goes on, and whether the dashboard asks for what there is.

usage: test_prometheus.py PARSHALL DASHBOARD [unittest arguments]
"""
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

PROGRAM = DASHBOARD = None
LINE = re.compile(r"^([a-z_]+)(?:{(.*)})? ([0-9.e+-]+|Nan)$")


def free_port():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


def scrape(port, until=30):
    """Values by name and labels."""
    give_up = time.monotonic() + until
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                text = answer.read().decode()
            break
        except OSError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)
    values = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = LINE.match(line).groups()
            values[name, labels] = float(value)
    return values


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            port = free_port()
            done = subprocess.run([PROGRAM, "watch", "-q", "-g", "flows=10", "--count", "10", "-o", "/dev/null", "--export", f"prometheus:127.0.0.1:{port}"],
                                  capture_output=True, text=True, timeout=60, check=False)
            if "prometheus-cpp-dev" in done.stderr:
                raise unittest.SkipTest("built without prometheus-cpp")
            cls.started_s = time.time()
            cls.process = subprocess.Popen([PROGRAM, "watch", "-q", "-g", "flows=2000,pace=100000", "--idle", "100ms", "--duration", "20s", "-o", "/dev/null",
                                            "--export", f"prometheus:127.0.0.1:{port}", "--export", f"csv:{folder}/flows.csv"])
            cls.first = scrape(port)
            cls.scraped_s = time.time()
            time.sleep(2)
            cls.second = scrape(port)
            cls.port = port
            cls.output = f'output="csv:{folder}/flows.csv"'
            cls.process.terminate()
            cls.process.wait(30)

    def test_counters_grow_as_packets_come(self):
        for name in ("parshall_counted_packets_total", "parshall_polled_packets_total"):
            grown = self.second[name, None] - self.first[name, None]
            self.assertGreater(grown, 50_000, name)
            self.assertLess(grown, 1_000_000, name)
        self.assertGreaterEqual(self.second["parshall_polled_packets_total", None], self.second["parshall_counted_packets_total", None])

    def test_the_outputs_account_holds(self):
        for unit in ("records", "packets"):
            offered, written, dropped = (self.second[f"parshall_output_{unit}_total", f'{self.output},state="{state}"'] for state in ("offered", "written", "dropped"))
            self.assertEqual(offered, written + dropped + self.second[f"parshall_output_waiting_{unit}", self.output])
        self.assertEqual(dropped, 0)

    def test_who_watches_is_told(self):
        (labels,) = (labels for name, labels in self.second if name == "parshall_info")
        self.assertIn("version=", labels)

    def test_counters_say_since_when(self):
        began_s = self.second["parshall_start_time_seconds", None]
        self.assertEqual(self.first["parshall_start_time_seconds", None], began_s)
        self.assertTrue(self.started_s - 1 <= began_s <= self.scraped_s, (self.started_s, began_s, self.scraped_s))

    def test_the_dashboard_asks_for_what_there_is(self):
        text = pathlib.Path(DASHBOARD).read_text()
        asked = {name for panel in json.loads(text)["panels"] for target in panel["targets"] for name in re.findall(r"parshall_[a-z_]+", target["expr"])}
        known = {name for name, _ in self.second} | {"parshall_nic_missed_packets_total"}  # a device's
        self.assertGreater(len(asked), 8)
        self.assertEqual(asked - known, set())

    def test_what_is_refused(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            for address, word in ((f"127.0.0.1:{taken.getsockname()[1]}", "cannot listen"), ("nowhere", "HOST:PORT"), ("127.0.0.1:", "HOST:PORT"),
                                  ("127.0.0.1:80,127.0.0.1:81", "HOST:PORT")):
                done = subprocess.run([PROGRAM, "watch", "-q", "-g", "flows=10", "--count", "10", "-o", "/dev/null", "--export", f"prometheus:{address}"],
                                      capture_output=True, text=True, timeout=60, check=False)
                self.assertNotEqual(done.returncode, 0, address)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                self.assertIn(word, done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    DASHBOARD = sys.argv.pop(1)
    unittest.main()
