// Files of the operating system: a descriptor that closes itself, and what went wrong with one.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace km {

class File {
 public:
  /// Takes the descriptor; a negative one is no file.
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  /// False, with errno, when fewer bytes are there (errno 0) or reading fails.
  bool read_all(void* to, uint64_t size_bytes) const;
  /// False, with errno, when not all of it could be written.
  bool write_all(const void* from, uint64_t size_bytes) const;

 private:
  const int descriptor_;
};

/// "cannot `verb` 'path': why", with the system's code as the native one. A file that is not there
/// has the status `missing`.
Error file_error(const char* verb, const std::string& path, int code,
                 km_status missing = KM_ERROR_NOT_FOUND);

}  // namespace km
