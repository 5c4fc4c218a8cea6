// The functions of a C library that compilers call for code of their own.
#include <cstddef>

extern "C" {

void* memcpy(void* to, const void* from, size_t size_bytes) {
  auto* const out = static_cast<char*>(to);
  for (size_t i = 0; i < size_bytes; ++i) out[i] = static_cast<const char*>(from)[i];
  return to;
}

void* memset(void* to, int value, size_t size_bytes) {
  auto* const out = static_cast<char*>(to);
  for (size_t i = 0; i < size_bytes; ++i) out[i] = static_cast<char>(value);
  return to;
}

int memcmp(const void* left, const void* right, size_t size_bytes) {
  const auto* const a = static_cast<const unsigned char*>(left);
  const auto* const b = static_cast<const unsigned char*>(right);
  for (size_t i = 0; i < size_bytes; ++i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

const void* memchr(const void* text, int value, size_t size_bytes) {
  const auto* const bytes = static_cast<const unsigned char*>(text);
  for (size_t i = 0; i < size_bytes; ++i) {
    if (bytes[i] == static_cast<unsigned char>(value)) return bytes + i;
  }
  return nullptr;
}

size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}
}
