#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite.sh SUITE [COMMAND...]: as root, runs COMMAND (a shell) in this folder, in a Debian of that suite (trixie) which
# has all that tools/setup.sh and the tests want. It stays in ROOTS (/var/cache/parshall)/SUITE, until that is removed.
# The variables of PASSES below reach COMMAND.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/roots.sh
[ $# -gt 0 ] || { echo "usage: suite.sh SUITE [COMMAND...], as in: suite.sh trixie make test" >&2; exit 2; }
suite=$1
shift
root=${ROOTS:-/var/cache/parshall}/$suite
traces=$(realpath -e "${PARSHALL_TRACES:-../shared/traces}" 2>/dev/null || true)
cache=${ROOTS:-/var/cache/parshall}/ccache
wheels=$(realpath -e "${PIP_FIND_LINKS:-/none}" 2>/dev/null || true)
for folder in "$PWD" "$cache" "$traces" "$wheels"; do
  [[ $folder != *[[:space:]]* ]] || { echo "suite.sh: this path must have no space: $folder" >&2; exit 2; }
done
mkdir -p "$cache"
export CCACHE_DIR=$cache
BINDS="$PWD $cache $traces $wheels"
PASSES="CCACHE_DIR TERM JOBS BUILD MESON_FLAGS TESTS ISAS PROGRAMS PYTHONS HOURS DEB_BUILD_OPTIONS http_proxy https_proxy no_proxy
  ${!PARSHALL_*} ${!PIP_*}"

# One makes it, the others wait.
exec 9>"$root.lock"
flock 9
if [ ! -d "$root" ]; then
  command -v mmdebstrap >/dev/null || tools/setup.sh mmdebstrap
  rm -rf "$root.new"
  new_root "$suite" "$root.new"
  mv "$root.new" "$root"
fi
# Beside what the build needs, this installs tools for packages, for Python's packages, and for tests that compare.
in_root "$root" tools/setup.sh build-essential ca-certificates ccache debhelper dh-python e2fsprogs git gnupg libfaketime lintian llvm nfdump \
  openssl python3-dev softflowd tcpdump tshark valgrind xxd 9>&-
# pip uses this machine's settings and certificates.
cp --remove-destination /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
[ ! -f /etc/pip.conf ] || cp --remove-destination /etc/pip.conf "$root/etc/"
flock -u 9
exec 9>&-

in_root "$root" "${@:-bash}"
