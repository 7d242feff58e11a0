# SPDX-License-Identifier: Apache-2.0
"""Collectors that count what comes, and that die, stall and come back."""

import contextlib
import select
import socket
import threading
import time

from flow_messages import Stream

RECEIVE_BYTES = 16 << 20
SO_RCVBUFFORCE, SO_RXQ_OVFL = 33, 40


class Collector(threading.Thread):
    """One port of the watched side's loopback."""

    def __init__(self, name, link, port):
        super().__init__(name=name, daemon=True)
        self._link, self.port = link, port
        self._lock = threading.Lock()
        self._ending, self._stalled = threading.Event(), threading.Event()
        self.wrong = []
        self.revive()
        self.start()

    def run(self):
        while not self._ending.is_set():
            if self._stalled.is_set():
                time.sleep(0.05)
                continue
            with self._lock:
                ready = self._sockets()
            if not ready:
                time.sleep(0.05)
                continue
            with contextlib.suppress(OSError, ValueError):  # closed by who has it die
                readable = select.select(ready, [], [], 0.1)[0]
                with self._lock:
                    for one in readable:
                        if one.fileno() >= 0:
                            self._receive(one)

    def stall(self):
        """Reads nothing, with all sockets open."""
        self._stalled.set()

    def go_on(self):
        self._stalled.clear()

    def stop(self):
        self._ending.set()
        self.join()
        self.die()


class UdpCollector(Collector):
    """One session, however often the socket is closed: a hole is in the sequence numbers."""

    def __init__(self, name, link, port):
        self.stream, self._socket, self.overflowed = Stream(), None, 0
        self._before = 0
        super().__init__(name, link, port)

    def _sockets(self):
        return [self._socket] if self._socket else []

    def revive(self):
        with self._lock:
            self._socket = self._link.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BYTES)
            self._socket.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)
            self._socket.bind(("127.0.0.1", self.port))
            self._socket.setblocking(False)

    def die(self):
        with self._lock:
            if self._socket:
                self._receive(self._socket, most=1 << 30)
                self._socket.close()
                self._socket = None
                self._before = self.overflowed

    def _receive(self, one, most=500):
        with contextlib.suppress(BlockingIOError):
            for _ in range(most):
                data, ancillary, *_ = one.recvmsg(65536, 64)
                for level, kind, value in ancillary:
                    if (level, kind) == (socket.SOL_SOCKET, SO_RXQ_OVFL):
                        self.overflowed = self._before + int.from_bytes(value[:4], "little")
                try:
                    self.stream.read(data)
                except ValueError as error:
                    self.wrong.append(str(error))

    def numbers(self):
        return {"sessions": [self.stream.numbers()], "overflowed": self.overflowed, "wrong": self.wrong}


class TcpCollector(Collector):
    """A session for each connection."""

    def __init__(self, name, link, port):
        self._listener, self._open, self.streams = None, {}, []
        super().__init__(name, link, port)

    def _sockets(self):
        return [*([self._listener] if self._listener else []), *self._open]

    def revive(self):
        with self._lock:
            self._listener = self._link.socket(socket.AF_INET, socket.SOCK_STREAM)
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._listener.bind(("127.0.0.1", self.port))
            self._listener.listen()

    def die(self):
        """At once, with what it has not read."""
        with self._lock:
            for one in self._sockets():
                one.close()
            self._listener, self._open = None, {}

    def _receive(self, one):
        if one is self._listener:
            connection = one.accept()[0]
            connection.setblocking(False)
            stream = Stream()
            self.streams.append(stream)
            self._open[connection] = (stream, bytearray())
            return
        stream, rest = self._open[one]
        with contextlib.suppress(BlockingIOError):
            part = one.recv(1 << 18)
            rest += part
            if rest:
                try:
                    del rest[: stream.read(bytes(rest))]
                except ValueError as error:
                    self.wrong.append(str(error))
            if not part:
                if rest:
                    self.wrong.append(f"{len(rest)} bytes of a message when it was closed")
                one.close()
                del self._open[one]

    def numbers(self):
        return {"sessions": [stream.numbers() for stream in self.streams], "wrong": self.wrong}
