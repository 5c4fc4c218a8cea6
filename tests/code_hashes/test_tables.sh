#!/usr/bin/env bash
# test_tables.sh PROGRAM: tables of two runs agree; a hash that was changed, and a kernel that is
# new, are found; kernels that are new alone are no difference; a sample does not depend on them.
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
grep -q ' 1 changed, 1 new' "$folder/found"
sed 5d "$folder/table" >"$folder/fewer"
hash --compare="$folder/fewer" >"$folder/found"
grep -q ' 0 changed, 1 new' "$folder/found"

"$program" --every=7 --random=4 2>/dev/null >"$folder/sample"
[[ -s "$folder/sample" ]]
cmp "$folder/sample" <(grep -E ' random[1-4] ' "$folder/table")

# Machine code for another architecture is made here too.
"$program" --every=9 --random=8 --isa=neon 2>"$folder/errors" >"$folder/neon"
[[ -s "$folder/neon" ]]
if grep '^failed: ' "$folder/errors"; then
  echo "LLVM makes no code of these kernels for AArch64"
  exit 1
fi
