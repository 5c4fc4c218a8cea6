// Random kernels on the engine and on the interpreter:
//   km_fuzz [--minutes=N | --kernels=N] [--seed=N] [--keep=FOLDER] [--mostly-small] [--short]
//   km_fuzz --replay=FOLDER
//   km_fuzz --memory-forms [--every=N] [--seed=N] [--write-refused]
// --short takes memory away, so that many kernels access what is not there: the engine, whose
// contexts are checked then, has to find that if and only if the interpreter does.
// A kernel that goes wrong is made small and printed, or kept as a file. The same seed gives the
// same kernels. Exits with 77 where the machine lacks what KM_CPU_ISA asks for.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compare.h"
#include "generator.h"
#include "memory_check.h"
#include "shrink.h"

namespace km::fuzz {
namespace {

constexpr unsigned kKernelsPerModule = 32, kShrinkTries = 600, kFailuresToShow = 20;

struct Options {
  uint64_t minutes = 0, kernels = 0, seed = 1, every = 1;
  std::string keep, replay;
  bool memory_forms = false, write_refused = false, mostly_small = false, is_short = false;
};

bool read_number(const char* argument, const char* name, uint64_t& value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  value = std::strtoull(argument + length, nullptr, 0);
  return true;
}

bool read_options(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    if (std::strncmp(arguments[i], "--keep=", 7) == 0) {
      options.keep = arguments[i] + 7;
    } else if (std::strncmp(arguments[i], "--replay=", 9) == 0) {
      options.replay = arguments[i] + 9;
    } else if (std::strcmp(arguments[i], "--memory-forms") == 0) {
      options.memory_forms = true;
    } else if (std::strcmp(arguments[i], "--write-refused") == 0) {
      options.write_refused = true;
    } else if (std::strcmp(arguments[i], "--short") == 0) {
      options.is_short = true;
    } else if (std::strcmp(arguments[i], "--mostly-small") == 0) {
      options.mostly_small = true;
    } else if (!read_number(arguments[i], "--minutes=", options.minutes) &&
               !read_number(arguments[i], "--kernels=", options.kernels) &&
               !read_number(arguments[i], "--every=", options.every) &&
               !read_number(arguments[i], "--seed=", options.seed)) {
      std::fprintf(stderr, "unknown argument %s\n", arguments[i]);
      return false;
    }
  }
  if (options.minutes == 0 && options.kernels == 0) options.kernels = kKernelsPerModule;
  return true;
}

class Fuzzer {
 public:
  explicit Fuzzer(const Options& options)
      : options_(options),
        instructions_({KM_REFUSED_FORMS, KM_REFUSED_MEMORY_FORMS}),
        start_(Clock::now()) {}

  int run() {
    while (goes_on()) run_module();
    std::printf("%llu kernels, %llu statements: %llu different, %llu refused, %llu broken\n",
                number(kernels_), number(statements_), number(different_), number(refused_),
                number(broken_));
    if (options_.is_short) std::printf("%llu with a fault that both found\n", number(faults_));
    return different_ + broken_ == 0 ? 0 : 1;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static unsigned long long number(uint64_t value) { return value; }

  bool has_time() const {
    return options_.minutes == 0 || Clock::now() - start_ < std::chrono::minutes(options_.minutes);
  }

  bool goes_on() const {
    if (different_ + broken_ >= kFailuresToShow) return false;
    return options_.minutes != 0 ? has_time() : kernels_ < options_.kernels;
  }

  void run_module() {
    std::vector<Kernel> kernels;
    const uint64_t wanted = options_.minutes != 0 ? kKernelsPerModule : options_.kernels - kernels_;
    while (kernels.size() < std::min<uint64_t>(wanted, kKernelsPerModule)) {
      Generator generator(instructions_, (options_.seed << 32) + next_++, options_.mostly_small);
      kernels.push_back(generator.kernel("k" + std::to_string(kernels.size())));
      if (options_.is_short) shorten(kernels.back());
    }
    const std::vector<Outcome> outcomes = compare(kernels, [this] { return has_time(); });
    for (size_t i = 0; i < outcomes.size(); ++i) note(kernels[i], outcomes[i]);
  }

  /// Takes up to all of the input and up to three records, in words, each in half of the kernels.
  static void shorten(Kernel& kernel) {
    reference::Random random(kernel.input_seed + 1);
    const auto some_of = [&](uint64_t bytes) {
      return random.below(2) == 0 ? 0u : static_cast<uint32_t>(4 * random.below(bytes / 4));
    };
    kernel.missing_bytes = {some_of(kInputBytes),
                            some_of(kRecordBytes * std::min<uint64_t>(kernel.all_threads(), 3))};
  }

  void note(const Kernel& kernel, const Outcome& outcome) {
    if (outcome.kind == Outcome::Kind::refused) {
      if (refused_++ == 0) std::printf("refused, for example: %s\n", outcome.what.c_str());
      return;
    }
    ++kernels_;
    statements_ += count_statements(kernel.statements);
    if (outcome.kind == Outcome::Kind::equal) {
      faults_ += !outcome.what.empty();
      return;
    }
    (outcome.kind == Outcome::Kind::broken ? broken_ : different_)++;
    const auto still_wrong = [&](const Kernel& smaller) {
      return compare_one(smaller).kind == outcome.kind;
    };
    const Kernel small = shrink(kernel, still_wrong, kShrinkTries);
    show(small, compare_one(small));
  }

  void show(const Kernel& kernel, const Outcome& outcome) {
    const std::string text = reproducer(kernel, outcome);
    if (options_.keep.empty()) {
      std::printf("%s\n", text.c_str());
      return;
    }
    const std::string path = options_.keep + "/fuzz-" + std::to_string(options_.seed) + "-" +
                             std::to_string(kernels_) + ".ptx";
    std::ofstream(path) << text;
    std::printf("%s: %s\n", path.c_str(), outcome.what.c_str());
  }

  const Options& options_;
  Instructions instructions_;
  Clock::time_point start_;
  uint64_t next_ = 0;  // of the seed's kernels
  uint64_t kernels_ = 0, statements_ = 0, different_ = 0, refused_ = 0, broken_ = 0;
  uint64_t faults_ = 0;
};

/// Kernels that once went wrong.
int replay_all(const std::string& folder) {
  unsigned files = 0, failures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    Kernel kernel;
    const std::string path = entry.path().string();
    const Outcome outcome = replay(kernels::read_text_file(path), kernel);
    ++files;
    if (outcome.kind == Outcome::Kind::equal) continue;
    ++failures;
    std::printf("%s: %s\n", path.c_str(), outcome.what.c_str());
  }
  std::printf("%u kernels, %u failures\n", files, failures);
  return files > 0 && failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace km::fuzz

int main(int count, char** arguments) {
  setenv("KM_CPU_CC", "10.0", 0);  // kernels have instructions of sm_100a
  km::fuzz::Options options;
  if (!km::fuzz::read_options(count, arguments, options)) return 2;
  if (options.is_short) {
    setenv("KM_TEST_CHECKED", "1", 1);
    km::kernels::leave_out_canaries();
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  try {
    km::kernels::session();
    if (km::kernels::device_uri() != "cpu") km::fuzz::set_device_target("sm_90");
  } catch (const km::kernels::Failure& failure) {
    std::printf("%s\n", failure.what());
    return 77;
  }
  if (!options.replay.empty()) return km::fuzz::replay_all(options.replay);
  if (options.memory_forms) {
    return km::fuzz::check_memory_forms(options.every, options.seed, options.write_refused) ? 1 : 0;
  }
  return km::fuzz::Fuzzer(options).run();
}
