// kernelmill trace: runs a program while the library records a trace.
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/env.h"
#include "base/file/file.h"
#include "base/file/file_writer.h"
#include "base/text.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/exec/exec_program.h"
#include "tools/explain/notes_file.h"
#include "tools/explain/page.h"
#include "tools/kernels/program.h"

namespace km::tools {
namespace {

class TraceCommand : public Command {
 public:
  explicit TraceCommand(CLI::App& app);
  int run() override;

 private:
  Status set_variables(const std::string& path);
  Status finish(const std::string& path) const;

  std::string output_ = "trace.json";
  bool counts_ = false, has_lines_ = false;
  std::optional<NotesFile> lines_;  // nothing without --lines
  std::vector<std::string> words_;
};

TraceCommand::TraceCommand(CLI::App& app)
    : Command(app.add_subcommand("trace", "Run a program and record what it does")) {
  parser_->add_option("-o,--output", output_,
                      "Where the trace goes; with the ending .html a report (default trace.json)");
  parser_->add_flag("--counters", counts_,
                    "Count what warps do (KM_COUNTERS), and print it at the end");
  parser_->add_flag("--lines", has_lines_,
                    "Add to the report what becomes of each line of the kernels, as 'kernelmill "
                    "explain' says it, and the lines at which they spent their time");
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

Status TraceCommand::set_variables(const std::string& path) {
  KM_TRY(set_variable("KM_TRACE", path));
  if (counts_) KM_TRY(set_variable("KM_COUNTERS", "1"));
  if (!has_lines_) return {};
  if (!path.ends_with(".html")) {
    return usage_error("--lines needs a report: give --output a name that ends in .html");
  }
  KM_ASSIGN(lines_, NotesFile::create("lines,samples"));
  return {};
}

/// Adds the notes to the report that the program has written.
Status TraceCommand::finish(const std::string& path) const {
  KM_ASSIGN(std::string page, read_file(path));
  KM_ASSIGN(std::vector<NotedKernel> kernels, lines_->read());
  if (!add_lines(std::move(kernels), &page)) {
    return error(KM_ERROR_INVALID_ARGUMENT, in_quotes(path) + " is no report of a trace");
  }
  return write_file(path, page);
}

int TraceCommand::run() {
  std::error_code none;
  const std::string path = std::filesystem::absolute(output_, none).string();
  if (const Status writable = check_writable(path); !writable) return report(writable.error());
  if (const Status set = set_variables(path); !set) return report(set.error());
  const Identity before(path);
  const Result<int> code = run_program(words_);
  if (!code) return report(code.error());
  const Identity after(path);
  print_outcome(output_, before, after, *code);
  if (has_lines_ && after.is_regular && after != before) {
    if (const Status added = finish(path); !added) return report(added.error());
  }
  return *code;
}

}  // namespace

std::unique_ptr<Command> make_trace(CLI::App& app) { return std::make_unique<TraceCommand>(app); }

}  // namespace km::tools
