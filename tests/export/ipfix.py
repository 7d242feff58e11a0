# SPDX-License-Identifier: Apache-2.0
"""Reads IPFIX messages (RFC 7011) by what is written there, and complains of all that it does not allow."""

import functools
import ipaddress
import socket
import struct

TEMPLATES, OPTIONS = 2, 3
UNSIGNED = {
    10: "interface",
    1: "octets",
    2: "packets",
    352: "wire_bytes",
    4: "protocol",
    60: "ip_version",
    7: "src_port",
    11: "dst_port",
    152: "first_ms",
    153: "last_ms",
    161: "duration_ms",
    6: "tcp_flags",
    136: "end_reason",
    34: "sampling",
    148: "flow_id",
    149: "domain",
    86: "counted",
    135: "lost",
    164: "ignored",
    42: "records",
    25: "ip_size_min_bytes",
    52: "ttl_min",
    53: "ttl_max",
    58: "vlan",
    195: "dscp",
    26: "ip_size_max_bytes",
    32: "icmp_type_code",
    139: "icmp_type_code",
    41: "messages",
    166: "not_sent",
    167: "packets_not_sent",
    239: "direction",
    (29305, 1): "reverse_octets",
    (29305, 2): "reverse_packets",
    (29305, 352): "reverse_wire_bytes",
    (29305, 6): "reverse_tcp_flags",
    346: "pen",
    303: "element",
    339: "type",
    344: "semantics",
    (32473, 50): "offered",
    (32473, 54): "in_flows",
    (32473, 58): "balanced",
    (32473, 59): "packets_offered",
    (32473, 60): "whole_run",
    (32473, 61): "unconfirmed",
    (32473, 62): "packets_unconfirmed",
    (32473, 63): "packets_in_columns",
    (32473, 2): "record",
    (32473, 40): "exact",
    (32473, 41): "missed",
}
ADDRESSES = {8: "src", 12: "dst", 27: "src", 28: "dst"}
TIMES = {156: "first_ns", 157: "last_ns", (32473, 4): "flow_first_ns"}
FLOATS = {(32473, n): f"float_{n}" for n in range(10, 16)}
TEXTS = {341: "name", 96: "class", 82: "interface_name", 300: "domain_name", (32473, 3): "community_id"}
LISTS = {
    (32473, 16): "ip_sizes",
    (32473, 17): "times_between",
    (32473, 18): "flags",
}  # of a basicList (RFC 6313): ordered
BASIC_LIST, ANY_LENGTH = 291, 65535
LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}  # of the struct module, for unsigned numbers of so many bytes


class Wrong(Exception):
    pass


@functools.cache
def address(value):
    return socket.inet_ntoa(value) if len(value) == 4 else str(ipaddress.IPv6Address(value))


def time_ns(value):
    seconds, fraction = struct.unpack(">II", value)
    return (seconds - 2208988800) * 10**9 + (fraction * 10**9 + 2**31) // 2**32


def single(value):
    return struct.unpack(">f", value)[0]


def double(value):
    return struct.unpack(">d", value)[0]


def basic_list(value):
    ordered, of, length, pen = struct.unpack(">BHHI", value[:9])
    if ordered != 4 or not of & 0x8000 or (len(value) - 9) % length:
        raise Wrong(f"a list of {value.hex()}")
    return LISTS[pen, of & 0x7FFF], [
        int.from_bytes(value[at : at + length], "big") for at in range(9, len(value), length)
    ]


def unsigned(value):
    return int.from_bytes(value, "big")


MEANINGS = (
    (ADDRESSES, address),
    (TIMES, time_ns),
    (FLOATS, single),
    (TEXTS, bytes.decode),
    ({BASIC_LIST: None}, basic_list),
)


class Reader:
    """Of one transport session: messages in the order in which they came. Who came late passes over records whose
    template came before."""

    def __init__(self, late=False):
        self.late, self.types, self.plans = late, {}, {}
        self.templates, self.flows, self.options, self.sequence, self.messages, self.longest, self.gaps = (
            {},
            [],
            [],
            None,
            0,
            0,
            0,
        )
        self.template_messages = 0

    def read(self, data):
        at = 0
        while at < len(data):
            version, length, _, sequence, self.domain = struct.unpack(">HHIII", data[at : at + 16])
            if version != 10 or length < 16 or at + length > len(data):
                raise Wrong(f"version {version}, length {length} of {len(data) - at}")
            if self.sequence is not None and sequence != self.sequence:
                self.gaps += (sequence - self.sequence) % 2**32
            self.sequence = (sequence + self.message(data[at + 16 : at + length])) % 2**32
            self.messages += 1
            self.longest = max(self.longest, length)
            at += length

    def message(self, data):
        records, at, told = 0, 0, False
        while at < len(data):
            number, length = struct.unpack(">HH", data[at : at + 4])
            if length < 4 or at + length > len(data):
                raise Wrong(f"set {number} of {length} bytes in {len(data) - at}")
            body = data[at + 4 : at + length]
            at += length
            if number in (TEMPLATES, OPTIONS):
                self.template(body, number == OPTIONS)
                told = True
            elif number in self.templates:
                records += self.records(body, number)
            elif not self.late:
                raise Wrong(f"set {number} without a template")
        self.template_messages += told
        return records

    def template(self, body, is_options):
        at = 0
        while at < len(body):
            if is_options and at:
                raise Wrong(
                    "two options templates in a set: nfacctd 1.7 loses its place behind one with enterprises' elements"
                )
            number, count = struct.unpack(">HH", body[at : at + 4])
            at += 4
            if number < 256 or count == 0:
                raise Wrong(f"template {number} of {count}")
            if is_options:
                scopes = struct.unpack(">H", body[at : at + 2])[0]
                at += 2
                if not 0 < scopes <= count:
                    raise Wrong(f"{scopes} scopes of {count}")
            fields = []
            for _ in range(count):
                element, length = struct.unpack(">HH", body[at : at + 4])
                at += 4
                if element & 0x8000:
                    element = (struct.unpack(">I", body[at : at + 4])[0], element & 0x7FFF)
                    at += 4
                fields.append((element, length))
            if len({element for element, _ in fields if element != BASIC_LIST}) != sum(
                element != BASIC_LIST for element, _ in fields
            ):
                raise Wrong(f"an element twice in {fields}")
            if self.templates.setdefault(number, (fields, is_options)) != (fields, is_options):
                raise Wrong(f"template {number} has changed")

    def records(self, body, number):
        fields, is_options = self.templates[number]
        if self.plans.get(number, (None,))[0] != len(self.types):  # sets of few records are many
            self.plans[number] = (len(self.types), *self.plan(fields))
        _, size, letters, parts = self.plans[number]
        if len(body) < size:
            found, rest = [], body
        elif letters:
            found, rest = self.records_of_one_length(body, size, letters, parts)
        else:
            found, rest = self.records_of_any_length(body, size, parts)
        (self.options if is_options else self.flows).extend(found)
        for record in found if is_options else ():
            if "element" in record:
                self.types[record["pen"], record["element"]] = record["name"], record["type"]
        if any(rest):
            raise Wrong(f"{len(rest)} bytes behind the last record")
        return len(found)

    def plan(self, fields):
        """Returns the least bytes of a record, its format for the struct module if all have one length, and its
        fields."""
        parts = [(element, length, *self.meaning(element)) for element, length in fields]
        if any(length == ANY_LENGTH or element == BASIC_LIST for element, length in fields):
            return sum(1 if length == ANY_LENGTH else length for _, length in fields), None, parts
        letters = ">"
        for _, length, _, read in parts:
            letters += LETTERS[length] if read is unsigned and length in LETTERS else f"{length}s"
        names = [name for *_, name, _ in parts]
        others = [(name, read) for _, length, name, read in parts if read is not unsigned or length not in LETTERS]
        return struct.calcsize(letters), letters, (names, others)

    def records_of_any_length(self, body, least, parts):
        found, at = [], 0
        while len(body) - at >= least:
            record = {}
            for element, length, name, read in parts:
                if length == ANY_LENGTH:
                    length, at = body[at], at + 1
                    if length == 255:
                        length, at = struct.unpack(">H", body[at : at + 2])[0], at + 2
                value = body[at : at + length]
                if len(value) != length:
                    raise Wrong(f"{element} is cut")
                at += length
                if element == BASIC_LIST:
                    name, listed = read(value)
                    record[name] = listed
                else:
                    record[name] = read(value)
            found.append(record)
        return found, body[at:]

    def records_of_one_length(self, body, size, letters, parts):
        """Reads all of them by one call of the struct module: tests have hundreds of thousands."""
        names, others = parts
        whole = len(body) - len(body) % size
        found = [dict(zip(names, values)) for values in struct.iter_unpack(letters, body[:whole])]
        for record in found:
            for name, read in others:
                record[name] = read(record[name])
        return found, body[whole:]

    def meaning(self, element):
        """Returns the name of an element, and the function that reads its bytes. Lists say their name themselves."""
        for names, read in MEANINGS:
            if element in names:
                return names[element], read
        if element not in UNSIGNED and element in self.types:  # one that says what it is (RFC 5610)
            name, kind = self.types[element]
            if kind == 0:
                return name, bytes
            if kind in (9, 10):
                return name, single if kind == 9 else double
            if kind not in (1, 2, 3, 4):
                raise Wrong(f"{name} is of type {kind}")
            return name, unsigned
        return UNSIGNED[element], unsigned

    def accounting(self):
        return [record for record in self.options if "offered" in record]
