#include "simt/runtime/tensors/tensor_core_scaled.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "simt/runtime/mma_real_tile.h"

namespace km::simt {
namespace {

using Doubles [[gnu::vector_size(32)]] = double;
using HalfFloats [[gnu::vector_size(16)]] = float;

constexpr uint32_t kMostScales = 4;
constexpr uint32_t kColumnsAtOnce = 4;

/// The numbers of a staged row.
void convert_row(MmaType type, const uint8_t* bytes, uint32_t k, float* values) {
  tensor::by_type(type, [&]<MmaType kType>() {
    for (uint32_t t = 0; t < k; t += 8) {
      tensor::Ints bits;
      tensor::load_raw<kType>(reinterpret_cast<const uint32_t*>(bytes), t, &bits);
      tensor::widen<kType>(&bits);
      std::memcpy(values + t, &bits, sizeof bits);
    }
  });
}

/// A scale of 8 bits: ue8m0, or e4m3 without its sign.
double scale_of(bool is_e4m3, uint32_t code) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (!is_e4m3) return code == 255 ? kNan : std::ldexp(1.0, static_cast<int>(code) - 127);
  const uint32_t field = code >> 3 & 15, fraction = code & 7;
  if (field == 15 && fraction == 7) return kNan;
  return field == 0 ? std::ldexp(fraction, -9)
                    : std::ldexp(fraction + 8, static_cast<int>(field) - 10);
}

/// The scales of rows of A or columns of B: 32 of them in the lanes of each column, with up to four
/// scales in a word.
struct Scales {
  TensorStorage& storage;
  uint32_t address;
  uint32_t byte, count;
  bool is_e4m3;
  bool has_halves;  // from row 128 on in the next 32 lanes

  bool fits(uint32_t rows) const {
    const uint32_t columns = (std::min(rows, has_halves ? 128u : rows) + 31) / 32;
    return tensor_lane(address) == 0 && storage.has(tensor_column(address), columns);
  }
  void read(uint32_t row, double* out) const {
    const uint32_t lane = row % 32 + (has_halves ? row / 128 * 32 : 0);
    const uint32_t column = (has_halves ? row % 128 : row) / 32;
    const uint32_t word = storage.lane(lane)[tensor_column(address) + column];
    for (uint32_t i = 0; i < count; ++i) {
      out[i] = scale_of(is_e4m3, word >> 8 * ((byte + i) % 4) & 255);
    }
  }
};

/// The f32 next to a number toward zero.
float cut_to_f32(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(nearest)) return std::bit_cast<float>(0x7fffffffu);
  if (std::fabs(double{nearest}) <= std::fabs(value) || std::isinf(value)) return nearest;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) - 1);
}

/// A product with scales whose B is converted.
struct Product {
  const TensorCoreForm& form;
  const TensorProductPlan& plan;
  const TensorCoreOperands& operands;
  const float* b;          // k after k
  const double* b_scales;  // of each column
  uint32_t scales;         // of each row and column
};

/// One row of A.
struct Row {
  float values[kMostTensorK];
  uint8_t columns[kMostTensorK];  // the rows of B that its elements meet
  double scales[kMostScales];
};

/// The sums of one row of A with all columns.
KM_MMA_INLINE void sum_row(const Product& product, const Row& row, double* sums) {
  const uint32_t n = product.plan.n, size = product.plan.stored_k() / product.scales;
  for (uint32_t j = 0; j < n; j += kColumnsAtOnce) {
    Doubles total = {};
    for (uint32_t s = 0; s < product.scales; ++s) {
      Doubles part = {};
      for (uint32_t t = s * size; t < (s + 1) * size; ++t) {
        HalfFloats some;
        std::memcpy(&some, product.b + row.columns[t] * n + j, sizeof some);
        part += __builtin_convertvector(some, Doubles) * double{row.values[t]};
      }
      Doubles scale;
      std::memcpy(&scale, product.b_scales + s * n + j, sizeof scale);
      total += part * (scale * row.scales[s]);
    }
    std::memcpy(sums + j, &total, sizeof total);
  }
}
KM_MMA_WIDE void sum_row_wide(const Product& product, const Row& row, double* sums) {
  sum_row(product, row, sums);
}

void add_row(const Product& product, TensorStorage& storage, uint32_t row, const double* sums) {
  const TensorProductPlan& plan = product.plan;
  for (uint32_t first = 0; first < plan.n; first += plan.group_columns()) {
    const uint32_t group = first / plan.group_columns();
    uint32_t* words = storage.lane(group * plan.group_lanes() + plan.lane_of(row)) +
                      tensor_column(product.operands.d);
    for (uint32_t j = 0; j < plan.group_columns(); ++j) {
      const double before = product.operands.adds ? std::bit_cast<float>(words[j]) : 0.0;
      words[j] = std::bit_cast<uint32_t>(cut_to_f32(before + sums[first + j]));
    }
  }
}

TensorProblem multiply_block(const Product& product, const TensorBlock& block,
                             TensorCoreScratch* scratch) {
  const TensorProductPlan& plan = product.plan;
  const TensorProblem problem = stage_a(product.form, plan, product.operands, block, scratch);
  if (problem != TensorProblem::none) return problem;
  const Scales scales{*block.storage, product.operands.scale_a, plan.scale_a_id,
                      product.scales, plan.scales_are_e4m3,     false};
  if (!scales.fits(plan.rows())) return TensorProblem::not_allocated;
  const MmaType type = widened_type(plan.a);
  const uint32_t k = plan.stored_k();
  for (uint32_t row = 0; row < plan.rows(); ++row) {
    Row a;
    double sums[kMostTensorColumns];
    convert_row(type, scratch->a + row * k, k, a.values);
    for (uint32_t t = 0; t < k; ++t) {
      a.columns[t] = static_cast<uint8_t>(
          plan.sparse ? sparse_column(plan, *block.storage, product.operands.metadata, row, t) : t);
    }
    scales.read(row, a.scales);
    if (product.form.wide) {
      sum_row_wide(product, a, sums);
    } else {
      sum_row(product, a, sums);
    }
    add_row(product, *block.storage, row, sums);
  }
  return TensorProblem::none;
}

}  // namespace

TensorProblem multiply_scaled(const TensorCoreForm& form, const TensorProductPlan& plan,
                              const TensorCoreOperands& operands, const TensorBlock* blocks,
                              TensorCoreScratch* scratch) {
  auto* b = reinterpret_cast<float*>(scratch->values);
  auto* b_scales = reinterpret_cast<double*>(scratch->exponents);
  // With a sparse A, a scale is for twice as many elements of k.
  const uint32_t count = plan.stored_k() / form.block_size, n = plan.n;
  const MmaType type = widened_type(plan.b);
  for (uint32_t column = 0; column < n; ++column) {
    float values[kMostTensorK];
    convert_row(type, scratch->b + column * plan.k, plan.k, values);
    for (uint32_t t = 0; t < plan.k; ++t) b[t * n + column] = values[t];
  }
  const Product product{form, plan, operands, b, b_scales, count};
  for (uint32_t i = 0; i < plan.blocks; ++i) {
    const Scales scales{*blocks[i].storage,   operands.scale_b, plan.scale_b_id, count,
                        plan.scales_are_e4m3, plan.groups == 2};
    if (!scales.fits(n)) return TensorProblem::not_allocated;
    for (uint32_t column = 0; column < n; ++column) {
      double some[kMostScales];
      scales.read(column, some);
      for (uint32_t s = 0; s < count; ++s) b_scales[s * n + column] = some[s];
    }
    const TensorProblem problem = multiply_block(product, blocks[i], scratch);
    if (problem != TensorProblem::none) return problem;
  }
  return TensorProblem::none;
}

}  // namespace km::simt
