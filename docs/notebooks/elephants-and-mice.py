# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
# # Elephants, mice, and the gaps between their packets
#
# The **gap** of a flow is the number of packets of other flows between two of its own packets. A cache or a flow table
# sees a flow again after this many other packets.
# This notebook measures the gap of each flow on a link with 2000 flows by Zipf's law (exponent 1.1) and 400,000
# packets. It compares the result with probability theory.

# %%
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy
import parshall

capture = "zipf.pcap"
traffic = "flows=2000,dist=zipf:1.1,size=64,packets=400000,seed=3"
send = f"send -g {traffic} --count 400000 -w {capture}"
subprocess.run([sys.executable, "-m", "parshall", *send.split()], check=True, capture_output=True)

with parshall.flows(capture, columns=["+gap_mean", "gap_p50", "gap_p99"]) as flows:
    frame = flows.to_pandas().sort_values("packets", ascending=False, ignore_index=True)
frame[["src_ip", "dst_ip", "packets", "gap_mean_packets", "gap_p50_packets", "gap_p99_packets"]].head(5)

# %% [markdown]
# **Elephants.** The largest 1 % of the flows has a large part of the packets.

# %%
share = frame.packets.cumsum() / frame.packets.sum()
elephants = frame.head(len(frame) // 100)
mice = frame.tail(len(frame) // 2)
print(f"{len(elephants)} of {len(frame)} flows have {elephants.packets.sum() / frame.packets.sum():.1%} of the packets")
print(f"the smaller half of them has {mice.packets.sum() / frame.packets.sum():.1%}")
plt.figure(figsize=(8, 2.5))
plt.plot((numpy.arange(len(frame)) + 1) / len(frame), share)
plt.xscale("log")
plt.xlabel("share of the flows, the largest first")
plt.ylabel("share of the packets")
plt.ylim(0, 1)
plt.show()

# %% [markdown]
# **The gap.** Suppose that each packet belongs to a flow with probability *p*, independent of the packets before. Then
# the gap has a geometric distribution. Its mean is (1 - *p*) / *p*, and its
# 99th percentile is about 4.6 times the mean. Lines in the plot show this law.
# A histogram for each flow estimates the percentile, within 5 % of the exact value. Flows of fewer than 100 packets are
# left out, because their largest gap is their 99th percentile.

# %%
known = frame[frame.packets >= 100]
p = known.packets / frame.packets.sum()
law_mean = (1 - p) / p
law_p99 = numpy.ceil(numpy.log(0.01) / numpy.log1p(-p)) - 1
plt.figure(figsize=(8, 3.5))
for column, law, name in (
    ("gap_mean_packets", law_mean, "mean"),
    ("gap_p99_packets", law_p99, "99th percentile"),
):
    (dots,) = plt.loglog(known.packets, known[column], ".", markersize=3, label=name)
    plt.loglog(known.packets, law, color=dots.get_color(), linewidth=1)
plt.xlabel("packets of the flow")
plt.ylabel("gap, in packets of other flows")
plt.legend()
plt.show()

# %% [markdown]
# The flows differ from the law by chance. For the percentile the bins of the histogram add to the difference.

# %%
off_mean = (known.gap_mean_packets / law_mean - 1).abs()
off_p99 = (known.gap_p99_packets / law_p99 - 1).abs()
print(f"{len(known)} flows, off the law (median): mean {off_mean.median():.1%}, 99th percentile {off_p99.median():.1%}")
