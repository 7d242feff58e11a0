# SPDX-License-Identifier: Apache-2.0
"""What `parshall watch` tells a service manager, as systemd would hear it.

usage: test_service.py PARSHALL [unittest arguments]
"""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv.pop(1)
PATIENCE_S = 20  # on a busy machine


class Manager:
    """A service manager's socket, and one service."""

    def __init__(self, folder, *arguments, watchdog_us=None, pid=None, abstract=False):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        name = f"@parshall-test-{os.getpid()}" if abstract else str(pathlib.Path(folder, "notify"))
        self._socket.bind("\0" + name[1:] if abstract else name)
        environment = os.environ | {"NOTIFY_SOCKET": name}
        if watchdog_us is not None:
            environment |= {"WATCHDOG_USEC": str(watchdog_us)} | ({"WATCHDOG_PID": str(pid)} if pid else {})
        self.process = subprocess.Popen(
            [PROGRAM, "watch", "-q", *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def hear(self, within_s=PATIENCE_S):
        """The next notice's lines; none in that time."""
        self._socket.settimeout(within_s)
        with contextlib.suppress(TimeoutError):
            return self._socket.recv(4096).decode().splitlines()
        return None

    def hear_until(self, wanted, within_s=PATIENCE_S):
        """All notices up to one that begins so."""
        heard, until = [], time.monotonic() + within_s
        while time.monotonic() < until:
            lines = self.hear(max(0.01, until - time.monotonic()))
            if lines is None:
                break
            heard.append(lines)
            if lines[0].startswith(wanted):
                return heard
        raise AssertionError(f"no {wanted} in {heard}: {self.process.poll()}")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        heard = self.hear_until("STOPPING=1")
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return heard, self.process.returncode, out, err

    def close(self):
        self._socket.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Service(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def manage(self, *arguments, **options):
        manager = Manager(self.folder, *arguments, **options)
        self.addCleanup(manager.close)
        return manager

    def test_it_is_ready_once_packets_are_counted_says_how_it_goes_and_that_it_stops(self):
        for abstract in False, True:
            manager = self.manage("-g", "flows=9,pace=1000", "--format", "json", abstract=abstract)
            self.assertEqual(manager.hear(), ["READY=1"])
            first = manager.hear_until("STATUS=")[-1]
            self.assertRegex(first[0], r"^STATUS=\d+ packets counted, \d+ lost$")
            began = time.monotonic()
            manager.hear_until("STATUS=")
            self.assertGreater(time.monotonic() - began, 0.5)
            heard, status, out, err = manager.end()
            self.assertEqual(status, 0, err)
            self.assertNotIn(["WATCHDOG=1"], heard)  # nobody asked
            self.assertIn(b'"balanced":true', out)
            os.path.exists(f"{self.folder}/notify") and os.unlink(f"{self.folder}/notify")

    def test_a_watchdog_hears_of_it_as_long_as_it_goes_on(self):
        manager = self.manage("-g", "flows=9,pace=1000", "--workers", "1", watchdog_us=400_000)
        manager.hear_until("WATCHDOG=1")
        heard = sum((manager.hear_until("WATCHDOG=1") for _ in range(5)), [])
        self.assertGreaterEqual(heard.count(["WATCHDOG=1"]), 5)
        manager.process.send_signal(signal.SIGSTOP)
        while manager.hear(0.3) is not None:  # what was on its way
            pass
        self.assertIsNone(manager.hear(1))
        manager.process.send_signal(signal.SIGCONT)
        manager.hear_until("WATCHDOG=1")
        self.assertEqual(manager.end()[1], 0)

    def test_the_watchdog_of_another_process_hears_nothing(self):
        manager = self.manage("-g", "flows=9,pace=1000", watchdog_us=400_000, pid=1)
        heard = manager.hear_until("READY=1") + [manager.hear() for _ in range(3)]
        self.assertNotIn(["WATCHDOG=1"], heard)
        self.assertEqual(manager.end()[1], 0)

    def test_a_configuration_that_is_read_again_is_told(self):
        configuration = pathlib.Path(self.folder, "link.toml")
        configuration.write_text('generate = "flows=9,pace=1000"\n')
        manager = self.manage("--config", str(configuration), "--format", "json")
        manager.hear_until("STATUS=")
        configuration.write_text(
            f'generate = "flows=9,pace=1000"\n[[export]]\nkind = "csv"\ntarget = "{self.folder}/flows.csv"\n'
        )
        manager.process.send_signal(signal.SIGHUP)
        reloading = manager.hear_until("RELOADING=1")[-1]
        self.assertRegex(reloading[1], r"^MONOTONIC_USEC=\d+$")
        self.assertLess(abs(int(reloading[1].split("=")[1]) - time.monotonic_ns() // 1000), PATIENCE_S * 1_000_000)
        manager.hear_until("READY=1")
        _, status, _, err = manager.end()
        self.assertEqual(status, 0, err)
        self.assertTrue(pathlib.Path(self.folder, "flows.csv").exists(), err)

    def test_a_watchdog_hears_of_it_while_collectors_that_say_nothing_are_waited_for(self):
        """TLS with each takes all the time that it may; of all of them together that is longer than a watchdog
        waits."""
        collectors = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
        for collector in collectors:
            self.addCleanup(collector.close)
        configuration = pathlib.Path(self.folder, "link.toml")
        configuration.write_text('generate = "flows=9,pace=1000"\n')
        manager = self.manage("--config", str(configuration), "-o", "/dev/null", watchdog_us=2_000_000)
        manager.hear_until("WATCHDOG=1")
        tables = [
            f'[[export]]\nkind = "ipfix"\ntarget = "tls://127.0.0.1:{collector.getsockname()[1]}"\n'
            for collector in collectors
        ]
        configuration.write_text('generate = "flows=9,pace=1000"\n' + "".join(tables))
        manager.process.send_signal(signal.SIGHUP)
        began = last = time.monotonic()
        longest_s, line = 0, ""
        while line != "READY=1":
            line = manager.hear()[0]
            now = time.monotonic()
            if line == "WATCHDOG=1":
                longest_s, last = max(longest_s, now - last), now
        if now - began < 6:
            self.skipTest("built without TLS")
        self.assertLess(longest_s, 0.6 * (now - began))

    def test_a_manager_that_is_gone_or_no_socket_at_all_changes_nothing(self):
        for name in (f"{self.folder}/nowhere", "", "relative", "/" + 200 * "x", "@"):
            done = subprocess.run(
                [PROGRAM, "watch", "-q", "-g", "flows=9", "--count", "1000"],
                env=os.environ | {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "x"},
                capture_output=True,
                check=False,
                timeout=PATIENCE_S,
            )
            self.assertEqual(done.returncode, 0, (name, done.stderr))

    def test_who_does_not_read_holds_nothing_up(self):
        manager = self.manage("-g", "flows=9,pace=100000", "--duration", "4s", "--format", "json", watchdog_us=400)
        out, err = manager.process.communicate(timeout=PATIENCE_S)
        self.assertEqual(manager.process.returncode, 0, err)
        self.assertIn(b'"balanced":true', out)


if __name__ == "__main__":
    unittest.main()
