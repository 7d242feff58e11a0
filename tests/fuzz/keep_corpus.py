#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keep_corpus.py BUILD [TARGET...]: of what grew in BUILD/corpus, the few files that come to most, into
tests/fuzz/corpus.

Files there with a name that is no digest show something that was wrong once: they stay. Of the others, together with
those that grew, each next one is that which adds most features
(edges, and about how often each is taken), and of such the shortest, until there are enough files, or bytes. libFuzzer
says them as it merges."""

import heapq
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FUZZ = pathlib.Path(__file__).resolve().parent
MOST_FILES, MOST_BYTES, LONGEST = 48, 14_000, 4_000
DIGEST = re.compile(r"[0-9a-f]{40}")


def features_of(program, folders):
    """{file: its features, which are edges and about how often each is taken}"""
    features = {}
    with tempfile.TemporaryDirectory() as folder:
        control, merged = f"{folder}/control", f"{folder}/merged"
        os.mkdir(merged)
        subprocess.run(
            [program, "-set_cover_merge=1", f"-merge_control_file={control}", merged, *folders],
            env=os.environ | {"LLVM_PROFILE_FILE": "/dev/null"},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        lines = pathlib.Path(control).read_text().splitlines()
    count = int(lines[0])
    names = lines[2 : 2 + count]
    for line in lines[2 + count :]:
        kind, _, rest = line.partition(" ")
        if kind == "FT":
            number, *covered = rest.split()
            features[pathlib.Path(names[int(number)])] = set(covered)
    return features


def chosen(features, known):
    """Files, the one that adds most first, and what they come to. `known`: features that other files have."""
    waiting = [
        (-len(had), path.stat().st_size, path) for path, had in features.items() if path.stat().st_size <= LONGEST
    ]
    heapq.heapify(waiting)
    files, size = [], 0
    while waiting and len(files) < MOST_FILES:
        _, length, path = heapq.heappop(waiting)
        more = len(features[path] - known)  # never more than was promised
        if more == 0 or size + length > MOST_BYTES:
            continue
        if waiting and (-more, length, path) > waiting[0]:
            heapq.heappush(waiting, (-more, length, path))
            continue
        known = known | features[path]
        size += length
        files.append(path)
    return files, known


def keep(build, target):
    kept = FUZZ / "corpus" / target
    kept.mkdir(parents=True, exist_ok=True)
    grown = build / "corpus" / target
    features = features_of(
        build / "tests/fuzz" / f"fuzz_{target}", [str(folder) for folder in (kept, grown) if folder.is_dir()]
    )
    named = [path for path in kept.iterdir() if not DIGEST.fullmatch(path.name)]
    known = set().union(*(features.get(path, set()) for path in named)) if named else set()
    files, come_to = chosen({path: covered for path, covered in features.items() if path not in named}, known)
    contents = {path.name: path.read_bytes() for path in files}
    for path in kept.iterdir():
        if path not in named:
            path.unlink()
    for name, content in contents.items():
        (kept / name).write_bytes(content)
    size, all_features = sum(path.stat().st_size for path in kept.iterdir()), len(set().union(*features.values()))
    print(
        f"{target:13} {len(contents)} files and {len(named)} with a name, {size} bytes: {len(come_to)} of "
        f"{all_features} features"
    )


def main():
    build = pathlib.Path(sys.argv[1])
    for target in sys.argv[2:] or sorted(path.name for path in (build / "corpus").iterdir()):
        keep(build, target)


if __name__ == "__main__":
    main()
