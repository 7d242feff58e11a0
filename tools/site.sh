#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# site.sh PARSHALL SITE [FOLDER]: the documentation as a site, strictly: a link that leads nowhere, a page without a
# place, or a file that would be loaded from elsewhere is an error.
# What it takes is installed in FOLDER/env (build-site). Status 69: that is not there, and cannot be had now.
set -euo pipefail
cd "$(dirname "$0")/.."
parshall=$(realpath "$1") site=$(realpath -m "$2") folder=$(realpath -m "${3:-build-site}")
env=$(tools/site_env.sh "$folder")
python3 -B tools/site/stage.py "$parshall" "$folder/pages"
tools/site/render.sh "$env" "$folder/pages" "$site"
