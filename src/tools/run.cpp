// kernelmill run: one kernel on data from files.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/env.h"
#include "base/file/file.h"
#include "base/printable.h"
#include "tools/arrays/argument.h"
#include "tools/check/check_session.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/files.h"
#include "tools/kernels/kernel.h"
#include "tools/kernels/program.h"
#include "tools/kernels/session.h"
#include "tools/terminal/kernel_output.h"

namespace km::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter = R"(Argument SPECs, in the order of the kernel's parameters:
  TYPE:V[,V...]      numbers by value: i32:5  f32:0.5  u64:0xff  f32:1,0,0,1 (a float4)
  in:FILE            an array from a .npy, .png or .jpg file (pixels: u8[height,width,channels])
  out:FILE:SHAPE     zeroed memory, written to FILE afterwards; FILE - prints it
  inout:FILE[:FILE]  an array that is read, and written afterwards
  zeros:SHAPE        zeroed memory
  print:SHAPE        zeroed memory, printed afterwards: the first 4096 numbers (out:-: prints all)
SHAPE is TYPE[N,...], WxHxC for an image, or @K: like argument K, counted from 0.
A number may be @K.count, @K.bytes, @K.width, @K.height, @K.channels or @K.dim0 to @K.dim9.
TYPE is one of i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64.

On CPU devices every access is tested against the arrays; KM_CPU_MEMORY=plain turns that off.

Example: blur a photo
  kernelmill run blur.cu --kernel blur --grid 64,64 --block 8,8 \
    --arg in:photo.png --arg out:blurred.png:@0 --arg i32:@0.width --arg i32:@0.height)";

class RunCommand : public Command {
 public:
  explicit RunCommand(CLI::App& app);
  int run() override;

 private:
  void add_options();
  /// Runs the kernel in this process.
  int run_here();
  /// Runs the command again, under the checker.
  Result<int> run_checked();
  /// Checks as much as possible before anything runs.
  Status prepare(SessionInput& input) const;

  std::string file_;
  std::string kernel_;
  std::string grid_ = "1";
  std::string block_ = "1";
  uint64_t shared_bytes_ = 0;
  std::vector<std::string> specs_;
  std::string device_ = "auto";
  uint32_t repeat_ = 1;
  bool quiet_ = false;
  bool json_ = false;
  CheckOptions check_;
  std::vector<CLI::Option*> of_check_;  // but --check itself
  CompileOptions options_;
};

RunCommand::RunCommand(CLI::App& app)
    : Command(app.add_subcommand("run", "Run a kernel on data from files")) {
  parser_->footer(kFooter);
  add_kernel_file(*parser_, file_);
  add_options();
  add_compile_options(*parser_, options_);
}

void RunCommand::add_options() {
  parser_->add_option("-k,--kernel", kernel_, "The kernel's name; not needed where there is one")
      ->type_name("NAME");
  parser_->add_option("-g,--grid", grid_, "Blocks (default 1)")->type_name("X[,Y[,Z]]");
  parser_->add_option("-b,--block", block_, "Threads per block (default 1)")
      ->type_name("X[,Y[,Z]]");
  add_argument_options(*parser_, specs_, shared_bytes_,
                       "A kernel argument, see below; once for each");
  add_device_option(*parser_, device_, "cpu, cpu:1, cuda:0 ... (default auto)");
  parser_->add_option("--repeat", repeat_, "Launch this often, each time on fresh data")
      ->type_name("N")
      ->check(CLI::Range(1u, 1000000u));
  parser_
      ->add_option("--check", check_.tools,
                   "Run under the checker's tools; the exit status is 1 if they find something")
      ->type_name("TOOLS")
      ->check(not_empty());
  of_check_ = add_check_options(*parser_, "check-", check_);
  parser_->add_flag("-q,--quiet", quiet_, "Print no times");
  parser_->add_flag(
      "--json", json_,
      "Print times and outputs as JSON; arrays for standard output are in it, and what "
      "kernels print goes to standard error");
}

Status RunCommand::prepare(SessionInput& input) const {
  KM_TRY(check_kernel_file(file_));
  KM_ASSIGN(input.grid, parse_dimensions(grid_, "--grid"));
  KM_ASSIGN(input.block, parse_dimensions(block_, "--block"));
  input.source.path = file_;
  KM_ASSIGN(input.source.text, read_named_file(file_));
  KM_ASSIGN(input.arguments, parse_arguments(specs_));
  input.options = options_;
  input.kernel = kernel_;
  input.device = device_;
  input.shared_bytes = shared_bytes_;
  input.repeat = repeat_;
  input.prints = !json_;
  return {};
}

void print_times(const SessionTimes& times) {
  const std::string kernel = printable_name(times.kernel);
  std::fprintf(stderr, "device   %s\n", printable_name(times.device).c_str());
  if (times.compile_ms > 0) std::fprintf(stderr, "compile  %.3f ms\n", times.compile_ms);
  std::fprintf(stderr, "load     %.3f ms\n", times.load_ms);
  std::vector<double> sorted = times.kernel_ms;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() == 1) {
    std::fprintf(stderr,
                 "kernel   %.3f ms  %s (first launch: machine code is made; see --repeat)\n",
                 sorted[0], kernel.c_str());
    return;
  }
  std::fprintf(stderr, "kernel   %.3f ms best, %.3f ms median, %.3f ms first of %zu  %s\n",
               sorted.front(), sorted[sorted.size() / 2], times.kernel_ms.front(), sorted.size(),
               kernel.c_str());
}

/// The array's numbers, up to the limit of "print:"; infinities and NaN are strings, since JSON has
/// no such numbers.
Json values_of(const Argument& argument) {
  Json values = Json::array();
  std::istringstream words(
      array_text(argument.array, argument.is_shortened ? kMaxPrinted : UINT64_MAX));
  for (std::string word; words >> word;) {
    const Json number = Json::parse(word, nullptr, false);
    values.push_back(number.is_number() ? number : Json(word));
  }
  return values;
}

void print_json(const SessionInput& input, const SessionTimes& times) {
  Json outputs = Json::array();
  for (size_t i = 0; i < input.arguments.size(); ++i) {
    const Argument& argument = input.arguments[i];
    if (argument.output.empty()) continue;
    Json output = {{"argument", i},
                   {"type", element_type_name(argument.array.type)},
                   {"shape", argument.array.shape}};
    if (argument.output == "-") {
      output["values"] = values_of(argument);
    } else {
      output["file"] = argument.output;
    }
    outputs.push_back(std::move(output));
  }
  const Json all = {{"device", times.device},
                    {"kernel", times.kernel},
                    {"grid", input.grid},
                    {"block", input.block},
                    {"compile_ms", times.compile_ms},
                    {"load_ms", times.load_ms},
                    {"kernel_ms", times.kernel_ms},
                    {"outputs", outputs}};
  std::puts(all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

/// The command runs again because the checker's settings are those of a process, and because a
/// process tells how often it saw each finding when it ends. The inner command has a report.
Result<int> RunCommand::run_checked() {
  KM_ASSIGN(CheckSession session, CheckSession::begin(check_));
  KM_ASSIGN(const std::string line, read_file("/proc/self/cmdline"));
  std::vector<std::string> words;
  std::istringstream text(line);
  for (std::string word; std::getline(text, word, '\0');) words.push_back(word);
  words[0] = "/proc/self/exe";
  KM_ASSIGN(const int code, run_program(words));
  KM_ASSIGN(const SessionFindings found, session.end());
  // A command that has failed has said why, and has not looked at the whole kernel.
  if (code != kExitOk && found.all.empty() && found.suppressed == 0) return code;
  KM_TRY(session.tell(found));
  return check_.exit_status(code, !found.all.empty());
}

int RunCommand::run() {
  for (const CLI::Option* const option : of_check_) {
    if (check_.tools.empty() && option->count() != 0) {
      return report(usage_error(option->get_name() + " is for --check"));
    }
  }
  if (check_.tools.empty() || env(EnvVar::KM_CHECK_REPORT)) return run_here();
  const Result<int> code = run_checked();
  // The failure is told apart from findings.
  return code ? *code : std::max<int>(report(code.error()), kExitUsage);
}

int RunCommand::run_here() {
  // Accesses are checked by default, because this command is for trying kernels, not for
  // measurements.
  if (!is_object(file_)) set_default_env(EnvVar::KM_CPU_MEMORY, "checked");
  SessionInput input;
  if (const Status ready = prepare(input); !ready) return report(ready.error());
  const Result<SessionTimes> times = [&] {
    const KernelOutput moved(json_);
    return run_session(input);
  }();
  if (!times) return report(times.error());
  if (json_) {
    print_json(input, *times);
  } else if (!quiet_) {
    print_times(*times);
  }
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> make_run(CLI::App& app) { return std::make_unique<RunCommand>(app); }

}  // namespace km::tools
