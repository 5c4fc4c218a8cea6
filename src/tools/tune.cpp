// kernelmill tune: finds the fastest of several ways to launch a kernel.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/printable.h"
#include "base/text.h"
#include "tools/arrays/argument.h"
#include "tools/clock.h"
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
  std::string options;  // one per line
  std::string text;     // "64,1,1 TILE=8"
};

/// The milliseconds of a tuning; 0 if a stored choice was used.
struct TuneTimes {
  double trying_ms = 0, measuring_ms = 0;
};

/// The phases of a tuning: each candidate is compiled and tried, then all are measured. A line on
/// terminals shows the phase.
class Phases {
 public:
  Phases() { shown_.emplace("compiling and trying candidates"); }
  static void step(void* itself, uint32_t done, uint32_t count) {
    static_cast<Phases*>(itself)->note(done, count);
  }
  TuneTimes spent() const {
    return {tried_ms_, tried_ms_ == 0 ? 0 : watch_.elapsed_ms() - tried_ms_};
  }

 private:
  void note(uint32_t done, uint32_t count) {
    shown_->set(done, count);
    if (done != count) return;
    tried_ms_ = watch_.elapsed_ms();
    shown_.reset();  // only one may exist at a time
    shown_.emplace("measuring " + counted(count, "candidate"));
  }

  const Stopwatch watch_;
  double tried_ms_ = 0;
  std::optional<Progress> shown_;
};

/// A candidate's row of the output.
struct Outcome {
  std::string name, why;
  km_tune_result result{};
  bool is_best = false, is_as_good = false;

  bool is_measured() const { return result.status == KM_SUCCESS; }
};

std::vector<Outcome> outcomes_of(km_tune tune, const std::vector<Candidate>& all, uint32_t best) {
  std::vector<Outcome> outcomes(all.size());
  for (uint32_t i = 0; i < all.size(); ++i) {
    Outcome& each = outcomes[i];
    each.name = all[i].text;
    each.is_best = i == best;
    each.result.struct_size = sizeof each.result;
    km_tune_result_get(tune, i, &each.result);
    each.why = copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
      return km_tune_result_message(tune, i, buffer, capacity, size);
    });
  }
  // The range from the fastest launch to the median contains half of the launches: if those of two
  // candidates overlap, another measurement may reverse their order.
  const uint64_t usual_ns = outcomes[best].result.median_ns;
  for (Outcome& each : outcomes) {
    each.is_as_good = outcomes[best].is_measured() && each.is_measured() && !each.is_best &&
                      each.result.min_ns <= usual_ns;
  }
  return outcomes;
}

void print_json(const std::vector<Outcome>& outcomes) {
  Json list = Json::array();
  for (const Outcome& each : outcomes) {
    list.push_back({{"candidate", each.name},
                    {"best", each.is_best},
                    {"no_difference", each.is_as_good},
                    {"measured", each.is_measured()},
                    {"median_us", static_cast<double>(each.result.median_ns) * 1e-3},
                    {"min_us", static_cast<double>(each.result.min_ns) * 1e-3},
                    {"samples", each.result.sample_count},
                    {"reason", each.why}});
  }
  std::puts(list.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_table(const std::vector<Outcome>& outcomes) {
  size_t width = std::string_view("candidate").size();
  for (const Outcome& each : outcomes) width = std::max(width, printable_name(each.name).size());
  const auto columns = static_cast<int>(std::min<size_t>(width, 60));
  const auto any = std::any_of(outcomes.begin(), outcomes.end(),
                               [](const Outcome& each) { return each.is_measured(); });
  if (any) {
    std::printf("  %-*s %12s %12s %9s\n", columns, "candidate", "median us", "fastest us",
                "launches");
  }
  for (const Outcome& each : outcomes) {
    std::string line = each.is_best ? "* " : "  ";
    line += printable_name(each.name);
    line.resize(std::max(line.size(), size_t{2} + static_cast<size_t>(columns)), ' ');
    if (each.is_measured()) {
      char times[80];
      std::snprintf(times, sizeof times, " %12.3f %12.3f %9u",
                    static_cast<double>(each.result.median_ns) * 1e-3,
                    static_cast<double>(each.result.min_ns) * 1e-3, each.result.sample_count);
      line += times;
      if (each.is_as_good) line += "  no difference";
    } else {
      line += " " + (each.why.empty() ? (each.is_best ? "remembered" : "not measured") : each.why);
    }
    std::puts(each.is_best ? painted(Colour::green, line, stdout).c_str()
                           : printable(line).c_str());
  }
}

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
                          const std::vector<Argument>& arguments, TuneTimes* spent) const;
  Status tune();

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
  add_argument_options(*parser_, specs_, shared_bytes_, "A kernel argument; once for each");
  parser_->add_flag("--check", check_, "Compare outputs with those of the first candidate");
  parser_->add_option("--tolerance", tolerance_, "Outputs are f32 and may differ by this much")
      ->type_name("NUMBER")
      ->check(CLI::NonNegativeNumber);
  parser_
      ->add_option("--budget", budget_ms_,
                   "Milliseconds for all measurements, compiling not counted (default 1000)")
      ->type_name("N")
      ->check(CLI::Range(1u, 86400000u));
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

/// The parameters' types are known once a candidate has been compiled.
Status TuneCommand::check_types(km_device device, km_tune tune, uint32_t candidate,
                                const std::vector<Argument>& arguments) const {
  Context context;
  Function function;
  KM_TRY(check(km_context_create(device, context.out())));
  KM_TRY(check(km_tune_function(tune, candidate, context.get(), function.out())));
  return check_arguments(function.get(), kernel_, arguments);
}

Result<uint32_t> TuneCommand::choose(km_tune tune, const std::vector<Candidate>& all,
                                     const std::vector<Argument>& arguments,
                                     TuneTimes* spent) const {
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
  if (!std::isfinite(tolerance_)) return usage_error("--tolerance is not a finite number");
  if (check_ || tolerance_ > 0) {
    KM_TRY(check(km_tune_set_check(tune, tolerance_ > 0 ? KM_TUNE_CHECK_F32 : KM_TUNE_CHECK_EXACT,
                                   tolerance_)));
  }
  KM_TRY(check(km_tune_set_budget(tune, uint64_t{budget_ms_} * 1000000, 1)));
  Phases phases;
  KM_TRY(check(km_tune_set_progress(tune, Phases::step, &phases)));
  KM_TRY(check(km_tune_run(tune, problem_.c_str(), again_ ? KM_TUNE_RUN_AGAIN : KM_TUNE_RUN_DEFAULT,
                           &number)));
  *spent = phases.spent();
  return number;
}

Status TuneCommand::tune() {
  if (!is_ptx(file_) && !is_cuda(file_)) {
    return usage_error(in_quotes(file_) + ": expected a FILE.cu or a FILE.ptx");
  }
  KM_ASSIGN(const std::vector<Candidate> all, candidates());
  KM_ASSIGN(const std::string source, read_named_file(file_));
  Device device;
  Tune tune;
  KM_TRY(check(km_device_open(device_.c_str(), device.out())));
  KM_TRY(check(
      km_tune_create(device.get(), source.data(), source.size(), kernel_.c_str(), tune.out())));
  KM_ASSIGN(const std::vector<Argument> arguments, parse_arguments(specs_));
  TuneTimes spent;
  auto chosen = [&] {
    const KernelOutput moved(json_);
    return choose(tune.get(), all, arguments, &spent);
  }();
  KM_ASSIGN(const uint32_t best, std::move(chosen));
  KM_TRY(check_types(device.get(), tune.get(), best, arguments));
  const std::vector<Outcome> outcomes = outcomes_of(tune.get(), all, best);
  if (json_) {
    print_json(outcomes);
    return {};
  }
  print_table(outcomes);
  if (spent.trying_ms != 0) {
    note("compiled and tried in %.1f s, measured for %.1f s", spent.trying_ms / 1000,
         spent.measuring_ms / 1000);
  }
  return {};
}

int TuneCommand::run() {
  // Adds the source's folder, so that its includes are found as the compiler would find them.
  const size_t slash = file_.rfind('/');
  options_.include_dirs.push_back(slash == std::string::npos ? "." : file_.substr(0, slash + 1));
  if (is_ptx(file_)) options_ = {};
  if (const Status done = tune(); !done) return report(done.error());
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> make_tune(CLI::App& app) { return std::make_unique<TuneCommand>(app); }

}  // namespace km::tools
