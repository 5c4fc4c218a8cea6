#include "dropin/library/host_memory.h"

#include <algorithm>
#include <utility>

#include "base/memory/system_copy.h"
#include "dropin/library/driver.h"

namespace km::library {

bool detail::copy_host(void* to, const void* from, size_t size_bytes) noexcept {
  const LibraryTable* const table = table_if_loaded();
  if (table != nullptr && table->copy_host != nullptr) {
    return table->copy_host(to, from, size_bytes) != 0;
  }
  return copy_by_system(to, from, size_bytes);
}

bool read_host_text(const char* text, size_t most_bytes, std::string* out) {
  constexpr uintptr_t kPageBytes = arch::kLeastPageBytes;
  out->clear();
  char piece[256];
  while (out->size() <= most_bytes) {
    const char* const from = text + out->size();
    const size_t on_page = kPageBytes - reinterpret_cast<uintptr_t>(from) % kPageBytes;
    const size_t size = std::min(on_page, sizeof piece);
    if (!read_host(piece, from, size)) return false;
    const void* const end = std::memchr(piece, 0, size);
    if (end == nullptr) {
      out->append(piece, size);
      continue;
    }
    out->append(piece, static_cast<size_t>(static_cast<const char*>(end) - piece));
    return out->size() <= most_bytes;
  }
  return false;
}

size_t read_host_words(const char* const* words, size_t count, size_t most_bytes,
                       std::vector<std::string>* out) {
  for (size_t i = 0; i < count; ++i) {
    const char* word = nullptr;
    std::string text;
    const bool is_read = words != nullptr && read_host(words + i, &word) && word != nullptr &&
                         read_host_text(word, most_bytes, &text);
    if (!is_read) return i;
    out->push_back(std::move(text));
  }
  return count;
}

}  // namespace km::library
