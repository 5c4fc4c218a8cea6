#include <cstdio>

#include "dropin/cudnn/frame/library.h"
#include "dropin/cudnn/frame/message.h"

namespace km::cudnn {
namespace {

thread_local char last_message[512];

}  // namespace

void keep_message(const char* function, const char* format, va_list arguments) noexcept {
  const int length = std::snprintf(last_message, sizeof last_message, "%s: ", function);
  if (length < 0 || static_cast<size_t>(length) >= sizeof last_message) return;
  std::vsnprintf(last_message + length, sizeof last_message - static_cast<size_t>(length), format,
                 arguments);
}
const char* kept_message() noexcept { return last_message; }
void forget_message() noexcept { last_message[0] = '\0'; }

const char* status_name(cudnnStatus_t status) noexcept {
  switch (status) {
#define KM_CUDNN_STATUS(name) \
  case name:                  \
    return #name;
#include "dropin/cudnn/frame/statuses.def"
#undef KM_CUDNN_STATUS
    default:
      return nullptr;
  }
}

}  // namespace km::cudnn
