#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# web_pictures.sh [PARSHALL]: the page of a run (parshall watch --web) as a browser shows it, light, dark and narrow,
# into docs/web. Needs chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
parshall=$(realpath "${1:-build/parshall}")
command -v chromium >/dev/null || { echo "chromium is not installed: apt-get install chromium" >&2; exit 1; }
work=$(mktemp -d)
trap 'kill "${run:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p docs/web
touch "$work/said"
(cd "$work" && exec "$parshall" watch -g flows=20000,dist=zipf:1.1,size=imix,protocol=sessions,ipv6=0.1,resend=0.001,pace=50000 --flows 256Ki --idle 5s --columns +size_mean,gap_p99 \
  --preset office --task heavy-hitters:threshold=5% \
  --export "csv:flows.csv" --export "jsonl:flows.jsonl" -o /dev/null --web 127.0.0.1:0 2>said) &
run=$!
until url=$(grep -o 'http://[^ ]*' "$work/said"); do kill -0 "$run" || { cat "$work/said" >&2; exit 1; }; sleep 0.2; done
sleep "${SECONDS_BEFORE:-20}"
picture() {  # NAME SIZE OPTIONS...
  timeout 60 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/$1" --window-size="$2" --virtual-time-budget=4000 \
    --screenshot="$work/$1.png" "${@:3}" "$url" >/dev/null 2>&1 || true
  [ -s "$work/$1.png" ] || { echo "no picture: $1" >&2; exit 1; }
  mv "$work/$1.png" "docs/web/$1.png"
}
picture light 1280,1000
picture dark 1280,1000 --blink-settings=preferredColorScheme=0
picture narrow 500,1400
ls -l docs/web
