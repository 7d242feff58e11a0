# SPDX-License-Identifier: Apache-2.0
"""The page of a run that goes on: what it serves, what it refuses, and how it ends.

usage: test_web.py PARSHALL [unittest arguments]
"""

import base64
import collections
import contextlib
import hashlib
import http.client
import itertools
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import web_run
from web_run import STATES, TOO_MUCH, WITHIN_S, Run, watch


def parts_of(account):
    """Offered, what became of that, and what became of the counted."""
    device = [account[name] or 0 for name in ("nic_missed", "nic_error", "no_mbuf")]
    outcomes = [account[name] for name in ("ring_full", "filtered", "not_ip", "counted")] + list(
        account["malformed"].values()
    )
    shares = [account[name] for name in ("live_flow_packets", "ended_record_packets", "kept_out_packets")]
    return account["offered"], sum(device) + sum(outcomes), account["counted"], sum(shares)


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = Run(
            "--idle",
            "300ms",
            "--task",
            "heavy-hitters:top=20,min-packets=0,min-rate=0",
            "--tasks",
            "entropy",
            "--window",
            "500ms",
            "--export",
            "csv:/dev/null",
        )

    @classmethod
    def tearDownClass(cls):
        cls.run_.__exit__()

    def test_the_page_is_served_and_may_run_nothing_but_what_is_in_it(self):
        status, headers, body = self.run_.ask("/")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "text/html; charset=utf-8")
        self.assertIn("<title>Parshall</title>", body)
        self.assertEqual((headers["X-Content-Type-Options"], headers["Cache-Control"]), ("nosniff", "no-store"))
        policy = headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        for element in ("script", "style"):
            (text,) = re.findall(f"<{element}>(.*?)</{element}>", body, re.DOTALL)
            self.assertIn(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode(), policy)
        self.assertEqual(re.findall(r"(?:src|href)=\"(?!data:)", body), [], "fetches from elsewhere")

    def test_each_second_has_a_state_that_adds_up(self):
        with self.run_.events() as events:
            came = collections.deque(maxlen=5)
            for state in itertools.islice(events, 30):
                came.append((time.monotonic(), state))
                if len(came) == 5 and came[-1][0] - came[1][0] < 5:
                    break  # else this machine did something else
        for _, state in came:
            account = state["summary"]["accounting"]
            offered, outcomes, counted, shares = parts_of(account)
            self.assertEqual(offered, outcomes)
            self.assertEqual(counted, shares)
            self.assertIs(account["balanced"], True)
            self.assertEqual(offered, sum(worker["accounting"]["offered"] for worker in state["summary"]["workers"]))
        numbers = [state["summary"]["report"] for _, state in came]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 5)), "one is lacking")
        self.assertLess(came[-1][0] - came[1][0], 5)
        grown = came[-1][1]["summary"]["packets"] - came[1][1]["summary"]["packets"]
        self.assertGreater(grown, 100_000)

    def test_biflows_are_of_who_began(self):
        with Run("--biflow", traffic=["-g", "flows=300,protocol=connections,pace=20000"]) as run:
            rows = run.rows_when(lambda rows: rows["matched"] > 99)
            ends = [tuple(flow[1:3]) for flow in rows["rows"]]
            self.assertEqual(len(ends), 100)
            self.assertFalse(
                {(back, there) for there, back in ends} & set(ends), "both directions of a connection are listed"
            )
            self.assertIn("reverse_packets", [column["name"] for column in rows["columns"]])
            self.assertEqual([kind["name"] for kind in run.state()["kinds"]], ["flow"])

    def test_groups_add_up_flows(self):
        """Each kind of rows of one report."""
        with Run(traffic=["-g", "flows=80,pace=20000", "--idle", "1h"]) as run:
            run.rows_when(lambda rows: rows["matched"] == 80, "by=flow")
            tables = {}
            with contextlib.ExitStack() as streams:
                kinds = ["flow", "conversation", "host", "service", "protocol"]
                states = [streams.enter_context(run.events(query=f"by={kind}&sort=packets")) for kind in kinds]
                latest = {kind: next(events) for kind, events in zip(kinds, states, strict=True)}
                while len({state["summary"]["report"] for state in latest.values()}) > 1:
                    last = min(latest, key=lambda kind: latest[kind]["summary"]["report"])
                    latest[last] = next(states[kinds.index(last)])
            for kind, state in latest.items():
                names = [column["name"] for column in state["rows"]["columns"]]
                tables[kind] = [dict(zip(names, row, strict=True)) for row in state["rows"]["rows"]]
                self.assertEqual(state["rows"]["by"], kind)
                packets = [row["packets"] for row in tables[kind]]
                self.assertEqual(packets, sorted(packets, reverse=True), kind)
        packets = collections.Counter()
        for flow in tables["flow"]:
            packets[tuple(sorted((flow["source"], flow["destination"])))] += flow["packets"]
        self.assertGreater(len(tables["conversation"]), 20)
        for row in tables["conversation"]:
            self.assertEqual(row["packets"], packets[tuple(sorted((row["client"], row["server"])))])
            self.assertAlmostEqual(row["in_bps"] + row["out_bps"], row["bit/s"], delta=0.001 * row["bit/s"] + 1)
        for row in tables["host"]:
            ends = [pair for pair in packets if any(end.rsplit(":", 1)[0] == row["host"] for end in pair)]
            self.assertEqual(row["packets"], sum(packets[pair] for pair in ends), row)
        (shares,) = [latest["host"]["shares"][name] for name in ("protocols",)]
        self.assertEqual([name for name, _ in shares["largest"]], [row["protocol"] for row in tables["protocol"]])
        self.assertAlmostEqual(sum(bps for _, bps in shares["largest"]), shares["bps"], delta=0.001 * shares["bps"] + 1)

    def test_an_opened_host_leaves_its_flows(self):
        hosts = self.run_.state("by=host&sort=packets")["rows"]
        host, name = hosts["rows"][3][0], hosts["names"][3]
        for query, is_its in (
            ("by=flow", lambda row: host in (row[1].rsplit(":", 1)[0], row[2].rsplit(":", 1)[0])),
            ("by=conversation", lambda row: host in (row[1].rsplit(":", 1)[0], row[2].rsplit(":", 1)[0])),
            ("by=host", lambda row: row[0] != host),
        ):
            rows = self.run_.state(f"{query}&within={name}")["rows"]
            self.assertGreater(len(rows["rows"]), 0, query)
            for row in rows["rows"]:
                self.assertTrue(is_its(row), (query, host, row))

    def test_rows_are_filtered_among_all_flows(self):
        rows = self.run_.state("by=flow&sort=bytes&order=rising&filter=proto+udp+and+packets+%3E+1")["rows"]
        self.assertEqual(rows["filter_problem"], "")
        self.assertGreater(rows["matched"], 100)
        self.assertEqual({row[0] for row in rows["rows"]}, {"UDP"})
        sizes = [row[6] for row in rows["rows"]]
        self.assertEqual(sizes, sorted(sizes))
        self.assertIn("did you mean host?", self.run_.state("filter=hosst+10.0.0.1")["rows"]["filter_problem"])
        for query in ("by=nothing", "sort=nothing", "x=1", "within=host:0", "filter=" + 300 * "(", "%ff"):
            self.assertEqual(list(self.run_.state(query)["rows"]), ["problem"], query)

    def test_shares_are_of_all_bits_from_the_first_state_on(self):
        with Run(traffic=["-g", "flows=1000000,pace=2000"]) as run, run.events() as events:
            for state in itertools.islice(events, 3):
                shares = state["shares"]["protocols"]
                self.assertGreater(shares["bps"], 0)
                self.assertAlmostEqual(
                    sum(bps for _, bps in shares["largest"]), shares["bps"], delta=0.02 * shares["bps"]
                )

    def test_counts_of_evicted_flows_are_not_called_exact(self):
        for flows, exact in (("1024", False), ("64Ki", True)):
            traffic = ["-g", "flows=20000,pace=50000", "--flows", flows, "--duration", "1h", "--idle", "1h"]
            with Run(traffic=traffic) as run:
                run.rows_when(lambda rows: not rows["exact"] or rows["matched"] > 5000, "by=flow")
                state = run.state("by=flow")
                if exact and state["summary"]["loss_ratio"] > 0:
                    continue  # this machine was too slow
                self.assertIs(state["rows"]["exact"], exact)

    def test_too_many_different_queries_are_refused(self):
        with contextlib.ExitStack() as streams:
            for number in range(32):
                next(streams.enter_context(self.run_.events(query=f"filter=port+{number}")))
            self.assertEqual(self.run_.ask_once("/api/events?filter=port+99", "HEAD")[0], 503)
            self.assertEqual(self.run_.ask_once("/api/events?filter=port+1", "HEAD")[0], 200)
        self.assertEqual(self.run_.ask("/api/events?filter=port+99", "HEAD")[0], 200)

    def test_a_state_has_flows_events_outputs_and_rates(self):
        give_up = time.monotonic() + WITHIN_S
        while True:
            state = self.run_.state("by=flow")
            seen = state["events"] and state["alarms"]["latest"] and state["lately"] and state["rows"]["rows"]
            if (
                seen and state["now"][3] == 0
            ) or time.monotonic() > give_up:  # a busy machine makes it lose some at first
                break
            time.sleep(0.2)
        names = [column["name"] for column in state["rows"]["columns"]]
        self.assertEqual(names[:7], ["protocol", "source", "destination", "pps", "bit/s", "packets", "bytes"])
        self.assertTrue(all(len(flow) == len(names) for flow in state["rows"]["rows"]))
        self.assertEqual(len(state["rows"]["rows"]), 100)
        self.assertEqual(state["rows"]["matched"], 2000)
        self.assertEqual({event["event"]["task"] for event in state["events"]}, {"entropy"})
        alarms = state["alarms"]
        self.assertGreaterEqual(alarms["begun"], alarms["open"])
        self.assertLessEqual(len(alarms["latest"]), 50)
        for each in alarms["latest"]:
            self.assertEqual((each["alarm"]["task"], each["alarm"]["severity"]), ("heavy-hitters", "info"))
            self.assertAlmostEqual(max(each["history"]), each["alarm"]["value"]["peak"], places=5)
            self.assertTrue(1 <= len(each["history"]) <= 64)
        self.assertEqual([output["name"] for output in state["summary"]["outputs"]], ["csv:/dev/null"])
        self.assertEqual(len(state["summary"]["workers"]), 1)
        _, pps, bps, lost = state["now"]
        self.assertGreater(pps, 1000)
        self.assertAlmostEqual(bps / pps, 8 * 60, delta=1)
        self.assertEqual(lost, 0)
        history = json.loads(self.run_.ask("/api/history")[2])
        self.assertGreater(len(history), 0)
        self.assertEqual(sorted(moment[0] for moment in history), [moment[0] for moment in history])

    def test_what_is_refused(self):
        for path, method, headers, status in (
            ("/api/state", "GET", {"Host": "evil.example"}, 403),
            ("/", "GET", {"Host": "evil.example:80"}, 403),
            ("/", "GET", {"Host": "127.0.0.1.evil.example"}, 403),
            ("/api/state", "GET", {"Host": f"localhost:{self.run_.port}"}, 200),
            ("/api/state", "GET", {"Host": "[::1]:80"}, 200),
            ("/api/state?x=1", "GET", {}, 200),
            ("/api/state", "POST", {}, 405),
            ("/api/state", "DELETE", {}, 405),
            ("/", "HEAD", {}, 200),
            ("/api/state", "HEAD", {}, 200),
            ("/api/events", "HEAD", {}, 200),
            ("/nothing", "HEAD", {}, 404),
            ("/api/state", "GET", {"Sec-Fetch-Site": "cross-site"}, 403),
            ("/api/events", "GET", {"Sec-Fetch-Site": "same-site"}, 403),
            ("/api/state", "GET", {"Sec-Fetch-Site": "same-origin"}, 200),
            ("/", "GET", {"Sec-Fetch-Site": "cross-site"}, 200),
            ("/api/state", "GET", {"Host": "127.0.0.1\0.evil.example"}, 400),
            ("/", "OPTIONS", {}, 405),
            ("/nothing", "GET", {}, 404),
            ("//", "GET", {}, 404),
            ("/../etc/passwd", "GET", {}, 404),
            ("/", "GET", {"Content-Length": "5"}, 400),
            ("/", "GET", {"Transfer-Encoding": "chunked"}, 400),
            ("/", "GET", {"X": "a" * 9000}, 431),
        ):
            self.assertEqual(self.run_.ask(path, method, headers)[0], status, (path, method, headers))

    def test_head_has_no_body(self):
        for path in ("/", "/api/state", "/nothing", "/api/events"):
            head, body = self.run_.raw(f"HEAD {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()).split(b"\r\n\r\n")
            self.assertTrue(head.startswith(b"HTTP/1.1 "))
            self.assertEqual(body, b"", path)

    def test_bytes_that_are_no_request_are_refused(self):
        for text, status in (
            (b"\r\n\r\n", 400),
            (b"GET\r\n\r\n", 400),
            (b"GET / HTTP/2.0\r\nHost: 127.0.0.1\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\n\r\n", 403),
            (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n folded: x\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\n:\r\n\r\n", 400),
            (bytes(range(256)) * 40, 431),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
            (b"GET /\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 404),
            (b"GET /\x00\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400),
        ):
            self.assertTrue(
                self.run_.raw(text).startswith(b"HTTP/1.1 %d " % status), (text[:40], self.run_.raw(text)[:60])
            )
        self.assertIsNone(self.run_.process.poll())


class States(unittest.TestCase):
    def test_what_is_left_out_and_the_recall_are_told(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as states:
            states.write(STATES)
            states.flush()
            with (
                Run("--states", states.name, "--window", "20ms", "--flows", "32Ki", traffic=["-g", TOO_MUCH]) as run,
                run.events() as events,
            ):
                for state in events:
                    said = [recall["latest_event"] for recall in state["recall"] if recall["latest_event"]]
                    if said and state["lately"] and state["lately"]["seconds"] > 0:
                        break
        self.assertEqual(list(state["states"]), ["light", "heavy"])
        self.assertGreater(state["states"]["heavy"]["packets"], 0)
        self.assertEqual(list(state["lately"]["states"]), ["light", "heavy"])
        self.assertEqual(state["summary"]["adaptation"]["mode"], "adapt")
        self.assertIn("retransmissions", [recall["task"] for recall in state["recall"]])
        for text in said:
            self.assertRegex(text, r"of its events \(at least|nothing is known of what it missed")


class Ends(unittest.TestCase):
    def test_ctrl_c_ends_it_while_clients_look(self):
        with Run() as run, run.events() as events, run.connect():
            next(events)
            began = time.monotonic()
            run.process.send_signal(signal.SIGINT)
            self.assertEqual(run.process.wait(WITHIN_S), 0)
            self.assertLess(time.monotonic() - began, 2)

    def test_a_run_that_waits_for_who_reads_its_records_shows_nothing_as_if_it_went_on(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo = pathlib.Path(folder, "unread")
            os.mkfifo(fifo)
            reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
            with Run(
                "--export",
                f"csv:{fifo}",
                "--idle",
                "100ms",
                traffic=["-g", "flows=100000,pace=300000", "--duration", "2s"],
            ) as run:
                with run.events() as events:
                    for _ in events:
                        pass
                self.assertIsNone(run.process.poll(), "it waits")
                with self.assertRaises(ConnectionRefusedError):
                    run.connect()
            os.close(reader)

    def test_a_run_without_memory_for_its_page_goes_on(self):
        with Run(traffic=["-g", "flows=500000,pace=60000", "--flows", "512Ki", "--workers", "1"]) as run:
            before = run.state()["summary"]["report"]
            status = pathlib.Path(f"/proc/{run.process.pid}/status").read_text()
            in_use = 1024 * int(re.search(r"VmSize:\s+(\d+) kB", status)[1])
            resource.prlimit(run.process.pid, resource.RLIMIT_AS, (in_use // 2, resource.RLIM_INFINITY))
            for _ in range(60):
                with contextlib.suppress(ConnectionError, http.client.HTTPException):  # the server lacks memory, too
                    if run.ask_once("/api/state?by=host")[0] == 503:
                        break
                time.sleep(0.5)
            else:
                self.fail("there was memory all the time")
            resource.prlimit(run.process.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            self.assertGreater(run.state("by=host")["summary"]["report"], before)
            self.assertIsNone(run.process.poll())
            run.process.send_signal(signal.SIGINT)
            self.assertEqual(run.process.wait(WITHIN_S), 0)

    def test_a_run_that_ends_by_itself_ends(self):
        with Run(traffic=["-g", "flows=100,pace=100000", "--duration", "2s"]) as run:
            self.assertEqual(run.process.wait(WITHIN_S), 0)

    def test_a_port_in_use_is_said(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            done = self.refused("--web", f"127.0.0.1:{taken.getsockname()[1]}")
            self.assertEqual(done.returncode, 1)
            self.assertIn("Address already in use", done.stderr)

    def test_what_is_no_address_is_said(self):
        for address in (
            "nowhere",
            "127.0.0.1:",
            ":80",
            "127.0.0.1:65536",
            "127.0.0.1:-1",
            "127.0.0.1:8x",
            "example.org:80",
            "1.2.3:80",
            "::1:80",
            "[::1:80",
            "[]:80",
            " 80",
        ):
            done = self.refused("--web", address)
            self.assertEqual(done.returncode, 2, address)
            self.assertIn("--web", done.stderr, address)

    def test_what_it_does_not_go_with_is_said(self):
        for other in (("--every", "1s"), ("--live",)):
            done = self.refused("--web", "127.0.0.1:0", *other)
            self.assertEqual(done.returncode, 2, other)
            self.assertIn("leave out one", done.stderr)

    def refused(self, *arguments):
        done = subprocess.run(
            watch("-q", "--count", "10", *arguments), capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        return done


if __name__ == "__main__":
    web_run.PROGRAM = sys.argv.pop(1)
    unittest.main()
