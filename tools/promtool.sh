#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# promtool.sh FOLDER: Prometheus' promtool there, of Debian's package (19 MB), of which nothing else is unpacked and no
# service started; says where it is.
set -euo pipefail
folder=$1
if [ ! -x "$folder/usr/bin/promtool" ]; then
  mkdir -p "$folder"
  (cd "$folder" && apt-get download -qq prometheus && dpkg-deb --fsys-tarfile prometheus_*.deb | tar x ./usr/bin/promtool && rm prometheus_*.deb) >&2
fi
realpath "$folder/usr/bin/promtool"
