// A bar on standard error, where that is a terminal.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace km::tools {

inline void show_progress(size_t done, size_t all, const char* what) {
  constexpr size_t kWidth = 40;
  if (isatty(STDERR_FILENO) == 0) return;
  const std::string bar(kWidth * done / all, '#');
  std::fprintf(stderr, "\r[%-40s] %zu of %zu %s%s", bar.c_str(), done, all, what,
               done == all ? "\n" : "");
}

}  // namespace km::tools
