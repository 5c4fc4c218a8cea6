#!/usr/bin/env bash
# sysroot.sh: puts Debian's libraries for arm64, and the emulator that runs programs of that
# architecture, into .deps/arm64, for the preset `arm64`. scripts/versions.txt names the packages.
# apt has a configuration of its own here: the machine's packages and their lists stay as they are.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly versions=scripts/versions.txt
readonly folder=.deps/arm64
readonly stamp=$folder/versions.stamp
readonly keys=/usr/share/keyrings/debian-archive-keyring.gpg

say() { printf 'sysroot: %s\n' "$*" >&2; }

# write_configuration WORK: a configuration of apt whose files all lie in WORK.
write_configuration() {
  local work=$1 mirror=${KM_DEBIAN_MIRROR:-http://deb.debian.org/debian}
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
  : >"$work/status"
  printf 'deb [arch=arm64,amd64 signed-by=%s] %s bookworm%s main\n' \
    "$keys" "$mirror" "" "$keys" "$mirror" -updates \
    "$keys" "$mirror-security" -security >"$work/sources.list"
  cat >"$work/apt.conf" <<END
Dir::State "$work/state";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::parts "/dev/null";
APT::Architecture "arm64";
APT::Architectures { "arm64"; "amd64"; };
Acquire::Retries "3";
Acquire::Languages "none";
END
}

# link_inside ROOT: absolute links name files of the machine; they are made relative, so that they
# name those of the tree. Otherwise the linker finds no libm.so, and takes the static one.
link_inside() {
  local root=$1 link target
  while read -r link; do
    target=$(readlink "$link")
    ln -sfnr "$root$target" "$link"
  done < <(find "$root" -type l -lname '/*')
}

# fetch WORK: the packages, unpacked into WORK/root, those of this machine into WORK/tools.
fetch() {
  local work=$1 package packages
  mapfile -t packages < <(awk '$1 == "arm64" {print $2 "=" $3}' "$versions")
  export APT_CONFIG=$work/apt.conf
  apt-get -qq update || return 1
  mkdir "$work/packages" "$work/root" "$work/tools"
  say "fetching ${#packages[@]} Debian packages"
  (cd "$work/packages" && apt-get -qq download "${packages[@]}") || return 1
  # Debian 12 has its libraries below /usr; packages still say /lib.
  mkdir -p "$work/root/usr/lib"
  ln -s usr/lib "$work/root/lib"
  for package in "$work"/packages/*_arm64.deb "$work"/packages/*_all.deb; do
    [[ ! -e $package ]] || dpkg-deb --fsys-tarfile "$package" |
      tar -x -C "$work/root" --keep-directory-symlink || return 1
  done
  # What packages of a release say that they hold.
  for package in "$work"/packages/*.deb; do
    dpkg-deb -W --showformat='${Package} ${Version}\n' "$package"
  done | sort >"$work/packages.txt"
  for package in "$work"/packages/*_amd64.deb; do
    dpkg-deb -x "$package" "$work/tools" || return 1
  done
  link_inside "$work/root"
}

main() {
  local wanted work
  wanted=$(awk '$1 == "arm64" {print $2, $3}' "$versions" && sha256sum scripts/sysroot.sh)
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
    return
  fi
  mkdir -p .deps
  work=$(mktemp -d "$PWD/.deps/fetch.XXXXXX")
  # shellcheck disable=SC2064  # the folder's name is to be expanded now
  trap "rm -rf '$work'" EXIT
  write_configuration "$work"
  if ! fetch "$work"; then
    say "cannot fetch Debian's packages for arm64: check the network"
    exit 1
  fi
  rm -rf "$folder"
  mkdir "$folder"
  mv "$work/root" "$work/tools" "$work/packages.txt" "$folder"
  printf '%s\n' "$wanted" >"$stamp"
}

main
