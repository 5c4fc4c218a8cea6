// mma.m8n8k4 of f16, Volta's form: each quad pair of lanes computes its own product. Quad pair q
// consists of lanes 4 * q to 4 * q + 3 and the lanes 16 above them; layouts are those of PTX ISA
// 9.7.14.5.1.
#include "simt/runtime/mma_real_tile.h"

namespace km::simt::tensor {
namespace {

constexpr uint32_t kQuads = 4, kQuadLanes = 8, kSide = 8, kDepth = 4;

/// Lane `index` of quad pair `quad`; indices from 4 on are its upper half.
uint32_t lane_of(uint32_t quad, uint32_t index) { return 4 * quad + index % 4 + index / 4 * 16; }

uint32_t half_of(const uint32_t* words, uint32_t index, uint32_t lane) {
  return words[index / 2 * kWarpLanes + lane] >> (16 * (index % 2)) & 0xffff;
}

void load_multiplicands(const MmaForm& form, const Registers& registers, uint32_t quad,
                        RealTile<float>* tile) {
  bool finite = true;
  for (uint32_t index = 0; index < kQuadLanes; ++index) {
    const uint32_t lane = lane_of(quad, index), upper = index / 4 * 4;
    for (uint32_t i = 0; i < kDepth; ++i) {
      const uint32_t row = form.a_by_columns ? i + upper : index;
      const uint32_t depth = form.a_by_columns ? index % 4 : i;
      const uint32_t a = row * kDepth + depth;
      finite &= take_f16(half_of(registers.a, i, lane), tile->a + a, tile->a_exponent + a);
      const uint32_t b = form.b_by_rows ? index % 4 * kSide + i + upper : i * kSide + index;
      finite &= take_f16(half_of(registers.b, i, lane), tile->b + b, tile->b_exponent + b);
    }
  }
  tile->special = !finite;
}

/// The position in C or D of the lane's element i.
uint32_t place_of_sum(MmaType type, uint32_t index, uint32_t i) {
  if (type == MmaType::f16) return index * kSide + i;
  const uint32_t lane = index % 4, upper = index / 4 * 4;
  const uint32_t row = (lane & 1) + (i & 2) + upper, column = (i & 4) + (lane & 2) + (i & 1);
  return row * kSide + column;
}

void load_sums(const MmaForm& form, const uint32_t* c, uint32_t quad, float* sums) {
  for (uint32_t index = 0; index < kQuadLanes; ++index) {
    const uint32_t lane = lane_of(quad, index);
    for (uint32_t i = 0; i < kSide; ++i) {
      const uint32_t bits =
          form.c == MmaType::f16 ? f16_to_f32(half_of(c, i, lane)) : c[i * kWarpLanes + lane];
      sums[place_of_sum(form.c, index, i)] = std::bit_cast<float>(bits);
    }
  }
}

void store_sums(const MmaForm& form, const float* sums, uint32_t quad, uint32_t* results) {
  for (uint32_t index = 0; index < kQuadLanes; ++index) {
    const uint32_t lane = lane_of(quad, index);
    for (uint32_t i = 0; i < kSide; ++i) {
      const float sum = sums[place_of_sum(form.d, index, i)];
      if (form.d != MmaType::f16) {
        results[i * kWarpLanes + lane] = std::bit_cast<uint32_t>(sum);
        continue;
      }
      uint32_t& word = results[i / 2 * kWarpLanes + lane];
      word = i % 2 == 0 ? f16_nearest(sum) : word | f16_nearest(sum) << 16;
    }
  }
}

}  // namespace

void multiply_quads(const MmaForm& form, const MmaRule& rule, const uint32_t* operands,
                    uint32_t* results) {
  const Registers registers = registers_of(form, operands);
  RealTile<float> tile;
  find_columns(form, registers.metadata, &tile.columns);
  for (uint32_t quad = 0; quad < kQuads; ++quad) {
    load_multiplicands(form, registers, quad, &tile);
    load_sums(form, registers.c, quad, tile.sums);
    sum_reals(form, rule, &tile);
    store_sums(form, tile.sums, quad, results);
  }
}

}  // namespace km::simt::tensor
