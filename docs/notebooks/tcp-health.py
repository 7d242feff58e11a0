# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
# # TCP health: round-trip times and retransmissions
#
# What a capture point can tell of TCP. A round-trip time is from a segment that passes to the packet that acknowledges just up to its end: the way from here to
# the flow's sender and back. The capture is made here, so that what has to be found is known: 200 connections for 12 seconds, 10,000 packets a second, some 2 % of
# them sent again; and from second 4 to 6 everything takes five times as long.

# %%
import struct
import subprocess
import sys

import matplotlib.pyplot as plt
import parshall

traffic = "flows=400,protocol=connections,dist=uniform,size=300,resend=0.02,rate=10000,packets=104000,seed=5"
send = f"send -g {traffic} --count 104000 -w even.pcap"
subprocess.run([sys.executable, "-m", "parshall", *send.split()], check=True, capture_output=True)

FIRST_S, LAST_S, TIMES = 4, 6, 5


def later(ns):
    """When a packet comes that would have come so many ns after the first, had there been no slow time."""
    begin, length = FIRST_S * 10**9, (LAST_S - FIRST_S) * 10**9 // TIMES
    return ns + min(max(ns - begin, 0), length) * (TIMES - 1)


with open("even.pcap", "rb") as even, open("slow.pcap", "wb") as slow:
    slow.write(even.read(24))
    first = None
    while head := even.read(16):
        seconds, part_ns, captured, wire = struct.unpack("<IIII", head)
        ns = seconds * 10**9 + part_ns
        first = first or ns
        slow.write(
            struct.pack("<IIII", *divmod(first + later(ns - first), 10**9), captured, wire)
            + even.read(captured)
        )

# %% [markdown]
# **Per flow.** Columns of its TCP packets: how many send data again, and the round-trip times (ms).

# %%
with parshall.flows(
    "slow.pcap", stats=["rtt_min", "rtt_mean", "rtt_p99", "tcp_retransmissions", "tcp_lost_segments"]
) as flows:
    frame = flows.to_pandas()
for column in ("rtt_min", "rtt_mean", "rtt_p99"):
    frame[f"{column}_ms"] = frame.pop(f"{column}_ns") / 1e6
packets, again = frame.packets.sum(), frame.tcp_retransmissions.sum()
print(f"{again} of {packets} packets send data again: {again / packets:.2%}; lost segments {frame.tcp_lost_segments.sum()}")
shown = frame[["packets", "tcp_retransmissions", "rtt_min_ms", "rtt_mean_ms", "rtt_p99_ms"]]
shown.describe().loc[["min", "50%", "max"]].round(2)

# %% [markdown]
# **Over time.** Tasks ask each window of a quarter of a second: the median over flows of their mean round-trip time, who sends again, and in which flows a
# round-trip time is more than three standard deviations from what it was before.

# %%
tasks = ["quantiles:of=rtt_mean_ms", "retransmissions", "latency-change:beta=3"]
with parshall.windows("slow.pcap", tasks=tasks, window="250ms") as found:
    findings = found.to_pandas()
findings["second"] = (findings["window.begin_ns"] - frame.first_seen.min().value) / 1e9
medians = findings[findings.task == "quantiles"].set_index("second")["values.rtt_mean_ms_p50"]
again_of = findings[findings.task == "retransmissions"].groupby("second")["values.tcp_retransmissions"].sum()
changes = findings[findings.task == "latency-change"].groupby("second")["values.latency_changes"].sum()

figure, plots = plt.subplots(3, 1, figsize=(8, 5), sharex=True)
for plot, series, label in zip(
    plots, (medians, again_of, changes), ("median RTT, ms", "sent again", "RTT changes")
):
    plot.step(series.index, series, where="post")
    plot.axvspan(FIRST_S, LAST_S, alpha=0.15)
    plot.set_ylabel(label)
    plot.set_ylim(0)
plots[-1].set_xlabel("seconds (shaded: the slow time)")
plt.show()

# %% [markdown]
# **Which windows are slow?** Those whose median is more than twice that of all.

# %%
slow_windows = medians[medians > 2 * medians.median()]
begin, end = slow_windows.index.min(), slow_windows.index.max() + 0.25
print(f"slow from second {begin:.2f} to {end:.2f}: {slow_windows.median():.0f} ms, where {medians.median():.0f} ms are usual")
