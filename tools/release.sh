#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# release.sh VERSION KEY [FOLDER]: makes a release of the last commit in FOLDER (dist), signed by the GnuPG key that KEY
# names. Checks first that meson.build, CITATION.cff, debian/changelog and CHANGELOG.md agree on the version, and that
# nothing is uncommitted. Then SHA256SUMS covers all files, and SHA256SUMS.asc is its signature.
# PARTS="sdist static wheel deb" (default) makes these, from nothing. Files of the version that are in FOLDER already are
# kept and signed, too, unless they are older than the commit. PARTS= signs what is there. PYTHONS names the Pythons that
# wheels are made for (tools/wheel.sh). To check a release:
#   gpg --verify SHA256SUMS.asc SHA256SUMS && sha256sum --strict --check SHA256SUMS
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 2 ] && [ -n "$1" ] && [ -n "$2" ] || { echo "usage: release.sh VERSION KEY [FOLDER] (make release VERSION=... KEY=...)" >&2; exit 2; }
version=$1 key=$2
dist=$(mkdir -p "${3:-dist}" && realpath "${3:-dist}")
parts=${PARTS-sdist static wheel deb}

fail() { echo "release.sh: $*" >&2; exit 1; }
# agrees FILE FOUND: whether that file is of the version.
agrees() { [ "$2" = "$version" ] || fail "$1 has version ${2:-none}, not $version"; }
agrees meson.build "$(tools/version.sh)"
agrees CITATION.cff "$(sed -n 's/^version: "\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' CITATION.cff)"
agrees debian/changelog "$(sed -n '1s/^parshall (\([^)]*\)).*/\1/p' debian/changelog)"
heading=$(grep -m1 '^## ' CHANGELOG.md)
agrees CHANGELOG.md "$(echo "$heading" | sed -n 's/^## \([^ ]*\) .*/\1/p')"
echo "$heading" | grep -qE '\([0-9]{4}-[0-9]{2}-[0-9]{2}\)$' || fail "CHANGELOG.md has no date for $version, but \"$heading\": write ## $version (YYYY-MM-DD)"
[ -z "$(git status --porcelain)" ] || fail "something is not committed: git status"
gpg --batch --list-secret-keys "$key" >/dev/null 2>&1 || fail "there is no secret key $key: gpg --list-secret-keys"

has_stable_abi() {
  local python
  for python in ${PYTHONS:-python3}; do ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' || return 0; done
  return 1
}
[[ " $parts " != *" wheel "* ]] || has_stable_abi || fail "PYTHONS needs Python 3.12 or later, whose wheel is for all later ones, too"

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
[ -z "$parts" ] || rm -rf build-static build-python
for part in $parts; do
  echo "== $part"
  case $part in
    sdist | static | wheel | deb) "tools/$part.sh" "$dist" ;;
    *) fail "PARTS: there is no $part; sdist, static, wheel, deb" ;;
  esac
  # What the programs of the tarball are made of.
  if [ "$part" = static ]; then
    python=$(tools/readers.sh build-static/sbom 'cyclonedx-python-lib[json-validation]')
    for build in build-static/{sse4.2,avx2,avx512,neon,native}; do
      [ -d "$build" ] || continue
      for program in parshall parshall-lab parshall-test; do
        delivered=build-static/parshall-$version-linux-$(uname -m)/lib/parshall/${build##*/}/$program
        [ ! -x "$delivered" ] || "$python" -B tools/sbom.py "$build" "$program" "$dist/$program-$version-linux-$(uname -m).cdx.json" "$delivered"
      done
      break  # the other builds are of the same parts
    done
  fi
done

cd "$dist"
rm -f SHA256SUMS SHA256SUMS.asc
files=$(find . -maxdepth 1 -type f -name "*[-_]$version*" -printf '%P\n' | LC_ALL=C sort)
[ -n "$files" ] || fail "nothing of $version is in $dist"
old=$(find . -maxdepth 1 -type f -name "*[-_]$version*" ! -newermt "@$SOURCE_DATE_EPOCH" -printf '%P ')
[ -z "$old" ] || fail "older than the commit: $old"
sha256sum $files >SHA256SUMS
gpg --batch --yes --local-user "$key" --armor --detach-sign --output SHA256SUMS.asc SHA256SUMS
gpg --batch --quiet --verify SHA256SUMS.asc SHA256SUMS || fail "the signature is not good"
sha256sum --quiet --strict --check SHA256SUMS
echo "== $version: $(wc -l <SHA256SUMS) files in $dist, signed by $key"
cat SHA256SUMS
