#include "tools/terminal/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/error.h"

namespace km::tools {

void open_standard_files() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The file is opened in the wrong direction, so that its use fails. The system assigns the
    // lowest free descriptor.
    const int mode = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", mode) != descriptor) return;
  }
}

Status finish_output() {
  errno = 0;
  const bool is_flushed = std::fflush(stdout) == 0;
  const int code = errno;
  if (is_flushed && std::ferror(stdout) == 0) return {};
  std::string text = "cannot write to standard output";
  if (!is_flushed && code != 0) text += std::string(": ") + std::strerror(code);
  return error(KM_ERROR_IO, text);
}

}  // namespace km::tools
