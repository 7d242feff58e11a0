# SPDX-License-Identifier: Apache-2.0
"""Clients of the page and of the metrics: one that asks each second, and those that behave badly."""

import contextlib
import json
import re
import time

TIMEOUT_S = 10


def get(link, port, path):
    """Status and body of a GET, by a connection of its own."""
    with contextlib.closing(link.socket()) as connection:
        connection.settimeout(TIMEOUT_S)
        connection.connect(("127.0.0.1", port))
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        head, _, body = receive(connection).partition(b"\r\n\r\n")
    if not head:
        raise OSError("nothing came back")
    return int(head.split()[1]), body


def receive(connection):
    """Until the other end closes, or a whole body of the stated length is there."""
    data = bytearray()
    length = None
    while length is None or len(data) < length:
        part = connection.recv(1 << 18)
        if not part:
            break
        data += part
        if length is None and (end := data.find(b"\r\n\r\n")) >= 0:
            found = re.search(rb"(?i)content-length: (\d+)", data[:end])
            length = end + 4 + int(found[1]) if found else 1 << 62
    return bytes(data)


def state(link, port):
    """The latest state; None before there is one."""
    status, body = get(link, port, "/api/state")
    return json.loads(body) if status == 200 else None


def metrics(link, port):
    """What Prometheus would read, by name with labels."""
    status, body = get(link, port, "/metrics")
    if status != 200:
        raise OSError(f"status {status}")
    return {
        line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
        for line in body.decode().splitlines()
        if line and not line.startswith("#")
    }


def stall(link, port, clients, seconds, stop):
    """Clients that ask for a stream of states and read nothing."""
    with contextlib.ExitStack() as stack:
        for _ in range(clients):
            one = stack.enter_context(contextlib.closing(link.socket()))
            one.settimeout(TIMEOUT_S)
            one.setsockopt(1, 8, 2048)  # SO_RCVBUF
            with contextlib.suppress(OSError):
                one.connect(("127.0.0.1", port))
                one.sendall(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        stop.wait(seconds)


def crowd(link, port, clients, seconds, stop):
    """More connections than it takes, that say nothing or half a request."""
    with contextlib.ExitStack() as stack:
        for number in range(clients):
            one = stack.enter_context(contextlib.closing(link.socket()))
            one.settimeout(TIMEOUT_S)
            with contextlib.suppress(OSError):
                one.connect(("127.0.0.1", port))
                if number % 2:
                    one.sendall(b"GET /api/state HT")
        stop.wait(seconds)


def garbage(link, port, random, clients):
    """Bytes that are no request; returns what came back, by its first line."""
    answers = {}
    for _ in range(clients):
        kind = random.randrange(4)
        if kind == 0:
            text = random.randbytes(random.randrange(1, 20_000))
        elif kind == 1:
            text = (
                b"GET /"
                + random.randbytes(40).replace(b"\r", b"").replace(b"\n", b"")
                + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            )
        elif kind == 2:
            text = b"POST /api/state HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999\r\n\r\n"
        else:
            text = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + random.randbytes(200)
        answer = b"closed"
        with contextlib.closing(link.socket()) as one, contextlib.suppress(OSError):
            one.settimeout(8)
            one.connect(("127.0.0.1", port))
            one.sendall(text)
            answer = one.recv(200).split(b"\r\n")[0] or b"closed"
        answers[answer.decode("ascii", "replace")] = answers.get(answer.decode("ascii", "replace"), 0) + 1
        time.sleep(0.01)
    return answers
