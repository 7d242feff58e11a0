# SPDX-License-Identifier: Apache-2.0
"""Clients of the page: who needs a token, and that nobody who looks at it keeps the run from its work.

usage: test_web_clients.py PARSHALL [unittest arguments]
"""

import contextlib
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import web_run
from web_run import WITHIN_S, Run, watch


class Token(unittest.TestCase):
    def test_beyond_this_host_one_is_made_and_said_and_asked_for(self):
        with Run("-q", web="0.0.0.0:0") as run:
            self.assertRegex(run.token, "^[0-9a-f]{32}$")
            self.assertEqual(run.host, socket.gethostname())
            self.assert_asked_for(run, run.token)
            self.assertEqual(run.ask("/", headers={"Host": f"{run.host}:{run.port}"})[0], 200)
            self.assertEqual(run.ask("/", headers={"Host": run.host + ".evil.example"})[0], 403)

    def test_one_of_a_file_is_asked_for_and_not_said(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "token")
            file.write_text("correct-horse-battery\nno part of it\n")
            with Run("--web-token", str(file)) as run:
                self.assertNotIn("correct-horse", run.said)
                self.assert_asked_for(run, "correct-horse-battery")
            for text in ("", "short\n", "with spaces in the token\n"):
                file.write_text(text)
                done = subprocess.run(
                    watch("--web", "127.0.0.1:0", "--web-token", str(file)),
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("--web-token", done.stderr)

    def assert_asked_for(self, run, token):
        for path in ("/api/state", "/api/history", "/api/events"):
            for given in (
                None,
                "Bearer ",
                "Bearer " + token[:-1],
                "Bearer " + token[:-1] + "!",
                "Bearer " + token + "0",
                "Basic " + token,
                token,
            ):
                self.assertEqual(
                    run.ask(path, headers={"Authorization": given} if given else {})[0], 401, (path, given)
                )
        self.assertEqual(run.ask(headers={"Authorization": "Bearer " + token})[0], 200)
        with run.events(f"Authorization: Bearer {token}\r\n") as events:
            self.assertGreater(next(events)["summary"]["packets"], 0)
        status, _, page = run.ask("/")
        self.assertEqual(status, 200)
        self.assertNotIn(token, page)


class Load(unittest.TestCase):
    def test_who_reads_nothing_keeps_nobody_waiting(self):
        statistics = "min,max,last,mean,sd,skewness,kurtosis,p10,p50,p90,p99,p99.9".split(",")
        columns = "+" + ",".join(f"{of}_{what}" for of in ("gap", "iat", "size") for what in statistics)
        with Run("--columns", columns) as run, contextlib.ExitStack() as stack:
            for _ in range(5):
                stalled = stack.enter_context(socket.socket())
                stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                stalled.connect(("127.0.0.1", run.port))
                stalled.sendall(b"GET /api/events?by=flow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            began, numbers, size, elapsed = time.monotonic(), [], 0, []
            for state in stack.enter_context(run.events(query="by=flow")):
                numbers.append(state["summary"]["report"])
                elapsed.append(state["summary"]["elapsed_s"])
                size += len(json.dumps(state))
                if len(numbers) == 10:
                    break
            self.assertGreater(size, 400_000, "the buffers of who stalls are not full yet")
            self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 10)))
            # They come as fast as they are made, which takes longer than a second each on a busy machine.
            self.assertLess(time.monotonic() - began, elapsed[-1] - elapsed[0] + 5)
            before = json.loads(run.ask()[2])["summary"]
            give_up = time.monotonic() + WITHIN_S
            while (after := json.loads(run.ask()[2])["summary"])["elapsed_s"] < before["elapsed_s"] + 2:
                self.assertLess(time.monotonic(), give_up, "no further state")
                time.sleep(0.1)
            seconds = after["elapsed_s"] - before["elapsed_s"]
            self.assertGreater(after["packets"] - before["packets"], 25_000 * seconds)  # of 100,000 a second
            self.assertTrue(after["accounting"]["balanced"])

    def test_a_hundred_clients_have_each_state(self):
        with Run() as run, contextlib.ExitStack() as stack:
            for head in (b"", b"GET / HT"):
                for _ in range(5):
                    stack.enter_context(run.connect()).sendall(head)
            clients = [stack.enter_context(run.events()) for _ in range(100)]
            counts = [[] for _ in clients]

            def follow(events, into):
                for state in events:
                    into.append(state["summary"]["report"])
                    if len(into) == 4:
                        return

            threads = [threading.Thread(target=follow, args=pair) for pair in zip(clients, counts)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(WITHIN_S)
            self.assertEqual([len(count) for count in counts], [4] * 100)
            for count in counts:
                self.assertLessEqual(count[-1] - count[0], 6, "states were lost")

    def test_more_than_it_takes_are_turned_away_and_leave_room_again(self):
        with Run() as run:
            with contextlib.ExitStack() as stack:
                began = time.monotonic()
                sockets = [stack.enter_context(run.connect()) for _ in range(300)]
                closed, give_up = set(), time.monotonic() + WITHIN_S
                while len(closed) < 300 - 192 and time.monotonic() < give_up:
                    time.sleep(0.05)
                    for at, one in enumerate(sockets):
                        one.setblocking(False)
                        with contextlib.suppress(BlockingIOError):
                            if one.recv(1) == b"":
                                closed.add(at)
                self.assertLessEqual(set(range(300 - 192)), closed, "those that came first")
                if time.monotonic() < began + 5:  # then who has asked for nothing is closed, too
                    self.assertEqual(len(closed), 300 - 192)
            self.assertEqual(run.ask("/")[0], 200)

    def test_who_opens_connections_without_an_end_keeps_nobody_else_out(self):
        with Run() as run, contextlib.ExitStack() as stack:
            stop = threading.Event()

            def flood():
                held = []
                while not stop.wait(0.002):
                    with contextlib.suppress(OSError):
                        held.append(stack.enter_context(run.connect()))
                        held[-1].sendall(b"GET / HT")

            run.ask()
            thread = threading.Thread(target=flood)
            thread.start()
            try:
                time.sleep(1.5)
                self.assertEqual([run.ask("/")[0] for _ in range(20)], [200] * 20)
            finally:
                stop.set()
                thread.join()

    def test_who_goes_on_sending_is_let_go(self):
        with Run() as run, run.connect() as connection, self.assertRaises(ConnectionError):
            connection.sendall(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            give_up = time.monotonic() + WITHIN_S
            while time.monotonic() < give_up:
                connection.sendall(bytes(1000))
                time.sleep(0.01)

    def test_who_says_nothing_is_let_go(self):
        with Run(traffic=["-g", "flows=100,pace=100"]) as run, run.connect() as connection:
            began = time.monotonic()
            self.assertEqual(connection.recv(1), b"")
            self.assertLess(time.monotonic() - began, 8)


if __name__ == "__main__":
    web_run.PROGRAM = sys.argv.pop(1)
    unittest.main()
