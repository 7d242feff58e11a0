# SPDX-License-Identifier: Apache-2.0
"""A broker of Kafka that keeps what a producer sends, as far as librdkafka's needs go: every topic has two partitions,
and this broker leads them all."""

import gzip
import socket
import struct
import threading

PRODUCE, FETCH, METADATA, API_VERSIONS, INIT_PRODUCER_ID = 0, 1, 3, 18, 22
# The newest that it says it knows: those before fields of variable place (KIP-482). It is asked for no FETCH;
# librdkafka takes its version for what a broker can.
VERSIONS = {PRODUCE: 7, FETCH: 10, METADATA: 1, API_VERSIONS: 0, INIT_PRODUCER_ID: 1}
PARTITIONS = 2
TOO_LARGE, UNAUTHORIZED = 10, 29  # MESSAGE_TOO_LARGE, TOPIC_AUTHORIZATION_FAILED
COMPRESSION = {0: bytes, 1: gzip.decompress}


class Reader:
    """Of big-endian fields."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        self.at += length
        return self.data[self.at - length : self.at]

    def number(self, code):
        return struct.unpack(">" + code, self.take(struct.calcsize(code)))[0]

    def text(self):
        length = self.number("h")
        return None if length < 0 else self.take(length).decode()

    def varint(self):
        """Zigzag."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value >> 1 ^ -(value & 1)

    def sized(self):
        length = self.varint()
        return None if length < 0 else bytes(self.take(length))


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def messages_of(batch):
    """(producer, first sequence, [(key, value), ...]) of a record batch, version 2."""
    header = Reader(batch)
    header.take(8 + 4 + 4)
    assert header.number("b") == 2
    header.take(4)  # checksum
    attributes = header.number("h")
    header.take(4 + 8 + 8)
    producer, sequence = header.take(8 + 2), header.number("i")
    count, records, found = header.number("i"), Reader(COMPRESSION[attributes & 7](header.data[header.at :])), []
    for _ in range(count):
        record = Reader(records.sized())
        record.take(1)
        record.varint(), record.varint()
        found.append((record.sized(), record.sized()))
    return producer, sequence, found


class Broker:
    """`most`: bytes of a batch, above which it is refused, as of a broker that nobody configured; `forbidden`: a topic
    that nobody may write to."""

    def __init__(self, most=1048588, forbidden=None):
        self.most, self.forbidden, self.topics, self.batches, self.refused, self.next = most, forbidden, {}, 0, 0, {}
        self.lock, self.listener, self.connections, self.threads = threading.Lock(), None, set(), []
        self.port = 0
        self.start()

    def start(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self.listener.getsockname()[1]
        self.threads.append(threading.Thread(target=self.accept, args=(self.listener,)))
        self.threads[-1].start()

    def stop(self):
        """As if it was killed: what it was told is kept."""
        with self.lock:
            listener, self.listener = self.listener, None
            for each in [listener, *self.connections]:
                if each is not None:
                    each.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.threads = []

    def values(self, topic):
        return [value for _, value in self.topics.get(topic, [])]

    def accept(self, listener):
        with listener:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with self.lock:
                    if self.listener is None:
                        connection.close()
                        return
                    self.connections.add(connection)
                    self.threads.append(threading.Thread(target=self.serve, args=(connection,)))
                    self.threads[-1].start()

    def serve(self, connection):
        stream = connection.makefile("rb")
        try:
            while len(length := stream.read(4)) == 4:
                answer = self.answer(Reader(stream.read(struct.unpack(">i", length)[0])))
                if answer is not None:
                    connection.sendall(struct.pack(">i", len(answer)) + answer)
        except OSError:
            pass
        finally:
            with self.lock:
                self.connections.discard(connection)
            stream.close()
            connection.close()

    def answer(self, request):
        api, version = request.number("h"), request.number("h")
        head = request.take(4)
        request.text()  # who asks
        if api == API_VERSIONS:
            known = b"".join(struct.pack(">hhh", each, 0, newest) for each, newest in VERSIONS.items())
            return head + struct.pack(">hi", 35 if version > 0 else 0, len(VERSIONS)) + known
        if api == METADATA:
            return head + self.metadata(request)
        if api == INIT_PRODUCER_ID:
            return head + struct.pack(">ihqh", 0, 0, 1, 0)
        assert api == PRODUCE, api
        return head + self.produce(request)

    def metadata(self, request):
        topics = [request.text() for _ in range(request.number("i"))]
        answer = (
            struct.pack(">ii", 1, 1)
            + text("127.0.0.1")
            + struct.pack(">ihi", self.port, -1, 1)
            + struct.pack(">i", len(topics))
        )
        for topic in topics:
            answer += struct.pack(">h", 0) + text(topic) + struct.pack(">?i", False, PARTITIONS)
            for partition in range(PARTITIONS):
                answer += struct.pack(">hiiiiii", 0, partition, 1, 1, 1, 1, 1)
        return answer

    def produce(self, request):
        request.text(), request.take(2 + 4)
        answer, topics = b"", request.number("i")
        for _ in range(topics):
            topic, partitions = request.text(), request.number("i")
            answer += text(topic) + struct.pack(">i", partitions)
            for _ in range(partitions):
                partition = request.number("i")
                answer += struct.pack(
                    ">ihqqq", partition, self.keep(topic, partition, request.take(request.number("i"))), 0, -1, 0
                )
        return struct.pack(">i", topics) + answer + struct.pack(">i", 0)

    def keep(self, topic, partition, batch):
        with self.lock:
            self.batches += 1
            if len(batch) > self.most:
                self.refused += 1
                return TOO_LARGE
            if topic == self.forbidden:
                return UNAUTHORIZED
            producer, sequence, messages = messages_of(batch)
            whose = (producer, topic, partition)
            if sequence < 0 or sequence >= self.next.get(
                whose, 0
            ):  # else it was sent again, since the answer did not arrive
                self.topics.setdefault(topic, []).extend(messages)
                self.next[whose] = sequence + len(messages)
            return 0
