#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# reproducible.sh [PROGRAM...]: whether two builds of what is committed are the same bytes (of parshall, or of these):
# in folders of other names, with another home, locale, time zone and umask, and another order of what is compiled;
# nothing of the first is kept for the second. SHA-256 of both; 1 where they differ.
# JOBS=2 compiles no more than two files at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
programs=${*:-parshall}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# built NAME JOBS COMMAND...: programs of a tree of that name, built by that command.
built() {
  local tree=$work/$1 jobs=$2
  shift 2
  mkdir -p "$tree"
  git archive HEAD | tar -x -C "$tree"
  (cd "$tree" && CCACHE_DISABLE=1 "$@" bash -c "umask \$1; meson setup build --buildtype=release -Dcpu=sse4.2 -Dtests=false >/dev/null && ninja -C build --quiet -j$jobs $programs" - "${UMASK:-022}")
  (cd "$tree/build" && sha256sum $programs)
}
first=$(built a "${JOBS:-$(nproc)}" env LC_ALL=C.UTF-8 TZ=UTC)
second=$(UMASK=077 built another/place 1 env LC_ALL=C TZ=Asia/Tokyo HOME=/nonexistent)
echo "$first"
[ "$first" = "$second" ] || { echo "not the same:"; echo "$second"; exit 1; }
echo "the same twice"
