// Files that are mapped into memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace km {

/// A part of a file in memory, mapped read-only or privately (writes never reach the file). If
/// another process truncates the file, an access to a page beyond its new end raises SIGBUS.
class MappedFile {
 public:
  /// A `size_bytes` of UINT64_MAX maps the file from the offset to its end.
  static Result<std::shared_ptr<const MappedFile>> open(const char* path, uint64_t offset_bytes,
                                                        uint64_t size_bytes, bool writable);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  void* pointer() const { return static_cast<char*>(mapping_) + skipped_bytes_; }
  uint64_t size_bytes() const { return mapping_bytes_ - skipped_bytes_; }
  bool is_writable() const { return writable_; }
  const std::string& path() const { return path_; }

 private:
  MappedFile(const char* path, bool writable) : path_(path), writable_(writable) {}
  Status map(int file, uint64_t offset_bytes, uint64_t size_bytes);

  const std::string path_;
  const bool writable_;
  void* mapping_ = nullptr;
  uint64_t mapping_bytes_ = 0;
  uint64_t skipped_bytes_ = 0;  // bytes between the start of the first page and the offset
};

}  // namespace km
