#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing; needs root only then.
set -euo pipefail

required="g++ meson ninja-build pkg-config python3 libcli11-dev libfmt-dev libncurses-dev libpcap-dev nlohmann-json3-dev libgtest-dev libgmock-dev zlib1g-dev"
# Without these something is left out, and says so: DPDK capture, live tests, lint, fuzzing, terminal tests.
optional="libdpdk-dev iproute2 tmux clang clang-format clang-tidy"

missing=""
for package in $required ${PARSHALL_MINIMAL:+} $([ -n "${PARSHALL_MINIMAL:-}" ] || echo "$optional"); do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null; then
  as_root="sudo"
else
  echo "missing packages:$missing" >&2
  echo "install them as root: apt-get install$missing" >&2
  exit 1
fi
echo "installing:$missing"
$as_root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
