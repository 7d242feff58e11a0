#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `parshall watch` can do once its source is open, tried by what is planted in its threads. Usage: test_sandbox.py
PARSHALL PLANTED [unittest arguments]"""

import contextlib
import ctypes
import ctypes.util
import errno
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import call_filters
import netns

os.environ.pop("PARSHALL_SANDBOX", None)  # on
PARSHALL, PLANTED = sys.argv.pop(1), sys.argv.pop(1)
TRAFFIC = ["-g", "flows=100,pace=20000", "--idle", "1ms", "--flows", "1024", "--duration", "200ms"]
OF_LANDLOCK = {"files": 1, "ports": 4, "signals": 6}  # since which version of its interface
UNIT = pathlib.Path(__file__).resolve().parents[2] / "debian" / "parshall@.service"
NO_CALLS = "system calls"


def landlock_version():
    return max(0, ctypes.CDLL(None).syscall(call_filters.LANDLOCK_CREATE_RULESET, None, 0, 1))


def run(*words, environment=None, preexec=None):
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | (environment or {}),
        preexec_fn=preexec,
    )


def calls_of(group):
    """What systemd calls a set of calls."""
    listed = subprocess.run(
        ["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True
    ).stdout.splitlines()[1:]
    words = [line.strip() for line in listed if line.strip() and not line.strip().startswith("#")]
    return {call for word in words for call in (calls_of(word) if word.startswith("@") else [word])}


def statuses(pid):
    """Of each of its threads."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it has ended
            found.append(
                dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line)
            )
    return found


class Sandboxed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="parshall-sandbox-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.lacks = run(PARSHALL, "watch", *TRAFFIC[:2], "--count", "9", "-o", "/dev/null").stderr
        if "sanitizers" in self.lacks:
            self.skipTest("built with sanitizers")

    def needs(self, *features):
        for feature in features:
            if feature == "calls" and NO_CALLS in self.lacks:
                self.skipTest("no filters of calls: not built with libseccomp")
            if feature != "calls" and landlock_version() < OF_LANDLOCK[feature]:
                self.skipTest(f"Landlock {landlock_version()} has no {feature}")

    def start(self, *words):
        process = subprocess.Popen(
            [str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        return process


class Plants(Sandboxed):
    """Each is stopped, and would get through without the sandbox."""

    def plant(self, where, what, *arguments):
        words = [
            PLANTED,
            "watch",
            "-q",
            *(arguments or TRAFFIC),
            "-o",
            "/dev/null",
            "--export",
            f"csv:{self.folder}/flows.csv",
        ]
        return run(*words, environment={"PARSHALL_PLANT": f"{where}:{what}"}), run(
            *words, "--sandbox", "off", environment={"PARSHALL_PLANT": f"{where}:{what}"}
        )

    def assert_stopped(self, what, why, *arguments, threads=("main", "worker", "export")):
        for where in threads:
            with self.subTest(thread=where, plant=what):
                held, free = self.plant(where, what, *arguments)
                self.assertEqual((held.returncode, held.stderr.splitlines()), (0, [f"plant: {why}"]))
                self.assertEqual((free.returncode, free.stderr.splitlines()), (0, ["plant: got through"]))

    def test_files_that_are_no_outputs_cannot_be_opened(self):
        self.needs("files")
        secret = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"), "secret")  # TMPDIR, /tmp, is where records may wait
        self.addCleanup(lambda: shutil.rmtree(secret.parent))
        secret.write_text("of somebody else")
        self.assert_stopped(f"open:{secret}", "Permission denied")
        self.assert_stopped(f"write:{secret.parent}/new", "Permission denied")
        if os.geteuid() == 0:
            self.assert_stopped("open:/etc/shadow", "Permission denied")

    def test_sockets_are_opened_by_runs_that_need_them_alone(self):
        self.needs("calls")
        self.assert_stopped(f"socket:{int(socket.AF_INET)}", "Operation not permitted")
        if os.geteuid() == 0:
            self.assert_stopped(f"socket:{int(socket.AF_PACKET)}", "Operation not permitted")

    def test_a_run_with_a_collector_connects_to_its_port_alone(self):
        self.needs("ports")
        with socket.create_server(("127.0.0.1", 0)) as collector, socket.create_server(("127.0.0.1", 0)) as other:
            threading.Thread(target=self.take_all, args=(collector,), daemon=True).start()
            source = [*TRAFFIC, "--export", f"ipfix:tcp://127.0.0.1:{collector.getsockname()[1]}"]
            self.assert_stopped(f"connect:{other.getsockname()[1]}", "Permission denied", *source)
            held, _ = self.plant("worker", f"connect:{collector.getsockname()[1]}", *source)
            self.assertEqual(held.stderr, "plant: got through\n")

    def collector_of_datagrams(self):
        """Arguments of a run that sends them to one."""
        collector = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(collector.close)
        collector.bind(("127.0.0.1", 0))
        return [*TRAFFIC, "--export", f"ipfix:udp://127.0.0.1:{collector.getsockname()[1]}"]

    def test_a_run_with_a_collector_has_sockets_of_tcp_and_udp_alone(self):
        self.needs("calls")
        source, internet, stream = self.collector_of_datagrams(), int(socket.AF_INET), int(socket.SOCK_STREAM)
        held, _ = self.plant("worker", f"socket:{internet},{stream},{socket.IPPROTO_TCP}", *source)
        self.assertEqual(held.stderr, "plant: got through\n")
        others = [
            (internet, stream, 262),
            (int(socket.AF_INET6), stream, 262),
            (internet, stream, 132),
            (internet, 5, 132),
        ]  # MPTCP, SCTP
        if os.geteuid() == 0:
            others += [
                (internet, int(socket.SOCK_RAW), 255),
                (internet, 10, 768),
                (int(socket.AF_NETLINK), int(socket.SOCK_RAW), 12),
            ]  # packets by hand; all packets; netfilter
        for other in others:
            with self.subTest(other=other):
                held, free = self.plant("worker", "socket:" + ",".join(map(str, other)), *source)
                self.assertEqual(held.stderr, "plant: Operation not permitted\n")
                self.assertNotEqual(free.stderr, held.stderr)  # got through, where the kernel has it

    def test_no_connection_begins_with_its_first_bytes(self):
        self.needs("calls")
        with socket.create_server(("127.0.0.1", 0)) as other:
            threading.Thread(target=self.take_all, args=(other,), daemon=True).start()
            self.assert_stopped(
                f"fastopen:{other.getsockname()[1]}", "Operation not permitted", *self.collector_of_datagrams()
            )

    def test_who_has_no_port_to_listen_at_listens_at_none(self):
        self.needs("calls")
        for words in (
            self.collector_of_datagrams(),
            (*TRAFFIC, "--export", "prometheus:127.0.0.1:0"),
            (*TRAFFIC, "--web", "127.0.0.1:0"),
        ):
            with self.subTest(words=words):
                self.assert_stopped("listen", "Operation not permitted", *words)

    @unittest.skipIf(os.geteuid() != 0, "not root")
    def test_who_watches_an_interface_opens_no_sockets(self):
        self.needs("calls")
        self.assert_stopped(
            f"socket:{int(socket.AF_INET)}",
            "Operation not permitted",
            "-i",
            "lo",
            "--duration",
            "300ms",
            "--flows",
            "1024",
            threads=("worker",),
        )

    @unittest.skipIf(os.geteuid() != 0, "not root")
    def test_packets_of_other_interfaces_stay_unseen(self):
        self.needs("calls")
        self.assert_stopped(
            "rebind",
            "Operation not permitted",
            "-i",
            "lo",
            "--duration",
            "300ms",
            "--flows",
            "1024",
            threads=("worker",),
        )

    def test_sockets_that_are_files_are_not_reached_by_one_of_a_pair(self):
        self.needs("calls")
        path = self.folder / "socket"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.bind(str(path))
            self.assert_stopped(f"datagram:{path}", "Function not implemented")

    def test_no_file_is_made_that_others_run_with_the_rights_of_the_run(self):
        self.needs("calls")
        for what in ("suid", "chmod"):
            self.assert_stopped(f"{what}:{self.folder}/program", "Operation not permitted", threads=("worker",))

    @staticmethod
    def take_all(listener):
        """Each connection, to its end."""
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=Plants.read_all, args=listener.accept()[:1], daemon=True).start()

    @staticmethod
    def read_all(connection):
        with connection, contextlib.suppress(OSError):
            while connection.recv(65536):
                pass

    def test_no_program_is_run(self):
        self.needs("calls")
        for where in ("main", "worker", "export"):
            with self.subTest(thread=where):
                held, free = self.plant(where, "exec:/bin/true")
                self.assertEqual(held.returncode, -signal.SIGSYS, held.stderr)
                self.assertEqual(
                    (free.returncode, free.stderr, (self.folder / "flows.csv").read_text().count("\n") < 100),
                    (0, "", True),
                )
        self.assert_stopped("fork", "Operation not permitted")

    def test_no_program_is_run_where_landlock_alone_holds_it(self):
        self.needs("files")
        if NO_CALLS not in self.lacks:
            self.skipTest("calls are filtered, too")
        held, _ = self.plant("worker", "exec:/bin/true")
        self.assertEqual(held.stderr, "plant: Permission denied\n")

    def test_other_processes_get_no_signals(self):
        if NO_CALLS in self.lacks:
            self.needs("signals")
        self.assert_stopped(f"kill:{os.getpid()}", "Operation not permitted")

    def test_other_processes_get_no_limits_and_no_cores(self):
        self.needs("calls")
        for what in ("limit", "pin"):
            self.assert_stopped(f"{what}:{os.getpid()}", "Function not implemented", threads=("main", "worker"))

    def test_what_helps_to_run_other_code_is_refused(self):
        self.needs("calls")
        self.assert_stopped("memfd", "Function not implemented", threads=("worker",))
        self.assert_stopped("code", "Operation not permitted", threads=("worker",))  # memory that was written
        self.assert_stopped("option:4", "Operation not permitted", threads=("worker",))  # PR_SET_DUMPABLE

    def test_calls_by_numbers_of_another_kind_end_the_process(self):
        self.needs("calls")
        if os.uname().machine != "x86_64":
            self.skipTest("not x86-64")
        held, free = self.plant("worker", "x32")
        self.assertEqual((held.returncode, free.returncode), (-signal.SIGSYS, 0), held.stderr)

    def test_sockets_that_are_files_are_for_who_asks_for_names(self):
        self.needs("calls")
        with socket.create_server(("127.0.0.1", 0)) as collector:
            threading.Thread(target=self.take_all, args=(collector,), daemon=True).start()
            for host, said in (("127.0.0.1", "Operation not permitted"), ("localhost", "got through")):
                held, _ = self.plant(
                    "worker",
                    f"socket:{int(socket.AF_UNIX)}",
                    *TRAFFIC,
                    "--export",
                    f"ipfix:tcp://{host}:{collector.getsockname()[1]}",
                )
                self.assertEqual(held.stderr, f"plant: {said}\n")

    def test_threads_that_dpdk_began_before_are_held_too(self):
        self.needs("files", "calls")
        source = ["-i", "vdev:net_null0", "--duration", "1s", "--flows", "1024"]
        if "without DPDK" in run(PARSHALL, "watch", *source).stderr:
            self.skipTest("built without DPDK")
        self.assert_stopped("open:/etc/passwd", "Permission denied", *source, threads=("eal", "worker", "main"))
        held, free = self.plant("eal", "exec:/bin/true", *source)
        self.assertEqual((held.returncode, free.returncode), (-signal.SIGSYS, 0))


class Account(Sandboxed):
    """What is in force is so in all threads, and what is not is said."""

    def test_every_thread_has_filters_and_no_new_privileges(self):
        self.needs("calls")
        for arguments in (["--tasks", "count", "--hook", "true"], ["--web", "0"]):
            process = self.start(
                PARSHALL, "watch", "-q", "-g", "flows=9,pace=1000", "--duration", "60s", "-o", "/dev/null", *arguments
            )
            netns.wait_until(lambda pid=process.pid: len(statuses(pid)) > 3, "its threads")
            self.assertEqual(
                {(status["Seccomp"], status["NoNewPrivs"]) for status in statuses(process.pid)}, {("2", "1")}
            )
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(30), 0)

    def test_threads_that_begin_are_not_in_the_kernels_log(self):
        self.needs("calls")
        process = subprocess.Popen(
            [PLANTED, "watch", "-q", *TRAFFIC, "-o", "/dev/null"],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PARSHALL_PLANT": "worker:memfd"},
        )
        self.assertEqual(process.communicate(timeout=60)[1], "plant: Function not implemented\n")
        logged = [
            line for line in run("dmesg").stdout.splitlines() if "type=1326" in line and f" pid={process.pid} " in line
        ]
        if not logged:
            self.skipTest("the kernel's log is not for us")
        self.assertEqual([line for line in logged if "syscall=435 " in line], [])  # clone3, which libc asks for

    def test_data_of_time_zones_are_read_where_the_environment_says(self):
        self.needs("files")
        zones = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(lambda: shutil.rmtree(zones))
        (zones / "here").touch()
        for more, said in (({"TZDIR": str(zones)}, "got through"), ({}, "Permission denied")):
            done = run(
                PLANTED,
                "watch",
                "-q",
                *TRAFFIC,
                "-o",
                "/dev/null",
                environment=more | {"PARSHALL_PLANT": f"worker:open:{zones}/here"},
            )
            self.assertEqual(done.stderr, f"plant: {said}\n")

    def test_off_is_off(self):
        process = self.start(
            PARSHALL,
            "watch",
            "-q",
            "-g",
            "flows=9,pace=1000",
            "--duration",
            "60s",
            "-o",
            "/dev/null",
            "--sandbox",
            "off",
        )
        netns.wait_until(lambda: len(statuses(process.pid)) > 2, "its threads")
        self.assertEqual({status["Seccomp"] for status in statuses(process.pid)}, {"0"})

    def test_required_is_all_or_nothing(self):
        done = run(PARSHALL, "watch", *TRAFFIC, "-o", "/dev/null", "--sandbox", "require")
        self.assertEqual(
            (done.returncode, "the sandbox cannot" in self.lacks),
            (1, True) if self.lacks.count("\n") > 1 else (0, False),
            done.stderr,
        )

    def test_where_the_kernel_has_no_landlock_it_is_said_and_what_requires_it_fails(self):
        if ctypes.util.find_library("seccomp") is None:
            self.skipTest("no libseccomp to take Landlock away with")
        done = run(PARSHALL, "watch", *TRAFFIC, "-o", "/dev/null", preexec=call_filters.without_landlock)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the sandbox cannot hold back files", done.stderr)
        done = run(
            PARSHALL,
            "watch",
            *TRAFFIC,
            "-o",
            "/dev/null",
            "--sandbox",
            "require",
            preexec=call_filters.without_landlock,
        )
        self.assertEqual(
            (done.returncode, "--sandbox require: it cannot hold back files" in done.stderr), (1, True), done.stderr
        )

    def test_the_filter_of_the_service_lets_a_run_hold_itself(self):
        self.needs("calls", "signals")
        if shutil.which("systemd-analyze") is None or ctypes.util.find_library("seccomp") is None:
            self.skipTest("no systemd-analyze, or no libseccomp")
        words = [
            word
            for line in UNIT.read_text().splitlines()
            if line.startswith("SystemCallFilter=")
            for word in line.split("=", 1)[1].split()
        ]
        allowed = sorted({call for word in words for call in (calls_of(word) if word.startswith("@") else [word])})
        capture = self.folder / "a.pcap"
        netns.write_pcap(capture, netns.udp_frames(100))
        for source in (["-r", capture], TRAFFIC):
            done = run(
                PARSHALL,
                "watch",
                *source,
                "-o",
                "/dev/null",
                "--sandbox",
                "require",
                "--export",
                f"csv:{self.folder}/flows.csv",
                preexec=lambda: call_filters.load(call_filters.refused(errno.EPERM), call_filters.ALLOW, allowed),
            )
            self.assertEqual((done.returncode, "the sandbox" in done.stderr), (0, False), done.stderr)
        less = [call for call in allowed if not call.startswith("landlock")]
        done = run(
            PARSHALL,
            "watch",
            *TRAFFIC,
            "-o",
            "/dev/null",
            "--sandbox",
            "require",
            preexec=lambda: call_filters.load(call_filters.refused(errno.EPERM), call_filters.ALLOW, less),
        )
        self.assertEqual(done.returncode, 1)

    def test_other_words_are_wrong_usage(self):
        self.assertEqual(run(PARSHALL, "watch", *TRAFFIC, "--sandbox", "maybe").returncode, 2)
        done = run(PARSHALL, "watch", *TRAFFIC, environment={"PARSHALL_SANDBOX": "maybe"})
        self.assertEqual((done.returncode, "PARSHALL_SANDBOX" in done.stderr), (2, True))
        self.assertEqual(
            run(PARSHALL, "watch", *TRAFFIC, "-o", "/dev/null", environment={"PARSHALL_SANDBOX": ""}).returncode, 0
        )


class Files(Sandboxed):
    """What a run opens later is there."""

    def configured(self, target):
        config = self.folder / "etc" / "watch.toml"
        config.parent.mkdir(exist_ok=True)
        new = config.with_suffix(".new")
        new.write_text("".join(f'[[export]]\nkind = "csv"\ntarget = "{each}"\n' for each in target))
        new.rename(config)  # as an editor does
        return config

    def test_outputs_that_are_added_go_to_folders_that_were_allowed(self):
        self.needs("files")
        elsewhere = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(lambda: shutil.rmtree(elsewhere))
        first = self.folder / "first.csv"
        for arguments, added in (([], False), (["--sandbox-allow", elsewhere], True), (["--sandbox", "off"], True)):
            with self.subTest(arguments=arguments):
                config = self.configured([first])
                process = self.start(
                    PARSHALL, "watch", *TRAFFIC[:-1], "60s", "-o", "/dev/null", "--config", config, *arguments
                )
                process.stderr.readline()
                self.configured([first, elsewhere / "added.csv"])
                process.send_signal(signal.SIGHUP)
                said = process.stderr.readline()
                self.assertIn("was added as an output" if added else "--sandbox-allow", said)
                self.assertEqual((elsewhere / "added.csv").exists(), added)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(30), 0, process.stderr.read())
                (elsewhere / "added.csv").unlink(missing_ok=True)

    def test_a_model_and_states_that_only_root_may_read_are_there_for_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("not root")
        self.folder.chmod(0o755)
        program = self.folder / "parshall"
        shutil.copy(PARSHALL, program)
        closed = self.folder / "closed"
        closed.mkdir(mode=0o700)
        states = closed / "states.toml"
        states.write_text('default = "all"\n[[state]]\nname = "all"\ntasks = ["count"]\n')
        capture = closed / "a.pcap"
        subprocess.run(
            [PARSHALL, "send", "-q", "-g", "flows=9", "--count", "100", "-w", str(capture)],
            check=True,
            capture_output=True,
        )
        done = run(program, "watch", "-q", "-r", capture, "--states", states, "--user", "nobody", "--format", "json")
        self.assertEqual(
            (done.returncode, '"offered": 100' in done.stdout or '"offered":100' in done.stdout), (0, True), done.stderr
        )

    def test_what_a_file_says_is_looked_at_with_no_rights_left(self):
        self.needs("calls")
        if shutil.which("strace") is None:
            self.skipTest("no strace")
        files = {}
        for name in ("model", "states", "capture"):
            files[name] = self.folder / f"bad.{name}"
            files[name].write_bytes(b"what is this = [")
        for words, status in (
            (["classify", "-r", files["capture"], "--model", files["model"]], 2),
            (["watch", "-r", files["capture"]], 1),
            (["watch", "-g", "flows=9", "--count", "9", "--states", files["states"]], 2),
        ):
            with self.subTest(words=words):
                trace = self.folder / "trace"
                done = run("strace", "-f", "-o", trace, "-e", "trace=seccomp,write", PARSHALL, *words)
                self.assertEqual(done.returncode, status, done.stderr)
                calls = [line.split(" ", 1)[1].strip() for line in trace.read_text().splitlines()]
                filters = [
                    i
                    for i, call in enumerate(calls)
                    if call.startswith("seccomp(SECCOMP_SET_MODE_FILTER") and call.endswith("= 0")
                ]
                complaint = [i for i, call in enumerate(calls) if call.startswith("write(2,")]
                self.assertTrue(len(filters) == 3 and complaint and filters[-1] < complaint[0], calls)


class Hooks(Sandboxed):
    def order(self, words, command):
        """What the lines of the command's file are, of a run whose worker gives its process orders of its own."""
        said = self.folder / "said"
        said.unlink(missing_ok=True)
        done = run(
            PLANTED,
            "watch",
            "-q",
            *TRAFFIC,
            "--window",
            "60s",
            "-o",
            "/dev/null",
            "--task",
            "any:most=1:packets > 0",
            "--hook",
            f"{command} >> {said}",
            environment={"PARSHALL_PLANT": f"worker:order:{words}"},
        )
        self.assertIn("got through", done.stderr)
        return said.read_text().splitlines() if said.exists() else []

    def test_who_took_the_run_over_sets_no_variables_of_the_command(self):
        lines = self.order("rLD_PRELOAD=/nowhere.so|#re|LD_PRELOAD=/nowhere.so|began|", "env")
        self.assertIn("PARSHALL_TEXT=LD_PRELOAD=/nowhere.so", lines)
        self.assertFalse([line for line in lines if line.startswith("LD_PRELOAD")])

    def test_who_took_the_run_over_has_one_command_at_a_time(self):
        self.assertEqual(self.order("re|first|began|#re|second|began|", "sleep 1; echo $PARSHALL_TEXT"), ["first"])

    def test_a_command_that_does_not_end_is_ended_where_no_process_can_be_waited_for_by_a_descriptor(self):
        if ctypes.util.find_library("seccomp") is None:
            self.skipTest("no libseccomp")
        began = time.monotonic()
        done = run(
            PARSHALL,
            "watch",
            *TRAFFIC,
            "-o",
            "/dev/null",
            "--task",
            "any:most=1:packets > 0",
            "--hook",
            "exec sleep 50",
            "--window",
            "100ms",
            preexec=lambda: call_filters.load(
                call_filters.ALLOW, call_filters.refused(errno.ENOSYS), [call_filters.PIDFD_OPEN]
            ),
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertLess(time.monotonic() - began, 30)

    def test_a_command_is_run_by_a_process_of_its_own_with_the_rights_that_the_run_had(self):
        out = self.folder / "said"
        command = (
            f'grep -E "NoNewPrivs|Seccomp:" /proc/self/status > {out}; cat /etc/passwd > {self.folder}/copy; '
            f"kill -0 {os.getpid()} && echo free >> {out}"
        )
        done = run(
            PARSHALL,
            "watch",
            "-q",
            *TRAFFIC,
            "-o",
            "/dev/null",
            "--task",
            "any:most=1:packets > 0",
            "--hook",
            command,
            "--window",
            "100ms",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        own = run("grep", "-E", "NoNewPrivs|Seccomp:", "/proc/self/status").stdout
        self.assertEqual(out.read_text(), own + "free\n")
        self.assertEqual((self.folder / "copy").read_text(), pathlib.Path("/etc/passwd").read_text())

    @unittest.skipIf(os.geteuid() != 0, "not root")
    def test_it_is_run_as_the_user(self):
        self.folder.chmod(0o777)
        program = self.folder / "parshall"
        shutil.copy(PARSHALL, program)
        done = run(
            program,
            "watch",
            "-q",
            *TRAFFIC,
            "-o",
            "/dev/null",
            "--task",
            "any:most=1:packets > 0",
            "--user",
            "nobody",
            "--hook",
            f"id -u > {self.folder}/who",
            "--window",
            "100ms",
        )
        self.assertEqual(
            (done.returncode, (self.folder / "who").read_text()), (0, f"{pwd.getpwnam('nobody').pw_uid}\n"), done.stderr
        )

    def test_nothing_is_left_of_it(self):
        def children(pid):
            return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()

        process = self.start(
            PARSHALL,
            "watch",
            "-q",
            "-g",
            "flows=9,pace=1000",
            "--duration",
            "60s",
            "-o",
            "/dev/null",
            "--task",
            "any:most=1:packets > 0",
            "--hook",
            "true",
        )
        netns.wait_until(lambda: children(process.pid), "who runs commands")
        runner = children(process.pid)[0]
        process.kill()
        process.wait()
        netns.wait_until(lambda: not pathlib.Path(f"/proc/{runner}/exe").exists() or time.sleep(0.01), "its end")


if __name__ == "__main__":
    unittest.main()
