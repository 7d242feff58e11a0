#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh: everything, in $BUILD (build) and folders beside it. Lint, tests, sanitizers, fuzzing, builds without DPDK and for an older CPU, the portable one on each instruction set, Debian packages. Ends with "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
passed=0
failed=0
count() { if [ "$2" = 0 ]; then passed=$((passed + 1)); echo "ok      $1"; else failed=$((failed + 1)); echo "FAILED  $1"; fi; }
build=${BUILD:-build}
fuzz_seconds=${PARSHALL_FUZZ_SECONDS:-60}

make --no-print-directory BUILD="$build" everything; count "build" $?
make --no-print-directory BUILD="$build" lint; count "lint" $?
PARSHALL_THOROUGH=1 python3 tools/run_tests.py "$build"; count "tests, those that take long among them" $?
python3 tests/conformance/test_traces.py "$build/parshall" --matrix; count "captures in every thread model, 1, 2 and 4 workers, file and standard input" $?

python3 tests/tasks/test_tcp.py "$build/parshall" --all; count "TCP of captures" $?
python3 tests/tasks/test_captures.py "$build/parshall" --all; count "windows of captures" $?

if readers=$(tools/readers.sh "$build/venv"); then
  PARSHALL_THOROUGH=1 "$readers" tests/export/test_columnar.py "$build/parshall"; count "columnar files, read by pyarrow, DuckDB, polars and chdb" $?
else
  echo "SKIPPED readers of columnar files: they could not be installed"
fi

# programs FOLDER TEST...: what these tests run of what is built there; nothing, which stands for all, of none.
programs() {
  local folder
  folder=$(realpath "$1")
  shift
  [ $# = 0 ] || meson introspect "$folder" --tests | python3 -c '
import json, os, sys
folder, names = sys.argv[1], sys.argv[2:]
inside = lambda word: os.path.relpath(os.path.join(folder, word), folder)
for test in json.load(sys.stdin):
    if test["name"] in names:
        print(next(inside(word) for word in test["cmd"] if not inside(word).startswith("..")))' \
      "$folder" "$@"
}

# sanitized NAME KIND [TEST...]: builds and runs the tests (all, or those that cross threads) with it. DPDK's own allocator and AF_XDP code are left to the live tests.
sanitized() {
  local folder=build-$1
  [ -f "$folder/build.ninja" ] || meson setup "$folder" --buildtype=debugoptimized -Db_sanitize="$2" -Db_lundef=false -Ddpdk=disabled >/dev/null
  local name=$1 kind=$2
  shift 2
  ninja -C "$folder" --quiet $(programs "$folder" "$@") && meson test -C "$folder" --no-rebuild --print-errorlogs --timeout-multiplier 10 "$@"
  count "tests with $kind sanitizer" $?
}
sanitized asan address,undefined
sanitized tsan thread base measure engine "facts ring" monitor output capture lab

if command -v clang++ >/dev/null; then
  [ -f build-fuzz/build.ninja ] || CXX=clang++ meson setup build-fuzz --buildtype=debugoptimized -Dfuzz=true -Ddpdk=disabled >/dev/null
  ninja -C build-fuzz --quiet tests/fuzz/fuzz_{frame,capture_file,compressed,exported}; count "fuzz harnesses build" $?
  corpus=$(mktemp -d)
  PARSHALL="$build/parshall" python3 tests/fuzz/seed_corpus.py "$corpus" >/dev/null
  for harness in frame capture_file compressed exported; do
    seeds="$corpus/$harness"
    mkdir -p "$seeds"
    "build-fuzz/tests/fuzz/fuzz_$harness" -max_total_time="$fuzz_seconds" -rss_limit_mb=4096 -print_final_stats=1 "$seeds" 2>&1 | tail -8
    count "fuzz_$harness for $fuzz_seconds s" "${PIPESTATUS[0]}"
  done
  rm -rf "$corpus"
else
  echo "SKIPPED fuzzing: clang is not installed"
fi

for options in "-Ddpdk=disabled -Dcpu=x86-64-v2" "-Ddpdk=disabled"; do
  folder=$(mktemp -d)
  meson setup "$folder" --buildtype=release $options >/dev/null && ninja -C "$folder" --quiet && meson test -C "$folder" --no-rebuild --quiet
  count "build and tests with $options" $?
  rm -rf "$folder"
done
if tools/python.sh build-python; then
  PARSHALL_THOROUGH=1 make --no-print-directory python-test; count "Python, and the notebooks" $?
else
  echo "SKIPPED Python: it could not be installed"
fi

root=$(mktemp -d)
tools/portable.sh "$root"; count "portable build" $?
for isa in sse4.2 avx2 avx512; do
  if PARSHALL_ISA=$isa "$root/bin/parshall" --version >/dev/null; then
    PARSHALL_ISA=$isa python3 tests/conformance/test_traces.py "$root/bin/parshall"; count "captures with $isa" $?
  else
    echo "SKIPPED captures with $isa: this processor has it not"
  fi
done
rm -rf "$root"
if [ "$(id -u)" = 0 ]; then
  packages=$(mktemp -d)
  tools/deb.sh "$packages"; count "Debian packages, and lintian of them" $?
  tools/deb_trial.sh "$packages"; count "packages installed in a bare Debian, tried, and purged" $?
  rm -rf "$packages"
else
  echo "SKIPPED Debian packages: to try them takes root"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
