#include "core/error/thread_error.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/printable.h"

namespace km {
namespace {

// It has no destructor, because calls may still fail while the thread ends.
struct ThreadError {
  km_status status;
  int64_t native_code;
  size_t size;
  char text[4608];  // room for the longest text of a backend and the function's name
};
thread_local ThreadError t_error;

/// Returns false if the part was truncated.
bool append(std::string_view part) {
  KM_ASSERT(t_error.size <= sizeof t_error.text, "an error's text lies in its thread's buffer");
  size_t count = std::min(part.size(), sizeof t_error.text - t_error.size);
  // The truncation must not split a UTF-8 character.
  while (count < part.size() && count > 0 && (part[count] & 0xC0) == 0x80) --count;
  std::memcpy(t_error.text + t_error.size, part.data(), count);
  t_error.size += count;
  return count == part.size();
}

}  // namespace

void set_thread_error(const char* function, km_status status, std::string_view message,
                      int64_t native_code) {
  t_error.status = status;
  t_error.native_code = native_code;
  t_error.size = 0;
  append(function);
  append(": ");
  PrintablePieces pieces(message);
  for (std::string_view piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    if (!append(piece)) return;
  }
}

km_status thread_error_status() { return t_error.status; }

void clear_thread_error() {
  t_error.status = KM_SUCCESS;
  t_error.native_code = 0;
  t_error.size = 0;
}

std::string_view thread_error_message() { return {t_error.text, t_error.size}; }

int64_t thread_error_native_code() { return t_error.native_code; }

}  // namespace km
