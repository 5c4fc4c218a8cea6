#!/usr/bin/env bash
# compare_ptxas.sh [LINES]: what Kernelmill and NVIDIA's ptxas take of changed lines of all PTX in
# the repository, and of what NVRTC makes of the kernels of tests/kernels. KM_PTXAS names the
# assembler, else it is the one on PATH. RANDOM_START picks other changes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh "${PRESET:-release}" km_ptx_verdicts kernelmill-command kernelmill
build=build/${PRESET:-release}
made=$build/ptx_of_tests
mkdir -p "$made"
for source in tests/kernels/*.cu; do
  target=$made/$(basename "$source" .cu).ptx
  [[ $target -nt $source ]] ||
    "$build/bin/kernelmill" compile "$source" -o "$target" --arch sm_90a ||
    echo "$source: left out" >&2
done
tests/ptxas/compare.py --verdicts "$build/tests/km_ptx_verdicts" --lines "${1:-100000}" \
  --random "${RANDOM_START:-1}" --cuda "$made"
