# SPDX-License-Identifier: Apache-2.0
"""Files of records as others read them, up to where they were cut off: pyarrow, the ipfix module of Python, and
Python's own csv and json. No code of this project.

Each reader gives what it could read, (flow id, number of the record) with its packets, and whether the file ended in
the middle of something.
"""

import csv
import json


def of_csv(path):
    records = []
    with open(path, newline="", encoding="utf-8") as file:
        text = file.read()
    whole = text[: text.rfind("\n") + 1]
    for row in csv.DictReader(whole.splitlines()):
        records.append(((int(row["flow_id"]), int(row["record"])), int(row["packets"])))
    return records, whole != text


def _objects(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    whole = text[: text.rfind("\n") + 1]
    return [
        json.loads(line) for line in whole.splitlines()
    ], whole != text  # a line that is whole and no JSON is an error


def of_jsonl(path):
    objects, cut = _objects(path)
    flows = [each["flow"] for each in objects if "flow" in each]
    return [((flow["flow_id"], flow["record"]), flow["packets"]) for flow in flows], cut


def of_events(path):
    """No records: how many findings."""
    objects, cut = _objects(path)
    return [((number, 0), 0) for number, _ in enumerate(objects)], cut


def _of_columns(batch):
    columns = (batch.column(name).to_pylist() for name in ("flow_id", "record", "packets"))
    return [((flow, number), packets) for flow, number, packets in zip(*columns)]


def of_parquet(path):
    import pyarrow.parquet

    return _of_columns(pyarrow.parquet.read_table(path, columns=["flow_id", "record", "packets"])), False


def of_arrow(path):
    import pyarrow
    import pyarrow.ipc

    records = []
    with pyarrow.OSFile(str(path)) as file:
        if file.size() == 0:
            return records, True
        try:
            with pyarrow.ipc.open_stream(file) as stream:
                for batch in stream:
                    records += _of_columns(batch)
                ended = file.tell() == file.size()
        except (OSError, pyarrow.ArrowInvalid):
            return records, True
    return records, not ended


def of_ipfix(path):
    import ipfix
    import ipfix.reader

    ipfix.ie.use_iana_default()
    ipfix.ie.use_5103_default()
    records = []
    with open(path, "rb") as file:
        try:
            for record in ipfix.reader.from_stream(file).namedict_iterator():
                if "packetDeltaCount" in record:
                    number = record.get(
                        "record", record.get("_ipfix_32473_2")
                    )  # the module learns the name from the file's own options
                    records.append(
                        (
                            (record["flowId"], int.from_bytes(number, "big") if isinstance(number, bytes) else number),
                            record["packetDeltaCount"],
                        )
                    )
        except ipfix.template.IpfixDecodeError:
            return records, True
    return records, False


READERS = {"csv": of_csv, "jsonl": of_jsonl, "ipfix": of_ipfix, "arrow": of_arrow, "events": of_events}
