#!/usr/bin/env bash
# Builds the documentation's site into build/docs; with --test a headless browser tests it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

versions=scripts/versions.txt
environment=.deps/docs
pins=$(awk '$1 == "docs" {printf "%s==%s --hash=sha256:%s\n", $2, $3, $4}' "$versions")

if [[ ! -e $environment/pins.txt || $pins != "$(<"$environment/pins.txt")" ]]; then
  echo "docs: fetching mkdocs and its theme into $environment"
  rm -rf "$environment"
  python3 -m venv "$environment"
  list=$(mktemp)
  trap 'rm -f "$list"' EXIT
  printf '%s\n' "$pins" >"$list"
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --only-binary=:all: --require-hashes -r "$list"
  printf '%s\n' "$pins" >"$environment/pins.txt"
fi

options=()
if [[ ${1:-} == --test ]]; then
  scripts/build.sh "${PRESET:-release}" kernelmill kernelmill-cpu kernelmill-command
  mkdir -p build/docs-pictures
  python3 docs/site/pictures.py --command build/release/bin/kernelmill --output build/docs-pictures
  options=(--pictures build/docs-pictures)
fi
NO_MKDOCS_2_WARNING=1 "$environment/bin/python" docs/site/build.py --output build/docs \
  "${options[@]}"
if [[ ${1:-} == --test ]]; then
  DOCS_SITE=build/docs python3 docs/site/test_site.py -v
fi
