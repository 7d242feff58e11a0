#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# arm64.sh [FOLDER]: builds all for arm64 (Armv8.2 with its cryptographic extension) on another machine, into FOLDER
# (build-arm64), and runs in an emulator what one can run there: unit tests, and captures against their truth.
# TESTS= only builds. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mkdir -p "${1:-build-arm64}" && realpath "${1:-build-arm64}")
root=$folder/root
tools/setup.sh g++-aarch64-linux-gnu qemu-user-static mmdebstrap

# The same libraries as of this machine, unpacked; nothing of them is run to install them.
if [ ! -f "$folder/root.ini" ]; then
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  libraries=$(grep -ohE '[a-z0-9+.-]+-dev\b' tools/setup.sh | grep -v clang | sort -u | paste -sd,)
  mmdebstrap --quiet --variant=extract --architectures=arm64 --include="libc6-dev,libstdc++-12-dev,linux-libc-dev,$libraries" \
    "$codename" "$root" $(ls /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null)
  printf "[constants]\nroot = '%s'\n" "$root" >"$folder/root.ini"
fi
build=$folder/build
[ -f "$build/build.ninja" ] || meson setup "$build" --cross-file "$folder/root.ini" --cross-file tools/arm64.ini --buildtype=release \
  -Dcpu=armv8.2-a+crypto ${MESON_FLAGS:-} >/dev/null
ninja -C "$build" --quiet ${JOBS:+-j"$JOBS"}
[ "${TESTS-all}" != "" ] || exit 0

passed=0
failed=0
count() { if [ "$2" = 0 ]; then passed=$((passed + 1)); echo "ok      $1"; else failed=$((failed + 1)); echo "FAILED  $1"; fi; }

# Programs of tests that are C++. What an emulated kernel lacks is left out: performance counters, packet sockets.
while read -r name program; do
  status=0
  QEMU_LD_PREFIX=$root timeout 1800 qemu-aarch64-static "$program" >"$folder/log" 2>&1 || { status=$?; tail -40 "$folder/log"; }
  count "$name" "$status"
done < <(tools/test_programs.py "$build" --all)

printf '#!/bin/sh\nexec qemu-aarch64-static -L %s %s "$@"\n' "$root" "$build/parshall" >"$folder/parshall"
chmod +x "$folder/parshall"
status=0
python3 tests/conformance/test_traces.py "$folder/parshall" || status=$?
count "captures against their truth" "$status"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
