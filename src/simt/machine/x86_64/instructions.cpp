#include "simt/machine/x86_64/instructions.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <vector>

namespace km::simt {
namespace x86_64 {
namespace {

using instructions::Operation;
using instructions::V;

namespace I = llvm::Intrinsic;

/// Encodes the rounding operand of an AVX-512 intrinsic. Round has the numbers of the processor's
/// rounding control; bit 3 suppresses exceptions, which LLVM requires with a rounding mode.
V embedded_mode(llvm::IRBuilderBase& b, Round round) {
  return b.getInt32(8 | static_cast<uint32_t>(round));
}

/// The intrinsics of one operation.
struct Pair {
  I::ID for_f32, for_f64;
};

Pair intrinsics_of(Operation operation) {
  switch (operation) {
    case Operation::add:
      return {I::x86_avx512_add_ps_512, I::x86_avx512_add_pd_512};
    case Operation::mul:
      return {I::x86_avx512_mul_ps_512, I::x86_avx512_mul_pd_512};
    case Operation::fma:
      return {I::x86_avx512_vfmadd_ps_512, I::x86_avx512_vfmadd_pd_512};
    case Operation::div:
      return {I::x86_avx512_div_ps_512, I::x86_avx512_div_pd_512};
    case Operation::sqrt:
      break;
  }
  return {I::x86_avx512_sqrt_ps_512, I::x86_avx512_sqrt_pd_512};
}

V converted(llvm::IRBuilderBase& b, I::ID id, V real, Round round) {
  auto* none = llvm::Constant::getNullValue(llvm::FixedVectorType::get(b.getInt32Ty(), 16));
  return b.CreateIntrinsic(id, {}, {real, none, b.getInt16(0xffff), embedded_mode(b, round)});
}

class Instructions : public InstructionSet {
 public:
  V rounded(Builder& b, Operation operation, std::span<V const> values,
            Round round) const override {
    const Pair pair = intrinsics_of(operation);
    const bool wide = values[0]->getType()->getScalarType()->isDoubleTy();
    std::vector<V> arguments(values.begin(), values.end());
    arguments.push_back(embedded_mode(b, round));
    return b.CreateIntrinsic(wide ? pair.for_f64 : pair.for_f32, {}, arguments);
  }

  V rounded_to_s32(Builder& b, V real, Round round) const override {
    return converted(b, I::x86_avx512_mask_cvtps2dq_512, real, round);
  }

  V rounded_to_u32(Builder& b, V real, Round round) const override {
    return converted(b, I::x86_avx512_mask_cvtps2udq_512, real, round);
  }

  V to_s32(Builder& b, V real, bool nearest) const override {
    const bool eight = llvm::cast<llvm::FixedVectorType>(real->getType())->getNumElements() == 8;
    I::ID id = nearest ? I::x86_sse2_cvtps2dq : I::x86_sse2_cvttps2dq;
    if (eight) id = nearest ? I::x86_avx_cvt_ps2dq_256 : I::x86_avx_cvtt_ps2dq_256;
    return b.CreateIntrinsic(id, {}, {real});
  }

  V narrow_to_f16(Builder& b, V real, Round round) const override {
    V mode = b.getInt32(static_cast<uint32_t>(round));
    return b.CreateIntrinsic(I::x86_vcvtps2ph_256, {}, {real, mode});
  }

  V ternary_logic(Builder& b, uint8_t table, V x, V y, V z) const override {
    return b.CreateIntrinsic(I::x86_avx512_pternlog_d_512, {}, {x, y, z, b.getInt32(table)});
  }

  V permuted(Builder& b, V source, V index) const override {
    return b.CreateIntrinsic(I::x86_avx512_permvar_si_512, {}, {source, index});
  }

  V permuted(Builder& b, V low, V high, V index) const override {
    return b.CreateIntrinsic(I::x86_avx512_vpermi2var_d_512, {}, {low, index, high});
  }

  const char* vector_register() const override { return "v"; }
  const char* byte_register() const override { return "Q"; }
};

}  // namespace

const InstructionSet& instruction_set() {
  static const Instructions set;
  return set;
}

}  // namespace x86_64

bool instructions::is_ternary_logic(llvm::Intrinsic::ID id) {
  return id == llvm::Intrinsic::x86_avx512_pternlog_d_512;
}

}  // namespace km::simt
