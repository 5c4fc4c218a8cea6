#include "simt/runtime/tensors/tensor_product_plan.h"

#include <optional>

namespace km::simt {
namespace {

uint32_t bits_of(uint32_t descriptor, uint32_t first, uint32_t count) {
  return descriptor >> first & ((1u << count) - 1);
}

std::optional<FactorElement> element_of(TensorCoreKind kind, uint32_t code) {
  using enum FactorElement;
  switch (kind) {
    case TensorCoreKind::f16:
      if (code > 1) return std::nullopt;
      return code == 0 ? f16 : bf16;
    case TensorCoreKind::tf32:
      if (code != 2) return std::nullopt;
      return tf32;
    case TensorCoreKind::i8:
      if (code > 1) return std::nullopt;
      return code == 0 ? u8 : s8;
    case TensorCoreKind::mxf4:
    case TensorCoreKind::mxf4nvf4:
      if (code != 1) return std::nullopt;
      return e2m1;
    default:
      break;
  }
  constexpr std::optional<FactorElement> kNarrow[] = {e4m3, e5m2, std::nullopt, e2m3,
                                                      e3m2, e2m1, std::nullopt, std::nullopt};
  return kNarrow[code];
}

bool is_scaled(TensorCoreKind kind) { return kind >= TensorCoreKind::mxf8f6f4; }
bool is_packed(TensorCoreKind kind) { return kind >= TensorCoreKind::mxf4; }

std::optional<MmaType> sum_type(TensorCoreKind kind, uint32_t code) {
  if (is_scaled(kind)) return MmaType::f32;
  const bool has_halves = kind == TensorCoreKind::f16 || kind == TensorCoreKind::f8f6f4;
  if (kind == TensorCoreKind::i8) return code == 2 ? std::optional(MmaType::s32) : std::nullopt;
  if (code == 1) return MmaType::f32;
  if (code == 0 && has_halves) return MmaType::f16;
  return std::nullopt;
}

TensorProblem take_types(const TensorCoreForm& form, uint32_t descriptor, TensorProductPlan* plan) {
  const auto a = element_of(form.kind, bits_of(descriptor, 7, 3));
  const auto b = element_of(form.kind, bits_of(descriptor, 10, is_packed(form.kind) ? 2 : 3));
  const auto d = sum_type(form.kind, bits_of(descriptor, 4, 2));
  if (!a || !b || !d) return TensorProblem::type;
  plan->a = *a;
  plan->b = *b;
  plan->d = *d;
  // The manual has no products of bf16 with sums of f16.
  if (*d == MmaType::f16 && (*a == FactorElement::bf16 || *b == FactorElement::bf16)) {
    return TensorProblem::type;
  }
  plan->k = is_packed(form.kind) ? 64 : 256 / (element_bits(*a) < 8 ? 8 : element_bits(*a));
  plan->sparse = form.sparse;
  plan->selector = bits_of(descriptor, 0, 2);
  if (form.sparse) plan->k *= 2;
  plan->packs_pairs = is_packed(form.kind);
  plan->saturates = form.kind == TensorCoreKind::i8 && bits_of(descriptor, 3, 1) != 0;
  plan->negates_a = bits_of(descriptor, 13, 1) != 0;
  plan->negates_b = bits_of(descriptor, 14, 1) != 0;
  plan->transposes_a = bits_of(descriptor, 15, 1) != 0;
  plan->transposes_b = bits_of(descriptor, 16, 1) != 0;
  const auto cannot = [](bool transposes, FactorElement element) {
    return transposes && element_bits(element) < 8;
  };
  const bool bad = cannot(plan->transposes_a, *a) || cannot(plan->transposes_b, *b);
  return bad ? TensorProblem::transposed_type : TensorProblem::none;
}

TensorProblem take_scales(const TensorCoreForm& form, uint32_t descriptor,
                          TensorProductPlan* plan) {
  if (!is_scaled(form.kind)) return TensorProblem::none;
  plan->scales_are_e4m3 = bits_of(descriptor, 23, 1) == 0;
  const bool may_be_e4m3 = form.kind == TensorCoreKind::mxf4nvf4 && form.block_size == 16;
  if (plan->scales_are_e4m3 && !may_be_e4m3) return TensorProblem::scale_type;
  plan->scale_b_id = bits_of(descriptor, 4, 2);
  plan->scale_a_id = bits_of(descriptor, 29, 2);
  if (is_packed(form.kind) && bits_of(descriptor, 31, 1) != 0) return TensorProblem::unsupported_k;
  return TensorProblem::none;
}

bool has_columns(const TensorCoreForm& form, const TensorProductPlan& plan) {
  const uint32_t n = plan.n;
  if (form.weight_stationary) return n == 64 || n == 128 || (n == 256 && !form.sparse);
  const bool is_i8 = form.kind == TensorCoreKind::i8;
  const uint32_t step = form.pair ? (is_i8 ? 32 : 16) : (is_i8 && n > 32 ? 16 : 8);
  return n != 0 && n <= 256 && n % step == 0;
}

bool has_rows(const TensorCoreForm& form, const TensorProductPlan& plan) {
  const uint32_t m = plan.m;
  if (form.weight_stationary) return !form.pair && (m == 32 || m == 64 || m == 128);
  if (form.pair) return m == 128 || m == 256;
  return m == 128 || (m == 64 && !is_scaled(form.kind));
}

}  // namespace

TensorProblem plan_product(const TensorCoreForm& form, uint32_t descriptor,
                           TensorProductPlan* plan) {
  if ((bits_of(descriptor, 2, 1) != 0) != form.sparse) return TensorProblem::sparsity;
  TensorProblem problem = take_types(form, descriptor, plan);
  if (problem != TensorProblem::none) return problem;
  problem = take_scales(form, descriptor, plan);
  if (problem != TensorProblem::none) return problem;
  plan->blocks = form.pair ? 2 : 1;
  plan->n = bits_of(descriptor, 17, 6) << 3;
  plan->m =
      is_scaled(form.kind) ? bits_of(descriptor, 27, 2) << 7 : bits_of(descriptor, 24, 5) << 4;
  if (!has_rows(form, *plan) || !has_columns(form, *plan)) return TensorProblem::shape;
  const uint32_t rows = plan->rows();
  if (form.sparse && rows != kTensorLanes) return TensorProblem::sparse_rows;
  const bool folds = form.weight_stationary || form.pair;
  if (rows < kTensorLanes && folds) plan->groups = kTensorLanes / rows;
  plan->half_lanes = rows == 64 && !folds;
  return TensorProblem::none;
}

}  // namespace km::simt
