// Hashes the machine code of all kernels:
//   km_code_hashes [--every=N] [--threads=N] [--random=N] [--isa=NAME] [--compare=TABLE]
//                  [FOLDER ...]
// The table goes to standard output: a hash and a name in each line. --every=N takes one of N
// objects, by their names. --isa=NAME makes them for that instruction set, of any architecture,
// instead of all of this one; objects that LLVM fails to make go to standard error as "failed:
// NAME: REASON". Folders replace the kernels of this repository. --compare names a table of an
// earlier run: objects that have changed, or that it lacks, are printed instead, and the status is
// 1 if any has changed. Objects that only the table has are none: --every may have left them out.
#include <atomic>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "compile/compile.h"
#include "jobs.h"
#include "modules.h"

namespace km::code_hashes {
namespace {

constexpr int kMostPrinted = 40;

struct Options {
  unsigned every = 1, threads = 2, random = 0;
  std::string table;
  std::vector<simt::Machine> machines = simt::Machine::all();
  std::vector<std::string> folders;
};

bool parse_number(std::string_view text, unsigned* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && *out != 0;
}

bool parse_machine(std::string_view name, std::vector<simt::Machine>* out) {
  const auto machine = simt::Machine::of_name(name);
  if (machine) *out = {*machine};
  return machine.has_value();
}

bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const size_t equal = argument.find('=');
    const std::string_view name = argument.substr(0, equal);
    const std::string_view value = equal == argument.npos ? "" : argument.substr(equal + 1);
    if (!argument.starts_with("--")) {
      options->folders.emplace_back(argument);
    } else if (name == "--compare" && !value.empty()) {
      options->table = value;
    } else if (!(name == "--isa" && parse_machine(value, &options->machines)) &&
               !(name == "--every" && parse_number(value, &options->every)) &&
               !(name == "--threads" && parse_number(value, &options->threads)) &&
               !(name == "--random" && parse_number(value, &options->random))) {
      return false;
    }
  }
  return true;
}

std::vector<ModuleText> modules_of(const Options& options) {
  std::vector<ModuleText> modules;
  for (const std::string& folder : options.folders) add_folder(folder, &modules);
  if (options.random != 0) add_random(options.random, &modules);
  if (modules.empty()) add_repository(&modules);
  return modules;
}

std::vector<Outcome> make_all(const std::vector<Job>& jobs, unsigned threads) {
  std::vector<Outcome> outcomes(jobs.size());
  std::atomic<size_t> next{0};
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      for (size_t i = next++; i < jobs.size(); i = next++) outcomes[i] = outcome_of(jobs[i]);
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (outcomes[i].failure.empty()) continue;
    std::fprintf(stderr, "failed: %s: %s\n", jobs[i].name.c_str(), outcomes[i].failure.c_str());
  }
  return outcomes;
}

using Table = std::map<std::string, std::string>;  // from names to hashes

bool read_table(const std::string& path, Table* table) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t space = line.find(' ');
    if (space != line.npos) (*table)[line.substr(space + 1)] = line.substr(0, space);
  }
  return !table->empty();
}

int compare(const std::vector<Job>& jobs, const std::vector<Outcome>& outcomes,
            const Table& table) {
  int changed = 0, added = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const auto before = table.find(jobs[i].name);
    if (before != table.end() && before->second == outcomes[i].hash) continue;
    int& count = before == table.end() ? added : changed;
    if (++count > kMostPrinted) continue;
    std::printf("%s: %s\n", before == table.end() ? "new" : "changed", jobs[i].name.c_str());
  }
  std::printf("%zu objects, %d changed, %d new\n", jobs.size(), changed, added);
  return changed != 0 ? 1 : 0;
}

int run(const Options& options) {
  Table table;
  if (!options.table.empty() && !read_table(options.table, &table)) {
    std::fprintf(stderr, "%s is no table of hashes\n", options.table.c_str());
    return 2;
  }
  if (const auto nvrtc = nvrtc_info(); !nvrtc) {
    std::fprintf(stderr, "%s\n", nvrtc.error().message.c_str());
    return 2;
  }
  const std::vector<ModuleText> modules = modules_of(options);
  const std::vector<Job> jobs = jobs_of(modules, options.every, options.machines);
  const std::clock_t before = std::clock();
  const std::vector<Outcome> outcomes = make_all(jobs, options.threads);
  std::fprintf(stderr, "%zu modules, %zu objects, made in %.1f s of processor time\n",
               modules.size(), jobs.size(),
               static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  if (!options.table.empty()) return compare(jobs, outcomes, table);
  for (size_t i = 0; i < jobs.size(); ++i) {
    std::printf("%s %s\n", outcomes[i].hash.c_str(), jobs[i].name.c_str());
  }
  return jobs.empty() ? 1 : 0;
}

}  // namespace
}  // namespace km::code_hashes

int main(int argc, char** argv) {
  km::code_hashes::Options options;
  if (!km::code_hashes::parse(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: %s [--every=N] [--threads=N] [--random=N] [--isa=NAME] "
                 "[--compare=TABLE] [FOLDER ...]\n",
                 argv[0]);
    return 2;
  }
  return km::code_hashes::run(options);
}
