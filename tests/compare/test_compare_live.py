# SPDX-License-Identifier: Apache-2.0
"""`parshall compare -i A --to B` around a device that loses, doubles and delays what it is told to.

usage: test_compare_live.py PARSHALL [unittest arguments]
"""

import heapq
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

import two_taps
from two_taps import Network, Packet

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "live"), str(TESTS / "app")]
import browser
import netns

PROGRAM = None
PACKETS = 1200
LOST, DOUBLED, LATE = 10, 15, 20  # one in so many


class Device:
    """A bridge between tap0 and tap1 that knows the number of each frame."""

    def __init__(self, space):
        self.stops = threading.Event()
        self.sides = []
        self.passed = []  # the numbers of the frames, in the order in which they went on
        back = netns.in_namespace(space)
        for name in ("tap0", "tap1"):
            side = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            side.bind((name, 0))
            side.setsockopt(263, 23, 1)  # SOL_PACKET, PACKET_IGNORE_OUTGOING
            self.sides.append(side)
        back()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stops.set()
        self.thread.join()

    def run(self):
        waiting = []  # (when, order, to, frame)
        order = 0
        while not self.stops.is_set() or waiting:
            pause = min(max(waiting[0][0] - time.monotonic(), 0), 0.05) if waiting else 0.05
            for side in select.select(self.sides, [], [], pause)[0]:
                frame = side.recv(2048)
                number = number_of(frame)
                if number is None or number % LOST == 0:
                    continue
                delay = 0.03 if number % LATE == 1 else 0
                for _ in range(2 if number % DOUBLED == 2 else 1):
                    order += 1
                    entry = (time.monotonic() + delay, order, self.sides[1 - self.sides.index(side)], frame)
                    heapq.heappush(waiting, entry)
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, to, frame = heapq.heappop(waiting)
                to.send(frame)
                self.passed.append(number_of(frame))
        for side in self.sides:
            side.close()


def reordered(passed):
    """How many came after a packet of their connection and direction with a higher number (RFC 4737)."""
    highest, count = {}, 0
    for number in dict.fromkeys(passed):  # a second copy is a duplicate, not late
        flow = number % 7, number % 3 == 0
        count += number < highest.get(flow, 0)
        highest[flow] = max(number, highest.get(flow, 0))
    return count


def number_of(frame):
    found = re.search(rb"number (\d+);", frame)
    return int(found[1]) if found else None


@unittest.skipIf(netns.why_not(), f"SKIPPED: {netns.why_not()}")
class Around(unittest.TestCase):
    """Two interfaces with a device between them."""

    def setUp(self):
        pair = netns.VethPair()
        pair.__enter__()
        self.addCleanup(pair.__exit__)
        pair.add_link("wire1", "tap1")
        self.host, self.device = pair.tx_space, pair.rx_space
        self.senders = [netns.RawSender(self.host, name) for name in ("wire0", "wire1")]
        for sender in self.senders:
            self.addCleanup(sender.close)

    def command(self, *arguments):
        return ["ip", "netns", "exec", self.host, PROGRAM, "compare", "-i", "wire0", "--to", "wire1", *arguments]

    def start(self, *arguments):
        running = subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        self.assertIn("comparing wire0 with wire1", running.stderr.readline())
        return running

    def send(self, numbers, pause_s=0.0002):
        """Packets of seven connections, a third of them back; each payload has its number."""
        for number in numbers:
            is_back = number % 3 == 0
            packet = Packet(number, number % 7, is_back, 0, [], f"number {number};".encode())
            self.senders[is_back].send([two_taps.frame(packet, False, Network(hops=0))])
            time.sleep(pause_s)

    def end(self, running, status=0):
        time.sleep(0.2)  # for what the device delays
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=30)
        self.assertEqual(running.returncode, status, errors)
        return output, errors


class TwoInterfaces(Around):
    def test_tells_what_the_device_did(self):
        numbers = range(1, PACKETS + 1)
        with Device(self.device) as device:
            running = self.start("--format", "json")
            self.send(numbers)
            told = json.loads(self.end(running)[0])
        self.assertEqual(told["clocks"]["clocks"], "same")
        self.assertEqual(told["warnings"], [])
        for way, is_back in (("there", False), ("back", True)):
            mine = [number for number in numbers if (number % 3 == 0) == is_back]
            passed = [number for number in mine if number % LOST != 0]
            self.assertEqual(told[way]["packets_sent"], len(mine))
            self.assertEqual(told[way]["packets_lost"], len(mine) - len(passed))
            self.assertEqual(told[way]["packets_delivered"], len(passed))
            self.assertEqual(told[way]["packets_duplicated"], sum(number % DOUBLED == 2 for number in passed))
            for name in ("extra", "outside_sent", "outside_received", "unlike_sent", "unlike_received"):
                self.assertEqual(told[way][f"packets_{name}"], 0, name)
            late = reordered(number for number in device.passed if (number % 3 == 0) == is_back)
            self.assertEqual(told[way]["packets_reordered"], late)
            self.assertGreater(late, 0)
            self.assertLess(told[way]["delay_p50_ns"], 20_000_000)
            self.assertGreaterEqual(told[way]["delay_max_ns"], 30_000_000)
        self.assertEqual(len(told["flows"]), 2 * 7)
        for flow in told["flows"]:
            is_back = flow["way"] == "back"
            connection = (flow["dst_port"] if is_back else flow["src_port"]) - 40000
            mine = [number for number in numbers if (number % 3 == 0) == is_back and number % 7 == connection]
            self.assertEqual(flow["packets_sent"], len(mine))
            self.assertEqual(flow["packets_lost"], sum(number % LOST == 0 for number in mine))

    def test_a_filter(self):
        with Device(self.device):
            running = self.start("--format", "json", "not", "udp")
            self.send(range(1, 101))
            told = json.loads(self.end(running)[0])
        self.assertEqual({flow["protocol"] for flow in told["flows"]}, {6})
        for tap in (told["up"], told["down"]):
            self.assertGreater(tap["filtered"], 10)
            self.assertEqual(tap["packets"], tap["compared"] + tap["filtered"])

    def test_what_is_on_its_way_at_the_end_is_not_lost(self):
        running = self.start("--format", "json", "--wait", "300ms")
        sending = threading.Thread(target=self.send, args=(range(1, 4000), 0.0005))
        with Device(self.device):
            sending.start()
            time.sleep(0.7)
            running.send_signal(signal.SIGINT)
            told = json.loads(running.communicate(timeout=30)[0])
            sending.join()
        for way in ("there", "back"):
            self.assertGreater(told[way]["packets_sent"], 100)
            share = told[way]["packets_lost"] / told[way]["packets_sent"]
            self.assertAlmostEqual(share, 1 / LOST, delta=0.05)
            self.assertEqual(told[way]["packets_extra"], 0)

    def test_live_on_a_terminal(self):
        leader, follower = pty.openpty()
        with Device(self.device):
            running = subprocess.Popen(self.command("--live"), stdout=follower, stderr=follower)
            os.close(follower)
            shown = b""

            def read():
                nonlocal shown
                while select.select([leader], [], [], 0.05)[0]:
                    try:
                        shown += os.read(leader, 65536)
                    except OSError:
                        return shown
                return shown

            netns.wait_until(lambda: b"comparing" in read(), "the beginning")
            self.send(range(1, 101))
            netns.wait_until(lambda: re.search(rb"there \(up -> down\) +67 ", read()), "the packets, while it runs")
            running.send_signal(signal.SIGINT)
            netns.wait_until(lambda: read() is not None and running.poll() is not None, "its end")
        os.close(leader)
        self.assertEqual(running.returncode, 0)

    def test_an_interface_that_goes_ends_it_with_a_report(self):
        running = self.start()
        with Device(self.device):
            self.send(range(1, 101))
        time.sleep(0.3)
        subprocess.run(["ip", "-n", self.host, "link", "del", "wire0"], check=True)
        output, errors = running.communicate(timeout=30)
        self.assertIn("there (up -> down)", output)
        self.assertIn("wire0", errors)
        self.assertNotEqual(running.returncode, 0)


class Page(Around):
    """What a page, a scraper and JSON show of each second."""

    def get(self, port, path):
        code = f"import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:{port}{path}').read().decode())"
        words = ["ip", "netns", "exec", self.host, sys.executable, "-c", code]
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=30).stdout

    def begin(self):
        subprocess.run(["ip", "-n", self.host, "link", "set", "lo", "up"], check=True)
        arguments = ["--format", "json", "--wait", "200ms", "--web", "127.0.0.1:0"]
        running = subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", running.stderr.readline())[1])
        self.assertIn("comparing", running.stderr.readline())
        return running, port

    def test_each_second(self):
        with Device(self.device):
            running, port = self.begin()
            netns.wait_until(lambda: "null" in self.get(port, "/api/state"), "a state without packets")
            was_seen, numbers = threading.Event(), []

            def until_seen():
                while len(numbers) < PACKETS or not was_seen.is_set():
                    numbers.append(len(numbers) + 1)
                    yield numbers[-1]

            sending = threading.Thread(target=self.send, args=(until_seen(), 0.004))
            sending.start()
            self.addCleanup(sending.join)
            self.addCleanup(was_seen.set)
            # Of the last second that is over, so only while packets come.
            delay = 'parshall_compare_delay_seconds{way="there",quantile="0.99"}'
            netns.wait_until(lambda: delay in self.get(port, "/metrics"), "delays of a second")
            was_seen.set()
            sending.join()
            netns.wait_until(lambda: json.loads(self.get(port, "/api/history")), "a second that is over")
            state = json.loads(self.get(port, "/api/state"))
            self.assertEqual(state["all_flows"], 14)
            self.assertEqual({flow["way"] for flow in state["flows"]}, {"there", "back"})
            told = {}

            def scrape():
                told["metrics"] = dict(
                    line.rsplit(" ", 1) for line in self.get(port, "/metrics").splitlines() if line[:1] not in "#"
                )
                sent = sum(
                    int(told["metrics"][f'parshall_compare_packets_total{{way="{way}",kind="sent"}}'])
                    for way in ("there", "back")
                )
                return sent == len(numbers)

            netns.wait_until(scrape, "all packets")
            output, _ = self.end(running)
        whole = json.loads(output)
        for way in ("there", "back"):
            for name in ("sent", "received", "delivered", "lost", "duplicated", "reordered"):
                of_seconds = sum(one[way][f"packets_{name}"] for one in whole["intervals"])
                self.assertEqual(of_seconds, whole[way][f"packets_{name}"], (way, name))
            metric = f'parshall_compare_packets_total{{way="{way}",kind="lost"}}'
            self.assertEqual(int(told["metrics"][metric]), whole[way]["packets_lost"])
        seconds = [(one["begin_ns"], one["end_ns"]) for one in whole["intervals"]]
        self.assertTrue(all(end - begin == 10**9 for begin, end in seconds))
        self.assertTrue(all(end == begin for (_, end), (begin, _) in zip(seconds, seconds[1:])))
        self.assertGreaterEqual(len(seconds), 3)

    def look(self, port):
        with browser.Browser() as page:
            page.go(f"http://127.0.0.1:{port}/")
            page.wait_for("document.getElementById('told')?.textContent === '0 and 0 packets'")
            page.wait_for("document.getElementById('link').textContent === 'live'")
            for width in (380, 1600):
                page.resize(width, 900)
                page.go("about:blank")
                page.go(f"http://127.0.0.1:{port}/")
                self.send(range(1, 301), pause_s=0.002)
                page.wait_for("document.querySelectorAll('#flows tr').length === 15")
                page.wait_for("document.getElementById('link').textContent === 'live'")
                self.assertIn("wire0 to wire1", page.ask("document.getElementById('source').textContent"))
                self.assertRegex(page.ask("document.querySelector('#ways tr:nth-child(2)').textContent"), r"^there\d")
                self.assertLessEqual(page.ask("document.documentElement.scrollWidth"), width)
            self.assertEqual(page.problems, [])

    @unittest.skipUnless(shutil.which("chromium"), "SKIPPED: no chromium")
    def test_in_a_browser(self):
        with Device(self.device):
            running, port = self.begin()
            back = netns.in_namespace(self.host)
            try:
                self.look(port)
            finally:
                back()
            self.end(running)


class Limits(Around):
    """`parshall test between`: the same numbers, with limits."""

    def measure(self, *arguments, status):
        words = ["ip", "netns", "exec", self.host, PROGRAM, "test", "between", "-i", "wire0", "--to", "wire1"]
        with Device(self.device):
            running = subprocess.Popen(
                [*words, "--wait", "200ms", "--duration", "3s", *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            self.addCleanup(running.wait)
            self.addCleanup(running.kill)
            self.assertIn("comparing", running.stderr.readline())
            time.sleep(0.8)  # so that nothing can have been sent before, and intervals are watched wholly
            self.send(range(1, 301))
            output, errors = running.communicate(timeout=30)
        self.assertEqual(running.returncode, status, errors)
        return output, errors

    def test_limits_that_are_kept(self):
        output, _ = self.measure("--limit", "loss=20%", "--limit", "delay-max=5s", status=0)
        self.assertRegex(output, r"loss <= 20 % +10 %, kept +10 %, kept")
        self.assertRegex(output, r"delay-max <= 5.000 s +\d.*, kept +\d.*, kept")

    def test_limits_that_are_not(self):
        limits = ("loss=9.9%", "duplicated=50%", "delay-max=1ms", "worst-loss=100%")
        arguments = [word for limit in limits for word in ("--limit", limit)]
        output, errors = self.measure("--format", "json", "--every", "100ms", *arguments, status=1)
        self.assertIn("2 of 4 limits not kept", errors)
        told = json.loads(output)
        verdicts = [(one["kept"], one["there"]["verdict"], one["back"]["verdict"]) for one in told["limits"]]
        self.assertEqual([kept for kept, *_ in verdicts], [False, True, False, True])
        self.assertEqual(verdicts[0][1:], ("exceeded", "exceeded"))
        self.assertEqual(told["there"]["packets_lost"] + told["back"]["packets_lost"], 30)
        self.assertGreater(len(told["intervals"]), 1)
        self.assertEqual(sum(one["there"]["packets_sent"] for one in told["intervals"]), 200)

    def test_a_limit_that_is_reached_is_kept(self):
        self.measure("--limit", "loss=10%", "--limit", "jitter=1s", "tcp", "or", "udp", status=0)

    def test_nothing_measured_keeps_no_limit(self):
        words = ["ip", "netns", "exec", self.host, PROGRAM, "test", "between", "-i", "wire0", "--to", "wire1"]
        words += ["--wait", "10ms", "--duration", "100ms", "--limit", "loss=1%"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no packets", done.stdout)

    def test_what_is_no_limit(self):
        done = subprocess.run(
            [PROGRAM, "test", "between", "-i", "lo", "--to", "lo1", "--duration", "1h", "--every", "1s"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("--every", done.stderr)
        for limit, words in (
            ("los=1%", "delay-p99"),
            ("loss=1", "percent"),
            ("delay-max=1%", "time"),
            ("loss", "percent"),
        ):
            done = subprocess.run(
                [PROGRAM, "test", "between", "-i", "lo", "--to", "lo1", "--limit", limit],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


class Errors(unittest.TestCase):
    def refused(self, *arguments, words):
        done = subprocess.run([PROGRAM, "compare", *arguments], capture_output=True, text=True, timeout=30, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_what_cannot_be_compared(self):
        self.refused("-i", "lo", words=["--to"])
        self.refused("--to", "lo", words=["-i"])
        self.refused("-i", "lo", "--to", "lo", words=["twice"])
        self.refused("-i", "any", "--to", "lo", words=["any"])
        self.refused("-i", "lo", "--to", "missing0", words=["missing0"])
        self.refused("-i", "lo", "--to", "lo1", "--wait", "1h", words=["--wait"])
        self.refused("-i", "lo", "--to", "lo1", "--duration", "soon", words=["--duration"])
        self.refused("-i", "lo", "--to", "lo1", "--duration", "0s", words=["--duration"])
        self.refused("-i", "lo", "--to", "lo1", "tcp", "prot", "80", words=["filter"])
        self.refused("-i", "lo", "--to", "lo1", "--live", words=["terminal"])
        self.refused("one.pcap", words=["UP and DOWN", "--to"])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
