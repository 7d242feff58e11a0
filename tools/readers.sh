#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readers.sh FOLDER [PACKAGE...]: a Python there that has the readers of columnar files (pyarrow, duckdb, polars, chdb),
# or these packages; says where it is.
set -euo pipefail
folder=$1
shift
packages=${*:-pyarrow duckdb polars chdb pytz}
if [ ! -x "$folder/bin/python" ]; then
  python3 -m venv "$folder" >&2 || { echo "a Python of its own takes python3-venv: apt-get install python3-venv" >&2; exit 1; }
fi
"$folder/bin/pip" install --quiet --disable-pip-version-check $packages >&2
echo "$folder/bin/python"
