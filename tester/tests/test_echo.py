#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`parshall test echo-server` and `echo-clients` on loopback, as users meet them: statuses, messages, reports.

usage: test_echo.py PARSHALL [unittest arguments]
"""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None
DONE, FAILED, USAGE = 0, 1, 2


def clients(*arguments, **more):
    return subprocess.run(
        [PROGRAM, "test", "echo-clients", *arguments], capture_output=True, text=True, timeout=60, check=False, **more
    )


class Server:
    """On a free port of loopback, until the block ends."""

    def __init__(self, *arguments, listen="127.0.0.1:0"):
        self.process = subprocess.Popen(
            [PROGRAM, "test", "echo-server", "--listen", listen, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        self.endpoint = self.process.stderr.readline().split()[-1]
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.told, self.errors = self.process.communicate(timeout=20)


class Echo(unittest.TestCase):
    def test_both_report_the_same_as_text(self):
        with Server() as server:
            done = clients("--connect", server.endpoint, "--clients", "3", "--count", "60")
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.assertIn("connections 60 begun, 60 finished, 0 failed, 0 abandoned", done.stdout)
        self.assertIn(
            f"command     parshall test echo-clients --connect {server.endpoint} --clients 3 --count 60\n", done.stdout
        )
        for word in ("connection  p50", "p99.9", "echo        p50", "fairness"):
            self.assertIn(word, done.stdout)
        self.assertEqual((server.process.returncode, server.errors), (DONE, ""))
        self.assertIn("connections 60 accepted, 60 closed, 0 reset", server.told)
        self.assertIn(f"bytes       {60 * 512} received, {60 * 512} sent", server.told)

    def test_what_came_before_the_end_is_counted(self):
        with Server() as server:
            server.process.send_signal(signal.SIGSTOP)
            host, port = server.endpoint.rsplit(":", 1)
            for _ in range(3):
                with socket.create_connection((host, int(port))) as connection:
                    connection.sendall(bytes(100))
                    connection.shutdown(socket.SHUT_WR)
            server.process.send_signal(signal.SIGTERM)
            server.process.send_signal(signal.SIGCONT)
        self.assertRegex(server.told, r"connections 3 accepted, .* 0 open")
        self.assertIn("bytes       300 received", server.told)

    def test_a_report_goes_to_a_file_and_is_json(self):
        with tempfile.TemporaryDirectory() as folder, Server("--format", "json") as server:
            path = folder + "/report.json"
            done = clients(
                "--connect", server.endpoint, "--count", "10", "--message", "1k", "--format", "json", "-o", path
            )
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
        self.assertEqual((done.returncode, done.stdout), (DONE, ""))
        self.assertEqual(
            (report["begun"], report["finished"], report["messages"], report["bytes_received"]), (10, 10, 10, 10_000)
        )
        self.assertEqual(report["failed"]["total"], 0)
        for latency in ("connection", "echo"):
            values = [report[latency][name] for name in ("p50_ns", "p90_ns", "p99_ns", "p99.9_ns", "max_ns")]
            self.assertEqual(values, sorted(values))
            self.assertGreater(values[0], 0)
        self.assertLess(report["echo"]["p50_ns"], report["connection"]["p50_ns"])
        self.assertEqual(json.loads(server.told)["accepted"], 10)

    def test_ipv6(self):
        with Server(listen="[::1]:0") as server:
            done = clients("--connect", server.endpoint, "--count", "5")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_a_server_ends_after_so_many_connections(self):
        server = Server("--count", "20")
        with server:
            clients("--connect", server.endpoint, "--count", "20")
            server.process.wait(timeout=20)
        self.assertEqual(server.process.returncode, DONE)

    def test_nobody_listens(self):
        with Server() as server:
            pass
        done = clients("--connect", server.endpoint, "--duration", "300ms")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("refused", done.stderr)
        self.assertIn("echo-server", done.stderr)

    def test_a_port_in_use(self):
        with Server() as server:
            done = subprocess.run(
                [PROGRAM, "test", "echo-server", "--listen", server.endpoint],
                capture_output=True,
                text=True,
                timeout=20,
                check=False,
            )
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("name another port", done.stderr)

    @unittest.skipIf(os.geteuid() != 0, "SKIPPED: needs another user to be")
    def test_too_few_files(self):
        def tighten():
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
            os.setuid(65534)

        done = clients("--connect", "127.0.0.1:7", "--clients", "200", preexec_fn=tighten, cwd="/")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("ulimit -n 264", done.stderr)

    def test_mistakes(self):
        for arguments, word in (
            (["--connect", "127.0.0.1"], "[2001:db8::1]:7777"),
            (["--connect", "127.0.0.1:7", "--message", "0"], "--message"),
            (["--connect", "127.0.0.1:7", "--duration", "soon"], "--duration"),
            (["--clients", "3"], "--connect"),
            (["--connect", "127.0.0.1:7", "--count", "0"], "--count"),
            (["--connect", "127.0.0.1:7", "--close", "slam"], "--close"),
            (["--connect", "127.0.0.1:7", "--clients", "2", "--ports", "1"], "ports"),
            (["--connect", "127.0.0.1:7", "--first-port", "65535", "--ports", "2"], "65535"),
        ):
            with self.subTest(arguments=arguments):
                done = clients(*arguments)
                self.assertEqual(done.returncode, USAGE, done.stderr)
                self.assertIn(word, done.stderr)
        for arguments in (["test"], ["test", "echo"], ["test", "echo-server", "--listen", "here"]):
            done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=20, check=False)
            self.assertEqual(done.returncode, USAGE, done.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
