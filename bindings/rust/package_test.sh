#!/usr/bin/env bash
# package_test.sh CARGO: each crate can be packaged, and what is packaged builds by itself.
set -euo pipefail

# Packages of a workspace find each other since this version.
version=$("$1" --version | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
((version >= 90)) || { echo "cargo is older than 1.90: skipped"; exit 77; }
"$1" package --workspace --all-features --locked --offline --allow-dirty --quiet
