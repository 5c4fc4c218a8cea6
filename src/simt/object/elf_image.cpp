#include "simt/object/elf_image.h"

#include <llvm/Support/LEB128.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/integers.h"
#include "simt/object/relocation.h"

namespace km::simt {
namespace {

using namespace llvm::ELF;

constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxStackBytes = uint64_t{1} << 30;

Error bad(const std::string& what) {
  return make_error(KM_ERROR_COMPILER, "unusable object code: %s", what.c_str());
}

Error bad(llvm::Error error) { return bad(llvm::toString(std::move(error))); }

/// Adds the frame sizes in a section of pairs of a function's address and its frame size in LEB128.
Result<uint64_t> sum_of_frames(llvm::ArrayRef<uint8_t> pairs) {
  constexpr size_t kAddressBytes = 8;
  uint64_t sum = 0;
  while (!pairs.empty()) {
    if (pairs.size() <= kAddressBytes) return bad("a stack size is cut off");
    const uint8_t* const size = pairs.begin() + kAddressBytes;
    unsigned length = 0;
    const char* error = nullptr;
    const uint64_t frame = llvm::decodeULEB128(size, &length, pairs.end(), &error);
    if (error != nullptr) return bad(std::string("a stack size: ") + error);
    if (frame > kMaxStackBytes - sum) return bad("more than 1 GiB of stack");
    sum += frame;
    pairs = pairs.drop_front(kAddressBytes + length);
  }
  return sum;
}

}  // namespace

Result<ElfImage> ElfImage::parse(std::span<const uint8_t> object) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  if (!bytes.starts_with(llvm::StringRef("\x7f"
                                         "ELF\x02\x01",
                                         6)))
    return bad("not a 64-bit ELF file");
  llvm::Expected<File> file = File::create(bytes);
  if (!file) return bad(file.takeError());
  ElfImage image(std::move(*file));
  const Elf::Ehdr& header = image.file_.getHeader();
  if (header.e_machine != arch::kElfMachine || header.e_type != ET_REL) {
    return bad(std::string("not a relocatable file for ") + arch::kName);
  }
  KM_TRY(image.read_sections());
  KM_TRY(image.lay_out());
  KM_TRY(image.read_symbols());
  return image;
}

Status ElfImage::read_sections() {
  llvm::Expected<Elf::ShdrRange> headers = file_.sections();
  if (!headers) return bad(headers.takeError());
  headers_ = *headers;
  for (uint32_t i = 0; i < headers_.size(); ++i) {
    const Elf::Shdr& header = headers_[i];
    const bool has_addends = header.sh_type == SHT_RELA;
    if (has_addends || header.sh_type == SHT_REL) {
      // The entry size is checked because readers of debug information divide by it.
      const uint64_t entry_bytes = has_addends ? sizeof(Elf::Rela) : sizeof(Elf::Rel);
      if (header.sh_entsize != entry_bytes) {
        return bad("section " + std::to_string(i) + " has relocations of " +
                   std::to_string(header.sh_entsize) + " bytes");
      }
    }
    if (header.sh_flags & SHF_ALLOC) KM_TRY(add_section(i, header));
  }
  return {};
}

Status ElfImage::add_section(uint32_t index, const Elf::Shdr& header) {
  if (header.sh_size == 0) return {};
  const std::string what = "section " + std::to_string(index);
  if (header.sh_type == SHT_NOBITS) return bad(what + " is uninitialised memory");
  if (header.sh_flags & SHF_WRITE) return bad(what + " is writable");
  if (header.sh_flags & SHF_TLS) return bad(what + " is thread-local");
  const uint64_t align = header.sh_addralign;
  if (align > arch::kLeastPageBytes || (align & (align - 1)) != 0) {
    return bad(what + " is aligned to " + std::to_string(align));
  }
  llvm::Expected<llvm::ArrayRef<uint8_t>> contents = file_.getSectionContents(header);
  if (!contents) return bad(contents.takeError());
  const bool is_code = (header.sh_flags & SHF_EXECINSTR) != 0;
  sections_.push_back({index, 0, contents->size(), is_code});
  return {};
}

Status ElfImage::lay_out() {
  uint64_t end = 0;
  for (const bool is_code : {true, false}) {
    for (Section& section : sections_) {
      if (section.is_code != is_code) continue;
      const uint64_t align = headers_[section.index].sh_addralign;
      section.offset = round_up(end, align == 0 ? 1 : align);
      end = section.offset + section.size_bytes;
      // Sections of a corrupt file may overlap, so their total size needs a limit of its own.
      if (end > kMaxImageBytes) return bad("more than 1 GiB of code");
    }
    end = round_up(end, kPageBytes);
    if (is_code) code_bytes_ = end;
  }
  size_bytes_ = end;
  return code_bytes_ == 0 ? bad("no instructions") : Status();
}

Status ElfImage::read_symbols() {
  for (const Elf::Shdr& header : headers_) {
    if (header.sh_type != SHT_SYMTAB) continue;
    llvm::Expected<Elf::SymRange> symbols = file_.symbols(&header);
    if (!symbols) return bad(symbols.takeError());
    llvm::Expected<llvm::StringRef> names = file_.getStringTableForSymtab(header, headers_);
    if (!names) return bad(names.takeError());
    symbols_ = *symbols;
    names_ = *names;
    return {};
  }
  return bad("no symbol table");
}

const ElfImage::Section* ElfImage::section_at(uint32_t index) const {
  for (const Section& section : sections_) {
    if (section.index == index) return &section;
  }
  return nullptr;
}

Result<ElfImage::Symbol> ElfImage::resolve(const Elf::Sym& symbol) const {
  const Section* section = section_at(symbol.st_shndx);
  if (!section) {
    llvm::Expected<llvm::StringRef> name = symbol.getName(names_);
    if (!name) return bad(name.takeError());
    return bad("'" + name->str() + "' is not defined in code or constants");
  }
  const uint64_t value = symbol.st_value;
  if (value > section->size_bytes) return bad("a symbol lies outside of its section");
  return Symbol{section->offset + value, section->size_bytes - value, section->is_code};
}

Result<ElfImage::Symbol> ElfImage::find(std::string_view name) const {
  for (const Elf::Sym& symbol : symbols_) {
    if (symbol.getBinding() != STB_GLOBAL || symbol.st_shndx == SHN_UNDEF) continue;
    llvm::Expected<llvm::StringRef> have = symbol.getName(names_);
    if (!have) return bad(have.takeError());
    if (*have == llvm::StringRef(name)) return resolve(symbol);
  }
  return make_error(KM_ERROR_NOT_FOUND, "object code without '%s'", std::string(name).c_str());
}

Result<uint64_t> ElfImage::stack_bytes() const {
  uint64_t sum = 0;
  for (const Elf::Shdr& header : headers_) {
    llvm::Expected<llvm::StringRef> name = file_.getSectionName(header);
    if (!name) return bad(name.takeError());
    if (*name != ".stack_sizes") continue;
    llvm::Expected<llvm::ArrayRef<uint8_t>> pairs = file_.getSectionContents(header);
    if (!pairs) return bad(pairs.takeError());
    KM_ASSIGN(const uint64_t frames, sum_of_frames(*pairs));
    sum = std::min(sum + frames, kMaxStackBytes);
  }
  return sum;
}

Status ElfImage::place(uint8_t* memory) const {
  std::memset(memory, arch::kTrapByte, code_bytes_);  // fills the gaps between functions
  for (const Section& section : sections_) {
    llvm::Expected<llvm::ArrayRef<uint8_t>> contents =
        file_.getSectionContents(headers_[section.index]);
    if (!contents) return bad(contents.takeError());
    std::memcpy(memory + section.offset, contents->data(), section.size_bytes);
  }
  for (const Elf::Shdr& header : headers_) {
    if (header.sh_type != SHT_RELA && header.sh_type != SHT_REL) continue;
    KM_TRY(relocate_section(memory, header));
  }
  return {};
}

Status ElfImage::relocate_section(uint8_t* memory, const Elf::Shdr& relocations) const {
  const Section* target = section_at(relocations.sh_info);
  if (!target) return {};  // the section is debug information, which is not loaded
  if (relocations.sh_type == SHT_REL) return bad("relocations without addends");
  llvm::Expected<Elf::RelaRange> list = file_.relas(relocations);
  if (!list) return bad(list.takeError());
  for (const Elf::Rela& relocation : *list) KM_TRY(relocate_one(memory, *target, relocation));
  return {};
}

Status ElfImage::relocate_one(uint8_t* memory, const Section& target,
                              const Elf::Rela& relocation) const {
  const uint32_t type = relocation.getType(/*isMips64EL=*/false);
  const uint32_t index = relocation.getSymbol(/*isMips64EL=*/false);
  const std::optional<uint64_t> width = relocated_bytes(type);
  if (!width) return bad("relocation " + relocation_name(type));
  if (*width == 0) return {};
  const uint64_t at = relocation.r_offset;
  if (at > target.size_bytes || target.size_bytes - at < *width) {
    return bad("a relocation lies outside of its section");
  }
  if (index >= symbols_.size()) return bad("a relocation names no symbol");
  KM_ASSIGN(const Symbol symbol, resolve(symbols_[index]));
  uint8_t* const place = memory + target.offset + at;
  const uint64_t wanted = symbol.offset + static_cast<uint64_t>(int64_t{relocation.r_addend});
  if (!relocate(place, type, target.offset + at, wanted)) return bad("a reference leads too far");
  return {};
}

}  // namespace km::simt
