#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh [FOLDER]: Debian packages of what is committed, and their source, into FOLDER (dist); lintian has the last
# word. What is missing for it is installed.
# JOBS=2 compiles no more than two files at a time. build-deb is where it works; with ccache a second time takes little.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$(mkdir -p "${1:-dist}" && realpath "${1:-dist}")
tools/setup.sh build-essential debhelper lintian dh-python python3-dev python3-venv
version=$(dpkg-parsechangelog -S Version)
tree=build-deb/parshall-$version
rm -rf build-deb
mkdir -p "$tree"
git archive HEAD | tar -x -C "$tree"
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
ls -l "$dist"/*.deb
