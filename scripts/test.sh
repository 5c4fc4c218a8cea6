#!/usr/bin/env bash
# test.sh PRESET [long|check]: set-up, build, all tests but those of the label `long`, or these
# alone, or random kernels with all tools of the checker and its own tests; says how long that took
# and closes with "N passed, N failed". In sanitizer builds: the tests of the C ABI and of faults.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/duration.sh

preset=$1
export KM_CACHE_DIR=${KM_CACHE_DIR:-off}  # what is tested is made anew
targets=()
select=(-LE '^long$')
case ${2:-}:$preset in
  long:*) select=(-L '^long$') ;;
  check:*)
    export KM_CHECK=memory,init,race,sync,streams
    targets=(kernelmill kernelmill-cpu km_fuzz km_unit_cpu)
    checker='BlockChecks|BlockClock|DelayedStores|Knowledge|OldValues|RaceCheck'
    checker+='|StreamOrder|TensorCopy|UndefinedMemory|WriteLog'
    select=(-R "^(fuzz\\.kernels\\.|unit\\.cpu\\.($checker))")
    ;;
  *:asan | *:ubsan | *:tsan)
    targets=(km_staged_tests)
    select=(-L '^(c|cpp|fault)$')
    ;;
esac
wrap=()
# gcc's ThreadSanitizer cannot place its shadow where the kernel randomises by more than 28 bits.
if [[ $preset == tsan && $(sysctl -n vm.mmap_rnd_bits 2>/dev/null || echo 28) -gt 28 ]]; then
  wrap=(setarch "$(uname -m)" -R)
fi

scripts/build.sh "$preset" "${targets[@]}"
ready=$(duration)

output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0
"${wrap[@]}" ctest --preset "$preset" -j "$(nproc)" --no-tests=error "${select[@]}" |
  tee "$output" || status=$?

printf '\nmake test took %s (set-up and build: %s)\n' "$(duration)" "$ready"
awk '/\*\*\*Skipped/ {skipped++}
     /tests? failed out of/ {failed = $4; total = $NF}
     END {
       if (skipped) printf "%d skipped\n", skipped
       printf "%d passed, %d failed\n", total - failed - skipped, failed
       exit total == 0
     }' "$output"
exit "$status"
