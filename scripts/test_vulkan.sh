#!/usr/bin/env bash
# test_vulkan.sh PRESET [vulkan|opengl]: all kernel tests on Vulkan's software device (lavapipe),
# or OpenGL's (llvmpipe), group by group in processes of their own, without those of
# tests/vulkan/kernels.tsv, and on OpenGL without those of tests/opengl/kernels.tsv; then the
# refused ones of those lists, none of which may pass, how many kernels the device takes, and the
# demo, whose pictures must be the CPU's. In checked contexts; CHECKED=0: in those without checks.
# Khronos's validation layer, where the machine has it, must have nothing to say.
# OUT=FOLDER keeps what each wrote, GROUPS_ONLY='A B' narrows it, JOBS=N runs so many at once,
# LIMIT_S=N is the processor time that a test may take, nearly all of it the driver's compiler's,
# and HANG_S=N how long a group may take by the clock. A test that takes longer, or crashes, is
# counted as ended, and the rest of its group runs. RESUME=1 goes on where an interrupted run ended:
# tests that OUT has a result of are not run again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
interface=${2:-vulkan}
[[ ${BUILD:-1} == 0 ]] ||
  scripts/build.sh "$preset" kernelmill kernelmill-plugins kernelmill-command km_kernel_tests \
    kernelmill_photo
build=$PWD/build/${preset/%ci/release}  # where CMakePresets.json has it
out=${OUT:-$build/$interface}
jobs=${JOBS:-$(($(nproc) < 8 ? $(nproc) : 8))}
limit_s=${LIMIT_S:-120}
hang_s=${HANG_S:-3600}
if [[ $interface == opengl ]]; then
  for library in libEGL.so.1 libspirv-cross-c-shared.so.0; do
    ldconfig -p | grep -q "$library" || {
      echo "make test-opengl: skipped, because there is no $library"
      exit 0
    }
  done
  export LIBGL_ALWAYS_SOFTWARE=1 KM_TEST_DEVICE=opengl:0
else
  . scripts/lavapipe.sh || {
    echo 'make test-vulkan: skipped'
    exit 0
  }
  export KM_VULKAN_VALIDATION=0
  [[ ! -e /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json ]] ||
    KM_VULKAN_VALIDATION=1
fi
export KM_CACHE_DIR=off
[[ ${CHECKED:-1} == 0 ]] || export KM_TEST_CHECKED=1
tests=$build/tests/km_kernel_tests
mkdir -p "$out"
[[ ${RESUME:-0} == 1 ]] || rm -f "$out"/*.txt "$out"/results.tsv
touch "$out/results.tsv"
export KM_TEST_LEFT_OUT=$out/left_out.tsv
cat tests/vulkan/kernels.tsv >"$KM_TEST_LEFT_OUT"
[[ $interface == vulkan ]] || grep -v '^#' "tests/$interface/kernels.tsv" >>"$KM_TEST_LEFT_OUT"

# shellcheck disable=SC2206  # words
groups=(${GROUPS_ONLY:-$("$tests" --gtest_list_tests | sed -n 's/^\([A-Za-z0-9]*\)\.$/\1/p')})
((${#groups[@]})) || {
  echo "make test-$interface: there are no groups" >&2
  exit 1
}

count() { grep -cE "^\[ +$1 +\] [A-Za-z0-9]+\.[A-Za-z0-9_]+ \(" "$2" || true; }
# unfinished LOG: the test that the process was at when it ended.
unfinished() {
  awk '/^\[ RUN      \]/ { test = $4 } /^\[ +(OK|FAILED|SKIPPED|ENDED) +\]/ { test = "" }
    END { print test }' "$1"
}
# remaining GROUP LOG: the filter for its tests that the log has no result of.
remaining() {
  local tests_done result='OK|FAILED|SKIPPED|ENDED'
  tests_done=$(sed -nE "s/^\\[ +($result) +\\] ([A-Za-z0-9]+\.[A-Za-z0-9_]+) \\(.*/\\2/p" "$2" |
    sort -u | paste -sd:)
  printf '%s.*%s' "$1" "${tests_done:+-$tests_done}"
}
run_group() {
  local rc filter test log=$out/$1.txt
  ! grep -q "^$1"$'\t' "$out/results.tsv" || return 0
  touch "$log"
  while true; do
    filter=$(remaining "$1" "$log")
    rc=0
    KM_TEST_LIMIT_S=$limit_s timeout -k 5 "$hang_s" "$tests" --gtest_filter="$filter" \
      >>"$log" 2>&1 || rc=$?
    test=$(unfinished "$log")
    [[ $rc != 0 && -n $test ]] || break
    printf '[  ENDED   ] %s (status %d)\n' "$test" "$rc" >>"$log"
  done
  printf '%s\t%d\t%d\t%d\t%d\t%d\n' "$1" "$rc" "$(count OK "$log")" "$(count FAILED "$log")" \
    "$(count SKIPPED "$log")" "$(count ENDED "$log")" >>"$out/results.tsv"
}
export -f run_group count unfinished remaining
export out tests limit_s hang_s
printf '%s\n' "${groups[@]}" | xargs -P "$jobs" -I{} bash -c 'run_group "$1"' _ {}

printf '%-24s %6s %7s %7s %8s %6s\n' group exit passed failed skipped ended
sort "$out/results.tsv" | while IFS=$'\t' read -r name rc passed failed skipped ended; do
  printf '%-24s %6d %7d %7d %8d %6d\n' "$name" "$rc" "$passed" "$failed" "$skipped" "$ended"
done
awk -F'\t' '{ p += $3; f += $4; s += $5; e += $6; if ($2 != 0 || $4 != 0 || $6 != 0) bad++ }
  END { printf "%d tests passed, %d failed, %d skipped, %d ended; %d groups went wrong\n",
        p, f, s, e, bad }' "$out/results.tsv"
sed -nE 's/^\[  (FAILED|ENDED )  ?\] ([A-Za-z0-9]+\.[A-Za-z0-9_]+) \(.*/\2: \1/p' "$out"/*.txt |
  sort -u

# The refused tests of the list, and the demo's pictures beside those of the CPU.
status=0
! grep -h 'the validation layer says' "$out"/*.txt || status=1
if [[ -z ${GROUPS_ONLY:-} ]]; then
  KM_TEST_REFUSED=1 timeout "$hang_s" "$tests" >"$out/refused.txt" 2>&1 || {
    status=1
    tail -n 20 "$out/refused.txt"
  }
  tests/vulkan/count_kernels.py "$build/bin/kernelmill" --device "$interface:0" --least 300 ||
    status=1
  for device in cpu "$interface:0"; do
    folder=$out/demo-${device%:0}
    rm -rf "$folder"
    mkdir -p "$folder"
    cp examples/data/astronaut.png "$folder"
    "$build/bin/kernelmill_photo" "$folder/astronaut.png" examples/demo "$device" \
      >"$folder.txt" 2>&1 || status=1
  done
  for picture in "$out"/demo-cpu/*.png; do
    cmp "$picture" "$out/demo-$interface/${picture##*/}" || status=1
  done
  diff <(ls "$out/demo-cpu") <(ls "$out/demo-$interface") || status=1
fi
awk -F'\t' '$2 != 0 || $4 != 0 || $6 != 0 { found = 1 } END { exit found }' "$out/results.tsv" ||
  status=1
exit "$status"
