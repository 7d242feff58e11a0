# SPDX-License-Identifier: Apache-2.0
"""The link that is watched, and what else is made for a run: namespaces, a small disk; all removed at the end."""

import contextlib
import pathlib
import socket
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "live"))
import netns

why_not = netns.why_not


class Link(netns.VethPair):
    """`wire0` sends, `tap0` is watched; collectors and web clients are on the loopback where `tap0` is."""

    def __enter__(self):
        super().__enter__()
        subprocess.run(["ip", "-n", self.rx_space, "link", "set", "lo", "up"], check=True)
        return self

    def inside(self, *command):
        return ["ip", "netns", "exec", self.rx_space, *map(str, command)]

    def sending(self, *command):
        return ["ip", "netns", "exec", self.tx_space, *map(str, command)]

    def socket(self, *kind):
        """A socket of the namespace of `tap0`."""
        back = netns.in_namespace(self.rx_space)
        try:
            return socket.socket(*kind)
        finally:
            back()

    @contextlib.contextmanager
    def counters(self):
        """A function that gives what the kernel counted, at both ends."""
        with contextlib.ExitStack() as stack:
            files = {}
            for space, device, names in (
                (self.rx_space, "tap0", ("rx_packets", "rx_dropped", "tx_packets")),
                (self.tx_space, "wire0", ("tx_packets", "tx_dropped")),
            ):
                # /proc/net of a thread that moved there, kept open: reading it again gives new numbers of that
                # namespace
                back = netns.in_namespace(space)
                try:
                    files[device] = stack.enter_context(open("/proc/thread-self/net/dev", encoding="ascii")), names
                finally:
                    back()

            def read():
                found = {}
                columns = {"rx_packets": 1, "rx_dropped": 3, "tx_packets": 9, "tx_dropped": 11}
                for device, (file, names) in files.items():
                    file.seek(0)
                    (line,) = (line for line in file if line.strip().startswith(device + ":"))
                    words = line.split(":", 1)[1].split()
                    found |= {f"{device}_{name}": int(words[columns[name]]) for name in names}
                return found

            yield read


class Disk:
    """A file system of its own, in memory, that is small enough to be filled."""

    def __init__(self, folder, mb):
        self.folder, self.mb = pathlib.Path(folder), mb
        self._ballast = self.folder / "ballast"

    def __enter__(self):
        self.folder.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.mb}m", "tmpfs", str(self.folder)], check=True)
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", str(self.folder)], check=False)

    def fill(self):
        """Leaves no byte; returns how many that took."""
        size = 0
        with open(self._ballast, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                size += file.write(bytes(1 << 16))
        return size

    def free(self):
        self._ballast.unlink(missing_ok=True)
