// kernelmill trace: runs a program and has the library write down what it did.
#include <cstdio>
#include <filesystem>

#include "base/env.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/program.h"

namespace km::tools {
namespace {

class TraceCommand : public Command {
 public:
  explicit TraceCommand(CLI::App& app);
  int run() override;

 private:
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

int TraceCommand::run() {
  std::error_code none;
  const std::string path = std::filesystem::absolute(output_, none).string();
  std::filesystem::remove(path, none);  // what is there afterwards is of this run
  if (setenv("KM_TRACE", path.c_str(), 1) != 0) {
    return report(error(KM_ERROR_OUT_OF_HOST_MEMORY, "out of memory"));
  }
  const Result<int> code = run_program(words_);
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
