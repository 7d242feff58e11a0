# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
# # FloWatcher's questions
#
# What Zhang et al., *FloWatcher-DPDK* (IEEE TNSM 2019) ask of a monitor: counts of every flow, moments and percentiles of the gap between its packets, the share of packets
# that is lost, and how many flows it can follow at which rate. Here of built-in traffic: 64-byte frames that are ready in memory, one core.
#
# **Per flow.** 4096 flows of equal rate, 2,000,000 packets. The gap is in packets of other flows; of so many flows that take turns at random its mean is close to 4095.

# %%
import warnings

import matplotlib.pyplot as plt
import pandas
import parshall

with parshall.flows(
    generate="flows=4096,dist=uniform,seed=2,packets=2000000",
    count=2_000_000,
    seed=1,
    stats=["gap_mean", "gap_sd", "gap_p99", "size_mean"],
) as flows:
    frame = flows.to_pandas()
gaps = frame.packets - 1  # of each flow
mean_gap = (frame.gap_mean_packets * gaps).sum() / gaps.sum()
print(f"{len(frame)} flows, {frame.packets.sum()} packets; the mean gap of all is {mean_gap:.0f}")
shown = frame[["packets", "wire_bytes", "gap_mean_packets", "gap_sd_packets", "gap_p99_packets"]]
shown.describe().loc[["min", "50%", "max"]].round(1)

# %% [markdown]
# **Percentiles of the gap**, over flows. They come in steps: each flow's histogram has bins, whose middle is at most 5 % from what fell into them.

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
# **Loss.** Traffic of a pace comes in real time, and what finds the queue full is missed, as on a device. A pace that nobody can take shows the account: every
# packet that was offered is counted or lost, by name, and a `LossWarning` says so.

# %%
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    with parshall.flows(generate="flows=65536,pace=1000000000,queue=4096", duration="1s") as flows:
        counted_in_flows = flows.to_pandas().packets.sum()
account = {name: flows.accounting[name] for name in ("offered", "counted", "nic_missed", "lost", "balanced")}
print(account)
print(told[0].message)
print(f"lost {account['lost'] / account['offered']:.1%}")

# %% [markdown]
# **How many flows at which rate?** Packets a second (Mpps) that one core counts, with counters alone and with the 99th percentile of each flow's gap: five million
# packets each, from memory, until all records are read. With a million flows each has five, so that a fifth of the packets begin one. It is of the machine that this page was
# made on, which had other work.

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
