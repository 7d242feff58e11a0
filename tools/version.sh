#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version.sh: prints the version in meson.build.
sed -n "s/^project('parshall'.* version: '\([^']*\)'.*/\1/p" "$(dirname "$0")/../meson.build"
