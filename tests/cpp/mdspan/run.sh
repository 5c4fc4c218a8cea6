#!/usr/bin/env bash
# run.sh ZIG PREFIX LIBRARY_DIR OUTPUT: builds mdspan.cpp in C++23 by Zig's C++ compiler against the
# installed headers, and runs it.
set -euo pipefail
zig=$1 prefix=$2 library=$3 output=$4
"$zig" c++ -std=c++23 -O1 -Wall -Wextra -Wconversion -Wno-nullability-completeness -Werror \
  -isystem "$prefix/include" "$(dirname "${BASH_SOURCE[0]}")/mdspan.cpp" \
  -L"$library" -lkernelmill -Wl,-rpath,"$library" -o "$output"
"$output"
