#include "base/printable.h"

#include <cstdint>
#include <cstdio>

namespace km {
namespace {

struct Character {
  uint32_t code;
  size_t size_bytes;  // 0: invalid UTF-8; `code` is the byte
};

/// Decodes the first character of `text`, which must not be empty.
Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {lead, 0};
  uint32_t code = lead & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {lead, 0};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[size] || code > 0x10FFFF || is_surrogate) return {lead, 0};
  return {code, size};
}

bool is_plain(Character c) {
  if (c.size_bytes == 0) return false;
  if (c.code == '\n' || c.code == '\t') return true;
  return c.code >= 0x20 && (c.code < 0x7F || c.code > 0x9F);
}

}  // namespace

std::string_view PrintablePieces::next() {
  size_t size = 0;
  while (size < rest_.size()) {
    const Character next = first_character(rest_.substr(size));
    if (!is_plain(next)) break;
    size += next.size_bytes;
  }
  if (size != 0 || rest_.empty()) {
    const std::string_view piece = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return piece;
  }
  const Character escaped = first_character(rest_);
  const bool is_beyond_ascii = escaped.size_bytes > 1;
  const int length = std::snprintf(escape_, sizeof escape_, is_beyond_ascii ? "\\u%04x" : "\\x%02x",
                                   static_cast<unsigned>(escaped.code));
  rest_.remove_prefix(escaped.size_bytes == 0 ? 1 : escaped.size_bytes);
  return {escape_, static_cast<size_t>(length)};
}

std::string printable(std::string_view text) {
  std::string result;
  PrintablePieces pieces(text);
  for (std::string_view piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    result += piece;
  }
  return result;
}

std::string printable_name(std::string_view name) {
  std::string result;
  for (const char c : printable(name)) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      result += c;
    }
  }
  return result;
}

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace km
