#include "tools/kernels/program.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "tools/error.h"

namespace km::tools {
namespace {

std::atomic<pid_t> running{0};  // the program that is waited for

/// Passes a request to end on to the program. A terminal sends its interrupts to both.
void pass_on(int signal) {
  const pid_t process = running.load();
  if (process > 0 && signal != SIGINT) kill(process, signal);
}

/// While it exists, signals that would end this command end the program only, so that the command
/// still tells what it knows.
class SignalsToProgram {
 public:
  explicit SignalsToProgram(pid_t process) {
    running.store(process);
    struct sigaction action = {};
    action.sa_handler = pass_on;
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~SignalsToProgram() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    running.store(0);
  }
  SignalsToProgram(const SignalsToProgram&) = delete;
  SignalsToProgram& operator=(const SignalsToProgram&) = delete;

 private:
  static constexpr std::array<int, 3> kSignals = {SIGTERM, SIGHUP, SIGINT};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace

Result<int> run_program(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int failure =
      posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (failure != 0) return file_error(words[0], std::strerror(failure));
  const SignalsToProgram signals(process);
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return file_error(words[0], std::strerror(errno));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace km::tools
