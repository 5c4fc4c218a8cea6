// IndependentWarpFrame, mode c's access to the warp state that the runtime and generated code
// share.
#pragma once

#include "simt/codegen/builder.h"

namespace km::simt {

/// Loads and stores fields of the warp's IndependentWarp, which is at the start of the warp's
/// scratch memory.
class IndependentWarpFrame {
 public:
  explicit IndependentWarpFrame(CodeBuilder& builder) : builder_(builder), b_(builder.ir()) {}

  /// Selects the warp by the address of its IndependentWarp, an i64.
  void set_warp(llvm::Value* warp) { warp_ = warp; }
  /// The pointer to the field at an offset.
  llvm::Value* field(uint64_t offset);
  /// Loads a field; for an array with one element per lane, `type` is a vector type.
  llvm::Value* load(uint64_t offset, llvm::Type* type);
  /// Stores elements of an array for the lanes of `mask`; other lanes' elements are unchanged.
  void store(uint64_t offset, llvm::Value* content, llvm::Value* mask);

 private:
  CodeBuilder& builder_;
  llvm::IRBuilder<>& b_;
  llvm::Value* warp_ = nullptr;
};

}  // namespace km::simt
