#include "api/output.h"

#include <cinttypes>

namespace km {

Status require_struct_size(uint32_t struct_size, const char* parameter) {
  if (struct_size >= sizeof struct_size) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "%s->struct_size is %u; set it to the sizeof of the structure", parameter,
                    struct_size);
}

Status give_text(std::string_view text, char* buffer, uint64_t capacity_bytes,
                 uint64_t* out_size_bytes) {
  const uint64_t size = text.size() + 1;
  if (buffer == nullptr) {
    if (capacity_bytes != 0) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "buffer is null and capacity_bytes is %" PRIu64,
                        capacity_bytes);
    }
    if (out_size_bytes == nullptr) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "buffer and out_size_bytes are both null");
    }
    *out_size_bytes = size;
    return {};
  }
  if (capacity_bytes < size) {
    return make_error(KM_ERROR_BUFFER_TOO_SMALL,
                      "capacity_bytes is %" PRIu64 "; the text needs %" PRIu64, capacity_bytes,
                      size);
  }
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  if (out_size_bytes != nullptr) *out_size_bytes = size;
  return {};
}

Status check_flags(uint32_t flags, uint32_t known) {
  if ((flags & ~known) == 0) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "flags is 0x%x; known are the bits 0x%x", flags,
                    known);
}

Status require_room(const void* pointer, uint64_t capacity, const char* parameter) {
  if (pointer != nullptr || capacity == 0) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is null and capacity is not 0", parameter);
}

Result<std::string_view> take_text(const char* text, uint64_t size_bytes, const char* parameter) {
  if (text == nullptr && size_bytes != 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is null and its size is %" PRIu64, parameter,
                      size_bytes);
  }
  if (size_bytes > PTRDIFF_MAX) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "the size of %s is %" PRIu64 " bytes, which no text has", parameter,
                      size_bytes);
  }
  if (size_bytes == 0) return text != nullptr ? std::string_view(text) : std::string_view();
  std::string_view taken(text, size_bytes);
  // A size that includes the closing zero is common, for example NVRTC's.
  if (taken.back() == '\0') taken.remove_suffix(1);
  return taken;
}

}  // namespace km
