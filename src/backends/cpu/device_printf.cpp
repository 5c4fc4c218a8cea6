#include "backends/cpu/device_printf.h"

#include <cstring>
#include <deque>
#include <vector>

#include "backends/cpu/guarded_memory.h"
#include "simt/engine.h"

namespace km::cpu {
namespace {

constexpr uint64_t kFormatLimit = 64 << 10;
constexpr uint64_t kStringLimit = 1 << 20;

enum class Kind : uint8_t { none, word32, word64, floating, string };

/// One conversion of a format: what it takes from the arguments.
struct Conversion {
  int stars = 0;           // of width and precision, an int each
  Kind kind = Kind::none;  // none: "%%" or unknown
};

bool is_one_of(char c, const char* set) { return c != 0 && strchr(set, c) != nullptr; }

/// Reads the conversion after a '%'; moves *at behind it.
Conversion read_conversion(const char** at) {
  Conversion conversion;
  const char* p = *at;
  for (; is_one_of(*p, "-+ #0123456789.*"); ++p) conversion.stars += *p == '*';
  bool is_long = false;
  for (; is_one_of(*p, "hlLqjzt"); ++p) is_long = is_long || *p != 'h';
  char type = *p;
  if (type != 0) ++p;
  *at = p;
  if (is_one_of(type, "diouxXc")) conversion.kind = is_long ? Kind::word64 : Kind::word32;
  if (is_one_of(type, "eEfFgGaA")) conversion.kind = Kind::floating;
  if (type == 's') conversion.kind = Kind::string;
  if (type == 'p') conversion.kind = Kind::word64;
  return conversion;
}

/// The argument buffer, copied piece by piece as the format asks for it.
class Arguments {
 public:
  explicit Arguments(const void* source) : source_(static_cast<const uint8_t*>(source)) {}

  bool take(uint64_t size_bytes, uint64_t* out_address) {
    uint64_t offset = (copy_.size() + size_bytes - 1) / size_bytes * size_bytes;
    copy_.resize(offset + size_bytes);
    Fault fault;
    if (guarded_copy(copy_.data() + offset, source_ + offset, size_bytes, false, &fault)) {
      return true;
    }
    *out_address = fault.address;
    return false;
  }
  uint64_t last_word() const {
    uint64_t value = 0;
    memcpy(&value, copy_.data() + copy_.size() - sizeof value, sizeof value);
    return value;
  }
  void replace_last_word(const void* pointer) {
    memcpy(copy_.data() + copy_.size() - sizeof pointer, &pointer, sizeof pointer);
  }
  const void* data() const { return copy_.data(); }

 private:
  const uint8_t* source_;
  std::vector<uint8_t> copy_;
};

/// Replaces a device string by a copy of it.
bool take_string(Arguments* arguments, std::deque<std::string>* strings, uint64_t* out_address) {
  uint64_t address = arguments->last_word();
  std::optional<std::string> text = address == 0
                                        ? std::optional<std::string>("(null)")
                                        : read_text(reinterpret_cast<const char*>(address),
                                                    kStringLimit);
  if (!text) {
    *out_address = address;
    return false;
  }
  strings->push_back(std::move(*text));
  arguments->replace_last_word(strings->back().c_str());
  return true;
}

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
  std::optional<std::string> pattern = read_text(format, kFormatLimit);
  if (!pattern) {
    *out_address = reinterpret_cast<uint64_t>(format);
    return std::nullopt;
  }
  Arguments copied(arguments);
  std::deque<std::string> strings;  // addresses stay
  for (const char* at = pattern->c_str(); *at != 0;) {
    if (*at++ != '%') continue;
    Conversion conversion = read_conversion(&at);
    for (int i = 0; i < conversion.stars; ++i) {
      if (!copied.take(4, out_address)) return std::nullopt;
    }
    if (conversion.kind == Kind::none) continue;
    if (!copied.take(conversion.kind == Kind::word32 ? 4 : 8, out_address)) return std::nullopt;
    if (conversion.kind == Kind::string && !take_string(&copied, &strings, out_address)) {
      return std::nullopt;
    }
  }
  return simt::format_printf(pattern->c_str(), copied.data(), out_count);
}

}  // namespace km::cpu
