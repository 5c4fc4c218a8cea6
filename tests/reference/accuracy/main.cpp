// Measures the approximate instructions and prints the table of docs/reference/accuracy.md:
//   km_accuracy [--step=N] [--pairs=N] [--threads=N]
// Every N-th of the 2^32 inputs, by default all of them. Exits with 1 where an error exceeds the
// manual's bound, with 77 where the processor has no fused multiply-add.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "cases.h"
#include "support/native_ops.h"

namespace km::reference {
namespace {

constexpr uint64_t kInputs = uint64_t{1} << 32, kChunk = uint64_t{1} << 24;

struct Options {
  uint64_t step = 1, pairs = 100'000'000, threads = std::thread::hardware_concurrency();
};

bool read_number(const char* argument, const char* name, uint64_t& value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  value = std::strtoull(argument + length, nullptr, 0);
  return value != 0;
}

/// The largest error among the inputs [first, last).
double worst_of(const Case& wanted, uint64_t first, uint64_t last, uint64_t step) {
  double worst = 0;
  for (uint64_t word = first; word < last; word += step) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(word));
    if (!wanted.contains(x)) continue;
    const double error = error_of(wanted.measure, wanted.value(x), wanted.exact(x));
    if (error > worst) worst = error;
  }
  return worst;
}

double sweep(const Case& wanted, const Options& options) {
  std::atomic<uint64_t> next{0};
  std::mutex lock;
  double worst = 0;
  auto work = [&] {
    double mine = 0;
    for (uint64_t chunk; (chunk = next.fetch_add(1)) < kInputs / kChunk;) {
      const uint64_t start = chunk * kChunk;
      const uint64_t first = (start + options.step - 1) / options.step * options.step;
      mine = std::max(mine, worst_of(wanted, first, start + kChunk, options.step));
    }
    const std::lock_guard guard(lock);
    worst = std::max(worst, mine);
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < options.threads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return worst;
}

bool print(const Row& row) {
  std::printf("| `%s` | %s | %s | %s |\n", row.instruction.c_str(), row.inputs.c_str(),
              row.error.c_str(), row.bound.c_str());
  std::fflush(stdout);
  if (!row.within) std::fprintf(stderr, "%s exceeds its bound\n", row.instruction.c_str());
  return row.within;
}

bool print_all(const std::vector<Row>& rows) {
  bool within = true;
  for (const Row& row : rows) within = print(row) && within;
  return within;
}

int run(const Options& options) {
  constexpr uint64_t kHostPoints = 10'000'000;
  constexpr double kHostBound = 0x1p-51;
  std::printf("| instruction | inputs | largest error | bound |\n|---|---|---|---|\n");
  bool within = true;
  for (const Case& wanted : f32_cases()) {
    const double worst = sweep(wanted, options);
    within = print({wanted.instruction, wanted.inputs, error_text(wanted.measure, worst),
                    wanted.bound_text, worst <= wanted.bound}) &&
             within;
  }
  within = print_all(half_rows()) && within;
  within = print_all(division_rows(options.pairs)) && within;
  within = print_all(f64_rows(options.pairs / 10)) && within;
  const double host = host_error(kHostPoints / options.step + 1000);
  std::fprintf(stderr, "the host's f64 functions against MPFR: %s\n",
               error_text(Measure::relative, host).c_str());
  return within && host <= kHostBound ? 0 : 1;
}

}  // namespace
}  // namespace km::reference

int main(int count, char** arguments) {
#if defined(__FMA__)  // an option of this program's, which not every machine runs
  if (!__builtin_cpu_supports("fma")) return 77;
#endif
  km::reference::Options options;
  for (int i = 1; i < count; ++i) {
    const bool known = km::reference::read_number(arguments[i], "--step=", options.step) ||
                       km::reference::read_number(arguments[i], "--pairs=", options.pairs) ||
                       km::reference::read_number(arguments[i], "--threads=", options.threads);
    if (!known) {
      std::fprintf(stderr, "usage: km_accuracy [--step=N] [--pairs=N] [--threads=N]\n");
      return 2;
    }
  }
  return km::reference::run(options);
}
