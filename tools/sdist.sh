#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sdist.sh [FOLDER]: the source package of what is committed, without pictures (.gitattributes), into FOLDER (dist);
# `pip install` of it builds the Python package.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$(mkdir -p "${1:-dist}" && realpath "${1:-dist}")
folder=$(mkdir -p build-python && realpath build-python)
[ -x "$folder/env/bin/python" ] || python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet build
"$folder/env/bin/python" -m build --sdist --outdir "$dist" .
