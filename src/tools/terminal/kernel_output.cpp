#include "tools/terminal/kernel_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace km::tools {

KernelOutput::KernelOutput(bool moved) {
  if (!moved) return;
  std::fflush(stdout);
  had_failed_ = std::ferror(stdout) != 0;
  output_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (output_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
}

KernelOutput::~KernelOutput() {
  if (output_ < 0) return;
  // A failure of standard error loses text, but must not count as one of standard output.
  std::fflush(stdout);
  if (!had_failed_) std::clearerr(stdout);
  dup2(output_, STDOUT_FILENO);
  close(output_);
}

}  // namespace km::tools
