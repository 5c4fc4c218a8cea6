#!/usr/bin/env bash
# dist.sh [test]: the packages of a release, in dist/; `test` installs each as its user would. ARCH
# names the architectures, "x86_64" if it is not set: ARCH="x86_64 arm64" makes those for both.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $# -gt 1 || ${1:-test} != test ]]; then
  echo "dist.sh: usage: dist.sh [test]" >&2
  exit 2
fi
read -ra architectures <<<"${ARCH:-x86_64}"
targets=(kernelmill kernelmill-plugins kernelmill-command)
[[ ${1:-} != test ]] || scripts/setup.sh dist
builds=()
for architecture in "${architectures[@]}"; do
  case $architecture in
    x86_64)
      scripts/build.sh dist "${targets[@]}" ${1:+km_staged_tests}
      builds+=(--build build/dist)
      ;;
    arm64)  # whose packages are used under an emulator by the tests
      scripts/setup.sh arm64
      scripts/build.sh dist-arm64 "${targets[@]}"
      builds+=(--build build/dist-arm64)
      ;;
    *)
      echo "dist.sh: ARCH names $architecture: there are packages for x86_64 and arm64" >&2
      exit 2
      ;;
  esac
done
packaging/dist.py "${builds[@]}" --output dist
if [[ ${1:-} == test ]]; then
  python3 -m unittest discover --verbose --start-directory packaging/tests --top-level-directory \
    packaging/tests
fi
