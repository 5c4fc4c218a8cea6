// kernelmill exec: runs a program that uses the CUDA driver or runtime on Kernelmill's libraries.
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/exec/exec_program.h"

namespace km::tools {
namespace {

class ExecCommand : public Command {
 public:
  explicit ExecCommand(CLI::App& app)
      : Command(
            app.add_subcommand("exec", "Run a program that uses the CUDA driver, without a GPU")) {
    program_.add_options(*parser_);
    program_.add_unchecked(*parser_);
  }
  int run() override {
    const Result<int> code = program_.run();
    return code ? *code : report(code.error());
  }

 private:
  ExecProgram program_;
};

}  // namespace

std::unique_ptr<Command> make_exec(CLI::App& app) { return std::make_unique<ExecCommand>(app); }

}  // namespace km::tools
