#!/usr/bin/env bash
# link_test.sh SOBEL GO: the library is found by KM_LIBRARY_DIR, then by pkg-config, else there is a
# clear error; and a program that was linked so finds it without LD_LIBRARY_PATH.
set -euo pipefail
sobel=$1
go=$2
library=$KM_LIBRARY_DIR

fail() {
  echo "link_test: $*" >&2
  exit 1
}

# expect TEXT COMMAND...: the command fails, and says that.
expect() {
  local text=$1 output
  shift
  if output=$("$@" 2>&1); then
    fail "'$*' succeeds"
  fi
  grep -qF "$text" <<<"$output" || fail "'$*' says: $output"
}

flags="-L$library -Wl,-rpath,$library -lkernelmill"
[[ $(./pkg-config --libs -- kernelmill) == "$flags" ]] || fail "by KM_LIBRARY_DIR"
[[ -e $(./pkg-config --cflags -- kernelmill | cut -c3-)/kernelmill/c_api.h ]] || fail "the header"
unset KM_LIBRARY_DIR
export PKG_CONFIG_LIBDIR=$library/pkgconfig
[[ $(realpath "$(./pkg-config --libs kernelmill | sed 's/-L\([^ ]*\) .*/\1/')") == \
  "$(realpath "$library")" ]] || fail "by pkg-config"
export PKG_CONFIG_LIBDIR=/nonexistent
expect "set KM_LIBRARY_DIR" ./pkg-config --cflags -- kernelmill
expect "there is no libkernelmill.so" env KM_LIBRARY_DIR=/nonexistent ./pkg-config --libs kernelmill
expect "zlib-of-nobody" ./pkg-config --libs zlib-of-nobody
# Flags of its own keep Go from taking what it has built before.
expect "set KM_LIBRARY_DIR" env PKG_CONFIG="$PWD/pkg-config" CGO_CFLAGS=-DKM_LINK_TEST \
  "$go" build ./kernelmill
expect "usage: sobel" env -u LD_LIBRARY_PATH "$sobel"
