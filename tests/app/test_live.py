#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives `parshall watch --live` in a terminal of its own (tmux). Usage: test_live.py PARSHALL [unittest arguments]"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import side_by_side
import terminal_screen
from terminal_screen import Screen, column

TRAFFIC = "flows=2000,dist=zipf:1.1"
CASES = pathlib.Path(__file__).resolve().parent.parent / "cases"
TOO_MUCH = "flows=20000,dist=zipf:1.1,protocol=connections,resend=0.01,pace=60000000"
STATES = """
default = "heavy"
[[state]]
name = "light"
tasks = ["count"]
[[state]]
name = "heavy"
tasks = ["count", "bursty", "retransmissions:recall=0.5"]
lighter = "light"
"""


class LiveView(unittest.TestCase):
    def accounting(self, text):
        match = re.search(r"^(\d+) offered = (\d+) counted", text, re.M)
        self.assertTrue(match, "no accounting line in:\n" + text)
        self.assertEqual(match[1], match[2])

    def test_begins_with_conversations_of_now(self):
        with Screen("-g", TRAFFIC) as screen:
            text = screen.until(r"^proto +client +server +pps bit/s▼ packets +bytes in_bps out_bps flows")
            self.assertRegex(text, r"(?m)^conversations \(f: other rows\); rates over 10 s")
            screen.keys("f")
            screen.until(r"^hosts \(f: other rows\)(?s:.*)^\d+\.\d+\.\d+\.\d+ +[\d.]+ ")
            screen.keys("f")
            screen.until(r"^services \(f: other rows\)(?s:.*)^(TCP|UDP) +\d+ +[\d.]+ ")
            screen.keys("2", "o")
            screen.until(r"^services .*; rates over 2 s(?s:.*)bytes▼")
            screen.type("fff")
            screen.until("^flows, rate: last")

    def test_a_host_opens_to_its_conversations_peers_and_alarms(self):
        task = "heavy-hitters:key=src,top=5,min-packets=0,min-rate=0"
        traffic = "flows=40,protocol=sessions,pace=20000"
        with Screen("-g", traffic, "--by", "host", "--task", task, "--window", "200ms", columns=130) as screen:
            screen.until(r"^host +pps +bit/s▼(?s:.*)^alarms and figures, the latest \d")
            screen.keys("p")
            host = re.search(r"heavy-hitters\D+([\d.]+\d)", screen.settled())[1]
            screen.type(f"/host {host}")
            screen.until(rf'filter "host {re.escape(host)}": 1')
            screen.keys("Enter", "Enter")
            text = screen.until(rf"^host {re.escape(host)} \(Esc: back\): conversations")
            text = screen.until(r"^proto +client +server ")
            ends = [line.split()[1:3] for line in text.splitlines() if line.startswith("TCP ")]
            self.assertTrue(ends)
            for pair in ends:
                self.assertIn(host, [end.rsplit(":", 1)[0] for end in pair])
            text = screen.until(rf"^alarms of host {re.escape(host)}, the latest \d(?s:.*){re.escape(host)}")
            for line in text.split("alarms of host ")[1].splitlines()[1:-1]:
                self.assertIn(host, line)
            screen.keys("Escape")
            screen.until(r"^hosts \(f: other rows\)(?s:.*)^alarms and figures")

    def test_shows_the_flows_with_rates_and_the_accounting(self):
        with Screen("-g", TRAFFIC, "--duration", "60s") as screen:
            screen.show_flows()
            text = screen.until(r"\d+ packets +\d+ bytes +[\d.]+ [kMG]?pps")
            self.accounting(text)
            self.assertRegex(text, r"(?m)^LIVE +\d")
            text = screen.until(r"flows 2000/4096 +loss 0 \(< ")
            self.assertRegex(text, r"processed [\d.]+ [kM]pps")
            self.assertRegex(text, r"(?m)^proto +source +destination +pps +bit/s packets▼ +bytes")
            screen.until_counts(lambda counts: len(counts) == 21 and counts == sorted(counts, reverse=True))

    def test_a_biflow_is_one_line_of_who_began(self):
        """The SYN is the second frame of this capture."""
        with Screen("-r", str(CASES / "biflow_synack_first_in_file.pcap"), "--biflow") as screen:
            screen.resize(160, 30)
            text = screen.until(r"(?m)^TCP .*\n(?!TCP)")
            rows = [line.split() for line in text.splitlines() if line.startswith("TCP ")]
            self.assertEqual([row[1:3] for row in rows], [["10.0.0.1:40000", "10.0.0.2:80"]])
            self.assertRegex(text, r"(?m)^proto .* packets.* bytes +reverse ")
            self.assertRegex(text, r"(?m)^TCP .* 3 +164 +2 ")

    def test_sorts_and_reverses(self):
        with Screen("-g", TRAFFIC) as screen:
            screen.show_flows()
            screen.keys("r")
            screen.until("packets▲")
            screen.until_counts(lambda counts: len(counts) == 21 and counts == sorted(counts))
            screen.keys("Right")
            self.accounting(screen.until("bytes▲"))
            screen.keys("Right")
            screen.until("proto▼")
            screen.keys("r")
            screen.until("proto▲")

    def test_scrolls(self):
        with Screen("-g", TRAFFIC) as screen:
            screen.show_flows()
            screen.keys("p")
            screen.until("^PAUSED")
            top = column(screen.settled(), -2)
            screen.keys(*["Down"] * len(top))
            screen.until_counts(lambda counts: counts[:20] == top[1:])
            screen.keys("PageDown")
            screen.until_counts(lambda counts: counts[0] <= top[-1])
            screen.keys("End")
            screen.until_counts(lambda counts: max(counts) < min(top))
            screen.keys("Home")
            screen.until_counts(lambda counts: counts == top)

    def test_paused_the_screen_stays_and_measuring_goes_on(self):
        with Screen("-g", TRAFFIC) as screen:
            screen.until(r"^\d+ packets.* [\d.]+ [kMG]?pps")
            screen.keys("Space")
            screen.until("^PAUSED")
            frozen = screen.settled()
            time.sleep(2.5)
            self.assertEqual(screen.text(), frozen)
            self.accounting(frozen)
            screen.type("/udp")
            screen.until(r'\A(?!(?s:.*)^TCP)(?s:.*)filter "udp": \d+')
            screen.keys("Enter", "p")
            before = int(re.search(r"^(\d+) offered", frozen, re.M)[1])
            end = time.monotonic() + 30
            while int(re.search(r"^(\d+) offered", screen.until("^LIVE"), re.M)[1]) == before:
                self.assertLess(time.monotonic(), end)

    def test_filters_while_it_is_typed(self):
        with Screen("-g", TRAFFIC) as screen:
            screen.show_flows()
            screen.type("/udp")
            self.accounting(screen.until(r'\A(?!(?s:.*)^TCP)(?s:.*)filter "udp": \d+'))  # and no other row
            screen.type(" and packets < 1")
            screen.until(r'filter "udp and packets < 1": 0')
            screen.type(" zz")
            screen.until(r'^filter: "zz" is no word of a filter')
            screen.keys("Escape")
            self.accounting(screen.until("^h help"))
            screen.until("^TCP ")

    def test_changes_what_is_computed_while_it_runs(self):
        with Screen("-g", TRAFFIC, columns=130) as screen:
            screen.show_flows()
            screen.keys("e")
            text = screen.until(r"gap_p50 +gap_p99 +gap_p99\.9")
            self.assertRegex(text, r"flows, gap: percentiles .*, since [\d.]+ s")
            screen.until(r"^TCP .*\d( [kM])? +[\d.]+( [kM])?$")
            self.accounting(text)
            screen.keys("i", "m")
            screen.until(r"iat_mean +iat_sd +iat_skewness +iat_kurtosis")
            screen.keys("d")
            text = screen.until("^packet level, since")
            self.assertRegex(text, r"nic_missed +not reported")
            self.accounting(text)
            screen.keys("d", "s", "x")
            screen.until("size_min +size_max")
            screen.keys("q")
            self.assertEqual(screen.status(), 0)
            self.assertRegex(screen.report(), r"size_min_bytes +size_max_bytes")

    def test_survives_every_size(self):
        with Screen("-g", TRAFFIC) as screen:
            screen.until("bit/s▼")
            wide = r"\ALIVE(?s:.*)=\s*[\d.]+[kMG]?\s+counted"
            # Of the last cell curses writes nothing where the terminal would scroll: of one by one all.
            for columns, lines, shown in (
                (20, 5, wide),
                (3, 2, r"\ALI…$"),
                (1, 2, r"\A…\n\s*\Z"),
                (1, 1, r"\A…?\s*\Z"),
                (200, 60, wide),
                (40, 4, wide),
                (80, 24, wide),
                (21, 40, wide),
            ):
                screen.resize(columns, lines)
                screen.until(shown)
            screen.resize(100, 30)
            self.accounting(screen.until(r"^\d+ offered(?s:.*)bit/s▼ "))
            screen.keys("q")
            self.assertEqual(screen.status(), 0)

    def test_help_comes_and_goes(self):
        with Screen("-g", TRAFFIC) as screen:
            screen.until("bit/s▼")
            screen.keys("?")
            self.assertRegex(screen.until("percentiles"), "press any key to go back")  # further down, so drawn later
            screen.keys("x")
            screen.until("bit/s▼")

    def test_q_leaves_the_screen_and_writes_the_final_report(self):
        with Screen("-g", TRAFFIC) as screen:
            screen.until("bit/s▼")
            screen.keys("q")
            self.assertEqual(screen.status(), 0)
            self.assertNotRegex(screen.until("LEFT"), "LIVE")
            self.assertRegex(screen.report(), r"(?m)^accounting \d+ offered = \d+ counted$")

    def test_control_c_is_like_q(self):
        with Screen("-g", TRAFFIC) as screen:
            screen.until("bit/s▼")
            screen.keys("C-c")
            # The shell around it gets the signal too: what the program left behind is its report.
            end = time.monotonic() + 30
            while not (os.path.exists(screen.output_file) and "accounting" in screen.report()):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)

    def test_stays_when_the_run_has_ended(self):
        with Screen("-g", TRAFFIC, "--count", "100000") as screen:
            screen.until("^ENDED")
            screen.until(r"^100000 offered = 100000 counted")
            screen.keys("r")
            screen.until("bit/s▲")
            screen.keys("e")
            screen.until("the run has ended")
            screen.keys("q")
            self.assertEqual(screen.status(), 0)
            self.assertRegex(screen.report(), r"(?m)^accounting 100000 offered = 100000 counted$")

    def test_the_duration_applies(self):
        with Screen("-g", TRAFFIC, "--duration", "1s") as screen:
            screen.until("^ENDED")
            screen.keys("q")
            self.assertEqual(screen.status(), 0)

    def test_plain_terminals_and_locales(self):
        for term in ("vt100", "xterm", "screen"):
            with Screen("-g", TRAFFIC, term=term, locale="C", columns=80, lines=24) as screen:
                text = screen.until("bit/sv")
                self.assertTrue(text.isascii(), text)
                self.accounting(text)
                screen.keys("q")
                self.assertEqual(screen.status(), 0)

    def test_shows_which_flows_are_reduced_and_what_that_costs(self):
        states = tempfile.NamedTemporaryFile("w", suffix=".toml")
        self.addCleanup(states.close)
        states.write(STATES)
        states.flush()
        arguments = ("-g", TOO_MUCH, "--states", states.name, "--window", "20ms")
        with Screen(*arguments, flows="32Ki", columns=80, lines=24) as screen:
            screen.until(r"^overload adapt +tasks leave out flows \d+ % of the time +in all [\d.]+ of [\d.]+ s")
            screen.keys("w")
            screen.until(r"^heavy +\d+ +[\d.]+ %")
            text = screen.until(r"^retransmissions +([\d.]+|-) +([\d.]+|-) +0\.500 ")  # all flows may be left out
            for pattern in (
                r"no time for all packets in \d+ of \d+ windows, lately in",
                "decisions took",
                r"missed [\d.]+ ?[kMG]? of",
                r"^light ",
                r"^bursty ",
                r"latest 10 windows +recall +>= \(95 %\)",
                " offered = ",
            ):
                self.assertRegex(text, re.compile(pattern, re.M))
            self.assertNotRegex(text, r"(?m)^TCP ")
            screen.keys("w")
            screen.until("^TCP ")
            screen.keys("q")
            self.assertEqual(screen.status(), 0)

    @unittest.skipUnless(os.environ.get("PARSHALL_DPDK", "1") == "1", "SKIPPED: built without DPDK")
    def test_packets_go_on_marked_whatever_is_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/model.toml", "w", encoding="utf-8") as file:
                file.write(
                    'version = 1\nmodel = "c45"\npackets = 1\nlongest = 1500\nreject = 0\nclasses = '
                    '["any"]\n[training]\ndate = ""\n'
                    'command = ""\ncaptures = 0\nflows = [1]\n[c45]\nnodes = [\n  {flows = {"any" = 1}},\n]\n'
                )
            with open(folder + "/in.pcap", "wb") as file:
                frame = (
                    bytes(12)
                    + bytes.fromhex("0800450000290001000040110000")
                    + bytes([10, 0, 0, 1, 10, 0, 0, 2])
                    + bytes(26)
                )
                file.write(
                    struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
                    + struct.pack("<IIII", 1, 0, 60, 60)
                    + frame
                )
            devices = (
                "-i",
                f"vdev:net_pcap0,rx_pcap={folder}/in.pcap,infinite_rx=1",
                "--forward",
                "vdev:net_pcap1,tx_pcap=/dev/null",
            )
            with Screen(*devices, "--model", folder + "/model.toml") as screen:
                marked = lambda: int(
                    re.search(r"^forwarded \d+  (\d+) marked  0 not sent", screen.until("^forwarded"), re.M)[1]
                )
                screen.until("^forwarded")
                for key in ("d", "d", "g", "s", "f"):
                    screen.keys(key)
                    time.sleep(1.2)
                    before, end = marked(), time.monotonic() + 30
                    while marked() <= before:
                        self.assertLess(time.monotonic(), end, key)
                        time.sleep(0.1)
                screen.keys("q")
                self.assertEqual(screen.status(), 0)

    def test_refuses_what_it_cannot_draw_on(self):
        for term in ("no-such-terminal", "dumb", "''"):
            with Screen("-g", TRAFFIC, term=term.strip("'")) as screen:
                self.assertEqual(screen.status(), 1)
                self.assertRegex(screen.until("LEFT"), r'parshall watch: the terminal "')
        done = subprocess.run(
            [terminal_screen.PARSHALL, "watch", "--live", "-g", TRAFFIC], capture_output=True, text=True, timeout=20
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("--live needs a terminal", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    terminal_screen.PARSHALL = os.path.abspath(sys.argv.pop(1))
    if shutil.which("tmux") is None:
        print("SKIPPED: no tmux")
        sys.exit(0)
    side_by_side.main(terminal_screen.PARSHALL, lanes=2)
