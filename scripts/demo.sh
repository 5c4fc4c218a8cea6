#!/usr/bin/env bash
# demo.sh PRESET: set-up, build, and the demo; says how long that took.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/duration.sh

scripts/build.sh "$1" kernelmill_demo
ready=$(duration)
cmake --build --preset "$1" --target run_demo
printf 'make demo took %s (set-up and build: %s)\n' "$(duration)" "$ready"
