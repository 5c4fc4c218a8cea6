#include "dropin/cudart/frame/call.h"

namespace km::cudart {

cudaError_t invalid(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  frame::explain_list(format, arguments);
  va_end(arguments);
  return cudaErrorInvalidValue;
}

}  // namespace km::cudart
