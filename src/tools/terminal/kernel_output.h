// Keeps kernels' output out of the command's own result.
#pragma once

namespace km::tools {

/// Redirects the process's standard output to standard error for the object's lifetime, so that
/// kernels' output does not mix with a result that the command prints as JSON afterwards. Only one
/// may exist at a time; it must be created before a Progress and destroyed after it.
class KernelOutput {
 public:
  /// Does nothing if `moved` is false, or if the process has no standard output.
  explicit KernelOutput(bool moved);
  /// Flushes the buffered text and restores standard output.
  ~KernelOutput();
  KernelOutput(const KernelOutput&) = delete;
  KernelOutput& operator=(const KernelOutput&) = delete;

 private:
  int output_ = -1;  // the original standard output; -1: not redirected
  bool had_failed_ = false;
};

}  // namespace km::tools
