#!/usr/bin/env bash
# install.sh FOLDER [PACKAGE]: the wheel in a virtual environment of its own, and what the steps of
# a job that follow need: the command on PATH, and the variables by which builds and programs find
# the library. PACKAGE is whatever pip installs; without it, the wheel of this checkout's release.
# Writes to the files that GITHUB_PATH and GITHUB_ENV name; without them, prints lines for a shell.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly releases=https://github.com/kernelmill/kernelmill/releases/download

die() {
  printf 'kernelmill: %s\n' "$*" >&2
  exit 1
}

release_wheel() {
  local version
  version=$(awk '$2 ~ /^KM_VERSION_(MAJOR|MINOR|PATCH)$/ {v = v s $3; s = "."} END {print v}' \
    "$here/include/kernelmill/base.h")
  printf '%s/v%s/kernelmill-%s-py3-none-manylinux_2_28_%s.whl\n' \
    "$releases" "$version" "$version" "$(uname -m)"
}

# variable NAME VALUE: for the steps that follow.
variable() {
  if [[ -n ${GITHUB_ENV:-} ]]; then
    printf '%s=%s\n' "$1" "$2" >>"$GITHUB_ENV"
  else
    printf 'export %s=%q\n' "$1" "$2"
  fi
}

main() {
  [[ $# == 1 || $# == 2 ]] || die "usage: install.sh FOLDER [PACKAGE]"
  local folder=$1 package=${2:-}
  [[ $(uname -sm) =~ ^"Linux "(x86_64|aarch64)$ ]] ||
    die "there are packages for Linux on x86-64 and AArch64, not for $(uname -sm)"
  [[ -n $package ]] || package=$(release_wheel)
  python3 -m venv "$folder" >&2 ||
    die "python3 with its module venv is missing: install it ('apt install python3-venv')"
  folder=$(cd "$folder" && pwd)
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$package" >&2 ||
    die "pip could not install '$package': name a wheel's path or address"
  # A folder with the command alone: the job's own Python stays the first on PATH.
  mkdir -p "$folder/command"
  ln -sf ../bin/kernelmill "$folder/command/kernelmill"
  if [[ -n ${GITHUB_PATH:-} ]]; then
    printf '%s\n' "$folder/command" >>"$GITHUB_PATH"
  else
    # shellcheck disable=SC2016  # the shell that reads the line expands it
    printf 'export PATH=%q:$PATH\n' "$folder/command"
  fi
  local name value
  while read -r name value; do
    variable "$name" "$value"
  done < <("$folder/bin/python" "$here/packaging/ci/variables.py")
  "$folder/command/kernelmill" info >&2
}

main "$@"
