#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The static tarball in a root that holds nothing else: captures, interfaces, exports, names, the sandbox, the web page
and the live view; how its programs are hardened. Prints how long each command took. Needs root, and no network.

usage: test_static.py TARBALL [unittest arguments]
"""

import contextlib
import ctypes
import http.client
import http.server
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "export"), str(HERE.parent.parent / "tools")]
import kafka_broker
import write_capture
from ipfix import Reader

TARBALL = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
PACKETS = write_capture.PACKETS
CLONE_NEWNET, CLONE_NEWNS = 0x40000000, 0x20000
RESOLVER = "127.0.0.53"
CHROOT = shutil.which("chroot") or "/usr/sbin/chroot"


def own_network():
    """Moves this process into a network of its own, so that nothing but its tests is in it."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET | CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    for words in (
        "link set lo up",
        "link add wire0 type veth peer name tap0",
        "addr add 192.0.2.1/24 dev wire0",  # librdkafka resolves no broker on a machine that has only lo
        "link set wire0 up",
        "link set tap0 up",
    ):
        subprocess.run(["ip", *words.split()], check=True)


def needed():
    """Why these tests cannot run, or None."""
    if os.geteuid() != 0:
        return "not root"
    missing = [name for name in ("ip", "readelf", "openssl", "tar") if not shutil.which(name)]
    return f"there is no {missing[0]} command" if missing else None


class Root:
    """A folder with the unpacked tarball alone, as the root of a process."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp())
        began = time.monotonic()
        subprocess.run(["tar", "-xzf", TARBALL, "-C", self.path, "--strip-components=1"], check=True)
        print(f"{time.monotonic() - began:6.2f} s  unpacked ({os.path.getsize(TARBALL) / 1e6:.1f} MB)")
        (self.path / "out").mkdir()
        write_capture.main(self.path / "out" / "capture.pcap")

    def remove(self):
        subprocess.run(["umount", "-l", self.path / "proc"], capture_output=True, check=False)
        shutil.rmtree(self.path)

    def command(self, *words):
        return [CHROOT, self.path, "/bin/parshall", *words]

    def run(self, *words, expect=0, environment=None):
        began = time.monotonic()
        done = subprocess.run(
            self.command(*words), capture_output=True, text=True, timeout=120, env=environment or {}, check=False
        )
        print(f"{time.monotonic() - began:6.2f} s  parshall {' '.join(words)}")
        if done.returncode != expect:
            raise AssertionError(f"parshall {' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    @contextlib.contextmanager
    def running(self, *words):
        process = subprocess.Popen(
            self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={}
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Root()
        cls.addClassCleanup(cls.root.remove)

    def out(self, name):
        return self.root.path / "out" / name

    def watch(self, *words, **options):
        return self.root.run("watch", "-r", "/out/capture.pcap", *words, **options)


class Sink(threading.Thread):
    """Takes what comes to a port until it is stopped; UDP, TCP or TLS."""

    def __init__(self, kind=socket.SOCK_STREAM, context=None):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, kind)
        self.socket.bind(("127.0.0.1", 0))
        self.port, self.kind, self.context, self.messages, self.wrong = (
            self.socket.getsockname()[1],
            kind,
            context,
            [],
            "",
        )
        if kind == socket.SOCK_STREAM:
            self.socket.listen()
        else:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            self.socket.settimeout(0.1)
        self.stopping = False
        self.start()

    def run(self):
        if self.kind == socket.SOCK_DGRAM:
            while True:
                try:
                    self.messages.append(self.socket.recv(1 << 16))
                except TimeoutError:
                    if self.stopping:
                        return
        try:
            connection, _ = self.socket.accept()
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            data = b""
            with connection:
                while more := connection.recv(1 << 16):
                    data += more
        except OSError as error:
            self.wrong = str(error)
            return
        while len(data) >= 4:
            length = int.from_bytes(data[2:4], "big")
            self.messages.append(data[:length])
            data = data[length:]

    def packets(self, test):
        """Packets in the records that came, decoded by a reader that shares no code with the program."""
        self.stopping = True
        self.join(20)
        self.socket.close()
        test.assertEqual(self.wrong, "")
        reader = Reader()
        for message in self.messages:
            reader.read(message)
        return sum(flow["packets"] for flow in reader.flows)


class Nothing(Case):
    """No file of a system: no C library, no /etc, no /proc, no /dev, no /tmp."""

    def test_the_root_is_empty_but_for_the_tarball(self):
        self.assertEqual(sorted(os.listdir(self.root.path)), ["LICENSE", "bin", "lib", "out", "share"])

    def test_a_capture_is_counted(self):
        self.assertIn(f"accounting {PACKETS} offered = {PACKETS} counted\n", self.watch().stdout)

    def test_records_become_files_that_add_up(self):
        for kind, name in (
            ("csv", "flows.csv"),
            ("jsonl", "flows.jsonl"),
            ("parquet", "flows"),
            ("ipfix", "flows.ipfix"),
        ):
            with self.subTest(kind):
                self.watch("--export", f"{kind}:/out/{name}", "-o", "/out/report")
                if kind != "csv":  # it has no account
                    self.assertIn("it adds up", self.root.run("verify", f"/out/{name}").stdout)
        lines = self.out("flows.csv").read_text().splitlines()
        column = lines[0].split(",").index("packets")
        self.assertEqual(sum(int(line.split(",")[column]) for line in lines[1:] if not line.startswith("#")), PACKETS)

    def test_records_go_to_collectors_by_udp_tcp_and_tls(self):
        keys = self.out("keys")
        keys.mkdir()
        subprocess.run(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=here"
            " -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem".split(),
            check=True, capture_output=True, cwd=keys,
        )  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keys / "cert.pem", keys / "key.pem")
        for kind, sink, more in (
            ("udp", Sink(socket.SOCK_DGRAM), ""),
            ("tcp", Sink(), ""),
            ("tls", Sink(context=context), ",ca=/out/keys/cert.pem"),
        ):
            with self.subTest(kind):
                self.watch("--export", f"ipfix:{kind}://127.0.0.1:{sink.port}{more}", "-o", "/out/report")
                self.assertEqual(sink.packets(self), PACKETS)

    def test_records_go_to_kafka(self):
        broker = kafka_broker.Broker()
        self.addCleanup(broker.stop)
        self.watch("--export", f"kafka:127.0.0.1:{broker.port}/flows,format=json,compression=gzip", "-o", "/out/report")
        flows = [json.loads(line) for value in broker.values("flows") for line in value.decode().splitlines()]
        self.assertEqual(sum(flow["packets"] for flow in flows), PACKETS)

    def test_an_alarm_goes_to_a_webhook(self):
        came = []

        class Hook(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802 (the name that http.server asks for)
                came.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_port}/hook"
            self.watch("--task", "heavy=packets > 1000", "--export", f"webhook:{url}", "-o", "/out/report")
            server.shutdown()
        self.assertTrue(came)

    def test_an_interface_is_watched(self):
        with self.root.running("watch", "-i", "tap0", "--count", "1000", "--format", "json") as watching:
            self.until_it_waits(watching)
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
                wire.bind(("wire0", 0))
                for i in range(1000):
                    wire.send(write_capture.frame(i % write_capture.FLOWS, 100))
            out, error = watching.communicate(timeout=60)
        self.assertEqual(watching.returncode, 0, error)
        self.assertGreater(json.loads(out)["summary"]["accounting"]["counted"], 950)  # others may be the kernel's own

    def test_a_run_has_only_the_rights_it_needs(self):
        """Without /proc, threads that began before the sandbox cannot be found: nothing else is missing."""
        with self.root.running("watch", "-i", "tap0") as watching:
            self.until_it_waits(watching)
            status = pathlib.Path(f"/proc/{watching.pid}/status").read_text()
            watching.terminate()
            _, error = watching.communicate(timeout=60)
        self.assertRegex(status, r"(?m)^Seccomp:\s+2$")
        self.assertRegex(status, r"(?m)^NoNewPrivs:\s+1$")
        lacks = re.findall("the sandbox cannot hold back (.*)", error)
        self.assertEqual(len(lacks), 1, error)
        self.assertRegex(lacks[0], r"^threads that started before it[^;]*$")

    def test_the_page_and_the_metrics_are_served(self):
        words = ("watch", "-i", "lo", "--web", "127.0.0.1:8080", "--export", "prometheus:127.0.0.1:9090")
        began = time.monotonic()
        with self.root.running(*words) as watching:
            self.assertIn("<!doctype html", self.page(watching, 8080, "/").lower())
            metrics = self.page(watching, 9090, "/metrics")
            self.assertRegex(metrics, r"(?m)^parshall_\w+(\{.*\})? \d")
        print(f"{time.monotonic() - began:6.2f} s  page and metrics")

    def test_the_live_view_shows_conversations(self):
        rows = r"(?s)proto.*(TCP|UDP)"
        for term in ("xterm-256color", "linux", "screen-256color", "vt100"):
            with self.subTest(term):
                began = time.monotonic()
                words = ("watch", "-g", "flows=9,pace=10000", "--live", "-o", "/out/live")
                drawn, status = self.screen(term, words, rows)
                self.assertRegex(drawn, rows)
                self.assertEqual(status, 0)
                print(f"{time.monotonic() - began:6.2f} s  live view in {term}")

    def test_an_unknown_terminal_is_refused(self):
        drawn, status = self.screen("no-such-terminal", ("watch", "-g", "flows=9", "--live"), "unknown")
        self.assertIn("is unknown here", drawn)
        self.assertEqual(status, 1)

    def test_the_program_becomes_the_lab_and_the_tester(self):
        for words, file in ((("list", "hashes"), "parshall-lab"), (("list", "scenarios"), "parshall-test")):
            with self.subTest(file):
                if not (self.root.path / "bin" / file).exists():
                    self.skipTest(f"{file} is not in the tarball")
                self.assertGreater(len(self.root.run(*words).stdout.splitlines()), 1)

    def test_dpdk_is_said_to_be_left_out(self):
        done = self.root.run("watch", "-i", "vdev:net_null0", "--count", "1", expect=1)
        self.assertIn("without DPDK", done.stderr)

    def until_it_waits(self, process):
        """Until its packet socket is there and the sandbox is on."""
        end = time.monotonic() + 30
        while "Seccomp:\t2" not in pathlib.Path(f"/proc/{process.pid}/status").read_text():
            self.assertIsNone(process.poll(), process.communicate()[1] if process.poll() is not None else "")
            self.assertLess(time.monotonic(), end, "it does not begin")
            time.sleep(0.02)
        time.sleep(0.2)

    def page(self, process, port, path):
        end = time.monotonic() + 30
        while True:
            self.assertIsNone(process.poll())
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                connection.request("GET", path)
                answer = connection.getresponse()
                self.assertEqual(answer.status, 200)
                return answer.read().decode()
            except ConnectionRefusedError:
                self.assertLess(time.monotonic(), end, f"nobody listens at {port}")
                time.sleep(0.05)

    def screen(self, term, words, awaited):
        """Returns (all that the program draws in a terminal, its status). Types `q` once the awaited is drawn."""
        child, terminal = pty.fork()
        if child == 0:
            os.execve(CHROOT, self.root.command(*words), {"TERM": term})
        drawn, is_left, end = b"", False, time.monotonic() + 30
        with contextlib.suppress(OSError):  # the program has ended
            while time.monotonic() < end:
                if select.select([terminal], [], [], 0.1)[0]:
                    drawn += os.read(terminal, 1 << 16)
                if not is_left and re.search(awaited.encode(), drawn):
                    is_left = True
                    os.write(terminal, b"q")
            os.kill(child, signal.SIGKILL)
        os.close(terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return drawn.decode(errors="replace"), status


class Processes(Case):
    """The same root with /proc, which the sandbox needs to find threads that are there already."""

    def test_the_sandbox_is_whole(self):
        self.assertIn("/proc does not list them", self.watch("--sandbox", "require", expect=1).stderr)
        (self.root.path / "proc").mkdir()
        subprocess.run(["mount", "-t", "proc", "proc", self.root.path / "proc"], check=True)
        self.assertIn(" counted\n", self.watch("--sandbox", "require").stdout)


class Names(Case):
    """The same root with /etc/resolv.conf."""

    def test_a_collector_is_found_by_its_name(self):
        (self.root.path / "etc").mkdir()
        (self.root.path / "etc" / "resolv.conf").write_text(f"nameserver {RESOLVER}\n")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
            resolver.bind((RESOLVER, 53))
            asked = []
            threading.Thread(target=self.answer, args=(resolver, asked), daemon=True).start()
            sink = Sink(socket.SOCK_DGRAM)
            self.watch("--export", f"ipfix:udp://collector.test:{sink.port}", "-o", "/out/report")
        self.assertEqual(sink.packets(self), PACKETS)
        self.assertIn(b"\x09collector\x04test\x00", asked)

    def test_an_unknown_name_is_said(self):
        done = self.watch("--export", "ipfix:udp://nowhere.invalid:4739", "-o", "/out/report", expect=1)
        self.assertIn("nowhere.invalid", done.stderr)

    @staticmethod
    def answer(resolver, asked):
        """Says 127.0.0.1 to each question for an IPv4 address, and nothing to others."""
        with contextlib.suppress(OSError):
            while True:
                question, sender = resolver.recvfrom(512)
                name = question[12 : question.index(0, 12) + 1]
                asked.append(name)
                kind = struct.unpack_from(">H", question, 12 + len(name))[0]
                record = b"\xc0\x0c" + struct.pack(">HHIH4B", 1, 1, 60, 4, 127, 0, 0, 1) if kind == 1 else b""
                head = question[:2] + struct.pack(">HHHHH", 0x8180, 1, bool(record), 0, 0)
                resolver.sendto(head + question[12 : 16 + len(name)] + record, sender)


class Hardening(Case):
    def programs(self):
        found = [path for path in self.root.path.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
        self.assertGreaterEqual(len(found), 2)
        return found

    def readelf(self, what, path):
        return subprocess.run(["readelf", "--wide", what, path], capture_output=True, text=True, check=True).stdout

    def test_each_program_is_static_and_loaded_anywhere(self):
        for path in self.programs():
            with self.subTest(str(path)):
                self.assertRegex(self.readelf("--file-header", path), r"Type:\s+DYN")
                self.assertNotIn("INTERP", self.readelf("--program-headers", path))
                self.assertNotIn("NEEDED", self.readelf("--dynamic", path))

    def test_two_runs_are_at_two_addresses(self):
        places = set()
        for _ in range(3):
            with self.root.running("watch", "-i", "lo") as process:
                maps = pathlib.Path(f"/proc/{process.pid}/maps")
                end = time.monotonic() + 20
                while "/lib/parshall/" not in (text := maps.read_text()):
                    self.assertLess(time.monotonic(), end)
                places.add(next(line for line in text.splitlines() if "/lib/parshall/" in line).split("-")[0])
        self.assertEqual(len(places), 3)

    def test_what_is_relocated_is_read_only_and_no_stack_is_executable(self):
        for path in self.programs():
            with self.subTest(str(path)):
                headers = self.readelf("--program-headers", path)
                self.assertIn("GNU_RELRO", headers)
                self.assertRegex(headers, r"GNU_STACK .* RW ")
                self.assertNotRegex(headers, r"LOAD .* RWE ")
                self.assertRegex(self.readelf("--dynamic", path), r"BIND_NOW|FLAGS_1.*NOW")


class Contents(Case):
    def test_everything_belongs_to_root_and_nobody_else_may_write(self):
        listing = subprocess.run(
            ["tar", "-tvzf", TARBALL, "--numeric-owner"], capture_output=True, text=True, check=True
        ).stdout
        for line in listing.splitlines():
            self.assertRegex(line, r"^[-d]r[-w][-x]r-[-x]r-[-x] 0/0 ")

    def test_the_terms_of_what_is_linked_in_are_there(self):
        folder = self.root.path / "share/doc/parshall/licences"
        readme = (folder / "README").read_text()
        listed = {line.split()[0] for line in readme.split("\n\n")[1].splitlines()}
        self.assertEqual(listed, set(os.listdir(folder)) - {"README"})
        self.assertLessEqual({"libc6-dev", "libfmt-dev", "libssl-dev", "libpcap-dev", "libmuparser-dev"}, listed)
        # librdkafka has a copy of LZ4 of its own, which would have none of Debian's security updates.
        self.assertRegex(readme, "(?m)^liblz4-dev .* static library$")

    def test_there_is_a_manual_page_a_completion_and_a_page(self):
        share = self.root.path / "share"
        for name in (
            "man/man1/parshall-watch.1",
            "bash-completion/completions/parshall",
            "doc/parshall/docs/operating.md",
        ):
            self.assertTrue((share / name).stat().st_size, name)

    def test_no_path_of_the_machine_that_built_it_is_in_it(self):
        for path in (self.root.path / "lib").rglob("parshall*"):
            if path.is_file():
                self.assertEqual(path.read_bytes().count(os.fsencode(HERE.parent.parent)), 0, path)


if __name__ == "__main__":
    if not TARBALL:
        sys.exit(__doc__.splitlines()[-1])
    if problem := needed():
        print(f"SKIPPED the static tarball: {problem}")
        sys.exit(77)
    own_network()
    unittest.main()
