// kernelmill check: runs a program and tells which defects its kernels have.
#include <algorithm>
#include <cstdio>

#include "base/file/file_writer.h"
#include "base/printable.h"
#include "base/process/exec_report.h"
#include "tools/check/check_session.h"
#include "tools/check/findings_report.h"
#include "tools/check/sanitizer_text.h"
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
  void add_outputs();
  void add_orders();
  Result<int> check();
  Status tell(const SessionFindings& found) const;

  ExecProgram program_;
  CheckOptions options_;
  std::string format_ = "text", log_;
  int error_exit_ = 1;
  uint64_t limit_ = 100;
};

CheckCommand::CheckCommand(CLI::App& app)
    : Command(app.add_subcommand("check", "Find defects of a program's kernels, without a GPU")) {
  parser_->footer(kFooter);
  parser_->add_option("--tool", options_.tools, "What to look for, separated by commas")
      ->type_name("TOOLS");
  parser_
      ->add_option("--kernel", options_.kernels,
                   "Only kernels whose names contain this regular expression")
      ->type_name("REGEX");
  parser_
      ->add_option("--suppress", options_.suppress,
                   "Leave out the findings for which a rule of this file holds")
      ->type_name("FILE");
  add_outputs();
  parser_->add_flag("--same-value", options_.tells_same_values,
                    "Report unordered writes of one value by several threads too");
  add_orders();
  program_.add_options(*parser_);
}

void CheckCommand::add_outputs() {
  parser_->add_option("--json", options_.json, "Write the findings to this file as JSON")
      ->type_name("FILE");
  parser_->add_option("--sarif", options_.sarif, "Write the findings to this file as SARIF 2.1.0")
      ->type_name("FILE");
  parser_
      ->add_option("--write-suppressions", options_.written_rules,
                   "Write rules for all findings, as --suppress reads them")
      ->type_name("FILE");
  parser_
      ->add_option("--error-exit", error_exit_,
                   "The exit status if something was found; -1: the program's")
      ->type_name("N")
      ->check(CLI::Range(-1, 255));
  parser_->add_option("--format", format_, "text, or compute-sanitizer for its words")
      ->check(CLI::IsMember({"text", "compute-sanitizer"}));
  parser_->add_option("--log-file", log_, "Where compute-sanitizer's words go")->type_name("FILE");
  parser_->add_option("--limit", limit_, "Show at most so many findings (default 100)")
      ->type_name("N");
}

void CheckCommand::add_orders() {
  parser_->add_flag("--warp-in-step", options_.runs_in_step,
                    "Run the lanes of a warp in step, and accept code that counts on it");
  parser_
      ->add_option("--explore", options_.orders,
                   "Run each launch in so many other orders, and compare the results")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  parser_
      ->add_option("--schedule-seed", options_.seed,
                   "Run all launches in the order of this seed, or explore from it on")
      ->type_name("S")
      ->check(CLI::PositiveNumber);
  parser_->add_flag("--ignore-atomic-order", options_.ignores_sum_order,
                    "Accept floating-point sums that depend on the order of atomics");
}

Status CheckCommand::tell(const SessionFindings& found) const {
  if (format_ == "text") {
    const std::string table = table_of(found.all, limit_, found.suppressed);
    std::fputs(printable(table + orders_text(found.orders)).c_str(), stderr);
    return {};
  }
  const std::string text = printable(sanitizer_text(found.all, options_.tools, limit_));
  if (!log_.empty()) return write_file(log_, text);
  std::fputs(text.c_str(), stdout);
  return {};
}

Result<int> CheckCommand::check() {
  options_.prints = format_ == "text";
  if (!log_.empty() && options_.prints) {
    return usage_error("--log-file is for --format compute-sanitizer");
  }
  if (!log_.empty()) KM_TRY(check_writable(log_));
  KM_ASSIGN(CheckSession session, CheckSession::begin(options_));
  KM_ASSIGN(const int code, program_.run());
  KM_ASSIGN(const SessionFindings found, session.end());
  KM_TRY(tell(found));
  return found.all.empty() || error_exit_ < 0 ? code : error_exit_;
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
