#!/usr/bin/env bash
# format.sh [--check]: clang-format over all C, C++ and CUDA sources that are not generated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

formatter=$(command -v clang-format-19 || true)
if [[ -z $formatter ]]; then
  echo "format: clang-format-19 is missing: run scripts/setup.sh or install clang-format-19" >&2
  exit 1
fi
arguments=(-i)
[[ ${1:-} == --check ]] && arguments=(--dry-run --Werror)

# What git knows, so that drafts that lie about do not count; without git, all files.
list_files() {
  git ls-files -z --cached -- "$@" 2>/dev/null || find "$@" -type f -print0
}

list_files include src dropin gen tests bench examples |
  grep -zE '\.(c|cpp|h|hpp|cu)$' | grep -zv '/generated/' |
  while IFS= read -r -d '' path; do [[ ! -f $path ]] || printf '%s\0' "$path"; done |
  xargs -0 -r -n 8 -P "$(nproc)" "$formatter" "${arguments[@]}"
