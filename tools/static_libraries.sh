#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# static_libraries.sh FOLDER: builds the libraries that Debian has no usable static build of, from Debian's sources of
# the installed versions, with its patches, into FOLDER/lib. FOLDER/pkgconfig lets meson find them.
# fmt and muparser: Debian has only shared ones. libpcap: Debian's needs libsystemd. librdkafka: Debian's needs libsasl2.
# libcurl: Debian's needs libsasl2 and Kerberos; this one speaks HTTP and HTTPS alone.
# JOBS=2 compiles no more than two files at a time. Takes flex, bison and dpkg-dev, which tools/static.sh installs.
set -euo pipefail
script=$(sha256sum <"$0" | cut -c1-16)
folder=$(mkdir -p "$1/lib" "$1/pkgconfig" "$1/source" && realpath "$1")
rm -f "$folder/apt/ready"
jobs=-j${JOBS:-$(nproc)}
cc="gcc" cxx="g++"
if command -v ccache >/dev/null; then cc="ccache gcc" cxx="ccache g++"; fi
flags="-O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$folder/source=."
[ "$(uname -m)" != x86_64 ] || flags="$flags -march=x86-64-v2 -fcf-protection=full"

# apt-get for source packages, from where this machine has its packages. apt checks signatures, as for these.
apt() {
  local apt=$folder/apt
  mkdir -p "$apt/parts" "$apt/lists/partial"
  if [ ! -e "$apt/ready" ]; then
    for list in /etc/apt/sources.list.d/*.sources; do
      [ ! -e "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"$apt/parts/${list##*/}"
    done
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >"$apt/parts/lines.list" || true
    apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/parts" -o Dir::State::Lists="$apt/lists" update
    touch "$apt/ready"
  fi
  apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/parts" -o Dir::State::Lists="$apt/lists" -o APT::Sandbox::User=root "$@"
}

# wanted NAME PACKAGE: whether lib/libNAME.a is still to be built, by this script, of the source of an installed package,
# which it then unpacks into source/NAME. As a condition it has no -e.
wanted() {
  local source
  source=$(dpkg-query -W -f '${source:Package}=${source:Version}' "$2") || exit 1
  [ "$(cat "$folder/lib/$1.of" 2>/dev/null)" != "$2 $source $script" ] || return 1
  echo "building lib$1.a of $source"
  rm -rf "$folder/source/$1" "$folder/lib/lib$1.a" && mkdir "$folder/source/$1" || exit 1
  (cd "$folder/source/$1" && apt source "$source" >log 2>&1 && rm -f ./*.tar.* ./*.dsc && mv ./*/ tree) || { cat "$folder/source/$1/log" >&2; exit 1; }
  cd "$folder/source/$1/tree" || exit 1
}

# built NAME PACKAGE ARCHIVE PKG_CONFIG_NAME [REQUIRES]: keeps the archive, with what tells meson of it.
built() {
  cp "$3" "$folder/lib/lib$1.a"
  printf '%s\n' "Name: $4" "Description: static lib$1" "Version: $(pkg-config --modversion "$4")" "Requires.private: ${5:-}" "Libs: -L$folder/lib -l$1" >"$folder/pkgconfig/$4.pc"
  echo "$2 $(dpkg-query -W -f '${source:Package}=${source:Version}' "$2") $script" >"$folder/lib/$1.of"
}

# archive FILE...: compiles C++ into all.a.
archive() {
  local file
  for file in "$@"; do $cxx -std=c++17 $flags -Iinclude -c "$file" -o "${file//\//_}.o"; done
  ar rcD all.a ./*.o
}

if wanted fmt libfmt-dev; then
  archive src/format.cc src/os.cc
  built fmt libfmt-dev all.a fmt
fi
if wanted muparser libmuparser-dev; then
  archive src/*.cpp
  built muparser libmuparser-dev all.a muparser
fi
# toml++ is compiled from its headers: Debian's description asks for its shared library.
sed '/^Libs:/d; /^Cflags:/d' "$(pkg-config --variable=pcfiledir tomlplusplus)/tomlplusplus.pc" >"$folder/pkgconfig/tomlplusplus.pc"
# logged COMMAND...: says what went wrong, and nothing else.
logged() { "$@" >>../log 2>&1 || { tail -30 ../log >&2; exit 1; }; }
export CC=$cc CXX=$cxx CFLAGS=$flags
if wanted pcap libpcap-dev; then
  logged ./configure --disable-shared --disable-dbus --disable-bluetooth --disable-usb --disable-rdma --without-libnl --without-dpdk
  logged make $jobs libpcap.a
  built pcap libpcap-dev libpcap.a libpcap
fi
if wanted rdkafka librdkafka-dev; then
  logged ./configure --enable-static --disable-gssapi --disable-curl
  logged make $jobs -C src librdkafka.a
  ar d src/librdkafka.a lz4.o lz4frame.o lz4hc.o  # Debian's liblz4, which has its security updates
  built rdkafka librdkafka-dev src/librdkafka.a rdkafka "libssl libcrypto zlib libzstd liblz4"
fi
if wanted curl libcurl4-openssl-dev; then
  [ -e configure ] || logged autoreconf -fi
  logged ./configure --disable-shared --with-openssl --with-ca-bundle=/etc/ssl/certs/ca-certificates.crt --with-ca-path=/etc/ssl/certs \
    --disable-{ftp,file,ldap,ldaps,rtsp,dict,telnet,tftp,pop3,imap,smb,smtp,gopher,mqtt,manual,docs} \
    --without-{libpsl,brotli,nghttp2,libidn2,librtmp,libssh2,libgsasl,gssapi,zstd}
  logged make $jobs -C lib libcurl.la
  built curl libcurl4-openssl-dev lib/.libs/libcurl.a libcurl "libssl libcrypto zlib"
fi
# nDPI: Debian's description does not say that libgcrypt, which it is linked with, needs libgpg-error.
sed 's/-lgcrypt/-lgcrypt -lgpg-error/' "$(pkg-config --variable=pcfiledir libndpi)/libndpi.pc" >"$folder/pkgconfig/libndpi.pc"
ls -l "$folder"/lib/*.a
