#!/usr/bin/env bash
# dist.sh [test]: the packages of a release, in dist/; `test` installs each as its user would.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $# -gt 1 || ${1:-test} != test ]]; then
  echo "dist.sh: usage: dist.sh [test]" >&2
  exit 2
fi
targets=(kernelmill kernelmill-plugins kernelmill-command)
if [[ ${1:-} == test ]]; then
  scripts/setup.sh dist
  targets+=(km_staged_tests)
fi
scripts/build.sh dist "${targets[@]}"
packaging/dist.py --build build/dist --output dist
if [[ ${1:-} == test ]]; then
  python3 -m unittest discover --verbose --start-directory packaging/tests --top-level-directory \
    packaging/tests
fi
