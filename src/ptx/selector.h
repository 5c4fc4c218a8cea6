// Part selects of video instructions (r.b0, r.h1, r.h10, r.b3210), encoded in 16 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace km::ptx {

/// Bit 15: present. Bit 14: half-words instead of bytes. Bits 12-13: number of digits - 1. Then
/// three bits per digit, the last written one lowest. 0 means the whole register.
constexpr uint16_t kSelectorPresent = 0x8000, kSelectorHalves = 0x4000;

constexpr unsigned selector_digits(uint16_t selector) { return (selector >> 12 & 3) + 1; }

/// The source part of byte or half-word `index` of the result; `index` counts from the low end.
constexpr unsigned selector_digit(uint16_t selector, unsigned index) {
  return selector >> (3 * index) & 7;
}

/// Reads "b0", "h10" ... without the dot.
inline std::optional<uint16_t> read_selector(std::string_view text) {
  if (text.size() < 2 || text.size() > 5 || (text[0] != 'b' && text[0] != 'h')) {
    return std::nullopt;
  }
  bool halves = text[0] == 'h';
  if (halves && text.size() > 3) return std::nullopt;
  unsigned value = kSelectorPresent | (halves ? kSelectorHalves : 0u);
  value |= static_cast<unsigned>(text.size() - 2) << 12;
  for (size_t i = 1; i < text.size(); ++i) {
    char most = halves ? '3' : '7';
    if (text[i] < '0' || text[i] > most) return std::nullopt;
    value |= static_cast<unsigned>(text[i] - '0') << (3 * (text.size() - 1 - i));
  }
  return static_cast<uint16_t>(value);
}

inline std::string selector_text(uint16_t selector) {
  std::string text(1, selector & kSelectorHalves ? 'h' : 'b');
  for (unsigned i = selector_digits(selector); i-- > 0;) {
    text += static_cast<char>('0' + selector_digit(selector, i));
  }
  return text;
}

}  // namespace km::ptx
