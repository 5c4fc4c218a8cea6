// Integer operations of PTX in plain C++, bit by bit from the manual's definitions.
#pragma once

#include <cstdint>

namespace km::kernels {

uint64_t multiply_high(uint64_t a, uint64_t b);
uint64_t multiply_high_signed(int64_t a, int64_t b);
/// Bit 0 becomes bit 63.
uint64_t reverse_bits(uint64_t value);
/// prmt.b32 without a mode: four selectors of four bits, bit 3 replicates the byte's sign.
uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t selectors);
/// prmt.b32 with mode 1..6: f4e, b4e, rc8, ecl, ecr, rc16.
uint32_t permute_bytes_mode(uint32_t a, uint32_t b, uint32_t control, int mode);
/// bfe of `width` bits: of 32 bits, the low 8 bits of position and length count; of 64, all do.
uint64_t extract_bits(uint64_t value, uint32_t position, uint32_t length, int width,
                      bool is_signed);
/// bfi of `width` bits: `field` into `base`.
uint64_t insert_bits(uint64_t field, uint64_t base, uint32_t position, uint32_t length, int width);
/// lop3: bit k of the table is the result for inputs k = a:b:c.
uint32_t combine_bits(uint32_t a, uint32_t b, uint32_t c, uint32_t table);

}  // namespace km::kernels
