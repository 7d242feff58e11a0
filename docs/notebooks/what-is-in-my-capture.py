# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
# # What is in my capture?
#
# This notebook has five cells. Bytes count whole frames on the wire, without FCS. Times are UTC.
#
# Set the environment variable `PARSHALL_CAPTURE=mine.pcap` to read your own capture (pcap, pcapng or ERF, compressed or
# not). Otherwise the notebook generates one: 400 TCP flows by Zipf's law, 50,000 packets in five seconds.
#
# **1. Is everything counted?** Every packet is counted in a flow, or under the reason why it is in no flow.

# %%
import os
import subprocess
import sys

import matplotlib.pyplot as plt
import parshall

capture = os.environ.get("PARSHALL_CAPTURE")
if not capture:
    capture = "capture.pcap"
    traffic = "flows=400,dist=zipf:1.1,protocol=sessions,size=imix,ipv6=0.2,rate=10000,packets=50000,seed=1"
    send = f"send -g {traffic} --count 50000 -w {capture}"
    subprocess.run([sys.executable, "-m", "parshall", *send.split()], check=True, capture_output=True)

flows = parshall.flows(capture, biflow=True, columns=["+duration_ns"])
frame = flows.to_pandas()
frame["all_packets"] = frame.packets + frame.reverse_packets.fillna(0).astype("uint64")
frame["all_bytes"] = frame.wire_bytes + frame.reverse_wire_bytes.fillna(0).astype("uint64")
account = {
    name: flows.accounting[name] for name in ("offered", "counted", "lost", "filtered", "not_ip", "malformed")
}
print(account)
if frame.empty:
    raise SystemExit("no packet has an IP header: the accounting above shows the reasons")

# %% [markdown]
# **2. What is in it?** A row of `frame` is a conversation with both directions. The source is the end that sent first.

# %%
span_s = (frame.last_seen.max() - frame.first_seen.min()).total_seconds()
packets, megabytes = frame.all_packets.sum(), frame.all_bytes.sum() / 1e6
print(
    f"{frame.first_seen.min():%Y-%m-%d %H:%M:%S}, {span_s:.2f} s: {len(frame)} conversations, {packets} packets, "
    f"{megabytes:.1f} MB"
)
frame.groupby(["ip_version", "protocol"]).agg(
    conversations=("all_packets", "size"), packets=("all_packets", "sum"), bytes=("all_bytes", "sum")
)

# %% [markdown]
# **3. Which conversations are the largest?**

# %%
largest = frame.sort_values("all_bytes", ascending=False, ignore_index=True)
largest[["src_ip", "src_port", "dst_ip", "dst_port", "all_packets", "all_bytes"]].head(8)

# %% [markdown]
# **4. How does the load change?** The plot has the bits per second in about fifty windows. Each packet is in one
# window.

# %%
window_ms = max(10, round(span_s / 50 * 1000))
load = parshall.windows(capture, tasks=["count"], window=f"{window_ms}ms").to_pandas()
number = load["window.begin_ns"] // (window_ms * 10**6)
# A window without packets has no row: fill in 0.
bits = (
    load["values.wire_bytes"]
    .set_axis(number - number.min())
    .reindex(range(number.max() - number.min() + 1), fill_value=0)
    * 8
)
plt.figure(figsize=(8, 2.5))
plt.step(bits.index * window_ms / 1000, bits / (window_ms / 1000) / 1e6, where="post")
plt.xlabel("seconds")
plt.ylabel("Mbit/s")
plt.ylim(0)
plt.show()

# %% [markdown]
# **5. How large are conversations?** For each size, the plot has the fraction of conversations up to this size, and
# their fraction of all bytes.

# %%
sizes = frame.all_bytes.sort_values().to_numpy()
plt.figure(figsize=(8, 2.5))
plt.step(sizes, [(i + 1) / len(sizes) for i in range(len(sizes))], label="of conversations")
plt.step(sizes, sizes.cumsum() / sizes.sum(), label="of bytes")
plt.xscale("log")
plt.xlabel("bytes of a conversation")
plt.ylabel("share")
plt.legend()
plt.show()
