// Runs litmus tests of PTX's memory model on a device:
//   km_litmus [--device=URI] [--seconds=N] [--only=NAME] [--scopes=N] [--every=N]
// A line for each test says how often its weak outcome was seen, and whether it is forbidden; the
// status is 1 if a forbidden one was seen. --seconds is the time for each test (default 1; 0: one
// launch). --only=MP runs one shape. --scopes=1 leaves out all scopes but the first.
// --every=N has threads meet before every N pairs of variables (default 16): often on an idle
// machine, seldom on one where they rarely run at the same time.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <kernelmill/kernelmill.hpp>
#include <string_view>

#include "shapes.h"

namespace km::litmus {
namespace {

constexpr uint32_t kCount = 4096;  // pairs of one launch
constexpr uint32_t kMostThreads = 4;

struct Options {
  std::string device = "auto", only;
  double seconds = 1;
  size_t scopes = std::size(kScopes);
  uint32_t every = 16;
};

bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const size_t equal = argument.find('=');
    if (equal == argument.npos) return false;
    const std::string_view name = argument.substr(0, equal);
    const std::string value(argument.substr(equal + 1));
    if (name == "--device") {
      options->device = value;
    } else if (name == "--only") {
      options->only = value;
    } else if (name == "--seconds") {
      options->seconds = std::atof(value.c_str());
    } else if (name == "--every" && std::atoi(value.c_str()) > 0) {
      options->every = static_cast<uint32_t>(std::atoi(value.c_str()));
    } else if (name == "--scopes" && value.size() == 1 && value[0] >= '1' && value[0] <= '3') {
      options->scopes = static_cast<size_t>(value[0] - '0');
    } else {
      return false;
    }
  }
  return true;
}

/// Which tests there are: one per shape, order and scope.
template <class Visit>
void for_each_test(const Options& options, const Visit& visit) {
  for (const Shape& shape : shapes()) {
    if (!options.only.empty() && options.only != shape.name) continue;
    for (const Order order : kOrders) {
      for (size_t s = 0; s < options.scopes; ++s) visit(shape, order, kScopes[s]);
    }
  }
}

struct Counts {
  uint64_t weak = 0, all = 0;
};

/// The memory of launches, which all tests share.
class Runner {
 public:
  explicit Runner(const Options& options)
      : options_(options),
        context_(options.device.c_str(), KM_CONTEXT_DEFAULT),  // launches wait for each other
        module_(km::module::load_ptx(context_, text(options))),
        memory_(km::slice<uint32_t>::zeroed(context_, (kFirst + kCount * kStride) / 4)),
        results_(km::slice<uint32_t>::zeroed(context_, kCount * kResults)) {
    for (uint32_t t = 0; t < kMostThreads; ++t) streams_.emplace_back(context_);
  }

  Counts run(const Shape& shape, Order order, const Scope& scope) {
    const km::function kernel = module_.function(kernel_name(shape, order, scope).c_str());
    const auto threads = static_cast<uint32_t>(shape.threads.size());
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.seconds);
    Counts counts;
    do {
      memory_.fill_zero(streams_[0]);
      streams_[0].synchronize();
      for (uint32_t t = 0; t < (scope.one_block ? 1 : threads); ++t) {
        streams_[t]
            .launch(kernel)
            .grid(1)
            .block(scope.one_block ? 32 * threads : 1)
            .args(memory_, results_, kCount, options_.every, t)
            .submit();
      }
      for (const km::stream& stream : streams_) stream.synchronize();
      add(shape, &counts);
    } while (std::chrono::steady_clock::now() < end);
    return counts;
  }

 private:
  static std::string text(const Options& options) {
    std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n";
    for_each_test(options, [&](const Shape& shape, Order order, const Scope& scope) {
      text += kernel_text(shape, order, scope);
    });
    return text;
  }

  void add(const Shape& shape, Counts* counts) {
    const std::vector<uint32_t> results = results_.to_vector(streams_[0]);
    const std::vector<uint32_t> memory = memory_.to_vector(streams_[0]);
    for (uint32_t i = 0; i < kCount; ++i) {
      const auto first = results.begin() + i * kResults;
      Results outcome(first, first + shape.results);
      const uint32_t* const pair = &memory[(kFirst + i * kStride) / 4];
      if (shape.tells_last_values) outcome.insert(outcome.end(), {pair[0], pair[kY / 4]});
      counts->weak += shape.is_weak(outcome);
      ++counts->all;
    }
  }

  const Options options_;
  km::context context_;
  std::vector<km::stream> streams_;
  km::module module_;
  km::slice<uint32_t> memory_, results_;
};

int run_all(const Options& options) {
  Runner runner(options);
  int tests = 0, failures = 0;
  for_each_test(options, [&](const Shape& shape, Order order, const Scope& scope) {
    const Counts counts = runner.run(shape, order, scope);
    const bool forbidden = shape.is_forbidden(order), fails = forbidden && counts.weak != 0;
    std::printf("%-5s %-16s %-4s weak %llu of %llu, %s%s\n", shape.name, name_of(order), scope.name,
                static_cast<unsigned long long>(counts.weak),
                static_cast<unsigned long long>(counts.all), forbidden ? "forbidden" : "allowed",
                fails ? ": FAILED" : "");
    ++tests;
    failures += fails;
  });
  std::printf("%d tests, %d failed\n", tests, failures);
  return tests == 0 || failures != 0 ? 1 : 0;
}

}  // namespace
}  // namespace km::litmus

int main(int argc, char** argv) try {
  km::litmus::Options options;
  if (km::litmus::parse(argc, argv, &options)) return km::litmus::run_all(options);
  std::fprintf(
      stderr, "usage: %s [--device=URI] [--seconds=N] [--only=SHAPE] [--scopes=1..3] [--every=N]\n",
      argv[0]);
  return 2;
} catch (const km::error& error) {
  std::fprintf(stderr, "%s\n%s\n", error.what(), error.suggestion());
  return 2;
}
