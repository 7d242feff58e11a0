# SPDX-License-Identifier: Apache-2.0
"""Seeds of what flows say of themselves in their first bytes: hellos of TLS, payloads and pieces of QUIC, requests of
HTTP, messages of DNS."""

import struct


def sized(width, data):
    """`data` with its length in `width` bytes before it."""
    return len(data).to_bytes(width, "big") + data


def little(number):
    return struct.pack("<H", number)


def extension(kind, content):
    return struct.pack(">H", kind) + sized(2, content)


def numbers(*values):
    return b"".join(struct.pack(">H", value) for value in values)


EXTENSIONS = [
    b"",
    extension(0, sized(2, b"\0" + sized(2, b"a.example")))
    + extension(16, sized(2, sized(1, b"h2") + sized(1, b"http/1.1")))
    + extension(43, sized(1, numbers(0x1A1A, 0x0304, 0x0303)))
    + extension(13, sized(2, numbers(0x0403, 0x0804)))
    + extension(0xFAFA, b"")
    + extension(51, bytes(40)),
    extension(0, b"") + extension(16, sized(2, sized(1, b"\xab"))) + extension(43, sized(1, numbers(0x7F1C))) * 2,
    extension(43, numbers(0x0304)) + extension(16, sized(2, sized(1, b"h3"))),
    extension(0, sized(2, b"\1\0\1x\0" + sized(2, b"\xff\0"))) + extension(99, b"")[:3],
]


def client_hello(extensions, version=0x0303):
    body = numbers(version) + bytes(32) + sized(1, b"session") + sized(2, numbers(0x0A0A, 0x1301, 0xC02F, 0x00FF))
    return b"\1" + sized(3, body + b"\1\0" + (sized(2, extensions) if extensions else b""))


def server_hello(extensions, version=0x0303):
    body = numbers(version) + bytes(32) + sized(1, bytes(32)) + numbers(0x1301) + b"\0"
    return b"\2" + sized(3, body + (sized(2, extensions) if extensions else b""))


def record(payload):
    return b"\x16\3\1" + sized(2, payload)


def tls_seeds():
    hellos = [make(extensions) for make in (client_hello, server_hello) for extensions in EXTENSIONS]
    for hello in hellos + [client_hello(EXTENSIONS[1], version) for version in (0x0300, 0x0002)]:
        for how in (1, 5, 6):
            yield bytes([how]) + little(60) + hello
        yield b"\4" + little(60) + record(hello)
        yield b"\0" + little(60) + record(hello[:50]) + record(hello[50:])
    yield b"\0" + little(9) + b"\x15\3\3\0\2\1\x70" + record(server_hello(b""))
    yield b"\0" + little(3) + record(hellos[0][:50]) + b"\x15\3\3\0\2\2\x28"


def crypto(offset, data):
    return b"\6" + struct.pack(">I", 0x80000000 | offset) + struct.pack(">H", 0x4000 | len(data)) + data


def quic_seeds():
    hello = client_hello(EXTENSIONS[1])
    ack, ecn_ack, close = b"\2\x40\7\0\1\0\0\0", b"\3\7\0\0\1\2\3\4", b"\x1c\0\6\2no"
    packets = [
        crypto(0, hello) + bytes(20),
        b"\1" + crypto(60, hello[60:]) + ack + bytes(9) + crypto(0, hello[:70]),
        ecn_ack + close + crypto(0, hello[:20]),
        crypto(20, hello[20:]),
        crypto(16380, hello) + crypto(0x3FFFFFFF, b"far"),
        ack + b"\x1e",
    ]
    framed = [little(len(packet)) + packet for packet in packets]
    yield from (b"\1" + packet for packet in framed)
    yield b"\1" + b"".join(framed[2:4]) + framed[0]
    for version, kind in ((1, 0xC0), (0x6B3343CF, 0xD0)):
        head = bytes([kind]) + struct.pack(">I", version)
        packet = head + sized(1, bytes(range(8))) + b"\0\2ab" + sized(2, bytes(range(40)))
        packet = packet[:-42] + b"\x40\x28" + packet[-40:]
        yield b"\0" + little(len(packet)) + packet + b"\1"
        yield b"\0" + little(2 * len(packet)) + packet * 2 + b"\1" + little(len(packet)) + packet + b"\1"
    pieces = [(0, 10), (5, 10), (30, 5), (20, 10), (0, 40), (16380, 100), (16484, 1), (41, 0)]
    yield b"\2" + b"".join(little(offset) + little(length) for offset, length in pieces)
    yield b"\2" + b"".join(little(2 * i) + little(1) for i in range(16))


REQUESTS = [
    "GET /a?b HTTP/1.1\r\nHost: a.example:80\r\nUser-Agent: curl/8\r\n\r\n",
    "POST  / HTTP/1.0\nuser-agent:x\nX: y\n\n",
    "CONNECT a.example:443 HTTP/1.1\r\n\r\n",
    "UPDATEREDIRECTREF /a b HTTP/1.1\r\nHOST:\t a \t\r\nHost: b\r\n folded\r\nno field\r\n\r\n",
    "PROPFIND /\x7f HTTP/1.1\r\n",
    "GET / HTTP/1.x\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/1.1 200 OK\r\n\r\n",
]


def dns_name(*labels):
    return b"".join(sized(1, label) for label in labels) + b"\0"


def dns_message(flags, counts, name, behind):
    return b"\xab\xcd" + numbers(flags, *counts) + name + behind


def dns_seeds():
    name, question = dns_name(b"www", b"example", b"org"), numbers(1, 1)
    odd = dns_name(b"a.b\\ \xff\0", b"x" * 63)
    for message in (
        dns_message(0x0100, (1, 0, 0, 1), name, question + b"\0\0\x29\x10\0\0\0\0\0\0\0"),
        dns_message(0x8183, (1, 0, 1, 0), name, question),
        dns_message(0x0100, (1, 0, 0, 0), b"\0", question),
        dns_message(0x0100, (1, 0, 0, 0), odd, question),
        dns_message(0x2000, (1, 0, 0, 0), dns_name(b"x" * 63, b"y" * 63, b"z" * 63, b"w" * 61), question),
        dns_message(0x8181, (0, 0, 0, 0), b"", b""),
        dns_message(0x8400, (0, 2, 0, 0), name, bytes(10)),
        dns_message(0x0000, (3, 4, 0, 0), name, question),
        dns_message(0x0100, (1, 0, 0, 0), b"\1a\xc0\x0c", question),
    ):
        for what in range(3):
            yield bytes([what]) + little(20) + (sized(2, message) if what == 2 else message)


def seeds():
    """{target: inputs}"""
    return {
        "tls": set(tls_seeds()),
        "quic": set(quic_seeds()),
        "http": {little(30) + text.encode("latin-1") for text in REQUESTS},
        "dns": set(dns_seeds()),
    }
