# SPDX-License-Identifier: Apache-2.0
"""Precision, recall and errors of the tasks that estimate, over many seeds; a seed is a window of its own, or addresses
of its own.

usage: accuracy_tasks.py PARSHALL [--seeds 100] [--write docs/accuracy.md]
"""

import argparse
import collections
import itertools
import json
import math
import os
import random
import struct
import subprocess
import tempfile

import oracle
import tcp_simulator

import traffic

SECOND = traffic.SECOND
BEGIN_S = traffic.BEGIN_NS // SECOND
BEGIN, END = "<!-- tasks: begin -->", "<!-- tasks: end -->"


class Score:
    """What was found of what was to be found, seed by seed, and errors as shares of their bounds."""

    def __init__(self):
        self.precisions, self.recalls, self.errors, self.beyond = [], [], [], 0

    def add(self, right, said, true):
        if said:
            self.precisions.append(right / said)
        if true:
            self.recalls.append(right / true)

    def add_error(self, error, bound):
        self.errors.append(0 if error <= 1e-9 else error / bound if bound else math.inf)

    def cells(self):
        two = lambda shares: f"{sum(shares) / len(shares):.4f} | {min(shares):.4f}" if shares else "- | -"
        if not self.errors:
            return f"{two(self.precisions)} | {two(self.recalls)} | - | -"
        beyond = sum(ratio > 1 for ratio in self.errors)
        return f"{two(self.precisions)} | {two(self.recalls)} | {max(self.errors):.2f} | {beyond} of {len(self.errors)}"


def frame(src, dst, length):
    """The headers of a UDP packet between addresses of 32 bits; the capture cuts the rest."""
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, length - 14, 0, 0, 64, traffic.UDP, 0, src, dst)
    return b"\x02" * 12 + b"\x08\x00" + ip + struct.pack(">HHHH", 1000, 53, length - 34, 0)


def write_windows(path, windows):
    """A second each, evenly filled: lists of (src, dst, wire bytes)."""
    frames = {}
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for second, packets in enumerate(windows):
            pieces, step = [], SECOND // (len(packets) // 64 + 1)
            for i, packet in enumerate(packets):
                if i % 64 == 0:
                    time = struct.pack("<II", BEGIN_S + second, i // 64 * step)
                if packet not in frames:
                    if len(frames) > 1_000_000:
                        frames.clear()
                    frames[packet] = struct.pack("<II", 42, packet[2]) + frame(*packet)
                pieces += (time, frames[packet])
            file.write(b"".join(pieces))


def watch(program, capture, *arguments):
    """task -> window number from the first -> events."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        done = subprocess.run(
            [
                program,
                "watch",
                "-r",
                capture,
                "--export",
                f"events:{file.name}",
                "--quiet",
                "-o",
                os.devnull,
                "--seed",
                "1",
                *arguments,
            ],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        events = collections.defaultdict(lambda: collections.defaultdict(list))
        for line in file:
            event = json.loads(line)
            if "keys_left_out" not in event["values"]:
                events[event["task"]][event["window"]["begin_ns"] // SECOND - BEGIN_S].append(event)
    return events


def number(address):
    a, b, c, d = map(int, address.split("."))
    return a << 24 | b << 16 | c << 8 | d


# Spreaders: a method, the thresholds in its stated range, and the largest fan-out of that range.
SPREADERS = [("bloom", (64, 128, 256), 400), ("linear", (64, 512, 2048), 4000), ("hyperloglog", (64, 512, 2048), 4000)]


OTHERS, VICTIMS = range(20 << 24, 200 << 24), 1 << 20  # addresses; how far those of victims are from those of spreaders


def spreaders(program, folder, seeds):
    """Sixteen keys a window with 32 to 4000 others each; others have one."""
    windows, fans = [], []
    for seed in range(seeds):
        rng = random.Random(seed)
        fan = {(10 << 24) + (seed << 8) + i: round(32 * 125 ** rng.random()) for i in range(16)}
        packets = []
        for key, count in fan.items():
            packets += [(key, other, 60) for other in rng.sample(OTHERS, count)]
            packets += [(other, key + VICTIMS, 60) for other in rng.sample(OTHERS, count)]
        rng.shuffle(packets)
        windows.append(packets)
        fans.append(fan)
    capture = os.path.join(folder, "spreaders.pcap")
    write_windows(capture, windows)
    specs = [
        f"{task}:name={task}-{method},method={method},threshold=30,most=1M"
        for task in ("superspreaders", "victims")
        for method, _, _ in SPREADERS
    ]
    events = watch(
        program,
        capture,
        "--flows",
        "1Mi",
        "--task-keys",
        "256Ki",
        *itertools.chain.from_iterable(("--task", spec) for spec in specs),
    )
    rows = []
    for task, value, side, shift in (
        ("superspreaders", "destinations", "src_ip", 0),
        ("victims", "sources", "dst_ip", VICTIMS),
    ):
        for method, thresholds, most in SPREADERS:
            scores = {threshold: Score() for threshold in thresholds}
            for seed, fan in enumerate(fans):
                said = {number(event["key"][side]) - shift: event for event in events[f"{task}-{method}"][seed]}
                assert set(said) <= set(fan), "keys of one other each"
                for threshold, score in scores.items():
                    near = {key for key, count in fan.items() if count <= most}
                    reported = {key for key in near if key in said and said[key]["values"][value] > threshold}
                    many = {key for key in near if fan[key] > threshold}
                    score.add(len(reported & many), len(reported), len(many))
                    for key in reported:
                        error = said[key]["error"]
                        if f"{value}_relative" in error:
                            estimate = said[key]["values"][value]
                            score.add_error(abs(estimate - fan[key]), error[f"{value}_relative"] * estimate)
            rows += [(f"{task}, {method}, more than {threshold}", score) for threshold, score in scores.items()]
    return rows


def little_room(program, folder, seeds):
    """Zipf's law over 300,000 sources, 50,000 packets a window; some of the largest grow or fall for a window. To one
    of 64 destinations each, so that a source comes in parts."""
    rng = random.Random(1)
    weights = list(itertools.accumulate(1 / i for i in range(1, 300_001)))
    windows, counts = [], []
    for _ in range(seeds):
        draws = collections.Counter(rng.choices(range(300_000), cum_weights=weights, k=50_000))
        for rank in rng.sample(range(60), 6):
            draws[rank] = int(draws[rank] * rng.choice([0, 3, 4])) + rng.randrange(300)
        packets = [((11 << 24) + rank * 7, (12 << 24) + rng.getrandbits(6), 100) for rank in draws.elements()]
        rng.shuffle(packets)
        windows.append(packets)
        counts.append({(11 << 24) + rank * 7: count for rank, count in draws.items() if count})
    capture = os.path.join(folder, "zipf.pcap")
    write_windows(capture, windows)
    specs = [f"heavy-hitters:name=hh{least},by=packets,threshold={least},most=1M" for least in (10, 50)]
    specs += [
        "entropy:key=src",
        "change:name=ewma,by=packets,threshold=0.03%,most=1M",
        "change:name=previous,method=previous,by=packets,threshold=0.03%,most=1M",
    ]
    arguments = ["--flows", "512Ki", *itertools.chain.from_iterable(("--task", spec) for spec in specs)]
    little = watch(program, capture, "--task-keys", "4096", *arguments)
    exact = watch(program, capture, "--task-keys", "1Mi", *arguments)
    rows = []
    for least in (10, 50):
        score = Score()
        for seed, truth in enumerate(counts):
            said = {number(event["key"]["src_ip"]): event for event in little[f"hh{least}"][seed]}
            heavy = {key for key, count in truth.items() if count >= least}
            score.add(len(heavy & set(said)), len(said), len(heavy))
            for key, event in said.items():
                score.add_error(
                    truth[key] - event["values"]["packets"], event.get("error", {}).get("packets_missing", 0)
                )
        rows.append((f"heavy-hitters, at least {least} packets", score))
    score = Score()
    for seed, truth in enumerate(counts):
        whole = sum(truth.values())
        bits = -sum(count / whole * math.log2(count / whole) for count in truth.values())
        (event,) = little["entropy"][seed]
        score.add_error(
            abs(event["values"]["entropy_bits"] - bits), event.get("error", {}).get("entropy_bits_too_many", 0)
        )
    rows.append(("entropy of sources", score))
    for method in ("ewma", "previous"):
        score = Score()
        for seed in range(seeds):
            said, true = (
                {event["key"]["src_ip"]: event for event in events[method][seed]} for events in (little, exact)
            )
            score.add(len(said.keys() & true.keys()), len(said), len(true))
            for key in said.keys() & true.keys():
                for name in ("packets", "packets_expected"):
                    score.add_error(
                        abs(true[key]["values"][name] - said[key]["values"][name]),
                        said[key].get("error", {}).get(f"{name}_missing", 0),
                    )
        rows.append((f"change, {method}, from 0.03 % of all packets", score))
    keys = sum(map(len, counts)) / seeds
    return rows, keys


def quantiles(program, folder, seeds):
    """A thousand flows a window, of Pareto's and of uniform lengths."""
    windows, sizes = [], []
    for seed in range(seeds):
        rng, packets, size = random.Random(seed), [], collections.Counter()
        for flow in range(1000):
            src = (10 << 24) + (seed << 12) + flow
            for _ in range(min(60, int(rng.paretovariate(1.1)))):
                packets.append((src, 12 << 24, rng.randrange(60, 1515)))
                size[src] += packets[-1][2]
        rng.shuffle(packets)
        windows.append(packets)
        sizes.append(sorted(size.values()))
    capture = os.path.join(folder, "quantiles.pcap")
    write_windows(capture, windows)
    bounds = (0.001, 0.01, 0.1)
    events = watch(
        program,
        capture,
        "--flows",
        "256Ki",
        *itertools.chain.from_iterable(
            ("--task", f"quantiles:name=q{i},of=wire_bytes,error={bound}") for i, bound in enumerate(bounds)
        ),
    )
    rows = []
    for i, bound in enumerate(bounds):
        score = Score()
        for seed, size in enumerate(sizes):
            (event,) = events[f"q{i}"][seed]
            assert event["values"]["flows"] == len(size)
            for name, share in (("p10", 0.1), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)):
                true = size[max(1, math.ceil(share * len(size))) - 1]
                score.add_error(abs(event["values"][f"wire_bytes_{name}"] - true), bound * true)
        rows.append((f"quantiles, error={bound}", score))
    return rows


def retransmissions(program, folder, seeds):
    """Eight connections a seed, where the packets of all seeds have other addresses and come a hundred seconds
    later."""
    rows = []
    for behind in (False, True):
        packets = []
        for seed in range(seeds):
            for p in tcp_simulator.connections(seed, count=8, behind_loss=behind, loss=0.03):
                mine = lambda address: f"{11 + seed % 200}.{address.partition('.')[2]}"
                packets.append(p._replace(time_ns=p.time_ns + seed * 100 * SECOND, src=mine(p.src), dst=mine(p.dst)))
        capture = os.path.join(folder, "tcp.pcap")
        traffic.write_capture(capture, packets)
        seen = "most=10M:tcp_retransmissions + tcp_out_of_order > 0"
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            subprocess.run(
                [
                    program,
                    "watch",
                    "-r",
                    capture,
                    "--export",
                    f"events:{file.name}",
                    "--quiet",
                    "-o",
                    os.devnull,
                    "--flows",
                    "64Ki",
                    "--task",
                    f"single:window=10ms,{seen}",
                    "--task",
                    f"sum:window=100s,{seen}",
                ],
                check=True,
            )
            events = [json.loads(line) for line in file]
        place = f"{'behind' if behind else 'before'} the loss"
        for task, length, fields, what in (
            ("single", SECOND // 100, ["tcp_retransmissions"], "single retransmissions"),
            ("sum", 100 * SECOND, ["tcp_retransmissions"], "retransmissions per flow"),
            (
                "sum",
                100 * SECOND,
                ["tcp_retransmissions", "tcp_out_of_order"],
                "retransmissions and out of order per flow",
            ),
        ):
            said, true = collections.Counter(), collections.Counter()
            for event in events:
                if event["task"] == task:
                    said[tuple(sorted(event["key"].items())), event["window"]["begin_ns"]] += sum(
                        event["values"][name] for name in fields
                    )
            for p in packets:
                if p.tcp.truth.retransmission:
                    true[oracle.key_of(oracle.flow_of(p), "5tuple"), p.time_ns // length * length] += 1
            by_seed = collections.defaultdict(collections.Counter)
            for which in said.keys() | true.keys():
                seed = int(dict(which[0])["src_ip"].partition(".")[0]) - 11
                by_seed[seed].update(right=min(said[which], true[which]), said=said[which], true=true[which])
            score = Score()
            for counts in by_seed.values():
                score.add(counts["right"], counts["said"], counts["true"])
            rows.append((f"{place}: {what} ({sum(true.values())} in all)", score))
    return rows


def section(program, seeds):
    with tempfile.TemporaryDirectory(prefix="parshall-accuracy-") as folder:
        rows = spreaders(program, folder, seeds)
        room, keys = little_room(program, folder, seeds)
        rows += room + quantiles(program, folder, seeds) + retransmissions(program, folder, seeds)
    table = "\n".join(f"| {what} | {score.cells()} |" for what, score in rows)
    return f"""{BEGIN}
## Tasks

This table compares the events of tasks that estimate with the traffic that was sent. `tests/tasks/accuracy_tasks.py` measured it with {seeds} seeds.

- *Precision* is the fraction of the reported items that are true. *Recall* is the fraction of the true items that are reported. Both are computed per seed. The table shows the mean and the worst seed.
- *Error* is the error of a reported number, divided by the error that its event states. The stated error is a bound. For spreaders it is three standard deviations instead.

The traffic of each group of rows:

- **Spreaders** (`superspreaders`, `victims`): each window has 16 keys with 32 to 4000 peers each, evenly spread on a logarithmic scale.
  Only keys within the method's stated range count (bloom: up to 400 peers, the others: up to 4000). A key counts as reported if its estimate is above the threshold.
  Some seeds have only one such key, so a single miss gives a recall of 0.
- **Small tables** (`heavy-hitters`, `entropy`, `change`): the task has room for 4096 keys (`--task-keys`). Each window has {keys:.0f} sources and 50,000 packets by Zipf's law, to 64 destinations.
  In each window six of the 60 largest sources change. A heavy hitter is missed if the count that is left after evictions is below the threshold. Changes are compared with a run that has room for all keys.
- **Quantiles**: p10 to p99.9 of the bytes of 1000 flows in each window.
- **Retransmissions**: 8 connections a seed, with bursty loss (Gilbert and Elliott) and delays of 5 to 60 ms with jitter. *Single* means counts per flow within 10 ms.
  *Before the loss*, the capture point sees every copy. *Behind the loss*, it never saw the first copy of a lost segment. A retransmission that fills a hole at once looks like a reordered packet there. A retransmission of data lost at the end of a flight looks like new data.

| {seeds} seeds | precision: mean | worst | recall: mean | worst | largest error / stated error | errors above the stated one |
|---|---|---|---|---|---|---|
{table}
{END}
"""  # noqa: E501


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parshall")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--write", metavar="FILE")
    arguments = parser.parse_args()
    text = section(arguments.parshall, arguments.seeds)
    if arguments.write is None:
        print(text, end="")
        return
    with open(arguments.write) as file:
        page = file.read()
    before, begins, rest = page.partition(BEGIN)
    after = rest.partition(END)[2].lstrip("\n") if begins else ""
    with open(arguments.write, "w") as file:
        file.write(before.rstrip("\n") + "\n\n" + text + ("\n" + after if after else ""))


if __name__ == "__main__":
    main()
