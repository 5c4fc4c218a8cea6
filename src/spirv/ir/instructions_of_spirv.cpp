// The instructions of simt/machine/instructions.h for SPIR-V: a device has the capabilities of the
// least machine, for which only to_s32() may be called.
#include "simt/machine/instructions.h"

#include "base/assert.h"

namespace km::simt::instructions {

V to_s32(llvm::IRBuilderBase& b, V real, bool nearest) {
  const auto round = nearest ? llvm::Intrinsic::roundeven : llvm::Intrinsic::trunc;
  V whole = b.CreateUnaryIntrinsic(round, real);
  const auto bound = [&](uint32_t bits) { return llvm::ConstantInt::get(real->getType(), bits); };
  V fits = b.CreateAnd(b.CreateFCmpOGE(whole, bound(0xcf000000)),   // -2^31
                       b.CreateFCmpOLT(whole, bound(0x4f000000)));  // 2^31
  V kept = b.CreateSelect(fits, whole, bound(0));
  auto* type = llvm::Type::get(real->getType()->getContext(), llvm::Type::Kind::integer, 32,
                               real->getType()->count());
  return b.CreateSelect(fits, b.CreateFPToSI(kept, type), llvm::ConstantInt::get(type, 0x80000000));
}

#define KM_ABSENT                                     \
  {                                                   \
    KM_ASSERT(false, "the least machine lacks this"); \
    return nullptr;                                   \
  }
V rounded(llvm::IRBuilderBase&, Operation, std::span<V const>, Round) KM_ABSENT;
V rounded_to_s32(llvm::IRBuilderBase&, V, Round) KM_ABSENT;
V rounded_to_u32(llvm::IRBuilderBase&, V, Round) KM_ABSENT;
V saturated_to_s32(llvm::IRBuilderBase&, V, Round) KM_ABSENT;
V saturated_to_u32(llvm::IRBuilderBase&, V, Round) KM_ABSENT;
V narrow_to_f16(llvm::IRBuilderBase&, V, Round) KM_ABSENT;
V ternary_logic(llvm::IRBuilderBase&, uint8_t, V, V, V) KM_ABSENT;
V permuted(llvm::IRBuilderBase&, V, V) KM_ABSENT;
V permuted(llvm::IRBuilderBase&, V, V, V) KM_ABSENT;
V opaque_vector(llvm::IRBuilderBase&, V) KM_ABSENT;
V in_own_register(llvm::IRBuilderBase&, V) KM_ABSENT;
#undef KM_ABSENT

}  // namespace km::simt::instructions
