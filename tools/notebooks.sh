#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# notebooks.sh FOLDER [NAME...]: runs the notebooks of docs/notebooks (these, or all) by the Python package in
# FOLDER/env (tools/python.sh), and writes their pages.
set -euo pipefail
cd "$(dirname "$0")/.."
env=$1/env
shift
"$env/bin/pip" install --quiet -r docs/notebooks/requirements.txt
"$env/bin/python" tools/notebooks.py "$@"
