#include "tools/explain/captured_error.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/file/file.h"

namespace km::tools {

CapturedError::CapturedError() {
  std::fflush(stderr);
  original_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (original_ < 0) return;
  auto file = create_memory_file("kernelmill-explain");
  if (!file) return;
  file_ = file->release();
  dup2(file_, STDERR_FILENO);
}

std::string CapturedError::take() {
  std::string text;
  if (file_ >= 0) {
    std::fflush(stderr);
    dup2(original_, STDERR_FILENO);
    char part[16384];
    lseek(file_, 0, SEEK_SET);
    for (ssize_t size = 0; (size = read(file_, part, sizeof part)) > 0;) {
      text.append(part, static_cast<size_t>(size));
    }
    close(std::exchange(file_, -1));
  }
  if (original_ >= 0) close(std::exchange(original_, -1));
  return text;
}

}  // namespace km::tools
