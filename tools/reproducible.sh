#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# reproducible.sh [PROGRAM...]: whether two builds of what is committed are the same bytes (of parshall, or of these; also
# `sdist` and `static`, the packages of tools/sdist.sh and tools/static.sh): in folders of other names, with another
# home, locale, time zone and umask, and another order of what is compiled; nothing of the first is kept for the second.
# SHA-256 of both; 1 where they differ.
# JOBS=2 compiles no more than two files at a time. ISAS=sse4.2 PROGRAMS=parshall makes less of `static`.
set -euo pipefail
shopt -s inherit_errexit  # else a command substitution goes on after an error
cd "$(dirname "$0")/.."
products=${*:-parshall}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# built NAME JOBS COMMAND...: products of a clone of that name, built by that command.
built() {
  local tree=$work/$1 jobs=$2
  shift 2
  mkdir -p "$(dirname "$tree")"
  git clone --quiet --no-local . "$tree"
  (
    cd "$tree"
    mkdir products
    for product in $products; do
      case $product in
        sdist | static) CCACHE_DISABLE=1 JOBS=$jobs "$@" bash -c "umask ${UMASK:-022}; tools/$product.sh products" >"$work/log" 2>&1 ;;
        *)
          CCACHE_DISABLE=1 "$@" bash -c "umask ${UMASK:-022}; [ -e build ] || meson setup build --buildtype=release -Dcpu=sse4.2 -Dtests=false; ninja -C build --quiet -j$jobs $product" >"$work/log" 2>&1
          cp "build/$product" products/
          ;;
      esac || { cat "$work/log" >&2; exit 1; }
    done
    cd products && sha256sum ./*
  )
}
first=$(built a "${JOBS:-$(nproc)}" env LC_ALL=C.UTF-8 TZ=UTC)
second=$(UMASK=077 built another/place 1 env LC_ALL=C TZ=Asia/Tokyo HOME="$work/home")
echo "$first"
[ "$first" = "$second" ] || { echo "not the same:"; echo "$second"; exit 1; }
echo "the same twice"
