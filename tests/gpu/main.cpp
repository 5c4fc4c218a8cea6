// What a real GPU makes of PTX, for comparison and for golden files:
//   km_gpu [--library=libcuda.so.1] [--every=N] [--first=N] [--inputs=N] [--bits=N] OUT
// Exits with 1 where a defined result differs, with 77 where there is no GPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "dump.h"
#include "goldens.h"

namespace km::gpu {
namespace {

constexpr int kSkipped = 77;

struct Options {
  std::string library = "libcuda.so.1", out;
  uint64_t every = 1, first = 1, inputs = 1024, bits = 23;
};

bool read_number(const char* argument, const char* name, uint64_t& value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  value = std::strtoull(argument + length, nullptr, 0);
  return value != 0;
}

bool read_options(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    const char* argument = arguments[i];
    const bool number = read_number(argument, "--every=", options.every) ||
                        read_number(argument, "--first=", options.first) ||
                        read_number(argument, "--inputs=", options.inputs) ||
                        read_number(argument, "--bits=", options.bits);
    if (number) continue;
    if (std::strncmp(argument, "--library=", 10) == 0) {
      options.library = argument + 10;
    } else if (argument[0] != '-' && options.out.empty()) {
      options.out = argument;
    } else {
      return false;
    }
  }
  return !options.out.empty() && options.bits <= 23;
}

/// Every variant whose number, counted from 1, is `first` or some steps of `every` later.
std::vector<reference::Variant> sample(uint64_t first, uint64_t every) {
  std::vector<reference::Variant> all = reference::all_variants(), chosen;
  for (size_t i = first - 1; i < all.size(); i += every) chosen.push_back(std::move(all[i]));
  return chosen;
}

void write_lines(const std::string& path, const std::vector<std::string>& lines) {
  std::ofstream file(path);
  for (const std::string& line : lines) file << line << "\n";
}

int fail(const Error& error) {
  std::fprintf(stderr, "km_gpu: %s\n", error.message.c_str());
  return 1;
}

int run(const Options& options) {
  const Result<Driver> driver = Driver::open(options.library);
  if (!driver) {
    std::fprintf(stderr, "km_gpu: no GPU: %s\n", driver.error().message.c_str());
    return kSkipped;
  }
  const DeviceFacts& facts = driver->facts();
  std::printf("%s, compute capability %d.%d, driver %d\n", facts.name.c_str(),
              facts.capability_major, facts.capability_minor, facts.driver_version);
  std::error_code ignored;
  std::filesystem::create_directories(options.out, ignored);
  const std::vector<reference::Variant> variants = sample(options.first, options.every);
  const GoldenReport goldens = run_goldens(*driver, variants, options.inputs, 1);
  write_lines(options.out + "/mismatches.txt", goldens.mismatches);
  write_lines(options.out + "/refused.txt", goldens.refused);
  std::printf("%llu variants, %llu results, %zu refused, %zu differ\n",
              static_cast<unsigned long long>(goldens.variants),
              static_cast<unsigned long long>(goldens.results), goldens.refused.size(),
              goldens.mismatches.size());
  std::fflush(stdout);
  auto files =
      dump_approximate(*driver, variants, options.out, static_cast<unsigned>(options.bits));
  if (!files) return fail(files.error());
  const nlohmann::ordered_json manifest = {
      {"device", facts.name},
      {"compute_capability", {facts.capability_major, facts.capability_minor}},
      {"driver", facts.driver_version},
      {"files", *files}};
  std::ofstream file(options.out + "/manifest.json");
  file << manifest.dump(1) << "\n";
  std::printf("%zu ranges of approximate instructions in %s\n", files->size(), options.out.c_str());
  return goldens.mismatches.empty() && file.flush() ? 0 : 1;
}

}  // namespace
}  // namespace km::gpu

int main(int count, char** arguments) {
  km::gpu::Options options;
  if (!km::gpu::read_options(count, arguments, options)) {
    std::fprintf(stderr,
                 "usage: km_gpu [--library=libcuda.so.1] [--every=N] [--first=N] [--inputs=N] "
                 "[--bits=N] OUT\n");
    return 2;
  }
  return km::gpu::run(options);
}
