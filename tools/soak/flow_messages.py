# SPDX-License-Identifier: Apache-2.0
"""Counts what is in messages of IPFIX (RFC 7011) and NetFlow 9 (RFC 3954): records, packets, and what the sequence
numbers say is missing."""

import struct

PACKETS, VARIABLE = 2, 65535
IPFIX, NETFLOW9 = 10, 9


class Template:
    def __init__(self, fields, is_options):
        self.fields, self.is_options = fields, is_options
        self.is_fixed = all(length != VARIABLE for _, length in fields)
        self.least = sum(1 if length == VARIABLE else length for _, length in fields)
        at = 0
        self.packets = None
        for element, length in fields:
            if element == PACKETS:
                self.packets = at, at + length
            at += length

    def count(self, body):
        """Records of a set, and packets in them."""
        if not self.is_fixed:
            return self._walk(body)
        number = len(body) // self.least
        if self.packets is None or self.is_options:
            return number, 0
        first, last = self.packets
        return number, sum(
            int.from_bytes(body[at + first : at + last], "big") for at in range(0, number * self.least, self.least)
        )

    def _walk(self, body):
        at = number = packets = 0
        while len(body) - at >= self.least:
            for element, length in self.fields:
                if length == VARIABLE:
                    length, at = body[at], at + 1
                    if length == 255:
                        length, at = struct.unpack_from(">H", body, at)[0], at + 2
                if element == PACKETS and not self.is_options:
                    packets += int.from_bytes(body[at : at + length], "big")
                at += length
            number += 1
        return number, packets


class Stream:
    """One transport session, its messages in the order in which they came."""

    def __init__(self):
        self.templates = {}
        self.messages = self.records = self.packets = self.options = self.without_template = self.gaps = self.back = 0
        self.first_sequence = self.sequence = self.exported_s = None
        self.clock_steps = []  # of the exporter's clock, seconds, from one message to the next

    def read(self, data):
        """Messages; returns how many bytes of them were whole."""
        at = 0
        while len(data) - at >= 20:
            version, length = struct.unpack_from(">HH", data, at)
            if version == NETFLOW9:
                length = len(data) - at  # a datagram
            elif version != IPFIX:
                raise ValueError(f"version {version} at {at}")
            if len(data) - at < length:
                break
            self._message(version, memoryview(data)[at : at + length])
            at += length
        return at

    def _message(self, version, message):
        if version == IPFIX:
            exported_s, sequence = struct.unpack_from(">II", message, 4)
            at = 16
        else:
            exported_s, sequence = struct.unpack_from(">II", message, 8)
            at = 20
        if self.exported_s is not None and abs(exported_s - self.exported_s) > 60:
            self.clock_steps.append(exported_s - self.exported_s)
        self.exported_s = exported_s
        if self.sequence is None:
            self.first_sequence = self.sequence = sequence
        ahead = (sequence - self.sequence) % 2**32
        if ahead < 2**31:
            self.gaps += ahead
        else:
            self.back += 1
        number = self._sets(message, at)
        self.sequence = (sequence + (number if version == IPFIX else 1)) % 2**32
        self.messages += 1

    def _sets(self, message, at):
        data_records = 0
        while len(message) - at >= 4:
            number, length = struct.unpack_from(">HH", message, at)
            if length < 4 or at + length > len(message):
                raise ValueError(f"set {number} of {length} bytes in {len(message) - at}")
            body = message[at + 4 : at + length]
            at += length
            if number in (0, 2):
                self._templates(body)
            elif number == 3:
                self._options_templates(body)
            elif number == 1:
                self._options_templates9(body)
            elif number not in self.templates:
                self.without_template += 1
            else:
                template = self.templates[number]
                records, packets = template.count(body)
                data_records += records
                if template.is_options:
                    self.options += records
                else:
                    self.records += records
                    self.packets += packets
        return data_records

    def _fields(self, body, at, count):
        fields = []
        for _ in range(count):
            element, length = struct.unpack_from(">HH", body, at)
            at += 4
            if element & 0x8000:
                element, at = (element & 0x7FFF, struct.unpack_from(">I", body, at)[0]), at + 4
            fields.append((element, length))
        return fields, at

    def _templates(self, body):
        at = 0
        while len(body) - at >= 8:
            number, count = struct.unpack_from(">HH", body, at)
            fields, at = self._fields(body, at + 4, count)
            self.templates[number] = Template(fields, False)

    def _options_templates(self, body):
        at = 0
        while len(body) - at >= 10:
            number, count = struct.unpack_from(">HH", body, at)
            fields, at = self._fields(body, at + 6, count)
            self.templates[number] = Template(fields, True)

    def _options_templates9(self, body):
        at = 0
        while len(body) - at >= 10:
            number, scope_bytes, option_bytes = struct.unpack_from(">HHH", body, at)
            if number < 256:  # padding
                return
            fields, at = self._fields(body, at + 6, (scope_bytes + option_bytes) // 4)
            self.templates[number] = Template(fields, True)

    def numbers(self):
        names = "messages", "records", "packets", "options", "without_template", "gaps", "back", "first_sequence"
        return {name: getattr(self, name) for name in names} | {"clock_steps": self.clock_steps}
