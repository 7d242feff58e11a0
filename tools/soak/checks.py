# SPDX-License-Identifier: Apache-2.0
"""What has to hold of a run beside its growth: each second's account, counts of others, and what every output says it
did."""

import dataclasses
import re

ENDED = re.compile(
    r"(\S+?):?(?: was removed as an output)?: (\d+) records?(?: of flows)? \((\d+) packets?\) = "
    r"(\d+) \((\d+)\) written "
    r"\+ (\d+) \((\d+)\) dropped"
)

OPTIONS = 200  # records of options, which are numbered too, that may be among what a collector lacks
MOST_IN_MESSAGE = 30  # records of NetFlow 9, by UDP


@dataclasses.dataclass(frozen=True)
class Check:
    name: str
    holds: bool
    detail: str


def of_run(data):
    checks = _of_seconds(data) + _of_rotated(data)
    return checks + (_of_packets(data) + _of_outputs(data) + _of_collectors(data) + _of_end(data) if data.ends else [])


def _of_seconds(data):
    states = [sample for sample in data.samples if "account" in sample]
    fresh = [sample for sample in states if sample["new_state"]]
    broken = [sample for sample in states if sample["wrong"]]
    sentences = [f"{event['t']:.0f} s: {'; '.join(event['sentences'])}" for event in data.told("wrong")]
    scraped = [sample for sample in data.samples if "metrics_wrong" in sample]
    off = [f"{event['t']:.0f} s: {'; '.join(event['sentences'][:3])}" for event in data.told("wrong metrics")]
    without = len(data.samples) - len(states)
    ahead = [
        sample["t"]
        for sample, after in zip(states, states[1:])
        if sample["account"]["offered"]
        > after["tap0_rx_packets"] - data.ends.get("counters_before", {}).get("tap0_rx_packets", 0)
    ]
    return [
        Check(
            "no packet from nowhere",
            not ahead,
            f"in {len(ahead)} of {len(states)} seconds more were offered than the kernel had by the next"
            + "".join(f"; {at:.0f} s" for at in ahead[:5]),
        ),
        Check(
            "the account of each second",
            not broken and bool(states),
            f"{len(states) - len(broken)} of {len(states)} balance ({len(fresh)} different states)"
            + "".join(f"; {s}" for s in sentences[:5]),
        ),
        Check(
            "outputs' accounts in the metrics",
            not off,
            f"{sum(sample['metrics_wrong'] == 0 for sample in scraped)} of {len(scraped)} scrapes balance"
            + "".join(f"; {s}" for s in off[:5]),
        ),
        _of_memory(data),
        Check(
            "a state each second",
            without <= max(3, len(data.samples) // 1000),
            f"{without} of {len(data.samples)} samples without one; {len(data.samples)} samples in {data.seconds():.0f}"
            f" s, the longest time between two {_longest(data):.0f} s",
        ),
    ]


def _longest(data):
    """Seconds between two samples: more than one where others had the processors."""
    return max((after["t"] - before["t"] for before, after in zip(data.samples, data.samples[1:])), default=0)


def _of_memory(data):
    """What it announced when it began is the most that it may ever take: of what it allocates; its program and the
    kernel's ring come beside that."""
    announced = [
        int(found[1]) for event in data.told("said") if (found := re.search(r" at most (\d+) MB ", event["text"]))
    ]
    most = max((sample["rss_kb"] for sample in data.samples), default=0) / 1024
    return Check(
        "memory as announced",
        bool(announced) and most <= announced[0],
        f"{most:.0f} MB resident, of {announced[0] if announced else 'no'} MB at most",
    )


def _of_packets(data):
    ends, summary = data.ends, data.ends.get("summary")
    if not summary:
        return [Check("the last report", False, "there is none that can be read")]
    account = summary["accounting"]
    came = ends["counters_after"]["tap0_rx_packets"] - ends["counters_before"]["tap0_rx_packets"]
    left = ends["counters_after"]["wire0_tx_packets"] - ends["counters_before"]["wire0_tx_packets"]
    refused = ends["counters_after"]["wire0_tx_dropped"] - ends["counters_before"]["wire0_tx_dropped"]
    missed, failed = account["nic_missed"], len(data.told("traffic failed"))
    if failed:
        sent = Check(
            "packets sent",
            ends["sent"] < left + refused,
            f"{ends['sent']} by the senders, but for {failed} that failed and told nothing, < {left} that left + "
            f"{refused} that the kernel dropped",
        )
    else:
        sent = Check(
            "packets sent",
            ends["sent"] == left + refused,
            f"{ends['sent']} by the senders = {left} that left + {refused} that the kernel dropped",
        )
    return [
        sent,
        Check("packets on the link", left == came, f"{left} left, {came} came, by the kernel's counters"),
        Check(
            "packets offered",
            came == account["offered"],
            f"{came} came = {account['offered']} offered ({account['counted']} counted, {missed} missed, "
            f"{account['not_ip']} not IP, "
            f"{sum(account['malformed'].values())} malformed)",
        ),
        Check(
            "flows and records",
            account["counted"]
            == sum(account[name] for name in ("live_flow_packets", "ended_record_packets", "kept_out_packets")),
            "packets counted = packets in flows and records",
        ),
    ]


def _of_outputs(data):
    outputs = data.ends.get("summary", {}).get("outputs", [])
    wrong = [
        output["name"]
        for output in outputs
        for unit in ("records", "packets", "findings")
        if output["offered"][unit] != output["written"][unit] + output["unconfirmed"][unit] + output["dropped"][unit]
    ]
    whole = [output for output in outputs if output["whole_run"] and output["offered"]["records"]]
    offered = {output["offered"]["records"] for output in whole}
    return [
        Check(
            "every output's account at the end",
            not wrong and bool(outputs),
            f"{len(outputs) - len(wrong)} of {len(outputs)} balance" + "".join(f"; {name}" for name in wrong[:5]),
        ),
        Check(
            "outputs of the whole run",
            len(offered) == 1,
            f"{len(whole)} of them were offered {' or '.join(map(str, sorted(offered)))} records",
        ),
        Check(
            "parquet, read again",
            data.ends["parquet"]["status"] == 0,
            (data.ends["parquet"]["said"].strip().splitlines() or ["nothing"])[-1].strip(),
        ),
    ]


def _account(data, kind):
    found = [output for output in data.ends.get("summary", {}).get("outputs", []) if output["name"].startswith(kind)]
    return found[0] if found else None


def _of_collectors(data):
    checks = []
    for name, kind in (("ipfix udp", "ipfix:udp"), ("ipfix tcp", "ipfix:tcp"), ("netflow9", "netflow9:")):
        output = _account(data, kind)
        checks.append(
            _of_collector(name, output, data.ends["collectors"][name])
            if output
            else Check(f"{name} collector", False, "the last report has no such output")
        )
    return checks


def _of_collector(name, output, numbers):
    """What it received, and what it lacks, against the exporter's account: sequence numbers go on over all that was
    sent and not received, also where it was told to be dropped, but not over what never left the queue; by TCP each
    connection has its own."""
    sessions = numbers["sessions"]
    received, gaps, without = (
        sum(session[part] for session in sessions) for part in ("records", "gaps", "without_template")
    )
    offered, written, dropped = (output[part]["records"] for part in ("offered", "written", "dropped"))
    missing = written - received
    if name == "ipfix udp":
        holds = 0 <= missing <= gaps <= missing + dropped + OPTIONS
    elif name == "netflow9":  # its numbers are of messages
        holds = 0 <= missing <= gaps * MOST_IN_MESSAGE
    else:
        holds = gaps == 0 and (missing == 0 if len(sessions) == 1 else missing >= 0)
    detail = (
        f"{offered} offered = {written} written + {dropped} dropped; {received} received in {len(sessions)} "
        f"session{'s' * (len(sessions) != 1)}, {missing} were on the way when it died; "
        f"sequence numbers lack {gaps} {'messages' if name == 'netflow9' else 'records'}"
    )
    if without:
        detail += f"; {without} sets came without a template"
    return Check(
        f"{name} collector",
        holds and not numbers["wrong"],
        detail + "".join(f"; {text}" for text in numbers["wrong"][:3]),
    )


def _of_rotated(data):
    """Files that the run left, against what it said of them when it did."""
    said, without_account = {}, set()
    for event in data.told("said"):
        if found := ENDED.search(event["text"]):
            name = found[1].split(":", 1)[-1].rsplit("/", 1)[-1].split(",")[0]
            said[name] = [int(number) for number in found.groups()[1:]]
            if event["text"].endswith("No space left on device"):
                without_account.add(name)
    wrong, whole, cut = [], 0, 0
    for event in data.told("rotated"):
        for kind, file in event["files"].items():
            name = f"{kind}-{event['number']:04}.{kind}"
            if "records" not in file or name not in said:
                continue
            _, _, written, packets, dropped, _ = said[name]
            whole, cut = whole + (dropped == 0), cut + (dropped != 0)
            if (file["records"], file["packets"]) != (written, packets):
                wrong.append(
                    f"{name} has {file['records']} records of {file['packets']} packets, and was said to have {written}"
                    f" of {packets}"
                )
            if kind == "jsonl" and name not in without_account and file["verify"] != 0:
                wrong.append(f"{name}: verify says {file['verify_said']}")
    return [
        Check(
            "files that it left",
            not wrong,
            f"{whole} whole, {cut} on a full disk" + "".join(f"; {text}" for text in wrong[:5]),
        )
    ]


def _of_end(data):
    ends = data.ends
    failed = any("cannot write" in event["text"] for event in data.told("said"))
    return [
        Check(
            "exit status",
            ends["status"] in ((0, 1) if failed else (0,)),
            f"{ends['status']}" + (" (outputs failed)" if failed else ""),
        ),
        Check("no crash, no hang", not data.told("died") and not data.told("hangs"), "it ran until it was told to end"),
        Check(
            "disturbances and visitors",
            not ends["broken"],
            f"{ends['visitors']} visitors" + "".join(f"; {text}" for text in ends["broken"][:8]),
        ),
    ]
