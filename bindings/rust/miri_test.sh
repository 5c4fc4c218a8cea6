#!/usr/bin/env bash
# miri_test.sh CARGO: what makes no calls of the library runs in the interpreter that sees undefined
# behaviour, where a nightly toolchain has it.
set -euo pipefail

"$1" +nightly miri --version >/dev/null 2>&1 || { echo "miri is not installed: skipped"; exit 77; }
"$1" +nightly miri test --locked --offline --quiet --package kernelmill --lib
