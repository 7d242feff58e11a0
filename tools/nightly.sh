#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nightly.sh: everything, in $BUILD (build) and folders beside it. Lint, tests, sanitizers, fuzzing, builds without DPDK
# and for an older CPU, the portable one on each instruction set, clang, Debian packages; builds, tests and packages in
# the other Debian; arm64 in an emulator; the static tarball in an empty root. Ends with "N passed, N failed".
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

python3 tests/conformance/test_seeds.py "$build/parshall" --all; count "captures with other seeds, workers and thread models" $?

"$build/parshall-lab" bench overload; count "simulated overload, all cells" $?

python3 tests/tasks/test_tcp.py "$build/parshall" --all; count "TCP of captures" $?
python3 tests/tasks/test_captures.py "$build/parshall" --all; count "windows of captures" $?

if readers=$(tools/readers.sh "$build/venv"); then
  PARSHALL_THOROUGH=1 "$readers" tests/export/test_columnar.py "$build/parshall"; count "columnar files, read by pyarrow, DuckDB, polars and chdb" $?
else
  echo "SKIPPED readers of columnar files: they could not be installed"
fi

if promtool=$(tools/promtool.sh "$build/promtool"); then
  PROMTOOL=$promtool python3 tests/export/test_prometheus.py "$build/parshall" examples; count "metrics, dashboard and alerts, read by promtool" $?
else
  echo "SKIPPED promtool: it could not be fetched"
fi

# sanitized NAME KIND [TEST...]: builds and runs the tests (all, or those named) with it. DPDK's own allocator and
# AF_XDP code are left to the live tests.
sanitized() {
  local folder=build-$1
  [ -f "$folder/build.ninja" ] || meson setup "$folder" --buildtype=debugoptimized -Db_sanitize="$2" -Db_lundef=false -Ddpdk=disabled >/dev/null
  local name=$1 kind=$2
  shift 2
  ninja -C "$folder" --quiet $([ $# = 0 ] || tools/test_programs.py "$folder" "$@") && meson test -C "$folder" --no-rebuild --print-errorlogs --timeout-multiplier 10 "$@"
  count "tests with $kind sanitizer" $?
}
sanitized asan address,undefined
# All programs of tests that are C++: what the others run is the product, which these are of.
sanitized tsan thread base capture classify control decode engine "facts ring" flow "fuzz corpora" traffic app lab measure output parshall "states under load" tester verify zipf

if command -v clang++ >/dev/null; then
  targets=$(ls tests/fuzz/fuzz_*.cpp | wc -l)
  PARSHALL="$build/parshall" python3 tools/fuzz.py --hours "$(awk "BEGIN { print $targets * $fuzz_seconds / 3600 }")" --slice "$fuzz_seconds"; count "fuzzing, each target for $fuzz_seconds s" $?
else
  echo "SKIPPED fuzzing: clang is not installed"
fi
tools/memcheck.sh; count "tests in valgrind" $?

for options in "-Ddpdk=disabled -Dcpu=x86-64-v2" "-Ddpdk=disabled"; do
  folder=$(mktemp -d)
  meson setup "$folder" --buildtype=release -Dwerror=true $options >/dev/null && ninja -C "$folder" --quiet && meson test -C "$folder" --no-rebuild --quiet
  count "build and tests with $options" $?
  rm -rf "$folder"
done
if tools/python.sh build-python; then
  PARSHALL_THOROUGH=1 make --no-print-directory python-test; count "Python, and the notebooks" $?
else
  echo "SKIPPED Python: it could not be installed"
fi

tools/arm64.sh; count "build for arm64, and its tests in an emulator" $?

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
if command -v clang++ >/dev/null; then
  tools/clang.sh; count "build with clang, without a warning" $?
else
  echo "SKIPPED a build with clang, which is not installed"
fi
if [ "$(id -u)" = 0 ]; then
  . tools/roots.sh
  other=$([ "$(own_suite)" = trixie ] && echo bookworm || echo trixie)
  there() { tools/suite.sh "$other" "$@"; }
  MESON_FLAGS=-Dwerror=true there make --no-print-directory BUILD="build-$other" everything; count "build in $other, without a warning" $?
  there tools/clang.sh "build-$other-clang"; count "build with the clang of $other, without a warning" $?
  there python3 tools/run_tests.py "build-$other"; count "tests in $other" $?

  rm -rf build-packages  # of a run that was interrupted
  packages=build-packages  # in this folder, which the other Debian sees
  tools/static.sh "$packages" && python3 tests/static/test_static.py "$packages"/parshall-*-linux-*.tar.gz; count "static tarball in an empty root" $?
  tools/deb.sh "$packages"; count "Debian packages, and lintian of them" $?
  tools/deb_trial.sh "$packages"; count "packages installed in a bare Debian, tried, and purged" $?
  there tools/deb.sh "$packages"; count "Debian packages for $other, and lintian of them" $?
  tools/deb_trial.sh "$packages" "$other"; count "packages installed in a bare $other, tried, and purged" $?
  rm -rf "$packages"
else
  echo "SKIPPED Debian packages, and all of the other Debian: that takes root"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
