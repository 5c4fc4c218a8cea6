#!/usr/bin/env bash
# stress.sh PRESET exit RUNS: processes that end at random moments. stress.sh PRESET limits:
# processes that run out of something. Both print what became of them, and fail where one crashed
# or hung.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1 what=$2 runs=${3:-}
export KM_CACHE_DIR=off
case $what in
  exit)
    scripts/build.sh "$preset" km_exit_stress
    KM_NVRTC=${KM_NVRTC:-$PWD/.deps} "build/release/tests/km_exit_stress" "$runs" ${FIRST:+"$FIRST"}
    ;;
  limits)
    scripts/build.sh "$preset" km_limits
    export KM_CPU_THREADS=2 KM_CPU_MEMORY_MIB=2000 KM_LOG=off
    "build/release/tests/km_limits" limits 300
    "build/release/tests/km_limits" failures 300
    ;;
esac
