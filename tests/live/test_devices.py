#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every packet sent to a live device is counted or named as dropped. Usage: test_devices.py FOLDER_OF_PROGRAMS"""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import netns
import side_by_side

PROGRAMS = "."
FLOWS = 500


def count(*arguments, timeout=60):
    """Runs count_device to its end: (exit status, its figures, what it said on standard error)."""
    done = subprocess.run([f"{PROGRAMS}/count_device", *arguments], capture_output=True, text=True, timeout=timeout)
    return done.returncode, figures(done.stdout), done.stderr


def figures(text):
    lines = [line.split("=", 1) for line in text.splitlines() if "=" in line]
    return {key: number(value) for key, value in lines}


def number(text):
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def bytes_sum(frames):
    return sum(sum(frame) for frame in frames)


class Watched:
    """count_device on a veth pair's `tap0`, started and ready."""

    def __init__(self, pair, *arguments):
        self._process = pair.watch(f"{PROGRAMS}/count_device", "tap0", *arguments)
        self._said = ""
        for line in self._process.stdout:
            self._said += line
            if line == "ready\n":
                return
        raise AssertionError("not ready: " + self._process.communicate()[1])

    def stop(self, sign):
        self._process.send_signal(sign)
        self._process.wait(timeout=60)
        self._process.communicate()

    def end(self):
        """The result, once what has come is read."""
        self._process.send_signal(signal.SIGINT)
        return self.result()

    def result(self):
        out, errors = self._process.communicate(timeout=60)
        if self._process.returncode != 0 or errors:
            raise AssertionError(f"exit {self._process.returncode}: {errors}")
        return figures(self._said + out)


class VirtualDevices(unittest.TestCase):
    def test_a_pcap_file_is_delivered_whole_and_then_ends(self):
        frames = netns.udp_frames(2000, FLOWS)
        with netns.Folder() as folder:
            netns.write_pcap(folder + "/x.pcap", frames)
            status, got, errors = count(f"vdev:net_pcap0,rx_pcap={folder}/x.pcap", "--idle", "20")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(got["packets"], 2000)
        self.assertEqual(got["queue0.checksum"], bytes_sum(frames))
        self.assertEqual(got["queue0.exhausted"], "true")
        self.assertEqual(got["queue0.lossless"], "true")
        self.assertEqual(got["device.received"], 2000)
        self.assertLess(got["seconds"], 5)

    def test_a_pcap_file_keeps_its_own_times(self):
        with netns.Folder() as folder:
            netns.write_pcap(folder + "/x.pcap", netns.udp_frames(100), first_s=1700000000, step_us=10)
            _, got, _ = count(f"vdev:net_pcap0,rx_pcap={folder}/x.pcap")
        self.assertEqual(got["queue0.first_ns"], 1700000000 * 10**9)
        self.assertEqual(got["queue0.last_ns"], 1700000000 * 10**9 + 99 * 10000)

    def test_two_pcap_files_make_two_queues(self):
        with netns.Folder() as folder:
            netns.write_pcap(folder + "/a.pcap", netns.udp_frames(300))
            netns.write_pcap(folder + "/b.pcap", netns.udp_frames(700))
            _, got, _ = count(f"vdev:net_pcap0,rx_pcap={folder}/a.pcap,rx_pcap={folder}/b.pcap", "--queues", "2")
        self.assertEqual((got["queue0.packets"], got["queue1.packets"]), (300, 700))

    def test_a_frame_longer_than_a_buffer_counts_in_full(self):
        with netns.Folder() as folder:
            netns.write_pcap(folder + "/x.pcap", [netns.udp_frame(1, 8000)] * 10)
            _, got, _ = count(f"vdev:net_pcap0,rx_pcap={folder}/x.pcap")
        self.assertEqual(got["wire_bytes"], 10 * 8042)
        self.assertGreaterEqual(got["queue0.captured_bytes"], 10 * 1500)
        self.assertLess(got["queue0.captured_bytes"], 10 * 8042)

    def test_net_null_loses_nothing_and_claims_no_counter_it_has_not(self):
        _, got, errors = count("vdev:net_null0,size=64", "--packets", "2000000")
        self.assertEqual(errors, "")
        self.assertGreaterEqual(got["packets"], 2000000)
        self.assertEqual(got["device.received"], got["packets"])
        for absent in ("nic_missed", "nic_error", "no_mbuf"):
            self.assertEqual(got[f"device.{absent}"], "absent")

    def test_what_a_ring_accepts_is_counted_and_what_it_refuses_is_not(self):
        _, got, _ = count("vdev:net_ring0", "--loop", "6000", "--idle", "0.3")
        self.assertGreater(got["refused"], 0)
        self.assertEqual(got["accepted"] + got["refused"], 6000)
        self.assertEqual(got["packets"], got["accepted"])

    def test_memif_delivers_every_frame_of_another_process(self):
        with netns.Folder() as folder:
            device = f"id=0,socket={folder}/memif.sock,socket-abstract=no"
            with subprocess.Popen(
                [
                    f"{PROGRAMS}/count_device",
                    f"vdev:net_memif0,role=server,{device}",
                    "--packets",
                    "50000",
                    "--idle",
                    "10",
                ],
                stdout=subprocess.PIPE,
                text=True,
            ) as reader:
                reader.stdout.readline()
                sent = subprocess.run(
                    [f"{PROGRAMS}/send_device", f"vdev:net_memif0,role=client,{device}", "50000"],
                    capture_output=True,
                    text=True,
                    timeout=60,
                )
                got = figures(reader.communicate(timeout=60)[0])
        self.assertEqual(figures(sent.stdout)["accepted"], 50000)
        self.assertEqual(got["packets"], 50000)
        self.assertEqual(got["wire_bytes"], 50000 * 60)

    def test_the_threads_of_the_program_may_run_where_they_could_before(self):
        _, got, _ = count("vdev:net_null0", "--packets", "1")
        self.assertEqual(got["cpus_kept"], "true")


class Refusals(unittest.TestCase):
    def refused(self, *arguments):
        status, got, errors = count(*arguments)
        self.assertEqual((status, got), (1, {}))
        self.assertEqual(len(errors.splitlines()), 1, errors)
        return errors

    def test_an_unknown_interface_is_answered_with_those_that_exist(self):
        self.assertRegex(self.refused("nosuch0"), r"nosuch0: no such interface .*\blo\b")

    def test_an_absent_pci_device_is_named(self):
        self.assertIn("0000:ff:1f.7: no such PCI device", self.refused("ff:1f.7"))

    def test_an_unknown_driver_is_named(self):
        self.assertIn("net_nosuch0", self.refused("vdev:net_nosuch0"))

    def test_a_missing_file_is_named(self):
        self.assertIn("No such file", self.refused("vdev:net_pcap0,rx_pcap=/nosuch.pcap"))

    def test_an_unknown_eal_option_is_named_without_the_list_of_all(self):
        errors = self.refused("vdev:net_null0", "--eal", "--nosuch")
        self.assertIn("'--nosuch'", errors)
        self.assertLess(len(errors), 600)

    def test_more_queues_than_there_are_is_refused(self):
        with netns.Folder() as folder:
            netns.write_pcap(folder + "/x.pcap", netns.udp_frames(1))
            self.assertIn("2 were asked", self.refused(f"vdev:net_pcap0,rx_pcap={folder}/x.pcap", "--queues", "2"))

    @unittest.skipIf(os.geteuid() != 0, "SKIPPED: not root")
    def test_without_the_right_to_capture_the_command_that_gives_it_is_told(self):
        with netns.Folder() as folder:  # the program may lie where nobody else can go
            os.chmod(folder, 0o755)
            subprocess.run(["cp", f"{PROGRAMS}/count_device", folder], check=True)
            done = subprocess.run(
                [
                    "setpriv",
                    "--reuid",
                    "65534",
                    "--regid",
                    "65534",
                    "--clear-groups",
                    "--inh-caps=-all",
                    folder + "/count_device",
                    "lo",
                ],
                capture_output=True,
                text=True,
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn("CAP_NET_RAW", done.stderr)


@unittest.skipIf(netns.why_not(), f"SKIPPED: {netns.why_not()}")
class KernelInterfaces(unittest.TestCase):
    def deliver(self, via, queues, frames, pair_queues=1, mtu=1500, packets=None):
        with netns.VethPair(pair_queues, mtu) as pair:
            watched = Watched(
                pair, "--via", via, "--queues", str(queues), "--idle", "10", "--packets", str(packets or len(frames))
            )
            pair.send(
                frames, pause_every=100, pause_s=0.01
            )  # a ring's worth in what a busy machine may keep the reader waiting
            return watched.result()

    def check_all_delivered(self, via, queues, pair_queues=1):
        frames = netns.udp_frames(10000, FLOWS)
        got = self.deliver(via, queues, frames, pair_queues)
        self.assertEqual(got["packets"], 10000)
        self.assertEqual(got["wire_bytes"], 600000)
        self.assertEqual(sum(got[f"queue{q}.checksum"] for q in range(queues)), bytes_sum(frames))
        self.assertEqual(got["device.received"], 10000)
        self.assertEqual(got["device.nic_missed"], 0)
        for queue in range(queues):
            self.assertGreater(got[f"queue{queue}.packets"], 10000 // queues // 2)
            now = time.time_ns()
            self.assertLess(abs(got[f"queue{queue}.last_ns"] - now), 60 * 10**9)

    def test_af_packet_delivers_every_frame(self):
        self.check_all_delivered("af_packet", 1)

    def test_af_packet_delivers_every_frame_on_one_of_two_queues(self):
        self.check_all_delivered("af_packet", 2)

    def test_af_xdp_delivers_every_frame(self):
        self.check_all_delivered("af_xdp", 1)

    def test_af_xdp_delivers_every_frame_on_one_of_two_queues(self):
        self.check_all_delivered("af_xdp", 2, pair_queues=2)

    def check_drops_are_counted(self, via, queues, pair_queues=1):
        with netns.VethPair(pair_queues) as pair:
            watched = Watched(
                pair, "--via", via, "--queues", str(queues), "--descriptors", "64", "--slow", "20000", "--idle", "60"
            )
            # Ended by a signal, since a busy machine may send nothing for seconds. What comes after the end is lost.
            pair.deliver(netns.udp_frames(20000, FLOWS))
            got = watched.end()
        self.assertLess(got["packets"], 20000)
        self.assertEqual(got["packets"] + got["device.nic_missed"], 20000)
        self.assertEqual(got["device.nic_missed"], sum(got[f"queue{q}.nic_missed"] for q in range(queues)))

    def test_what_af_packet_drops_is_counted(self):
        self.check_drops_are_counted("af_packet", 1)

    def test_what_af_packet_drops_is_counted_with_two_queues(self):
        self.check_drops_are_counted("af_packet", 2)

    def test_what_af_xdp_drops_is_counted(self):
        self.check_drops_are_counted("af_xdp", 1)

    def test_what_af_xdp_drops_is_counted_with_two_queues(self):
        self.check_drops_are_counted("af_xdp", 2, pair_queues=2)

    def test_af_packet_takes_frames_as_long_as_the_mtu(self):
        got = self.deliver("af_packet", 1, [netns.udp_frame(1, 9000 - 28)] * 50, mtu=9000)
        self.assertEqual((got["packets"], got["wire_bytes"]), (50, 50 * 9014))

    def test_af_xdp_takes_frames_as_long_as_the_mtu(self):
        got = self.deliver("af_xdp", 1, [netns.udp_frame(1, 3306 - 28)] * 50, mtu=3306)
        self.assertEqual((got["packets"], got["wire_bytes"]), (50, 50 * 3320))

    def test_a_vlan_tag_is_kept(self):
        for via in ("af_packet", "af_xdp"):
            frames = [netns.udp_frame(1, vlan=7)] * 50
            got = self.deliver(via, 1, frames)
            self.assertEqual((got["wire_bytes"], got["queue0.checksum"]), (50 * 64, bytes_sum(frames)), via)

    def test_af_xdp_sees_fragments_and_af_packet_sees_what_the_description_says(self):
        pair = [netns.udp_frame(1, 1024 - 8, 0, True), netns.udp_frame(1, 512, 128)]
        self.assertEqual(self.deliver("af_xdp", 1, pair * 20)["packets"], 40)
        got = self.deliver("af_packet", 1, pair * 20)
        self.assertEqual(got["packets"], 20)
        self.assertIn("IPv4 fragments are put together", got["description"])

    def test_af_xdp_refuses_to_leave_a_queue_unread(self):
        with netns.VethPair(2) as pair:
            watched = pair.watch(f"{PROGRAMS}/count_device", "tap0", "--via", "af_xdp")
            self.assertIn("2 receive queues", watched.communicate()[1])

    def test_an_interface_that_is_down_is_refused_with_the_command_that_helps(self):
        with netns.VethPair() as pair:
            pair.set_link("down")
            self.assertIn("ip link set tap0 up", pair.watch(f"{PROGRAMS}/count_device", "tap0").communicate()[1])

    def test_an_interface_is_left_as_it_was(self):
        for via in ("af_packet", "af_xdp"):
            for was_promiscuous in (False, True):
                for sign in (signal.SIGINT, signal.SIGTERM):
                    with self.subTest(via=via, promiscuous=was_promiscuous, sign=sign), netns.VethPair() as pair:
                        if was_promiscuous:
                            pair.set_link("promisc", "on")
                        before = pair.link()
                        watched = Watched(pair, "--via", via, "--idle", "20")
                        self.assertIn(f"promiscuity {1 + was_promiscuous}", pair.link())
                        watched.stop(sign)
                        self.assertEqual(pair.link(), before)

    def test_a_device_can_be_opened_again_and_again(self):
        for via in ("af_packet", "af_xdp"):
            with self.subTest(via=via), netns.VethPair() as pair:
                watched = Watched(pair, "--via", via, "--opens", "5", "--packets", "500", "--idle", "20")
                pair.send(netns.udp_frames(500))
                got = watched.result()
                self.assertEqual((got["packets"], got["sockets_left"]), (500, 0))

    def test_af_xdp_waits_a_little_for_a_queue_that_another_has(self):
        arguments = ("--via", "af_xdp", "--idle", "20")
        with netns.VethPair() as pair:
            holder = Watched(pair, *arguments)
            ended = threading.Timer(0.4, holder.stop, (signal.SIGTERM,))  # the other waits for up to three seconds
            ended.start()
            watched = Watched(pair, *arguments, "--packets", "500")
            ended.join()
            pair.send(netns.udp_frames(500))
            self.assertEqual(watched.result()["packets"], 500)

    def test_af_xdp_says_that_another_has_the_queue_and_leaves_that_alone(self):
        with netns.VethPair() as pair:
            holder = Watched(pair, "--via", "af_xdp", "--packets", "500", "--idle", "20")
            with self.assertRaisesRegex(AssertionError, "cannot open tap0 with af_xdp: another program has its"):
                Watched(pair, "--via", "af_xdp")
            pair.send(netns.udp_frames(500))
            self.assertEqual(holder.result()["packets"], 500)

    def test_af_packet_leaves_the_interface_as_it_was_even_when_killed(self):
        with netns.VethPair() as pair:
            before = pair.link()
            Watched(pair, "--idle", "20").stop(signal.SIGKILL)
            time.sleep(0.2)
            self.assertEqual(pair.link(), before)

    def test_after_a_kill_af_xdp_works_again_and_cleans_up(self):
        with netns.VethPair() as pair:
            before = pair.link()
            Watched(pair, "--via", "af_xdp", "--idle", "20").stop(signal.SIGKILL)
            watched = Watched(pair, "--via", "af_xdp", "--packets", "500", "--idle", "20")
            pair.send(netns.udp_frames(500))
            self.assertEqual(watched.result()["packets"], 500)
            self.assertEqual(pair.link(), before)


if __name__ == "__main__":
    PROGRAMS = os.path.abspath(sys.argv.pop(1))
    os.environ.setdefault(
        "LSAN_OPTIONS", f"print_suppressions=0:suppressions={os.path.dirname(__file__)}/third_party.supp"
    )
    if netns.why_not():
        print("SKIPPED kernel interfaces:", netns.why_not())
    side_by_side.main(PROGRAMS)
