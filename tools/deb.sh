#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh [FOLDER]: Debian packages of what is committed, and their source, into FOLDER (dist); lintian checks them last.
# What is missing for it is installed. They are for the suite that this is run in (tools/suite.sh), which their
# version names: 0.1.0~deb12 comes before 0.1.0~deb13, and both before 0.1.0, so an upgrade of Debian replaces them.
# JOBS=2 compiles no more than two files at a time. build-deb is where it works; with ccache a second time takes little.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$(mkdir -p "${1:-dist}" && realpath "${1:-dist}")
tools/setup.sh build-essential debhelper lintian dh-python python3-dev python3-venv
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
version=$(dpkg-parsechangelog -S Version)~deb$(. /etc/os-release && echo "$VERSION_ID")
tree=build-deb/parshall-$version
rm -rf build-deb
mkdir -p "$tree"
git archive HEAD | tar -x -C "$tree"
sed -i "1s/(.*) [a-z]*;/($version) $suite;/" "$tree/debian/changelog"
python3 -m venv build-deb/env
build-deb/env/bin/pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes --target "$tree/debian/nanobind" -r debian/nanobind.txt
if command -v ccache >/dev/null; then  # debhelper has a home of its own
  CCACHE_DIR=${CCACHE_DIR:-$(ccache --get-config cache_dir)}
  export CCACHE_DIR
fi
(cd "$tree" && DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)} ${DEB_BUILD_OPTIONS:-}" dpkg-buildpackage -us -uc)
lintian --fail-on error,warning build-deb/*.changes
find build-deb -maxdepth 1 -type f -exec mv -t "$dist" {} +
rm -rf build-deb
ls -l "$dist"/*"_${version}_"*.deb
