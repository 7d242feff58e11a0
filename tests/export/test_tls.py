# SPDX-License-Identifier: Apache-2.0
"""IPFIX by TLS: to who shows a certificate that is believed, and to nobody else; and what becomes of records while the
collector is away.

usage: test_tls.py PARSHALL [unittest arguments]
"""

import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

from ipfix import Reader

PROGRAM = None
TRAFFIC = ["-g", "flows=20000,packets=1000000,ipv6=0.3", "--count", "200k", "--idle", "1ms"]


class Server(threading.Thread):
    """Takes connections, one after the other; ends each after so many bytes, if `limits` has one for it."""

    def __init__(self, context, limits=()):
        super().__init__()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(0.1)
        self.port, self.context, self.limits = self.socket.getsockname()[1], context, list(limits)
        self.stopping, self.sessions, self.wrong = False, [], []
        self.start()

    def run(self):
        while True:
            try:
                plain, _ = self.socket.accept()
            except TimeoutError:
                if self.stopping:
                    return
                continue
            plain.settimeout(20)
            try:
                connection = self.context.wrap_socket(plain, server_side=True)
            except (ssl.SSLError, OSError) as error:
                self.wrong.append(str(error))
                plain.close()
                continue
            self.read(connection, self.limits.pop(0) if self.limits else None)

    def read(self, connection, limit):
        """Decodes all messages at the end. On a busy machine that takes longer than a sender waits for its data to be
        acknowledged."""
        data = bytearray()
        with connection:
            while not limit or len(data) <= limit:
                try:
                    more = connection.recv(1 << 16)
                except (ssl.SSLError, OSError):
                    break
                if not more:
                    break
                data += more
        reader, at = Reader(), 0
        while len(data) >= at + 4 and len(data) >= at + (length := int.from_bytes(data[at + 2 : at + 4], "big")):
            reader.read(bytes(data[at : at + length]))
            at += length
        self.sessions.append(reader)

    def stop(self):
        self.stopping = True
        self.join()
        self.socket.close()
        return self.sessions


@unittest.skipUnless(shutil.which("openssl"), "SKIPPED: there is no openssl command")
class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.keys = pathlib.Path(cls.made.name)
        for authority in ("ca", "other"):
            cls.openssl(
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
                "-subj",
                f"/CN={authority}",
                "-keyout",
                f"{authority}.key",
                "-out",
                f"{authority}.pem",
            )
        cls.sign("here", "ca", "IP:127.0.0.1,DNS:collector.test")
        cls.sign("elsewhere", "ca", "DNS:elsewhere.test")
        cls.sign("client", "ca", "DNS:probe.test")
        options = subprocess.run(["openssl", "x509", "-help"], capture_output=True, text=True, check=True)
        times = ("-not_before", "20200101000000Z", "-not_after", "20200102000000Z")
        has_times = "-not_after" in options.stdout + options.stderr  # OpenSSL 3.4, which takes no days below 0
        cls.sign("expired", "ca", "IP:127.0.0.1", *(times if has_times else ("-days", "-1")))

    @classmethod
    def tearDownClass(cls):
        cls.made.cleanup()

    @classmethod
    def openssl(cls, *words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=cls.keys)

    @classmethod
    def sign(cls, name, authority, names, *more):
        cls.openssl(
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-subj",
            f"/CN={name}",
            "-keyout",
            f"{name}.key",
            "-out",
            f"{name}.csr",
        )
        (cls.keys / f"{name}.ext").write_text(f"subjectAltName={names}\n")
        cls.openssl(
            "x509",
            "-req",
            "-in",
            f"{name}.csr",
            "-CA",
            f"{authority}.pem",
            "-CAkey",
            f"{authority}.key",
            "-CAcreateserial",
            *(more or ("-days", "2")),
            "-extfile",
            f"{name}.ext",
            "-out",
            f"{name}.pem",
        )

    def server(self, name="here", limits=(), asks=False):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.keys / f"{name}.pem", self.keys / f"{name}.key")
        if asks:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.keys / "ca.pem")
        server = Server(context, limits)
        self.addCleanup(server.stop)
        return server

    def watch(self, port, *options, status=0, host="127.0.0.1"):
        target = ",".join([f"ipfix:tls://{host}:{port}", *options])
        done = subprocess.run(
            [PROGRAM, "watch", "-q", *TRAFFIC, "--format", "json", "--top", "1", "--export", target],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if "built without TLS" in done.stderr:
            self.skipTest("SKIPPED: built without TLS")
        self.assertEqual(done.returncode, status, done.stderr)
        if status:
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            return done.stderr
        summary = json.loads(done.stdout)["summary"]
        output = next(output for output in summary["outputs"] if output["name"].startswith("ipfix:"))
        self.assertEqual(
            output["offered"]["packets"],
            output["written"]["packets"] + output["unconfirmed"]["packets"] + output["dropped"]["packets"],
        )
        return summary, output

    def ca(self, name="ca"):
        return f"ca={self.keys / name}.pem"

    def test_all_comes_to_who_is_believed(self):
        for options in ((), ("name=collector.test",)):
            server = self.server()
            summary, output = self.watch(server.port, self.ca(), *options)
            (reader,) = server.stop()
            self.assertEqual(output["dropped"]["records"], 0)
            self.assertEqual(len(reader.flows), output["written"]["records"])
            self.assertEqual(sum(flow["packets"] for flow in reader.flows), summary["accounting"]["counted"])
            self.assertEqual(reader.gaps, 0)
            self.assertEqual(reader.accounting()[-1]["records"], len(reader.flows))

    def test_a_client_certificate_is_shown_where_it_is_asked_for(self):
        server = self.server(asks=True)
        _, output = self.watch(
            server.port, self.ca(), f"cert={self.keys / 'client.pem'}", f"key={self.keys / 'client.key'}"
        )
        (reader,) = server.stop()
        self.assertEqual(len(reader.flows), output["offered"]["records"])

    def test_nobody_else_is_sent_anything(self):
        for name, options, said in (
            ("here", (self.ca("other"),), "certificate for 127.0.0.1: "),
            ("elsewhere", (self.ca(),), "mismatch"),
            ("here", (self.ca(), "name=elsewhere.test"), "certificate for elsewhere.test: "),
            ("expired", (self.ca(),), "expired"),
            ("here", (), "certificate for 127.0.0.1: "),
        ):
            server = self.server(name)
            self.assertIn(said, self.watch(server.port, *options, status=1), (name, options))
            self.assertEqual(server.stop(), [], "no session")

    def test_who_speaks_no_tls_and_files_that_are_none_are_told_at_the_start(self):
        plain = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(plain.close)

        def answer():
            connection, _ = plain.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"220 hello\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        self.assertIn("no TLS with it", self.watch(plain.getsockname()[1], self.ca(), status=1))
        thread.join()
        server = self.server()
        for option, said in (
            ("ca=/absent", "ca=/absent: "),
            (f"cert={self.keys / 'client.csr'}", "cert="),
            (f"cert={self.keys / 'client.pem'},key={self.keys / 'ca.key'}", "key="),
        ):
            self.assertIn(
                said, self.watch(server.port, *(() if option.startswith("ca=") else (self.ca(),)), option, status=1)
            )

    def test_a_collector_that_goes_and_comes_back(self):
        """All that is said to be written came, and all that came is written or unconfirmed."""
        server = self.server(limits=[200_000])
        summary, output = self.watch(server.port, self.ca())
        sessions = server.stop()
        received = sum(len(reader.flows) for reader in sessions)
        self.assertLessEqual(output["written"]["records"], received)
        self.assertLessEqual(received, output["written"]["records"] + output["unconfirmed"]["records"])
        self.assertGreater(received, 0)
        self.assertEqual(summary["accounting"]["counted"], output["offered"]["packets"])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
