// kernelmill check: runs a program and tells which defects its kernels have.
#include <cstdio>

#include "base/file/file_writer.h"
#include "base/printable.h"
#include "tools/check/findings_file.h"
#include "tools/check/findings_report.h"
#include "tools/check/sanitizer_text.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/exec/exec_program.h"

namespace km::tools {
namespace {

constexpr const char* kFooter = R"(Tools:
  memory   accesses outside of allocations, misaligned ones, and other faults of kernels
  init     reads of global and shared memory that nothing has written
  sync     barriers that not all threads reach, wrong counts and member masks, deadlocks
  race     accesses of two threads of one launch without an order, of which one writes
  streams  accesses of two streams, or of nodes of a graph, without an order
  all      all of these
compute-sanitizer's names memcheck, initcheck, racecheck and synccheck are taken
too.

The exit status is 1 (--error-exit) if something was found, else the program's.

Example: kernelmill check --tool race --sarif races.sarif -- ./program)";

class CheckCommand : public Command {
 public:
  explicit CheckCommand(CLI::App& app);
  int run() override;

 private:
  Result<int> check();
  Result<std::string> tools() const;

  ExecProgram program_;
  std::string tools_ = "all", json_, sarif_, format_ = "text", log_;
  int error_exit_ = 1;
  uint64_t limit_ = 100;
  uint64_t orders_ = 0, seed_ = 0;
  bool same_values_ = false, warp_in_step_ = false, ignores_sum_order_ = false;
};

CheckCommand::CheckCommand(CLI::App& app)
    : Command(app.add_subcommand("check", "Find defects of a program's kernels, without a GPU")) {
  parser_->footer(kFooter);
  parser_->add_option("--tool", tools_, "What to look for, separated by commas (default all)")
      ->type_name("TOOLS");
  parser_->add_option("--json", json_, "Write the findings to this file as JSON")
      ->type_name("FILE");
  parser_->add_option("--sarif", sarif_, "Write the findings to this file as SARIF 2.1.0")
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
  parser_->add_flag("--same-value", same_values_,
                    "Report unordered writes of one value by several threads too");
  parser_->add_flag("--warp-in-step", warp_in_step_,
                    "Run the lanes of a warp in step, and accept code that counts on it");
  parser_
      ->add_option("--explore", orders_,
                   "Run each launch in so many other orders, and compare the results")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  parser_
      ->add_option("--schedule-seed", seed_,
                   "Run all launches in the order of this seed, or explore from it on")
      ->type_name("S")
      ->check(CLI::PositiveNumber);
  parser_->add_flag("--ignore-atomic-order", ignores_sum_order_,
                    "Accept floating-point sums that depend on the order of atomics");
  program_.add_options(*parser_);
}

/// The value of KM_CHECK.
Result<std::string> CheckCommand::tools() const {
  std::string list;
  for (size_t begin = 0; begin <= tools_.size();) {
    const size_t end = std::min(tools_.find(',', begin), tools_.size());
    std::string tool = tools_.substr(begin, end - begin);
    if (tool == "memcheck") tool = "memory";
    if (tool == "racecheck") tool = "race";
    if (tool == "initcheck") tool = "init";
    if (tool == "synccheck") tool = "sync";
    if (tool != "memory" && tool != "init" && tool != "race" && tool != "sync" &&
        tool != "streams" && tool != "all") {
      return usage_error("--tool " + in_quotes(tool) +
                         " is none; give memory, init, race, sync, streams or all");
    }
    list += (list.empty() ? "" : ",") + tool;
    begin = end + 1;
  }
  if (same_values_) list += ",same-value";
  if (warp_in_step_) list += ",warp-in-step";
  if (orders_ != 0) list += ",explore=" + std::to_string(orders_);
  if (seed_ != 0) list += ",seed=" + std::to_string(seed_);
  if (ignores_sum_order_) list += ",ignore-atomic-order";
  return list;
}

Status write(const std::string& path, const std::string& text) {
  if (path.empty()) return {};
  KM_ASSIGN(FileWriter file, FileWriter::open(path));
  file.write(text);
  return file.commit();
}

Result<int> CheckCommand::check() {
  KM_ASSIGN(const std::string tools, this->tools());
  for (const std::string* const path : {&json_, &sarif_, &log_}) {
    if (!path->empty()) KM_TRY(check_writable(*path));
  }
  if (!log_.empty() && format_ == "text") {
    return usage_error("--log-file is for --format compute-sanitizer");
  }
  KM_ASSIGN(FindingsFile file, FindingsFile::create());
  KM_TRY(set_variable("KM_CHECK", tools));
  KM_TRY(set_variable("KM_CHECK_REPORT", file.path()));
  const bool is_text = format_ == "text";
  KM_TRY(set_variable("KM_CHECK_PRINT", is_text ? "1" : "0"));
  KM_ASSIGN(const int code, program_.run());
  KM_ASSIGN(const std::vector<ToldFinding> findings, file.read());
  KM_TRY(write(json_, json_of(findings)));
  KM_TRY(write(sarif_, sarif_of(findings)));
  if (is_text) {
    std::fputs(printable(table_of(findings, limit_) + orders_text(file.orders())).c_str(), stderr);
  } else {
    const std::string text = printable(sanitizer_text(findings, tools_, limit_));
    if (log_.empty()) std::fputs(text.c_str(), stdout);
    KM_TRY(write(log_, text));
  }
  return findings.empty() || error_exit_ < 0 ? code : error_exit_;
}

int CheckCommand::run() {
  const Result<int> code = check();
  return code ? *code : report(code.error());
}

}  // namespace

std::unique_ptr<Command> make_check(CLI::App& app) { return std::make_unique<CheckCommand>(app); }

}  // namespace km::tools
