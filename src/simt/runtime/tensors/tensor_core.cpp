#include "simt/runtime/tensors/tensor_core.h"

#include <cstring>

#include "simt/runtime/mma_fast_tile.h"
#include "simt/runtime/tensors/tensor_operands.h"

namespace km::simt {
namespace {

using tensor::FastTile;
using tensor::RealTile;

constexpr uint32_t kTileRows = 16;

/// A product whose operands are staged.
struct Product {
  const TensorCoreForm& form;
  const TensorProductPlan& plan;
  const TensorCoreOperands& operands;
  const MmaRule& rule;
  TensorCoreScratch* scratch;
  MmaForm tile;  // 16 rows, and 8 or 16 columns
};

/// The word of D of a row of a block and a column.
uint32_t* sum_at(const Product& product, TensorStorage& storage, uint32_t row, uint32_t column) {
  const TensorProductPlan& plan = product.plan;
  const uint32_t group = column / plan.group_columns();
  const uint32_t lane = tensor_lane(product.operands.d) + plan.lane_of(row);
  return storage.lane(lane + group * plan.group_lanes()) + tensor_column(product.operands.d) +
         column % plan.group_columns();
}

/// True if the row of D in this group stays as it is. `block` is the place in the pair.
bool is_disabled(const Product& product, uint32_t block, uint32_t row, uint32_t column) {
  if (!product.form.disables_lanes) return false;
  const TensorProductPlan& plan = product.plan;
  const uint32_t lane = tensor_lane(product.operands.d) + plan.lane_of(row) +
                        column / plan.group_columns() * plan.group_lanes();
  const uint32_t bit = block * kTensorLanes + lane;
  return (product.operands.disabled[bit / 32] >> bit % 32 & 1) != 0;
}

/// The sums of a tile as they are before the product.
void load_sums(const Product& product, TensorStorage& storage, uint32_t row, uint32_t column,
               float* sums) {
  const uint32_t n = product.tile.n;
  if (!product.operands.adds) {
    std::memset(sums, 0, kTileRows * n * sizeof(float));
    return;
  }
  const auto scale = std::bit_cast<float>((127u - product.form.scale_d) << 23);
  for (uint32_t i = 0; i < kTileRows; ++i) {
    const uint32_t* words = sum_at(product, storage, row + i, column);
    for (uint32_t j = 0; j < n; ++j) {
      const uint32_t bits =
          product.tile.d == MmaType::f16 ? tensor::f16_to_f32(words[j] & 0xffff) : words[j];
      sums[i * n + j] = std::bit_cast<float>(bits) * scale;
    }
  }
}

void store_sums(const Product& product, TensorStorage& storage, uint32_t block, uint32_t row,
                uint32_t column, const float* sums) {
  const uint32_t n = product.tile.n;
  for (uint32_t i = 0; i < kTileRows; ++i) {
    if (is_disabled(product, block, row + i, column)) continue;
    uint32_t* words = sum_at(product, storage, row + i, column);
    for (uint32_t j = 0; j < n; ++j) {
      const float sum = sums[i * n + j];
      words[j] =
          product.tile.d == MmaType::f16 ? tensor::f16_nearest(sum) : std::bit_cast<uint32_t>(sum);
    }
  }
}

/// Eight elements of a row, from their bytes.
template <MmaType kType, class Tile>
KM_MMA_INLINE bool convert(const uint8_t* bytes, uint32_t index, float* values,
                           int32_t* exponents) {
  tensor::Ints raw, special = {};
  tensor::load_raw<kType>(reinterpret_cast<const uint32_t*>(bytes), index, &raw);
  tensor::widen<kType>(&raw);
  if constexpr (Tile::kExact) {
    tensor::take<kType>(raw, values, exponents, &special);
  } else {
    std::memcpy(values, &raw, sizeof raw);
  }
  int32_t any = 0;
  for (uint32_t i = 0; i < 8; ++i) any |= special[i];
  return any != 0;
}

/// The numbers of B of all tiles of columns, each k after k; true if some are not finite.
template <MmaType kType, class Tile, class Real>
bool convert_b(const Product& product, Real* values, int32_t* exponents) {
  const uint32_t n = product.tile.n, k = product.tile.k;
  const uint32_t width = widened_bytes(product.plan, product.plan.b);
  bool special = false;
  for (uint32_t column = 0; column < product.plan.n; ++column) {
    const uint8_t* bytes = product.scratch->b + column * width;
    const uint32_t first = column / n * n * k + column % n;
    for (uint32_t t = 0; t < k; t += 8) {
      float some[8];
      int32_t powers[8];
      special |= convert<kType, Tile>(bytes, t, some, powers);
      for (uint32_t e = 0; e < 8; ++e) {
        values[first + (t + e) * n] = some[e];
        if constexpr (Tile::kExact) exponents[first + (t + e) * n] = powers[e];
      }
    }
  }
  return special;
}

/// The numbers of 16 rows of A.
template <MmaType kType, class Tile>
bool convert_a(const Product& product, uint32_t row, Tile* tile) {
  const uint32_t k = product.tile.k, width = widened_bytes(product.plan, product.plan.a);
  bool special = false;
  for (uint32_t i = 0; i < kTileRows; ++i) {
    const uint8_t* bytes = product.scratch->a + (row + i) * width;
    for (uint32_t t = 0; t < k; t += 8) {
      float some[8];
      int32_t powers[8];
      special |= convert<kType, Tile>(bytes, t, some, powers);
      for (uint32_t e = 0; e < 8; ++e) {
        tile->a[i * k + t + e] = some[e];
        if constexpr (Tile::kExact) tile->a_exponent[i * k + t + e] = powers[e];
      }
    }
  }
  return special;
}

void sum_tile(const Product& product, RealTile<float>* tile) {
  tensor::sum_reals(product.tile, product.rule, tile);
}
void sum_tile(const Product& product, RealTile<double>* tile) {
  tensor::sum_reals(product.tile, product.rule, tile);
}
void sum_tile(const Product& product, FastTile* tile) { tensor::sum_fast(product.tile, tile); }

/// Multiplies the rows of one block by all columns, whose numbers are converted.
template <class Tile, class Real>
void multiply_block(const Product& product, uint32_t block, TensorStorage& storage,
                    bool b_is_special) {
  const TensorProductPlan& plan = product.plan;
  const uint32_t n = product.tile.n, size = product.tile.k * n;
  const auto* values = reinterpret_cast<const Real*>(product.scratch->values);
  Tile tile;
  tensor::find_columns(product.tile, nullptr, &tile.columns);
  for (uint32_t row = 0; row < plan.rows(); row += kTileRows) {
    bool special = b_is_special;
    tensor::by_type(product.tile.a,
                    [&]<MmaType kType>() { special |= convert_a<kType>(product, row, &tile); });
    for (uint32_t column = 0; column < plan.n; column += n) {
      const uint32_t first = column * product.tile.k;
      std::memcpy(tile.b, values + first, size * sizeof(Real));
      if constexpr (Tile::kExact) {
        std::memcpy(tile.b_exponent, product.scratch->exponents + first, size * sizeof(int32_t));
        tile.special = special;
      }
      load_sums(product, storage, row, column, tile.sums);
      sum_tile(product, &tile);
      store_sums(product, storage, block, row, column, tile.sums);
    }
  }
}

/// Converts B once, then multiplies each block's rows.
template <class Tile, class Real>
TensorProblem multiply_reals(const Product& product, const TensorBlock* blocks) {
  auto* values = reinterpret_cast<Real*>(product.scratch->values);
  bool special = false;
  tensor::by_type(product.tile.b, [&]<MmaType kType>() {
    special = convert_b<kType, Tile>(product, values, product.scratch->exponents);
  });
  for (uint32_t i = 0; i < product.plan.blocks; ++i) {
    const TensorProblem problem =
        stage_a(product.form, product.plan, product.operands, blocks[i], product.scratch);
    if (problem != TensorProblem::none) return problem;
    multiply_block<Tile, Real>(product, i, *blocks[i].storage, special);
  }
  return TensorProblem::none;
}

int32_t integer_at(MmaType type, uint8_t byte) {
  return type == MmaType::s8 ? static_cast<int8_t>(byte) : byte;
}

/// One row of A by all columns of B, whose bytes lie k after k.
KM_MMA_INLINE void sum_integers(const int32_t* a, const int16_t* b, uint32_t k, uint32_t n,
                                int32_t* sums) {
  for (uint32_t j = 0; j < n; ++j) sums[j] = 0;
  for (uint32_t t = 0; t < k; ++t) {
    for (uint32_t j = 0; j < n; ++j) sums[j] += a[t] * b[t * n + j];
  }
}
KM_MMA_WIDE void sum_integers_wide(const int32_t* a, const int16_t* b, uint32_t k, uint32_t n,
                                   int32_t* sums) {
  sum_integers(a, b, k, n, sums);
}

void add_integers(const Product& product, TensorStorage& storage, uint32_t block, uint32_t row,
                  const int32_t* sums) {
  for (uint32_t column = 0; column < product.plan.n; ++column) {
    if (is_disabled(product, block, row, column)) continue;
    uint32_t* word = sum_at(product, storage, row, column);
    const int32_t before = product.operands.adds ? static_cast<int32_t>(*word) : 0;
    int64_t sum = int64_t{before} + sums[column];
    if (product.plan.saturates)
      sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
    *word = static_cast<uint32_t>(sum);
  }
}

TensorProblem multiply_integers(const Product& product, const TensorBlock* blocks) {
  const TensorProductPlan& plan = product.plan;
  const uint32_t n = plan.n, k = plan.k;
  auto* b = reinterpret_cast<int16_t*>(product.scratch->values);
  for (uint32_t column = 0; column < n; ++column) {
    for (uint32_t t = 0; t < k; ++t) {
      b[t * n + column] =
          static_cast<int16_t>(integer_at(product.tile.b, product.scratch->b[column * k + t]));
    }
  }
  for (uint32_t i = 0; i < plan.blocks; ++i) {
    const TensorProblem problem =
        stage_a(product.form, plan, product.operands, blocks[i], product.scratch);
    if (problem != TensorProblem::none) return problem;
    for (uint32_t row = 0; row < plan.rows(); ++row) {
      int32_t a[kMostTensorK], sums[kMostTensorColumns];
      for (uint32_t t = 0; t < k; ++t) {
        a[t] = integer_at(product.tile.a, product.scratch->a[row * k + t]);
      }
      if (product.form.wide) {
        sum_integers_wide(a, b, k, n, sums);
      } else {
        sum_integers(a, b, k, n, sums);
      }
      add_integers(product, *blocks[i].storage, i, row, sums);
    }
  }
  return TensorProblem::none;
}

/// The tile of a product: 16 columns, or 8 if those of a group are no multiple of 16.
MmaForm tile_of(const TensorCoreForm& form, const TensorProductPlan& plan) {
  MmaForm tile;
  tile.a = widened_type(plan.a);
  tile.b = widened_type(plan.b);
  tile.c = tile.d = plan.d;
  tile.m = kTileRows;
  tile.k = static_cast<uint16_t>(plan.k);
  tile.n = plan.group_columns() % 16 == 0 ? 16 : 8;
  tile.wide = form.wide;
  return tile;
}

TensorProblem check_sums(const TensorProductPlan& plan, uint32_t d, const TensorStorage& storage) {
  const uint32_t lane = tensor_lane(d);
  const bool is_aligned = lane == 0 || (plan.half_lanes && lane == 16);
  if (!is_aligned) return TensorProblem::lane_alignment;
  const bool has = storage.has(tensor_column(d), plan.group_columns());
  return has ? TensorProblem::none : TensorProblem::not_allocated;
}

}  // namespace

TensorCoreOperands::TensorCoreOperands(const TensorCoreForm& form, const TensorCoreSlots& slots,
                                       uint32_t lane)
    : d(static_cast<uint32_t>(slots.target[lane])),
      a(slots.a[lane]),
      b(slots.b[lane]),
      instruction(static_cast<uint32_t>(slots.instruction[lane])),
      scale_a(static_cast<uint32_t>(slots.scale_a[lane])),
      scale_b(static_cast<uint32_t>(slots.scale_b[lane])),
      adds(slots.adds[lane] != 0),
      zero_columns(slots.zero_columns[lane]) {
  for (uint32_t i = 0; form.disables_lanes && i < kTensorMaskWords; ++i) {
    disabled[i] = static_cast<uint32_t>(slots.disabled[i][lane]);
  }
}

TensorProblem multiply_tensors(const TensorCoreForm& form, const MmaRule& rule,
                               const TensorCoreOperands& operands, const TensorBlock* blocks) {
  TensorProductPlan plan;
  TensorProblem problem = plan_product(form, operands.instruction, &plan);
  for (uint32_t i = 0; i < plan.blocks && problem == TensorProblem::none; ++i) {
    problem = check_sums(plan, operands.d, *blocks[i].storage);
  }
  if (problem != TensorProblem::none) return problem;
  TensorCoreScratch* const scratch = blocks[0].storage->scratch();
  problem = stage_b(form, plan, operands, blocks, scratch);
  if (problem != TensorProblem::none) return problem;
  const Product product{form, plan, operands, rule, scratch, tile_of(form, plan)};
  if (plan.d == MmaType::s32) return multiply_integers(product, blocks);
  if (rule.fast) return multiply_reals<FastTile, float>(product, blocks);
  if (plan.a == TensorElement::bf16 || plan.b == TensorElement::bf16 ||
      plan.a == TensorElement::tf32) {
    return multiply_reals<RealTile<double>, double>(product, blocks);
  }
  return multiply_reals<RealTile<float>, float>(product, blocks);
}

MmaRule tensor_core_rule() { return {25, 32, false}; }

}  // namespace km::simt
