#!/usr/bin/env bash
# few_kernels.sh SOURCES ARM64_BUILD VERSION_HEADER: runs a few kernel tests of a build for AArch64
# under the emulator; 77 if VERSION_HEADER, of this machine's build, tells of other sources.
set -euo pipefail
sources=$1 build=$2 header=$3

id_of() { sed -n 's/^#define KM_CODE_ID //p' "$1"; }
if [[ $(id_of "$header") != $(id_of "$build/generated/km_version.h") ]]; then
  echo "skipped: $build is of other sources; make test-arm64 builds it anew"
  exit 77
fi
# A packet's arithmetic, barriers (all modes of a block), faults, and conversions.
KM_TEST_PREPARED=$build/tests/prepared KM_CACHE_DIR=off KM_CPU_THREADS=2 \
  exec "$sources/.deps/arm64/tools/usr/bin/qemu-aarch64-static" -L "$sources/.deps/arm64/root" \
  "$build/tests/km_kernel_tests" --gtest_brief=1 \
  --gtest_filter='Barrier.*:Ptx.*:Pointers.*'
