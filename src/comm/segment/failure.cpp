#include "comm/segment/failure.h"

#include <cstdarg>
#include <cstdio>

namespace km::comm {

Failure make_failure(FailureKind kind, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return {kind, text};
}

}  // namespace km::comm
