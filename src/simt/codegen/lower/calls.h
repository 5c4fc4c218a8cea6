// Calls of printf, malloc, free, assert and the device runtime. Calls of the module's own functions
// were inlined before.
#pragma once

#include <functional>

#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers calls of functions that the runtime implements.
class Calls : private EmitterBase {
 public:
  Calls(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values)
      : EmitterBase(builder, plan), frame_(frame), values_(values) {}

  /// Sets the function that generates the jump by which the active lanes end after a failed
  /// assertion, since that depends on the mode.
  void set_leave(std::function<void()> leave) { leave_ = std::move(leave); }
  /// Starts a region, for which asserts() is false until an assertion is lowered.
  void begin_region() { asserts_ = false; }
  /// True if the code of the region so far has an assertion.
  bool asserts() const { return asserts_; }
  /// Lowers a call, which the name of its target identifies.
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
