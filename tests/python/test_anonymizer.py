# SPDX-License-Identifier: Apache-2.0
"""Addresses that an Anonymizer replaces, against what other implementations of Crypto-PAn make of them; and CSV files.

usage: test_anonymizer.py [unittest arguments], by a Python that has parshall and pyarrow
"""

import ipaddress
import pathlib
import random
import tempfile
import unittest

import pyarrow.csv

import parshall

TRAFFIC = {"generate": "flows=500,dist=zipf:1.1,ipv6=0.3,seed=3", "count": 20000, "seed": 5}
# Key and addresses of the sample trace that came with Crypto-PAn, and of github.com/Yawning/cryptopan for IPv6.
KEY = bytes.fromhex("1522178d33a4cf80130a5b1649907d10d8988f837979652762574c2d2a842202")
KNOWN = {
    "128.11.68.132": "135.242.180.132",
    "129.118.74.4": "134.136.186.123",
    "192.102.249.13": "252.138.62.131",
    "24.5.0.80": "100.9.15.210",
    "64.34.154.117": "0.221.154.117",
    "10.185.25.118": "117.161.29.118",
    "::1": "78ff:f001:9fc0:20df:8380:b1f1:704:ed",
    "::ffff": "78ff:f001:9fc0:20df:8380:b1f1:704:f838",
    "2001:db8::2": "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1c",
}


def common_bits(a, b):
    a, b = (ipaddress.ip_address(address) for address in (a, b))
    return a.max_prefixlen - (int(a) ^ int(b)).bit_length()


class Anonymizer(unittest.TestCase):
    def test_known_addresses(self):
        anonymizer = parshall.Anonymizer(KEY)
        self.assertEqual({address: anonymizer.address(address) for address in KNOWN}, KNOWN)

    def test_common_prefixes_stay_as_long(self):
        draw = random.Random(1)
        anonymizer = parshall.Anonymizer("passphrase")
        for bits, kind in ((32, ipaddress.IPv4Address), (128, ipaddress.IPv6Address)):
            for _ in range(300):
                one = draw.getrandbits(bits)
                other = one ^ draw.getrandbits(draw.randrange(bits + 1))
                pair = [str(kind(number)) for number in (one, other)]
                self.assertEqual(common_bits(*pair), common_bits(*map(anonymizer.address, pair)), pair)

    def test_records_have_other_addresses_and_all_else_stays(self):
        plain = parshall.flows(biflow=True, **TRAFFIC).to_arrow()
        anonymizer = parshall.Anonymizer("passphrase")
        with parshall.flows(biflow=True, plugins=anonymizer, **TRAFFIC) as flows:
            table = flows.to_arrow()
        self.assertEqual(table.schema, plain.schema)
        for name in table.schema.names:
            expected = plain[name].to_pylist()
            if name in ("src_ip", "dst_ip"):
                expected = [anonymizer.address(address) for address in expected]
                self.assertEqual(set(expected) & set(plain[name].to_pylist()), set())
            self.assertEqual(table[name].to_pylist(), expected, name)
        rows = [flow.src_ip for flow in parshall.flows(biflow=True, plugins=anonymizer, **TRAFFIC)]
        self.assertEqual(rows, table["src_ip"].to_pylist())

    def test_groups_have_no_address_of_the_traffic(self):
        addresses = parshall.flows(**TRAFFIC).to_arrow()
        real = {*addresses["src_ip"].to_pylist(), *addresses["dst_ip"].to_pylist()}
        for by in ("conversation", "host", "service", "protocol", "vlan", "interface"):
            groups = parshall.flows(by=by, plugins=parshall.Anonymizer("passphrase"), **TRAFFIC).to_arrow()
            self.assertGreater(groups.num_rows, 0, by)
            for name in groups.schema.names:
                self.assertEqual(real & {str(value) for value in groups[name].to_pylist()}, set(), (by, name))
        with self.assertRaisesRegex(parshall.Error, "prefix would name addresses"):
            parshall.flows(by="prefix", plugins=parshall.Anonymizer("passphrase"), **TRAFFIC).to_arrow()

    def test_what_names_addresses_is_refused(self):
        for column in ("community_id", "server_name"):
            with self.assertRaisesRegex(parshall.Error, f"Anonymizer: {column} would name addresses"):
                parshall.flows(plugins=parshall.Anonymizer("x"), columns=[f"+{column}"], **TRAFFIC).to_arrow()

    def test_keys_and_addresses_that_are_none(self):
        with self.assertRaisesRegex(parshall.Error, "a key of Crypto-PAn has 32 bytes"):
            parshall.Anonymizer(b"too short")
        with self.assertRaisesRegex(parshall.Error, "the passphrase is empty"):
            parshall.Anonymizer("")
        self.assertEqual(parshall.Anonymizer(bytearray(KEY)).address("24.5.0.80"), KNOWN["24.5.0.80"])
        for text in ("", "10.0.0", "example.org", "::g", "10.0.0.1\0", "1" * 500):
            with self.assertRaisesRegex(parshall.Error, "not an address"):
                parshall.Anonymizer(KEY).address(text)


class Csv(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_files_have_all_records_in_order(self):
        table = parshall.flows(**TRAFFIC).to_arrow()
        rows = table.num_rows
        self.assertGreater(rows, 400)
        for rotate, sizes in ((None, [rows]), (rows, [rows]), (200, [200, 200, rows - 400])):
            with self.subTest(rotate=rotate):
                files = parshall.flows(**TRAFFIC).to_csv(self.folder / "flows.csv", rotate=rotate)
                names = [f"flows-{n + 1}.csv" for n in range(len(sizes))] if rotate else ["flows.csv"]
                self.assertEqual([pathlib.Path(file).name for file in files], names)
                parts = [pyarrow.csv.read_csv(file) for file in files]
                self.assertEqual([part.num_rows for part in parts], sizes)
                read = pyarrow.concat_tables(parts)
                self.assertEqual(read.schema.names, table.schema.names)
                for name in ("src_ip", "dst_port", "packets", "wire_bytes"):
                    self.assertEqual(read[name].to_pylist(), table[name].to_pylist(), name)

    def test_many_batches_with_plugins(self):
        with parshall.flows(
            generate="flows=200000,seed=1", count=400000, seed=5, plugins=lambda batch: {"twice": batch["packets"]}
        ) as flows:
            files = flows.to_csv(self.folder / "flows", rotate=70000)
        self.assertTrue(files[0].endswith("flows-1"))
        packets = 0
        for number, file in enumerate(files):
            part = pyarrow.csv.read_csv(file)
            self.assertEqual(part["twice"], part["packets"])
            self.assertTrue(part.num_rows == 70000 or number == len(files) - 1)
            packets += sum(part["packets"].to_pylist())
        self.assertEqual(packets, 400000)

    def test_without_records_there_is_a_header(self):
        (file,) = parshall.flows(filter="vlan 99", **TRAFFIC).to_csv(self.folder / "flows.csv")
        self.assertTrue(pathlib.Path(file).read_text().startswith('"ip_version","protocol","src_ip"'))

    def test_what_cannot_be_written_is_refused(self):
        flows = parshall.flows(**TRAFFIC)
        for rotate, kind in ((0, ValueError), (2.5, TypeError), ("64Ki", TypeError)):
            with self.assertRaises(kind):
                flows.to_csv(self.folder / "flows.csv", rotate=rotate)
        with self.assertRaises(FileNotFoundError):
            flows.to_csv(self.folder / "none" / "flows.csv")
        self.assertEqual(sum(flows.to_arrow()["packets"].to_pylist()), 20000)
        with self.assertRaisesRegex(parshall.Error, "read"):
            flows.to_csv(self.folder / "again.csv")
        self.assertEqual(list(self.folder.iterdir()), [])
        with self.assertRaisesRegex(parshall.Error, "to_csv: "):
            parshall.flows(plugins=lambda batch: {"list": [[1]] * batch.num_rows}, **TRAFFIC).to_csv(self.folder / "l")


if __name__ == "__main__":
    unittest.main()
