// kernelmill trace: runs a program and has the library write down what it did.
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/env.h"
#include "tools/commands.h"
#include "tools/error.h"

namespace km::tools {
namespace {

class TraceCommand : public Command {
 public:
  explicit TraceCommand(CLI::App& app);
  int run() override;

 private:
  Result<int> run_program() const;

  std::string output_ = "trace.json";
  std::vector<std::string> words_;
};

TraceCommand::TraceCommand(CLI::App& app)
    : Command(app.add_subcommand("trace", "Run a program and record what it does")) {
  parser_->add_option("-o,--output", output_,
                      "Where the trace goes; with the ending .html a report (default trace.json)");
  parser_->add_option("PROGRAM", words_, "The program and its arguments, behind '--'")
      ->type_name("PROGRAM [ARGUMENTS]")
      ->required();
}

/// Its exit code, as shells give it.
Result<int> TraceCommand::run_program() const {
  std::vector<std::string> words = words_;
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

int TraceCommand::run() {
  std::error_code none;
  const std::string path = std::filesystem::absolute(output_, none).string();
  std::filesystem::remove(path, none);  // what is there afterwards is of this run
  if (setenv("KM_TRACE", path.c_str(), 1) != 0) {
    return report(error(KM_ERROR_OUT_OF_HOST_MEMORY, "out of memory"));
  }
  const Result<int> code = run_program();
  if (!code) return report(code.error());
  if (!std::filesystem::exists(path, none)) {
    std::fprintf(stderr,
                 "kernelmill: nothing was recorded: the program ended with code %d and used no "
                 "context of the library, or was killed\n",
                 *code);
    return *code != 0 ? *code : kExitFailure;
  }
  std::fprintf(stderr, "kernelmill: %s is written%s\n", output_.c_str(),
               path.ends_with(".html") ? "" : "; open it at ui.perfetto.dev");
  return *code;
}

}  // namespace

std::unique_ptr<Command> make_trace(CLI::App& app) { return std::make_unique<TraceCommand>(app); }

}  // namespace km::tools
