# SPDX-License-Identifier: Apache-2.0
"""Runs that are kept: each is measured in a process of its own, once for a program and its arguments, and found
again."""

import hashlib
import json
import pathlib
import subprocess
import sys
import time

import headers
import quiet
from rows import MissingRows, Rows, over_runs


def command_of(run):
    """As a reader would type it."""
    if run.module:
        return run.module.COMMANDS
    return (
        "parshall bench "
        + " ".join(run.arguments).replace(headers.PLACE, f"-r {headers.NAME}")
        + (" --seed N" if run.seeded else "")
    )


def bench(parshall, arguments, path):
    done = subprocess.run(
        [parshall, "bench", *arguments, "--format", "json", "-o", path], stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0 or "stopped after" in done.stderr:
        raise RuntimeError(
            f"parshall bench {arguments[0]} ended with {done.returncode}: "
            f"{(done.stderr.strip().splitlines() or ['no word'])[-1]}"
        )


class Store:
    """Runs of one program in a folder."""

    def __init__(self, parshall, folder, is_quick=False, is_busy_fine=False):
        self.parshall = parshall
        self.folder = pathlib.Path(folder)
        self.is_quick = is_quick
        self.is_busy_fine = is_busy_fine
        programs = [pathlib.Path(parshall), *pathlib.Path(parshall).parent.glob("parshall-*[a-z]")]
        self.failed = []  # names of runs that gave no figures
        self.waiting = []  # of those that wait for a machine that has little else to do
        self._program = hashlib.sha256(
            b"".join(program.read_bytes() for program in sorted(programs) if program.is_file())
        ).hexdigest()

    def wanted(self, runs):
        """Of a dictionary, those that are to be measured."""
        return {name: run for name, run in runs.items() if not self.is_quick or run.quick is not None}

    def path(self, name, run, number):
        what = run.module.version() if run.module else headers.version(run.quick if self.is_quick else run.arguments)
        version = hashlib.sha256(f"{what} {self._program}".encode()).hexdigest()[:12]
        return self.folder / f"{name}-{number}-{version}.json"

    def _arguments(self, run, number):
        arguments = headers.expanded(list(run.quick if self.is_quick else run.arguments), self.folder)
        return arguments + ["--seed", str(number)] if run.seeded else arguments

    def measure(self, runs, passes, seconds, again=False):
        """All of the first pass, then of the second, ...; returns whether the time was enough for all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        end = time.monotonic() + seconds
        for number in range(1, passes + 1):
            for name, run in self._of_pass(runs, number).items():
                path = self.path(name, run, number)
                if path.exists() and not again and not _is_empty(path):
                    continue
                if time.monotonic() > end:
                    return False
                if run.by_clock and not self.is_busy_fine and self._is_busy(name):
                    continue
                print(f"run {number} of {min(passes, run.passes or passes)}, {name}: {command_of(run)}", flush=True)
                try:
                    self._measure_one(run, path, number)
                except (
                    RuntimeError,
                    OSError,
                    ValueError,
                    LookupError,
                    TypeError,
                    subprocess.SubprocessError,
                ) as reason:
                    print(f"{name} is left out: {type(reason).__name__}: {reason}", file=sys.stderr)
                    self.failed.append(name)
        return True

    def _is_busy(self, name):
        share = quiet.share_of_others()
        if share > quiet.MOST:
            print(
                f"{name} waits: others have {share:.0%} of the cores, and it goes by the wall clock (--busy measures "
                f"all the same)",
                file=sys.stderr,
            )
            self.waiting.append(name)
        return share > quiet.MOST

    def _of_pass(self, runs, number):
        return {name: run for name, run in self.wanted(runs).items() if run.passes is None or number <= run.passes}

    def _measure_one(self, run, path, number):
        part = path.with_suffix(".part")
        if run.module:
            run.module.measure(self.parshall, part)
        else:
            bench(self.parshall, self._arguments(run, number), part)
        part.rename(path)

    def found(self, runs, passes):
        """Rows over the passes that there are; of how many passes each is; and the files: all by name. Passes without
        rows count where there are no others."""
        there = {}
        for number in range(1, passes + 1):
            for name, run in self._of_pass(runs, number).items():
                if self.path(name, run, number).exists():
                    there.setdefault(name, []).append(self.path(name, run, number))
        there = {name: [path for path in paths if not _is_empty(path)] or paths[:1] for name, paths in there.items()}
        rows = {}
        for name, paths in there.items():
            arguments = runs[name].quick if self.is_quick else runs[name].arguments
            try:
                rows[name] = over_runs(
                    [Rows.read(path, runs[name].counted, rounds_of(arguments) == 1) for path in paths]
                )
            except MissingRows as reason:
                print(f"{name} is left out: {reason}", file=sys.stderr)
                self.failed.append(name)
        there = {name: there[name] for name in rows}
        return rows, {name: len(paths) for name, paths in there.items()}, there


def rounds_of(arguments):
    """How many rounds they ask for; None where they leave that to the experiment."""
    return int(arguments[arguments.index("--rounds") + 1]) if arguments and "--rounds" in arguments else None


def _is_empty(path):
    """Whether it says why there is nothing, instead of something."""
    return not any(json.loads(line)["rows"] for line in path.read_text().splitlines())
