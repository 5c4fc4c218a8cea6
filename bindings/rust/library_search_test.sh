#!/usr/bin/env bash
# library_search_test.sh CARGO LIBRARY_DIR SCRATCH: how builds find the library, what they say where
# there is none, and that documentation needs none.
set -euo pipefail

cargo=$1
library_dir=$2
export CARGO_TARGET_DIR=$3
unset KM_LIBRARY_DIR PKG_CONFIG_PATH
export PKG_CONFIG_LIBDIR=/nonexistent

# expect_error TEXT COMMAND...: the command fails and says this.
expect_error() {
  local wanted=$1 said
  shift
  if said=$("$@" 2>&1); then
    echo "succeeded: $*"
    exit 1
  fi
  if [[ $said != *"error: kernelmill-sys@"*"$wanted"* ]]; then
    printf 'expected "%s" in:\n%s\n' "$wanted" "$said"
    exit 1
  fi
}

build=("$cargo" build --locked --quiet)
expect_error 'Set KM_LIBRARY_DIR' "${build[@]}"
expect_error 'KM_LIBRARY_DIR is /nonexistent: no libkernelmill.so there' \
  env KM_LIBRARY_DIR=/nonexistent "${build[@]}"
expect_error 'not an absolute path' env KM_LIBRARY_DIR=lib "${build[@]}"

RUSTDOCFLAGS='-D warnings' "$cargo" doc --locked --quiet --no-deps
# What `cargo doc` was let through with is asked for again.
expect_error 'Set KM_LIBRARY_DIR' "${build[@]}"

# Both ways, and the program starts without LD_LIBRARY_PATH.
test=("$cargo" test --locked --quiet --test threads)
env KM_LIBRARY_DIR="$library_dir" "${test[@]}"
rm -rf "$CARGO_TARGET_DIR"
env PKG_CONFIG_PATH="$library_dir/pkgconfig" "${test[@]}"
