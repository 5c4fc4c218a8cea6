#include "backends/cpu/runtime/device_printf.h"

#include "backends/cpu/fault/guarded_memory.h"
#include "simt/runtime/print/device_printf.h"

namespace km::cpu {
namespace {

/// The memory of the process, where an access that faults is an answer.
class GuardedMemory final : public simt::PrintfMemory {
 public:
  bool copy(void* to, uint64_t address, uint64_t size_bytes, uint64_t* out_address) override {
    Fault fault;
    if (guarded_copy(to, reinterpret_cast<const void*>(address), size_bytes, false, &fault)) {
      return true;
    }
    *out_address = fault.address;
    return false;
  }
  std::optional<std::string> text(uint64_t address, uint64_t limit) override {
    return read_text(reinterpret_cast<const char*>(address), limit);
  }
};

}  // namespace

std::optional<std::string> read_text(const char* text, uint64_t limit) {
  uint64_t length = 0;
  if (!guarded_length(text, limit, &length)) return std::nullopt;
  std::string copy(length, '\0');
  if (!guarded_copy(copy.data(), text, length, false, nullptr)) return std::nullopt;
  return copy;
}

std::optional<std::string> format_device_printf(const char* format, const void* arguments,
                                                int32_t* out_count, uint64_t* out_address) {
  GuardedMemory memory;
  return simt::format_device_printf(memory, reinterpret_cast<uint64_t>(format),
                                    reinterpret_cast<uint64_t>(arguments), out_count, out_address);
}

}  // namespace km::cpu
