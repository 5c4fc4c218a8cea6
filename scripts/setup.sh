#!/usr/bin/env bash
# Puts in place what scripts/versions.txt names: Debian's packages into the system (as root or by
# sudo), wheels into .deps/, Rust and Go only where PATH has none that is new enough. Does nothing,
# quickly, when all of it is there.
# SETUP=0 skips it, for machines that are looked after in another way.
# `setup.sh bench` puts in place what only benchmarks need, `setup.sh dist` what only tests
# of packages need, `setup.sh arm64` what the preset `arm64` needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly versions=scripts/versions.txt
readonly deps=.deps
readonly tools=$deps/tools

say() { printf 'setup: %s\n' "$*" >&2; }

die() {
  say "$@"
  exit 1
}

# lacks PROGRAM: no toolchain that is new enough has it.
lacks() { ! grep -q "^$1=/" < <(scripts/toolchains.sh); }

# --- Debian's packages -------------------------------------------------------------------------

# The lines "PACKAGE VERSION" of all packages that this machine is to have.
wanted_packages() {
  awk '$1 == "debian" {print $2, $3}' "$versions"
  if lacks cargo; then
    awk '$1 == "rust" {print $2, $3}' "$versions"
  fi
}

# The lines "PACKAGE=VERSION" of those of wanted_packages' lines, read from standard input, that are
# not installed in the version asked for.
missing_packages() {
  local -A installed=()
  local package version status wanted
  while read -r package version status; do
    [[ $status == ii* ]] && installed[$package]=$version
  done < <(dpkg-query -W -f='${Package} ${Version} ${db:Status-Abbrev}\n' 2>/dev/null)
  while read -r package wanted; do
    # shellcheck disable=SC2053  # the version is a pattern
    [[ ${installed[$package]:-} == $wanted ]] || printf '%s=%s\n' "$package" "$wanted"
  done
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  else
    sudo "$@"
  fi
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 \
    -o Dpkg::Use-Pty=0 "$@"
}

require_debian_12_and_root() {
  local name
  name=$(. /etc/os-release && printf '%s %s' "${ID:-unknown}" "${VERSION_ID:-}")
  if [[ $name != "debian 12" ]] || ! command -v apt-get >/dev/null; then
    die "this is $name, not Debian 12: install these yourself, then run with SETUP=0:" "$@"
  fi
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    die "neither root nor sudo: have an administrator install:" "$@"
  fi
}

# Names each package that cannot be had, and why, when installing all at once has failed.
explain_packages() {
  local package reason
  for package in "$@"; do
    if ! reason=$(apt install -s --no-install-recommends "$package" 2>&1); then
      say "cannot install $package: $(grep -m1 '^E:' <<<"$reason" || tail -n1 <<<"$reason")"
    fi
  done
  die "check the network and that bookworm, bookworm-updates and bookworm-security are in" \
    "apt's sources; or install it in another way and run with SETUP=0"
}

install_packages() {
  (($# == 0)) && return
  require_debian_12_and_root "$@"
  say "installing $# Debian packages: $*"
  apt update || say "apt-get update failed; trying with the lists that are there"
  apt install -y --no-install-recommends "$@" >/dev/null || explain_packages "$@"
}

# setup_debian LINES: the packages that the lines "PACKAGE VERSION" name.
setup_debian() {
  local missing=()
  if command -v dpkg-query >/dev/null; then
    mapfile -t missing < <(missing_packages <<<"$1")
  else
    mapfile -t missing < <(tr ' ' '=' <<<"$1")
  fi
  install_packages "${missing[@]}"
}

# --- Wheels ------------------------------------------------------------------------------------

# A Python that has pip: the first on the path, else Debian's, else Debian's with pip installed.
python_with_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      printf '%s\n' "$python"
      return
    fi
  done
  install_packages python3-pip >&2
  printf '/usr/bin/python3\n'
}

# fetch_wheels KIND FOLDER [OPTION...]: the wheels of a kind, which pip downloads with these
# options, unpacked into FOLDER/tree.
fetch_wheels() {
  local kind=$1 folder=$2 python wheel
  shift 2
  python=$(python_with_pip)
  say "fetching $(awk -v k="$kind" '$1 == k {printf "%s==%s ", $2, $3}' "$versions")"
  awk -v k="$kind" '$1 == k {print $2 "==" $3 " --hash=sha256:" $4}' "$versions" \
    >"$folder/wheels.txt"
  "$python" -m pip download --quiet --no-deps --only-binary=:all: --require-hashes \
    --disable-pip-version-check --retries 5 -r "$folder/wheels.txt" -d "$folder" "$@" || return 1
  mkdir "$folder/tree"
  for wheel in "$folder"/*.whl; do
    "$python" -m zipfile -e "$wheel" "$folder/tree" || return 1
  done
}

# The kind of wheels in versions.txt that are for this machine's processor.
wheel_kind() {
  if [[ $(uname -m) == aarch64 ]]; then
    printf 'arm64wheel\n'
  else
    printf 'wheel\n'
  fi
}

setup_wheels() {
  local stamp=$deps/versions.stamp kind wanted work
  kind=$(wheel_kind)
  wanted=$(awk -v k="$kind" '$1 == k {print $2, $3, $4}' "$versions")
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
    return
  fi
  mkdir -p "$deps"
  work=$(mktemp -d "$deps/fetch.XXXXXX")
  # shellcheck disable=SC2064  # the folder's name is to be expanded now
  trap "rm -rf '$work'" EXIT
  fetch_wheels "$kind" "$work" ||
    die "cannot fetch these wheels: check the network; or set KM_NVRTC to a folder with" \
      "libnvrtc.so (CUDA 11 to 13) and run with SETUP=0"
  find "$work/tree" -name '*.a' -delete
  # Whatever an earlier set-up left goes, and only a complete tree takes its place.
  find "$deps" -mindepth 1 -maxdepth 1 ! -path "$work" ! -path "$tools" ! -path "$deps/bench" \
    ! -path "$deps/arm64" ! -path "$deps/clients" ! -path "$deps/dist" \
    ! -path "$deps/go-modules" -exec rm -rf {} +
  mv "$work/tree"/* "$deps"/
  printf '%s\n' "$wanted" >"$stamp"
}

# --- Toolchains --------------------------------------------------------------------------------

# install_tool NAME VERSION SHA256: one wheel, into a folder of its own.
install_tool() {
  local folder=$tools/$1-$2 python work
  say "fetching $1 $2"
  python=$(python_with_pip)
  work=$(mktemp -d "$tools/fetch.XXXXXX")
  printf '%s==%s --hash=sha256:%s\n' "$@" >"$work/wheel.txt"
  if ! "$python" -m pip install --quiet --no-deps --no-compile --only-binary=:all: \
    --require-hashes --disable-pip-version-check --root-user-action=ignore --retries 5 \
    -r "$work/wheel.txt" --target "$work/tree"; then
    rm -rf "$work"
    die "cannot fetch $1: check the network; with SETUP=0 the tests that need it are skipped"
  fi
  mv -T "$work/tree" "$folder"
  rm -rf "$work"
}

# The lines "NAME VERSION SHA256" of the wheels that are to lie in .deps/tools. Go is kept once it
# is there: toolchains.sh takes it for one that PATH has.
wanted_tools() {
  local kinds=zig
  if lacks go || [[ -d $(awk '$1 == "go" {print t "/" $2 "-" $3}' t="$tools" "$versions") ]]; then
    kinds='zig go'
  fi
  awk -v kinds=" $kinds " 'index(kinds, " " $1 " ") {print $2, $3, $4}' "$versions"
}

setup_tools() {
  local name version hash old keep=()
  [[ $(uname -m) == x86_64 ]] || return 0  # versions.txt has no other machine's wheels of these
  mkdir -p "$tools"
  while read -r name version hash; do
    keep+=("$tools/$name-$version")
    [[ -d $tools/$name-$version ]] || install_tool "$name" "$version" "$hash"
  done < <(wanted_tools)
  for old in "$tools"/*; do
    [[ " ${keep[*]} " == *" $old "* ]] || rm -rf "$old"
  done
}

# The crates that the Cargo.lock files name, into cargo's own store, so that builds need no network.
setup_crates() {
  local stamp=$deps/crates.stamp wanted cargo locks lock
  mapfile -t locks < <(find bindings examples bench -name Cargo.lock)
  wanted=$(sha256sum "${locks[@]}")
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
    return
  fi
  cargo=$(scripts/toolchains.sh | sed -n 's/^cargo=//p')
  [[ -n $cargo ]] || return 0
  say "fetching the crates of the Rust binding"
  for lock in "${locks[@]}"; do
    "$cargo" fetch --quiet --locked --manifest-path "${lock%.lock}.toml" ||
      die "cannot fetch the crates of $lock: check the network"
  done
  printf '%s\n' "$wanted" >"$stamp"
}

# fetch_go_modules GO STORE: the modules that bindings/go/gonum needs; the other versions of Go, as
# STORE/versions/VERSION; and the programs, by the newest of these, in STORE/bin. Go makes a version
# that it fetches runnable when it takes it for itself.
fetch_go_modules() {
  local go=$1 store=$2 name version root
  local -x GOMODCACHE=$store GOFLAGS=-modcacherw GOBIN=$store/bin
  (cd bindings/go/gonum && "$go" mod download) || return 1
  mkdir -p "$store/versions"
  while read -r version; do
    root=$(GOTOOLCHAIN=go$version "$go" env GOROOT) || return 1
    ln -sfnr "$root" "$store/versions/$version"
  done < <(awk '$1 == "goversion" {print $3}' "$versions")
  while read -r name version; do
    GOTOOLCHAIN=local "$root/bin/go" install "$name@$version" || return 1
  done < <(awk '$1 == "goprogram" {print $2, $3}' "$versions")
}

# The modules of Go, into a store of their own. Where they cannot be had, the tests that need them
# are skipped; CI has them.
setup_go_modules() {
  local store=$PWD/$deps/go-modules wanted go
  local stamp=$store/modules.stamp
  wanted=$(sha256sum bindings/go/gonum/go.sum && awk '/^go(version|program) /' "$versions")
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
    return
  fi
  go=$(scripts/toolchains.sh | sed -n 's/^go=//p')
  [[ -n $go ]] || return 0
  say "fetching the modules of the Go binding"
  if fetch_go_modules "$go" "$store"; then
    printf '%s\n' "$wanted" >"$stamp"
  elif [[ -n ${CI:-} ]]; then
    die "cannot fetch the modules of Go: check the network"
  else
    say "cannot fetch them: without a network the tests that need them are skipped"
  fi
}

# The crates whose own tests run on our CUDA driver library, and what they need. Where they cannot
# be had, those tests are skipped; CI has them all.
setup_clients() {
  local folder=$deps/clients wanted cargo
  local stamp=$folder/crates.stamp
  wanted=$(sha256sum tests/clients/crates/Cargo.* tests/clients/rust.py)
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
    return
  fi
  cargo=$(scripts/toolchains.sh | sed -n 's/^cargo=//p')
  [[ -n $cargo ]] || return 0
  say "fetching the crates whose tests run on the CUDA driver library"
  if PATH=${cargo%/*}:$PATH tests/clients/rust.py "$cargo" "$folder"; then
    printf '%s\n' "$wanted" >"$stamp"
  elif [[ -n ${CI:-} ]]; then
    die "cannot fetch the crates of tests/clients/crates: check the network"
  else
    say "cannot fetch them: without a network their tests are skipped"
  fi
}

# --- Packages of a release ---------------------------------------------------------------------

# What only their tests need: Debian's packages, and programs in Go into .deps/dist/bin.
setup_dist() {
  local store=$PWD/$deps/dist wanted go name version
  local stamp=$store/programs.stamp
  setup_debian "$(awk '$1 == "dist" {print $2, $3}' "$versions")"
  wanted=$(awk '$1 == "distgo" {print $2, $3}' "$versions")
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
    return
  fi
  go=$(scripts/toolchains.sh | sed -n 's/^go=//p')
  [[ -n $go ]] || die "Go is missing: run scripts/setup.sh first"
  while read -r name version; do
    say "building $name $version"
    GOBIN=$store/bin GOMODCACHE=$store/modules GOFLAGS=-modcacherw \
      "$go" install "$name@$version" || die "cannot build $name: check the network"
  done <<<"$wanted"
  rm -rf "$store/modules"
  printf '%s\n' "$wanted" >"$stamp"
}

# --- Benchmarks --------------------------------------------------------------------------------

# Intel's CPU runtime for OpenCL into .deps/bench/intel: lib/, and vendors/ for OpenCL's loader.
# Benchmarks do without it where it cannot be had.
setup_intel() {
  local folder=$deps/bench/intel wanted work
  wanted=$(awk '$1 == "intel" {print $2, $3, $4}' "$versions")
  if [[ -f $folder/versions.stamp && $(<"$folder/versions.stamp") == "$wanted" ]]; then
    return
  fi
  mkdir -p "$deps/bench"
  work=$(mktemp -d "$deps/bench/fetch.XXXXXX")
  # shellcheck disable=SC2064  # the folder's name is to be expanded now
  trap "rm -rf '$work'" EXIT
  if ! fetch_wheels intel "$work"; then
    say "cannot fetch Intel's runtime for OpenCL: benchmarks run without it"
    return 0
  fi
  mkdir -p "$work/intel/vendors"
  cp -r "$work/tree"/*.data/data/lib "$work/intel"
  # Debian's loader of OpenCL serves all platforms; the other is of no use here.
  rm -f "$work/intel/lib"/libOpenCL.so* "$work/intel/lib/icx-lto.so"
  printf 'libintelocl.so\n' >"$work/intel/vendors/intel.icd"
  printf '%s\n' "$wanted" >"$work/intel/versions.stamp"
  rm -rf "$folder"
  mv "$work/intel" "$folder"
}

setup_bench() {
  setup_debian "$(awk '$1 == "bench" {print $2, $3}' "$versions")"
  setup_intel
}

# --- AArch64 -----------------------------------------------------------------------------------

# Debian's libraries, and beside them NVRTC.
setup_arm64() {
  local folder=$deps/arm64 wanted work
  scripts/sysroot.sh
  wanted=$(awk '$1 == "arm64wheel" {print $2, $3, $4}' "$versions")
  if [[ -f $folder/wheels.stamp && $(<"$folder/wheels.stamp") == "$wanted" ]]; then
    return
  fi
  work=$(mktemp -d "$folder/fetch.XXXXXX")
  # shellcheck disable=SC2064  # the folder's name is to be expanded now
  trap "rm -rf '$work'" EXIT
  fetch_wheels arm64wheel "$work" --platform manylinux2014_aarch64 ||
    die "cannot fetch NVRTC for arm64: check the network"
  find "$work/tree" -name '*.a' -delete
  rm -rf "$folder/nvidia"
  mv "$work/tree/nvidia" "$folder"
  printf '%s\n' "$wanted" >"$folder/wheels.stamp"
}

main() {
  [[ ${SETUP:-1} == 0 ]] && return
  if [[ ${1:-} == bench ]]; then
    setup_bench
    return
  fi
  setup_debian "$(wanted_packages)"
  setup_wheels
  setup_tools
  setup_crates
  setup_go_modules
  setup_clients
  case ${1:-} in
    dist) setup_dist ;;
    arm64) setup_arm64 ;;
  esac
}

main "$@"
