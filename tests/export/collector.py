#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what comes to a UDP or TCP port into files, each datagram or connection one, until SIGTERM: what it has not
read by then it leaves.

usage: collector.py udp|tcp ADDRESS PORT FOLDER [PAUSE_S]
"""

import os
import pathlib
import signal
import socket
import struct
import sys
import time

SO_RCVBUFFORCE = 33


def take_datagrams(listener, folder, stopped, _):
    listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    with open(folder / f"{os.getpid()}.datagrams", "wb", buffering=0) as file:
        while not stopped:
            try:
                message = listener.recv(65536)
            except TimeoutError:
                continue
            file.write(struct.pack(">I", len(message)) + message)


def take_connections(listener, folder, stopped, pause_s):
    listener.listen()
    number = 0
    while not stopped:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            continue
        number += 1
        connection.settimeout(0.1)
        with open(folder / f"{os.getpid()}-{number}.stream", "wb", buffering=0) as file:
            while not stopped:
                try:
                    more = connection.recv(1 << 16)
                except TimeoutError:
                    continue
                except ConnectionError:
                    break
                if not more:
                    break
                file.write(more)
                time.sleep(pause_s)
        connection.close()


def main():
    kind, address, port, folder, *pause = sys.argv[1:]
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, int(port)))
    listener.settimeout(0.1)
    print("ready", flush=True)
    (take_datagrams if kind == "udp" else take_connections)(
        listener, pathlib.Path(folder), stopped, float(*pause or (0,))
    )


if __name__ == "__main__":
    main()
