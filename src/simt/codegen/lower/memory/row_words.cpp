// The part of RowTranspose for rows of 8-bit and 16-bit elements. Each row is one or two integers,
// from which shifts extract the elements: LLVM merges these with the kernel's own conversions. Byte
// shuffles would be slow to compile, a tenth of a second for 32 rows of eight bytes.
#include <algorithm>

#include "simt/codegen/lower/lanes/integer_parts.h"
#include "simt/codegen/lower/memory/row_transpose.h"

namespace km::simt {

/// The size of the integers that make up a row; 0 if elements have 32 bits or more, or rows have
/// another size than such integers.
uint32_t RowTranspose::word_bytes(const Access& access) const {
  const auto size = static_cast<uint32_t>(ptx::size_bytes(access.type));
  const uint32_t row = access.count * size;
  const bool fills = row == 4 || row == 8 || row == 16;
  return size < 4 && fills ? std::min(row, 8u) : 0;
}

std::vector<llvm::Value*> RowTranspose::load_words(const Access& access,
                                                   const std::vector<Value*>& pointers) {
  const auto size = static_cast<uint32_t>(ptx::size_bytes(access.type));
  const uint32_t word = word_bytes(access);
  auto* const type = b_.getIntNTy(8 * word);
  std::vector<Value*> columns;
  for (uint32_t at = 0; at < access.count * size; at += word) {
    Value* words = llvm::PoisonValue::get(vector_of(type));
    for (uint32_t l = 0; l < lanes_; ++l) {
      Value* place = b_.CreateConstGEP1_32(b_.getInt8Ty(), pointers[l], at);
      words =
          b_.CreateInsertElement(words, b_.CreateAlignedLoad(type, place, llvm::Align(size)), l);
    }
    for (Value* element : parts_of(b_, words, 8 * size)) {
      columns.push_back(builder_.as_type(element, type_of(access.type)));
    }
  }
  return columns;
}

void RowTranspose::store_words(const Access& access, const std::vector<Value*>& columns,
                               const std::vector<Value*>& pointers) {
  const auto size = static_cast<uint32_t>(ptx::size_bytes(access.type));
  const uint32_t word = word_bytes(access), elements = word / size;
  std::vector<Value*> parts, words;
  for (Value* column : columns) parts.push_back(builder_.as_type(column, b_.getIntNTy(8 * size)));
  for (uint32_t first = 0; first < access.count; first += elements) {
    words.push_back(joined(b_, std::span(parts).subspan(first, elements), 8 * word));
  }
  // Each lane stores its whole row before the next lane does, so the highest lane wins if rows
  // overlap.
  for (uint32_t l = 0; l < lanes_; ++l) {
    for (uint32_t w = 0; w < words.size(); ++w) {
      Value* place = b_.CreateConstGEP1_32(b_.getInt8Ty(), pointers[l], w * word);
      b_.CreateAlignedStore(b_.CreateExtractElement(words[w], l), place, llvm::Align(size));
    }
  }
}

}  // namespace km::simt
