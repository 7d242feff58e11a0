# SPDX-License-Identifier: Apache-2.0
"""Reads IPFIX messages (RFC 7011) by what is written there, and complains of all that it does not allow."""

import ipaddress
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


class Wrong(Exception):
    pass


class Reader:
    """Of one transport session: messages in the order in which they came. Who came late passes over records whose
    template came before."""

    def __init__(self, late=False):
        self.late, self.types = late, {}
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
                records += self.records(body, *self.templates[number])
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
            if len({element for element, _ in fields if element != 291}) != sum(
                element != 291 for element, _ in fields
            ):
                raise Wrong(f"an element twice in {fields}")
            if self.templates.setdefault(number, (fields, is_options)) != (fields, is_options):
                raise Wrong(f"template {number} has changed")

    def records(self, body, fields, is_options):
        count, at = 0, 0
        least = sum(1 if length == 65535 else length for _, length in fields)
        while len(body) - at >= least:
            record = {}
            for element, length in fields:
                if length == 65535:
                    length, at = body[at], at + 1
                    if length == 255:
                        length, at = struct.unpack(">H", body[at : at + 2])[0], at + 2
                value = body[at : at + length]
                if len(value) != length:
                    raise Wrong(f"{element} is cut")
                at += length
                name, value = self.value(element, value)
                record[name] = value
            (self.options if is_options else self.flows).append(record)
            if is_options and "element" in record:
                self.types[record["pen"], record["element"]] = record["name"], record["type"]
            count += 1
        if any(body[at:]):
            raise Wrong(f"{len(body) - at} bytes behind the last record")
        return count

    def value(self, element, value):
        if element in ADDRESSES:
            return ADDRESSES[element], str(ipaddress.ip_address(value))
        if element in TIMES:
            seconds, fraction = struct.unpack(">II", value)
            return TIMES[element], (seconds - 2208988800) * 10**9 + (fraction * 10**9 + 2**31) // 2**32
        if element in FLOATS:
            return FLOATS[element], struct.unpack(">f", value)[0]
        if element in TEXTS:
            return TEXTS[element], value.decode()
        if element == 291:
            ordered, of, length, pen = struct.unpack(">BHHI", value[:9])
            if ordered != 4 or not of & 0x8000 or (len(value) - 9) % length:
                raise Wrong(f"a list of {value.hex()}")
            return LISTS[pen, of & 0x7FFF], [
                int.from_bytes(value[at : at + length], "big") for at in range(9, len(value), length)
            ]
        if element not in UNSIGNED and element in self.types:  # one that says what it is (RFC 5610)
            name, kind = self.types[element]
            if kind in (9, 10):
                return name, struct.unpack(">f" if kind == 9 else ">d", value)[0]
            if kind not in (1, 2, 3, 4):
                raise Wrong(f"{name} is of type {kind}")
            return name, int.from_bytes(value, "big")
        return UNSIGNED[element], int.from_bytes(value, "big")

    def accounting(self):
        return [record for record in self.options if "offered" in record]
