#include "simt/codegen/parameter_addresses.h"

#include <llvm/IR/DerivedTypes.h>

namespace km::simt {

llvm::Value* whole_parameter_address(llvm::IRBuilder<>& b, llvm::Value* params,
                                     llvm::Value* address) {
  auto* narrow = address->getType()->getWithNewBitWidth(32);
  auto* wide = address->getType()->getWithNewBitWidth(64);
  const auto spread = [&](llvm::Value* scalar) -> llvm::Value* {
    auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(wide);
    return lanes != nullptr ? b.CreateVectorSplat(lanes->getNumElements(), scalar) : scalar;
  };
  if (params->getType()->isPointerTy()) params = b.CreatePtrToInt(params, b.getInt64Ty());
  llvm::Value* base = spread(params);
  llvm::Value* offset = b.CreateSub(b.CreateTrunc(address, narrow), b.CreateTrunc(base, narrow));
  return b.CreateAdd(base, b.CreateSExt(offset, wide));
}

}  // namespace km::simt
