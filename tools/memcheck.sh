#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# memcheck.sh: test programs, and every fuzz corpus, in valgrind's memcheck: what is read that was never written, which
# no other sanitizer here sees, and what is leaked. Into build-memcheck, for AVX2, since valgrind knows no AVX-512. Left
# out are programs whose tests count on time or fill tables: an hour and more.
set -uo pipefail
cd "$(dirname "$0")/.."
folder=build-memcheck
tests=(capture classify compare control decode "fuzz corpora" app output tester traffic verify)

tools/setup.sh valgrind
if ! command -v valgrind >/dev/null; then
  echo "SKIPPED memcheck: valgrind is not installed"
  exit 0
fi
[ -f "$folder/build.ninja" ] || meson setup "$folder" --buildtype=debugoptimized -Dcpu=avx2 -Ddpdk=disabled >/dev/null || exit
ninja -C "$folder" --quiet $(tools/test_programs.py "$folder" "${tests[@]}") || exit
words=("valgrind" --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --fair-sched=yes "--suppressions=$PWD/tests/memcheck.supp")
# Where the limit of descriptors is reached valgrind itself takes a connection, and drops it.
export GTEST_FILTER=-EchoServerTest.WithoutDescriptorsWaitsAndDoesNotSpin
meson test -C "$folder" --no-rebuild --print-errorlogs --timeout-multiplier 30 --wrapper "${words[*]}" "${tests[@]}"
