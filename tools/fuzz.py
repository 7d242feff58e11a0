#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fuzz.py [--hours CPU_HOURS] [--jobs N] [--build FOLDER] [--captures FOLDER] [--table] [TARGET...]: fuzzes all
targets, or those named, in turns.

Whoever had the least time comes next, for a slice. Corpora grow in FOLDER/corpus, inputs that break something stay in
FOLDER/artifacts, and what all runs so far took is in
FOLDER/fuzzing.json, so that hours add up over runs. The end, and --table alone, is a table. The exit status is 1 where
there are findings.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
FUZZ = ROOT / "tests/fuzz"
FINDINGS = ("crash-*", "leak-*", "timeout-*", "oom-*")
LONGEST_INPUT_S, MOST_MEMORY_MB = 60, 2048
# What each target is for: where its lines are counted.
SOURCES = {
    "capture_file": (
        "src/pipeline/capture/capture_parser.cpp",
        "src/pipeline/capture/erf_parser.cpp",
        "src/pipeline/capture/pcap_parser.cpp",
        "src/pipeline/capture/pcapng_parser.cpp",
    ),
    "compressed": ("src/pipeline/capture/compressed",),
    "connection": ("src/pipeline/measure/tcp",),
    "dns": ("src/pipeline/decode/application/dns.cpp",),
    "echo": ("tester/closed_loop/echo_exchange.cpp", "tester/closed_loop/served_connection.cpp"),
    "exported": (
        "src/verify/exported_file.cpp",
        "src/verify/ipfix_file.cpp",
        "src/verify/json_lines_file.cpp",
        "src/verify/parquet_file.cpp",
        "src/parquet/layout.cpp",
        "src/parquet/thrift_reader.hpp",
        "src/parquet/values.cpp",
    ),
    "filter": ("src/pipeline/capture/bpf_filter.cpp",),
    "frame": (
        "src/pipeline/decode/application/payload.cpp",
        *(
            f"src/pipeline/decode/{name}.cpp"
            for name in "common_path decode dscp ip link packet_name side tcp tunnel walk wlan".split()
        ),
    ),
    "http": ("src/pipeline/decode/application/http.cpp",),
    "labels": (
        "src/classify/labels.cpp",
        "src/classify/csv_labels.cpp",
        "src/classify/csv_records.hpp",
        "src/classify/label_flow.cpp",
        "src/classify/label_reading.cpp",
        "src/classify/ndpi_labels.cpp",
        "src/classify/parquet_labels.cpp",
        "src/parquet/compression.cpp",
        "src/parquet/texts.cpp",
        "src/classify/text_lines.hpp",
        "src/classify/zeek_labels.cpp",
        "src/classify/zeek_log.cpp",
    ),
    "live": (
        "src/app/live/state.cpp",
        "src/app/live/text.cpp",
        "src/app/live/table.cpp",
        "src/app/live/screen.cpp",
        "src/app/live/screen_body.cpp",
    ),
    "model": (
        "src/classify/model_file.cpp",
        "src/classify/model_reader.cpp",
        "src/classify/naive_bayes.cpp",
        "src/classify/decision_tree.cpp",
    ),
    "plan": (
        "src/parshall/plan_settings.cpp",
        "src/parshall/settings.hpp",
        "src/pipeline/output/files/configuration_file.cpp",
        "src/parshall/wiring.cpp",
    ),
    "quic": (
        "src/pipeline/decode/application/quic.cpp",
        "src/pipeline/decode/application/quic_frames.cpp",
        "src/pipeline/decode/application/first_bytes.hpp",
    ),
    "records": (
        "src/pipeline/output/arrow",
        "src/pipeline/output/ipfix/ipfix.cpp",
        "src/pipeline/output/ipfix/fields.cpp",
        "src/pipeline/output/ipfix/writer.cpp",
        "src/pipeline/output/parquet/chunk.cpp",
        "src/pipeline/output/parquet/encodings.cpp",
        "src/pipeline/output/parquet/file.cpp",
        "src/pipeline/output/json/json_lines.cpp",
    ),
    "samples": ("src/classify/sample_csv.cpp", "src/classify/csv_records.hpp"),
    "states": ("src/pipeline/measure/states/state_plan.cpp",),
    "stream": ("src/pipeline/capture/stream_ring.cpp", "src/pipeline/capture/stream_source.cpp"),
    "tasks": ("src/pipeline/measure/tasks",),
    "test_frame": ("tester/frame_reader.cpp",),
    "tls": ("src/pipeline/decode/application/tls.cpp", "src/pipeline/decode/application/ja4.cpp"),
    "traffic": (
        "src/traffic/traffic_spec.cpp",
        "src/traffic/traffic_settings.cpp",
        "src/traffic/frame_sizes.cpp",
        "src/traffic/traffic.cpp",
        "src/traffic/flow_frames.cpp",
    ),
    "web": ("src/web/request.cpp", "src/web/address.cpp", "src/web/access.cpp"),
    "words": (
        "src/base/parse.hpp",
        "src/traffic/send_schedule.cpp",
        "src/parshall/send_choices.cpp",
        "src/parshall/marks.cpp",
        "src/pipeline/capture/device_name.cpp",
        "src/pipeline/output/ipfix/target.cpp",
        "src/pipeline/output/receivers",
        "src/pipeline/output/transport/address.cpp",
        "src/pipeline/output/parquet/target.cpp",
        "src/pipeline/output/kafka/target.cpp",
        "tester/search/search_goal.cpp",
        "tester/closed_loop/endpoint.cpp",
        "tester/watch_loss/monitor_command.cpp",
        "src/pipeline/measure/names.cpp",
        "src/app/send_orders.cpp",
    ),
}


def files_in(folder):
    return sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0


def share_of_lines(files, sources):
    """In %, of what these files and folders have, wherever the project was when it was built."""
    lines = [
        file["summary"]["lines"]
        for file in files
        if any(f"/{source}/" in os.path.normpath(file["filename"]) + "/" for source in sources)
    ]
    return 100 * sum(each["covered"] for each in lines) / max(1, sum(each["count"] for each in lines))


class Fuzzing:
    """All runs so far, in one file; and this one."""

    def __init__(self, build, targets, seeds):
        self.build, self.targets, self._seeds = build, targets, seeds
        self._path = build / "fuzzing.json"
        self._lock = threading.Lock()
        self.total = collections.defaultdict(
            lambda: {"executions": 0, "cpu_s": 0.0, "edges": 0, "of_edges": 0, "new_files": 0}
        )
        if self._path.exists():
            self.total.update(json.loads(self._path.read_text()))
        self._now = dict.fromkeys(targets, 0.0)  # CPU seconds of this run
        self._running, self._children, self.stopped = set(), set(), False

    def program(self, target):
        return self.build / "tests/fuzz" / f"fuzz_{target}"

    def corpus(self, target):
        return self.build / "corpus" / target

    def findings(self, target):
        folder = self.build / "artifacts" / target
        return sorted(path for pattern in FINDINGS for path in folder.glob(pattern))

    def cpu_s(self):
        return sum(self._now.values())

    def stop(self, *_):
        self.stopped = True
        for child in list(self._children):
            child.send_signal(signal.SIGINT)

    def work(self, cpu_s, slice_s):
        """Slices until all targets together had so many CPU seconds."""
        while True:
            with self._lock:
                left = cpu_s - self.cpu_s()
                waiting = [target for target in self.targets if target not in self._running]
                if self.stopped or left <= 0 or not waiting:
                    return
                target = min(waiting, key=self._now.get)
                self._running.add(target)
            try:
                self._run(target, max(1, round(min(slice_s, left))))
            finally:
                with self._lock:
                    self._running.discard(target)

    def _run(self, target, seconds):
        corpus, artifacts = self.corpus(target), self.build / "artifacts" / target
        corpus.mkdir(parents=True, exist_ok=True)
        artifacts.mkdir(parents=True, exist_ok=True)
        before = files_in(corpus)
        dictionary = FUZZ / "dictionaries" / f"{target}.dict"
        folders = [corpus, *(folder for folder in (FUZZ / "corpus" / target, self._seeds / target) if folder.is_dir())]
        command = [
            self.program(target),
            *folders,
            f"-max_total_time={seconds}",
            f"-artifact_prefix={artifacts}/",
            "-print_final_stats=1",
            f"-timeout={LONGEST_INPUT_S}",
            f"-rss_limit_mb={MOST_MEMORY_MB}",
            *([f"-dict={dictionary}"] if dictionary.exists() else []),
        ]
        with tempfile.TemporaryFile() as log:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | {"LLVM_PROFILE_FILE": "/dev/null"},
            )
            self._children.add(child)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self._children.discard(child)
            log.seek(0)
            said = log.read().decode(errors="replace")
        (artifacts / "last.log").write_text(said[-20000:])
        with self._lock:
            self._add(target, said, used.ru_utime + used.ru_stime, files_in(corpus) - before)
        held_up = self._forget_held_up(target)
        if child.returncode != 0 and not self.stopped and not held_up:
            print(f"{target}: ended with {child.returncode}: {artifacts}/last.log", flush=True)

    def _forget_held_up(self, target):
        """libFuzzer's clock goes on while others have the processor: what takes little time of it is no finding.
        Whether there was one."""
        forgotten = False
        for path in (self.build / "artifacts" / target).glob("timeout-*"):
            again = subprocess.run(
                ["prlimit", f"--cpu={LONGEST_INPUT_S}", self.program(target), "-timeout=10000", path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"LLVM_PROFILE_FILE": "/dev/null"},
            )
            if again.returncode == 0:
                path.unlink()
                forgotten = True
        return forgotten

    def _add(self, target, said, cpu_s, new_files):
        self._now[target] += cpu_s
        total = self.total[target]
        if executions := re.search(r"stat::number_of_executed_units: *(\d+)", said):
            total["executions"] += int(executions[1])
        total["cpu_s"] += cpu_s
        total["new_files"] += new_files
        if edges := re.findall(r" cov: (\d+) ", said):
            total["edges"] = max(total["edges"], int(edges[-1]))
        if of := re.search(r"\((\d+) inline 8-bit counters\)", said):
            total["of_edges"] = int(of[1])
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self.total, indent=1, sort_keys=True))
        part.rename(self._path)

    def lines(self, target):
        """The share of the lines of what the target is for that its corpus comes to, in %; None where LLVM's tools are
        not there."""
        profdata, cov = (shutil.which(tool) or shutil.which(tool + "-14") for tool in ("llvm-profdata", "llvm-cov"))
        if not profdata or not cov:
            return None
        with tempfile.TemporaryDirectory() as folder:
            raw, merged = f"{folder}/raw", f"{folder}/merged"
            folders = [path for path in (self.corpus(target), FUZZ / "corpus" / target) if path.is_dir()]
            subprocess.run(
                [self.program(target), "-runs=0", *folders],
                env=os.environ | {"LLVM_PROFILE_FILE": raw},
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            if (
                not pathlib.Path(raw).exists()
                or subprocess.run([profdata, "merge", "-sparse", raw, "-o", merged]).returncode != 0
            ):
                return None
            told = subprocess.run(
                [cov, "export", "-summary-only", f"-instr-profile={merged}", str(self.program(target))],
                capture_output=True,
                text=True,
            )
            return (
                share_of_lines(json.loads(told.stdout)["data"][0]["files"], SOURCES[target])
                if told.returncode == 0
                else None
            )

    def table(self):
        print(
            f"{'target':13}{'executions':>13}{'CPU s':>9}{'exec/s':>8}{'edges':>15}{'lines':>8}{'new files':>11}"
            f"{'findings':>10}"
        )
        for target in self.targets:
            total, lines = (
                self.total[target],
                None if self.stopped else self.lines(target),
            )  # who interrupts it waits for nothing
            rate = total["executions"] / total["cpu_s"] if total["cpu_s"] else 0
            print(
                f"{target:13}{total['executions']:>13,}{total['cpu_s']:>9.0f}{rate:>8.0f}{total['edges']:>7} of "
                f"{total['of_edges']:<5}"
                f"{'-' if lines is None else f'{lines:.1f} %':>7}{total['new_files']:>11}"
                f"{len(self.findings(target)):>10}"
            )
        hours = sum(self.total[target]["cpu_s"] for target in self.targets) / 3600
        found = [path for target in self.targets for path in self.findings(target)]
        print(f"{hours:.2f} CPU-hours in all runs, {self.cpu_s() / 3600:.2f} in this one; {len(found)} findings")
        for path in found:
            print(f"  {self.program(path.parent.name)} {path}")
        return found


def build_targets(build, targets):
    if not (build / "build.ninja").exists():
        subprocess.run(
            ["meson", "setup", str(build), "--buildtype=plain", "-Doptimization=1", "-Dfuzz=true", "-Ddpdk=disabled"],
            cwd=ROOT,
            env=os.environ | {"CC": "clang", "CXX": "clang++"},
            stdout=subprocess.DEVNULL,
            check=True,
        )
    subprocess.run(
        ["ninja", "-C", str(build), "--quiet", *(f"tests/fuzz/fuzz_{target}" for target in targets)], check=True
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--hours", type=float, default=1, help="of one core, of all targets together")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("FUZZ_JOBS") or os.cpu_count()))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-fuzz")
    parser.add_argument("--slice", type=float, default=120, help="seconds that a target has at a time")
    parser.add_argument("--captures", help="folder of captures, as more seeds")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--table", action="store_true", help="nothing but the table")
    asked = parser.parse_args()
    unknown = [target for target in asked.targets if target not in SOURCES]
    if unknown:
        parser.error(f"no target {', '.join(unknown)}; there are {', '.join(SOURCES)}")
    targets = asked.targets or list(SOURCES)
    if not asked.table and not asked.no_build:
        build_targets(asked.build, targets)
    with tempfile.TemporaryDirectory() as seeds:
        fuzzing = Fuzzing(asked.build, targets, pathlib.Path(seeds))
        if not asked.table:
            program = ROOT / "build/parshall"
            environment = ({"PARSHALL": str(program)} if program.exists() else {}) | os.environ
            subprocess.run(
                [sys.executable, FUZZ / "seed_corpus.py", seeds, *([asked.captures] if asked.captures else [])],
                stdout=subprocess.DEVNULL,
                env=environment,
                check=True,
            )
            for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(each) != signal.SIG_IGN:  # of nohup, and of a shell's background
                    signal.signal(each, fuzzing.stop)
            workers = [
                threading.Thread(target=fuzzing.work, args=(asked.hours * 3600, asked.slice))
                for _ in range(min(asked.jobs, len(targets)))
            ]
            for worker in workers:
                worker.start()
            while any(worker.is_alive() for worker in workers):
                time.sleep(0.2)  # a signal is for this thread
        found = fuzzing.table()
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
