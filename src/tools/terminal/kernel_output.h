// The way of kernels' text while a program reads the command's own result.
#pragma once

namespace km::tools {

/// Standard output of the process leads to standard error as long as the object lives: what
/// kernels print does not mix with a result that the command prints as JSON afterwards. One at a
/// time, made before and destroyed after a Progress.
class KernelOutput {
 public:
  /// Without effect if `moved` is false, or if the process has no standard output.
  explicit KernelOutput(bool moved);
  /// Passes on the text that is there; standard output is as before.
  ~KernelOutput();
  KernelOutput(const KernelOutput&) = delete;
  KernelOutput& operator=(const KernelOutput&) = delete;

 private:
  int output_ = -1;  // standard output as it was; -1: not moved
  bool had_failed_ = false;
};

}  // namespace km::tools
