#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang.sh [FOLDER]: builds everything with clang in FOLDER (build-clang). A warning ends it.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build-clang}
[ -f "$folder/build.ninja" ] || CXX=clang++ meson setup "$folder" --buildtype=debugoptimized -Doptimization=1 -Dwerror=true >/dev/null
ninja -C "$folder" --quiet
