// A library's table of exported symbols.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dropin/audit/image/image.h"

namespace km::audit {

/// A function that stands before one of a library.
struct Override {
  const char* name;
  void* function;
  void** own;  // where the library's own goes
};
struct Overrides {
  const Override* begin;
  size_t count;
};

class SymbolTable {
 public:
  explicit SymbolTable(const Image& library) noexcept;
  /// False for a library without a table of GNU's kind.
  bool is_readable() const noexcept { return symbols_ != nullptr && buckets_ != 0; }

  /// The entry of a function, in the version that programs are linked with now, or in an old one
  /// that only older programs use; null if there is none.
  ElfW(Sym) * find(std::string_view name) const noexcept;
  void* address_of(const ElfW(Sym) & symbol) const noexcept {
    return reinterpret_cast<void*>(library_.base() + symbol.st_value);
  }
  /// Makes everything that is bound from now on to the entry lead to `function`; false if the
  /// table cannot be written.
  bool redirect(ElfW(Sym) & symbol, const void* function) const noexcept;
  /// Redirects the functions that the library has.
  void put_before(const Overrides& overrides) const noexcept;

 private:
  void read_hash_table(const uint32_t* table) noexcept;

  Image library_;
  ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  const ElfW(Half) * versions_ = nullptr;
  uint32_t buckets_ = 0, first_symbol_ = 0;
  const uint32_t* bucket_table_ = nullptr;
  const uint32_t* chains_ = nullptr;
};

}  // namespace km::audit
