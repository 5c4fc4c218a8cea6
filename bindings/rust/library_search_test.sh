#!/usr/bin/env bash
# library_search_test.sh CARGO LIBRARY_DIR SCRATCH: how builds find the library, that those which
# load it at run time need none, and what those which link it say where there is none.
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

# Loading: it builds without the library, and its tests are there to run on another machine.
"$cargo" build --locked --quiet
"$cargo" test --locked --quiet --no-run --test threads

# The program finds the library of a wheel in the active environment, and that of a tree whose
# command PATH finds, by a link as well.
places=$(mktemp -d)
trap 'rm -rf "$places"' EXIT
wheel=$places/env/lib/python3.9/site-packages/kernelmill
mkdir -p "$wheel" "$places/tree/bin" "$places/bin"
ln -s "$library_dir" "$wheel/lib"
ln -s "$library_dir" "$places/tree/lib"
touch "$places/tree/bin/kernelmill"
ln -s ../tree/bin/kernelmill "$places/bin/kernelmill"
threads=("$cargo" test --locked --quiet --test threads)
VIRTUAL_ENV=$places/env "${threads[@]}"
PATH=$places/bin:$PATH "${threads[@]}"

# Which archive of a release the build takes for which target.
mkdir -p "$CARGO_TARGET_DIR"
"${cargo%/*}/rustc" --edition 2021 -A dead_code --test -o "$CARGO_TARGET_DIR/bundled_tests" \
  kernelmill-sys/build/bundled.rs
"$CARGO_TARGET_DIR/bundled_tests" --quiet

# Nothing is downloaded for documentation, nor in a checkout.
expect_error 'pins no archive' "$cargo" build --locked --quiet --features kernelmill/bundled
"$cargo" doc --locked --quiet --no-deps -p kernelmill-sys --features bundled

linking=(--locked --quiet --no-default-features --features kernelmill/dynamic-linking)
expect_error 'Set KM_LIBRARY_DIR' "$cargo" build "${linking[@]}"
expect_error 'KM_LIBRARY_DIR is /nonexistent: no libkernelmill.so there' \
  env KM_LIBRARY_DIR=/nonexistent "$cargo" build "${linking[@]}"
expect_error 'not an absolute path' env KM_LIBRARY_DIR=lib "$cargo" build "${linking[@]}"

for features in "" half,bytemuck,ndarray; do
  RUSTDOCFLAGS='-D warnings' "$cargo" doc --locked --quiet --no-deps --features "$features"
done
# What `cargo doc` was let through with is asked for again.
expect_error 'Set KM_LIBRARY_DIR' "$cargo" build "${linking[@]}"

# Each way, and the program starts without LD_LIBRARY_PATH: where the build found the library is
# looked at as well.
for features in "" "--no-default-features --features kernelmill/dynamic-linking"; do
  read -ra chosen <<< "$features"
  test=("$cargo" test --locked --quiet "${chosen[@]}" --test threads)
  env KM_LIBRARY_DIR="$library_dir" "${test[@]}"
  "$cargo" clean --locked --quiet -p kernelmill-sys  # which has found the library already
  env PKG_CONFIG_PATH="$library_dir/pkgconfig" "${test[@]}"
done
