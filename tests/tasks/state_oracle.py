# SPDX-License-Identifier: Apache-2.0
"""Monitoring states counted the plain way: packet by packet, every rule of every flow anew, whole windows of parts in
memory."""

import collections
import dataclasses
import fractions
import functools
import ipaddress
import typing

import oracle

ALL = ()  # the key of events about all traffic


@dataclasses.dataclass(frozen=True)
class Clock:
    """Windows of a time, or of packets."""

    amount: int
    by_time: bool = True

    def number(self, place, latest_ns):
        return (latest_ns if self.by_time else place) // self.amount


@dataclasses.dataclass
class Rule:
    """`filter`: its text and what it says of a flow."""

    to: str
    origin: typing.Optional[list] = None
    filter: typing.Optional[tuple] = None
    prefix: typing.Optional[str] = None
    port: typing.Optional[int] = None
    reported_by: typing.Optional[str] = None

    def holds(self, flow):
        src, dst, _, src_port, dst_port = flow
        return (
            (self.filter is None or self.filter[1](flow))
            and (self.port is None or self.port in (src_port, dst_port))
            and (self.prefix is None or inside(src, self.prefix) or inside(dst, self.prefix))
        )

    def toml(self):
        lines = ["[[rule]]", f'state = "{self.to}"']
        if self.origin is not None:
            lines.append(f"from = {names(self.origin)}")
        if self.filter is not None:
            lines.append(f'filter = "{self.filter[0]}"')
        if self.prefix is not None:
            lines.append(f'prefix = "{self.prefix}"')
        if self.port is not None:
            lines.append(f"port = {self.port}")
        if self.reported_by is not None:
            lines.append(f'reported_by = "{self.reported_by}"')
        return "\n".join(lines) + "\n"


@functools.cache
def inside(address, prefix):
    address, network = ipaddress.ip_address(address), ipaddress.ip_network(prefix, strict=False)
    return address.version == network.version and address in network


def names(texts):
    return "[" + ", ".join(f'"{text}"' for text in texts) + "]"


def opposite(flow):
    src, dst, protocol, src_port, dst_port = flow
    return (dst, src, protocol, dst_port, src_port)


class Part:
    """What a flow did in a window while it was in one state, without a break."""

    def __init__(self, flow, state, starts):
        self.flow, self.state, self.starts = flow, state, starts
        self.packets = self.ip_bytes = self.wire_bytes = self.burst = self.retransmissions = self.spurious = (
            self.data
        ) = self.changes = 0
        self.round_trips_ns = []

    def values(self, **more):
        return {"packets": self.packets, "wire_bytes": self.wire_bytes, **more}


@dataclasses.dataclass
class Task:
    """`judge(parts, window)`: its (key, values), of the parts that were in its states. `key`: the part of a flow that
    its keys are."""

    spec: str
    name: str
    clock: Clock
    judge: typing.Callable
    key: str = "5tuple"
    gaps: bool = False  # asks for the time between packets
    tcp: bool = False


def count(name, window, clock):
    def judge(parts, packets):
        yield (
            ALL,
            {
                "packets": len(packets),
                "ip_bytes": sum(p.ip_bytes for p, _ in packets),
                "wire_bytes": sum(p.wire_bytes for p, _ in packets),
                "flows": len({part.flow for part in parts}),
                "new_flows": sum(part.starts for part in parts),
                "late_packets": sum(late for _, late in packets),
            },
        )

    return Task(f"count:name={name},window={window}", name, clock, judge)


def heavy_hitters(name, window, clock, key="src", by="wire_bytes", least=1):
    def judge(parts, packets):
        keys = collections.defaultdict(list)
        for part in parts:
            keys[oracle.key_of(part.flow, key)].append(part)
        counts = {
            k: {
                "packets": sum(part.packets for part in of),
                "ip_bytes": sum(part.ip_bytes for part in of),
                "wire_bytes": sum(part.wire_bytes for part in of),
                "flows": len({part.flow for part in of}),
                "new_flows": sum(part.starts for part in of),
            }
            for k, of in keys.items()
        }
        whole = {
            "packets": len(packets),
            "ip_bytes": sum(p.ip_bytes for p, _ in packets),
            "wire_bytes": sum(p.wire_bytes for p, _ in packets),
            "flows": sum(c["flows"] for c in counts.values()),
            "new_flows": sum(c["new_flows"] for c in counts.values()),
        }[by]
        for k, c in counts.items():
            if c[by] >= least:
                yield k, {"share": c[by] / whole if whole else 0, **c}

    return Task(
        f"heavy-hitters:name={name},window={window},key={key},by={by},threshold={least},most=100000",
        name,
        clock,
        judge,
        key,
    )


def superspreaders(name, window, clock, threshold):
    def judge(parts, _):
        far = collections.defaultdict(set)
        for part in parts:
            far[part.flow[0]].add(part.flow[1])
        for src, others in far.items():
            if len(others) > threshold:
                yield (("src_ip", src),), {"destinations": len(others)}

    return Task(
        f"superspreaders:name={name},window={window},threshold={threshold},most=100000", name, clock, judge, "src"
    )


def condition(name, window, clock, text, holds, fields=lambda part: {}, **needs):
    def judge(parts, _):
        for part in parts:
            if holds(part):
                yield oracle.key_of(part.flow, "5tuple"), part.values(**fields(part))

    return Task(f"{name}:window={window},most=10M:{text}", name, clock, judge, **needs)


def everything(name, window, clock):
    return condition(name, window, clock, "packets >= 1", lambda part: True)


def flow_task(spec, name, clock, holds, fields, **needs):
    task = condition(name, "", clock, "", holds, fields, **needs)
    task.spec = spec
    return task


def bursty(spec, clock, share, least):
    return flow_task(
        spec,
        "bursty",
        clock,
        lambda part: part.packets >= least and part.burst >= share * part.packets,
        lambda part: {"burst_packets": part.burst},
        gaps=True,
    )


def retransmissions(spec, clock):
    return flow_task(
        spec,
        "retransmissions",
        clock,
        lambda part: part.retransmissions,
        lambda part: {
            "tcp_data_packets": part.data,
            "tcp_retransmissions": part.retransmissions,
            "tcp_fast_retransmissions": 0,
            "tcp_spurious_retransmissions": part.spurious,
            "tcp_out_of_order": 0,
        },
        tcp=True,
    )


def latency_change(spec, clock):
    return flow_task(
        spec,
        "latency-change",
        clock,
        lambda part: part.changes,
        lambda part: {
            "latency_changes": part.changes,
            "rtt_samples": len(part.round_trips_ns),
            "rtt_min_ms": min(part.round_trips_ns) / 1e6,
            "rtt_mean_ms": sum(part.round_trips_ns) / len(part.round_trips_ns) / 1e6,
            "rtt_max_ms": max(part.round_trips_ns) / 1e6,
        },
        tcp=True,
    )


class States:
    """`states`: name -> its tasks. `always`: tasks of all states, given beside the file. TCP is what a simulator says:
    whoever plants it sees to it that the truth does not depend on what came before a state was entered."""

    BURST_NS, BETA, AFTER = 10**6, 1, 8

    def __init__(self, default, states, rules, always=()):
        self.default, self.states, self.rules, self.always = default, states, rules, always
        unique = {task.name: task for tasks in [*states.values(), always] for task in tasks}
        self.tasks = list(unique.values())
        self.clocks = list(dict.fromkeys(task.clock for task in self.tasks))

    def toml(self):
        return (
            f'default = "{self.default}"\n'
            + "".join(
                f'[[state]]\nname = "{name}"\ntasks = {names(task.spec for task in tasks)}\n'
                for name, tasks in self.states.items()
            )
            + "".join(rule.toml() for rule in self.rules)
        )

    def of(self, task):
        return {
            name
            for name, tasks in self.states.items()
            if any(t.name == task.name for t in tasks) or task in self.always
        }

    def state(self, flow):
        state = self.default
        for rule, holds in zip(self.rules, self.holding[flow]):
            if (
                holds
                and (rule.origin is None or state in rule.origin)
                and (rule.reported_by is None or self.is_reported(rule.reported_by, flow))
            ):
                state = rule.to
        return state

    def is_reported(self, name, flow):
        task = next(task for task in self.tasks if task.name == name)
        keys = self.reported[name].get(self.now[task.clock] - 2, ())
        return ALL in keys or any(oracle.key_of(way, task.key) in keys for way in (flow, opposite(flow)))

    def run(self, packets):
        """Events as {(task, window begin): sorted [(key, values)]}, and packets by state."""
        self.now = {clock: None for clock in self.clocks}
        self.reported = collections.defaultdict(dict)  # task -> window -> keys
        self.holding, self.events = {}, collections.defaultdict(list)
        parts, open_parts, inside_now = ({clock: of() for clock in self.clocks} for of in (list, dict, list))
        by_state, current, last_ns, before_ns = collections.Counter(), {}, {}, collections.defaultdict(list)
        needs_gaps, needs_tcp = (
            {name for task in self.tasks if need(task) for name in self.of(task)}
            for need in (lambda task: task.gaps, lambda task: task.tcp)
        )
        latest = 0

        def close(clock):
            for task in self.tasks:
                if task.clock != clock or not inside_now[clock]:
                    continue
                states = self.of(task)
                found = sorted(
                    task.judge([part for part in parts[clock] if part.state in states], inside_now[clock]), key=repr
                )
                self.reported[task.name][self.now[clock]] = {key for key, _ in found}
                if found:
                    self.events[task.name, self.now[clock] * clock.amount] = found
            parts[clock], open_parts[clock], inside_now[clock] = [], {}, []

        for place, p in enumerate(packets):
            latest = max(latest, p.time_ns)
            for clock in self.clocks:
                if (number := clock.number(place, latest)) != self.now[clock]:
                    close(clock)
                    self.now[clock] = number
                    current.clear()
            flow = oracle.flow_of(p)
            starts = flow not in self.holding
            if starts:
                self.holding[flow] = [rule.holds(flow) for rule in self.rules]
            if flow not in current:
                current[flow] = self.state(flow)
            state = current[flow]
            by_state[state] += 1
            gap = p.time_ns - last_ns[flow] if flow in last_ns else None
            last_ns.pop(flow, None)
            if state in needs_gaps:
                last_ns[flow] = p.time_ns
            else:
                gap = None
            truth = p.tcp.truth if p.tcp and state in needs_tcp else None
            if state not in needs_tcp:  # what it did before is forgotten
                before_ns.pop(flow, None)
            change = False
            if truth and truth.rtt_ns is not None:
                earlier = before_ns[flow]
                if (n := len(earlier)) >= self.AFTER:
                    variance = fractions.Fraction(n * sum(x * x for x in earlier) - sum(earlier) ** 2, n * (n - 1))
                    change = (truth.rtt_ns - fractions.Fraction(sum(earlier), n)) ** 2 > self.BETA**2 * variance
                earlier.append(truth.rtt_ns)
            for clock in self.clocks:
                begin = self.now[clock] * clock.amount
                inside_now[clock].append((p, clock.by_time and p.time_ns < begin))
                part = open_parts[clock].get(flow)
                if part is None or part.state != state:
                    part = open_parts[clock][flow] = Part(flow, state, starts)
                    parts[clock].append(part)
                part.packets += 1
                part.ip_bytes += p.ip_bytes
                part.wire_bytes += p.wire_bytes
                part.burst += gap is not None and max(0, gap) < self.BURST_NS
                if truth:
                    part.data += p.ip_bytes > 40
                    part.retransmissions += truth.retransmission
                    part.spurious += truth.spurious
                    part.changes += change
                    part.round_trips_ns += [truth.rtt_ns] if truth.rtt_ns is not None else []
        for clock in self.clocks:
            close(clock)
        return dict(self.events), by_state
