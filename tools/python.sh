#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python.sh FOLDER: the Python package, built there, in an environment of its own (FOLDER/env), with what its tests and
# frames want.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mkdir -p "$1" && realpath "$1")
[ -x "$folder/env/bin/python" ] || python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet meson-python nanobind pyarrow pandas polars scikit-learn tqdm
"$folder/env/bin/pip" install --quiet --no-build-isolation -Cbuild-dir="$folder/build" .
