// kernelmill trace: runs a program while the library records a trace.
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>

#include "base/env.h"
#include "base/file/file_writer.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/kernels/program.h"

namespace km::tools {
namespace {

class TraceCommand : public Command {
 public:
  explicit TraceCommand(CLI::App& app);
  int run() override;

 private:
  std::string output_ = "trace.json";
  bool counts_ = false;
  std::vector<std::string> words_;
};

TraceCommand::TraceCommand(CLI::App& app)
    : Command(app.add_subcommand("trace", "Run a program and record what it does")) {
  parser_->add_option("-o,--output", output_,
                      "Where the trace goes; with the ending .html a report (default trace.json)");
  parser_->add_flag("--counters", counts_,
                    "Count what warps do (KM_COUNTERS), and print it at the end");
  parser_->add_option("PROGRAM", words_, "The program and its arguments, behind '--'")
      ->type_name("PROGRAM [ARGUMENTS]")
      ->required();
}

/// Identifies the file behind a path, because each trace is a new file.
struct Identity {
  explicit Identity(const std::string& path) {
    struct stat about{};
    if (stat(path.c_str(), &about) != 0) return;
    is_there = true;
    is_regular = S_ISREG(about.st_mode);
    device = about.st_dev;
    number = about.st_ino;
  }
  bool operator==(const Identity&) const = default;

  bool is_there = false, is_regular = false;
  dev_t device = 0;
  ino_t number = 0;
};

/// Prints whether the trace was written. For pipes and devices that cannot be observed.
void print_outcome(const std::string& shown, const Identity& before, const Identity& after,
                   int code) {
  if (after.is_there && !after.is_regular) return;
  if (after.is_there && after != before) {
    note("%s is written%s", shown.c_str(),
         shown.ends_with(".html") ? "" : "; open it at ui.perfetto.dev");
    return;
  }
  note(
      "nothing was recorded%s: the program ended with code %d and used no context of the "
      "library, or was killed",
      before.is_there ? (", and " + shown + " is as it was").c_str() : "", code);
}

int TraceCommand::run() {
  std::error_code none;
  const std::string path = std::filesystem::absolute(output_, none).string();
  if (const Status writable = check_writable(path); !writable) return report(writable.error());
  const bool is_set =
      setenv("KM_TRACE", path.c_str(), 1) == 0 && (!counts_ || setenv("KM_COUNTERS", "1", 1) == 0);
  if (!is_set) {
    return report(error(KM_ERROR_OUT_OF_HOST_MEMORY, "out of memory"));
  }
  const Identity before(path);
  const Result<int> code = run_program(words_);
  if (!code) return report(code.error());
  print_outcome(output_, before, Identity(path), *code);
  return *code;
}

}  // namespace

std::unique_ptr<Command> make_trace(CLI::App& app) { return std::make_unique<TraceCommand>(app); }

}  // namespace km::tools
