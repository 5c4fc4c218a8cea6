#!/usr/bin/env bash
# test_arm64.sh PRESET: builds for AArch64 and runs under qemu: the kernel tests, the comparison
# with the interpreter, kernels of the fuzzer, the fault tests and those of the C ABI. PTX and
# object code of the kernels are made here, by the build PRESET of this machine, since an emulated
# compiler takes twenty times as long. ONLY=REGEX narrows what runs; RESUME=1 goes on with a run
# that was interrupted, or with what failed: tests of the same sources that passed stay passed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/duration.sh

preset=$1
native=build/${preset/%ci/release}  # where CMakePresets.json has it
arm64=build/arm64
prepared=$arm64/tests/prepared
log=$arm64/tests/emulated.txt
programs=(km_kernel_tests km_conformance km_fuzz)

# id_of NAME: an id of the sources that a build carries.
id_of() { sed -n "s/^#define KM_$1 \"\(.*\)\"\$/\1/p" "$2/generated/km_version.h"; }

# The names of the tests of the log that have passed.
passed() { sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.+ +Passed .*/\1/p' "$log"; }

# not_run: a regular expression of what does not run: what is not for an emulator, and what has
# passed.
not_run() {
  { awk -F '\t' '!/^#/ {print $1}' tests/arm64/left_out.tsv && passed; } | sed 's/[.]/[.]/g' |
    paste -sd '|' | sed 's/.*/^(&)$/'
}

[[ ${SETUP:-1} == 0 ]] || scripts/setup.sh arm64
export SETUP=0
scripts/build.sh "$preset" kernelmill kernelmill-plugins "${programs[@]}"
scripts/build.sh arm64 kernelmill kernelmill-plugins kernelmill-command "${programs[@]}" \
  km_staged_tests
built=$(duration)

# Objects are tied to the code generator's sources, of which both builds carry the id.
id=$(id_of CODE_ID "$native")
if [[ $(cat "$prepared/id" 2>/dev/null) != "$id" ]]; then
  rm -rf "$prepared"
  mkdir -p "$prepared"
  printf '%s\n' "$id" >"$prepared/id"
fi
tests/arm64/prepare.py "$arm64" "$native" "$prepared" ${ONLY:+"$ONLY"}
made=$(duration)

sources="of sources $(id_of BUILD_ID "$arm64")"
if [[ -z ${RESUME:-} || $(head -n 1 "$log" 2>/dev/null) != "$sources" ]]; then
  printf '%s\n' "$sources" >"$log"
fi
before=$(passed | wc -l)
status=0
# The labels: the same programs on other backends, which have no code of their own for AArch64.
ctest --preset arm64 -j "$(nproc)" --no-tests=ignore -L '^(kernels|fault|c)$' \
  -LE '^(long|cuda|fake|vulkan|opengl)$' ${ONLY:+-R "$ONLY"} -E "$(not_run)" |
  tee -a "$log" || status=$?
[[ $(passed | wc -l) != 0 ]] || status=1
processor=$(times | awk 'NR == 2 {print $1 " (" $2 " in the system)"}')
printf 'make test-arm64: %s tests passed, %s of them in an earlier run; ctest ended with %s; %s\n' \
  "$(passed | wc -l)" "$before" "$status" \
  "took $(duration) (built after $built, kernels made after $made), processor time $processor"
exit "$status"
