#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# arm64.sh [FOLDER]: builds all for arm64 (Armv8.2 with its cryptographic extension) on another machine, into FOLDER
# (build-arm64), and runs in an emulator what can be run there: unit tests, and captures against their truth.
# TESTS= only builds. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/roots.sh
folder=$(mkdir -p "${1:-build-arm64}" && realpath "${1:-build-arm64}")
root=$folder/root build=$folder/build
tools/setup.sh g++-aarch64-linux-gnu qemu-user-static mmdebstrap

# The same libraries as of this machine, unpacked. None of their programs is run to install them.
if [ ! -d "$root" ]; then
  gcc=$(aarch64-linux-gnu-g++ -dumpversion)
  rm -rf "$root.new"
  mmdebstrap --quiet --variant=extract --architectures=arm64 \
    --include="libc6-dev,libstdc++-${gcc%%.*}-dev,linux-libc-dev,$(tools/setup.sh --libraries | paste -sd,)" \
    "$(own_suite)" "$root.new" $(apt_sources)
  mv "$root.new" "$root"
fi
printf "[constants]\nroot = '%s'\n" "$root" >"$folder/root.ini"
[ -f "$build/build.ninja" ] || meson setup "$build" --cross-file "$folder/root.ini" --cross-file tools/arm64.ini \
  --buildtype=release -Dcpu=armv8.2-a+crypto ${MESON_FLAGS:-} >/dev/null
ninja -C "$build" --quiet ${JOBS:+-j"$JOBS"}
[ "${TESTS-all}" != "" ] || exit 0

passed=0
failed=0
count() { if [ "$2" = 0 ]; then passed=$((passed + 1)); echo "ok      $1"; else failed=$((failed + 1)); echo "FAILED  $1"; fi; }

tests=(base capture classify compare control decode engine "facts ring" flow "fuzz corpora" lab measure output parshall
  tester traffic verify zipf)
for test in "${tests[@]}"; do
  status=0
  meson test -C "$build" --no-rebuild --quiet --print-errorlogs --timeout-multiplier 20 "$test" || status=$?
  count "$test" "$status"
done

# The emulator has a thread of its own, which cannot be asked to give up privileges: no threads are listed.
for program in parshall parshall-lab; do
  cat >"$folder/$program" <<END
#!/bin/sh
exec unshare --mount --map-root-user sh -c 'mount -t tmpfs none /proc && exec "\$@"' - \
  qemu-aarch64-static -L '$root' -E PARSHALL_SANDBOX=off '$build/$program' "\$@"
END
  chmod +x "$folder/$program"
done
status=0
python3 tests/conformance/test_traces.py "$folder/parshall" || status=$?
count "captures against their truth" "$status"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
