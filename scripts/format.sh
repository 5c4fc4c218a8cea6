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

find include src tests bench examples -type f \
  \( -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' -o -name '*.cu' \) \
  ! -path '*/generated/*' -print0 |
  xargs -0 -r -n 8 -P "$(nproc)" "$formatter" "${arguments[@]}"
