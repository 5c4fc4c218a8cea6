// Maps an instruction's address to its PTX line, with the object's DWARF line table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "simt/object/elf_image.h"

namespace km::simt {

struct LineRow {
  uint64_t offset = 0;  // offset in the image
  uint32_t line = 0, column = 0;
  bool is_end = false;    // no line is known from here on
  uint32_t sequence = 0;  // rank of the sequence in the table
};

/// All rows in ascending order; empty if the object has no line table or a corrupt one.
std::vector<LineRow> read_line_table(std::span<const uint8_t> object,
                                     std::span<const ElfImage::Section> sections);

}  // namespace km::simt
