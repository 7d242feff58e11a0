#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# setup.sh [PACKAGE...]: installs the Debian packages that are missing, and those named; needs root only then.
# setup.sh --libraries: lists the packages of libraries that the build uses.
set -euo pipefail

required="g++ meson ninja-build pkg-config python3 libabsl-dev libcli11-dev libflatbuffers-dev libfmt-dev liblz4-dev
  liblzma-dev libmuparser-dev libncurses-dev libpcap-dev libtomlplusplus-dev libxxhash-dev libzstd-dev
  nlohmann-json3-dev libgtest-dev libgmock-dev zlib1g-dev"
# Without these something is left out, and says so: DPDK capture, records to Kafka, webhooks, filters of system calls,
# IPFIX by TLS and community ids, applications by nDPI, places of addresses, live tests, lint, fuzzing, terminal tests, completions of zsh
# and fish, plots, the site of docs/.
optional="libdpdk-dev librdkafka-dev libcurl4-openssl-dev libseccomp-dev libssl-dev libndpi-dev libmaxminddb-dev gnuplot-nox iproute2
  nftables strace tmux zsh fish groff-base python3-venv clang clang-format clang-tidy $*"

if [ "${1-}" = --libraries ]; then
  printf '%s\n' $required $optional | grep -e '-dev$'
  exit 0
fi

# absent PACKAGE...: those that are not installed.
absent() {
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "ok installed" || printf ' %s' "$package"
  done
}
# What sanitizers and fuzzing link: the package has the number of the compiler that the suite's `clang` is.
clang_runtime() { apt-cache depends clang 2>/dev/null | sed -nE 's/^ *Depends: clang-([0-9]+)$/libclang-rt-\1-dev/p'; }
missing=$(absent $required)
wanted=$(absent $optional $(clang_runtime))
[ -z "$missing$wanted" ] && exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
  if [ -z "$missing" ]; then
    echo "not installed, so left out:$wanted"
    exit 0
  fi
  command -v sudo >/dev/null || { echo "missing packages; install them as root: apt-get install$missing$wanted" >&2; exit 1; }
  as_root="sudo"
fi
echo "installing:$missing$wanted"
$as_root apt-get update -qq
wanted=$(absent $optional $(clang_runtime))
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -o DPkg::Lock::Timeout=600 -y -qq --no-install-recommends $missing $wanted >/dev/null
