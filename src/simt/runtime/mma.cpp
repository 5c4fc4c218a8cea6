#include "simt/runtime/mma.h"

#include <cstring>

#include "simt/runtime/mma_tile.h"

namespace km::simt {

// The rules come from MMA-Sim (arXiv 2511.10909), which found them by probing devices.
MmaRule mma_rule(uint32_t major, uint32_t minor, MmaType multiplicand) {
  if (major >= 9) return {25, 32, false};
  if (major == 8) {
    const bool fp8 = multiplicand == MmaType::e4m3 || multiplicand == MmaType::e5m2;
    return fp8 ? MmaRule{13, 16, true} : MmaRule{24, 16, false};
  }
  return major == 7 && minor >= 5 ? MmaRule{24, 16, false} : MmaRule{23, 8, false};
}

void mma(const MmaForm& form, const MmaRule& rule, const uint32_t* operands, uint32_t* results) {
  switch (form.a) {
    case MmaType::f64:
      return tensor::multiply_doubles(form, operands, results);
    case MmaType::b1:
      return tensor::multiply_bits(form, operands, results);
    case MmaType::s8:
    case MmaType::u8:
    case MmaType::s4:
    case MmaType::u4:
      return tensor::multiply_integers(form, operands, results);
    default:
      return tensor::multiply_reals(form, rule, operands, results);
  }
}

void mma_in_memory(const MmaForm& form, const MmaRule& rule, const uint32_t* places,
                   uint8_t* fragments) {
  constexpr uint32_t kMostRegisters = 17, kMostWords = 2 * 32;  // m16n8k16 of f64 has 16
  alignas(64) uint32_t operands[kMostRegisters * kMostWords];
  const uint32_t count = form.a_registers + form.b_registers + form.c_registers + form.sparse;
  const uint32_t words = form.a == MmaType::f64 ? 64 : 32;
  for (uint32_t i = 0; i < count; ++i) {
    std::memcpy(operands + i * words, fragments + places[i], words * sizeof(uint32_t));
  }
  mma(form, rule, operands, reinterpret_cast<uint32_t*>(fragments + places[count]));
}

namespace tensor {
namespace {

/// The four metadata bits for chunk `index` of row `row` of A. Lanes 4 * g to 4 * g + 3 hold rows g
/// and g + 8 (PTX ISA 9.7.14.6.2): as halves of one word or, for narrow elements, in separate
/// words.
uint32_t metadata_of(const MmaForm& form, const uint32_t* metadata, uint32_t row, uint32_t index) {
  const uint32_t* group = metadata + 4 * (row % 8);
  const uint32_t low = row / 8;
  if (element_bits(form.a) >= 16) {
    const bool one_word = form.stored_k() * element_bits(form.a) == 128;
    const uint32_t lane = one_word ? form.selector : 2u * form.selector + index / 4;
    return group[lane % 4] >> (16 * low + 4 * (index % 4)) & 15;
  }
  const uint32_t lane = 2 * (form.selector + index / 8) + low;
  return group[lane % 4] >> (4 * (index % 8)) & 15;
}

/// The column of A that stored element `index` of a row belongs to.
uint32_t column_of(const MmaForm& form, const uint32_t* metadata, uint32_t row, uint32_t index) {
  switch (element_bits(form.a)) {
    case 32:  // one of 2 elements is stored
      return 2 * index + (metadata_of(form, metadata, row, index) >> 1 & 1);
    case 4: {  // 2 of 4 pairs are stored
      const uint32_t chunk = index / 4, place = index / 2 % 2;
      const uint32_t pair = metadata_of(form, metadata, row, chunk) >> (2 * place) & 3;
      return 8 * chunk + 2 * pair + index % 2;
    }
    default: {  // 2 of 4 elements are stored
      const uint32_t chunk = index / 2, place = index % 2;
      return 4 * chunk + (metadata_of(form, metadata, row, chunk) >> (2 * place) & 3);
    }
  }
}

}  // namespace

void find_columns(const MmaForm& form, const uint32_t* metadata, Columns* columns) {
  const uint32_t stored = form.stored_k();
  if (!form.sparse) {
    columns->stride = 0;
    for (uint32_t t = 0; t < stored; ++t) columns->index[t] = static_cast<uint8_t>(t);
    return;
  }
  columns->stride = stored;
  for (uint32_t row = 0; row < form.m; ++row) {
    for (uint32_t t = 0; t < stored; ++t) {
      const uint32_t column = column_of(form, metadata, row, t);
      columns->index[row * stored + t] = static_cast<uint8_t>(column);
    }
  }
}

}  // namespace tensor
}  // namespace km::simt
