// NontemporalWriter, for stores that bypass the caches; plan/memory/nontemporal_stores.h says when
// this is faster and valid.
#pragma once

#include "simt/codegen/lower/memory/access.h"
#include "simt/plan/memory/nontemporal_stores.h"

namespace km::simt {

/// Stores contiguous elements of all lanes. The stores are non-temporal if the plan allows it and
/// the launch stores more than the caches hold.
class NontemporalWriter {
 public:
  NontemporalWriter(CodeBuilder& builder, const NontemporalStores& stores, LaunchFrame& frame)
      : builder_(builder), b_(builder.ir()), stores_(stores), frame_(frame) {}

  /// Generates, at the start of the entry function, the comparison of the launch's stores with the
  /// size of the caches.
  void begin();
  /// Stores a vector at the address of lane 0.
  void store(const Address& address, const Access& access, llvm::Value* content);

 private:
  CodeBuilder& builder_;
  llvm::IRBuilder<>& b_;
  const NontemporalStores& stores_;
  LaunchFrame& frame_;
  llvm::Value* exceeds_caches_ = nullptr;  // i1
};

}  // namespace km::simt
