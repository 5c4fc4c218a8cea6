// Arrays in host memory, for reading, printing and as buffers of `kernelmill run`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace km::tools {

enum class ElementType : uint8_t {
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kF16,
  kBf16,
  kF32,
  kF64
};

/// True for f16, bf16, f32 and f64.
constexpr bool is_float(ElementType type) { return type >= ElementType::kF16; }

/// The type named "f32" and so on; nothing for any other word.
std::optional<ElementType> element_type(std::string_view name);
const char* element_type_name(ElementType type);
uint64_t element_size(ElementType type);
/// "i8, u8, ... f64", for messages.
std::string element_type_names();

/// Row-major; images are [height, width, channels].
struct Array {
  ElementType type = ElementType::kU8;
  std::vector<uint64_t> shape;
  std::vector<std::byte> bytes;

  uint64_t element_count() const { return bytes.size() / element_size(type); }
};

/// The size of an array in bytes; an error if it is empty or too large for any memory.
Result<uint64_t> array_bytes(ElementType type, const std::vector<uint64_t>& shape);
/// A zeroed array.
Result<Array> make_array(ElementType type, std::vector<uint64_t> shape);

/// Appends one number, `text`, as `type`; integers may be hexadecimal. 16-bit formats are rounded
/// from f64.
Status append_number(ElementType type, const std::string& text, std::vector<std::byte>& out);

/// The array as text, one line per row; the numbers read back to the same bits. At most `max_count`
/// numbers are printed, the last of which ends its line.
std::string array_text(const Array& array, uint64_t max_count = UINT64_MAX);

}  // namespace km::tools
