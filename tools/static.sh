#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# static.sh [FOLDER]: Builds programs that run on any Linux with this CPU architecture and need no package. Writes a
# tarball to FOLDER (dist). The programs are linked statically (static PIE), and built for each instruction set as
# tools/portable.sh does. With them are descriptions of terminals, manual pages, completions, pages, examples, and the
# licences of what is linked in.
# Two builds of one commit give the same bytes. DPDK is left out: its drivers are shared libraries.
# ISAS="sse4.2" PROGRAMS="parshall" builds less, JOBS=2 no more than two files at a time. build-static is where it works.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$(mkdir -p "${1:-dist}" && realpath "${1:-dist}")
tools/setup.sh dpkg-dev flex bison libgcrypt20-dev
version=$(tools/version.sh)
name=parshall-$version-linux-$(uname -m)
root=build-static/$name
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
programs=${PROGRAMS:-parshall parshall-lab parshall-test}
umask 022

tools/static_libraries.sh build-static/libraries
rm -rf "$root" build-static/man build-static/completions
PKG_CONFIG_PATH=$PWD/build-static/libraries/pkgconfig BUILDS=build-static PROGRAMS=$programs \
  MESON_FLAGS="-Dprefer_static=true -Ddpdk=disabled -Dcpp_link_args=-static-pie ${MESON_FLAGS:-}" tools/portable.sh "$root"

share=$root/share
mkdir -p "$share/terminfo" "$share/doc/parshall/licences" "$share/bash-completion" "$share/fish" "$share/zsh"
for terminal in ansi dumb linux rxvt screen screen-256color tmux tmux-256color vt100 vt220 xterm xterm-256color; do
  for folder in /etc /lib /usr/lib /usr/share; do
    [ ! -e "$folder/terminfo/${terminal:0:1}/$terminal" ] || install -D -m 644 -t "$share/terminfo/${terminal:0:1}" "$folder/terminfo/${terminal:0:1}/$terminal"
  done
done
python3 -B tools/man.py "$root/bin/parshall" build-static/man
for page in build-static/man/*/*.1; do install -D -m 644 -t "$share/man/man1" "$page"; done
python3 -B tools/completions.py "$root/bin/parshall" build-static/completions
cp -r build-static/completions/bash "$share/bash-completion/completions"
cp -r build-static/completions/fish "$share/fish/vendor_completions.d"
cp -r build-static/completions/zsh "$share/zsh/site-functions"
git archive HEAD README.md CHANGELOG.md SECURITY.md LICENSE docs examples | tar -x -C "$share/doc/parshall"
cp "$share/doc/parshall/LICENSE" "$root/"

# What is linked in, and the terms of each.
for program in $programs; do
  python3 -B tools/linked_packages.py "$(echo build-static/${ISAS:-sse4.2} | cut -d' ' -f1)" "$program"
done | sort -u >build-static/parts
cat - build-static/parts >"$share/doc/parshall/licences/README" <<END
Parshall itself is under the Apache License 2.0 (LICENSE). Its programs contain parts of the Debian packages below. A
file beside this one has the terms of each. Some are under the LGPL (glibc, libgcrypt, libgpg-error, nDPI). To link
Parshall with other versions of them, build it from its source: tools/static.sh made this.
"apt-get source PACKAGE" fetches the source of a package.

END
while read -r package _; do cp -L "/usr/share/doc/$package/copyright" "$share/doc/parshall/licences/$package"; done <build-static/parts

chmod -R u=rwX,go=rX "$root"
tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C build-static -c "$name" | gzip -9n >"$dist/$name.tar.gz"
ls -l "$dist/$name.tar.gz"
