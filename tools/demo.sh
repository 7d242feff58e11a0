#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh PARSHALL: ten seconds of built-in traffic (live on a terminal, a report otherwise) and one capture written
# here.
set -euo pipefail
parshall=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

view=""
[ -t 1 ] && view="--live"
echo "== ten seconds of built-in traffic: 65,536 flows, Zipf 1.1, 64-byte frames, as fast as one core goes"
"$parshall" watch -g flows=65536,dist=zipf:1.1 --duration 10s --columns +gap_mean,gap_p99,rate --top 10 $view
echo
echo "== a capture of 10,000 packets of 20 flows, half of these IPv6, written by this demonstration"
python3 "$(dirname "$0")/write_capture.py" "$work/demo.pcap"
"$parshall" watch -r "$work/demo.pcap" --columns +iat_mean,iat_p99,size_mean,tcp_flags --top 10
