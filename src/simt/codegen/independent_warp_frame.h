// IndependentWarpFrame, mode c's access to the warp state that the runtime and generated code
// share.
#pragma once

#include "simt/codegen/room.h"

namespace km::simt {

/// Loads and stores fields of the warp's IndependentWarp, which is at the start of the warp's
/// scratch memory.
class IndependentWarpFrame : public Room {
 public:
  IndependentWarpFrame(CodeBuilder& builder, const CodePlan& plan) : Room(builder, plan) {}

  /// Selects the warp by the address of its IndependentWarp, an i64.
  void set_warp(Value* warp) { warp_ = warp; }
  /// The pointer to the field at an offset.
  Value* field(uint64_t offset);
  /// Loads a field; for an array with one element per lane, `type` is a vector type.
  Value* load(uint64_t offset, llvm::Type* type);
  /// Stores elements of an array for the lanes of `mask`; other lanes' elements are unchanged.
  void store(uint64_t offset, Value* content, Value* mask);

 private:
  Value* warp_ = nullptr;
};

}  // namespace km::simt
