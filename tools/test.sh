#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh BUILD: all tests; the last line is "N passed, N failed".
set -uo pipefail
build=$1
here=$(cd "$(dirname "$0")/.." && pwd)
passed=0
failed=0

# run NAME COMMAND...: one line per test program, its output only where it fails or skips something.
run() {
  local name=$1 log began=$SECONDS
  shift
  log=$(mktemp)
  if timeout 900 "$@" >"$log" 2>&1 </dev/null; then
    passed=$((passed + 1))
    echo "ok      $name ($((SECONDS - began)) s)"
    grep -h "SKIPPED" "$log" | sort | uniq -c | sed 's/^/        /' | head -5
  else
    failed=$((failed + 1))
    echo "FAILED  $name ($((SECONDS - began)) s)"
    tail -n 60 "$log"
  fi
  rm -f "$log"
}

list=$(meson introspect "$build" --tests |
  python3 -c 'import json, sys; [print(test["name"], " ".join(test["cmd"]), sep="\t") for test in json.load(sys.stdin)]')
[ -n "$list" ] || { echo "no tests in $build: was it set up with -Dtests=false?"; exit 1; }
while IFS=$'\t' read -r name command; do run "$name" env -C "$build" $command; done <<<"$list"
parshall=$(cd "$build" && pwd)/parshall
run "captures against their truth" python3 "$here/tests/conformance/test_traces.py" "$parshall"
run "TCP of captures against tshark and tcptrace" python3 "$here/tests/tasks/test_tcp.py" "$parshall"
run "windows of captures against their truth" python3 "$here/tests/tasks/test_captures.py" "$parshall"
run "peer comparison's own tests" python3 "$here/bench/peers/test_compare.py"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
