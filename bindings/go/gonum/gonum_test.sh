#!/usr/bin/env bash
# gonum_test.sh GO MODULES: vet and tests of the module, with gonum's own among them; status 77,
# which skips them, where setup could not fetch gonum into the folder MODULES.
set -euo pipefail
go=$1
export GOMODCACHE=$2
[[ -d $GOMODCACHE/gonum.org ]] || exit 77
"$go" vet ./...
"$go" test -count=1 ./...
