#include "simt/machine/aarch64/instructions.h"

#include <llvm/IR/IntrinsicsAArch64.h>

namespace km::simt::aarch64 {
namespace {

namespace I = llvm::Intrinsic;
using instructions::V;

I::ID signed_conversion(Round round) {
  switch (round) {
    case Round::rn:
      return I::aarch64_neon_fcvtns;
    case Round::rm:
      return I::aarch64_neon_fcvtms;
    case Round::rp:
      return I::aarch64_neon_fcvtps;
    case Round::rz:
      break;
  }
  return I::aarch64_neon_fcvtzs;
}

I::ID unsigned_conversion(Round round) {
  switch (round) {
    case Round::rn:
      return I::aarch64_neon_fcvtnu;
    case Round::rm:
      return I::aarch64_neon_fcvtmu;
    case Round::rp:
      return I::aarch64_neon_fcvtpu;
    case Round::rz:
      break;
  }
  return I::aarch64_neon_fcvtzu;
}

V converted(llvm::IRBuilderBase& b, I::ID id, V real) {
  auto* words = llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(real->getType()));
  return b.CreateIntrinsic(id, {words, real->getType()}, {real});
}

class Instructions : public InstructionSet {
 public:
  V saturated_to_s32(Builder& b, V real, Round round) const override {
    return converted(b, signed_conversion(round), real);
  }

  V saturated_to_u32(Builder& b, V real, Round round) const override {
    return converted(b, unsigned_conversion(round), real);
  }

  /// The instruction rounds by the control word, which generated code has at its default.
  V narrow_to_f16(Builder& b, V real, Round round) const override {
    KM_ASSERT(round == Round::rn, "no machine of this architecture has directed conversions");
    auto* reals = llvm::cast<llvm::VectorType>(real->getType());
    V half = b.CreateFPTrunc(real, llvm::VectorType::get(b.getHalfTy(), reals));
    return b.CreateBitCast(half, llvm::VectorType::get(b.getInt16Ty(), reals));
  }

  V word_products(Builder& b, V x, V y, bool is_signed) const override {
    auto* words = llvm::cast<llvm::VectorType>(x->getType());
    auto* products = llvm::VectorType::getExtendedElementVectorType(words);
    return b.CreateIntrinsic(is_signed ? I::aarch64_neon_smull : I::aarch64_neon_umull, {products},
                             {x, y});
  }

  const char* vector_register() const override { return "w"; }
  const char* byte_register() const override { return "r"; }
};

}  // namespace

const InstructionSet& instruction_set() {
  static const Instructions set;
  return set;
}

}  // namespace km::simt::aarch64
