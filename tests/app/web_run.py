# SPDX-License-Identifier: Apache-2.0
"""A monitor with a web page, for tests. They set PROGRAM first."""

import contextlib
import http.client
import json
import re
import socket
import subprocess
import time

PROGRAM = None
TRAFFIC = ["-g", "flows=2000,pace=100000"]
WITHIN_S = 60
TOO_MUCH = "flows=20000,dist=zipf:1.1,protocol=connections,resend=0.01,pace=60000000"
STATES = """
default = "heavy"
[[state]]
name = "light"
tasks = ["count"]
[[state]]
name = "heavy"
tasks = ["count", "bursty", "retransmissions:recall=0.5"]
lighter = "light"
"""


def watch(*arguments, traffic=None):
    return [PROGRAM, "watch", *(traffic or TRAFFIC), "-o", "/dev/null", *arguments]


class Run:
    """A monitor with a page, and where that is."""

    def __init__(self, *arguments, web="127.0.0.1:0", traffic=None):
        self.process = subprocess.Popen(
            watch("--web", web, *arguments, traffic=traffic), stderr=subprocess.PIPE, text=True
        )
        self.said = ""
        for line in self.process.stderr:
            self.said += line
            if found := re.search(r"http://([^ /]+):(\d+)/(?:#token=(\S+))?", line):
                self.host, self.port, self.token = found[1], int(found[2]), found[3]
                break
        else:
            raise AssertionError(f"no page: {self.said}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.stderr.close()
        self.process.wait()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=WITHIN_S)

    def ask(self, path="/api/state", method="GET", headers=None):
        """Status, headers and body; waits while nothing has been counted yet."""
        give_up = time.monotonic() + WITHIN_S
        while True:
            status, said, body = self.ask_once(path, method, headers)
            if status != 503 or time.monotonic() > give_up:
                return status, said, body
            time.sleep(0.05)

    def ask_once(self, path="/api/state", method="GET", headers=None):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=WITHIN_S)) as connection:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()

    def state(self, query=""):
        return json.loads(self.ask(f"/api/state?{query}")[2])

    def rows_when(self, is_right, query=""):
        """The rows as soon as they are as they should be, or the last ones."""
        give_up = time.monotonic() + WITHIN_S
        while not is_right(rows := self.state(query)["rows"]) and time.monotonic() < give_up:
            time.sleep(0.1)
        return rows

    def raw(self, text):
        """What comes back for these bytes, until the other end closes."""
        with self.connect() as connection:
            connection.sendall(text)
            parts = []
            with contextlib.suppress(ConnectionError):
                while part := connection.recv(65536):
                    parts.append(part)
            return b"".join(parts)

    @contextlib.contextmanager
    def events(self, headers="", query=""):
        """The states of a stream, one after the other."""
        with self.connect() as connection:
            connection.sendall(f"GET /api/events?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode())
            with connection.makefile() as lines:
                yield (json.loads(line[6:]) for line in lines if line.startswith("data: "))
