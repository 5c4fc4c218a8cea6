#include "base/result.h"

#include <cstdarg>

namespace km {
namespace {

std::string format_text(const char* format, va_list arguments) {
  char small[512];
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(small, sizeof small, format, arguments);
  std::string text;
  if (length >= 0 && static_cast<size_t>(length) < sizeof small) {
    text.assign(small, static_cast<size_t>(length));
  } else if (length >= 0) {
    text.resize(static_cast<size_t>(length));
    std::vsnprintf(text.data(), text.size() + 1, format, again);
  }
  va_end(again);
  return text;
}

}  // namespace

Error make_error(km_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Error error{status, format_text(format, arguments), 0};
  va_end(arguments);
  return error;
}

}  // namespace km
