# SPDX-License-Identifier: Apache-2.0
"""Alarms by syslog (RFC 5424) and by HTTP: what receivers get, and what becomes of alarms while they are away.

usage: test_receivers.py PARSHALL [unittest arguments]
"""

import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tasks"))
import traffic

PROGRAM = None
TASK = "any:window=10ms,hold-off=5ms:packets > 0"
HOSTS = 25
SYSLOG = re.compile(
    r"<(?P<priority>\d{1,3})>1 (?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) "
    r"(?P<host>\S{1,255}) parshall (?P<pid>\d+) "
    r"(?P<task>[!-~]{1,32}) \[alarm@32473(?P<data>( [a-z]+=\"([^\"\\\]]|\\[\"\\\]])*\")+)\] (?P<text>[ -~]+)"
)


class Receiver:
    """Base of what listens until it is told to stop."""

    def __enter__(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.thread.join()


class Datagrams(Receiver):
    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.1)
        self.port, self.stopping, self.messages = self.socket.getsockname()[1], False, []

    def run(self):
        while True:
            try:
                self.messages.append(self.socket.recv(65536).decode())
            except TimeoutError:
                if self.stopping:
                    break
        self.socket.close()

    def stop(self):
        self.stopping = True


def unframed(data):
    """Messages of a stream with counted octets; what is left of the last one must be nothing."""
    messages = []
    while data:
        count, _, rest = data.partition(b" ")
        assert len(rest) >= int(count), data
        messages.append(rest[: int(count)].decode())
        data = rest[int(count) :]
    return messages


class Stream(Receiver):
    def __init__(self, port=0, context=None):
        self.socket = socket.create_server(("127.0.0.1", port))
        self.socket.settimeout(0.1)
        self.port, self.context, self.stopping, self.data = self.socket.getsockname()[1], context, False, b""

    @property
    def messages(self):
        return unframed(self.data)

    def run(self):
        while not self.stopping:
            try:
                connection, _ = self.socket.accept()
            except TimeoutError:
                continue
            connection.settimeout(20)
            try:
                with self.context.wrap_socket(connection, server_side=True) if self.context else connection as reader:
                    while more := reader.recv(65536):
                        self.data += more
            except (OSError, ssl.SSLError):
                pass
        self.socket.close()

    def stop(self):
        self.stopping = True


class Web(Receiver):
    """Answers the first requests by these statuses, and later ones by 200."""

    def __init__(self, statuses=(), port=0, delay_s=0):
        outer = self
        self.requests, self.statuses, self.delay_s = [], list(statuses), delay_s

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802 - the library's name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(outer.delay_s)
                status = outer.statuses.pop(0) if outer.statuses else 200
                outer.requests.append((status, self.path, dict(self.headers), json.loads(body)))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]

    def run(self):
        self.server.serve_forever(poll_interval=0.05)
        self.server.server_close()

    def stop(self):
        self.server.shutdown()


class Alarms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="parshall-receivers-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.capture = str(self.folder / "it.pcap")
        step_ns = 20_000_000
        begin_ns = traffic.BEGIN_NS // step_ns * step_ns
        packets = [traffic.packet(begin_ns + i * step_ns, f"10.1.0.{i}", "10.2.0.1") for i in range(HOSTS)]
        traffic.write_capture(self.capture, packets)

    def watch(self, target, *arguments, status=0, source=None, task=TASK, form="json"):
        """Sets the alarms that receivers are to get, the account of the output, and what was said."""
        file = self.folder / "alarms.jsonl"
        done = subprocess.run(
            [PROGRAM, "watch", *(source or [self.capture]), "--task", task, "--export", f"alarms:{file}"]
            + ["--export", target, "--format", form, "--top", "1", "--flows", "1024", *arguments],
            capture_output=True,
            text=True,
            timeout=100,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        self.said, self.report = done.stderr, done.stdout
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        self.told = [line for line in lines if line["alarm"] != "open" and not line["muted"]]
        if form == "text":
            return
        name = target.partition(",")[0]
        (output,) = (
            each
            for each in json.loads(done.stdout)["summary"]["outputs"]
            if each["name"].startswith(name.split(":")[0])
        )
        states = ("offered", "written", "unconfirmed", "dropped")
        self.account = {state: output[state]["findings"] for state in states}
        self.assertEqual(self.account["offered"], len(self.told))
        self.assertEqual(self.account["offered"], sum(self.account[state] for state in states[1:]))

    def check_syslog(self, messages):
        self.assertEqual(len(messages), len(self.told))
        for message, alarm in zip(messages, self.told):
            parts = SYSLOG.fullmatch(message)
            self.assertTrue(parts, message)
            data = dict(re.findall(r' ([a-z]+)="((?:[^"\\]|\\.)*)"', parts["data"]))
            self.assertEqual(int(parts["priority"]) & 7, {"info": 6, "warning": 4, "critical": 2}[alarm["severity"]])
            self.assertEqual(
                (data["id"], data["state"], data["task"], data["key"], data["value"]),
                (alarm["id"], alarm["alarm"], alarm["task"], alarm["key_text"], alarm["value"]["name"]),
            )
            self.assertEqual(float(data["peak"]), alarm["value"]["peak"])
            at = alarm["end" if alarm["alarm"] == "ended" else "begin"]
            self.assertEqual(parts["time"], at[:-4] + "Z")
            self.assertIn(alarm["key_text"], parts["text"])


class Syslog(Alarms):
    def test_by_udp_each_is_a_datagram(self):
        with Datagrams() as receiver:
            self.watch(f"syslog:udp://127.0.0.1:{receiver.port},facility=local3")
            time.sleep(0.3)
        self.check_syslog(receiver.messages)
        self.assertEqual({int(SYSLOG.fullmatch(message)["priority"]) >> 3 for message in receiver.messages}, {19})
        self.assertEqual(self.account["written"], 2 * HOSTS - 1)

    def test_by_tcp_octets_are_counted(self):
        with Stream() as receiver:
            self.watch(f"syslog:tcp://127.0.0.1:{receiver.port}")
            time.sleep(0.3)
        self.check_syslog(receiver.messages)
        self.assertEqual(self.account["written"], 2 * HOSTS - 1)

    @unittest.skipUnless(shutil.which("openssl"), "SKIPPED: there is no openssl command")
    def test_by_tls_to_who_shows_a_certificate(self):
        cert, key = self.folder / "cert.pem", self.folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-keyout", key, "-out", cert, "-days", "1", "-subj", "/CN=logs", "-addext", "subjectAltName=DNS:logs"],
            check=True,
            capture_output=True,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        with Stream(context=context) as receiver:
            self.watch(f"syslog:tls://127.0.0.1:{receiver.port},ca={cert},name=logs")
            time.sleep(0.3)
        self.check_syslog(receiver.messages)
        with Stream(context=context) as receiver, unittest.mock.patch.dict(os.environ, SSL_CERT_FILE=str(cert)):
            self.watch(f"syslog:tls://127.0.0.1:{receiver.port},name=logs")
            time.sleep(0.3)
        self.check_syslog(receiver.messages)
        with Stream(context=context) as receiver:
            self.watch(f"syslog:tls://127.0.0.1:{receiver.port},ca={cert},name=other", status=1)
        self.assertEqual((receiver.data, self.account["dropped"]), (b"", len(self.told)))

    def test_muted_alarms_and_those_that_are_open_at_the_end_are_for_nobody(self):
        with Datagrams() as receiver:
            self.watch(f"syslog:udp://127.0.0.1:{receiver.port}", "--alarms", "mute=10.1.0.0/28")
            time.sleep(0.3)
        self.check_syslog(receiver.messages)
        self.assertEqual(sum('state="began"' in message for message in receiver.messages), HOSTS - 16)

    def test_nobody_there_is_told_and_counted(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        self.watch(f"syslog:tcp://127.0.0.1:{port}", status=1)
        self.assertIn("Connection refused", self.said)
        self.assertEqual(self.account["dropped"], len(self.told))

    def test_a_receiver_that_comes_later_gets_all(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        late = []

        def come():
            time.sleep(2)
            late.append(Stream(port))
            late[0].__enter__()

        waiting = threading.Thread(target=come)
        waiting.start()
        self.watch(f"syslog:tcp://127.0.0.1:{port}", source=["-g", "flows=10,pace=1000", "--duration", "5s"])
        waiting.join()
        time.sleep(0.3)
        late[0].__exit__()
        self.assertGreater(len(self.told), 5)
        self.check_syslog(late[0].messages)

    def test_wrong_targets_are_named(self):
        for target, mention in (
            ("syslog:127.0.0.1", "udp://HOST:PORT"),
            ("syslog:udp://127.0.0.1,facility=nothing", "facility"),
            ("syslog:udp://127.0.0.1:0", "port"),
            ("syslog:udp://127.0.0.1,colour=red", "colour"),
        ):
            done = subprocess.run(
                [PROGRAM, "watch", self.capture, "--task", TASK, "--export", target], capture_output=True, text=True
            )
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(mention, done.stderr)


class Webhook(Alarms):
    def test_alarms_come_as_json(self):
        with Web() as receiver:
            self.watch(f"webhook:http://127.0.0.1:{receiver.port}/hooks/1?x=y,probe=here")
        self.assertEqual({path for _, path, _, _ in receiver.requests}, {"/hooks/1?x=y"})
        self.assertEqual({headers["Content-Type"] for _, _, headers, _ in receiver.requests}, {"application/json"})
        bodies = [body for _, _, _, body in receiver.requests]
        self.assertEqual({body["probe"] for body in bodies}, {"here"})
        self.assertEqual([alarm for body in bodies for alarm in body["alarms"]], self.told)
        self.assertEqual(self.account["written"], 2 * HOSTS - 1)

    def test_alertmanager_gets_what_its_api_asks_for(self):
        with Web() as receiver:
            self.watch(f"webhook:http://127.0.0.1:{receiver.port}/api/v2/alerts,format=alertmanager,probe=here")
        alerts = [alert for _, _, _, body in receiver.requests for alert in body]
        self.assertEqual(len(alerts), len(self.told))
        for alert, alarm in zip(alerts, self.told):
            self.assertEqual(
                alert["labels"],
                {
                    "alertname": alarm["task"],
                    "severity": alarm["severity"],
                    "instance": "here",
                    "key": alarm["key_text"],
                    "id": alarm["id"],
                },
            )
            self.assertEqual(alert["startsAt"], alarm["begin"])
            self.assertEqual(alert["endsAt"] == alarm["end"], alarm["alarm"] == "ended")
            self.assertGreaterEqual(alert["endsAt"], alarm["end"])

    def test_chats_get_lines(self):
        for kind in ("slack", "mattermost"):
            with Web() as receiver:
                self.watch(f"webhook:http://127.0.0.1:{receiver.port}/,format={kind}")
            lines = "\n".join(body["text"] for _, _, _, body in receiver.requests).splitlines()
            self.assertEqual(len(lines), len(self.told))
            for line, alarm in zip(lines, self.told):
                self.assertTrue(line.startswith(f"{alarm['alarm']}: "), line)
                self.assertIn(alarm["key_text"].replace(">", "&gt;"), line)

    def test_a_token_comes_from_a_file(self):
        token = self.folder / "token"
        token.write_text("secret words\n")
        with Web() as receiver:
            self.watch(f"webhook:http://127.0.0.1:{receiver.port}/,token={token}")
        self.assertEqual({headers["Authorization"] for _, _, headers, _ in receiver.requests}, {"Bearer secret"})

    def test_who_is_busy_is_asked_again(self):
        for status in (503, 429, 408):
            with Web([status]) as receiver:
                self.watch(f"webhook:http://127.0.0.1:{receiver.port}/")
            taken = [alarm for answer, _, _, body in receiver.requests if answer == 200 for alarm in body["alarms"]]
            self.assertEqual(taken, self.told)
            self.assertEqual(self.account["written"], len(self.told))

    def test_who_refuses_is_told_and_counted(self):
        for status in (404, 301, 400):
            with Web([status] * 10) as receiver:
                self.watch(f"webhook:http://127.0.0.1:{receiver.port}/", status=1)
            self.assertEqual(self.account["dropped"], len(self.told))
            self.assertIn(str(status), self.said)

    def test_nobody_there_costs_the_run_nothing_else(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        began = time.monotonic()
        self.watch(f"webhook:http://127.0.0.1:{port}/", status=1)
        self.assertLess(time.monotonic() - began, 30)
        self.assertIn(str(port), self.said)
        self.assertEqual(self.account["dropped"], len(self.told))

    def test_a_slow_receiver_holds_up_neither_the_run_nor_its_end(self):
        """It takes 100 alarms in 3 s: what it has not taken soon after the end is counted as dropped."""
        task = "any:window=10ms,hold-off=0:packets > 0 and packets < 3"
        began = time.monotonic()
        with Web(delay_s=3) as receiver:
            self.watch(
                f"webhook:http://127.0.0.1:{receiver.port}/",
                source=["-g", "flows=500,pace=2000", "--duration", "3s"],
                task=task,
                status=1,
            )
        self.assertLess(time.monotonic() - began, 40)
        taken = [alarm for _, _, _, body in receiver.requests for alarm in body["alarms"]]
        self.assertGreater(len(taken), 0)
        self.assertEqual(taken[: self.account["written"]], self.told[: self.account["written"]])
        self.assertGreater(self.account["dropped"], 0)

    def test_the_path_of_a_url_is_no_name_of_an_output(self):
        with Web() as receiver:
            self.watch(f"webhook:http://me:word@127.0.0.1:{receiver.port}/secret", form="text")
        self.assertNotIn("secret", self.said + self.report)
        self.assertNotIn("word", self.said + self.report)
        self.assertIn(f"webhook:http://127.0.0.1:{receiver.port}/...", self.report)

    def test_in_the_sandbox_the_other_end_may_have_a_name(self):
        with Web() as receiver:
            self.watch(f"webhook:http://localhost:{receiver.port}/")
        self.assertEqual(sum(len(body["alarms"]) for _, _, _, body in receiver.requests), len(self.told))

    def test_wrong_targets_are_named(self):
        for target, mention in (
            ("webhook:ftp://127.0.0.1/", "http://HOST"),
            ("webhook:http://", "HOST"),
            ("webhook:http://127.0.0.1:99999/", "port"),
            ("webhook:http://127.0.0.1/,format=teams", "alertmanager"),
            (f"webhook:http://127.0.0.1/,token={self.folder}/none", "none"),
        ):
            done = subprocess.run(
                [PROGRAM, "watch", self.capture, "--task", TASK, "--export", target], capture_output=True, text=True
            )
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertIn(mention, done.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
