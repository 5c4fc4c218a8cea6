#include "dropin/cudart/report.h"

#include <cstdarg>
#include <cstdio>

#include "base/log.h"

namespace km::cudart {

void report(const char* format, ...) noexcept {
  if (!log_enabled(LogLevel::kInfo, "cuda")) return;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  log(LogLevel::kInfo, "cuda", "%s", text);
}

}  // namespace km::cudart
