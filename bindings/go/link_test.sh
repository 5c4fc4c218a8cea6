#!/usr/bin/env bash
# link_test.sh SOBEL GO: programs build where there is no library, and find one at run time, the
# README's among them; a build with cgo off says what is missing.
set -euo pipefail
sobel=$1
go=$2
library=$KM_LIBRARY_DIR
unset KM_LIBRARY_DIR LD_LIBRARY_PATH PKG_CONFIG_PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/km-go-link.XXXXXX")
trap 'rm -rf "$work"' EXIT

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

# ok COMMAND...: the command succeeds, and says "1 <nil>".
ok() {
  local output
  output=$("$@") || fail "'$*' fails: $output"
  [[ $output == "1 <nil>" ]] || fail "'$*' says: $output"
}

mkdir "$work/program"
cat >"$work/program/main.go" <<'END'
package main

import (
	"fmt"
	"os"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func main() {
	build, err := kernelmill.Build()
	fmt.Println(build.Version[0], err)
	if err != nil {
		os.Exit(1)
	}
}
END
cat >"$work/program/go.mod" <<END
module program

go 1.24

require github.com/kernelmill/kernelmill/bindings/go v1.0.0

replace github.com/kernelmill/kernelmill/bindings/go => $PWD
END
(cd "$work/program" && "$go" build -o "$work/bin/program" .)
program=$work/bin/program

ok env KM_LIBRARY_DIR="$library" "$program"
ok env PKG_CONFIG_PATH="/nonexistent:$library/pkgconfig" "$program"
ok env LD_LIBRARY_PATH="$library" "$program"
mkdir -p "$work/tree/bin" "$work/env/lib/python3.9/site-packages/kernelmill"
ln -s "$library" "$work/tree/lib"
touch "$work/tree/bin/kernelmill"
ln -s "$library" "$work/env/lib/python3.9/site-packages/kernelmill/lib"
ok env PATH="$work/tree/bin:$PATH" "$program"
ok env VIRTUAL_ENV="$work/env" "$program"
expect "/nonexistent/libkernelmill.so.1 is not there" env KM_LIBRARY_DIR=/nonexistent "$program"
ln -s "$library" "$work/lib"
ok "$program"

# A program that was built with a folder finds the library there.
expect "usage: sobel" "$sobel"

# The first program of the README runs as it stands.
mkdir "$work/first"
awk '/^```go$/ { found = 1; next } /^```$/ { if (found) exit } found' README.md \
  >"$work/first/main.go"
sed "s/^module program/module first/" "$work/program/go.mod" >"$work/first/go.mod"
output=$(cd "$work/first" && KM_LIBRARY_DIR=$library "$go" run .)
[[ $output == "[2 4 6]" ]] || fail "the README's program says: $output"

expect kernelmill_needs_cgo env CGO_ENABLED=0 "$go" build ./guda
