#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# portable.sh [FOLDER]: the programs for any x86-64-v2 machine, into FOLDER (build-portable/root): built for SSE4.2, for
# AVX2 and for AVX-512, in
# FOLDER/lib/parshall, and in FOLDER/bin what runs the fastest that a processor can (or
# PARSHALL_ISA=sse4.2|avx2|avx512).
# ISAS="avx2 avx512" PROGRAMS="parshall" builds less, ALSO what else is named, JOBS=2 no more than two files at a time.
# It works in BUILDS (build-portable); MESON_FLAGS are those of a new build.
set -euo pipefail
cd "$(dirname "$0")/.."
builds=${BUILDS:-build-portable}
root=${1:-$builds/root}
isas=${ISAS:-sse4.2 avx2 avx512}
programs=${PROGRAMS:-parshall parshall-lab parshall-test}

for isa in $isas; do
  folder=$builds/$isa
  [ -f "$folder/build.ninja" ] || meson setup "$folder" --buildtype=release -Dcpu="$isa" -Dtests=false ${MESON_FLAGS:-} >/dev/null
  ninja -C "$folder" ${JOBS:+-j"$JOBS"} $programs src/launcher/parshall-launcher ${ALSO:-}
  for program in $programs; do install -D -s "$folder/$program" "$root/lib/parshall/$isa/$program"; done
done
for program in $programs; do install -D -s "$folder/src/launcher/parshall-launcher" "$root/bin/$program"; done
