#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a monitor (SIGKILL) at random moments, under all exporters to files together, and looks at what is left.

After each kill, of all that the run had told in reports by then, what it said was written is there; what is there was
offered; no record is there twice; the same record has the same packets in all files; whole Parquet files stay as they
are when another run begins over the same folder, and what is not whole is called so. Readers are others' (pyarrow,
Python's ipfix), and `parshall verify`.

usage: kills.py PARSHALL FOLDER [--kills N] [--seed N]      Status 1: something was not so.

It takes a Python with pyarrow and ipfix: tools/readers.sh FOLDER pyarrow ipfix.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cut_files

WAITS_S = 0.02, 2.5
STREAMS = {"csv": "csv", "jsonl": "jsonl", "ipfix": "ipfix", "arrow": "arrow", "events": "events"}


class Reports:
    """What a run says of itself, line by line, with when that came."""

    def __init__(self, pipe):
        self.lines = []
        self._thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def _read(self, pipe):
        for line in pipe:
            if line.endswith(b"\n"):
                self.lines.append((time.time_ns(), line))

    def accounts(self):
        """(when it came, {kind of output: its account}) of each report that is whole."""
        self._thread.join()
        found = []
        for when, line in self.lines:
            outputs = json.loads(line)["summary"].get("outputs", [])
            found.append((when, {output["name"].partition(":")[0]: output for output in outputs}))
        return found


class Round:
    """One run and its end."""

    def __init__(self, parshall, folder, number, draw):
        self.folder, self.number, self.wrong = folder, number, []
        self.targets = {kind: folder / f"{kind}-{number:04}.{end}" for kind, end in STREAMS.items()}
        self.command = [
            parshall,
            "watch",
            "-q",
            "-g",
            f"flows={draw.choice((500, 5000, 50000))},pace={draw.choice((5000, 20000))}"
            f",packets=200000,seed={draw.randrange(1 << 32)}",
            "--flows",
            "64Ki",
            "--idle",
            draw.choice(("20ms", "100ms")),
            "--active",
            "500ms",
            "--columns",
            "+identity",
            "--tasks",
            "heavy-hitters,entropy",
            "--window",
            "50ms",
            "--every",
            "100ms",
            "--format",
            "json",
            "--top",
            "1",
            *draw.choice(((), ("--threads", "pipeline", "--workers", "2"))),
            "--spool",
            "16M",
            "--export",
            f"parquet:{folder / 'parquet'},every={draw.choice(('100ms', '300ms', '1s'))}"
            f",partition={draw.choice(('hour', 'none'))}",
        ]
        self.command += [word for kind, target in self.targets.items() for word in ("--export", f"{kind}:{target}")]
        self.wait_s = draw.uniform(*WAITS_S)

    def run(self):
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"TMPDIR": str(temporary)}
        )
        reports = Reports(process.stdout)
        time.sleep(self.wait_s)
        process.kill()
        self.said = process.stderr.read().decode()
        if process.wait() != -9:
            self.wrong.append(f"it had ended by itself, status {process.returncode}: {self.said}")
        self.accounts = reports.accounts()
        if left := [file.name for file in temporary.iterdir()]:
            self.wrong.append(f"temporary files are left: {left}")

    def check_streams(self):
        """Records by kind, from the files that grow until the end."""
        found = {}
        for kind, target in self.targets.items():
            if not target.exists():
                if self._told(kind, "written"):
                    self.wrong.append(f"{kind}: there is no file, and {self._told(kind, 'written')} written were told")
                continue
            try:
                records, cut = cut_files.READERS[kind](target)
            except Exception as error:  # pylint: disable=broad-except  # whatever a reader of others may say
                self.wrong.append(f"{kind}: {type(error).__name__}: {error}")
                continue
            self._check(kind, records)
            found[kind] = dict(records), cut
        return found

    def check_whole(self, files):
        """Of Parquet files that are whole, and when each became so."""
        records, early = [], 0
        before = self.accounts[-2][0] if len(self.accounts) > 1 else 0
        for file in files:
            found, _ = cut_files.of_parquet(file)
            records += found
            early += len(found) if file.stat().st_mtime_ns < before else 0
        self._check("parquet", records)
        if self.accounts and early > self._told("parquet", "offered"):
            self.wrong.append(
                f"parquet: {early} records were in whole files before a report that tells of "
                f"{self._told('parquet', 'offered')} offered"
            )
        return dict(records)

    def _told(self, kind, part):
        """Records, or findings, of the last report."""
        unit = "findings" if kind == "events" else "records"
        return self.accounts[-1][1][kind][part][unit] if self.accounts else 0

    def _check(self, kind, records):
        if len(records) < self._told(kind, "written"):
            self.wrong.append(f"{kind}: {len(records)} are there, {self._told(kind, 'written')} written were told")
        if len(set(key for key, _ in records)) != len(records):
            twice = [key for key, times in collections.Counter(key for key, _ in records).items() if times > 1]
            self.wrong.append(f"{kind}: {len(twice)} records are there twice, such as {twice[0]}")

    def compare(self, by_kind):
        """The same record has the same packets everywhere."""
        every = {}
        for kind, records in by_kind.items():
            for key, packets in records.items():
                if every.setdefault(key, packets) != packets:
                    self.wrong.append(f"{kind}: record {key} has {packets} packets, elsewhere {every[key]}")
                    return


def fingerprint(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


class Folder:
    """Whole files over all rounds: none changes or goes, and no record is in two of them."""

    def __init__(self, folder):
        self._parquet = folder / "parquet"
        self.known, self.records, self.partial = {}, set(), set()

    def fresh(self, wrong):
        """Files that are whole since the round before; complains of names that should not be there."""
        files = [file for file in self._parquet.rglob("*") if file.is_file()] if self._parquet.exists() else []
        whole = {file for file in files if file.suffix == ".parquet"}
        partial = {file for file in files if file.name.endswith(".parquet.part")}
        if strange := set(files) - whole - partial:
            wrong.append(f"files of other names: {sorted(map(str, strange))}")
        if len(partial - self.partial) > 1:
            wrong.append(f"{len(partial - self.partial)} partial files of one run")
        self.partial |= partial
        for file, told in self.known.items():
            if file not in whole or fingerprint(file) != told:
                wrong.append(f"{file.name} of an earlier run is gone or changed")
        new = sorted(whole - set(self.known))
        self.known |= {file: fingerprint(file) for file in new}
        return new

    def add(self, records, wrong):
        if again := self.records & records.keys():
            wrong.append(f"{len(again)} records are in whole files of an earlier run, too")
        self.records |= records.keys()


def verified(parshall, files, wrong):
    """What `parshall verify` says of files that are whole must be that they are, and that there is no account."""
    if files:
        done = subprocess.run([parshall, "verify", *map(str, files)], capture_output=True, text=True, check=False)
        if (
            done.returncode != 3
            or "BROKEN" in done.stdout + done.stderr
            or "no account" not in done.stdout + done.stderr
        ):
            wrong.append(f"verify: status {done.returncode}: {(done.stdout + done.stderr)[-300:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parshall", type=os.path.abspath)
    parser.add_argument("folder", type=pathlib.Path, help="is made")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    try:
        import ipfix  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as error:
        sys.exit(
            f"kills: {error.name} is not installed: take the Python that `tools/readers.sh FOLDER pyarrow ipfix` makes"
        )
    arguments.folder.mkdir(parents=True)
    sys.exit(kill(arguments.parshall, arguments.folder.resolve(), arguments.kills, random.Random(arguments.seed)))


def kill(parshall, folder, kills, draw):
    """The exit status."""
    whole = Folder(folder)
    totals, cuts, failures = collections.Counter(), collections.Counter(), 0
    for number in range(kills):
        one = Round(parshall, folder, number, draw)
        one.run()
        streams = one.check_streams()
        fresh = whole.fresh(one.wrong)
        records = one.check_whole(fresh)
        whole.add(records, one.wrong)
        one.compare({kind: found for kind, (found, _) in streams.items() if kind != "events"} | {"parquet": records})
        verified(parshall, fresh, one.wrong)
        totals["parquet"] += len(records)
        totals["reports"] += len(one.accounts)
        for kind, (found, cut) in streams.items():
            totals[kind] += len(found)
            cuts[kind] += cut
        for sentence in one.wrong:
            print(f"kill {number} after {one.wait_s:.3f} s: {sentence}\n  {' '.join(one.command)}", flush=True)
        failures += bool(one.wrong)
        for target in one.targets.values():
            if not one.wrong:
                target.unlink(missing_ok=True)
        if (number + 1) % 20 == 0:
            print(f"{number + 1} kills, {failures} with something wrong", flush=True)
    shutil.rmtree(folder / "tmp", ignore_errors=True)
    print(f"{kills} kills, {failures} with something wrong; {totals['reports']} reports before them")
    print(
        f"parquet: {totals['parquet']} records in {len(whole.known)} whole files, {len(whole.partial)} partial ones, "
        f"each called .part"
    )
    for kind in STREAMS:
        print(
            f"{kind}: {totals[kind]} {'findings' if kind == 'events' else 'records'} in whole lines, messages or "
            f"batches; {cuts[kind]} files end in the middle of one"
        )
    return 1 if failures else 0


if __name__ == "__main__":
    main()
