# SPDX-License-Identifier: Apache-2.0
"""The account of a state of `watch --web` (or of its JSON report): what has to be equal, and where it is not."""

UNITS = ("records", "packets", "findings")
DEVICE = ("nic_missed", "nic_error", "no_mbuf")  # None where the device cannot tell
OUTCOMES = ("ring_full", "filtered", "not_ip", "counted")
SHARES = ("live_flow_packets", "ended_record_packets", "kept_out_packets")


def of_packets(account, of="the run"):
    """Sentences about an account of packets that does not balance; none if it does."""
    outcomes = (
        sum(account[name] or 0 for name in DEVICE)
        + sum(account[name] for name in OUTCOMES)
        + sum(account["malformed"].values())
    )
    shares = sum(account[name] for name in SHARES)
    wrong = []
    if account["offered"] != outcomes:
        wrong.append(f"{of}: {account['offered']} packets offered, {outcomes} in all outcomes")
    if account["counted"] != shares:
        wrong.append(f"{of}: {account['counted']} packets counted, {shares} in flows, records and kept out")
    if not account["balanced"]:
        wrong.append(f"{of}: it says itself that it does not balance")
    return wrong


def of_workers(summary):
    """Sentences where accounts of workers, and of receive threads in front of them, do not balance, or do not add up to
    the run's."""
    wrong = []
    threads = [(f"worker {number}", worker) for number, worker in enumerate(summary["workers"])]
    threads += [(f"receiver {number}", receiver) for number, receiver in enumerate(summary.get("receivers", []))]
    for name, thread in threads:
        wrong += of_packets(thread["accounting"], name)
    for name in ("offered", "counted", *SHARES):
        total = sum(thread["accounting"][name] for _, thread in threads)
        if total != summary["accounting"][name]:
            wrong.append(f"workers: {name} adds up to {total}, not {summary['accounting'][name]}")
    return wrong


def of_outputs(outputs):
    """Sentences where an output was offered something else than became of it."""
    wrong = []
    for output in outputs:
        for unit in UNITS:
            became = (
                output["written"][unit]
                + output["unconfirmed"][unit]
                + output["waiting"][unit]
                + output["dropped"][unit]
            )
            if output["offered"][unit] != became:
                wrong.append(
                    f"{output['name']}: {output['offered'][unit]} {unit} offered, {became} written, unconfirmed, "
                    f"waiting or dropped"
                )
    return wrong


def of_summary(summary):
    """All that is wrong with a summary; none where every identity holds."""
    return of_packets(summary["accounting"]) + of_workers(summary) + of_outputs(summary["outputs"])


def of_growth(before, after):
    """Counters of a run that became less from one state to the next."""
    names = ("offered", "counted", "ended_record_packets", "kept_out_packets", "nic_missed", "not_ip")
    return [
        f"{name} fell from {before[name]} to {after[name]}"
        for name in names
        if (after[name] or 0) < (before[name] or 0)
    ]


def of_metrics(metrics):
    """Sentences where an output's account in what Prometheus reads does not balance; `metrics` are values by name with
    labels."""
    parts = {}
    for name, value in metrics.items():
        for unit in UNITS:
            total = f'parshall_output_{unit}_total{{output="'
            if name.startswith(total):
                output, _, state = name[len(total) :].partition('",state="')
                parts.setdefault((output, unit), {})[state.rstrip('"}')] = value
            for state in ("waiting", "written"):
                gauge = f'parshall_output_{state}_{unit}{{output="'
                if name.startswith(gauge):
                    parts.setdefault((name[len(gauge) :].rstrip('"}'), unit), {})[state] = value
    wrong = []
    for (output, unit), of in parts.items():
        if 2 * of["offered"] != sum(of.values()):  # of which it is one
            wrong.append(f"metrics: {output}: {of['offered']:.0f} {unit} offered, not {of}")
    return wrong if parts else ["metrics: no output's account"]
