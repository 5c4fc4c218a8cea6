#!/usr/bin/env bash
# demo.sh PRESET [--device URI]: set-up, build, and the demo; says how long that took.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/duration.sh

targets=(kernelmill_demo)
if [[ ${2:-} == --device ]]; then
  export KM_DEVICE=$3
  targets+=(kernelmill-plugins)
fi
scripts/build.sh "$1" "${targets[@]}"
ready=$(duration)
cmake --build --preset "$1" --target run_demo
printf 'make demo took %s (set-up and build: %s)\n' "$(duration)" "$ready"
