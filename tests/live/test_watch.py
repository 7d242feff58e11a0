#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`parshall watch` itself on live devices: every packet sent is in a flow. Usage: test_watch.py PARSHALL FOLDER_OF_PROGRAMS"""
import collections
import ipaddress
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import netns

PARSHALL = 'parshall'
PROGRAMS = '.'
FRAMES = 10000
FLOWS = 500


def expected_flows(frames):
    """Packets and wire bytes of each five-tuple, from the frames themselves."""
    flows = collections.Counter(), collections.Counter()
    for frame in frames:
        at = 14 if frame[12:14] == b'\x08\x00' else 18
        header = frame[at:]
        key = (header[9], str(ipaddress.ip_address(header[12:16])), *struct.unpack('!H', header[20:22]),
               str(ipaddress.ip_address(header[16:20])), *struct.unpack('!H', header[22:24]))
        flows[0][key] += 1
        flows[1][key] += len(frame)
    return {key: (flows[0][key], flows[1][key]) for key in flows[0]}


def reported_flows(report):
    flows = {}
    for flow in report['flows']:
        key = tuple(flow[name] for name in ('protocol', 'src_ip', 'src_port', 'dst_ip', 'dst_port'))
        if key in flows:
            raise AssertionError(f'{key} twice')
        flows[key] = flow['packets'], flow['wire_bytes']
    return flows


class Watching:
    """`parshall watch` with a JSON report into a file, started and reading its device."""

    def __init__(self, start, *arguments):
        self._folder = tempfile.TemporaryDirectory(prefix='parshall-live-')
        self._file = self._folder.name + '/report.json'
        self.process = start(PARSHALL, 'watch', *arguments, '--format', 'json', '-o', self._file)
        self.said = self.process.stderr.readline()  # once the device is open
        if ' MB for ' not in self.said:
            raise AssertionError(self.said + self.process.communicate()[1])

    def report(self, stop_after=None):
        """The report at the end, which comes by itself or `stop_after` seconds by SIGINT."""
        try:
            if stop_after is not None:
                time.sleep(stop_after)
                self.process.send_signal(signal.SIGINT)
            _, errors = self.process.communicate(timeout=60)
            if self.process.returncode != 0 or errors:
                raise AssertionError(f'exit {self.process.returncode}: {errors}')
            with open(self._file, encoding='utf-8') as file:
                return json.load(file)
        finally:
            self._folder.cleanup()


def start(*command):
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


class Devices(unittest.TestCase):
    def check(self, report, frames, device=True):
        accounting = report['summary']['accounting']
        self.assertTrue(accounting['balanced'])
        self.assertEqual(accounting['counted'], len(frames))
        self.assertEqual(accounting['offered'], len(frames))
        if device:
            self.assertEqual(accounting['nic_received'], len(frames))
        self.assertEqual(reported_flows(report), expected_flows(frames))


@unittest.skipIf(netns.why_not(), f'SKIPPED: {netns.why_not()}')
class KernelInterfaces(Devices):
    def watch(self, frames, *arguments, queues=1):
        with netns.VethPair(queues) as pair:
            watching = Watching(pair.watch, '-i', 'tap0', *arguments)
            pair.send(frames)
            return watching.report(stop_after=1)

    def test_every_model_and_driver_counts_every_flow(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        for via in ('af_packet', 'af_xdp'):
            for model in ('run-to-completion', 'pipeline', 'cooperative'):
                with self.subTest(via=via, model=model):
                    self.check(self.watch(frames, '--via', via, '--model', model), frames)

    def test_two_queues_with_a_worker_each_count_every_flow(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        for via, queues in (('af_packet', 1), ('af_xdp', 2)):
            with self.subTest(via=via):
                report = self.watch(frames, '--via', via, '--workers', '2', queues=queues)
                self.check(report, frames)
                for worker in report['summary']['workers']:
                    self.assertGreater(worker['accounting']['counted'], FRAMES // 5)

    def test_statistics_of_each_flow(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        with netns.VethPair() as pair:
            watching = Watching(pair.watch, '-i', 'tap0', '--stats', 'gap_mean,size_max,iat_p99')
            pair.send(frames)
            report = watching.report(stop_after=1)
        self.check(report, frames)
        for flow in report['flows']:
            self.assertEqual(flow['gap_mean_packets'], FLOWS - 1)
            self.assertEqual(flow['size_max_bytes'], 60)
            self.assertGreater(flow['iat_p99_ns'], 0)

    def test_a_filter_counts_what_it_drops(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        report = self.watch(frames, 'src host 10.0.0.1 or src host 10.0.0.2')
        accounting = report['summary']['accounting']
        self.assertTrue(accounting['balanced'])
        self.assertEqual((accounting['offered'], accounting['filtered'], accounting['counted']),
                         (FRAMES, FRAMES - 40, 40))

    def test_packet_level_shows_device_and_software_counters_of_each_queue(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        for via in ('af_packet', 'af_xdp'):
            with self.subTest(via=via):
                report = self.watch(frames, '--via', via, '--packets-only', '--workers', '2', queues=2)
                self.assertEqual(report['summary']['packets'], FRAMES)
                self.assertEqual(report['summary']['wire_bytes'], 60 * FRAMES)
                self.assertEqual(report['summary']['accounting']['nic_received'], FRAMES)
                of_queues = [worker['accounting'] for worker in report['summary']['workers']]
                self.assertEqual(len(of_queues), 2)
                for queue in of_queues:
                    self.assertEqual(queue['nic_received'], queue['counted'])
                    self.assertEqual(queue['nic_missed'], 0)
                    self.assertGreater(queue['counted'], FRAMES // 5)

    def test_what_a_slow_monitor_cannot_take_is_named_and_the_rest_is_whole(self):
        frames = netns.udp_frames(40000, FLOWS)
        for via in ('af_packet', 'af_xdp'):
            with self.subTest(via=via), netns.VethPair() as pair:
                watching = Watching(pair.watch, '-i', 'tap0', '--via', via, '--descriptors', '256')
                watching.process.send_signal(signal.SIGSTOP)  # nobody empties the queue
                pair.send(frames)
                watching.process.send_signal(signal.SIGCONT)
                report = watching.report(stop_after=1)
                accounting = report['summary']['accounting']
                self.assertTrue(accounting['balanced'])
                self.assertGreater(accounting['nic_missed'], 0)
                self.assertEqual(accounting['offered'], 40000)
                self.assertEqual(sum(packets for packets, _ in reported_flows(report).values()), accounting['counted'])
                self.assertGreater(report['summary']['loss_ratio'], 0)


class VirtualDevices(Devices):
    def test_net_pcap(self):
        frames = netns.udp_frames(FRAMES, FLOWS)
        with netns.Folder() as folder:
            netns.write_pcap(folder + '/x.pcap', frames)
            self.check(Watching(start, '-i', f'vdev:net_pcap0,rx_pcap={folder}/x.pcap').report(), frames)

    def test_net_null_is_counted_as_no_ip(self):
        report = Watching(start, '-i', 'vdev:net_null0,size=64', '--count', '100000').report()
        accounting = report['summary']['accounting']
        self.assertTrue(accounting['balanced'])
        self.assertEqual((accounting['offered'], accounting['not_ip']), (100000, 100000))

    def test_memif(self):
        with netns.Folder() as folder:
            device = f'id=0,socket={folder}/memif.sock,socket-abstract=no'
            watching = Watching(start, '-i', f'vdev:net_memif0,role=server,{device}')
            sent = subprocess.run([f'{PROGRAMS}/send_device', f'vdev:net_memif0,role=client,{device}', '50000'],
                                  capture_output=True, text=True, timeout=30)
            self.assertIn('accepted=50000', sent.stdout)
            report = watching.report(stop_after=1)
        self.assertTrue(report['summary']['accounting']['balanced'])
        self.assertEqual(report['summary']['accounting']['counted'], 50000)
        self.assertEqual(report['summary']['wire_bytes'], 50000 * 60)


if __name__ == '__main__':
    PARSHALL, PROGRAMS = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
