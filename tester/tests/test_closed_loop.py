#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`parshall test echo-server` and `echo-clients` over a router, where `parshall watch` counts the same connections.
Usage:
test_closed_loop.py PARSHALL"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("lab/reproduce", "tests/live")]
import closed_loop
import netns
import network
import side_by_side

PARSHALL = "parshall"
MESSAGE = 512
ANY = {4: "0.0.0.0", 6: "[::]"}
SERVER = {4: network.RoutedNetwork.SERVER[4], 6: f"[{network.RoutedNetwork.SERVER[6]}]"}


def connections_begun(net):
    """By the clients' host, as its kernel tells."""
    with net.start("client", "cat", "/proc/net/snmp", stdout=subprocess.PIPE) as shown:
        names, values = (line.split()[1:] for line in shown.stdout.read().splitlines() if line.startswith("Tcp:"))
    return dict(zip(names, map(int, values)))["ActiveOpens"]


class Connections(unittest.TestCase):
    def run_clients(self, version, *arguments, clients=20):
        """Reports of clients, server and watch."""
        with network.RoutedNetwork() as net:
            server = closed_loop.Server(net, PARSHALL, ANY[version])
            with server:
                watching = closed_loop.Watching(net, PARSHALL)
                try:
                    told = closed_loop.clients(net, PARSHALL, clients, *arguments, address=SERVER[version])
                    seen, _ = watching.report()
                finally:
                    watching.end()
            return told, server.report, seen

    def check(self, told, served, seen, version, connections, ports):
        self.assertEqual(
            (told["begun"], told["finished"], told["failed"]["total"], told["abandoned"]),
            (connections, connections, 0, 0),
        )
        self.assertEqual(served["accepted"], connections)
        for report in (told, served):
            self.assertEqual(
                (report["bytes_sent"], report["bytes_received"]), (connections * MESSAGE, connections * MESSAGE)
            )
        self.assertEqual(seen["summary"]["accounting"]["nic_missed"], 0)
        addresses = network.RoutedNetwork.CLIENT[version], network.RoutedNetwork.SERVER[version]
        sides = (
            [flow for flow in seen["flows"] if flow["dst_port"] == closed_loop.PORT],
            [flow for flow in seen["flows"] if flow["src_port"] == closed_loop.PORT],
        )
        self.assertEqual([len(flows) for flows in sides], [connections, connections])
        self.assertEqual(len(seen["flows"]), 2 * connections)
        self.assertEqual({(flow["src_ip"], flow["dst_ip"]) for flow in sides[0]}, {addresses})
        there, back = {flow["src_port"] for flow in sides[0]}, {flow["dst_port"] for flow in sides[1]}
        self.assertEqual(there, back)
        self.assertEqual(len(there), connections)
        self.assertTrue(there <= set(ports), there - set(ports))
        header = {4: 20, 6: 40}[version] + 20  # at least
        for flows, most in zip(sides, (7, 6)):
            usual = [flow for flow in flows if flow["packets"] <= most]  # in others something was sent again
            self.assertGreater(len(usual), 0.95 * connections)
            for flow in usual:
                self.assertGreater(flow["packets"], 2)
                self.assertTrue(
                    MESSAGE + header * flow["packets"] <= flow["ip_bytes"] <= MESSAGE + (header + 20) * flow["packets"],
                    flow,
                )

    def test_each_connection_is_a_flow_in_each_direction(self):
        for version in (4, 6):
            with self.subTest(version=version):
                self.check(*self.run_clients(version, "--count", 3000), version, 3000, range(1024, 65536))

    def test_they_keep_to_their_ports(self):
        self.check(
            *self.run_clients(4, "--count", 300, "--first-port", 20000, "--ports", 300), 4, 300, range(20000, 20300)
        )

    def test_a_reset_instead_of_a_close(self):
        told, served, seen = self.run_clients(4, "--count", 500, "--close", "rst")
        self.check(told, served, seen, 4, 500, range(1024, 65536))
        self.assertEqual(served["reset"], 500)

    def test_the_same_seed_takes_the_same_ports(self):
        ports = []
        for seed in (7, 7, 8):
            _, _, seen = self.run_clients(4, "--count", 50, "--seed", seed)
            ports.append({flow["src_port"] for flow in seen["flows"]} - {closed_loop.PORT})
        self.assertEqual(ports[0], ports[1])
        self.assertNotEqual(ports[0], ports[2])

    def test_ctrl_c_reports_what_there_is(self):
        with network.RoutedNetwork() as net, closed_loop.Server(net, PARSHALL):
            running = net.start(
                "client",
                PARSHALL,
                "test",
                "echo-clients",
                "--connect",
                f"{SERVER[4]}:{closed_loop.PORT}",
                "--clients",
                5,
                "--duration",
                "60s",
                "--format",
                "json",
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            netns.wait_until(lambda: connections_begun(net) > 20, "clients connect")
            running.send_signal(signal.SIGINT)
            told, errors = running.communicate(timeout=60)
        self.assertEqual((running.returncode, errors), (0, ""))
        report = json.loads(told)
        self.assertGreater(report["finished"], 0)
        self.assertEqual(report["begun"], report["finished"] + report["failed"]["total"] + report["abandoned"])
        self.assertIn("echo-clients --connect", report["command"])
        self.assertEqual(sum(report["finished_by_client"]), report["finished"])

    def test_a_server_that_goes_away_is_no_reason_to_hang(self):
        with network.RoutedNetwork() as net:
            with closed_loop.Server(net, PARSHALL):
                running = net.start(
                    "client",
                    PARSHALL,
                    "test",
                    "echo-clients",
                    "--connect",
                    f"{SERVER[4]}:{closed_loop.PORT}",
                    "--clients",
                    5,
                    "--count",
                    "1G",
                    "--timeout",
                    "500ms",
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
                netns.wait_until(lambda: connections_begun(net) > 20, "clients connect")
            told, errors = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 1)
        self.assertIn("test ended", errors)
        self.assertIn("refused", told)


if __name__ == "__main__":
    PARSHALL = os.path.abspath(sys.argv.pop(1))
    if network.why_not():
        print(f"SKIPPED: {network.why_not()}")
    else:
        side_by_side.main(PARSHALL)
