# SPDX-License-Identifier: Apache-2.0
"""A network of namespaces that is made for an experiment and removed at its end: client, router, server."""

import os
import shutil
import subprocess


def why_not():
    """Why it cannot be made here, or None."""
    if os.geteuid() != 0:
        return "namespaces are root's"
    if not shutil.which("ip"):
        return "there is no ip command (iproute2)"
    probe = f"parshall{os.getpid()}probe"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    subprocess.run(["ip", "netns", "del", probe], capture_output=True, check=False)
    return None if made.returncode == 0 else "no network namespaces: " + made.stderr.strip()


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Spaces:
    """Namespaces with what joins them, while the context lasts: they go at its end, whatever happened."""

    NAMES = ()
    _count = 0

    def __init__(self):
        Spaces._count += 1
        self.spaces = {name: f"parshall{os.getpid()}n{Spaces._count}{name}" for name in self.NAMES}

    def __enter__(self):
        try:
            for space in self.spaces.values():
                run("ip", "netns", "add", space)
            self._make()
            return self
        except BaseException:  # Ctrl-C, too
            self.__exit__()
            raise

    def __exit__(self, *_):
        for space in self.spaces.values():
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def start(self, name, *command, **options):
        """A command in one of them."""
        return subprocess.Popen(["ip", "netns", "exec", self.spaces[name], *map(str, command)], text=True, **options)


class Wire(Spaces):
    """sender (wire0) -- (wire0) nobody, by a veth pair without addresses."""

    NAMES = ("sender", "nobody")

    def _make(self):
        sender, nobody = self.spaces.values()
        run("ip", "-n", sender, "link", "add", "wire0", "type", "veth", "peer", "name", "wire0", "netns", nobody)
        for space in (sender, nobody):
            run("ip", "-n", space, "link", "set", "wire0", "up")


class RoutedNetwork(Spaces):
    """client (wire0) -- (client0) router (server0) -- (wire0) server, by veth pairs; the kernels forward and do TCP.

    The client may use a port again a second after its connection was closed, as the experiment's many connections from
    few ports want it.
    """

    NAMES = ("client", "router", "server")
    CLIENT = {4: "192.0.2.1", 6: "2001:db8:1::1"}
    SERVER = {4: "198.51.100.1", 6: "2001:db8:2::1"}
    GATEWAYS = {"client": {4: "192.0.2.254", 6: "2001:db8:1::fe"}, "server": {4: "198.51.100.254", 6: "2001:db8:2::fe"}}
    BITS = {4: "24", 6: "64"}

    def _make(self):
        for space in self.spaces.values():
            run("ip", "-n", space, "link", "set", "lo", "up")
        for name, addresses in (("client", self.CLIENT), ("server", self.SERVER)):
            self._join(name, addresses)
        self._set("router", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        self._set("client", "net.ipv4.tcp_tw_reuse=1")

    def _set(self, name, *settings):
        run("ip", "netns", "exec", self.spaces[name], "sysctl", "-qw", *settings)

    def _join(self, name, addresses):
        host, router = self.spaces[name], self.spaces["router"]
        run("ip", "-n", host, "link", "add", "wire0", "type", "veth", "peer", "name", f"{name}0", "netns", router)
        for version in (4, 6):
            nodad = ["nodad"] if version == 6 else []
            run(
                "ip", "-n", host, "address", "add", f"{addresses[version]}/{self.BITS[version]}", "dev", "wire0", *nodad
            )
            run(
                "ip",
                "-n",
                router,
                "address",
                "add",
                f"{self.GATEWAYS[name][version]}/{self.BITS[version]}",
                "dev",
                f"{name}0",
                *nodad,
            )
        run("ip", "-n", host, "link", "set", "wire0", "up")
        run("ip", "-n", router, "link", "set", f"{name}0", "up")
        for version in (4, 6):
            run("ip", f"-{version}", "-n", host, "route", "add", "default", "via", self.GATEWAYS[name][version])
