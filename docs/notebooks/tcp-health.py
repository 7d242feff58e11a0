# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
# # TCP health: round-trip times and retransmissions
#
# This notebook shows what a capture point can measure of TCP. A round-trip time lasts from a segment to the packet that
# acknowledges exactly up to its end. It covers the way from the capture point to the sender of the acknowledgement,
# which is the flow's sender, and back.
#
# The notebook generates its capture, so the right answer is known. The capture has 200 connections, 12 seconds and
# 10,000 packets a second. About 2 % of the packets are retransmissions. From second 4 to second 6 everything takes five
# times as long.

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
    """The arrival time in ns after the first packet, given the arrival time without the slow period."""
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
# **Per flow.** Each flow has columns for its retransmissions and its round-trip times (ms).

# %%
with parshall.flows(
    "slow.pcap", columns=["+rtt_min", "rtt_mean", "rtt_p99", "tcp_retransmissions", "tcp_lost_segments"]
) as flows:
    frame = flows.to_pandas()
for column in ("rtt_min", "rtt_mean", "rtt_p99"):
    frame[f"{column}_ms"] = frame.pop(f"{column}_ns") / 1e6
packets, again = frame.packets.sum(), frame.tcp_retransmissions.sum()
print(f"{again} of {packets} packets are retransmissions: {again / packets:.2%}; lost segments "
      f"{frame.tcp_lost_segments.sum()}")
shown = frame[["packets", "tcp_retransmissions", "rtt_min_ms", "rtt_mean_ms", "rtt_p99_ms"]]
shown.describe().loc[["min", "50%", "max"]].round(2)

# %% [markdown]
# **Over time.** Three tasks inspect each window of 250 ms. They report the median over flows of the mean round-trip
# time, the flows with retransmissions, and the flows whose
# round-trip time is more than three standard deviations from its earlier values.

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
# **Which windows are slow?** A window is slow if its median is more than twice the median of all windows.

# %%
slow_windows = medians[medians > 2 * medians.median()]
begin, end = slow_windows.index.min(), slow_windows.index.max() + 0.25
print(f"slow from second {begin:.2f} to {end:.2f}: {slow_windows.median():.0f} ms, where {medians.median():.0f} ms are "
      f"usual")
