# SPDX-License-Identifier: Apache-2.0
"""TCP connections whose truth is known: a sender, a path that loses packets in bursts, a receiver, and who watches
them.

The sender's data comes in segments of fixed borders. It has a constant window, sends again after a timeout (all, or the
first) and after three duplicate acknowledgements, and probes a window of zero. The receiver delays acknowledgements,
and may say for a while that it takes no data.
"""

import collections
import functools
import heapq
import itertools
import random

import traffic

MS = 10**6
FIN, SYN, PUSH, ACK = 1, 2, 8, 16
WINDOW = 5000

# What is true of a packet as seen at the capture point.
# retransmission: its numbers were sent before; fast: duplicate acknowledgements asked for it, and still do; spurious:
# its data was acknowledged
#   below: it begins below what was seen before it; gap: it begins beyond
# rtt_ns: since the only packet that ended where it acknowledges, where none that it acknowledges too came later;
# handshake_ns: since the last SYN
Truth = collections.namedtuple(
    "Truth", "retransmission fast spurious below gap rtt_ns handshake_ns", defaults=(False,) * 5 + (None, None)
)


class BurstLoss:
    """Gilbert and Elliott's: a Markov chain of a good state that loses nothing and a bad one that loses half."""

    def __init__(self, rng, to_bad, to_good=0.3, lost=0.5):
        self.rng, self.to_bad, self.to_good, self.lost, self.bad = rng, to_bad, to_good, lost, False

    def __call__(self):
        self.bad = self.rng.random() >= self.to_good if self.bad else self.rng.random() < self.to_bad
        return self.bad and self.rng.random() < self.lost


class Hop:
    """Delivers in order, after a delay that may depend on the time."""

    def __init__(self, simulation, delay_ns, loses=lambda: False):
        self.simulation, self.delay_ns, self.loses, self.last_ns = simulation, delay_ns, loses, 0

    def __call__(self, deliver, *arguments):
        if self.loses():
            return
        now_ns = self.simulation.now_ns
        self.last_ns = max(self.last_ns + 1, now_ns + self.delay_ns(now_ns))
        self.simulation.at(self.last_ns, deliver, *arguments)


class Simulation:
    def __init__(self, begin_ns):
        self.now_ns, self.events, self.order = begin_ns, [], itertools.count()

    def at(self, time_ns, call, *arguments):
        heapq.heappush(self.events, (time_ns, next(self.order), call, arguments))

    def run(self):
        while self.events:
            self.now_ns, _, call, arguments = heapq.heappop(self.events)
            call(*arguments)


class Capture:
    """Sees packets of both ends and notes what is true of them. Numbers are relative to each end's first."""

    def __init__(self, simulation, ends, bases):
        self.simulation, self.ends, self.bases, self.packets = simulation, ends, bases, []
        self.seen = ({}, {})  # end of a segment -> times it was seen
        self.waiting = ({}, {})  # those of them that were not acknowledged yet
        self.highest, self.acked, self.syn_ns, self.handshake_done = [0, 0], [0, 0], 0, False

    def see(self, side, flags, seq, length, ack, window, sent_before=False, fast=False):
        now_ns, end = self.simulation.now_ns, seq + length + bool(flags & (SYN | FIN))
        truth = Truth(
            retransmission=sent_before and (side == 0 or end in self.seen[side]),
            fast=fast and seq == self.acked[side],
            spurious=sent_before and length > 0 and end <= self.acked[side],
            below=end > seq and seq < self.highest[side],
            gap=0 < self.highest[side] < seq,
        )
        if end > seq:
            self.seen[side].setdefault(end, []).append(now_ns)
            if end > self.acked[side]:
                self.waiting[side][end] = self.seen[side][end]
            self.highest[side] = max(self.highest[side], end)
        if flags & ACK and ack > self.acked[1 - side]:
            waiting = self.waiting[1 - side]
            new = [waiting.pop(end) for end in [end for end in waiting if end <= ack]]
            self.acked[1 - side] = ack
            times = self.seen[1 - side].get(ack, [])
            if len(times) == 1 and times[0] == max(last[-1] for last in new):  # else it had waited for what came later
                truth = truth._replace(rtt_ns=now_ns - times[0])
        if flags & SYN and side == 0:
            self.syn_ns = now_ns
        if side == 0 and flags & ACK and not self.handshake_done:
            self.handshake_done = True
            truth = truth._replace(handshake_ns=now_ns - self.syn_ns)
        (src, src_port), (dst, dst_port) = self.ends[side], self.ends[1 - side]
        tcp = traffic.Tcp(
            (self.bases[side] + seq) % 2**32, (self.bases[1 - side] + ack) % 2**32 if flags & ACK else 0, window, truth
        )
        self.packets.append(traffic.packet(now_ns, src, dst, traffic.TCP, src_port, dst_port, length, flags, tcp))


class Receiver:
    """Acknowledges every second segment, others after 40 ms, and at once what is not next. Takes nothing for
    `stalls_ns` after `stalls_at`."""

    def __init__(self, simulation, send, delayed, stalls_at, stalls_ns):
        self.simulation, self.send, self.delayed, self.stalls_at, self.stalls_ns = (
            simulation,
            send,
            delayed,
            stalls_at,
            stalls_ns,
        )
        self.next, self.held, self.waiting, self.window, self.answered_syn = 0, {}, 0, WINDOW, False

    def acknowledge(self):
        self.waiting = 0
        self.send(ACK, 1, self.next, self.window)

    def acknowledge_late(self, number):
        if self.waiting and self.next == number:
            self.acknowledge()

    def takes_again(self):
        self.window = WINDOW
        self.acknowledge()

    def receive(self, flags, seq, end, probe):
        if flags & SYN:
            self.next = max(self.next, 1)
            self.send(SYN | ACK, 0, 1, WINDOW, self.answered_syn)
            self.answered_syn = True
            return
        if end == seq:
            return
        if probe or seq != self.next:
            if not probe and seq > self.next:
                self.held[seq] = end
            return self.acknowledge()
        filled = bool(self.held)
        self.next = end
        while self.next in self.held:
            self.next = self.held.pop(self.next)
        if self.stalls_at and self.next >= self.stalls_at:
            self.stalls_at, self.window = 0, 0
            self.simulation.at(self.simulation.now_ns + self.stalls_ns, self.takes_again)
        self.waiting += 1
        if not self.delayed or self.waiting == 2 or filled or flags & FIN or self.window == 0:
            return self.acknowledge()
        self.simulation.at(self.simulation.now_ns + 40 * MS, self.acknowledge_late, self.next)


class Sender:
    def __init__(self, simulation, send, borders, in_flight, gap_ns, timeout_ns, goes_back):
        self.simulation, self.send, self.borders, self.in_flight, self.gap_ns = (
            simulation,
            send,
            borders,
            in_flight,
            gap_ns,
        )
        self.timeout_ns, self.goes_back = timeout_ns, goes_back
        self.unacked = self.next = self.sent = 0  # segments; the last is the FIN
        self.duplicates, self.recovers_to, self.window, self.timers, self.backoff = 0, 0, WINDOW, itertools.count(), 1
        self.timer, self.ready_ns, self.connected, self.waits = None, 0, False, False

    def connect(self):
        if not self.connected:
            self.send(SYN, 0, 0, 0, self.timer is not None)
            self.timer = 0
            self.simulation.at(self.simulation.now_ns + 1000 * MS, self.connect)

    def transmit(self, segment, fast=False):
        flags = ACK | FIN if segment == len(self.borders) - 1 else ACK | PUSH
        begin = self.borders[segment]
        length = 0 if flags & FIN else self.borders[segment + 1] - begin
        self.send(flags, begin, length, 1, segment < self.sent, fast)
        self.sent = max(self.sent, segment + 1)
        self.restart_timer()

    def restart_timer(self):
        self.timer = next(self.timers)
        self.simulation.at(self.simulation.now_ns + self.timeout_ns * self.backoff, self.timeout, self.timer)

    def timeout(self, timer):
        if timer != self.timer or self.unacked == len(self.borders):
            return
        if self.unacked == self.sent:
            if self.window == 0:
                self.send(ACK, self.borders[self.unacked], 1, 1, probe=True)
                self.restart_timer()
            return
        self.backoff = min(8, 2 * self.backoff)
        self.duplicates, self.recovers_to = 0, self.sent
        if self.goes_back:
            self.next, self.recovers_to = self.unacked, 0
        self.transmit(self.unacked)
        self.next = max(self.next, self.unacked + 1)

    def pump(self):
        """New segments, one each gap_ns."""
        self.waits = False
        while self.next < min(len(self.borders), self.unacked + self.in_flight) and (
            self.window or self.next < self.sent
        ):
            if self.simulation.now_ns < self.ready_ns:
                if not self.waits:
                    self.waits = True
                    self.simulation.at(self.ready_ns, self.pump)
                return
            self.ready_ns = self.simulation.now_ns + self.gap_ns()
            self.next += 1
            self.transmit(self.next - 1)

    def receive(self, flags, ack, window):
        if flags & SYN:
            self.send(ACK, 1, 0, 1)
            if not self.connected:
                self.connected, self.timer = True, None
                self.pump()
            return
        self.window = window
        unacked = self.unacked
        while self.unacked < len(self.borders) and ack > self.borders[self.unacked]:
            self.unacked += 1
        self.next = max(self.next, self.unacked)
        if self.unacked > unacked:
            self.duplicates, self.backoff = 0, 1
            if self.unacked < min(self.recovers_to, self.sent):
                self.transmit(self.unacked)
            self.restart_timer()
        elif self.unacked < self.sent and window:
            self.duplicates += 1
            if self.duplicates == 3 and self.unacked >= self.recovers_to:
                self.recovers_to = self.sent
                self.transmit(self.unacked, fast=True)
        if window == 0 and self.unacked == self.sent:
            self.restart_timer()
        if not self.waits:
            self.pump()


def connection(
    rng,
    begin_ns,
    client,
    server,
    behind_loss=False,
    loss=0.02,
    back_loss=0.0,
    segments=60,
    in_flight=8,
    near_ns=lambda _: MS,
    far_ns=lambda _: 20 * MS,
    gap_ns=lambda: 2 * MS,
    delayed=True,
    timeout_ns=250 * MS,
    goes_back=False,
    stalls_at=0,
    stalls_ns=0,
    bases=None,
):
    """What a capture point sees of a connection, near_ns from the sender, and before or behind the place where packets
    get lost."""
    simulation = Simulation(begin_ns)
    capture = Capture(simulation, (client, server), bases or (rng.randrange(2**32), rng.randrange(2**32)))
    borders = list(itertools.accumulate((rng.choice([100, 536, 1000, 1460]) for _ in range(segments)), initial=1))
    nothing = lambda: False
    forth, back = BurstLoss(rng, loss), BurstLoss(rng, back_loss)
    near, far = (
        Hop(simulation, near_ns, forth if behind_loss else nothing),
        Hop(simulation, far_ns, nothing if behind_loss else forth),
    )
    near_back, far_back = (
        Hop(simulation, near_ns, back if behind_loss else nothing),
        Hop(simulation, far_ns, nothing if behind_loss else back),
    )

    def from_sender(flags, seq, length, ack, again=False, fast=False, probe=False):
        def seen():
            capture.see(0, flags, seq, length, ack, WINDOW, again, fast)
            far(receiver.receive, flags, seq, seq + length + bool(flags & (SYN | FIN)), probe)

        near(seen)

    def from_receiver(flags, seq, ack, window, again=False):
        def seen():
            capture.see(1, flags, seq, 0, ack, window, again)
            near_back(sender.receive, flags, ack, window)

        far_back(seen)

    receiver = Receiver(simulation, from_receiver, delayed, borders[stalls_at] if stalls_at else 0, stalls_ns)
    sender = Sender(simulation, from_sender, borders, in_flight, gap_ns, timeout_ns, goes_back)
    simulation.at(begin_ns, sender.connect)
    simulation.run()
    return capture.packets


def address(rng):
    return f"10.{rng.randrange(1, 5)}.{rng.randrange(4)}.{rng.randrange(1, 255)}"


@functools.cache
def connections(seed, count=25, seconds=4, **options):
    """Many at once, unlike each other; as one capture."""
    rng = random.Random(seed)
    packets = []
    for i in range(count):
        far, jitter = rng.randrange(5, 60) * MS, rng.choice([0, 1, 3]) * MS
        mine = dict(
            far_ns=lambda _, far=far, jitter=jitter: far + rng.randrange(jitter + 1),
            near_ns=lambda _, ns=rng.randrange(1, 4000) * 1000: ns,
            in_flight=rng.choice([2, 8, 16]),
            segments=rng.randrange(5, 200),
            delayed=rng.random() < 0.7,
            goes_back=rng.random() < 0.5,
            timeout_ns=rng.choice([150, 250]) * MS,
            loss=rng.choice([0, 0.01, 0.05]),
            back_loss=rng.choice([0, 0.02]),
            gap_ns=lambda ns=rng.choice([100_000, 2 * MS, 10 * MS]): ns + rng.randrange(100_000),
        )
        if rng.random() < 0.3:
            mine["bases"] = (2**32 - rng.randrange(1, 20000), 2**32 - rng.randrange(1, 3))
        mine.update(options)
        client, server = (address(rng), 1024 + 64 * i + rng.randrange(64)), (address(rng), rng.choice([80, 443, 50000]))
        packets += connection(
            rng, traffic.BEGIN_NS + rng.randrange(seconds * traffic.SECOND // 2), client, server, **mine
        )
    return tuple(sorted(packets, key=lambda p: p.time_ns))
