#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What people do with `parshall watch` goes on in its sandbox, and what the kernel refuses of that is said. Usage:
test_sandbox_uses.py PARSHALL [unittest arguments]"""

import contextlib
import errno
import fcntl
import os
import pathlib
import pty
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

import call_filters
import netns

os.environ.pop("PARSHALL_SANDBOX", None)  # on
PARSHALL = str(pathlib.Path(sys.argv.pop(1)).resolve())
TRAFFIC = ["-g", "flows=100,pace=20000", "--idle", "1ms", "--flows", "1024", "--duration", "200ms"]
LACKS = "the sandbox cannot hold back"


def run(*words, preexec=None, environment=None, cwd=None):
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=preexec,
        env=os.environ | (environment or {}),
        cwd=cwd,
    )


def watch(*words, **how):
    return run(PARSHALL, "watch", *TRAFFIC, *words, **how)


class Uses(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(
            prefix="parshall-uses-", dir="/var/tmp"
        )  # /tmp is where a run may write anyway
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.lacks = [line for line in watch("-o", "/dev/null").stderr.splitlines() if LACKS in line]
        if any("anything" in line for line in self.lacks):
            self.skipTest(self.lacks[0])

    def needs_everything(self):
        if self.lacks:
            self.skipTest(self.lacks[0])

    def needs_root(self):
        if os.geteuid() != 0:
            self.skipTest("not root")

    def folder_in_root(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="parshall-uses-", dir="/"))
        self.addCleanup(lambda: shutil.rmtree(folder))
        return folder

    def start(self, *words, **how):
        process = subprocess.Popen(
            [str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how
        )
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        return process

    def lines_until(self, process, words):
        lines = []
        while not lines or words not in lines[-1]:
            lines.append(process.stderr.readline())
            self.assertTrue(lines[-1], lines)
        return lines


class Refusals(Uses):
    """Each is one line at the start, and an error where all of it is required."""

    def assert_said(self, what, preexec, *words):
        done = watch("-o", "/dev/null", *words, preexec=preexec)
        said = [line for line in done.stderr.splitlines() if "sandbox" in line]
        self.assertEqual((done.returncode, len(said)), (0, 1), done.stderr)
        self.assertIn(f"{LACKS} {what}", said[0])
        done = watch("-o", "/dev/null", "--sandbox", "require", *words, preexec=preexec)
        self.assertEqual(
            (done.returncode, done.stderr.count("--sandbox require: it cannot hold back")), (1, 1), done.stderr
        )
        self.assertEqual(
            watch("-o", "/dev/null", "--sandbox", "off", *words, preexec=preexec).stderr.count("sandbox"), 0
        )

    def test_calls_that_a_filter_refuses(self):
        self.needs_everything()
        for call, what in (
            ("seccomp", "system calls ("),
            (call_filters.LANDLOCK_CREATE_RULESET, "files ("),
            (call_filters.LANDLOCK_ADD_RULE, "files ("),
            (call_filters.LANDLOCK_RESTRICT_SELF, "files ("),
        ):
            for number in (errno.EPERM, errno.EINVAL, errno.ENOSYS):
                with self.subTest(call=call, error=errno.errorcode[number]):
                    self.assert_said(
                        what, lambda: call_filters.load(call_filters.ALLOW, call_filters.refused(number), [call])
                    )

    def test_calls_that_end_who_calls(self):
        self.needs_everything()
        for call, what in (
            ("seccomp", "system calls ("),
            (call_filters.LANDLOCK_CREATE_RULESET, "files ("),
            (call_filters.LANDLOCK_RESTRICT_SELF, "files ("),
        ):
            with self.subTest(call=call):
                self.assert_said(what, lambda: call_filters.load(call_filters.ALLOW, call_filters.KILL_PROCESS, [call]))

    def test_a_filter_of_somebody_else_and_children_that_nobody_waits_for(self):
        self.needs_everything()

        def among_others():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            call_filters.load(call_filters.ALLOW, call_filters.refused(errno.EPERM), ["reboot"])

        done = watch("-o", "/dev/null", "--sandbox", "require", preexec=among_others)
        self.assertEqual((done.returncode, LACKS in done.stderr), (0, False), done.stderr)

    def test_a_filter_that_lets_no_process_try(self):
        self.needs_everything()
        if os.uname().machine != "x86_64":
            self.skipTest("not x86-64")
        fork = ("clone", 0, 0x01200011)  # as libc calls it
        self.assert_said(
            "system calls (a seccomp filter may kill this process, and no child process could try: ",
            lambda: call_filters.load(call_filters.ALLOW, call_filters.refused(errno.EAGAIN), [fork]),
        )

    def test_layers_of_landlock_that_are_all_taken(self):
        self.needs_everything()
        self.assert_said("files (", call_filters.in_every_layer_of_landlock)

    def test_signals_are_left_to_seccomp_where_landlock_parts_threads(self):
        self.needs_everything()
        not_mended = (call_filters.LANDLOCK_CREATE_RULESET, 2, 2)
        self.assertNotIn(
            LACKS,
            watch(
                "-o",
                "/dev/null",
                preexec=lambda: call_filters.load(call_filters.ALLOW, call_filters.refused(errno.EINVAL), [not_mended]),
            ).stderr,
        )
        done = watch(
            "-o",
            "/dev/null",
            preexec=lambda: call_filters.load(
                call_filters.ALLOW, call_filters.refused(errno.EINVAL), [not_mended, "seccomp"]
            ),
        )
        self.assertIn("signals", done.stderr)

    def test_threads_are_not_known_without_proc(self):
        self.needs_root()
        self.needs_everything()
        done = run(
            "unshare",
            "--mount",
            "sh",
            "-c",
            'mount -t tmpfs tmpfs /proc && exec "$@"',
            "sh",
            PARSHALL,
            "watch",
            *TRAFFIC,
            "-o",
            "/dev/null",
        )
        self.assertEqual(
            (done.returncode, f"{LACKS} threads that started before it" in done.stderr), (0, True), done.stderr
        )

    def test_a_collector_that_takes_tickets_of_kerberos(self):
        config = self.folder / "kafka.conf"
        config.write_text("security.protocol=sasl_plaintext\n")
        done = watch("-o", "/dev/null", "--sandbox", "require", "--export", f"kafka:127.0.0.1:9/flows,config={config}")
        if "without" in done.stderr or 'there is no "kafka"' in done.stderr:
            self.skipTest("no Kafka")
        self.assertEqual(
            (done.returncode, "it cannot hold back anything (an output runs kinit)" in done.stderr),
            (1, True),
            done.stderr,
        )

    def test_a_folder_to_allow_that_is_not_there(self):
        folder = self.folder / "none"
        done = watch("-o", "/dev/null", "--sandbox-allow", folder)
        self.assertEqual(
            (done.returncode, "make it first" in done.stderr, folder.exists()), (2, True, False), done.stderr
        )

    def test_names_in_states(self):
        states = self.folder / "states.toml"
        states.write_text(
            'default = "all"\n[[state]]\nname = "all"\ntasks = ["count"]\n[[rule]]\nstate = "all"\nfilter = "host '
            'localhost"\n'
        )
        done = watch("-o", "/dev/null", "--states", states)
        self.assertEqual(
            (done.returncode, "unknown host" in done.stderr, "--sandbox off" in done.stderr),
            (2, True, True),
            done.stderr,
        )
        self.assertEqual(watch("-q", "-o", "/dev/null", "--states", states, "--sandbox", "off").stderr, "")


class Outputs(Uses):
    def test_right_below_the_root(self):
        self.needs_root()
        name = self.folder_in_root().name  # free
        made = [pathlib.Path("/", name + ending) for ending in (".txt", ".csv")]
        self.addCleanup(lambda: [file.unlink(missing_ok=True) for file in made])
        done = watch("-q", "-o", made[0].name, "--export", f"csv:{made[1]}", cwd="/")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(all(file.stat().st_size > 0 for file in made))

    def test_right_below_the_root_with_a_time_in_its_name(self):
        self.needs_root()
        name = self.folder_in_root().name
        self.addCleanup(lambda: [file.unlink() for file in pathlib.Path("/").glob(f"{name}-*.csv")])
        done = watch("-q", "-o", "/dev/null", "--export", f"csv:/{name}-%Y%m%d.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        (file,) = pathlib.Path("/").glob(f"{name}-*.csv")
        self.assertRegex(file.name, r"-\d{8}\.csv$")
        self.assertGreater(file.stat().st_size, 0)
        if not self.lacks:
            self.assertIn(
                "has a time in its name", watch("-o", "/dev/null", "--export", f"csv:/{name}-%Y%m%d.csv").stderr
            )

    def test_right_below_the_root_with_a_percent_sign_in_its_name(self):
        self.needs_root()
        name = self.folder_in_root().name
        self.addCleanup(lambda: [file.unlink() for file in pathlib.Path("/").glob(f"{name}-*.csv")])
        done = watch("-o", "/dev/null", "--export", f"csv:/{name}-100%%.csv")
        self.assertEqual(
            (done.returncode, [line for line in done.stderr.splitlines() if LACKS in line]),
            (0, self.lacks),
            done.stderr,
        )
        (file,) = pathlib.Path("/").glob(f"{name}-*.csv")
        self.assertEqual(file.name, f"{name}-100%.csv")
        self.assertGreater(file.stat().st_size, 0)

    def test_behind_links_that_lead_to_nothing_yet(self):
        (self.folder / "there").mkdir()
        (self.folder / "here").mkdir()
        for link, to in (
            ("here/one", "two"),
            ("here/two", "../there/flows.csv"),
            ("here/all", self.folder / "there" / "all.csv"),
        ):
            (self.folder / link).symlink_to(to)
        done = watch(
            "-q",
            "-o",
            "/dev/null",
            "--export",
            f"csv:{self.folder}/here/one",
            "--export",
            f"csv:{self.folder}/here/all",
        )
        self.assertEqual(
            (done.returncode, done.stderr, sorted(os.listdir(self.folder / "there"))), (0, "", ["all.csv", "flows.csv"])
        )

    def test_pipes_and_descriptors(self):
        for target in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            self.assertGreater(watch("-q", "-o", target).stdout.count("\n"), 3)
            with open(self.folder / "out", "w") as file:
                subprocess.run([PARSHALL, "watch", *TRAFFIC, "-q", "-o", target], stdout=file, check=True)
            self.assertGreater((self.folder / "out").stat().st_size, 0)

    def test_a_report_is_rescued_where_there_is_no_temporary_folder(self):
        done = watch("-o", "/dev/full", environment={"TMPDIR": str(self.folder / "none")})
        self.assertIn("the final report is in /tmp/", done.stderr)
        pathlib.Path(done.stderr.split("the final report is in ", 1)[1].split()[0]).unlink()

    def test_a_report_is_rescued_to_the_working_directory_where_there_is_nothing_else(self):
        self.needs_root()
        script = 'mount -t tmpfs -o ro tmpfs /tmp && cd "$1" && shift && exec "$@"'
        program = self.folder / "parshall"
        shutil.copy(PARSHALL, program)
        done = run(
            "unshare",
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
            self.folder,
            program,
            "watch",
            "-g",
            "flows=9",
            "--count",
            "99",
            "-o",
            "/dev/full",
            "--threads",
            "pipeline",
        )
        self.assertIn("the final report is in ./", done.stderr)

    def test_the_socket_of_memif_goes_with_it(self):
        path = self.folder / "memif"
        done = run(
            PARSHALL,
            "watch",
            "-i",
            f"vdev:net_memif0,role=server,socket={path},socket-abstract=no",
            "--duration",
            "500ms",
            "-o",
            "/dev/null",
            "--flows",
            "1024",
            environment={"HOME": str(self.folder)},
        )
        if "without DPDK" in done.stderr:
            self.skipTest("built without DPDK")
        self.assertEqual((done.returncode, path.exists()), (0, False), done.stderr)


class Terminals(Uses):
    def test_a_terminal_whose_description_is_where_the_environment_says(self):
        if shutil.which("tic") is None:
            self.skipTest("no tic")
        text = self.folder / "own.ti"
        text.write_text("parshall-own|like vt100,\n\tuse=vt100,\n")
        subprocess.run(["tic", "-o", self.folder / "terminfo", text], check=True, capture_output=True)
        ours, its = pty.openpty()
        self.addCleanup(os.close, ours)
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
        process = subprocess.Popen(
            [PARSHALL, "watch", *TRAFFIC, "--live", "-o", "/dev/null"],
            stdin=its,
            stdout=its,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TERM": "parshall-own", "TERMINFO_DIRS": f"/nowhere:{self.folder}/terminfo"},
        )
        os.close(its)
        with contextlib.suppress(OSError):  # it has ended
            os.read(ours, 4096)
            os.write(ours, b"q")
            while os.read(ours, 4096):
                pass
        said = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 0, said)


class Replaced(Uses):
    """Files that others take the place of while the run goes on."""

    def test_a_configuration_right_below_a_folder_of_the_root(self):
        self.needs_root()
        folder = self.folder_in_root()
        config = folder / "watch.toml"

        def configure(*targets):
            (folder / "new").write_text(
                "".join(f'[[export]]\nkind = "csv"\ntarget = "{target}"\n' for target in targets)
            )
            (folder / "new").rename(config)

        configure(self.folder / "one.csv")
        process = self.start(
            PARSHALL, "watch", "-g", "flows=9,pace=1000", "--duration", "60s", "-o", "/dev/null", "--config", config
        )
        if not self.lacks:
            self.assertIn(f"{LACKS} reading {folder} (", self.lines_until(process, LACKS)[-1])
        else:
            process.stderr.readline()
        configure(self.folder / "one.csv", self.folder / "two.csv")
        process.send_signal(signal.SIGHUP)
        self.lines_until(process, "two.csv was added as an output")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 0)

    def test_a_configuration_whose_folder_is_a_link_that_leads_elsewhere(self):
        self.needs_everything()
        for name in ("one", "two"):
            (self.folder / name).mkdir()
            (self.folder / name / "watch.toml").write_text(
                f'[[export]]\nkind = "csv"\ntarget = "{self.folder}/{name}.csv"\n'
            )
        link = self.folder / "now"
        link.symlink_to("one")
        process = self.start(
            PARSHALL,
            "watch",
            "-g",
            "flows=9,pace=1000",
            "--duration",
            "60s",
            "-o",
            "/dev/null",
            "--config",
            link / "watch.toml",
        )
        process.stderr.readline()
        link.unlink()
        link.symlink_to("two")
        process.send_signal(signal.SIGHUP)
        self.assertIn(
            "Permission denied; in the sandbox, it can only be read from the folder where it was at the start; the old "
            "configuration remains",
            process.stderr.readline(),
        )
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 0)

    def names(self, *words, user_sees):
        """Of a collector, whose name comes to mean another address while the run goes on."""
        etc, port = self.folder / "etc", 47391
        shutil.copytree("/etc", etc, symlinks=True, ignore=shutil.ignore_patterns("ssl", "shadow*", "gshadow*"))
        (etc / "nsswitch.conf").write_text("hosts: files\npasswd: files\ngroup: files\n")
        for path in (self.folder, etc):
            path.chmod(0o755)
        program = self.folder / "parshall"
        shutil.copy(PARSHALL, program)

        def name(address):
            (etc / "new").write_text(f"{address} collector.test\n")
            (etc / "new").rename(etc / "hosts")

        name("127.0.0.2")
        with socket.create_server(("127.0.0.2", port)) as first, socket.create_server(("127.0.0.3", port)) as second:
            for listener in (first, second):
                listener.settimeout(30)
            process = self.start(
                "unshare",
                "--mount",
                "sh",
                "-c",
                f'mount --bind {etc} /etc && exec "$@"',
                "sh",
                program,
                "watch",
                "-g",
                "flows=1000,pace=20000",
                "--idle",
                "1ms",
                "--flows",
                "1024",
                "--duration",
                "60s",
                "-o",
                "/dev/null",
                "--export",
                f"ipfix:tcp://collector.test:{port}",
                *words,
            )
            said = "".join(self.lines_until(process, LACKS if user_sees else " MB for "))
            connection, _ = first.accept()
            name("127.0.0.3")
            first.close()
            connection.close()
            connection, _ = second.accept()
            with connection:
                self.assertTrue(connection.recv(1))
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
            return said + process.stderr.read()

    def test_names_of_hosts(self):
        self.needs_root()
        self.needs_everything()
        self.assertIn(f"{LACKS} reading /etc (", self.names(user_sees=True))

    def test_names_of_hosts_for_another_user_and_nothing_is_open_for_it(self):
        self.needs_root()
        self.needs_everything()
        pwd.getpwnam("nobody")
        self.assertNotIn(LACKS, self.names("--user", "nobody", user_sees=False))


class Filters(Uses):
    def test_names_of_hosts_are_found_wherever_they_stand(self):
        capture = self.folder / "raw.pcap"
        frames = netns.udp_frames(10)
        for link_type, data in ((1, frames), (101, [frame[14:] for frame in frames])):
            netns.write_pcap(capture, data)
            bytes_ = bytearray(capture.read_bytes())
            bytes_[20] = link_type
            capture.write_bytes(bytes_)
            for expression in (
                "not (src localhost)",
                "not dst host 192.0.2.77 and not (src or dst localhost)",
                "not host 192.0.2.77",
                "not (port http or src localhost)",
            ):
                with self.subTest(expression=expression, link_type=link_type):
                    done = run(PARSHALL, "watch", "-r", capture, "--filter", expression, "--format", "json")
                    self.assertEqual(
                        (done.returncode, '"counted":10' in done.stdout.replace(" ", "")),
                        (0, True),
                        done.stderr + done.stdout[:400],
                    )
        done = run(PARSHALL, "watch", "-r", capture, "-o", "/dev/null", "--filter", "udp port 53 or udp udp")
        self.assertEqual((done.returncode, "cannot understand the filter" in done.stderr), (2, True), done.stderr)
        done = watch("-o", "/dev/null", "--filter", "host no-such.invalid")
        self.assertEqual((done.returncode, "unknown host" in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
