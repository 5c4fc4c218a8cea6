#!/usr/bin/env bash
# proxy_test.sh GO: a module outside of the tree gets the packages by `go get` from a proxy of
# files, builds where no library is, and runs with KM_LIBRARY_DIR alone.
set -euo pipefail
go=$1
name=github.com/kernelmill/kernelmill/bindings/go
version=v1.0.0
library=$KM_LIBRARY_DIR
work=$(mktemp -d "${TMPDIR:-/tmp}/km-go-proxy.XXXXXX")
cleanup() {
  chmod -R u+w "$work"
  rm -rf "$work"
}
trap cleanup EXIT

mkdir -p "$work/proxy/$name/@v" "$work/outside"
printf '%s\n' "$version" >"$work/proxy/$name/@v/list"
printf '{"Version": "%s", "Time": "2000-01-01T00:00:00Z"}\n' "$version" \
  >"$work/proxy/$name/@v/$version.info"
cp go.mod "$work/proxy/$name/@v/$version.mod"
python3 - "$work/proxy/$name/@v/$version.zip" "$name@$version" <<'END'
import sys
import zipfile
from pathlib import Path

with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for path in sorted(Path().rglob("*")):
        if path.is_file() and path.parts[0] != "gonum":  # a module of its own
            archive.write(path, f"{sys.argv[2]}/{path}")
END

cat >"$work/outside/main.go" <<'END'
package main

import (
	"fmt"
	"log"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func main() {
	build, err := kernelmill.Build()
	if err != nil {
		log.Fatal(err)
	}
	numbers := []float32{1, 2}
	device := guda.Malloc(8)
	defer guda.Free(device)
	err = guda.MemcpyFloat32HtoD(device, numbers)
	if err == nil {
		err = guda.Memset(device, 0, 4)
	}
	if err == nil {
		err = guda.MemcpyFloat32DtoH(numbers, device)
	}
	fmt.Println(build.Version[0], numbers, err)
}
END

unset KM_LIBRARY_DIR
export GOPROXY=file://$work/proxy GOSUMDB=off GOFLAGS=-mod=mod GOMODCACHE=$work/modules
cd "$work/outside"
"$go" mod init outside >/dev/null 2>&1
"$go" get "$name@$version" 2>/dev/null
"$go" build -o outside .
output=$(env KM_LIBRARY_DIR="$library" ./outside)
[[ $output == "1 [0 2] <nil>" ]] || {
  echo "proxy_test: the program says: $output" >&2
  exit 1
}
