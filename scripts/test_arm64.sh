#!/usr/bin/env bash
# test_arm64.sh PRESET: builds for AArch64 and runs the kernel tests, the fault tests and those of
# the C ABI under qemu. PTX and object code of the kernels are made here, by the build PRESET of
# this machine, since an emulated compiler takes twenty times as long. ONLY=REGEX narrows what runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/duration.sh

preset=$1
native=build/${preset/%ci/release}  # where CMakePresets.json has it
arm64=build/arm64
prepared=$arm64/tests/prepared

[[ ${SETUP:-1} == 0 ]] || scripts/setup.sh arm64
export SETUP=0
scripts/build.sh "$preset" kernelmill kernelmill-plugins km_kernel_tests
scripts/build.sh arm64 kernelmill kernelmill-plugins kernelmill-command km_kernel_tests \
  km_staged_tests
built=$(duration)

# prepare: what tests of this group launch, for the emulated machine.
prepare() {
  # The names of some groups tell of a newer device than the tests' usual one.
  [[ ! $1 =~ ^Sm([0-9]+)([0-9]) ]] || export KM_CPU_CC=${BASH_REMATCH[1]}.${BASH_REMATCH[2]}
  KM_TEST_PREPARED=$PWD/$prepared KM_CPU_OBJECT_ISA=neon KM_CACHE_DIR=off \
    timeout 600 "$native/tests/km_kernel_tests" --gtest_brief=1 --gtest_filter="$1.*" \
    >"$prepared/$1.txt" 2>&1 || echo "preparing $1 failed: $prepared/$1.txt" >&2
}
export -f prepare
export native prepared

# Objects are tied to the code generator's sources, of which both builds carry the id.
id=$(sed -n 's/^#define KM_CODE_ID "\(.*\)"$/\1/p' "$native/generated/km_version.h")
if [[ $(cat "$prepared/id" 2>/dev/null) != "$id" ]]; then
  rm -rf "$prepared"
  mkdir -p "$prepared"
  "$native/tests/km_kernel_tests" --gtest_list_tests | sed -n 's/^\([A-Za-z0-9]*\)\.$/\1/p' |
    xargs -P "$(nproc)" -I{} bash -c 'prepare "$1"' _ {}
  printf '%s\n' "$id" >"$prepared/id"
fi
made=$(duration)

status=0
ctest --preset arm64 -j "$(nproc)" --no-tests=error -L '^(kernels|fault|c)$' -LE '^long$' \
  ${ONLY:+-R "$ONLY"} || status=$?
printf 'make test-arm64 took %s (built after %s, kernels made after %s)\n' "$(duration)" \
  "$built" "$made"
exit "$status"
