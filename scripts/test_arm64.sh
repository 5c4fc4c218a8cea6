#!/usr/bin/env bash
# test_arm64.sh PRESET: builds for AArch64 and runs under qemu: the kernel tests, the comparison
# with the interpreter, kernels of the fuzzer, the fault tests and those of the C ABI. PTX and
# object code of the kernels are made here, by the build PRESET of this machine, since an emulated
# compiler takes twenty times as long. ONLY=REGEX narrows what runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/duration.sh

preset=$1
native=build/${preset/%ci/release}  # where CMakePresets.json has it
arm64=build/arm64
prepared=$arm64/tests/prepared
programs=(km_kernel_tests km_conformance km_fuzz)

[[ ${SETUP:-1} == 0 ]] || scripts/setup.sh arm64
export SETUP=0
scripts/build.sh "$preset" kernelmill kernelmill-plugins "${programs[@]}"
scripts/build.sh arm64 kernelmill kernelmill-plugins kernelmill-command "${programs[@]}" \
  km_staged_tests
built=$(duration)

# Objects are tied to the code generator's sources, of which both builds carry the id.
id=$(sed -n 's/^#define KM_CODE_ID "\(.*\)"$/\1/p' "$native/generated/km_version.h")
if [[ $(cat "$prepared/id" 2>/dev/null) != "$id" ]]; then
  rm -rf "$prepared"
  mkdir -p "$prepared"
  printf '%s\n' "$id" >"$prepared/id"
fi
tests/arm64/prepare.py "$arm64" "$native" "$prepared" ${ONLY:+"$ONLY"}
made=$(duration)

status=0
log=$arm64/tests/emulated.txt
ctest --preset arm64 -j "$(nproc)" --no-tests=error -L '^(kernels|fault|c)$' -LE '^long$' \
  ${ONLY:+-R "$ONLY"} | tee "$log" || status=$?
processor=$(times | awk 'NR == 2 {print $1 " (" $2 " in the system)"}')
printf 'make test-arm64: %s; took %s (built after %s, kernels made after %s), processor time %s\n' \
  "$(sed -n 's/^\(.* tests passed, .* out of .*\)$/\1/p' "$log")" "$(duration)" "$built" "$made" \
  "$processor"
exit "$status"
