#include "simt/runtime/print/device_printf.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "base/integers.h"
#include "simt/engine.h"
#include "simt/runtime/print/printf.h"

namespace km::simt {
namespace {

constexpr uint64_t kFormatLimit = 64 << 10;
constexpr uint64_t kStringLimit = 1 << 20;

/// A copy of the argument buffer, which grows with the arguments of the format, because the size of
/// the buffer is unknown.
class Arguments {
 public:
  Arguments(PrintfMemory& memory, uint64_t source) : memory_(memory), source_(source) {}

  /// Copies the next argument, which is aligned to its size; false if *out_address is inaccessible.
  bool take(uint64_t size_bytes, uint64_t* out_address) {
    uint64_t offset = round_up(copy_.size(), size_bytes);
    copy_.resize(offset + size_bytes);
    return memory_.copy(copy_.data() + offset, source_ + offset, size_bytes, out_address);
  }
  /// The last copied argument as an int.
  int32_t last_int() const {
    int32_t value = 0;
    memcpy(&value, copy_.data() + copy_.size() - sizeof value, sizeof value);
    return value;
  }
  /// The last copied argument as 64 bits.
  uint64_t last_word() const {
    uint64_t value = 0;
    memcpy(&value, copy_.data() + copy_.size() - sizeof value, sizeof value);
    return value;
  }
  /// Overwrites the last copied argument, which must have 64 bits.
  void replace_last_word(const void* pointer) {
    memcpy(copy_.data() + copy_.size() - sizeof pointer, &pointer, sizeof pointer);
  }
  const void* data() const { return copy_.data(); }

 private:
  PrintfMemory& memory_;
  const uint64_t source_;
  std::vector<uint8_t> copy_;
};

/// Replaces the pointer to a device string by one to a copy in `strings`.
bool take_string(PrintfMemory& memory, Arguments* arguments, uint64_t most_bytes,
                 std::deque<std::string>* strings, uint64_t* out_address) {
  uint64_t address = arguments->last_word();
  std::optional<std::string> text = address == 0
                                        ? std::optional<std::string>("(null)")
                                        : memory.text(address, std::min(kStringLimit, most_bytes));
  if (!text) {
    *out_address = address;
    return false;
  }
  strings->push_back(std::move(*text));
  arguments->replace_last_word(strings->back().c_str());
  return true;
}

}  // namespace

std::optional<std::string> format_device_printf(PrintfMemory& memory, uint64_t format,
                                                uint64_t arguments, int32_t* out_count,
                                                uint64_t* out_address) {
  const std::optional<std::string> pattern = memory.text(format, kFormatLimit);
  if (!pattern) {
    *out_address = format;
    return std::nullopt;
  }
  Arguments copied(memory, arguments);
  std::deque<std::string> strings;  // a deque never moves its elements
  using Kind = PrintfArgument::Kind;
  for (const PrintfArgument& argument : printf_arguments(pattern->c_str())) {
    uint64_t most_bytes = argument.most_bytes;
    if (argument.most_from_previous && copied.last_int() >= 0) {
      most_bytes = static_cast<uint64_t>(copied.last_int());
    }
    if (!copied.take(argument.kind == Kind::word32 ? 4 : 8, out_address)) return std::nullopt;
    if (argument.kind == Kind::string &&
        !take_string(memory, &copied, most_bytes, &strings, out_address)) {
      return std::nullopt;
    }
  }
  return format_printf(pattern->c_str(), copied.data(), out_count);
}

}  // namespace km::simt
