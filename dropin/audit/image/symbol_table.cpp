#include "dropin/audit/image/symbol_table.h"

namespace km::audit {
namespace {

constexpr ElfW(Half) kIsOldVersion = 0x8000;

uint32_t hash_of(std::string_view name) {
  uint32_t hash = 5381;
  for (const char each : name) hash = hash * 33 + static_cast<unsigned char>(each);
  return hash;
}

}  // namespace

SymbolTable::SymbolTable(const Image& library) noexcept
    : library_(library),
      symbols_(static_cast<ElfW(Sym) *>(const_cast<void*>(library.table(DT_SYMTAB)))),
      names_(static_cast<const char*>(library.table(DT_STRTAB))),
      versions_(static_cast<const ElfW(Half) *>(library.table(DT_VERSYM))) {
  const void* const hashes = library.table(DT_GNU_HASH);
  if (hashes != nullptr && names_ != nullptr) {
    read_hash_table(static_cast<const uint32_t*>(hashes));
  }
}

void SymbolTable::read_hash_table(const uint32_t* table) noexcept {
  constexpr size_t kHeaderWords = 4, kWordsOfFilter = sizeof(ElfW(Addr)) / sizeof(uint32_t);
  buckets_ = table[0];
  first_symbol_ = table[1];
  bucket_table_ = table + kHeaderWords + kWordsOfFilter * table[2];
  chains_ = bucket_table_ + buckets_;
}

ElfW(Sym) * SymbolTable::find(std::string_view name) const noexcept {
  const uint32_t hash = hash_of(name);
  uint32_t index = bucket_table_[hash % buckets_];
  if (index < first_symbol_) return nullptr;
  ElfW(Sym)* old = nullptr;
  for (;; ++index) {
    const uint32_t link = chains_[index - first_symbol_];
    ElfW(Sym)& symbol = symbols_[index];
    const bool is_called_so = (link | 1) == (hash | 1) && name == names_ + symbol.st_name;
    if (is_called_so && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
      if (versions_ == nullptr || (versions_[index] & kIsOldVersion) == 0) return &symbol;
      old = &symbol;
    }
    if ((link & 1) != 0) return old;
  }
}

bool SymbolTable::redirect(ElfW(Sym) & symbol, const void* function) const noexcept {
  if (!library_.set_writable(&symbol, sizeof symbol, true)) return false;
  symbol.st_value = reinterpret_cast<uintptr_t>(function) - library_.base();
  static_cast<void>(library_.set_writable(&symbol, sizeof symbol, false));
  return true;
}

void SymbolTable::put_before(const Overrides& overrides) const noexcept {
  for (size_t i = 0; i < overrides.count; ++i) {
    const Override& each = overrides.begin[i];
    ElfW(Sym)* const symbol = find(each.name);
    if (symbol == nullptr) continue;
    *each.own = address_of(*symbol);
    static_cast<void>(redirect(*symbol, each.function));
  }
}

}  // namespace km::audit
