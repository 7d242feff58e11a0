#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_tests.py BUILD: runs all tests. Those that mostly wait run beside those that compute. Those that other load
would disturb (devices, terminals, whatever has to keep a pace) run at the end: two at a time those that leave a core to
each other, the rest one by one. Prints a line for each test, and the output of those that failed; the last line is
"N passed, N failed".
"""

import collections
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TIMEOUT_S = 900
COMPUTING, WAITING, ALONE, QUIET = "computing", "waiting", "alone", "quiet"
# Stages run one after the other, the lanes of a stage at the same time. A lane runs the kinds of tests that it lists,
# in order. On two cores two lanes compute, and three when no test that waits is left.
CORES = os.cpu_count()
BESIDE = [[COMPUTING, WAITING]] * CORES + [[WAITING, COMPUTING]] + [[WAITING]] * (CORES - 1)
STAGES = (BESIDE, [[QUIET], [QUIET]], [[ALONE]])
PASSING = re.compile(
    r"\[( RUN      |       OK |----------)\]|.* \.\.\. ok$"
)  # what gtest and unittest say of tests that passed
Test = collections.namedtuple("Test", "name command part priority environment", defaults=(0, {}))


def tests_of(build):
    known = json.loads(
        subprocess.run(["meson", "introspect", build, "--tests"], capture_output=True, text=True, check=True).stdout
    )
    for test in known:
        suites = {suite.partition(":")[2] for suite in test["suite"]}
        parts = [part for part in (WAITING, ALONE) if part in suites]
        if len(parts) == 2:  # tests of both kinds in one file
            for part in parts:
                lane = QUIET if part == ALONE and QUIET in suites else part
                name, priority = f"{test['name']}, {part}", test["priority"]
                yield Test(name, test["cmd"], lane, priority, {"PARSHALL_TESTS": part})
        else:
            yield Test(
                test["name"], test["cmd"], *(parts or [COMPUTING if test["is_parallel"] else ALONE]), test["priority"]
            )
    parshall = str(build / "parshall")
    for name, *script in (
        ("captures against their truth", "tests/conformance/test_traces.py", parshall),
        ("TCP of captures against tshark and tcptrace", "tests/tasks/test_tcp.py", parshall),
        ("windows of captures against their truth", "tests/tasks/test_captures.py", parshall),
        ("captures with other seeds and workers", "tests/conformance/test_seeds.py", parshall),
        ("peer comparison's own tests", "lab/bench/peers/test_compare.py"),
    ):
        yield Test(name, ["python3", str(ROOT / script[0]), *script[1:]], COMPUTING, priority=1)


class Runner:
    def __init__(self, build):
        self._build, self._lock, self.passed, self.failed = build, threading.Lock(), 0, 0

    def run(self, queues):
        """Takes tests from each queue in turn until there is none."""
        for tests in queues:
            while True:
                try:
                    test = tests.get_nowait()
                except queue.Empty:
                    break
                began = time.monotonic()
                try:
                    status, said, cpu_s = self._run(test)
                except OSError as refused:
                    status, said, cpu_s = "not run", str(refused), 0
                self._tell(test, status, said, time.monotonic() - began, cpu_s)

    def _run(self, test):
        """Returns (exit status, output, CPU seconds of it and the processes that it waited for)."""
        running = subprocess.Popen(
            test.command,
            cwd=self._build,
            env=os.environ | test.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        late = threading.Timer(TIMEOUT_S, running.kill)
        late.start()
        with running.stdout:
            said = running.stdout.read().decode(errors="replace")
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        in_time = late.is_alive()
        late.cancel()
        return running.returncode if in_time else "no end", said, used.ru_utime + used.ru_stime

    def _tell(self, test, status, said, seconds, cpu_s):
        with self._lock:
            if status == 0:
                self.passed += 1
                print(f"ok      {test.name} ({seconds:.0f} s, CPU {cpu_s:.0f} s)")
                skipped = collections.Counter(re.findall(r".*SKIPPED.*", said))
                print("".join(f"{count:>7} {line.strip()}\n" for line, count in list(skipped.items())[:5]), end="")
                print("".join(line + "\n" for line in re.findall(r"^AGAIN .*", said, re.MULTILINE)), end="")
            else:
                self.failed += 1
                lines = [line for line in said.splitlines() if not PASSING.match(line)]
                print(f"FAILED  {test.name} ({seconds:.0f} s, {status})", *lines[-60:], sep="\n")
            sys.stdout.flush()


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    tests = list(tests_of(build))
    if len(tests) < 10:
        sys.exit(f"hardly a test in {build}: was it set up with -Dtests=false?")
    runner = Runner(build)
    queues = collections.defaultdict(queue.SimpleQueue)
    for test in sorted(tests, key=lambda test: -test.priority):  # the longest first
        queues[test.part].put(test)
    for lanes in STAGES:
        threads = [threading.Thread(target=runner.run, args=([queues[part] for part in lane],)) for lane in lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    runner.failed += len(tests) - runner.passed - runner.failed  # whatever kept them from being run
    print(f"{runner.passed} passed, {runner.failed} failed")
    sys.exit(runner.failed != 0)


if __name__ == "__main__":
    for ignored in (
        signal.SIGHUP,
        signal.SIGINT,
        signal.SIGQUIT,
    ):  # as of a shell's background: tests want the usual ones
        if signal.getsignal(ignored) == signal.SIG_IGN:
            signal.signal(ignored, signal.SIG_DFL)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    main()
