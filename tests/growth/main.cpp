// Grows modules in one way at a time and fails where work grows faster than their size:
//   km_growth [--long] [--part=K/N] [NAME ...]
// Each row gives the exponents of processor time, allocated bytes and object code. The short run
// takes each dimension at three sizes, each twice the one before; --long at five. --part takes
// every N-th dimension from the K-th on.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "measure.h"

namespace km::growth {
namespace {

// n log n has an exponent of up to 1.2 where n is at least 50. Time has to leave room for caches
// that no longer hold what a module takes, and for other processes: quadratic growth stands out all
// the same. The counts depend on nothing but the module.
constexpr Exponents kMost{1.55, 1.35, 1.35};
constexpr int kTries = 5;  // of a dimension that took too much time
constexpr double kLongEnough_s = 12;

struct Options {
  bool is_long = false;
  uint32_t part = 0, parts = 1;
  std::vector<std::string> names;  // empty: all
};

bool is_too_much(const Exponents& exponents) {
  return exponents.cpu > kMost.cpu || exponents.allocated > kMost.allocated ||
         exponents.object > kMost.object;
}

std::vector<uint32_t> sizes_of(const Dimension& dimension, bool is_long) {
  std::vector<uint32_t> sizes;
  for (uint32_t doubled = 0; doubled < (is_long ? 5 : 3); ++doubled) {
    sizes.push_back(dimension.size << doubled);
  }
  return sizes;
}

/// Up to the first size that is refused, or takes very long.
std::vector<Work> measure_all(const Dimension& dimension, const std::vector<uint32_t>& sizes) {
  std::vector<Work> works;
  for (uint32_t size : sizes) {
    works.push_back(measure(dimension, size));
    if (!works.back().refusal.empty() || works.back().cpu_s > kLongEnough_s) break;
  }
  return works;
}

void print(const Dimension& dimension, const std::vector<Work>& works, const Exponents& exponents) {
  std::printf("%-22s time %5.2f  allocated %5.2f  object %5.2f  |", dimension.name, exponents.cpu,
              exponents.allocated, exponents.object);
  for (const Work& work : works) {
    std::printf(" %u: %.3f s, %.1f MB;", work.size, work.cpu_s,
                static_cast<double>(work.allocated_bytes) / 1e6);
  }
  if (!works.back().refusal.empty()) std::printf(" refused: %s", works.back().refusal.c_str());
  std::printf("\n");
  std::fflush(stdout);
}

/// False: it grows faster than it may.
bool check(const Dimension& dimension, const Options& options) {
  std::vector<Work> works = measure_all(dimension, sizes_of(dimension, options.is_long));
  Exponents exponents = growth_of(works);
  for (int tries = 1; tries < kTries && exponents.cpu > kMost.cpu; ++tries) {
    for (Work& work : works) work = least(work, measure(dimension, work.size));
    exponents = growth_of(works);
  }
  print(dimension, works, exponents);
  if (is_too_much(exponents)) {
    std::printf(
        "  grows faster than n to the power of %.2f (time), %.2f (allocated bytes), %.2f "
        "(object code)\n",
        kMost.cpu, kMost.allocated, kMost.object);
    return false;
  }
  if (works.size() > 1 || works.back().refusal.empty()) return true;
  std::printf("  the smallest size is refused\n");
  return false;
}

bool parse_part(std::string_view text, Options* options) {
  const char* const end = text.data() + text.size();
  const auto part = std::from_chars(text.data(), end, options->part);
  if (part.ec != std::errc() || part.ptr == end || *part.ptr != '/') return false;
  const auto parts = std::from_chars(part.ptr + 1, end, options->parts);
  return parts.ec == std::errc() && parts.ptr == end && options->part < options->parts;
}

bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--long") {
      options->is_long = true;
    } else if (argument.starts_with("--part=")) {
      if (!parse_part(argument.substr(7), options)) return false;
    } else if (argument.starts_with("-")) {
      return false;
    } else {
      options->names.emplace_back(argument);
    }
  }
  return true;
}

int run(const Options& options) {
  int failures = 0;
  uint32_t index = 0, taken = 0;
  for (const Dimension& dimension : dimensions()) {
    const auto& names = options.names;
    const bool is_named = names.empty() || std::count(names.begin(), names.end(), dimension.name);
    if (index++ % options.parts != options.part || !is_named) continue;
    ++taken;
    if (!check(dimension, options)) ++failures;
  }
  std::printf("%u dimensions, %d of them grow too fast\n", taken, failures);
  return failures != 0 || taken == 0 ? 1 : 0;
}

}  // namespace
}  // namespace km::growth

int main(int argc, char** argv) {
  km::growth::Options options;
  if (!km::growth::parse(argc, argv, &options)) {
    std::fprintf(stderr, "usage: %s [--long] [--part=K/N] [NAME ...]\n", argv[0]);
    return 2;
  }
  return km::growth::run(options);
}
