#!/usr/bin/env bash
# compare_ptxas.sh [LINES]: what Kernelmill and NVIDIA's ptxas take of changed lines of all PTX in
# the repository, and of what NVRTC makes of the kernels of tests/kernels. KM_PTXAS names the
# assembler, else it is the one on PATH. RANDOM_START picks other changes. VERSIONS=1 renews
# tests/data/ptx_versions.tsv, from which .version and .target on ptxas takes each form, and
# tests/data/ptx_newer_targets.tsv, which targets beyond sm_90 have it; SWEEP=1
# compares instructions near those of the table, with each type and modifier, instead.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh "${PRESET:-release}" km_ptx_verdicts kernelmill-command kernelmill
build=build/${PRESET:-release}
verdicts=$build/tests/km_ptx_verdicts
if [[ -n ${VERSIONS:-} ]]; then
  tests/ptxas/newer.py --verdicts "$verdicts" --write tests/data/ptx_newer_targets.tsv
  exec tests/ptxas/versions.py --verdicts "$verdicts" --write tests/data/ptx_versions.tsv
elif [[ -n ${SWEEP:-} ]]; then
  "$verdicts" --neighbours >"$build/neighbours.txt"
  exec tests/ptxas/compare.py --verdicts "$verdicts" --only "$build/neighbours.txt"
fi
made=$build/ptx_of_tests
mkdir -p "$made"
for source in tests/kernels/*/*.cu; do
  target=$made/$(basename "$source" .cu).ptx
  [[ $target -nt $source ]] ||
    "$build/bin/kernelmill" compile "$source" -o "$target" --arch sm_90a ||
    echo "$source: left out" >&2
done
tests/ptxas/compare.py --verdicts "$verdicts" --lines "${1:-100000}" \
  --random "${RANDOM_START:-1}" --cuda "$made"
