#!/usr/bin/env bash
# test_gpu.sh PRESET: all tests that a GPU can run, several at once, each with a time limit; says so
# where no GPU works. OUT=FOLDER keeps what each wrote (NAME.txt) and the table (results.txt); the
# default is build/PRESET/gpu. JOBS=N: how many run at once. KM_CUDART_DIR: a folder with NVIDIA's
# own libcudart.so.13, whose tests are left out without it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
[[ ${BUILD:-1} == 0 ]] || scripts/build.sh "$preset"
build=$PWD/build/${preset/%ci/release}  # where CMakePresets.json has it
out=${OUT:-$build/gpu}
jobs=${JOBS:-$(($(nproc) < 8 ? $(nproc) : 8))}

info=$("$build/bin/kernelmill" info)
if ! grep -q '^  cuda:0 ' <<<"$info"; then
  printf 'make test-gpu: skipped, no GPU works here: %s\n' \
    "$(sed -n 's/^  cuda  *not usable: //p' <<<"$info")"
  exit 0
fi
sed -n '/^Devices/,/^$/p' <<<"$info"
driver=$(ldconfig -p | awk '$1 == "libcuda.so.1" { print $NF; exit }')
driver=${driver:+$(dirname "$driver")}
mkdir -p "$out"
rm -f "$out"/*.txt

# A job is a line: name, limit in seconds, and the environment and command as `env` takes them.
list=$out/jobs.txt
add() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$list"; }

# The C ABI. cuBLAS loads its kernels late, which waits for callbacks: not so with EAGER.
common="KM_CACHE_DIR=off KM_TEST_DEVICE=cuda:0 KM_TEST_LEFT_OUT=gpu:$PWD/tests/c/left_out.tsv"
for program in "$build"/tests/km_c_*; do
  stem=${program##*/km_c_}
  # About the CPU backend's own files, processes, memory and speed.
  [[ $stem =~ ^(missing|null|exit|fork|oom|graph_speed|thread_local|unload)$ ]] && continue
  loading=
  [[ $stem =~ ^(blas.*|order)$ ]] && loading=CUDA_MODULE_LOADING=EAGER
  add "c.$stem" 90 "$common $loading $program"
done
for ((shard = 0; shard < 6; ++shard)); do
  shards="GTEST_TOTAL_SHARDS=6 GTEST_SHARD_INDEX=$shard"
  add "kernels.$shard" 150 "$common $shards $build/tests/km_kernel_tests"
  part="--every=6 --first=$((shard + 1)) --inputs=256 --bits=18"
  add "instructions.$shard" 200 "$build/tests/km_gpu $part $out/instructions.$shard"
done
if [[ -x $build/tests/km_cpp ]]; then add cpp 60 "$common KM_DEVICE=cuda:0 $build/tests/km_cpp"; fi

# The tests of our CUDA libraries on NVIDIA's. The others of tests/cuda are about the fake driver.
if [[ -n $driver ]]; then
  for program in "$build"/tests/km_cuda_*; do
    stem=${program##*/km_cuda_}
    [[ $stem =~ ^(absent|failures|images|nodes)$ ]] && continue      # of the fake driver
    [[ $stem =~ ^(hostile|wrong_handles|visible_devices)$ ]] && continue  # dropin.md says why
    loading="CUDA_MODULE_LOADING=EAGER LD_LIBRARY_PATH=$driver"
    add "cuda.$stem" 40 "KM_TEST_NVIDIA=1 $loading $program"
  done
  for major in 12 13; do
    folder=$(dirname "$(find "$build/lib" -name "libcudart.so.$major" | head -n 1)")
    for program in "$build"/tests/km_cudart_"${major}"_*; do
      [[ $program == *_no_driver ]] && continue
      add "cudart-$major.${program##*_"${major}"_}" 40 \
        "KM_TEST_NVIDIA=1 LD_LIBRARY_PATH=$folder:$driver $program"
    done
  done
  if [[ -n ${KM_CUDART_DIR:-} ]]; then
    for program in "$build"/tests/km_cudart_13_*; do
      [[ $program == *_no_driver ]] && continue
      add "cudart-nvidia.${program##*_13_}" 40 \
        "KM_TEST_NVIDIA=1 LD_LIBRARY_PATH=$KM_CUDART_DIR:$driver $program"
    done
  fi
fi

failed_tests() { grep -oE '^\[  (FAILED |ERROR  ) \] [A-Za-z][A-Za-z0-9_.]+' "$1"; }
run_one() {
  local name limit command rc=0 start
  IFS=$'\t' read -r name limit command <<<"$1"
  start=$(date +%s%N)
  # shellcheck disable=SC2086  # the environment and the arguments are words
  timeout -k 5 "$limit" env $command >"$out/$name.txt" 2>&1 || rc=$?
  printf '%s\t%d\t%d\t%d\t%d\t%d\n' "$name" "$rc" \
    "$(grep -cE '^\[       OK \]' "$out/$name.txt")" \
    "$(failed_tests "$out/$name.txt" | sort -u | wc -l)" \
    "$(grep -E '^\[  SKIPPED \] [A-Za-z]' "$out/$name.txt" | sort -u | wc -l)" \
    "$((($(date +%s%N) - start) / 1000000))"
}
export -f run_one failed_tests
export out
xargs -a "$list" -d '\n' -P "$jobs" -I{} bash -c 'run_one "$1"' _ {} >"$out/results.tsv" || true

{
  printf '%-32s %8s %8s %8s %8s %10s  %s\n' program exit passed failed skipped ms ''
  sort "$out/results.tsv" | while IFS=$'\t' read -r name rc passed failed skipped ms; do
    verdict=
    case $rc in
      0 | 77) ;;
      124 | 137) verdict='too long' ;;
      *) verdict=failed ;;
    esac
    printf '%-32s %8d %8d %8d %8d %10d  %s\n' \
      "$name" "$rc" "$passed" "$failed" "$skipped" "$ms" "$verdict"
  done
} | tee "$out/results.txt"
bad=$(awk -F'\t' '$2 != 0 && $2 != 77' "$out/results.tsv" | wc -l)
printf '%d programs, %d of them failed; all that they wrote is in %s\n' \
  "$(wc -l <"$out/results.tsv")" "$bad" "$out"
[[ $bad -eq 0 ]]
