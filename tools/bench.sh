#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh BUILD [--smoke]: the hot path's costs and ratios; --smoke only checks answers on small inputs.
set -euo pipefail
build=$1
shift
grep -m1 "model name" /proc/cpuinfo | sed 's/.*: /CPU /'
echo "cores $(nproc), load $(cut -d' ' -f1-3 /proc/loadavg), $(sed 's/.*\[\(.*\)\].*/transparent hugepages \1/' /sys/kernel/mm/transparent_hugepage/enabled)"
"$build/lab/bench/hot_path" "$@"
"$build/lab/bench/tasks" "$@"
"$build/lab/bench/control" "$@"
"$build/lab/bench/classes" "$@"
"$build/lab/bench/sending" "$@"
"$build/lab/bench/exports" "$@"
"$build/lab/bench/tester_bench"
