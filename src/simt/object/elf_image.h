// The sections of a relocatable object that are loaded into memory: their offsets in one contiguous
// image, instructions first, and their relocations. It does not trust the file.
#pragma once

#include <llvm/Object/ELF.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/arch/constants.h"
#include "base/result.h"

namespace km::simt {

/// Images are loaded by pages.
constexpr uint64_t kPageBytes = arch::kMostPageBytes;

class ElfImage {
 public:
  struct Symbol {
    uint64_t offset = 0;       // offset in the image
    uint64_t bytes_after = 0;  // distance to the end of its section
    bool is_code = false;
  };
  struct Section {
    uint32_t index = 0;  // index in the file
    uint64_t offset = 0, size_bytes = 0;
    bool is_code = false;
  };

  /// Parses an object, which must outlive the image. KM_ERROR_COMPILER for anything that is not a
  /// closed x86-64 relocatable object without writable data.
  static Result<ElfImage> parse(std::span<const uint8_t> object);

  /// The image's size: pages of instructions, followed by pages of constants.
  uint64_t size_bytes() const { return size_bytes_; }
  uint64_t code_bytes() const { return code_bytes_; }  // a multiple of the page size
  std::span<const Section> sections() const { return sections_; }

  /// Copies the sections to `memory` (zeroed, size_bytes() long) and relocates them for that
  /// address.
  Status place(uint8_t* memory) const;

  /// A global symbol; KM_ERROR_NOT_FOUND if the object does not define it.
  Result<Symbol> find(std::string_view name) const;

  /// The sum of the stack frames of all functions, which is enough for any calls without recursion.
  Result<uint64_t> stack_bytes() const;

 private:
  using Elf = llvm::object::ELF64LE;
  using File = llvm::object::ELFFile<Elf>;

  explicit ElfImage(File file) : file_(std::move(file)) {}
  Status read_sections();
  Status add_section(uint32_t index, const Elf::Shdr& header);
  Status lay_out();
  Status read_symbols();
  const Section* section_at(uint32_t index) const;
  Result<Symbol> resolve(const Elf::Sym& symbol) const;
  Status relocate_section(uint8_t* memory, const Elf::Shdr& relocations) const;
  Status relocate_one(uint8_t* memory, const Section& target, const Elf::Rela& relocation) const;

  File file_;
  Elf::ShdrRange headers_;
  Elf::SymRange symbols_;
  llvm::StringRef names_;
  std::vector<Section> sections_;
  uint64_t size_bytes_ = 0, code_bytes_ = 0;
};

}  // namespace km::simt
