#!/usr/bin/env bash
# locks_test.sh CARGO: each Cargo.lock of the tree fits its manifest and the manifests that this one
# names by path, so that builds with --locked, and the setup of a fresh clone, take it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

stale=0
while read -r lock; do
  "$1" metadata --locked --offline --format-version 1 --manifest-path "${lock%.lock}.toml" \
    >/dev/null || { echo "$lock is stale: run cargo metadata beside it" >&2; stale=1; }
done < <(find bindings examples bench tests -name Cargo.lock)
exit "$stale"
