#include "base/process/import_overrides.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/arch/constants.h"
#include "base/process/dylib.h"

namespace km {
namespace {

constexpr size_t kPageBytes = 65536;  // the largest of the pages that a machine may have

/// The image's tables for the loader, in memory order. They share one segment, because the loader
/// writes into the dynamic table.
struct Head {
  ElfW(Ehdr) file = {};
  ElfW(Phdr) segments[3] = {};
  ElfW(Dyn) dynamic[7] = {};
};

/// The string table: the names of the symbols and of the needed library.
class Names {
 public:
  /// Adds a name and returns its offset.
  size_t add(const std::string& name) {
    const size_t place = text_.size();
    text_.append(name).push_back('\0');
    return place;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = std::string(1, '\0');
};

/// The overrides as absolute symbols, whose values the loader uses as addresses.
std::vector<ElfW(Sym)> symbols_of(std::span<const ImportOverride> overrides, Names& names) {
  std::vector<ElfW(Sym)> symbols(1);  // symbol 0 is reserved
  for (const ImportOverride& override : overrides) {
    ElfW(Sym) symbol = {};
    symbol.st_name = static_cast<ElfW(Word)>(names.add(override.name));
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = SHN_ABS;
    symbol.st_value = reinterpret_cast<uintptr_t>(override.function);
    symbols.push_back(symbol);
  }
  return symbols;
}

/// A hash table with one bucket, so the loader compares every name.
std::vector<ElfW(Word)> hash_table_of(size_t symbol_count) {
  const auto count = static_cast<ElfW(Word)>(symbol_count);
  std::vector<ElfW(Word)> table = {1, count, count > 1 ? 1U : 0U};
  for (ElfW(Word) symbol = 0; symbol < count; ++symbol) {
    table.push_back(symbol != 0 && symbol + 1 < count ? symbol + 1 : 0);
  }
  return table;
}

ElfW(Phdr) segment(ElfW(Word) type, size_t offset, size_t size_bytes, size_t alignment) {
  ElfW(Phdr) header = {};
  header.p_type = type;
  header.p_flags = PF_R | PF_W;
  header.p_offset = header.p_vaddr = header.p_paddr = offset;
  header.p_filesz = header.p_memsz = size_bytes;
  header.p_align = alignment;
  return header;
}

ElfW(Ehdr) file_header() {
  ElfW(Ehdr) header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = arch::kElfMachine;
  header.e_version = EV_CURRENT;
  header.e_phoff = offsetof(Head, segments);
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(ElfW(Phdr));
  header.e_phnum = 3;
  return header;
}

bool leaves_absolute_symbols() {
  using Version = const char* (*)();
  const auto version = reinterpret_cast<Version>(symbol_of_process("gnu_get_libc_version"));
  if (version == nullptr) return false;
  char* end = nullptr;
  const long major = std::strtol(version(), &end, 10);
  const long minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
  return major > 2 || (major == 2 && minor >= 28);
}

}  // namespace

Result<std::vector<char>> image_of_overrides(const std::string& needed,
                                             std::span<const ImportOverride> overrides) {
  if (!leaves_absolute_symbols()) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "the loader moves absolute symbols");
  }
  Names names;
  const size_t needed_name = names.add(needed);
  const std::vector<ElfW(Sym)> symbols = symbols_of(overrides, names);
  const std::vector<ElfW(Word)> hashes = hash_table_of(symbols.size());

  const size_t symbol_bytes = symbols.size() * sizeof symbols[0];
  const size_t hash_bytes = hashes.size() * sizeof hashes[0];
  const size_t symbols_at = sizeof(Head), hashes_at = symbols_at + symbol_bytes;
  const size_t names_at = hashes_at + hash_bytes, end = names_at + names.text().size();

  Head head;
  head.file = file_header();
  head.segments[0] = segment(PT_LOAD, 0, end, kPageBytes);
  head.segments[1] = segment(PT_DYNAMIC, offsetof(Head, dynamic), sizeof head.dynamic, 8);
  // Without this header, the loader makes stacks executable.
  head.segments[2] = segment(PT_GNU_STACK, 0, 0, 16);
  const std::pair<ElfW(Sxword), size_t> dynamic[] = {
      {DT_NEEDED, needed_name},
      {DT_HASH, hashes_at},
      {DT_STRTAB, names_at},
      {DT_SYMTAB, symbols_at},
      {DT_STRSZ, names.text().size()},
      {DT_SYMENT, sizeof(ElfW(Sym))},
      {DT_NULL, 0},
  };
  for (size_t i = 0; i < std::size(dynamic); ++i) {
    head.dynamic[i].d_tag = dynamic[i].first;
    head.dynamic[i].d_un.d_val = dynamic[i].second;
  }

  std::vector<char> image(end);
  std::memcpy(image.data(), &head, sizeof head);
  std::memcpy(image.data() + symbols_at, symbols.data(), symbol_bytes);
  std::memcpy(image.data() + hashes_at, hashes.data(), hash_bytes);
  std::memcpy(image.data() + names_at, names.text().data(), names.text().size());
  return image;
}

}  // namespace km
