#!/usr/bin/env bash
# test_clients.sh PRESET [--long] [NAME ...]: the tests of programs that others wrote, on our CUDA
# driver library; --long: of those that take long. Cargo, Go and pip fetch them.
# BASELINE=1: also on a driver that does nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
shift
scripts/build.sh "$preset" kernelmill-cpu km_cuda_dropin km_noop_cuda
for tool in cargo go; do
  found=$(scripts/toolchains.sh | sed -n "s/^$tool=//p")
  [[ -n $found ]] || { echo "make test-clients: there is no $tool; run make setup"; exit 1; }
  export PATH=${found%/*}:$PATH
done
build=build/${preset/%ci/release}  # where CMakePresets.json has it
folders=("$build"/lib/kernelmill-*/cuda)
nvrtc=(.deps/nvidia/cu*/lib)
tests/clients/clients.py --driver "${folders[0]}" --nvrtc "${nvrtc[0]}" --work build/clients \
  --crates .deps/clients ${BASELINE:+--baseline "$build/tests/noop_cuda"} "$@"
