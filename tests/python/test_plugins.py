# SPDX-License-Identifier: Apache-2.0
"""Columns that plugins add to flows, in rows, frames and streams; and what is refused.

usage: test_plugins.py [unittest arguments], by a Python that has parshall, pyarrow and numpy
"""

import importlib.util
import pathlib
import struct
import tempfile
import unittest

import numpy
import pyarrow

import parshall

TRAFFIC = {"generate": "flows=500,dist=zipf:1.1,seed=3", "count": 20000, "seed": 5}
MANY = {"generate": "flows=200000,seed=1", "count": 400000, "seed": 5}  # more than one batch


def mean_size(batch):
    return {"mean_size": batch["wire_bytes"].to_numpy() / batch["packets"].to_numpy()}


class Largest:
    """Sees all batches: whether a flow has more packets than any before."""

    def __init__(self):
        self.most, self.calls, self.records = 0, 0, 0

    def __call__(self, batch):
        packets = batch["packets"].to_numpy()
        before = numpy.maximum.accumulate(numpy.concatenate([[self.most], packets[:-1]]))
        self.most, self.calls, self.records = max(self.most, packets.max()), self.calls + 1, self.records + len(packets)
        return {"is_largest": packets > before}


class Plugins(unittest.TestCase):
    def test_frames_rows_and_streams_have_the_columns(self):
        def run():
            return parshall.flows(plugins=[mean_size, Largest()], **TRAFFIC)

        table = run().to_arrow()
        expected = table["wire_bytes"].to_numpy() / table["packets"].to_numpy()
        self.assertEqual(table["mean_size"].to_pylist(), expected.tolist())
        self.assertEqual(sum(table["is_largest"].to_pylist()), len(set(numpy.maximum.accumulate(table["packets"]))))
        self.assertEqual([row.mean_size for row in run()], expected.tolist())
        self.assertEqual(pyarrow.RecordBatchReader.from_stream(run()).read_all(), table)
        self.assertEqual(pyarrow.table(run()), table)
        self.assertEqual(list(run().to_pandas()["mean_size"]), expected.tolist())
        if importlib.util.find_spec("polars"):
            self.assertEqual(run().to_polars()["mean_size"].to_list(), expected.tolist())

    def test_rows_are_those_without_plugins(self):
        with_one = [tuple(row)[:-1] for row in parshall.flows(plugins=mean_size, columns="all", **TRAFFIC)]
        self.assertEqual(with_one, [tuple(row) for row in parshall.flows(columns="all", **TRAFFIC)])

    def test_each_record_comes_once_and_in_batches(self):
        plugin = Largest()
        table = parshall.flows(plugins=plugin, **MANY).to_arrow()
        self.assertEqual(plugin.records, table.num_rows)
        self.assertGreater(plugin.calls, 1)
        plugin = Largest()
        flows = parshall.flows(plugins=plugin, **MANY)
        schema = pyarrow.schema(flows)  # reads a batch, which is not lost
        self.assertEqual(schema.names[-1], "is_largest")
        self.assertEqual(sum(batch.num_rows for batch in flows.batches()), table.num_rows)
        self.assertEqual(plugin.records, table.num_rows)
        self.assertTrue(flows.accounting["balanced"])

    def test_a_plugin_sees_the_columns_of_those_before(self):
        def double(batch):
            return {"double": pyarrow.compute.multiply(batch["mean_size"], 2)}

        table = parshall.flows(plugins=[mean_size, double], **TRAFFIC).to_arrow()
        self.assertEqual(table["double"].to_pylist(), [2 * value for value in table["mean_size"].to_pylist()])

    def test_the_schema_names_them(self):
        flows = parshall.flows(plugins=mean_size, **TRAFFIC)
        before = flows.schema
        list(flows)
        self.assertEqual(flows.schema[:-1], before)
        self.assertEqual(flows.schema[-1], parshall.Column("mean_size", "double", "", "added by a plugin"))
        self.assertIn("<th>mean_size</th>", flows._repr_html_())

    def test_values_may_be_of_any_kind_of_array(self):
        def kinds(batch):
            packets = batch["packets"]
            return {
                "arrow": packets,
                "numpy": packets.to_numpy(),
                "series": packets.to_pandas(),
                "list": packets.to_pylist(),
                "text": numpy.where(packets.to_numpy() > 50, "many", "few"),
                "absent": [None if count > 50 else count for count in packets.to_pylist()],
            }

        table = parshall.flows(plugins=kinds, **TRAFFIC).to_arrow()
        for name in ("arrow", "numpy", "series", "list"):
            self.assertEqual(table[name].to_pylist(), table["packets"].to_pylist(), name)
        self.assertEqual(table["text"].to_pylist(), ["many" if n > 50 else "few" for n in table["packets"].to_pylist()])
        self.assertEqual(table["absent"].null_count, table["text"].to_pylist().count("many"))

    def test_without_records_it_is_not_called(self):
        for read in (lambda flows: flows.to_arrow(), pyarrow.table):
            plugin = Largest()
            table = read(parshall.flows(plugins=plugin, filter="vlan 99", **TRAFFIC))
            self.assertEqual((table.num_rows, plugin.calls, table.schema.names[-1]), (0, 0, "last_seen"))

    def test_classes_are_there_for_plugins(self):
        model = parshall.train(samples=[["class", "capture", "size_1", "size_2"]] + samples(), folds=2)
        flows = parshall.classify(model=model, plugins=lambda batch: {"known": batch["class"]}, **TRAFFIC)
        table = flows.to_arrow()
        self.assertEqual(table["known"].to_pylist(), table["class"].to_pylist())


def samples():
    return [[name, f"{i % 4}.pcap", size, size] for name, size in (("small", 60), ("large", 1400)) for i in range(40)]


class FirstPayloads(unittest.TestCase):
    def test_plugins_get_them_as_arrays_of_bytes(self):
        import pyarrow.compute

        def begins(batch):
            first = batch["payload_1"]
            self.assertEqual(first.type, pyarrow.binary())
            return {
                "bytes": pyarrow.compute.binary_length(first),
                "begins": pyarrow.compute.binary_slice(first, 0, 2),
                "later": [None if each is None else len(each) for each in batch["payload_3"].to_pylist()],
            }

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "sent.pcap"
            sent = [bytes([port, 255, *range(port)]) for port in range(1, 250)]
            path.write_bytes(
                capture([(1000 + payload[0], payload[:size]) for size in (9999, 1, 2) for payload in sent])
            )
            table = parshall.flows(path, columns=["+first_payloads_3"], plugins=begins).to_arrow()
            rows = list(parshall.flows(path, columns=["+first_payloads_3"]))
        order = numpy.argsort(table["src_port"].to_numpy())
        self.assertEqual([table["payload_1"][i].as_py() for i in order], sent)
        self.assertEqual([table["bytes"][i].as_py() for i in order], [len(payload) for payload in sent])
        self.assertEqual([table["begins"][i].as_py() for i in order], [payload[:2] for payload in sent])
        self.assertEqual(set(table["later"].to_pylist()), {2})
        self.assertEqual(sorted(row.payload_1 for row in rows), sorted(sent))
        self.assertEqual({type(row.payload_2) for row in rows}, {bytes})


def capture(datagrams):
    """A capture of UDP datagrams: (source port, payload) each."""
    file = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for port, payload in datagrams:
        segment = struct.pack(">HHHH", port, 9, 8 + len(payload), 0) + payload
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(segment), 0, 0, 64, 17, 0, b"\n\0\0\1", b"\n\0\0\2")
        frame = bytes(12) + b"\x08\x00" + head + segment
        file.append(struct.pack("<IIII", 1, 0, len(frame), len(frame)) + frame)
    return b"".join(file)


class Replaced(unittest.TestCase):
    def test_a_column_may_be_replaced(self):
        def in_kb(batch):
            return {"wire_bytes": batch["wire_bytes"].to_numpy() // 1024, "sent": batch["wire_bytes"]}

        plain = parshall.flows(**TRAFFIC).to_arrow()
        table = parshall.flows(plugins=in_kb, **TRAFFIC).to_arrow()
        self.assertEqual(table.schema.names, [*plain.schema.names, "sent"])
        self.assertEqual(table.schema.field("wire_bytes"), plain.schema.field("wire_bytes"))
        self.assertEqual(table["wire_bytes"].to_pylist(), [size // 1024 for size in plain["wire_bytes"].to_pylist()])
        self.assertEqual(table["sent"].to_pylist(), plain["wire_bytes"].to_pylist())
        self.assertEqual(table["packets"], plain["packets"])


class Refused(unittest.TestCase):
    def refused(self, plugin, message, kind=parshall.Error, traffic=TRAFFIC):
        for read in (list, lambda flows: flows.to_arrow()):
            with self.assertRaisesRegex(kind, message):
                read(parshall.flows(plugins=plugin, **traffic))

    def test_a_column_replaced_by_another_type(self):
        self.refused(lambda batch: {"packets": ["many"] * batch.num_rows}, "plugin column packets: not of type uint64")
        for values in ([-1] * 1000, ["7"] * 1000, [1.5] * 1000, pyarrow.array(["7"] * 1000)):
            self.refused(
                lambda batch, values=values: {"packets": values[: batch.num_rows]}, "plugin column packets: not of type"
            )
        self.refused(lambda batch: {"packets": 5}, "plugin column packets: ")
        self.refused(lambda batch: {"packets": [None] * batch.num_rows}, "plugin column packets: a value is absent")
        self.refused(lambda batch: {"other": [{1}, "x"] * batch.num_rows}, "plugin column other: [^n]")

    def test_another_number_of_values(self):
        self.refused(lambda batch: {"two": [1, 2]}, r"plugin column two: 2 values for \d+ records")

    def test_other_columns_than_before(self):
        calls = iter(range(1000))
        self.refused(
            lambda batch: {f"c{next(calls)}": batch["packets"]},
            r"plugin columns are c\d+: they were c\d+ in the first batch",
            traffic=MANY,
        )

    def test_another_type_than_before(self):
        calls = iter([[1], ["text"]] * 2)

        def plugin(batch):
            (value,) = next(calls)
            return {"value": [value] * batch.num_rows}

        self.refused(plugin, "plugin column value: not of type int64: .*string", parshall.Error, MANY)

    def test_its_own_errors_reach_the_reader(self):
        def fails(batch):
            raise KeyError("mine")

        self.refused(fails, "mine", KeyError)
        with self.assertRaisesRegex(KeyError, "mine"):
            pyarrow.table(parshall.flows(plugins=fails, **TRAFFIC))

    def test_what_cannot_be_called(self):
        for plugins in (3, [3], ["x"]):
            with self.assertRaises(TypeError):
                parshall.flows(plugins=plugins, **TRAFFIC)


if __name__ == "__main__":
    unittest.main()
