# SPDX-License-Identifier: Apache-2.0
"""What each task has to say of some packets, counted the plain way: whole windows in memory, dictionaries, sets,
sorting."""

import collections
import fractions
import functools
import ipaddress
import math

AMOUNTS = ("packets", "ip_bytes", "wire_bytes", "flows", "new_flows")


class Window:
    """flows: five-tuple -> FlowPart; late: packets whose own time is before it."""

    def __init__(self, begin, packets, partial, late, flows):
        self.begin, self.packets, self.partial, self.late, self.flows = begin, packets, partial, late, flows


FlowPart = collections.namedtuple("FlowPart", "packets ip_bytes wire_bytes first_ns last_ns tcp_flags starts")


def flow_of(p):
    return (p.src, p.dst, p.protocol, p.src_port, p.dst_port)


@functools.cache
def windows(packets, ns=None, count=None):
    """A packet belongs to the window that is open when it comes: by the latest time so far, or by its place."""
    length = ns or count
    latest, grouped, late = 0, collections.defaultdict(list), collections.Counter()
    for place, p in enumerate(packets):
        latest = max(latest, p.time_ns)
        number = (latest if ns else place) // length
        grouped[number].append(p)
        late[number] += ns is not None and p.time_ns < number * length
    seen, result, last = set(), [], max(grouped, default=0)
    for number, inside in sorted(grouped.items()):
        sums = {}
        for p in inside:
            flow = flow_of(p)
            sum_of = sums.get(flow)
            if sum_of is None:
                sum_of = sums[flow] = [0, 0, 0, p.time_ns, 0, 0, flow not in seen]
            sum_of[0] += 1
            sum_of[1] += p.ip_bytes
            sum_of[2] += p.wire_bytes
            sum_of[4] = p.time_ns
            sum_of[5] |= p.tcp_flags
        flows = {flow: FlowPart(*sum_of) for flow, sum_of in sums.items()}
        seen.update(flows)
        first = not result and ns is not None and min(p.time_ns for p in inside) != number * length
        ends = number == last and not (count and len(packets) % count == 0)
        result.append(Window(number * length, inside, first or ends, late[number], flows))
    return tuple(result)


address_of = functools.cache(ipaddress.ip_address)


@functools.cache
def prefix(address, bits4, bits6):
    address = address_of(address)
    whole = address.max_prefixlen
    bits = bits4 if address.version == 4 else bits6
    if bits == whole:
        return str(address)
    network = int(address) >> (whole - bits) << (whole - bits)
    return f"{type(address)(network)}/{bits}"


@functools.cache
def key_of(flow, part):
    """The key as events spell it: sorted pairs."""
    src, dst, protocol, src_port, dst_port = flow
    fields, _, bits = part.partition("/")
    bits = [int(n) for n in bits.split("/")] if bits else [32, 128]
    bits4, bits6 = bits[0], bits[1] if len(bits) > 1 else 2 * bits[0]
    key = {}
    if fields in ("5tuple", "src-dst", "src"):
        key["src_ip"] = prefix(src, bits4, bits6)
    if fields in ("5tuple", "src-dst", "dst"):
        key["dst_ip"] = prefix(dst, bits4, bits6)
    if fields in ("5tuple", "src-port"):
        key["src_port"] = src_port
    if fields in ("5tuple", "dst-port"):
        key["dst_port"] = dst_port
    if fields in ("5tuple", "src-port", "dst-port", "protocol"):
        key["protocol"] = protocol
    return tuple(sorted(key.items()))


@functools.cache
def aggregate(window, part):
    """key -> counts by AMOUNTS."""
    counts = collections.defaultdict(collections.Counter)
    for flow, did in window.flows.items():
        counts[key_of(flow, part)].update(
            packets=did.packets, ip_bytes=did.ip_bytes, wire_bytes=did.wire_bytes, flows=1, new_flows=int(did.starts)
        )
    return counts


def total(window, by):
    return sum(counts[by] for counts in aggregate(window, "protocol").values())


def count(window):
    return {
        (): {
            "packets": len(window.packets),
            "ip_bytes": total(window, "ip_bytes"),
            "wire_bytes": total(window, "wire_bytes"),
            "flows": len(window.flows),
            "new_flows": sum(did.starts for did in window.flows.values()),
            "late_packets": window.late,
        }
    }


def heavy_hitters(window, key="src", by="wire_bytes", share=None, least=None, top=None):
    whole = total(window, by)
    found = {k: c for k, c in aggregate(window, key).items() if c[by] >= (share * whole if share else least or 0)}
    if top:
        found = dict(sorted(found.items(), key=lambda item: -item[1][by])[:top])
    return {k: {"share": c[by] / whole if whole else 0, **{a: c[a] for a in AMOUNTS}} for k, c in found.items()}


def hierarchical(window, key="src", by="wire_bytes", share=0.01):
    whole = total(window, by)
    result = {}
    address = "src_ip" if key == "src" else "dst_ip"
    all_of = {k[0][1]: c[by] for k, c in aggregate(window, key).items()}
    own = dict(all_of)
    for bits4, bits6 in ((32, 128), (24, 64), (16, 48), (8, 32), (0, 0)):
        joined_all, joined_own = collections.Counter(), collections.Counter()
        for text, value in all_of.items():
            joined_all[prefix(text.partition("/")[0], bits4, bits6)] += value
        for text, value in own.items():
            joined_own[prefix(text.partition("/")[0], bits4, bits6)] += value
        all_of, own = dict(joined_all), dict(joined_own)
        for text in own:
            if own[text] and own[text] >= share * whole:
                result[((address, text),)] = {by: all_of[text], f"{by}_of_its_own": own[text]}
                own[text] = 0
    return result


def spreaders(window, key="src", ports=False, threshold=128):
    others = collections.defaultdict(set)
    side = key.partition("/")[0]
    for flow in window.flows:
        src, dst, protocol, src_port, dst_port = flow
        far = (dst, protocol, dst_port) if side == "src" else (src, protocol, src_port)
        others[key_of(flow, key)].add(far if ports else far[0])
    name = ("destinations" if side == "src" else "sources") + ("_and_ports" if ports else "")
    return {k: {name: len(far)} for k, far in others.items() if len(far) > threshold}


def entropy(window, key="src", by="packets"):
    counts = [c[by] for c in aggregate(window, key).values() if c[by]]
    keys = len(aggregate(window, key))
    whole = sum(counts)
    if not whole:
        return {}
    bits = -sum(c / whole * math.log2(c / whole) for c in counts)
    return {(): {"entropy_bits": bits, "normalised": bits / math.log2(keys) if keys > 1 else 0, "keys": keys}}


def flow_sizes(window, by="packets"):
    result = collections.Counter()
    for did in window.flows.values():
        result[f"flows_from_{1 << getattr(did, by).bit_length() - 1}_{by}"] += 1
    return {(): dict(result)}


def quantiles(window, field):
    """The exact ones, by nearest rank."""
    values = sorted(v for v in (field(flow, did) for flow, did in window.flows.items()) if v is not None)
    return {
        name: values[max(1, math.ceil(share * len(values))) - 1]
        for name, share in (("p10", 0.1), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999))
    }, len(values)


def condition(window, holds, fields):
    """`holds(flow, part)` for the five-tuples."""
    return {
        key_of(flow, "5tuple"): {"packets": did.packets, "wire_bytes": did.wire_bytes, **fields(flow, did)}
        for flow, did in window.flows.items()
        if holds(flow, did)
    }


def changes(all_windows, length, key="src", by="wire_bytes", method="ewma", share=0.01, deviations=4, warm_up=3):
    """window begin -> key -> values. Whole windows alone; silent ones count with 0 and raise nothing."""
    result, state, previous, before = {}, {}, None, 0
    whole_windows = {w.begin // length: w for w in all_windows if not w.partial}
    if not whole_windows:
        return result
    for age, number in enumerate(range(min(whole_windows), max(whole_windows) + 1)):
        window = whole_windows.get(number)
        now = {k: c[by] for k, c in aggregate(window, key).items()} if window else {}
        found, whole = {}, total(window, by) if window else 0
        for k in set(now) | set(state):
            value = now.get(k, 0)
            mean, deviation = state.get(k, (0.0, 0.0))
            off = abs(value - mean)
            if (
                window
                and off > 0
                and off >= share * max(whole, before)
                and (previous is not None if method == "previous" else age >= warm_up and off > deviations * deviation)
            ):
                found[k] = {by: value, f"{by}_expected": mean, f"{by}_difference": value - mean}
            if method == "previous" or age == 0:
                mean, deviation = float(value), value / 2
            else:
                mean, deviation = mean + (value - mean) / 8, deviation + (off - deviation) / 4
            state[k] = (mean, deviation)
            if mean < 0.5:
                del state[k]
        previous, before = number, whole
        if window:
            result[window.begin] = found
    return result


def bursty(all_windows, within_ns, share=0.1, packets=10):
    """window begin -> key -> values. A late packet comes no time after the one before it, and the next one counts from
    its time."""
    last, result = {}, {}
    for window in all_windows:
        counts = collections.Counter()
        for p in window.packets:
            flow = flow_of(p)
            counts[flow] += flow in last and max(0, p.time_ns - last[flow]) < within_ns
            last[flow] = p.time_ns
        result[window.begin] = {
            key_of(flow, "5tuple"): {
                "packets": did.packets,
                "wire_bytes": did.wire_bytes,
                "burst_packets": counts[flow],
            }
            for flow, did in window.flows.items()
            if did.packets >= packets and counts[flow] >= share * did.packets
        }
    return result


class TcpCounts:
    """What a simulator knows of a flow in a window."""

    def __init__(self, packets):
        truths = [p.tcp.truth for p in packets]
        data = [p.ip_bytes - 40 for p in packets if p.ip_bytes > 40]
        self.packets, self.wire_bytes, self.data_packets, self.payload_bytes = (
            len(packets),
            sum(p.wire_bytes for p in packets),
            len(data),
            sum(data),
        )
        for name in ("retransmission", "fast", "spurious", "below", "gap"):
            setattr(self, name, sum(getattr(truth, name) for truth in truths))
        self.zero_windows = sum(p.tcp.window == 0 for p in packets)
        self.round_trips_ns = [truth.rtt_ns for truth in truths if truth.rtt_ns is not None]
        self.handshake_ns = next((truth.handshake_ns for truth in truths if truth.handshake_ns is not None), None)

    def basic(self, **more):
        return {"packets": self.packets, "wire_bytes": self.wire_bytes, **more}

    def round_trips(self):
        trips = self.round_trips_ns
        return {
            "rtt_samples": len(trips),
            "rtt_min_ms": min(trips) / 1e6,
            "rtt_mean_ms": sum(trips) / len(trips) / 1e6,
            "rtt_max_ms": max(trips) / 1e6,
        }


@functools.cache
def tcp_counts(window):
    """flow -> TcpCounts."""
    packets = collections.defaultdict(list)
    for p in window.packets:
        packets[flow_of(p)].append(p)
    return {flow: TcpCounts(inside) for flow, inside in packets.items()}


def tcp(window, holds, values):
    """The flows that `holds(counts)` for."""
    return {
        key_of(flow, "5tuple"): counts.basic(**values(counts))
        for flow, counts in tcp_counts(window).items()
        if holds(counts)
    }


def latency_changes(all_windows, beta=2, after=8):
    """window begin -> key -> values. Means and variances as fractions, of all that the flow had before."""
    before, result = collections.defaultdict(list), {}
    for window in all_windows:
        result[window.begin] = {}
        for flow, counts in tcp_counts(window).items():
            changes = 0
            for rtt_ns in counts.round_trips_ns:
                earlier = before[flow]
                if len(earlier) >= after:
                    n, total = len(earlier), sum(earlier)
                    variance = fractions.Fraction(n * sum(x * x for x in earlier) - total * total, n * (n - 1))
                    changes += (rtt_ns - fractions.Fraction(total, n)) ** 2 > fractions.Fraction(beta) ** 2 * variance
                earlier.append(rtt_ns)
            if changes:
                result[window.begin][key_of(flow, "5tuple")] = counts.basic(
                    latency_changes=changes, **counts.round_trips()
                )
    return result
