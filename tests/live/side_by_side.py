# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a file that mostly wait beside each other, and then those that other load would disturb (`@alone`),
one by one; only the former or the latter where PARSHALL_TESTS is `waiting` or `alone`: tools/run_tests.py runs the
former of several files at once.

One that is alone and fails while the machine held up what was to run (its host has other guests) says nothing, and is
run again."""

import concurrent.futures
import os
import subprocess
import sys
import threading
import time
import unittest

NAP_S, DELAY_S = 0.005, 0.01  # a thread that slept so long runs again within the other, but for what others do to it
HELD_UP_S = 0.05  # of such delays in all
ATTEMPTS = 3

# A network of its own, as `ip netns exec` gives: DPDK's net_af_packet names a fanout group by process and interface, by
# 16 bits that two may share.
OWN_NETWORK = (
    "unshare",
    "--net",
    "--mount",
    "sh",
    "-c",
    'mount -t sysfs sysfs /sys && ip link set lo up && exec "$@"',
    "sh",
)


def alone(test):
    """Of a test that has to keep a pace, or looks for what its like leave behind."""
    test.runs_alone = True
    return test


def is_thorough():
    """Whether this is `make nightly`, which repeats what is random and takes all sizes."""
    return bool(os.environ.get("PARSHALL_THOROUGH"))


def thorough(test):
    """Of a test that takes long, and whose like run always: CONTRIBUTING.md lists them."""
    return unittest.skipUnless(is_thorough(), "left to make nightly")(test)


def cases(suite):
    for test in suite:
        if isinstance(test, unittest.TestCase):
            yield test
        else:
            yield from cases(test)


class HeldUp:
    """A context: for how long threads of a process that does nothing, one on each core, were to run and did not; delays
    of DELAY_S and more, together."""

    def __enter__(self):
        self.seconds = 0.0
        self._watch = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._watch.stdout.readline()
        return self

    def __exit__(self, *_):
        told, _ = self._watch.communicate()
        self.seconds = float(told)


def watch_delays():
    """Until standard input ends; tells then."""
    delays, is_over = [], threading.Event()

    def watch(core):
        os.sched_setaffinity(threading.get_native_id(), {core})
        before = time.monotonic()
        while not is_over.is_set():
            time.sleep(NAP_S)
            now = time.monotonic()
            delays.append(now - before - NAP_S)
            before = now

    threads = [threading.Thread(target=watch, args=(core,)) for core in os.sched_getaffinity(0)]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    sys.stdin.read()
    is_over.set()
    for thread in threads:
        thread.join()
    print(sum(delay for delay in delays if delay >= DELAY_S))


class OneByOne(unittest.TestSuite):
    def run(self, result, debug=False):
        for test in self:
            found = self._outcome(test)
            result.testsRun += found.testsRun
            for kind in ("failures", "errors", "skipped", "expectedFailures", "unexpectedSuccesses"):
                getattr(result, kind).extend(getattr(found, kind))
        return result

    @staticmethod
    def _outcome(test):
        for attempt in range(1, ATTEMPTS + 1):
            found = unittest.TestResult()
            with HeldUp() as held_up:
                unittest.TestSuite([type(test)(test._testMethodName)]).run(found)
            if found.wasSuccessful() or held_up.seconds < HELD_UP_S or attempt == ATTEMPTS:
                return found
            print(
                f"AGAIN   {test.id()}: it failed while the machine held up what was to run, for "
                f"{1e3 * held_up.seconds:.0f} ms in all",
                *(text for _, text in found.failures + found.errors),
                sep="\n",
                flush=True,
            )


def main(*words, lanes=4):
    """Named tests in order; without a name all, a process for each that is not alone. `words` are what the script was
    given itself."""
    if len(sys.argv) > 1:
        unittest.main()
    tests = list(cases(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])))
    by_itself = [test for test in tests if getattr(getattr(test, test._testMethodName), "runs_alone", False)]
    beside = [test.id().removeprefix("__main__.") for test in tests if test not in by_itself]
    part = os.environ.get("PARSHALL_TESTS")
    if part == "waiting":
        by_itself = []
    elif part == "alone":
        beside = []

    def run(name):
        network = OWN_NETWORK if os.geteuid() == 0 else ()
        return subprocess.run(
            [*network, sys.executable, sys.argv[0], *words, name],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )

    with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
        ran = list(zip(beside, pool.map(run, beside)))
    failed = [(name, done.stdout) for name, done in ran if done.returncode != 0]
    for _, done in ran:
        print("".join(line + "\n" for line in done.stdout.splitlines() if "SKIPPED" in line), end="")
    print(f"{len(ran) - len(failed)} of {len(ran)} tests beside each other are right", flush=True)
    in_order = unittest.TextTestRunner().run(OneByOne(by_itself))
    for name, said in failed:
        print(f"FAILED beside others: {name}\n{said}")
    sys.exit(bool(failed) or not ran + by_itself or not in_order.wasSuccessful())


if __name__ == "__main__":
    watch_delays()
