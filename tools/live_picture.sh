#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# live_picture.sh [PARSHALL [PICTURE]]: the terminal view (parshall watch --live) of twelve seconds of built-in traffic,
# as docs/live.svg.
set -euo pipefail
cd "$(dirname "$0")/.."
env=$(tools/site_env.sh build-site)
"$env/bin/python" -B tools/terminal_picture.py "${2:-docs/live.svg}" --after 'lossy  ' --frames 12 -- "${1:-build/parshall}" watch \
  -g flows=65536,dist=zipf:1.1,size=imix,protocol=sessions,ipv6=0.1,resend=0.001,pace=50000 --flows 256Ki \
  --task heavy-hitters:threshold=12% --task 'lossy=tcp_retransmissions > 5' --columns +gap_p99,iat_p99 --live
