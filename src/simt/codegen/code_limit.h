// CodeLimit, which decides when code generation must end early.
#pragma once

#include "base/interruption.h"
#include "base/result.h"
#include "simt/codegen/builder.h"
#include "simt/kernel/kernel.h"

namespace km::simt {

/// Counts the generated LLVM instructions and polls for interruption, so that neither a huge kernel
/// nor a cancelled compilation occupies a thread for long.
class CodeLimit {
 public:
  CodeLimit(const CodeBuilder& builder, const Kernel& kernel, const Interruption& interruption)
      : builder_(builder), kernel_(kernel), interruption_(interruption) {}

  /// True if the work was interrupted or the code is too large; the caller must then generate no
  /// more. Callers ask between basic blocks of the kernel, which are short enough.
  bool is_ended();
  /// Adds the instructions of a basic block that existed before its code, when is_ended() counted
  /// it as empty.
  void count(const llvm::BasicBlock& block);
  /// The error that ended the work; success if none did.
  Status& status() { return status_; }

 private:
  const CodeBuilder& builder_;
  const Kernel& kernel_;
  const Interruption& interruption_;
  Status status_;
  uint64_t instructions_ = 0;  // counted so far
  // The next count starts with this block, which was incomplete.
  llvm::BasicBlock* last_counted_ = nullptr;
};

}  // namespace km::simt
