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

Failure mismatch(uint32_t rank, const Signature& call, uint32_t other,
                 const Signature& other_call) {
  return make_failure(FailureKind::kMismatch, "rank %u called %s, but rank %u %s", rank,
                      describe(call).c_str(), other, describe(other_call).c_str());
}

}  // namespace km::comm
