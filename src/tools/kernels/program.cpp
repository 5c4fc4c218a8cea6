#include "tools/kernels/program.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/error.h"

namespace km::tools {

Result<int> run_program(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int failure =
      posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (failure != 0) return file_error(words[0], std::strerror(failure));
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return file_error(words[0], std::strerror(errno));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace km::tools
