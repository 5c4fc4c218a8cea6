// Stores past the caches. Where a launch stores more than the last cache holds, each line would be
// read from memory first and push out another one, only to be written later. In kernels with
// barriers a processor does not see those stores coming either: a block loads, works on what it has
// loaded, and then stores all at once. Such stores come late for other threads, so nothing may
// follow them that orders them: the thread makes them visible when its part of the launch is over.
#pragma once

#include "simt/codegen/lower/memory/access.h"

namespace km::simt {

/// Stores the elements of all lanes side by side, past the caches if the plan allows it and the
/// launch stores more than they hold.
class NontemporalWriter : public Room {
 public:
  NontemporalWriter(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame)
      : Room(builder, plan), frame_(frame) {}

  /// Makes the test of what the launch stores, in the code that the entry begins with.
  void begin();
  /// Stores a vector at the address of lane 0.
  void store(const Address& address, const Access& access, Value* content);

 private:
  LaunchFrame& frame_;
  Value* exceeds_caches_ = nullptr;  // i1
};

}  // namespace km::simt
