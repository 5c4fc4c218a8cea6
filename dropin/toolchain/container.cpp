#include "dropin/toolchain/container.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/integers.h"

namespace km::toolchain {
namespace {

constexpr uint16_t kCudaMachine = 190;
// The first form of CUDA's ELF header, which all tools know: an architecture in the flags' low
// byte.
constexpr unsigned char kCudaAbi = 0x33, kCudaAbiVersion = 7;
constexpr uint32_t kFlags64Bits = 0x500, kFlagAccelerated = 0x800;
constexpr int kVirtualBit = 16;
constexpr unsigned char kEntrySymbol = 0x10;  // st_other of a kernel

// The padding of e_ident has a name and the version of the format.
constexpr unsigned char kIdent[EI_NIDENT] = {
    0x7F, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, kCudaAbi, kCudaAbiVersion,
    'K',  'M', 'P', 'T', 'X',        0,           1};

enum SectionIndex : uint16_t { kNoSection, kSectionNames, kNames, kSymbols, kText, kSections };
constexpr std::string_view kSectionNameTable("\0.shstrtab\0.strtab\0.symtab\0.kernelmill.ptx", 43);
constexpr uint32_t kNameOffsets[kSections] = {0, 1, 11, 19, 27};
constexpr uint64_t kAlignment = 8;

template <class T>
T read_at(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void append(std::string* to, const T& value) {
  to->append(reinterpret_cast<const char*>(&value), sizeof value);
}

void align(std::string* to) { to->resize(round_up(to->size(), kAlignment)); }

/// The offset of each line of a text.
std::vector<uint64_t> line_starts(std::string_view text) {
  std::vector<uint64_t> starts{0};
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    starts.push_back(at + 1);
  }
  return starts;
}

/// Collects the symbol table of a module and the names in it.
class SymbolTable {
 public:
  SymbolTable(const ptx::Module& module, std::string_view text)
      : text_bytes_(text.size()), lines_(line_starts(text)) {
    add({}, {});
    for (const ptx::Symbol& symbol : module.symbols) {
      if (!symbol.is_function) add_variable(symbol);
    }
    for (const ptx::Function& function : module.functions) add_function(function);
    end_functions();
    // ELF demands that local symbols come first.
    std::stable_partition(symbols_.begin(), symbols_.end(), is_local);
  }

  const std::vector<Elf64_Sym>& symbols() const { return symbols_; }
  const std::string& names() const { return names_; }
  uint32_t local_count() const {
    return static_cast<uint32_t>(std::count_if(symbols_.begin(), symbols_.end(), is_local));
  }

 private:
  static bool is_local(const Elf64_Sym& symbol) {
    return ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
  }
  static unsigned char binding_of(ptx::Linkage linkage, bool is_entry) {
    switch (linkage) {
      case ptx::Linkage::internal:
        return is_entry ? STB_GLOBAL : STB_LOCAL;
      case ptx::Linkage::weak:
      case ptx::Linkage::common:
        return STB_WEAK;
      default:
        return STB_GLOBAL;
    }
  }

  void add(std::string_view name, Elf64_Sym symbol) {
    symbol.st_name = static_cast<Elf64_Word>(name.empty() ? 0 : names_.size());
    if (!name.empty()) names_ += std::string(name) + '\0';
    symbols_.push_back(symbol);
  }
  void add_variable(const ptx::Symbol& variable) {
    const bool is_stored =
        variable.space == ptx::Space::global || variable.space == ptx::Space::constant;
    if (!is_stored) return;
    Elf64_Sym symbol{};
    symbol.st_info = ELF64_ST_INFO(binding_of(variable.linkage, false), STT_OBJECT);
    const bool is_defined = variable.linkage != ptx::Linkage::external;
    symbol.st_shndx = is_defined ? kText : kNoSection;
    symbol.st_value = is_defined ? offset_of(variable.location) : 0;
    symbol.st_size = variable.size_bytes;
    add(variable.name, symbol);
  }
  void add_function(const ptx::Function& function) {
    Elf64_Sym symbol{};
    symbol.st_info = ELF64_ST_INFO(binding_of(function.linkage, function.is_entry), STT_FUNC);
    if (function.is_entry) symbol.st_other = kEntrySymbol;
    if (!function.is_declaration) {
      symbol.st_shndx = kText;
      symbol.st_value = offset_of(function.location);
    }
    add(function.name, symbol);
  }
  /// A function lasts until the next one begins.
  void end_functions() {
    std::vector<uint64_t> begins;
    for (const Elf64_Sym& each : symbols_) {
      if (is_code(each)) begins.push_back(each.st_value);
    }
    begins.push_back(text_bytes_);
    std::sort(begins.begin(), begins.end());
    for (Elf64_Sym& each : symbols_) {
      if (!is_code(each)) continue;
      const auto end = std::upper_bound(begins.begin(), begins.end(), each.st_value);
      each.st_size = (end == begins.end() ? text_bytes_ : *end) - each.st_value;
    }
  }
  static bool is_code(const Elf64_Sym& symbol) {
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx == kText;
  }
  uint64_t offset_of(ptx::Location location) const {
    if (location.line == 0 || location.line > lines_.size()) return 0;
    return std::min<uint64_t>(lines_[location.line - 1] + std::max(location.column, 1u) - 1,
                              text_bytes_);
  }

  uint64_t text_bytes_;
  std::vector<uint64_t> lines_;
  std::vector<Elf64_Sym> symbols_;
  std::string names_ = std::string(1, '\0');
};

Elf64_Shdr section(SectionIndex index, uint32_t type, uint64_t offset, uint64_t size_bytes) {
  Elf64_Shdr header{};
  header.sh_name = kNameOffsets[index];
  header.sh_type = type;
  header.sh_offset = offset;
  header.sh_size = size_bytes;
  header.sh_addralign = type == SHT_SYMTAB ? kAlignment : 1;
  return header;
}

Elf64_Ehdr file_header(const ContainerTraits& traits, uint32_t virtual_capability) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, kIdent, sizeof kIdent);
  header.e_type = traits.is_relocatable ? ET_REL : ET_EXEC;
  header.e_machine = kCudaMachine;
  header.e_version = EV_CURRENT;
  header.e_flags = (traits.capability & 0xFF) | kFlags64Bits |
                   (traits.is_accelerated ? kFlagAccelerated : 0) |
                   (virtual_capability & 0xFF) << kVirtualBit;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = kSectionNames;
  return header;
}

Error damaged() {
  return make_error(KM_ERROR_INVALID_PTX, "the cubin of Kernelmill is damaged, or not whole");
}

}  // namespace

std::string write_container(const ptx::Module& module, std::string_view text,
                            const ContainerTraits& traits) {
  const SymbolTable table(module, text);
  Elf64_Ehdr header = file_header(traits, module.target_sm);
  std::string made(sizeof header, '\0');
  Elf64_Shdr sections[kSections] = {};
  const auto put = [&](SectionIndex index, uint32_t type, std::string_view content) {
    sections[index] = section(index, type, made.size(), content.size());
    made += content;
  };
  put(kText, SHT_PROGBITS, text);
  made += '\0';
  ++sections[kText].sh_size;  // with the zero that ends the text
  put(kSectionNames, SHT_STRTAB, kSectionNameTable);
  put(kNames, SHT_STRTAB, table.names());
  align(&made);
  put(kSymbols, SHT_SYMTAB,
      {reinterpret_cast<const char*>(table.symbols().data()),
       table.symbols().size() * sizeof(Elf64_Sym)});
  sections[kSymbols].sh_link = kNames;
  sections[kSymbols].sh_info = table.local_count();
  sections[kSymbols].sh_entsize = sizeof(Elf64_Sym);
  header.e_shoff = made.size();
  std::memcpy(made.data(), &header, sizeof header);
  for (const Elf64_Shdr& each : sections) append(&made, each);
  return made;
}

bool is_container(const char* bytes, uint64_t known_bytes) {
  for (size_t i = 0; i < sizeof kIdent; ++i) {
    if (i >= known_bytes || static_cast<unsigned char>(bytes[i]) != kIdent[i]) return false;
  }
  return true;
}

Result<Container> read_container(const char* bytes, uint64_t known_bytes) {
  if (!is_container(bytes, known_bytes) || known_bytes < sizeof(Elf64_Ehdr)) return damaged();
  const auto header = read_at<Elf64_Ehdr>(bytes);
  constexpr uint64_t kTableBytes = sizeof(Elf64_Shdr) * kSections;
  const bool is_regular = header.e_machine == kCudaMachine && header.e_shnum == kSections &&
                          header.e_shentsize == sizeof(Elf64_Shdr) &&
                          header.e_shoff >= sizeof header;
  if (!is_regular || known_bytes < kTableBytes || header.e_shoff > known_bytes - kTableBytes) {
    return damaged();
  }
  const auto text = read_at<Elf64_Shdr>(bytes + header.e_shoff + kText * sizeof(Elf64_Shdr));
  const bool is_inside = text.sh_offset >= sizeof header && text.sh_size != 0 &&
                         text.sh_offset <= header.e_shoff &&
                         text.sh_size <= header.e_shoff - text.sh_offset;
  if (!is_inside || bytes[text.sh_offset + text.sh_size - 1] != '\0') return damaged();
  Container found;
  found.ptx = {bytes + text.sh_offset, text.sh_size - 1};
  if (found.ptx.find('\0') != found.ptx.npos) return damaged();
  found.traits.capability = header.e_flags & 0xFF;
  found.traits.is_accelerated = (header.e_flags & kFlagAccelerated) != 0;
  found.traits.is_relocatable = header.e_type == ET_REL;
  found.size_bytes = header.e_shoff + kTableBytes;
  return found;
}

}  // namespace km::toolchain
