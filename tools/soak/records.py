# SPDX-License-Identifier: Apache-2.0
"""Files of records that a run writes beside its report, and what is in them."""

import csv
import json


def of_csv(path):
    """Whole rows and the packets in them."""
    rows = packets = 0
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if None in row.values():  # the last, cut
                break
            rows += 1
            packets += int(row["packets"])
    return {"records": rows, "packets": packets}


def of_jsonl(path):
    """Whole objects: flows with their packets, and events."""
    records = packets = findings = 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                found = json.loads(line)
            except ValueError:
                break
            if "flow" in found:
                records += 1
                packets += found["flow"]["packets"]
            elif "event" in found:
                findings += 1
    return {"records": records, "packets": packets, "findings": findings}


def of_events(path):
    findings = 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                json.loads(line)
            except ValueError:
                break
            findings += 1
    return {"findings": findings}


READERS = {"csv": of_csv, "jsonl": of_jsonl, "events": of_events}
