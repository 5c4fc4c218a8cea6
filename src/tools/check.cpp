// kernelmill check: runs a program and tells which defects its kernels have.
#include <algorithm>

#include "base/process/exec_report.h"
#include "tools/check/check_session.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/exec/exec_program.h"

namespace km::tools {
namespace {

constexpr const char* kFooter = R"(Tools:
  memory   accesses outside of allocations, misaligned ones, and other faults of
           kernels; calls whose addresses are none of the context's
  init     reads of global and shared memory that nothing has written
  sync     barriers that not all threads reach, wrong counts and member masks, deadlocks
  race     accesses of two threads of one launch without an order, of which one writes
  streams  accesses of two streams, or of nodes of a graph, without an order
  leak     memory that is alive when the program ends
  all      all of these; without --tool all but leak
compute-sanitizer's names memcheck, initcheck, racecheck and synccheck are taken
too.

The exit status is 1 (--error-exit) if something was found, 2 if the command itself
failed, else the program's.

Example: kernelmill check --tool race --sarif races.sarif -- ./program)";

class CheckCommand : public Command {
 public:
  explicit CheckCommand(CLI::App& app);
  int run() override;

 private:
  Result<int> check();

  ExecProgram program_;
  CheckOptions options_;
};

CheckCommand::CheckCommand(CLI::App& app)
    : Command(app.add_subcommand("check", "Find defects of a program's kernels, without a GPU")) {
  parser_->footer(kFooter);
  parser_->add_option("--tool", options_.tools, "What to look for, separated by commas")
      ->type_name("TOOLS")
      ->check(not_empty());
  add_check_options(*parser_, "", options_);
  program_.add_options(*parser_);
}

Result<int> CheckCommand::check() {
  KM_ASSIGN(CheckSession session, CheckSession::begin(options_));
  KM_ASSIGN(const int code, program_.run());
  KM_ASSIGN(const SessionFindings found, session.end());
  KM_TRY(session.tell(found));
  return options_.exit_status(code, !found.all.empty());
}

int CheckCommand::run() {
  const Result<int> code = check();
  if (code) return *code;
  // An enclosing exec has nothing to say of a program that did not run.
  if (ExecReport* const outer = find_exec_report()) outer->opened.store(1);
  // The failure is told apart from findings.
  return std::max<int>(report(code.error()), kExitUsage);
}

}  // namespace

std::unique_ptr<Command> make_check(CLI::App& app) { return std::make_unique<CheckCommand>(app); }

}  // namespace km::tools
