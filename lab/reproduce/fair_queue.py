# SPDX-License-Identifier: Apache-2.0
"""A fair queue under test: flows of which the k-th is k times slower than the first, more than the queue's rate in
all."""

import json
import pathlib
import shutil
import subprocess

import network

FLOWS, SIZE, OFFERED_PPS, SECONDS = 1000, 64, 20_000, 55
AGGRESSIVE = 200  # flows that are above their fair share, as in the paper
FRAME = SIZE - 4  # what a queue counts: without check sequence
LIMIT = 8  # packets of a queue, each a turn
# Those flows have the share of the next one, which has all that it sends.
PASSED = sum(1 / max(flow, AGGRESSIVE + 1) for flow in range(1, FLOWS + 1)) / sum(
    1 / flow for flow in range(1, FLOWS + 1)
)
RATE_PPS = OFFERED_PPS * PASSED
RATE_BPS = round(RATE_PPS * 8 * FRAME)
DEVICE = f"fair-queue:rate={RATE_BPS}bit,flows={FLOWS},limit={LIMIT},quantum={FRAME}"
ARGUMENTS = [
    "--through",
    DEVICE,
    "-g",
    f"flows={FLOWS},dist=ladder,size={SIZE}",
    "--rate",
    f"{OFFERED_PPS}pps",
    "--duration",
    f"{SECONDS}s",
]
COMMANDS = "parshall test run " + " ".join(ARGUMENTS)


def version():
    """What its figures depend on beside parshall."""
    return pathlib.Path(__file__).read_text()


def why_not():
    return network.why_not() or (None if shutil.which("nft") else "there is no nft command (nftables)")


def max_min(offered, capacity):
    """The fair share, which nobody exceeds and those have that offer more, so that all have the capacity together.
    Source: Bertsekas and Gallager, Data Networks, section 6.5.2."""
    left = sorted(offered)
    while left and left[0] * len(left) <= capacity:
        capacity -= left.pop(0)
    return capacity / len(left) if left else float("inf")


def rows_of(report):
    """A row a flow, from the fastest on: frames sent, received and lost; the max-min fair share of the rate in frames
    of the whole run, the same for all; what came as a share of that; and by how many frames it is off from what the
    flow has to get."""
    flows = report["flows"]
    sent = [flow["sent_frames"] for flow in flows]
    fair = max_min(sent, RATE_PPS * sum(sent) / sum(flow["sent_pps"] for flow in flows))
    return [
        {
            "row": "flow",
            "flow": flow["stream"] + 1,
            "sent": flow["sent_frames"],
            "received": flow["received_frames"],
            "sent_pps": flow["sent_pps"],
            "lost": flow["sent_frames"] - flow["received_frames"],
            "fair": fair,
            "got_share": flow["received_frames"] / fair,
            "off": abs(flow["received_frames"] - min(flow["sent_frames"], fair)),
        }
        for flow in flows
    ]


def measure(parshall, path):
    """One document; without rows where there can be no such device."""
    missing, load = why_not(), pathlib.Path("/proc/loadavg").read_text()
    document = {
        "experiment": "fair-queue",
        "machine": {"load": " ".join(load.split()[:3])},
        "missing": missing,
        "rows": [],
    }
    if missing is None:
        done = subprocess.run(
            [parshall, "test", "run", *ARGUMENTS, "-q", "--format", "json"],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"parshall test run ended with {done.returncode}: {done.stderr}")
        report = json.loads(done.stdout)
        document["rows"] = rows_of(report)
        document |= {
            column: report["summary"][column]
            for column in ("fairness_of_rates", "fairness_of_ratios", "latency_p99_ns")
        }
    path.write_text(json.dumps(document) + "\n", encoding="utf-8")
