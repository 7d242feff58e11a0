#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deb_trial.sh [FOLDER [SUITE]]: As root, installs the packages of FOLDER (dist) in a new, minimal Debian of SUITE (this
# machine's). Prints how long each step takes and what was installed with it. Runs debian/tests, purges the packages,
# and checks that nothing remains.
# TESTS="monitor pages" runs these alone, TESTS= none.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/roots.sh
dist=$(realpath "${1:-dist}")
suite=${2:-$(own_suite)}
tests=${TESTS-$(sed -n 's/^Tests: //p' debian/tests/control)}
tools/setup.sh mmdebstrap systemd-container
work=$(mktemp -d)
root=$work/root
inside() { in_root "$root" "$@"; }
# The same, in a machine that systemd runs.
booted() {
  printf '%s\n' '[Service]' Type=oneshot "ExecStart=/bin/sh -c '$1; echo \$? >/trial/status'" StandardOutput=append:/trial/said StandardError=inherit \
    'ExecStopPost=systemctl poweroff --force' >"$root/etc/systemd/system/trial.service"
  rm -f "$root/trial/said"
  echo "it did not end" >"$root/trial/status"
  timeout 120 systemd-nspawn --quiet --directory="$root" --boot --private-network --capability=CAP_BPF,CAP_NET_ADMIN,CAP_IPC_LOCK --keep-unit --register=no \
    systemd.wants=trial.service >/dev/null 2>&1 || true
  rm "$root/etc/systemd/system/trial.service"
  cat "$root/trial/said"
  [ "$(cat "$root/trial/status")" = 0 ]
}
trap 'rm -rf --one-file-system "$work"' EXIT

began=$(seconds)
new_root "$suite" "$root"
mkdir "$root/trial"
debs=$(ls "$dist"/*"_$(tools/version.sh)~deb$(. "$root/etc/os-release" && echo "$VERSION_ID")_"*.deb)
cp $debs "$root/trial/"
echo "== a bare Debian ($suite, $(du -sm "$root" | cut -f1) MB) is made: $(since "$began")"

python3 tools/write_capture.py "$root/trial/capture.pcap"
before=$(inside dpkg-query -W -f '${Package} ${Installed-Size}\n' | sort)
began=$(seconds)
inside apt-get update -qq
echo "== apt update: $(since "$began")"
inside sh -c 'apt-get install -qq /trial/parshall_*.deb' >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "== and apt install ./parshall.deb: $(since "$began")"
inside parshall watch -r /trial/capture.pcap --top 3 | tee "$work/report"
echo "== and a report: $(since "$began")"
grep -q "^accounting 10000 offered = 10000 counted$" "$work/report"
echo "== what came with it (MB installed)"
inside dpkg-query -W -f '${Package} ${Installed-Size}\n' | sort | comm -13 <(echo "$before") - | sort -k2 -rn | awk '{ printf "%7.1f  %s\n", $2 / 1024, $1; all += $2 } END { printf "%7.1f  in %d packages\n", all / 1024, NR }'

mapfile -t packages < <(for deb in $debs; do dpkg-deb -f "$deb" Package; done | sort -u)
began=$(seconds)
inside sh -c 'apt-get install -qq /trial/*.deb' >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "== ${packages[*]} are installed: $(since "$began")"
failed=0
for test in $tests; do
  wanted=$(awk -v test="$test" '$1 == "Tests:" { here = $2 == test } here && $1 == "Depends:" { sub("Depends:", ""); gsub(/:any|,/, ""); print }' debian/tests/control)
  inside apt-get install -qq --no-install-recommends $wanted >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  mkdir -p "$root/trial/source"
  git archive HEAD debian/tests examples tests/tools tools | tar -x -C "$root/trial/source"
  began=$(seconds)
  run="inside sh -c"
  [ "$test" = service ] && run=booted
  if $run "cd /trial/source && debian/tests/$test" >"$work/log" 2>&1; then echo "ok      $test ($(since "$began"))"; else failed=1; echo "FAILED  $test"; tail -40 "$work/log"; fi
done

# Reinstalls the package while the service runs, then purges it. The service must stop and must not recreate removed
# files. The owner's configuration stays.
printf 'interface = "lo"\n' >"$root/etc/parshall/mine.toml"
cat >"$root/trial/purge" <<END
set -e
export DEBIAN_FRONTEND=noninteractive
mkdir -p /var/lib/parshall /var/log/parshall
touch /var/lib/parshall/records
if [ -d /run/systemd/system ]; then
  systemctl start parshall@mine
  before=\$(systemctl show -P MainPID parshall@mine)
  apt-get install -qq --reinstall /trial/parshall_*.deb
  systemctl is-active parshall@mine
  [ "\$(systemctl show -P MainPID parshall@mine)" != "\$before" ]
fi
apt-get purge -qq ${packages[*]}
! grep -lx parshall /proc/[0-9]*/comm
END
run="inside sh -c"
[ -x "$root/sbin/init" ] && run=booted
$run "sh -x /trial/purge" >"$work/log" 2>&1 || { failed=1; echo "FAILED  purge"; cat "$work/log"; }
echo "== purged; what is left of its own:"
left=$(cd "$root" && find . -xdev -path ./trial -prune -o -iname '*parshall*' -print && { grep -ls parshall etc/passwd etc/group etc/shadow etc/gshadow || true; })
echo "$left"
# Policy: accounts may stay (9.2.2), and what the machine's owner wrote does (10.7.3).
unexpected=$(echo "$left" | grep -vE '^$|^(\./)?etc/(parshall|passwd|group|shadow|gshadow)(-)?$' || true)
[ -z "$unexpected" ] || { failed=1; echo "FAILED  this may not stay:"; echo "$unexpected"; }
[ "$(ls "$root/etc/parshall")" = mine.toml ] || { failed=1; echo "FAILED  /etc/parshall has not just what its owner wrote"; }
[ "$failed" = 0 ] && echo "== all is well"
exit "$failed"
