// NontemporalWriter, for stores that bypass the caches; plan/memory/nontemporal_stores.h says when
// this is faster and valid.
#pragma once

#include "simt/codegen/lower/memory/access.h"

namespace km::simt {

/// Stores contiguous elements of all lanes. The stores are non-temporal if the plan allows it and
/// the launch stores more than the caches hold.
class NontemporalWriter : public Room {
 public:
  NontemporalWriter(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame)
      : Room(builder, plan), frame_(frame) {}

  /// Generates, at the start of the entry function, the comparison of the launch's stores with the
  /// size of the caches.
  void begin();
  /// Stores a vector at the address of lane 0.
  void store(const Address& address, const Access& access, Value* content);

 private:
  LaunchFrame& frame_;
  Value* exceeds_caches_ = nullptr;  // i1
};

}  // namespace km::simt
