# SPDX-License-Identifier: Apache-2.0
"""What is run, and its rows."""
import hashlib
import json
import pathlib
import subprocess
import sys

import devices
import testing
import wirespeed

HEAVY = ["--task", "heavy-hitter", "--key-bytes", "8"]  # as the SOSR paper has it: pairs of addresses
# name: (arguments of bench, column along the plot, column drawn)
RUNS = {
    "sizes": (["tables", "--tables", "count-array,count-min,linear,cuckoo-1,cuckoo-4,space-saving,bucketed", *HEAVY, "--flows", "131072",
               "--zipf", "1.1", "--load", "1,0.25,0.0625,0.015625"], "memory_mb", "ns"),
    "accuracy": (["sketches", "--tables", "count-array-keys,count-array-replace,count-array,count-min,count-min-conservative,"
                  "heavy-keeper,space-saving,linear,bucketed", *HEAVY, "--flows", "131072", "--zipf", "1.1", "--load",
                  "8,2,1,0.5,0.25,0.0625"], "p99_cycles", "precision"),
    "skew": (["tables", "--tables", "count-array,count-min,linear,space-saving,bucketed", *HEAVY, "--flows", "1Mi", "--zipf",
              "0.75,1.1,1.25,1.5,1.75"], "zipf", "p99_cycles"),
    "array": (["tables", "--tables", "count-array", *HEAVY, "--flows", "4Ki,64Ki,1Mi,16Mi", "--zipf", "0.75,1.1,1.5"], "flows", "ns"),
    "superspreader": (["tables", "--tables", "count-array,linear,cuckoo-1,cuckoo-4,bucketed", "--task", "superspreader", "--key-bytes", "8",
                       "--flows", "65536", "--zipf", "1.1", "--load", "1,0.25"], "memory_mb", "p99_cycles"),
    "change": (["tables", "--tables", "count-array,linear,cuckoo-1,cuckoo-4,bucketed", "--task", "change", "--key-bytes", "8", "--flows",
                "65536", "--zipf", "1.1", "--load", "1,0.25"], "memory_mb", "p99_cycles"),
    "values": (["tables", "--tables", "linear,linear-index", "--flows", "1Mi", "--zipf", "0.75,1.25,1.75", "--value-bytes",
                "4,16,64,128"], "value_bytes", "p99_cycles"),
    "contention": (["contention", "--flows", "4Ki,64Ki,1Mi", "--zipf", "1.1"], "flows", "ns"),
    "beside": (["tables", "--tables", "count-array,linear,cuckoo-4,cuckoo-1", *HEAVY, "--flows", "1Mi", "--zipf", "1.1", "--beside",
                "none,cache,memory"], None, "ns"),
    "structures": (["tables", "--tables", "double-hash,combined,chained,bucketed", "--flows", "4Ki,64Ki,1Mi", "--zipf", "0,1"], "flows",
                   "p99_cycles"),
    "hashes": (["hashes"], None, "ns"),
    "parse": (["parse"], None, "ns"),
    "models": (["models", "--scheduler", "other,deadline", "--rounds", "11"], None, "mpps"),
    "batch": (["batch", "--batch", "16,32,64,128,256,512,1024,2048"], None, "lossless_mpps"),
    "receive": (["receive", "--cores", "1,2", "--cache", "0,256", "--burst", "256"], "queues", "ns"),
    "analytics": (["pipeline", "--flows", "1Ki,64Ki,1Mi", "--tables", "bucketed", "--stats", "none,gap_mean,gap_p99", "--quantiles",
                   "p2"], None, "ns"),
    "devices": (None, None, "mpps"),
    **wirespeed.RUNS,
    **testing.RUNS,
}
MEASURED = {"devices": devices, **testing.MEASURED}  # runs of more than one command: the module that makes them


def command_of(name):
    arguments = RUNS[name][0]
    if arguments is None:
        return MEASURED[name].COMMANDS
    return f"parshall bench {' '.join(arguments)}".replace(wirespeed.HEADERS, f"-r {wirespeed.HEADERS_NAME}")


class Rows:
    """The rows of a run, each with what its part has in common; one value by what its columns say."""

    def __init__(self, path):
        self.documents = [json.loads(line) for line in path.read_text().splitlines()]
        self.machine = self.documents[0].get("machine")
        self.all = [{**{k: v for k, v in document.items() if k != "rows"}, **row} for document in self.documents
                    for row in document["rows"]]

    def where(self, **wanted):
        return [row for row in self.all if all(row.get(name) == value for name, value in wanted.items())]

    def one(self, **wanted):
        found = self.where(**wanted)
        if len(found) != 1:
            raise LookupError(f"{len(found)} rows where {wanted}")
        return found[0]

    def values(self, column):
        return sorted({row[column] for row in self.all if row.get(column) is not None})


def bench(parshall, arguments, path):
    done = subprocess.run([parshall, "bench", *arguments, "--format", "json", "-o", path], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0 or "stopped after" in done.stderr:
        sys.exit(f"parshall bench {arguments[0]} ended with {done.returncode}: {(done.stderr.strip().splitlines() or ['no word'])[-1]}")


def run_all(parshall, folder, number, again, names=tuple(RUNS)):
    """One pass; a run of the same program with the same arguments is used again, unless told otherwise."""
    runs = {}
    folder.mkdir(parents=True, exist_ok=True)
    for count, name in enumerate(names, 1):
        arguments = RUNS[name][0] and wirespeed.expanded(RUNS[name][0], folder)
        version = f"{arguments or MEASURED[name].version()} {pathlib.Path(parshall).stat().st_mtime_ns}"
        path = folder / f"{name}-{number}-{hashlib.sha256(version.encode()).hexdigest()[:12]}.json"
        if again or not path.exists():
            print(f"pass {number}, {count} of {len(names)}: {command_of(name)}", flush=True)
            part = path.with_suffix(".part")
            if arguments is None:
                MEASURED[name].measure(parshall, part)
            else:
                bench(parshall, arguments, part)
            part.rename(path)
        runs[name] = Rows(path)
    return runs
