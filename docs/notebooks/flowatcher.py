# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
# # FloWatcher's questions
#
# Zhang et al., *FloWatcher-DPDK* (IEEE TNSM 2019), ask a monitor for these results: counts of every flow, moments and
# percentiles of the gap between its packets, the fraction of packets
# lost, and the number of flows that it can follow at a rate. This notebook answers with built-in traffic: 64-byte
# frames in memory, on one core.
#
# **Per flow.** The traffic has 4096 flows of equal rate and 2,000,000 packets. The gap is the number of packets of
# other flows between two packets of a flow. With random order its mean is close to 4095.

# %%
import warnings

import matplotlib.pyplot as plt
import pandas
import parshall

with parshall.flows(
    generate="flows=4096,dist=uniform,seed=2,packets=2000000",
    count=2_000_000,
    seed=1,
    columns=["+gap_mean", "gap_sd", "gap_p99", "size_mean"],
) as flows:
    frame = flows.to_pandas()
gaps = frame.packets - 1  # of each flow
mean_gap = (frame.gap_mean_packets * gaps).sum() / gaps.sum()
print(f"{len(frame)} flows, {frame.packets.sum()} packets; the mean gap of all is {mean_gap:.0f}")
shown = frame[["packets", "wire_bytes", "gap_mean_packets", "gap_sd_packets", "gap_p99_packets"]]
shown.describe().loc[["min", "50%", "max"]].round(1)

# %% [markdown]
# **Percentiles of the gap.** This plot has the distribution over flows. The percentiles form steps, because the
# histogram of each flow has bins. The middle of a bin is at most 5 % from the values in it.

# %%
plt.figure(figsize=(8, 2.5))
plt.hist(
    [frame.gap_mean_packets, frame.gap_p99_packets], bins=60, label=["mean", "99th percentile"], stacked=True
)
plt.xlabel("gap, in packets of other flows")
plt.ylabel("flows")
plt.legend()
plt.show()

# %% [markdown]
# **Loss.** Traffic with a `pace` arrives in real time. A packet that finds the queue full is lost, as on a device. Here
# the pace is too high for any monitor, to show the accounting:
# every offered packet is either counted or lost for a named reason. A `LossWarning` reports the loss.

# %%
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with parshall.flows(generate="flows=65536,pace=1000000000,queue=4096", duration="1s") as flows:
        counted_in_flows = flows.to_pandas().packets.sum()
account = {name: flows.accounting[name] for name in ("offered", "counted", "nic_missed", "lost", "balanced")}
print(account)
print(caught[0].message)
print(f"lost {account['lost'] / account['offered']:.1%}")

# %% [markdown]
# **How many flows at which rate?** The plot has the million packets a second (Mpps) that one core counts, with counters
# alone and with the 99th percentile of each flow's gap.
# Each run has five million packets from memory and ends when all records are read. With a million flows each flow has
# five packets, so a fifth of the packets begin a flow.
# The machine that made this page had other work.

# %%
PACKETS = 5_000_000


def rate_mpps(flows, stats):
    with parshall.flows(
        generate=f"flows={flows},dist=uniform,seed=1,packets={PACKETS}",
        count=PACKETS,
        flows=flows,
        stats=stats,
    ) as run:
        records = sum(len(batch) for batch in run.batches())
    assert (run.accounting["counted"], records) == (PACKETS, flows)
    return PACKETS / run.accounting["elapsed_s"] / 1e6


rates = pandas.DataFrame(
    [
        {
            "flows": flows,
            "counters": rate_mpps(flows, None),
            "counters and gap_p99": rate_mpps(flows, ["gap_p99"]),
        }
        for flows in (1_000, 10_000, 100_000, 1_000_000)
    ]
).set_index("flows")
rates.plot(style="o-", logx=True, ylabel="Mpps", ylim=0, figsize=(8, 2.5))
plt.show()
rates.round(1)
