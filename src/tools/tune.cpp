// kernelmill tune: the fastest of several ways to launch a kernel.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/arrays/argument.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/files.h"
#include "tools/kernels/kernel.h"
#include "tools/kernels/signature.h"
#include "tools/terminal/colour.h"
#include "tools/terminal/kernel_output.h"
#include "tools/terminal/progress.h"

namespace km::tools {
namespace {

using Json = nlohmann::ordered_json;

struct Candidate {
  std::array<uint32_t, 3> block{};
  std::string options;  // one a line
  std::string text;     // "64,1,1 TILE=8"
};

class TuneCommand : public Command {
 public:
  explicit TuneCommand(CLI::App& app);
  int run() override;

 private:
  void add_options();
  Result<std::vector<std::string>> variations() const;
  std::string common_options() const;
  Result<std::vector<Candidate>> candidates() const;
  Status add_arguments(km_tune tune, const std::vector<Argument>& arguments) const;
  Status check_types(km_device device, km_tune tune, uint32_t candidate,
                     const std::vector<Argument>& arguments) const;
  Result<uint32_t> choose(km_tune tune, const std::vector<Candidate>& all,
                          const std::vector<Argument>& arguments) const;
  Status tune();
  void print(km_tune tune, const std::vector<Candidate>& all, uint32_t best) const;

  std::string file_, kernel_, device_ = "auto", problem_, threads_ = "1";
  std::vector<std::string> blocks_, varied_, specs_;
  uint64_t shared_bytes_ = 0;
  uint32_t budget_ms_ = 1000;
  double tolerance_ = 0;
  bool check_ = false, again_ = false, json_ = false;
  CompileOptions options_;
};

TuneCommand::TuneCommand(CLI::App& app)
    : Command(app.add_subcommand("tune", "Find the fastest launch of a kernel")) {
  parser_->footer(
      "Argument SPECs are those of 'kernelmill run'. Example:\n"
      "  kernelmill tune blur.cu -k blur -t 512,512 -b 8,8 -b 16,16 --vary RADIUS=1,2 --check \\\n"
      "    --arg in:photo.png --arg print:@0 --arg i32:@0.width --arg i32:@0.height");
  parser_->add_option("FILE", file_, "CUDA C++ (.cu) or PTX (.ptx)")->required()->type_name("FILE");
  add_options();
  add_compile_options(*parser_, options_);
}

void TuneCommand::add_options() {
  parser_->add_option("-k,--kernel", kernel_, "The kernel's name")->required()->type_name("NAME");
  parser_->add_option("-t,--threads", threads_, "Threads in all, which blocks are to cover")
      ->required()
      ->type_name("X[,Y[,Z]]");
  parser_->add_option("-b,--block", blocks_, "A block shape to try; once for each")
      ->required()
      ->type_name("X[,Y[,Z]]")
      ->allow_extra_args(false);
  parser_->add_option("--vary", varied_, "Values of a macro to try; once for each macro")
      ->type_name("NAME=V1,V2,...")
      ->allow_extra_args(false);
  parser_->add_option("--shared", shared_bytes_, "Dynamic shared memory per block")
      ->type_name("BYTES");
  parser_->add_option("-a,--arg", specs_, "A kernel argument; once for each")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  parser_->add_flag("--check", check_, "Compare outputs with those of the first candidate");
  parser_->add_option("--tolerance", tolerance_, "Outputs are f32 and may differ by this much")
      ->type_name("NUMBER")
      ->check(CLI::NonNegativeNumber);
  parser_->add_option("--budget", budget_ms_, "Milliseconds for all measurements (default 1000)")
      ->type_name("N");
  parser_->add_option("--problem", problem_, "Remember the choice under this name")
      ->type_name("TEXT");
  parser_->add_flag("--again", again_, "Measure, whatever is remembered");
  add_device_option(*parser_, device_, "cpu, cpu:1, cuda:0 ... (default auto)");
  parser_->add_flag("--json", json_,
                    "Print the results as JSON; what kernels print goes to standard error");
}

/// "A=1\nB=2\n" for each combination of the varied macros' values.
Result<std::vector<std::string>> TuneCommand::variations() const {
  std::vector<std::string> all = {""};
  for (const std::string& varied : varied_) {
    const size_t equals = varied.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == varied.size()) {
      return usage_error("--vary '" + varied + "': expected NAME=V1,V2,...");
    }
    std::vector<std::string> longer;
    for (size_t from = equals + 1; from <= varied.size();) {
      const size_t end = std::min(varied.find(',', from), varied.size());
      for (const std::string& before : all) {
        longer.push_back(before + varied.substr(0, equals + 1) + varied.substr(from, end - from) +
                         "\n");
      }
      from = end + 1;
    }
    all = std::move(longer);
  }
  return all;
}

std::string TuneCommand::common_options() const {
  std::string lines;
  if (!options_.architecture.empty()) {
    const bool is_number = options_.architecture.find('_') == std::string::npos;
    lines += std::string("--gpu-architecture=") + (is_number ? "compute_" : "") +
             options_.architecture + "\n";
  }
  for (const std::string& define : options_.defines) lines += "-D" + define + "\n";
  for (const std::string& folder : options_.include_dirs) lines += "-I" + folder + "\n";
  for (const std::string& option : options_.nvrtc) lines += option + "\n";
  return lines;
}

Result<std::vector<Candidate>> TuneCommand::candidates() const {
  std::vector<Candidate> all;
  KM_ASSIGN(const std::vector<std::string> combinations, variations());
  for (const std::string& block : blocks_) {
    KM_ASSIGN(const auto shape, parse_dimensions(block, "--block"));
    for (const std::string& combination : combinations) {
      Candidate candidate{shape, common_options(), block};
      for (size_t from = 0; from < combination.size();) {
        const size_t end = combination.find('\n', from);
        const std::string define = combination.substr(from, end - from);
        candidate.options += "-D" + define + "\n";
        candidate.text += " " + define;
        from = end + 1;
      }
      all.push_back(std::move(candidate));
    }
  }
  return all;
}

Status TuneCommand::add_arguments(km_tune tune, const std::vector<Argument>& arguments) const {
  for (const Argument& argument : arguments) {
    const std::vector<std::byte>& bytes = argument.array.bytes;
    const bool is_output = !argument.output.empty();
    if (!argument.is_buffer) {
      KM_TRY(check(km_tune_add_scalar(tune, argument.scalar.data(), argument.scalar.size())));
      continue;
    }
    const void* data = bytes.empty() ? nullptr : bytes.data();
    const uint64_t size = argument.array.element_count() * element_size(argument.array.type);
    KM_TRY(check(km_tune_add_buffer(tune, data, size,
                                    is_output ? KM_TUNE_BUFFER_OUTPUT : KM_TUNE_BUFFER_DEFAULT)));
  }
  return {};
}

/// The kernel's parameters are known when a candidate has been compiled.
Status TuneCommand::check_types(km_device device, km_tune tune, uint32_t candidate,
                                const std::vector<Argument>& arguments) const {
  Context context;
  Function function;
  KM_TRY(check(km_context_create(device, context.out())));
  KM_TRY(check(km_tune_function(tune, candidate, context.get(), function.out())));
  return check_arguments(function.get(), kernel_, arguments);
}

Result<uint32_t> TuneCommand::choose(km_tune tune, const std::vector<Candidate>& all,
                                     const std::vector<Argument>& arguments) const {
  KM_ASSIGN(const auto threads, parse_dimensions(threads_, "--threads"));
  KM_TRY(add_arguments(tune, arguments));
  uint32_t number = 0;
  for (const Candidate& candidate : all) {
    km_launch_config config{};
    for (size_t axis = 0; axis < 3; ++axis) {
      config.block[axis] = candidate.block[axis];
      config.grid[axis] = (threads[axis] - 1) / candidate.block[axis] + 1;
    }
    config.shared_bytes = shared_bytes_;
    KM_TRY(check(km_tune_add_candidate(tune, &config, candidate.options.c_str(), &number)));
  }
  if (check_ || tolerance_ > 0) {
    KM_TRY(check(km_tune_set_check(tune, tolerance_ > 0 ? KM_TUNE_CHECK_F32 : KM_TUNE_CHECK_EXACT,
                                   tolerance_)));
  }
  KM_TRY(check(km_tune_set_budget(tune, uint64_t{budget_ms_} * 1000000, 1)));
  Progress progress("measuring candidates");
  const auto note = [](void* shown, uint32_t done, uint32_t count) {
    static_cast<Progress*>(shown)->set(done, count);
  };
  KM_TRY(check(km_tune_set_progress(tune, note, &progress)));
  KM_TRY(check(km_tune_run(tune, problem_.c_str(), again_ ? KM_TUNE_RUN_AGAIN : KM_TUNE_RUN_DEFAULT,
                           &number)));
  return number;
}

void TuneCommand::print(km_tune tune, const std::vector<Candidate>& all, uint32_t best) const {
  Json list = Json::array();
  for (uint32_t i = 0; i < all.size(); ++i) {
    km_tune_result result{};
    result.struct_size = sizeof result;
    km_tune_result_get(tune, i, &result);
    const std::string why = copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
      return km_tune_result_message(tune, i, buffer, capacity, size);
    });
    const char* mark = i == best ? "*" : " ";
    if (json_) {
      list.push_back({{"candidate", all[i].text},
                      {"best", i == best},
                      {"measured", result.status == KM_SUCCESS},
                      {"median_us", static_cast<double>(result.median_ns) * 1e-3},
                      {"min_us", static_cast<double>(result.min_ns) * 1e-3},
                      {"samples", result.sample_count},
                      {"reason", why}});
    } else if (result.status == KM_SUCCESS) {
      char line[160];
      std::snprintf(line, sizeof line, "%s %-32s %12.3f us median %12.3f us best of %u", mark,
                    all[i].text.c_str(), static_cast<double>(result.median_ns) * 1e-3,
                    static_cast<double>(result.min_ns) * 1e-3, result.sample_count);
      std::puts(i == best ? painted(Colour::green, line, stdout).c_str() : line);
    } else {
      const char* state = i == best ? "remembered" : "not measured";
      std::printf("%s %-32s %s\n", mark, all[i].text.c_str(), why.empty() ? state : why.c_str());
    }
  }
  if (json_) std::puts(list.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

Status TuneCommand::tune() {
  if (!is_ptx(file_) && !is_cuda(file_)) {
    return usage_error("'" + file_ + "': expected a FILE.cu or a FILE.ptx");
  }
  KM_ASSIGN(const std::vector<Candidate> all, candidates());
  KM_ASSIGN(const std::string source, read_named_file(file_));
  Device device;
  Tune tune;
  KM_TRY(check(km_device_open(device_.c_str(), device.out())));
  KM_TRY(check(
      km_tune_create(device.get(), source.data(), source.size(), kernel_.c_str(), tune.out())));
  KM_ASSIGN(const std::vector<Argument> arguments, parse_arguments(specs_));
  auto chosen = [&] {
    const KernelOutput moved(json_);
    return choose(tune.get(), all, arguments);
  }();
  KM_ASSIGN(const uint32_t best, std::move(chosen));
  KM_TRY(check_types(device.get(), tune.get(), best, arguments));
  print(tune.get(), all, best);
  return {};
}

int TuneCommand::run() {
  // An include of a file beside the source is found as the compiler would find it.
  const size_t slash = file_.rfind('/');
  options_.include_dirs.push_back(slash == std::string::npos ? "." : file_.substr(0, slash + 1));
  if (is_ptx(file_)) options_ = {};
  if (const Status done = tune(); !done) return report(done.error());
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> make_tune(CLI::App& app) { return std::make_unique<TuneCommand>(app); }

}  // namespace km::tools
