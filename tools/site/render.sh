#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# render.sh ENV PAGES SITE: the site of what stage.py put together in PAGES, by mkdocs of the Python in ENV. A warning
# of mkdocs is an error, and so is what would be loaded from elsewhere.
set -euo pipefail
env=$1 pages=$2 site=$3
if ! said=$(NO_MKDOCS_2_WARNING=1 "$env/bin/mkdocs" build --strict --config-file "$pages/mkdocs.yml" --site-dir "$site" 2>&1); then  # with --quiet it would count no warnings
  grep -v '^INFO' <<<"$said" >&2
  exit 1
fi
rm -r "$site"/assets/javascripts/lunr  # searches in other languages
find "$site/assets" -name '*.map' -delete
python3 -B "$(dirname "$0")/outside.py" "$site"
