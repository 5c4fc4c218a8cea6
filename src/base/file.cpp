#include "base/file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace km {

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool File::read_all(void* to, uint64_t size_bytes) const {
  auto* at = static_cast<char*>(to);
  while (size_bytes != 0) {
    const ssize_t count = read(descriptor_, at, size_bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = 0;
    if (count <= 0) return false;
    at += count;
    size_bytes -= static_cast<uint64_t>(count);
  }
  return true;
}

bool File::write_all(const void* from, uint64_t size_bytes) const {
  const auto* at = static_cast<const char*>(from);
  while (size_bytes != 0) {
    const ssize_t count = write(descriptor_, at, size_bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size_bytes -= static_cast<uint64_t>(count);
  }
  return true;
}

Error file_error(const char* verb, const std::string& path, int code, km_status missing) {
  Error error = make_error(code == ENOENT ? missing : KM_ERROR_IO, "cannot %s '%.1000s': %s", verb,
                           path.c_str(), std::strerror(code));
  error.native_code = code;
  return error;
}

}  // namespace km
