#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# site_env.sh FOLDER: a Python in FOLDER/env that has tools/site/requirements.txt; says where. Status 69: it is not
# there, and cannot be had now.
set -euo pipefail
cd "$(dirname "$0")/.."
env=$1/env
wanted=tools/site/requirements.txt
if ! cmp -s "$wanted" "$env/installed.txt"; then
  python3 -m venv "$env" >&2 || { echo "a Python of its own takes python3-venv: apt-get install python3-venv" >&2; exit 69; }
  if ! said=$("$env/bin/pip" install --quiet --disable-pip-version-check --retries 2 --timeout 20 -r "$wanted" 2>&1); then
    echo "$said" >&2
    case "$said" in *"Retrying (Retry("*) echo "no package index can be reached" >&2; exit 69 ;; esac
    exit 1
  fi
  cp "$wanted" "$env/installed.txt"
fi
echo "$env"
