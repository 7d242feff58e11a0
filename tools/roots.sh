# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# roots.sh, which other scripts read: root file systems of Debian suites, and how long a step takes. new_root and in_root
# take root.

own_suite() { (. /etc/os-release && echo "$VERSION_CODENAME"); }
apt_sources() { ls /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null; }
seconds() { date +%s.%N; }
since() { awk -v from="$1" -v to="$(seconds)" 'BEGIN { printf "%.1f s", to - from }'; }

# new_root SUITE FOLDER [OPTION...]: makes a minimal Debian of that suite, with options of mmdebstrap. Packages come from
# where this machine's own come from.
new_root() {
  local suite=$1 root=$2 own sources file
  own=$(own_suite)
  sources=$(mktemp -d)
  for file in $(apt_sources); do
    # A distribution is a word such as bookworm, bookworm-updates or bookworm/updates. Other vendors have other words.
    sed -E "/^#/d; s/(^|[[:space:]])$own/\1$suite/g" "$file" >"$sources/${file##*/}"
    grep -qE "(^|[[:space:]])$suite" "$sources/${file##*/}" || rm "$sources/${file##*/}"
  done
  mmdebstrap --quiet --variant=minbase "${@:3}" "$suite" "$root" "$sources"/* || { rm -r "$sources"; return 1; }
  rm -r "$sources"
  # Not the files, which are those of packages in part: one that is there before its package stops the installation.
  apt-config dump --empty=no --format '%F "%v";%n' Acquire | grep -v ::IndexTargets:: >"$root/etc/apt/apt.conf.d/90this-machine"
}

# in_root ROOT COMMAND...: runs it there, in namespaces of mounts and processes of its own. /proc, /sys and /dev are
# there only while it runs. The root is pivoted to, since the kernel gives no user namespace
# to a process in a chroot. A shell stays the first process, which has to wait for orphans.
# BINDS is a list of folders of this machine that are there, too; PASSES one of variables that are kept. NO_NETWORK=1
# leaves it without a network.
in_root() {
  local name kept=()
  cp --remove-destination /etc/resolv.conf /etc/hosts "$1/etc/"
  for name in ${PASSES:-}; do [ -z "${!name+set}" ] || kept+=("$name=${!name}"); done
  BINDS=${BINDS:-} unshare ${NO_NETWORK:+--net} --mount --pid --fork --kill-child bash -c '
  set -e
  root=$1
  shift
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  [ ! -d /sys/fs/bpf ] || mount -t bpf bpf "$root/sys/fs/bpf" || true
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=755 tmpfs "$root/run"
  mkdir "$root/run/lock"
  for folder in $BINDS; do
    mkdir -p "$root$folder"
    mount --rbind "$folder" "$root$folder"
  done
  here=$PWD
  cd "$root"
  pivot_root . mnt
  umount -l /mnt
  cd "$here" 2>/dev/null || cd /
  exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"' in_root "$1" "${kept[@]}" /bin/sh -c '"$@"; exit $?' sh "${@:2}"
}
