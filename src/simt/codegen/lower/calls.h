// Calls of printf, malloc, free, assert and the device runtime; those of the module's functions are
// replaced before.
#pragma once

#include <functional>

#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers calls to the runtime's functions.
class Calls : public Room {
 public:
  Calls(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values)
      : Room(builder, plan), frame_(frame), values_(values) {}

  /// Sets what makes the branch that ends the running lanes after a failed assertion.
  void set_leave(std::function<void()> leave) { leave_ = std::move(leave); }
  /// Forgets the assertions of code before.
  void begin_region() { asserts_ = false; }
  /// True if the region, as far as it has been made, has an assertion.
  bool asserts() const { return asserts_; }
  /// Lowers a call by the name of its target.
  void lower_call(const Inst& inst);

 private:
  void lower_print(const Inst& inst);
  void lower_malloc(const Inst& inst);
  void lower_free(const Inst& inst);
  void lower_device_call(const Inst& inst);
  void lower_assert(const Inst& inst);

  LaunchFrame& frame_;
  Values& values_;
  std::function<void()> leave_;
  bool asserts_ = false;
};

}  // namespace km::simt
