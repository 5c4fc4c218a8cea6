#!/usr/bin/env bash
# test_comm.sh PRESET ROUNDS: ranks that are processes and fail, each way so many times: killed,
# late, of another version, with other sizes, without memory or files; by MPI's stand-in, a tenth of
# that. Programs of the C ABI do so, too, and carry out 100,000 operations, which keep no memory.
# Then once more where /dev/shm is full, in a mount namespace: nothing of ours is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1 rounds=$2
scripts/build.sh "$preset" km_unit_comm kernelmill kernelmill-cpu km_c_comm
tests=$PWD/build/${preset/%ci/release}/tests  # where CMakePresets.json has it
export KM_CACHE_DIR=off

files() { find /dev/shm -mindepth 1 | sort; }
before=$(files)
KM_TEST_COMM_ROUNDS=$rounds "$tests/km_unit_comm" --gtest_filter='CommFailures.*' --gtest_brief=1
KM_TEST_COMM_ROUNDS=$rounds KM_COMM_TIMEOUT_S=1 KM_TEST_COMM_OPERATIONS=1000 "$tests/km_c_comm"
KM_TEST_COMM_OPERATIONS=100000 "$tests/km_c_comm"
"$tests/km_unit_comm" --gtest_filter='Mpi.*' --gtest_repeat=$(((rounds + 9) / 10)) --gtest_brief=1
[[ $(files) == "$before" ]] || {
  echo 'make test-comm: files were left in /dev/shm' >&2
  exit 1
}

# shellcheck disable=SC2016  # for the inner shell
full='mount -t tmpfs -o size=64k none /dev/shm && head -c 64K /dev/zero >/dev/shm/full &&
  ! echo more 2>/dev/null >/dev/shm/more &&
  "$1/km_unit_comm" --gtest_filter="CommFailures.*:Communicator.*" --gtest_brief=1 &&
  "$1/km_c_comm"'
if unshare --map-root-user --mount true 2>/dev/null; then
  unshare --map-root-user --mount bash -c "$full" _ "$tests"
else
  echo 'make test-comm: without a full /dev/shm, since this user has no mount namespaces'
fi
