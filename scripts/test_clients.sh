#!/usr/bin/env bash
# test_clients.sh PRESET: the tests of programs that others wrote, on our CUDA driver library. They
# are fetched by cargo. BASELINE=1: also on a driver that does nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
scripts/build.sh "$preset" kernelmill-cpu km_cuda_dropin km_noop_cuda
cargo=$(scripts/toolchains.sh | sed -n 's/^cargo=//p')
[[ -n $cargo ]] || { echo "make test-clients: there is no cargo; run make setup"; exit 1; }
export PATH=${cargo%/*}:$PATH
folders=("build/$preset"/lib/kernelmill-*/cuda)
nvrtc=(.deps/nvidia/cu*/lib)
tests/clients/clients.py "${folders[0]}" "${nvrtc[0]}" build/clients \
  ${BASELINE:+--baseline="build/$preset/tests/noop_cuda"}
