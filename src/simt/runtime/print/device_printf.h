// Device printf of memory that a runtime does not trust: a kernel's pointers may be invalid.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace km::simt {

/// The memory that the pointers of a printf name, as a runtime reads it.
class PrintfMemory {
 public:
  /// Copies bytes; if that fails, returns false and stores the inaccessible address.
  virtual bool copy(void* to, uint64_t address, uint64_t size_bytes, uint64_t* out_address) = 0;
  /// Copies a zero-terminated text of at most `limit` bytes; nothing if it is inaccessible.
  virtual std::optional<std::string> text(uint64_t address, uint64_t limit) = 0;

 protected:
  ~PrintfMemory() = default;
};

/// Formats a device printf. If a pointer is invalid, returns nothing and stores the inaccessible
/// address.
std::optional<std::string> format_device_printf(PrintfMemory& memory, uint64_t format,
                                                uint64_t arguments, int32_t* out_count,
                                                uint64_t* out_address);

}  // namespace km::simt
