// kernelmill explain: what the code generator makes of each line of a kernel, and what to try.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/file/named_file.h"
#include "base/text.h"
#include "tools/arrays/argument.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/exec/exec_program.h"
#include "tools/explain/notes_file.h"
#include "tools/explain/report.h"
#include "tools/kernels/kernel.h"
#include "tools/kernels/session.h"
#include "tools/kernels/source.h"
#include "tools/library.h"

namespace km::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kExplainFooter =
    "Without --arg nothing is run, and the shares are estimates: the cost of a line's\n"
    "instructions, times 8 for each loop around them, so that rare branches count as often as\n"
    "others. With --arg (SPECs as in 'kernelmill run') and --grid the kernel runs for about a\n"
    "second, and the shares are of samples of its threads' time. KM_CPU_ISA chooses another\n"
    "machine's instruction set.";

class ExplainCommand : public Command {
 public:
  explicit ExplainCommand(CLI::App& app);
  int run() override;

 private:
  Status explain() const;
  bool is_run() const { return !specs_.empty() || !grid_.empty(); }
  Status launch(const Source& source) const;
  Status prepare(const Source& source) const;
  Status prepare_all(km_context context, const Source& source) const;
  Status prepare(km_function function) const;
  Status prepare_at(km_module module, const std::string& name) const;
  void print(const std::vector<NotedKernel>& kernels, const std::string& text) const;
  std::string source_text(const std::string& main, const std::string& text) const;

  std::string file_, kernel_, grid_, block_;
  uint64_t shared_bytes_ = 0;
  std::vector<std::string> specs_;
  bool json_ = false;
  CompileOptions options_;
};

ExplainCommand::ExplainCommand(CLI::App& app)
    : Command(app.add_subcommand("explain", "Say what becomes of a kernel's lines on the CPU")) {
  parser_->footer(kExplainFooter);
  add_kernel_file(*parser_, file_);
  parser_->add_option("-k,--kernel", kernel_, "Only this kernel, or template instance")
      ->type_name("NAME");
  parser_
      ->add_option("-b,--block", block_,
                   "The block size that the code is for (default 256 threads, or as many as the "
                   "kernel can have)")
      ->type_name("X[,Y[,Z]]");
  parser_->add_option("-g,--grid", grid_, "Run this many blocks (default 1)")
      ->type_name("X[,Y[,Z]]");
  add_argument_options(*parser_, specs_, shared_bytes_,
                       "Run the kernel with this argument; once for each");
  parser_->add_flag("--json", json_, "Print it as JSON");
  add_compile_options(*parser_, options_);
}

/// The default block has no more threads than the kernel's launch bounds allow.
Status ExplainCommand::prepare(km_function function) const {
  if (!block_.empty()) {
    KM_ASSIGN(const auto block, parse_dimensions(block_, "--block"));
    return check(km_function_prepare(function, block[0], block[1], block[2]));
  }
  int64_t most = 256;
  KM_TRY(check(
      km_function_attribute_get(function, KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most)));
  return check(km_function_prepare(function,
                                   static_cast<uint32_t>(std::clamp<int64_t>(most, 1, 256)), 1, 1));
}

Status ExplainCommand::prepare_at(km_module module, const std::string& name) const {
  Function function;
  KM_TRY(check(km_module_function(module, name.c_str(), function.out())));
  return prepare(function.get());
}

/// Kernels of which no code can be made for this block are left out with the reason.
Status ExplainCommand::prepare_all(km_context context, const Source& source) const {
  KM_ASSIGN(const Module module, load_module(context, source, options_, {}));
  uint32_t count = 0;
  KM_TRY(check(km_module_function_count(module.get(), &count)));
  Status all = error(KM_ERROR_NOT_FOUND, in_quotes(file_) +
                                             " has no kernels. A template is named with its "
                                             "arguments: --kernel 'scale<float>'");
  bool is_any = false;
  for (uint32_t i = 0; i < count; ++i) {
    all = prepare_at(module.get(), function_name(module.get(), i));
    is_any = is_any || all;
    if (!all) note("%s", all.error().message.c_str());
  }
  return is_any ? Status() : all;
}

Status ExplainCommand::prepare(const Source& source) const {
  Device device;
  Context context;
  KM_TRY(check(km_device_open("cpu", device.out())));
  KM_TRY(check(km_context_create(device.get(), context.out())));
  if (kernel_.empty()) return prepare_all(context.get(), source);
  KM_ASSIGN(const Kernel kernel, load_kernel(context.get(), source, options_, kernel_));
  return prepare(kernel.function.get());
}

/// Runs the kernel until there are some hundred samples. Its outputs are not written.
Status ExplainCommand::launch(const Source& source) const {
  constexpr uint64_t kSampledNs = 1'000'000'000;
  SessionInput input;
  input.device = "cpu";
  input.source = source;
  input.options = options_;
  input.kernel = kernel_;
  KM_ASSIGN(input.grid, parse_dimensions(grid_.empty() ? "1" : grid_, "--grid"));
  KM_ASSIGN(input.block, parse_dimensions(block_.empty() ? "256" : block_, "--block"));
  input.shared_bytes = shared_bytes_;
  KM_ASSIGN(input.arguments, parse_arguments(specs_));
  for (Argument& each : input.arguments) each.output.clear();
  input.least_cpu_ns = kSampledNs;
  KM_TRY(run_session(input));
  return {};
}

void ExplainCommand::print(const std::vector<NotedKernel>& kernels, const std::string& text) const {
  if (json_) {
    Json result = Json::array();
    for (const NotedKernel& kernel : kernels) result.push_back(json_of(kernel));
    std::printf("%s\n", Json{{"kernels", result}}.dump(2).c_str());
    return;
  }
  for (const NotedKernel& kernel : kernels) {
    if (&kernel != &kernels.front()) std::printf("\n");
    const std::string main = main_file(kernel);
    print_kernel(kernel, main, split(source_text(main, text), '\n'));
  }
}

/// The text of the file that most of a kernel's lines are of; empty if it cannot be read. PTX names
/// its source as the compiler saw it.
std::string ExplainCommand::source_text(const std::string& main, const std::string& text) const {
  const std::string folder = file_.substr(0, file_.rfind('/') + 1);
  if (main.empty() || is_cuda(file_)) return text;
  for (const std::string& path : {main, folder + main}) {
    if (auto found = read_named_file(path)) return *std::move(found);
  }
  return {};
}

Status ExplainCommand::explain() const {
  KM_TRY(check_kernel_file(file_));
  if (is_object(file_)) {
    return usage_error("object code has been compiled already: give its source or its PTX");
  }
  KM_ASSIGN(const std::string text, read_named_file(file_));
  KM_ASSIGN(const NotesFile notes, NotesFile::create(is_run() ? "lines,samples" : "lines"));
  KM_TRY(set_variable("KM_CPU_MEMORY", "plain"));
  const Source source = {file_, text};
  KM_TRY(is_run() ? launch(source) : prepare(source));
  KM_ASSIGN(const std::vector<NotedKernel> kernels, notes.read());
  print(kernels, text);
  return {};
}

int ExplainCommand::run() {
  const Status status = explain();
  return status ? kExitOk : report(status.error());
}

}  // namespace

std::unique_ptr<Command> make_explain(CLI::App& app) {
  return std::make_unique<ExplainCommand>(app);
}

}  // namespace km::tools
