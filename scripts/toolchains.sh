#!/usr/bin/env bash
# Says where the toolchains of the bindings are, one `name=path` a line, the path empty where there
# is none that is new enough: rustc, cargo, go and gofmt from PATH, else what scripts/setup.sh
# brought; zig (the base) and zig_next (the second version that is tested) from .deps/tools;
# go_oldest, go_newest and staticcheck from .deps/go-modules.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly versions=scripts/versions.txt
readonly tools=$PWD/.deps/tools
readonly modules=$PWD/.deps/go-modules

minimum() { awk -v name="$1" '$1 == "tool" && $2 == name {print $3}' "$versions"; }

# Where the wheels of one kind lie, in the order of versions.txt.
wheel_folders() {
  awk -v kind="$1" -v tools="$tools" '$1 == kind {print tools "/" $2 "-" $3}' "$versions"
}

# is_new_enough MINIMUM COMMAND...: the first number that the command prints is that or more.
is_new_enough() {
  local wanted=$1 found
  shift
  found=$("$@" 2>/dev/null | grep -m1 -oE '[0-9]+(\.[0-9]+)+') || return 1
  printf '%s\n%s\n' "$wanted" "$found" | sort -C -V
}

# The folders of all commands of that name, as on PATH, then Debian's own.
folders_with() {
  local found
  while read -r found; do
    dirname "$found"
  done < <(type -aP "$1" || true)
  printf '/usr/bin\n'
}

rust_folder() {
  local folder wanted
  wanted=$(minimum rust)
  while read -r folder; do
    if is_new_enough "$wanted" "$folder/rustc" --version &&
      is_new_enough "$wanted" "$folder/cargo" --version; then
      printf '%s\n' "$folder"
      return
    fi
  done < <(folders_with cargo)
}

go_folder() {
  local folder wanted
  wanted=$(minimum go)
  while read -r folder; do
    if GOTOOLCHAIN=local is_new_enough "$wanted" "$folder/go" version; then
      printf '%s\n' "$folder"
      return
    fi
  done < <(folders_with go && wheel_folders go | sed 's:$:/go/bin:')
}

# entry NAME PATH: the line, with the path only where there is such a program.
entry() {
  local path=$2
  [[ -x $path ]] || path=
  printf '%s=%s\n' "$1" "$path"
}

main() {
  local rust go zigs gos
  rust=$(rust_folder)
  go=$(go_folder)
  mapfile -t zigs < <(wheel_folders zig)
  mapfile -t gos < <(awk '$1 == "goversion" {print $3}' "$versions")
  entry rustc "${rust:+$rust/rustc}"
  entry cargo "${rust:+$rust/cargo}"
  entry go "${go:+$go/go}"
  entry gofmt "${go:+$go/gofmt}"
  entry go_oldest "$modules/versions/${gos[0]}/bin/go"
  entry go_newest "$modules/versions/${gos[1]}/bin/go"
  entry staticcheck "$modules/bin/staticcheck"
  entry zig "${zigs[0]}/ziglang/zig"
  entry zig_next "${zigs[1]}/ziglang/zig"
}

main
