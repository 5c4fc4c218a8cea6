#!/usr/bin/env bash
# package_test.sh CARGO: each crate can be packaged, and what is packaged builds by itself.
set -euo pipefail

# Packages of a workspace find each other since this version.
version=$("$1" --version | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
((version >= 90)) || { echo "cargo is older than 1.90: skipped"; exit 77; }

# Cargo keeps what it has unpacked by name and version. The packages of this workspace keep theirs
# while they change, so that their sources are unpacked into a home of their own.
real=${CARGO_HOME:-$HOME/.cargo}
own=${CARGO_TARGET_DIR:-$PWD/target}/package-home
rm -rf "$own"
mkdir -p "$own/registry"
for entry in config config.toml git registry/cache registry/index; do
  [[ ! -e $real/$entry ]] || ln -s "$real/$entry" "$own/$entry"
done
export CARGO_HOME=$own
"$1" package --workspace --all-features --locked --offline --allow-dirty --quiet
