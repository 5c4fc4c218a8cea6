// IndependentWarpFrame, mode c's access to the warp state that the runtime and generated code
// share.
#pragma once

#include "simt/codegen/builder.h"

namespace km::simt {

/// Loads and stores fields of the warp's IndependentWarp, which scratch memory begins with.
class IndependentWarpFrame {
 public:
  explicit IndependentWarpFrame(CodeBuilder& builder) : builder_(builder), b_(builder.ir()) {}

  /// Begins with a warp: i64, the address of its IndependentWarp.
  void set_warp(llvm::Value* warp) { warp_ = warp; }
  /// A pointer to the field at an offset.
  llvm::Value* field(uint64_t offset);
  /// Loads a field, for one of the arrays a vector.
  llvm::Value* load(uint64_t offset, llvm::Type* type);
  /// Stores to one of the arrays, for the lanes of `mask`.
  void store(uint64_t offset, llvm::Value* content, llvm::Value* mask);

 private:
  CodeBuilder& builder_;
  llvm::IRBuilder<>& b_;
  llvm::Value* warp_ = nullptr;
};

}  // namespace km::simt
