// One contestant's version of one benchmark, and the protocol by which run.py drives it: a process
// prepares, runs once, checks the result, says "ready", and then gives one sample per line it
// reads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace km::bench {

/// Named figures: samples ("value", "p10" ...) or facts about the problem.
using Figures = std::map<std::string, double>;

class Benchmark {
 public:
  virtual ~Benchmark() = default;
  /// One complete run; its work is finished on return.
  virtual void run() = 0;
  /// After the first run: empty when the result is right, else what is wrong.
  virtual std::string check() = 0;
  /// The benchmark's metric ("value") from the time of one run.
  virtual double value(double seconds) const = 0;
  /// Figures that the bound depends on, for example the share of lanes that do useful work.
  virtual Figures facts() { return {}; }
  /// One sample; by default runs for a while and takes the mean time. "busy" is how many processors
  /// it had: fewer than threads that never wait means that something else was running.
  virtual Figures sample(double least_seconds);
};

/// Makes a benchmark of a size; what is counted is the benchmark's business.
using Factory = std::unique_ptr<Benchmark> (*)(uint64_t size);

/// Makes a benchmark known to serve(); one static object for each.
class Registration {
 public:
  Registration(const char* name, Factory factory);
};

template <class T>
std::unique_ptr<Benchmark> make(uint64_t size) {
  return std::make_unique<T>(size);
}

/// The main program of a contestant.
int serve(int argc, char** argv);

/// Ends the process with a message that run.py shows.
[[noreturn]] void fail(const std::string& message);

double now_seconds();
/// The value at `share` (0 to 1) of the samples in ascending order.
double quantile(std::vector<double>& samples, double share);
std::string read_text_file(const std::string& path);

}  // namespace km::bench
