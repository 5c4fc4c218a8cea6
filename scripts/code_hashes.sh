#!/usr/bin/env bash
# code_hashes.sh [TABLE [QUICK]]: compares the machine code of all kernels of tests and benchmarks
# with TABLE (build/code_hashes.txt), which the first run writes. QUICK=1 takes one object
# of sixteen, in less than a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

table=${1:-build/code_hashes.txt} every=1
[[ -n "${2:-}" ]] && every=16
scripts/build.sh "${PRESET:-release}" km_code_hashes
program=build/release/tests/km_code_hashes
if [[ -e "$table" ]]; then
  exec "$program" --every=$every --compare="$table"
fi
mkdir -p "$(dirname "$table")"
"$program" >"$table.part"
mv "$table.part" "$table"
echo "$(wc -l <"$table") hashes are in $table; the next run compares with it"
