#!/usr/bin/env bash
# fuzz.sh kernels|short|vulkan|protocols|api|parser|signatures MINUTES [SEED]: random kernels on the
# engine and the interpreter, with each vector ISA and execution mode; the same in checked contexts
# that lack memory; the same on Vulkan's software device, in both modes of shaders; random kernels
# whose threads wait for each other; random calls of the C ABI, of the CUDA driver and of the
# libraries beside it; random text on the parser; or mutated sources and names on what reads the
# types of kernels. Findings lie in build/fuzz; those of calls are printed with what repeats them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

what=$1 minutes=$2 seed=${3:-$RANDOM}
kept=build/fuzz
mkdir -p "$kept/corpus"

# in_all_ways COMMAND...: with each vector ISA and execution mode, and a seed of its own.
in_all_ways() {
  local status=0 each=$(((minutes + 8) / 9))
  export KM_CPU_ISA KM_CPU_MODE KM_CACHE_DIR=off
  for KM_CPU_ISA in avx512 avx2 x86-64-v2; do
    for KM_CPU_MODE in a b c; do
      echo "$KM_CPU_ISA, mode $KM_CPU_MODE, seed $seed, minutes: $each"
      "$@" --minutes="$each" --seed="$seed" || { [[ $? == 77 ]] || status=1; }
      seed=$((seed + 1))
    done
  done
  return $status
}

fuzz_kernels() {
  scripts/build.sh "${PRESET:-release}" kernelmill kernelmill-cpu km_fuzz
  KM_KERNEL_TIMEOUT_MS=60000 in_all_ways build/release/tests/km_fuzz --keep="$kept"
}

fuzz_short() {
  scripts/build.sh "${PRESET:-release}" kernelmill kernelmill-cpu km_fuzz
  KM_KERNEL_TIMEOUT_MS=60000 in_all_ways build/release/tests/km_fuzz --short --keep="$kept"
}

fuzz_vulkan() {
  local status=0
  scripts/build.sh "${PRESET:-release}" kernelmill kernelmill-plugins km_fuzz
  . scripts/lavapipe.sh
  # Nearly all of the time is that of the driver's compiler, whose vectors of 128 bits and whose
  # code without optimisation take half of it.
  export KM_CACHE_DIR=off MESA_SHADER_CACHE_DISABLE=true KM_VULKAN_STEPPED
  export LP_NATIVE_VECTOR_WIDTH=128 GALLIVM_PERF=nopt
  for KM_VULKAN_STEPPED in 0 1; do
    echo "stepped: $KM_VULKAN_STEPPED, seed $seed, minutes: $(((minutes + 1) / 2))"
    build/release/tests/km_fuzz --minutes=$(((minutes + 1) / 2)) --seed="$seed" --keep="$kept" \
      --mostly-small || status=1
    seed=$((seed + 1))
  done
  return $status
}

fuzz_protocols() {
  scripts/build.sh "${PRESET:-release}" kernelmill kernelmill-cpu km_protocols
  in_all_ways build/release/tests/km_protocols
}

fuzz_api() {
  local status=0 libraries
  scripts/build.sh "${PRESET:-release}" kernelmill kernelmill-cpu km_cuda_dropin \
    km_fuzz_api km_fuzz_driver km_fuzz_libraries
  libraries=$PWD/$(dirname "$(ls build/release/lib/kernelmill-*/cuda/libcuda.so.1)")
  for program in km_fuzz_api km_fuzz_driver km_fuzz_libraries; do
    echo "$program, seed $seed, minutes: $(((minutes + 2) / 3))"
    [[ $program != km_fuzz_libraries ]] || export KM_CACHE_DIR=$PWD/$kept/cache
    LD_LIBRARY_PATH=$libraries "build/release/tests/$program" --seconds=$((minutes * 20)) \
      --seed="$seed" || status=1
  done
  return $status
}

fuzz_parser() {
  scripts/build.sh ci-clang km_fuzz_parser
  # Words of the language, so that mutations make sense more often.
  sed -nE 's/^KM_PTX_(OPCODE|MODIFIER|TYPE)\([a-zA-Z0-9_]+, ("[^"]+").*/\2/p' src/ptx/*.def |
    sort -u >"$kept/words.dict"
  build/ci-clang/tests/km_fuzz_parser -max_total_time=$((minutes * 60)) -timeout=10 \
    -rss_limit_mb=1024 -max_len=65536 -seed="$seed" -dict="$kept/words.dict" \
    -artifact_prefix="$kept/" -print_final_stats=1 \
    "$kept/corpus" tests/fuzz/parser/corpus tests/data/ptx
}

# Ten million mutations of sources and of names for each minute, or less where the machine is slow;
# then sources through the compiler for so many minutes.
fuzz_signatures() {
  scripts/build.sh "${PRESET:-release}" kernelmill kernelmill-cpu km_unit_compile km_fuzz_signatures
  KM_CACHE_DIR=off build/release/tests/km_fuzz_signatures --seconds=$((minutes * 60)) \
    --seed="$seed" || [[ $? == 77 ]]
  KM_TEST_NAME_ROUNDS=$((minutes * 10000000)) KM_TEST_NAME_START="$seed" \
    build/release/tests/km_unit_compile --gtest_filter='SignatureFuzz.*'
}

"fuzz_$what"
