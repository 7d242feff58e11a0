# SPDX-License-Identifier: Apache-2.0
"""Collectors that go and come back, and networks that change, on a veth pair between two network namespaces: what the
account says is written came, and what came is written or unconfirmed.

usage: test_collectors.py PARSHALL [unittest arguments]
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from ipfix import Reader

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "live"))
import netns
import side_by_side

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
HERE = pathlib.Path(__file__).resolve().parent
SLOW, FAST = "flows=20000,packets=200000,pace=10000", "flows=20000,packets=200000,pace=100000"
PORT = "4739"


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@unittest.skipIf(netns.why_not(), f"SKIPPED: {netns.why_not()}")
class Collectors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.pair = netns.VethPair()
        self.pair.__enter__()
        self.addCleanup(self.pair.__exit__)
        self.here, self.there = self.pair.tx_space, self.pair.rx_space
        ip("-n", self.here, "addr", "add", "10.9.0.1/24", "dev", "wire0")
        for address in ("10.9.0.2/24", "10.9.0.4/24"):
            ip("-n", self.there, "addr", "add", address, "dev", "tap0")
        self.running = []

    def tearDown(self):
        for process in self.running:
            process.kill()
            process.communicate()

    def collector(self, kind, address="10.9.0.2", pause_s=0):
        process = subprocess.Popen(
            [
                "ip",
                "netns",
                "exec",
                self.there,
                sys.executable,
                HERE / "collector.py",
                kind,
                address,
                PORT,
                self.folder,
                str(pause_s),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.running.append(process)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def end(self, process):
        process.terminate()
        process.communicate()
        self.running.remove(process)

    def end_at_rest(self, process):
        """Once nothing has come for a while."""
        sizes = None
        while sizes != (sizes := [path.stat().st_size for path in self.folder.glob("*.*")]):
            time.sleep(0.5)
        self.end(process)

    def export(self, target, traffic=SLOW, hosts=None, waits=True):
        """Starts the monitor, which exports there. Returns once something came, if it waits."""
        command = [
            "ip",
            "netns",
            "exec",
            self.here,
            PROGRAM,
            "watch",
            "-q",
            "-g",
            traffic,
            "--idle",
            "10ms",
            "--flows",
            "8Ki",
            "--format",
            "json",
            "--top",
            "1",
            "--export",
            f"ipfix:{target}",
        ]
        if hosts:
            command = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', hosts, *command]
        self.messages = tempfile.TemporaryFile("w+")
        self.addCleanup(self.messages.close)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.messages, text=True)
        self.running.append(process)
        if waits:
            netns.wait_until(lambda: any(path.stat().st_size for path in self.folder.glob("*.*")), "a record")
        return process

    def streams(self):
        return [
            path.read_bytes() for path in sorted(self.folder.glob("*.stream"), key=lambda path: path.stat().st_mtime)
        ]

    def readers(self):
        """Of what each connection had, whole; and of all datagrams that each collector had."""
        readers = []
        for data in self.streams():
            whole = 0
            while len(data) >= whole + 4 and len(data) >= whole + (
                length := int.from_bytes(data[whole + 2 : whole + 4], "big")
            ):
                whole += length
            readers.append(Reader())
            readers[-1].read(data[:whole])
        for path in sorted(self.folder.glob("*.datagrams"), key=lambda path: path.stat().st_mtime):
            data, at = path.read_bytes(), 0
            readers.append(Reader(late=True))
            while at < len(data):
                length = int.from_bytes(data[at : at + 4], "big")
                readers[-1].read(data[at + 4 : at + 4 + length])
                at += 4 + length
        return readers

    @property
    def said(self):
        self.messages.seek(0)
        return self.messages.read()

    def wait_for(self, words):
        netns.wait_until(lambda: words in self.said, words)

    def account(self, process):
        """Ends the run. Returns what became of the output's records and packets."""
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=60)
        self.running.remove(process)
        self.assertEqual(process.returncode, 0, self.said)
        (output,) = [one for one in json.loads(told)["summary"]["outputs"] if one["name"].startswith("ipfix:")]
        for unit in ("records", "packets"):
            self.assertEqual(output["waiting"][unit], 0)
            self.assertEqual(
                output["offered"][unit], output["written"][unit] + output["unconfirmed"][unit] + output["dropped"][unit]
            )
        return output

    def assert_honest(self, output, readers):
        for unit, came in (
            ("records", sum(len(reader.flows) for reader in readers)),
            ("packets", sum(flow["packets"] for reader in readers for flow in reader.flows)),
        ):
            self.assertLessEqual(output["written"][unit], came, f"{unit}; {output}; {self.said}")
            self.assertLessEqual(
                came, output["written"][unit] + output["unconfirmed"][unit], f"{unit}; {output}; {self.said}"
            )
        told = readers[-1].accounting()[-1]
        for name, of in (("not_sent", "dropped"), ("unconfirmed", "unconfirmed")):
            self.assertEqual(told[name], output[of]["records"])
        self.assertEqual(told["records"], output["written"]["records"])

    def test_by_udp_nobody_listens_until_no_refusal_has_come_for_five_seconds(self):
        first = self.collector("udp")
        process = self.export(f"udp://10.9.0.2:{PORT}")
        time.sleep(2)
        gone = time.monotonic()
        self.end(first)
        time.sleep(4)
        second = self.collector("udp")
        back = time.monotonic()
        self.wait_for("it works again")
        calm = time.monotonic()
        time.sleep(1)
        output = self.account(process)
        ended = time.monotonic()
        self.end_at_rest(second)
        readers = self.readers()
        self.assert_honest(output, readers)
        self.assertEqual(
            (self.said.count("nobody listens there"), self.said.count("it works again")), (1, 1), self.said
        )
        self.assertGreater(calm - back, 4.9)
        pace = 10000
        self.assertGreater(
            output["dropped"]["records"], (back - gone - 2.5) * pace, "but for those since the last refusal"
        )
        self.assertLess(output["dropped"]["records"], (back - gone) * pace)
        self.assertLess(
            output["unconfirmed"]["records"],
            (1 + 2 + 5 + 1) * pace,
            "a second before, two without a refusal, five of silence, and one for a busy machine",
        )
        self.assertGreater(len(readers[1].flows), (ended - back - 2.5) * pace * 0.8, "templates came within a second")

    def nfcapd(self, folder):
        folder.mkdir()
        process = subprocess.Popen(
            [
                "ip",
                "netns",
                "exec",
                self.there,
                "nfcapd",
                "-b",
                "10.9.0.2",
                "-p",
                PORT,
                "-w",
                folder,
                "-t",
                "3600",
                "-B",
                "8388608",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.running.append(process)
        listening = f":{int(PORT):04X} "
        netns.wait_until(
            lambda: (
                listening
                in subprocess.run(
                    ["ip", "netns", "exec", self.there, "cat", "/proc/net/udp"],
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
            ),
            "nfcapd listens",
        )
        return process

    @unittest.skipUnless(shutil.which("nfcapd"), "SKIPPED: there is no nfcapd (nfdump)")
    def test_nfcapd_has_what_is_written_though_it_was_away(self):
        first = self.nfcapd(self.folder / "first")
        process = self.export(f"udp://10.9.0.2:{PORT}", waits=False)
        time.sleep(3)
        self.end(first)
        self.wait_for("nobody listens there")
        time.sleep(1)
        second = self.nfcapd(self.folder / "second")
        self.wait_for("it works again")
        time.sleep(1)
        output = self.account(process)
        time.sleep(1)
        self.end(second)
        came = 0
        for name in ("first", "second"):
            told = subprocess.run(
                ["nfdump", "-R", self.folder / name, "-I"], capture_output=True, text=True, check=True
            ).stdout
            came += int(next(line for line in told.splitlines() if line.startswith("Packets:")).split()[1])
        self.assertGreater(output["written"]["packets"], 0)
        self.assertLessEqual(output["written"]["packets"], came, output)
        self.assertLessEqual(came, output["written"]["packets"] + output["unconfirmed"]["packets"], output)

    def test_by_udp_the_address_of_the_exporter_changes(self):
        collector = self.collector("udp")
        process = self.export(f"udp://10.9.0.2:{PORT}")
        time.sleep(1)
        ip("-n", self.here, "addr", "del", "10.9.0.1/24", "dev", "wire0")
        self.wait_for("messages cannot be sent: ")
        ip("-n", self.here, "addr", "add", "10.9.0.3/24", "dev", "wire0")
        self.wait_for("it works again")
        output = self.account(process)
        self.end_at_rest(collector)
        self.assert_honest(output, self.readers())
        self.assertGreater(output["dropped"]["records"], 0)
        self.assertLess(output["dropped"]["records"], output["offered"]["records"] / 2)
        self.assertEqual(
            (self.said.count("messages cannot be sent: "), self.said.count("it works again")), (1, 1), self.said
        )

    def test_by_udp_the_route_goes_and_comes_back(self):
        collector = self.collector("udp")
        process = self.export(f"udp://10.9.0.2:{PORT}")
        time.sleep(1)
        ip("-n", self.here, "route", "del", "10.9.0.0/24", "dev", "wire0")
        self.wait_for("messages cannot be sent: Network is unreachable")
        time.sleep(1.5)  # connecting again was of no use
        ip("-n", self.here, "route", "add", "10.9.0.0/24", "dev", "wire0")
        self.wait_for("it works again")
        output = self.account(process)
        self.end_at_rest(collector)
        self.assert_honest(output, self.readers())
        self.assertGreater(output["dropped"]["records"], 0)
        self.assertLess(output["dropped"]["records"], output["offered"]["records"] * 2 / 3)

    def test_by_udp_the_name_of_the_collector_gets_another_address(self):
        made = tempfile.NamedTemporaryFile()
        self.addCleanup(made.close)
        hosts = pathlib.Path(made.name)
        hosts.write_text("10.9.0.2 collector.test\n")
        first, second = self.collector("udp"), self.collector("udp", "10.9.0.4")
        process = self.export(f"udp://collector.test:{PORT}", hosts=hosts)
        time.sleep(1)
        hosts.write_text("10.9.0.4 collector.test\n")  # the file that is mounted
        self.end(first)
        self.wait_for("nobody listens there")
        self.wait_for("it works again")
        output = self.account(process)
        self.end_at_rest(second)
        readers = self.readers()
        self.assertEqual(len(readers), 2)
        self.assert_honest(output, readers)
        self.assertGreater(len(readers[1].flows), output["offered"]["records"] / 3)

    def test_by_tcp_collectors_end_under_load(self):
        """One that reads all at once, and two that do not: then there is much on its way, and much that was not
        read."""
        collector = self.collector("tcp", pause_s=0.02)
        process = self.export(f"tcp://10.9.0.2:{PORT}", FAST)
        for number, pause_s in enumerate((0, 0.02, 0), 2):
            time.sleep(1.5)
            self.end(collector)
            collector = self.collector("tcp", pause_s=pause_s)
            netns.wait_until(lambda: len(self.streams()) == number, "a connection")
        time.sleep(1)
        output = self.account(process)
        self.end_at_rest(collector)
        readers = self.readers()
        self.assertEqual(len(readers), 4)
        self.assert_honest(output, readers)
        self.assertGreater(output["unconfirmed"]["records"], 0)
        told = [
            next(option for option in reader.options if "unconfirmed" in option)["unconfirmed"]
            for reader in readers[1:]
        ]
        self.assertEqual(told, sorted(told))
        self.assertGreater(told[0], 0)

    def test_by_tcp_the_end_waits_for_what_is_on_its_way(self):
        collector = self.collector("tcp", pause_s=0.01)
        process = self.export(f"tcp://10.9.0.2:{PORT}", FAST)
        time.sleep(1)
        output = self.account(process)
        self.end_at_rest(collector)
        self.assertEqual(output["written"], output["offered"])
        self.assert_honest(output, self.readers())

    def test_by_tcp_what_nobody_acknowledges_in_the_end_is_unconfirmed(self):
        collector = self.collector("tcp")
        process = self.export(f"tcp://10.9.0.2:{PORT}")
        time.sleep(0.5)
        ip("-n", self.there, "link", "set", "tap0", "down")
        time.sleep(0.5)
        output = self.account(process)
        self.end_at_rest(collector)
        (reader,) = self.readers()
        self.assertGreater(output["unconfirmed"]["records"], 0)
        self.assertLessEqual(output["written"]["records"], len(reader.flows))
        self.assertLessEqual(len(reader.flows), output["written"]["records"] + output["unconfirmed"]["records"])


if __name__ == "__main__":
    side_by_side.main(PROGRAM)
