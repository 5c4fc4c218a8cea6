#!/usr/bin/env bash
# test_gpu.sh PRESET: the conformance tests on this machine's GPU; says so where there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
scripts/build.sh "$preset" km_staged_tests kernelmill-command
build=build/$preset

info=$("$build/bin/kernelmill" info)
if ! grep -q '^  cuda:0 ' <<<"$info"; then
  printf 'make test-gpu: skipped, no GPU works here: %s\n' \
    "$(sed -n 's/^  cuda  *not usable: //p' <<<"$info")"
  exit 0
fi
sed -n '/^Devices/,/^$/p' <<<"$info"

# What is about the CPU's plugin or the kernels of one backend only.
others='^(missing|null|oom)$'
passed=0
failed=()
for program in "$build"/tests/km_c_*; do
  stem=${program##*/km_c_}
  [[ $stem =~ $others ]] && continue
  if KM_TEST_DEVICE=cuda:0 timeout 300 "$program"; then
    passed=$((passed + 1))
  else
    failed+=("$stem")
  fi
done
printf '%d passed, %d failed%s\n' "$passed" "${#failed[@]}" "${failed[*]:+: ${failed[*]}}"
[[ ${#failed[@]} -eq 0 ]]
