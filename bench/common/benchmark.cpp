#include "common/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>

namespace km::bench {
namespace {

std::map<std::string, Factory>& registered() {
  static std::map<std::string, Factory> factories;
  return factories;
}

/// {"state": "...", "key": 1.5, ...} on one line.
void say(const char* state, const Figures& figures) {
  std::printf("{\"state\": \"%s\"", state);
  for (const auto& [name, value] : figures) std::printf(", \"%s\": %.9g", name.c_str(), value);
  std::printf("}\n");
  std::fflush(stdout);
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result;
}

/// Processor time of all threads.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double time_of_run(Benchmark& benchmark) {
  const double start = now_seconds();
  benchmark.run();
  return now_seconds() - start;
}

}  // namespace

Registration::Registration(const char* name, Factory factory) { registered()[name] = factory; }

void fail(const std::string& message) {
  std::printf("{\"state\": \"failed\", \"message\": \"%s\"}\n", escaped(message).c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

double now_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

double quantile(std::vector<double>& samples, double share) {
  const auto last = static_cast<double>(samples.size() - 1);
  const auto at = samples.begin() + static_cast<int64_t>(share * last + 0.5);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Figures Benchmark::sample(double least_seconds) {
  run();  // brings caches and threads back after the other contestants' turns
  uint64_t runs = 0;
  const double start = now_seconds(), start_cpu = cpu_seconds();
  double elapsed = 0;
  do {
    run();
    ++runs;
    elapsed = now_seconds() - start;
  } while (elapsed < least_seconds);
  return {{"value", value(elapsed / static_cast<double>(runs))},
          {"busy", (cpu_seconds() - start_cpu) / elapsed}};
}

int serve(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const auto& [name, factory] : registered()) std::puts(name.c_str());
    return 0;
  }
  if (argc != 4) fail("usage: contestant BENCHMARK SIZE LEAST_SECONDS, or --list");
  const auto found = registered().find(argv[1]);
  if (found == registered().end()) fail(std::string("no such benchmark: ") + argv[1]);
  const double least_seconds = std::atof(argv[3]);
  const std::unique_ptr<Benchmark> benchmark = found->second(std::strtoull(argv[2], nullptr, 10));
  const double first_run = time_of_run(*benchmark);
  if (const std::string wrong = benchmark->check(); !wrong.empty()) fail("wrong result: " + wrong);
  Figures facts = benchmark->facts();
  facts["first_run_ms"] = first_run * 1e3;
  facts["second_run_ms"] = time_of_run(*benchmark) * 1e3;
  say("ready", facts);
  for (std::string line; std::getline(std::cin, line) && line == "sample";) {
    say("sample", benchmark->sample(least_seconds));
  }
  return 0;
}

}  // namespace km::bench
