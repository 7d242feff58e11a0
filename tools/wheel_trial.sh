#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel_trial.sh [FOLDER]: As root, installs the wheel of FOLDER (dist) for Debian's Python in a new, minimal Debian
# with python3 and pip, without a network. Runs the program and the module, and prints how long each step takes.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/roots.sh
dist=$(realpath "${1:-dist}")
wheels=$dist/parshall-$(tools/version.sh)-*.whl
tools/setup.sh mmdebstrap
work=$(mktemp -d)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
inside() { NO_NETWORK=1 in_root "$root" "$@"; }

new_root "$(own_suite)" "$root" --include=python3,python3-pip
mkdir "$root/trial"
cp $wheels "$root/trial/"
python3 tools/write_capture.py "$root/trial/capture.pcap"

began=$(seconds)
inside pip install --quiet --no-index --find-links /trial --break-system-packages --root-user-action=ignore parshall
echo "== pip install parshall ($(du -h $wheels | tail -1 | cut -f1)B wheel): $(since "$began")"
began=$(seconds)
inside parshall watch -r /trial/capture.pcap --top 3 | tee "$work/report"
echo "== and a report: $(since "$began")"
grep -q "^accounting 10000 offered = 10000 counted$" "$work/report"
began=$(seconds)
inside python3 -c '
import parshall
flows = list(parshall.flows(read="/trial/capture.pcap"))
assert sum(flow.packets for flow in flows) == 10000, flows'
echo "== the same packets in Python: $(since "$began")"
! inside ls /usr/lib/x86_64-linux-gnu/libpcap.so.0.8 2>/dev/null || { echo "this root is not bare: it has libpcap"; exit 1; }
