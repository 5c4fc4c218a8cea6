// Mode c: the IndependentWarp that the runtime and the generated code share.
#pragma once

#include "simt/codegen/room.h"

namespace km::simt {

/// Loads and stores fields of the warp's IndependentWarp, which scratch memory begins with.
class IndependentWarpFrame : public Room {
 public:
  IndependentWarpFrame(CodeBuilder& builder, const CodePlan& plan) : Room(builder, plan) {}

  /// Begins with a warp: i64, the address of its IndependentWarp.
  void set_warp(Value* warp) { warp_ = warp; }
  /// A pointer to the field at an offset.
  Value* field(uint64_t offset);
  /// Loads a field, for one of the arrays a vector.
  Value* load(uint64_t offset, llvm::Type* type);
  /// Stores to one of the arrays, for the lanes of `mask`.
  void store(uint64_t offset, Value* content, Value* mask);

 private:
  Value* warp_ = nullptr;
};

}  // namespace km::simt
