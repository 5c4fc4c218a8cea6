// When the making of code ends early.
#pragma once

#include "base/interruption.h"
#include "base/result.h"
#include "simt/codegen/room.h"

namespace km::simt {

/// Counts the instructions of the entry function, and asks whether the work was interrupted.
class CodeLimit : public Room {
 public:
  CodeLimit(CodeBuilder& builder, const CodePlan& plan, const Interruption& interruption)
      : Room(builder, plan), interruption_(interruption) {}

  /// True if the work has been interrupted, or the code has become too large; then the caller makes
  /// no more. To be asked between steps.
  bool is_ended();
  /// Adds a block that was made before those that is_ended() finds.
  void count(const llvm::BasicBlock& block);
  /// The error that ended the work, or none.
  Status& status() { return status_; }

 private:
  const Interruption& interruption_;
  Status status_;
  uint64_t instructions_ = 0;                 // counted so far
  llvm::BasicBlock* last_counted_ = nullptr;  // blocks after it are still to be counted
};

}  // namespace km::simt
