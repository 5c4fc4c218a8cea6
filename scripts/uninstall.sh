#!/usr/bin/env bash
# uninstall.sh BUILD: removes what the last `cmake --install BUILD` has installed (DESTDIR is
# honoured), and the folders of its own that are empty then.
set -euo pipefail

list=${1:?uninstall.sh: name the folder of the build}/install_manifest.txt
if [[ ! -f $list ]]; then
  echo "uninstall: nothing was installed from $1: $list is missing" >&2
  exit 1
fi
mapfile -t files < <(sort -u "$list")
for file in "${files[@]}"; do
  rm -f -- "${DESTDIR:-}$file"
done
for file in "${files[@]}"; do
  folder=${file%/*}
  while [[ $folder == */kernelmill* || $folder == */infinicore* ]]; do
    rmdir --ignore-fail-on-non-empty -- "${DESTDIR:-}$folder" 2>/dev/null || true
    folder=${folder%/*}
  done
done
