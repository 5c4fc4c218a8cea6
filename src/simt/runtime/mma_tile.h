// Converts fragments to matrices, for all families of mma.
#pragma once

#include <cstdint>

#include "base/arch/attributes.h"
#include "simt/abi.h"
#include "simt/runtime/mma.h"

/// For functions that are compiled for several instruction sets: they become part of their callers.
#define KM_MMA_INLINE inline __attribute__((always_inline))
/// For a function that MmaForm::wide asks for.
#define KM_MMA_WIDE KM_WIDE_TARGET

namespace km::simt::tensor {

constexpr uint32_t kMaxStored = 1024;  // elements of A: m16n8k128, sparse s4
constexpr uint32_t kMaxSums = 256;     // elements of D: 16 x 16
constexpr uint32_t kBlockRows = 8;

/// The first register of each operand.
struct Registers {
  const uint32_t *a, *b, *c, *metadata;
};
inline Registers registers_of(const MmaForm& form, const uint32_t* operands) {
  const uint32_t words = form.a == MmaType::f64 ? 2 * kWarpLanes : kWarpLanes;
  const uint32_t* b = operands + form.a_registers * words;
  const uint32_t* c = b + form.b_registers * words;
  return {operands, b, c, c + form.c_registers * words};
}

/// The row of B that each stored element of A is multiplied with: the same for all rows of A or, in
/// sparse forms, given by the metadata.
struct Columns {
  uint8_t index[kMaxStored];
  uint32_t stride = 0;  // distance between rows of A
  const uint8_t* row(uint32_t i) const { return index + i * stride; }
};
void find_columns(const MmaForm& form, const uint32_t* metadata, Columns* columns);

// The products of each family of types.
void multiply_reals(const MmaForm& form, const MmaRule& rule, const uint32_t* operands,
                    uint32_t* results);
void multiply_fast(const MmaForm& form, const uint32_t* operands, uint32_t* results);
void multiply_quads(const MmaForm& form, const MmaRule& rule, const uint32_t* operands,
                    uint32_t* results);
void multiply_integers(const MmaForm& form, const uint32_t* operands, uint32_t* results);
void multiply_bits(const MmaForm& form, const uint32_t* operands, uint32_t* results);
void multiply_doubles(const MmaForm& form, const uint32_t* operands, uint32_t* results);

}  // namespace km::simt::tensor
