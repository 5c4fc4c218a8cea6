#!/usr/bin/env bash
# stress.sh PRESET exit RUNS: processes that end at random moments. stress.sh PRESET limits:
# processes that run out of something. Both print what became of them, and fail where one crashed
# or hung. stress.sh PRESET rust: the Rust crates' tests for leaks and wrong handles, longer; go:
# those of the Go packages.
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
  rust)
    scripts/build.sh "$preset" km_stage
    cargo=$(scripts/toolchains.sh | sed -n 's/^cargo=//p')
    library=$(find "$PWD/build/release/stage" -name libkernelmill.so.1 -printf '%h' -quit)
    export KM_TEST_LONG=1 KM_LIBRARY_DIR=$library CARGO_TARGET_DIR=$PWD/build/release/rust
    export PATH=${cargo%/*}:$PATH KM_NVRTC=${KM_NVRTC:-$PWD/.deps}
    cd bindings/rust
    "$cargo" test --release --locked --test leaks --test service_leaks --test facade_leaks \
      --test await_leaks --test handles --test all_threads -- --nocapture
    ;;
  go)
    scripts/build.sh "$preset" km_stage
    go=$(scripts/toolchains.sh | sed -n 's/^go=//p')
    library=$(find "$PWD/build/release/stage" -name libkernelmill.so.1 -printf '%h' -quit)
    export KM_TEST_LONG=1 KM_LIBRARY_DIR=$library
    export KM_NVRTC=${KM_NVRTC:-$PWD/.deps} GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
    cd bindings/go
    "$go" test -count=1 -v -timeout 2h -run 'Cycles|EightGoroutines|Cancelled|RandomHandles' ./...
    ;;
esac
