#include "tools/arrays/array.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/text.h"
#include "tools/error.h"
#include "tools/files.h"
#include "tools/number_format.h"

namespace km::tools {
namespace {

struct TypeRow {
  const char* name;
  uint64_t size;
};
// The order is that of ElementType.
constexpr std::array<TypeRow, 12> kTypes = {{{"i8", 1},
                                             {"u8", 1},
                                             {"i16", 2},
                                             {"u16", 2},
                                             {"i32", 4},
                                             {"u32", 4},
                                             {"i64", 8},
                                             {"u64", 8},
                                             {"f16", 2},
                                             {"bf16", 2},
                                             {"f32", 4},
                                             {"f64", 8}}};

/// The bits of a 16-bit floating-point number.
struct Half {
  uint16_t bits = 0;
  static Half of(double value) { return {half_from_double(value)}; }
  float value() const { return float_from_half(bits); }
};
struct Bfloat16 {
  uint16_t bits = 0;
  static Bfloat16 of(double value) { return {bfloat16_from_double(value)}; }
  float value() const { return float_from_bfloat16(bits); }
};
template <class T>
constexpr bool kIsSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;

/// Calls `work` with a value of the C++ type for `type`.
template <class Work>
auto with_type(ElementType type, Work work) {
  switch (type) {
    case ElementType::kI8:
      return work(int8_t{});
    case ElementType::kU8:
      return work(uint8_t{});
    case ElementType::kI16:
      return work(int16_t{});
    case ElementType::kU16:
      return work(uint16_t{});
    case ElementType::kI32:
      return work(int32_t{});
    case ElementType::kU32:
      return work(uint32_t{});
    case ElementType::kI64:
      return work(int64_t{});
    case ElementType::kU64:
      return work(uint64_t{});
    case ElementType::kF16:
      return work(Half{});
    case ElementType::kBf16:
      return work(Bfloat16{});
    case ElementType::kF32:
      return work(float{});
    case ElementType::kF64:
      break;
  }
  return work(double{});
}

template <class T>
std::from_chars_result parse(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  if constexpr (kIsSmallFloat<T>) {
    double exact = 0;
    const auto result = std::from_chars(text.data(), end, exact);
    value = T::of(exact);
    return result;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::from_chars(text.data(), end, value);
  } else if (text.starts_with("0x") || text.starts_with("0X")) {
    // Hexadecimal numbers are bit patterns: 0xffffffff is a valid i32.
    std::make_unsigned_t<T> bits{};
    const auto result = std::from_chars(text.data() + 2, end, bits, 16);
    value = static_cast<T>(bits);
    return result;
  } else {
    return std::from_chars(text.data(), end, value);
  }
}

template <class T>
void append_text(const std::byte* bytes, std::string& out) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  char text[64];
  if constexpr (kIsSmallFloat<T>) {
    out.append(text, std::to_chars(text, text + sizeof text, value.value()).ptr);
  } else {
    out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
  }
}

}  // namespace

std::optional<ElementType> element_type(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (name == kTypes[i].name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

const char* element_type_name(ElementType type) { return kTypes[static_cast<size_t>(type)].name; }

uint64_t element_size(ElementType type) { return kTypes[static_cast<size_t>(type)].size; }

std::string element_type_names() {
  std::string names;
  for (const TypeRow& row : kTypes) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

Result<uint64_t> array_bytes(ElementType type, const std::vector<uint64_t>& shape) {
  // A limit far above any memory and far below any overflow.
  constexpr uint64_t kMaxBytes = uint64_t{1} << 46;
  uint64_t size = element_size(type);
  for (const uint64_t extent : shape) {
    if (extent == 0) return usage_error("an array without elements; every extent must be >= 1");
    if (extent > kMaxBytes / size) return usage_error("an array of more than 64 TiB");
    size *= extent;
  }
  return size;
}

Result<Array> make_array(ElementType type, std::vector<uint64_t> shape) {
  KM_ASSIGN(const uint64_t size, array_bytes(type, shape));
  if (size > max_array_bytes()) {
    return usage_error("an array of " + counted(size, "byte") + ", more than the " +
                       std::to_string(max_array_bytes()) + " of this machine's memory");
  }
  return Array{type, std::move(shape), std::vector<std::byte>(size)};
}

Status append_number(ElementType type, const std::string& text, std::vector<std::byte>& out) {
  return with_type(type, [&](auto value) -> Status {
    const auto [stop, code] = parse(text, value);
    if (code == std::errc::result_out_of_range) {
      return usage_error("'" + text + "' does not fit into " + element_type_name(type));
    }
    if (code != std::errc() || stop != text.data() + text.size()) {
      return usage_error("'" + text + "' is not a number of type " + element_type_name(type));
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
    return {};
  });
}

std::string array_text(const Array& array, uint64_t max_count) {
  const uint64_t size = element_size(array.type);
  const uint64_t count = std::min(array.element_count(), max_count);
  const uint64_t row = array.shape.empty() ? 1 : array.shape.back();
  std::string text;
  for (uint64_t i = 0; i < count; ++i) {
    with_type(array.type, [&](auto value) {
      append_text<decltype(value)>(array.bytes.data() + i * size, text);
    });
    text += (i + 1) % row == 0 || i + 1 == count ? '\n' : ' ';
  }
  return text;
}

}  // namespace km::tools
