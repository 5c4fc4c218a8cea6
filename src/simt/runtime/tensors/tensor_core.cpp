#include "simt/runtime/tensors/tensor_core.h"

#include <cstring>

#include "simt/runtime/mma_fast_tile.h"
#include "simt/runtime/tensors/tensor_core_scaled.h"
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

/// The columns of D from one on in the same group: lanes and column of the first of them.
struct Columns {
  uint32_t first_lane, column;
};

Columns columns_from(const Product& product, uint32_t column) {
  const uint32_t across = product.plan.group_columns(), group = column / across;
  return {tensor_lane(product.operands.d) + group * product.plan.group_lanes(),
          tensor_column(product.operands.d) + column % across};
}

/// The words of D of a row of a block.
uint32_t* sums_of(const Product& product, TensorStorage& storage, const Columns& at, uint32_t row) {
  return storage.lane(at.first_lane + product.plan.lane_of(row)) + at.column;
}

/// True if the row of D stays as it is. `block` is the place in the pair.
bool is_disabled(const Product& product, uint32_t block, const Columns& at, uint32_t row) {
  if (!product.form.disables_lanes) return false;
  const uint32_t bit = block * kTensorLanes + at.first_lane + product.plan.lane_of(row);
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
  const Columns at = columns_from(product, column);
  const bool halves = product.tile.d == MmaType::f16;
  for (uint32_t i = 0; i < kTileRows; ++i) {
    const uint32_t* words = sums_of(product, storage, at, row + i);
    float* to = sums + i * n;
    if (!halves) std::memcpy(to, words, n * sizeof(float));
    for (uint32_t j = 0; halves && j < n; ++j) {
      to[j] = std::bit_cast<float>(tensor::f16_to_f32(words[j] & 0xffff));
    }
  }
  if (product.form.scale_d == 0) return;
  const auto scale = std::bit_cast<float>((127u - product.form.scale_d) << 23);
  for (uint32_t i = 0; i < kTileRows * n; ++i) sums[i] *= scale;
}

void store_sums(const Product& product, TensorStorage& storage, uint32_t block, uint32_t row,
                uint32_t column, const float* sums) {
  const uint32_t n = product.tile.n;
  const Columns at = columns_from(product, column);
  const bool halves = product.tile.d == MmaType::f16;
  for (uint32_t i = 0; i < kTileRows; ++i) {
    if (is_disabled(product, block, at, row + i)) continue;
    uint32_t* words = sums_of(product, storage, at, row + i);
    const float* from = sums + i * n;
    if (!halves) std::memcpy(words, from, n * sizeof(float));
    for (uint32_t j = 0; halves && j < n; ++j) words[j] = tensor::f16_nearest(from[j]);
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
  const uint32_t width = widened_bytes(k, product.plan.b);
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
  const uint32_t k = product.tile.stored_k(), width = widened_bytes(k, product.plan.a);
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

/// The rows of B that the stored elements of 16 rows of a sparse A meet.
void find_sparse_columns(const Product& product, TensorStorage& storage, uint32_t row,
                         tensor::Columns* columns) {
  const uint32_t stored = product.tile.stored_k();
  columns->stride = stored;
  for (uint32_t i = 0; i < kTileRows; ++i) {
    for (uint32_t t = 0; t < stored; ++t) {
      columns->index[i * stored + t] = static_cast<uint8_t>(
          sparse_column(product.plan, storage, product.operands.metadata, row + i, t));
    }
  }
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
  if (!plan.sparse) tensor::find_columns(product.tile, nullptr, &tile.columns);
  for (uint32_t row = 0; row < plan.rows(); row += kTileRows) {
    bool special = b_is_special;
    if (plan.sparse) find_sparse_columns(product, storage, row, &tile.columns);
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

/// One row of A by all columns of B, whose numbers lie k after k. `rows` are the k that the `count`
/// elements of A meet.
KM_MMA_INLINE void sum_integers(const int32_t* a, const uint8_t* rows, uint32_t count,
                                const int16_t* b, uint32_t n, int32_t* sums) {
  constexpr uint32_t kAtOnce = 8;
  for (uint32_t j = 0; j < n; j += kAtOnce) {
    tensor::Ints sum = {};
    for (uint32_t t = 0; t < count; ++t) {
      using Shorts [[gnu::vector_size(16)]] = int16_t;
      Shorts some;
      std::memcpy(&some, b + rows[t] * n + j, sizeof some);
      sum += __builtin_convertvector(some, tensor::Ints) * a[t];
    }
    std::memcpy(sums + j, &sum, sizeof sum);
  }
}
KM_MMA_WIDE void sum_integers_wide(const int32_t* a, const uint8_t* rows, uint32_t count,
                                   const int16_t* b, uint32_t n, int32_t* sums) {
  sum_integers(a, rows, count, b, n, sums);
}

/// Adds the products of a row to D.
void add_integers(const Product& product, TensorStorage& storage, uint32_t block, uint32_t row,
                  const int32_t* sums) {
  const uint32_t across = product.plan.group_columns();
  for (uint32_t first = 0; first < product.plan.n; first += across) {
    const Columns at = columns_from(product, first);
    if (is_disabled(product, block, at, row)) continue;
    uint32_t* words = sums_of(product, storage, at, row);
    for (uint32_t j = 0; j < across; ++j) {
      const auto before = product.operands.adds ? static_cast<int32_t>(words[j]) : 0;
      const int64_t sum = int64_t{before} + sums[first + j];
      const int64_t cut = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
      words[j] = static_cast<uint32_t>(product.plan.saturates ? cut : sum);
    }
  }
}

/// Multiplies the rows of one block.
void multiply_rows(const Product& product, uint32_t block, TensorStorage& storage) {
  const TensorProductPlan& plan = product.plan;
  const uint32_t count = plan.stored_k();
  const auto* b = reinterpret_cast<const int16_t*>(product.scratch->values);
  for (uint32_t row = 0; row < plan.rows(); ++row) {
    int32_t a[kMostTensorK], sums[kMostTensorColumns];
    uint8_t rows[kMostTensorK];
    for (uint32_t t = 0; t < count; ++t) {
      a[t] = integer_at(product.tile.a, product.scratch->a[row * count + t]);
      rows[t] = static_cast<uint8_t>(
          plan.sparse ? sparse_column(plan, storage, product.operands.metadata, row, t) : t);
    }
    if (product.form.wide) {
      sum_integers_wide(a, rows, count, b, plan.n, sums);
    } else {
      sum_integers(a, rows, count, b, plan.n, sums);
    }
    add_integers(product, storage, block, row, sums);
  }
}

TensorProblem multiply_integers(const Product& product, const TensorBlock* blocks) {
  const TensorProductPlan& plan = product.plan;
  auto* b = reinterpret_cast<int16_t*>(product.scratch->values);
  for (uint32_t column = 0; column < plan.n; ++column) {
    for (uint32_t t = 0; t < plan.k; ++t) {
      b[t * plan.n + column] =
          static_cast<int16_t>(integer_at(product.tile.b, product.scratch->b[column * plan.k + t]));
    }
  }
  for (uint32_t i = 0; i < plan.blocks; ++i) {
    const TensorProblem problem =
        stage_a(product.form, plan, product.operands, blocks[i], product.scratch);
    if (problem != TensorProblem::none) return problem;
    multiply_rows(product, i, *blocks[i].storage);
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
  tile.sparse = plan.sparse;
  // The memory of tiles has 512 elements of B.
  tile.n = plan.group_columns() % 16 == 0 && plan.k <= 32 ? 16 : 8;
  tile.wide = form.wide;
  return tile;
}

TensorProblem check_sums(const TensorProductPlan& plan, const TensorCoreOperands& operands,
                         const TensorStorage& storage) {
  const uint32_t d = operands.d, lane = tensor_lane(d), metadata = operands.metadata;
  if (plan.sparse) {
    if (tensor_lane(metadata) != 0) return TensorProblem::lane_alignment;
    const uint32_t columns = element_bits(plan.a) <= 8 ? 2 : plan.selector + 1;
    if (!storage.has(tensor_column(metadata), columns)) return TensorProblem::not_allocated;
  }
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
      metadata(static_cast<uint32_t>(slots.metadata[lane])),
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
    problem = check_sums(plan, operands, *blocks[i].storage);
  }
  if (problem != TensorProblem::none) return problem;
  TensorCoreScratch* const scratch = blocks[0].storage->scratch();
  problem = stage_b(form, plan, operands, blocks, scratch);
  if (problem != TensorProblem::none) return problem;
  if (form.block_size != 0) return multiply_scaled(form, plan, operands, blocks, scratch);
  const Product product{form, plan, operands, rule, scratch, tile_of(form, plan)};
  if (plan.d == MmaType::s32) return multiply_integers(product, blocks);
  if (rule.fast) return multiply_reals<FastTile, float>(product, blocks);
  if (plan.a == FactorElement::bf16 || plan.b == FactorElement::bf16 ||
      plan.a == FactorElement::tf32) {
    return multiply_reals<RealTile<double>, double>(product, blocks);
  }
  return multiply_reals<RealTile<float>, float>(product, blocks);
}

MmaRule tensor_core_rule() { return {25, 32, false}; }

}  // namespace km::simt
