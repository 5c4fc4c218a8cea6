#include "harness/reference.h"

#include <algorithm>
#include <array>

namespace km::kernels {
namespace {

/// The byte that a four-bit selector names out of the eight bytes of b:a.
uint8_t select_byte(uint64_t bytes, uint32_t selector) {
  const auto byte = static_cast<uint8_t>(bytes >> (8 * (selector & 7)));
  if ((selector & 8) == 0) return byte;
  return byte & 0x80 ? 0xFF : 0x00;
}

}  // namespace

uint64_t multiply_high(uint64_t a, uint64_t b) {
  // Schoolbook on single bits would do as well; halves keep it readable.
  const uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xFFFFFFFFu)) >> 32);
}

uint64_t multiply_high_signed(int64_t a, int64_t b) {
  uint64_t high = multiply_high(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
  if (a < 0) high -= static_cast<uint64_t>(b);
  if (b < 0) high -= static_cast<uint64_t>(a);
  return high;
}

uint64_t reverse_bits(uint64_t value) {
  uint64_t reversed = 0;
  for (int i = 0; i < 64; ++i) reversed |= (value >> i & 1) << (63 - i);
  return reversed;
}

uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t selectors) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= uint32_t{select_byte(bytes, selectors >> (4 * i) & 15)} << (8 * i);
  }
  return result;
}

uint32_t permute_bytes_mode(uint32_t a, uint32_t b, uint32_t control, int mode) {
  using Selectors = std::array<uint32_t, 4>;  // for bytes 0 to 3
  const uint32_t c = control & 3;
  Selectors chosen{};
  switch (mode) {
    case 1:
      chosen = {c, c + 1, c + 2, c + 3};
      break;  // f4e
    case 2:
      chosen = {c, (c + 7) & 7, (c + 6) & 7, (c + 5) & 7};
      break;  // b4e
    case 3:
      chosen = {c, c, c, c};
      break;  // rc8
    case 4:   // ecl
      for (uint32_t i = 0; i < 4; ++i) chosen[i] = std::max(i, c);
      break;
    case 5:  // ecr
      for (uint32_t i = 0; i < 4; ++i) chosen[i] = std::min(i, c);
      break;
    default:
      chosen = {(c & 1) * 2, (c & 1) * 2 + 1, (c & 1) * 2, (c & 1) * 2 + 1};  // rc16
  }
  return permute_bytes(a, b, chosen[0] | chosen[1] << 4 | chosen[2] << 8 | chosen[3] << 12);
}

namespace {

/// A number beyond a word of 64 bits is like its width.
uint32_t extent(uint32_t given, int width) {
  return width == 32 ? given & 0xFF : std::min(given, 64U);
}

}  // namespace

uint64_t extract_bits(uint64_t value, uint32_t position, uint32_t length, int width,
                      bool is_signed) {
  const uint32_t p = extent(position, width), l = extent(length, width);
  const uint32_t last = static_cast<uint32_t>(width) - 1;
  const uint32_t sign_at = std::min(p + l - 1, last);
  const uint64_t sign = is_signed && l != 0 ? value >> sign_at & 1 : 0;
  uint64_t result = 0;
  for (uint32_t i = 0; i <= last; ++i) {
    const uint64_t bit = i < l && p + i <= last ? value >> (p + i) & 1 : sign;
    result |= bit << i;
  }
  return result;
}

uint64_t insert_bits(uint64_t field, uint64_t base, uint32_t position, uint32_t length, int width) {
  const uint32_t p = extent(position, width), l = extent(length, width);
  const uint32_t last = static_cast<uint32_t>(width) - 1;
  uint64_t result = base;
  for (uint32_t i = 0; i < l && p + i <= last; ++i) {
    const uint64_t bit = uint64_t{1} << (p + i);
    result = (field >> i & 1) != 0 ? result | bit : result & ~bit;
  }
  return result;
}

uint32_t combine_bits(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (int i = 0; i < 32; ++i) {
    const uint32_t index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
    result |= (table >> index & 1) << i;
  }
  return result;
}

}  // namespace km::kernels
