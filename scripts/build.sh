#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: set-up, configure, build. Without targets: everything.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
shift
scripts/setup.sh

# The log of a configure that works is noise; of one that fails it is what the user needs.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
cmake --build --preset "$preset" ${1:+--target "$@"}
