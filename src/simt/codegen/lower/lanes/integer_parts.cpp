#include "simt/codegen/lower/lanes/integer_parts.h"

namespace km::simt {

std::vector<llvm::Value*> parts_of(llvm::IRBuilder<>& b, llvm::Value* whole, unsigned bits) {
  llvm::Type* const narrow = whole->getType()->getWithNewBitWidth(bits);
  std::vector<llvm::Value*> parts;
  for (unsigned at = 0; at < whole->getType()->getScalarSizeInBits(); at += bits) {
    llvm::Value* part = at != 0 ? b.CreateLShr(whole, at) : whole;
    parts.push_back(b.CreateTrunc(part, narrow));
  }
  return parts;
}

llvm::Value* joined(llvm::IRBuilder<>& b, std::span<llvm::Value* const> parts, unsigned bits) {
  const unsigned part_bits = parts[0]->getType()->getScalarSizeInBits();
  llvm::Type* const wide = parts[0]->getType()->getWithNewBitWidth(bits);
  llvm::Value* result = nullptr;
  for (unsigned i = 0; i < parts.size(); ++i) {
    llvm::Value* part = b.CreateZExt(parts[i], wide);
    if (i != 0) part = b.CreateShl(part, i * part_bits);
    result = result != nullptr ? b.CreateOr(result, part) : part;
  }
  return result;
}

}  // namespace km::simt
