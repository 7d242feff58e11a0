# SPDX-License-Identifier: Apache-2.0
"""The Python package where it is used as nobody should: in children, by threads, at the interpreter's end, and ten
thousand times.

usage: test_misuse.py [unittest arguments], by a Python that has parshall, pyarrow and numpy
"""

import ast
import gc
import multiprocessing
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import warnings

import pyarrow

import parshall

ENDLESS = "flows=100000,dist=uniform,size=64"
SMALL = {"generate": "flows=3,seed=1,packets=20", "count": 20, "flows": 64}


def program(code, timeout=60):
    """(status, output, errors) of it."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def in_child(work):
    """What work() returned in a forked child; or how that ended."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork with threads: which is what is tried
        child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            os.write(write, str(work()).encode())
        except BaseException as problem:  # noqa: BLE001
            os.write(write, f"{type(problem).__name__}: {problem}".encode())
        os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as file:
        said = file.read()
    _, status = os.waitpid(child, 0)
    return said if status == 0 else f"status {status}"


class TenThousandTimes(unittest.TestCase):
    def stays(self, session, times, most_bytes=6 << 20):
        """After some that warm up, neither memory, objects, threads nor files grow."""

        def state():
            gc.collect()
            resident = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
            return resident, len(gc.get_objects()), len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))

        for _ in range(times // 10):
            session()
        before = state()
        for _ in range(times):
            session()
        after = state()
        self.assertLess(after[0] - before[0], most_bytes, "bytes")
        self.assertLess(after[1] - before[1], 50, "objects")
        self.assertEqual(after[2:], before[2:], "threads, files")

    def test_sessions_leave_nothing(self):
        settings, none_before = dict(SMALL), sys.getrefcount(None)

        def session():
            with parshall.flows(**settings) as flows:
                self.assertEqual(sum(flow.packets for flow in flows), 20)

        self.stays(session, int(os.environ.get("PARSHALL_SESSIONS", 10_000)))
        self.assertLess(sys.getrefcount(settings), 4)
        self.assertLess(abs(sys.getrefcount(None) - none_before), 1000)

    def test_sessions_that_are_left_leave_nothing(self):
        def session():
            flows = parshall.flows(**{**SMALL, "count": 100000})
            pyarrow.schema(flows)
            batch = next(flows.batches(), None)
            if batch is not None:
                batch.__arrow_c_array__()

        self.stays(session, 500)

    def test_streams_of_arrow_leave_nothing(self):
        def session():
            reader = pyarrow.RecordBatchReader.from_stream(parshall.flows(**SMALL))
            self.assertEqual(sum(sum(batch.column("packets").to_pylist()) for batch in reader), 20)

        self.stays(session, 500)

    def test_errors_leave_nothing(self):
        def session():
            for call in (
                lambda: parshall.flows("/nonexistent"),
                lambda: parshall.flows(generate="flows=1", key=object()),
                lambda: parshall.send(generate="x"),
                lambda: parshall.train("/nonexistent", [{}]),
                lambda: parshall.Model.load("/nonexistent"),
            ):
                try:
                    call()
                except (parshall.Error, TypeError):
                    continue
                self.fail("no error")

        self.stays(session, 1000)

    def test_frames_and_models_leave_nothing(self):
        samples = [["class", "capture", "size_1"]] + [
            [name, capture, size + capture] for name, size in (("a", 60), ("b", 900)) for capture in range(4)
        ]
        settings = {"samples": samples, "least_flows": 2, "folds": 2, "longest": 1000}

        def session():
            frames = parshall.send(generate="flows=3,seed=1,packets=100", count=100)
            self.assertEqual(len(frames[99]), int(frames.lengths[99]))
            model = parshall.train(**settings)
            self.assertEqual(model.predict([[60], [900]]), ["a", "b"])

        self.stays(session, 1000)


class Forks(unittest.TestCase):
    def test_a_child_is_refused_what_its_parent_runs(self):
        with parshall.flows(generate=ENDLESS, idle="1us") as flows:
            batches = flows.batches()
            batch = next(batches)
            for work in (
                lambda: next(batches),
                lambda: flows.to_arrow(),
                lambda: flows.accounting,
                lambda: flows.counters,
                lambda: pyarrow.RecordBatchReader.from_stream(flows).read_all(),
            ):
                self.assertRegex(
                    in_child(work), "^(Error|ArrowInvalid|OSError).*: this run is of the process that began it"
                )
            self.assertEqual(
                in_child(lambda: (flows.close(), len(batch.lists()[0]) == len(batch), len(flows.schema) > 5)[1:]),
                "(True, True)",
            )
            self.assertGreater(len(next(batches)), 0)

    def test_a_child_runs_what_is_its_own(self):
        with parshall.flows(generate=ENDLESS) as flows:
            self.assertEqual(in_child(lambda: sum(flow.packets for flow in parshall.flows(**SMALL))), "20")
            self.assertEqual(in_child(lambda: len(parshall.send(generate="flows=1", count=7))), "7")
            self.assertFalse(flows._stream.ended)

    def test_a_child_that_forgets_or_ends_is_none_of_the_parents_business(self):
        code = """
            import gc, os, sys, warnings
            warnings.simplefilter("ignore", DeprecationWarning)
            import parshall
            flows = parshall.flows(generate="flows=100000,dist=uniform")
            held = [flows, iter(flows), flows._stream.__arrow_c_stream__()]
            child = os.fork()
            if child == 0:
                del flows
                held.clear()
                gc.collect()
                sys.exit(7)  # as a whole interpreter
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flows._stream.ended)
        """
        self.assertEqual(program(code), (0, "7 False\n", ""))

    def test_a_fork_while_threads_read(self):
        stop = threading.Event()

        def read():
            while not stop.is_set():
                for _ in parshall.flows(**SMALL):
                    pass

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(20):
                self.assertEqual(in_child(lambda: sum(flow.packets for flow in parshall.flows(**SMALL))), "20")
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_pools_of_processes(self):
        for method in ("spawn", "forkserver"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(packets_of, [1, 2, 3]), [20, 20, 20])


def packets_of(seed):
    return sum(flow.packets for flow in parshall.flows(**{**SMALL, "generate": f"flows=3,packets=20,seed={seed}"}))


class InterpretersEnd(unittest.TestCase):
    def ends(self, code, status=0, output=""):
        for _ in range(3):
            began = time.monotonic()
            self.assertEqual(
                program("import parshall, pyarrow, sys, threading, time, atexit\n" + textwrap.dedent(code)),
                (status, output, ""),
            )
            self.assertLess(time.monotonic() - began, 10)

    def test_in_the_middle_of_a_run(self):
        """No thread is left by the time that the interpreter takes itself apart."""
        for code, status in (
            (f"flows = parshall.flows(generate={ENDLESS!r}, idle='1us')", 0),
            (f"flows = parshall.flows(generate={ENDLESS!r}, idle='1us'); batches = flows.batches(); next(batches)", 0),
            (f"flows = parshall.flows(generate={ENDLESS!r}); reader = flows._stream.__arrow_c_stream__()", 0),
            (
                f"import builtins; builtins.kept = parshall.flows(generate={ENDLESS!r}); builtins.kept.self = "
                f"builtins.kept; sys.exit(3)",
                3,
            ),
        ):
            late = (
                "import atexit, os, sys; atexit.register(lambda: print(len(os.listdir('/proc/self/"
                "task'))))\nimport "
                "parshall\n"
            )
            self.assertEqual(program(late + code), (status, "1\n", ""))

    def test_while_another_thread_reads(self):
        read = f"""
            def read():
                with parshall.flows(generate={ENDLESS!r}, {{}}) as flows:
                    {{}}
            threads = [threading.Thread(target=read, daemon=True) for _ in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(0.5)
        """
        self.ends(read.format("", "list(flows.batches())"))
        self.ends(read.format("idle='1us'", "[flow for flow in flows]"))
        self.ends(read.format("task=['count'], window='10ms'", "time.sleep(0.3), flows.counters, flows.to_arrow()"))

    def test_while_another_thread_opens_sends_or_closes(self):
        work = """
            def work():
                while True:
                    {}
            threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(0.5)
        """
        self.ends(work.format("parshall.flows(generate='flows=1000').close()"))
        self.ends(work.format("parshall.send(generate='flows=1000', count=30_000_000)"))
        self.ends(work.format("parshall.send('/dev/null', generate='flows=1000', count='1G')"))

    def test_what_is_begun_too_late(self):
        code = """
            import atexit
            def last():
                import parshall
                for call in (
                    lambda: parshall.flows(generate="flows=1", count=1),
                    lambda: next(flows.batches()),
                    lambda: parshall.send(generate="flows=1", count=1),
                ):
                    try:
                        call()
                    except parshall.Error as error:
                        print(error)
                flows.close()
            atexit.register(last)  # first, so that it is called after parshall's own
            import parshall
            flows = parshall.flows(generate="flows=1000")
        """
        self.assertEqual(program(code), (0, "the interpreter ends\n" * 3, ""))


class Threads(unittest.TestCase):
    def test_many_read_one_run(self):
        sums, problems = [], []
        flows = parshall.flows(generate="flows=50000", count=2_000_000, idle="1us")

        def read():
            try:
                for batch in flows.batches():
                    sums.append(sum(batch.lists()[[column.name for column in flows.schema].index("packets")]))
            except Exception as problem:  # noqa: BLE001
                problems.append(problem)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((problems, sum(sums)), ([], 2_000_000))

    def test_many_close_what_one_reads(self):
        for _ in range(20):
            flows = parshall.flows(generate=ENDLESS, idle="1us")
            reader = threading.Thread(target=lambda flows=flows: list(flows.batches()))
            closers = [threading.Thread(target=flows.close) for _ in range(4)]
            for thread in (reader, *closers):
                thread.start()
            for thread in (reader, *closers):
                thread.join(20)
                self.assertFalse(thread.is_alive())

    def test_the_interpreter_is_free_meanwhile(self):
        """A thread that counts is hardly slower while another reads, trains or sends, but for the machine's own
        share."""
        beats, stop = [0], threading.Event()

        def beat():
            while not stop.is_set():
                time.sleep(0.001)
                beats[0] += 1

        threading.Thread(target=beat, daemon=True).start()
        rates = {}
        for name, work in (
            ("read", lambda: parshall.flows(generate="flows=100000", count=20_000_000).to_arrow()),
            ("send", lambda: parshall.send("/dev/null", generate="flows=10", count=20_000_000)),
        ):
            beats[0], began = 0, time.monotonic()
            work()
            rates[name] = beats[0] / (time.monotonic() - began)
        stop.set()
        for rate in rates.values():
            self.assertGreater(rate, 100, rates)

    def test_many_ask_one_model(self):
        import numpy

        sizes = numpy.random.default_rng(1).integers(1, 1500, (20000, 2))
        model = parshall.train(
            samples=[["class", "capture", "size_1", "size_2"]]
            + [[size % 3, size % 7, size * 11 % 1400 + 40, size % 900 + 40] for size in range(1, 900)],
            folds=5,
        )
        expected, found = model.predict(sizes).tolist(), []
        threads = [
            threading.Thread(target=lambda: found.append(model.predict(sizes).tolist() == expected)) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [True] * 8)


class UsedTwiceOrClosed(unittest.TestCase):
    def test_a_run_that_was_read_has_no_more(self):
        flows = parshall.flows(**SMALL)
        self.assertEqual(sum(flow.packets for flow in flows), 20)
        for read in (lambda: list(flows), lambda: list(flows.batches()), flows.to_arrow):
            with self.assertRaisesRegex(parshall.Error, "read to their end"):
                read()
        flows.close()
        flows.close()
        with self.assertRaisesRegex(parshall.Error, "read to their end"):
            list(flows)
        self.assertEqual(flows.accounting["counted"], 20)
        self.assertEqual(pyarrow.RecordBatchReader.from_stream(flows).read_all().num_rows, 0)

    def test_a_run_that_is_closed_has_no_more(self):
        for make in (
            lambda: parshall.flows(generate=ENDLESS),
            lambda: parshall.windows(generate=ENDLESS, tasks=["count"]),
            lambda: parshall.watch(generate=ENDLESS),
        ):
            run = make()
            iterator = iter(run)
            run.close()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", parshall.LossWarning)
                self.assertEqual(list(iterator), [])
            with self.assertRaisesRegex(parshall.Error, "read to their end, or closed"):
                list(run)
            self.assertIsInstance(run.counters, dict)
            with run:
                pass

    def test_ctrl_c_leaves_with_and_close_at_once(self):
        """Though a table that large takes its time to end."""
        large = "parshall.flows(generate='flows=1000000,size=64', flows='200M', columns='+all', idle='1us')"
        for body in (
            f"with {large} as flows:\n    for batch in flows.batches(): batch.lists()",
            f"flows = {large}; flows.close(); time.sleep(9)",
            f"with {large}: time.sleep(9)",
        ):
            code = textwrap.dedent("""
                import parshall, signal, time
                def interrupt(*_):
                    raise KeyboardInterrupt
                signal.signal(signal.SIGINT, interrupt)
                print("begins", flush=True)
                try:
                    {}
                except KeyboardInterrupt:
                    print(time.monotonic(), flush=True)
            """).format(body.replace("\n", "\n    "))
            took_s = []
            for _ in range(3):  # of a machine with other work: the engine has all cores
                process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
                self.assertEqual(process.stdout.readline(), "begins\n")
                time.sleep(0.5)
                asked = time.monotonic()
                process.send_signal(signal.SIGINT)
                out, _ = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0)
                took_s.append(float(out) - asked)
                if took_s[-1] < 0.1:
                    break
            self.assertLess(min(took_s), 0.1, body)

    def test_a_batch_is_given_away_once(self):
        batch = next(parshall.flows(**SMALL).batches())
        pyarrow.record_batch(batch)
        for call in (batch.lists, batch.addresses, batch.__arrow_c_array__):
            with self.assertRaisesRegex(parshall.Error, "given to another library"):
                call()
        self.assertEqual(len(batch), 0)


class Watching(unittest.TestCase):
    TRAFFIC = {"generate": "flows=9,rate=1000,seed=1", "count": 2500}

    def test_windows_are_whole(self):
        with parshall.watch(**self.TRAFFIC, tasks=["heavy-hitters:threshold=100", "count"]) as watching:
            windows = list(watching)
        self.assertEqual(
            [(window.packets, window.partial, window.count["packets"]) for window in windows],
            [(1000, False, 1000), (1000, False, 1000), (500, True, 500)],
        )
        self.assertEqual([window.begin for window in windows], [1577836800_000000000 + 10**9 * i for i in range(3)])
        with parshall.windows(**self.TRAFFIC, tasks=["heavy-hitters:threshold=100"], window="1s") as found:
            self.assertEqual([finding for window in windows for finding in window.findings], list(found))
        self.assertGreater(len(windows[0].findings), 3)

    def test_windows_of_packets_begin_and_end_at_packets(self):
        windows = list(parshall.watch(**self.TRAFFIC, every="1000p"))
        self.assertEqual(
            [(window.begin, window.end, window.packets) for window in windows],
            [(0, 1000, 1000), (1000, 2000, 1000), (2000, 3000, 500)],
        )

    def test_a_callback_gets_them_and_can_end_it(self):
        got = []
        account = parshall.watch(**self.TRAFFIC, every="500ms", on_window=got.append)
        self.assertEqual(([window.packets for window in got], account["counted"]), ([500] * 5, 2500))
        got = []
        parshall.watch(
            generate="flows=9,rate=1000", every="10ms", on_window=lambda window: got.append(window) or len(got) < 3
        )
        self.assertEqual(len(got), 3)
        with self.assertRaises(ZeroDivisionError):
            parshall.watch(**self.TRAFFIC, on_window=lambda window: 1 / 0)
        self.assertEqual(
            [window.packets for window in parshall.watch(**self.TRAFFIC, tasks="heavy-hitters")], [1000, 1000, 500]
        )
        with self.assertRaisesRegex(TypeError, "on_window=3"):
            parshall.watch(**self.TRAFFIC, on_window=3)
        with self.assertRaisesRegex(parshall.Error, "window"):
            parshall.watch(**self.TRAFFIC, every="1x")

    def test_windows_come_while_they_end(self):
        with parshall.watch(generate="flows=9,pace=1000", every="100ms") as watching:
            began = time.monotonic()
            next(iter(watching))
            self.assertLess(time.monotonic() - began, 2)

    def test_ctrl_c_ends_it_soon(self):
        for watch in (
            "for _ in parshall.watch(generate='flows=9,pace=1000', every='10s'): pass",
            "parshall.watch(generate='flows=9,pace=1000', every='10ms', on_window=lambda _: None)",
        ):
            code = f"""
                import parshall, signal, time
                def interrupt(*_):
                    global raised
                    raised = time.monotonic()
                    raise KeyboardInterrupt
                signal.signal(signal.SIGINT, interrupt)
                print("begins", flush=True)
                try:
                    {watch}
                except KeyboardInterrupt:
                    print(raised, time.monotonic())
            """
            process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
            self.assertEqual(process.stdout.readline(), "begins\n")
            time.sleep(0.5)
            asked = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 0)
            raised, told = map(float, out.split())
            self.assertLess(raised - asked, 0.1)
            self.assertLess(told - asked, 2)

    def test_progress_is_shown_where_it_can_be(self):
        code = (
            "import sys; {}import parshall; assert sum(flow.packets for flow in parshall.flows(generate='flows=9', "
            "count=1000, progress=True)) == 1000"
        )
        status, _, errors = program(code.format(""))
        self.assertEqual(status, 0, errors)
        self.assertRegex(errors, r"100%.*1\.00k/1\.00k.* packets/s")
        self.assertEqual(program(code.format("sys.modules['tqdm'] = None; ")), (0, "", ""))

    def test_progress_through_a_file_is_of_its_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "capture.pcap")
            parshall.send(path, generate="flows=200000,size=64", count=1_000_000)
            with parshall.flows(
                path, idle="1us"
            ) as flows:  # more records than wait: it stands still until they are read
                batches, shares = flows.batches(), []
                for _ in batches:
                    shares.append(flows._stream.share_read)
            self.assertEqual((sorted(shares), shares[-1]), (shares, 1))
            self.assertLess(shares[0], 0.9)
            with parshall.flows(path, workers=2) as flows:
                flows.to_arrow()
            self.assertEqual(flows._stream.share_read, 1)
            code = f"import parshall; parshall.flows({path!r}, progress=True).to_arrow()"
            self.assertRegex(program(code)[2], r"100%.*76\.0M/76\.0M.*B/s")
            subprocess.run(["gzip", "-1", path], check=True)
            code = f"import parshall; parshall.flows({path + '.gz'!r}, progress=True).to_arrow()"
            self.assertRegex(program(code)[2], r"1\.00M packets")


class Stubs(unittest.TestCase):
    def test_they_name_what_the_module_has(self):
        native, here = parshall._native, pathlib.Path(parshall.__file__).parent
        there = ast.parse((here / "_native.pyi").read_text(encoding="utf-8")).body
        names = {
            node.target.id if isinstance(node, ast.AnnAssign) else node.name
            for node in there
            if isinstance(node, (ast.AnnAssign, ast.ClassDef, ast.FunctionDef))
        }
        self.assertEqual(names, {name for name in vars(native) if not name.startswith("_")})
        for node in there:
            if isinstance(node, ast.ClassDef):
                said = {
                    one.target.id if isinstance(one, ast.AnnAssign) else one.name
                    for one in node.body
                    if isinstance(one, (ast.AnnAssign, ast.FunctionDef))
                }
                has = {name for name in vars(getattr(native, node.name)) if not name.startswith("__") or name in said}
                self.assertEqual(said, has, node.name)

    def test_all_that_is_public_is_described(self):
        for name in parshall.__all__:
            self.assertTrue(getattr(parshall, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
