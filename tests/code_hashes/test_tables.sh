#!/usr/bin/env bash
# test_tables.sh PROGRAM: tables of two runs agree; a hash that was changed, and a kernel that is
# new, are found.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

hash() { "$program" --every=7 --random=8 "$@" 2>/dev/null; }

hash >"$folder/table"
hash --compare="$folder/table"
sed '3s/^./x/; 5d' "$folder/table" >"$folder/changed"
if hash --compare="$folder/changed" >"$folder/found"; then
  echo "a changed table passed for an equal one"
  exit 1
fi
grep -qxF "changed: $(sed -n '3s/^[^ ]* //p' "$folder/table")" "$folder/found"
grep -qxF "new: $(sed -n '5s/^[^ ]* //p' "$folder/table")" "$folder/found"
grep -q ' 2 of them differ' "$folder/found"
