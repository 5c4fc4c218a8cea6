// Simulates how the CPU backend shares a kernel's blocks among 2 to 128 threads: the real
// BlockRange hands out blocks whose times were recorded, and every cache line that threads contend
// for is counted. docs/internals/scale.md says what the results mean.
//
//   bench_schedule TIMES [--ticks-per-ns=R] [--cold] [--serial-wake] [--no-limit] [--scan-all]
//                        [--more-counters] [--near=NS] [--far=NS] [--wake-call=NS]
//                        [--wake-delay=NS]
//
// TIMES has a line for each launch: the kernel's name, and the ticks of each block
// (KM_TEST_BLOCKS=TIMES KM_CPU_THREADS=1 bench_kernelmill KERNEL SIZE 0).
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "backends/cpu/command/sharing.h"
#include "backends/cpu/execution/block_range.h"
#include "scale/simulated_cores.h"

namespace km::bench {
namespace {

constexpr double kSubmitNs = 300;  // from the call to the first block on an idle stream
constexpr uint32_t kLaunches = 10;

/// A Policy has the rules that are simulated; threads and costs are given apart.
struct Policy {
  bool limits = true;      // as many threads take part as sharing_of() says; else all that look
  bool wakes_tree = true;  // a woken thread wakes two others; else the first one wakes all
  bool scans_all = false;  // an empty part's thread looks at all others; else at bits for them
  int counters = 2;        // moves of the pool's counters by a thread that joins, and that leaves
  bool is_cold = false;    // threads sleep before each launch; else they look for work
  double far_share = 0.6;  // how much longer a block takes whose memory lies at another socket
};

struct Recorded {
  std::string kernel;
  std::vector<double> ns;  // of each block
  double all_ns() const { return std::accumulate(ns.begin(), ns.end(), 0.0); }
};

/// Launches of one kernel, one after the other, by one thread of the host that helps.
class Launches {
 public:
  Launches(const Recorded& recorded, uint32_t threads, const Policy& policy, const CoreCosts& costs)
      : blocks_(recorded.ns.size()),
        threads_(threads),
        policy_(policy),
        costs_(costs),
        parts_(new cpu::BlockRange::SharedParts(threads)),
        part_lines_(threads),
        first_parts_(threads) {
    sums_.push_back(0);
    for (const double ns : recorded.ns) sums_.push_back(sums_.back() + ns);
    std::iota(first_parts_.begin(), first_parts_.end(), 0);
    const auto block_ns = static_cast<float>(sums_.back() / static_cast<double>(blocks_));
    sharing_ = cpu::sharing_of(block_ns, blocks_, threads, !policy.limits);
    woken_ = sharing_.threads;
    if (!policy.limits) {
      const double worth = 1 + sums_.back() / cpu::kWakeNs;
      woken_ = std::min<uint64_t>({threads, blocks_, static_cast<uint64_t>(worth)});
    }
  }

  /// The time of a launch, ns: the mean of all but the first.
  double run() {
    for (uint32_t core = 1; core < threads_; ++core) work(core);
    begin_launches();
    clock_.run();
    return (ends_.back() - ends_.front()) / (kLaunches - 1);
  }

 private:
  /// Suspends a thread until wake() is called for it.
  struct Sleep {
    Launches* launches;
    uint32_t core;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> thread) {
      launches->sleeping_.emplace_back(core, thread);
    }
    void await_resume() const {}
  };

  SimulatedThread begin_launches();
  SimulatedThread work(uint32_t core);
  SimulatedThread wake_one(double time, std::coroutine_handle<> thread) {
    co_await clock_.until(time);
    thread.resume();
  }
  /// Lets all that look for work see that there is some.
  void show_work() {
    const auto seen = std::exchange(sleeping_, {});
    for (const auto& [core, thread] : seen)
      wake_one(open_.read(clock_.now(), core, costs_), thread);
  }
  /// Wakes one sleeping thread, which runs after a while.
  void wake_next() {
    if (sleeping_.empty()) return;
    const auto [core, thread] = sleeping_.front();
    sleeping_.erase(sleeping_.begin());
    wake_one(clock_.now() + costs_.wake_delay, thread);
  }
  /// Takes the next chunk; returns its time, 0 if there is none, and moves *out_done to when the
  /// lines are there.
  double take(uint32_t core, uint32_t* part, double* out_done);
  bool emptied(uint32_t part) const;
  double time_of(uint64_t first, uint64_t last, uint32_t core) const;

  uint64_t blocks_;
  uint32_t threads_;
  Policy policy_;
  CoreCosts costs_;
  std::vector<double> sums_;  // of the blocks before each
  cpu::Sharing sharing_;
  uint64_t woken_ = 0;
  uint32_t participants_ = 0;
  uint32_t still_wanted_ = 0;  // threads that woken ones wake
  bool is_open_ = false, is_over_ = false;
  cpu::BlockRange range_;
  std::unique_ptr<cpu::BlockRange::SharedParts> parts_;
  std::vector<Line> part_lines_;
  std::vector<uint32_t> first_parts_;  // of each thread
  Line pool_, state_, command_, bits_, open_, completed_;
  Clock clock_;
  std::vector<std::pair<uint32_t, std::coroutine_handle<>>> sleeping_;
  std::vector<double> ends_;
};

double Launches::time_of(uint64_t first, uint64_t last, uint32_t core) const {
  const double ns = sums_[last] - sums_[first];
  const uint64_t home = first * sharing_.most / blocks_ / costs_.cores_of_socket;
  return home == core / costs_.cores_of_socket ? ns : ns * (1 + policy_.far_share);
}

/// True if the part has nothing left.
bool Launches::emptied(uint32_t part) const {
  return range_.part_count() > 1 && !parts_->is_open(part);
}

double Launches::take(uint32_t core, uint32_t* part, double* out_done) {
  const uint32_t before = *part, count = range_.part_count();
  uint64_t first = 0, last = 0;
  const bool taken = range_.take(part, &first, &last);
  if (policy_.scans_all) {
    const uint32_t looked_at = taken ? (*part + count - before) % count : count;
    for (uint32_t i = 0; i < looked_at; ++i)
      *out_done = part_lines_[(before + i) % count].read(*out_done, core, costs_);
  } else if (!taken || *part != before) {
    *out_done = bits_.read(*out_done, core, costs_);
  }
  if (!taken) return 0;
  *out_done = part_lines_[*part].change(*out_done, core, costs_);
  if (!policy_.scans_all && emptied(*part)) *out_done = bits_.change(*out_done, core, costs_);
  return time_of(first, last, core);
}

SimulatedThread Launches::begin_launches() {
  for (uint32_t launch = 0; launch < kLaunches; ++launch) {
    co_await clock_.after(kSubmitNs);
    range_.reset(0, blocks_, sharing_.chunk, sharing_.cut, parts_.get(), sharing_.most);
    double ready = clock_.now();
    for (uint32_t i = 0; i < sharing_.most; ++i) ready = part_lines_[i].store(ready, 0, costs_);
    co_await clock_.until(state_.change(ready, 0, costs_));
    participants_ = 1;
    is_open_ = true;
    co_await clock_.until(open_.change(clock_.now(), 0, costs_));
    still_wanted_ = static_cast<uint32_t>(woken_ - 1);
    if (!policy_.is_cold) show_work();
    const uint32_t own_calls = !policy_.is_cold     ? 0
                               : policy_.wakes_tree ? std::min(still_wanted_, 2u)
                                                    : still_wanted_;
    for (uint32_t i = 0; i < own_calls; ++i) {
      --still_wanted_;
      co_await clock_.after(costs_.wake_call);
      wake_next();
    }
    uint32_t part = first_parts_[0] = range_.claim(first_parts_[0]);
    co_await clock_.until(part_lines_[part].change(clock_.now(), 0, costs_));
    for (;;) {
      double there = clock_.now();
      const double ns = take(0, &part, &there);
      co_await clock_.until(there + ns);
      if (ns == 0) break;
    }
    is_open_ = false;
    co_await clock_.until(open_.change(clock_.now(), 0, costs_));
    co_await clock_.until(state_.change(clock_.now(), 0, costs_));
    --participants_;
    while (participants_ != 0) co_await clock_.after(costs_.near_line);
    co_await clock_.until(completed_.read(clock_.now(), 0, costs_));
    ends_.push_back(clock_.now());
  }
  is_over_ = true;
  while (!sleeping_.empty()) show_work();
}

SimulatedThread Launches::work(uint32_t core) {
  for (;;) {
    co_await Sleep{this, core};
    if (is_over_) co_return;
    for (uint32_t calls = 0; policy_.is_cold && policy_.wakes_tree && calls < 2; ++calls) {
      if (still_wanted_ == 0) break;
      --still_wanted_;
      co_await clock_.after(costs_.wake_call);
      wake_next();
    }
    co_await clock_.until(state_.change(clock_.now(), core, costs_));
    if (!is_open_ || participants_ >= sharing_.most) continue;
    ++participants_;
    co_await clock_.until(command_.change(clock_.now(), core, costs_));
    for (int i = 0; i < policy_.counters; ++i)
      co_await clock_.until(pool_.change(clock_.now(), core, costs_));
    uint32_t part = first_parts_[core] = range_.claim(first_parts_[core]);
    co_await clock_.until(part_lines_[part].change(clock_.now(), core, costs_));
    for (;;) {
      double there = clock_.now();
      const double ns = take(core, &part, &there);
      co_await clock_.until(there + ns);
      if (ns == 0) break;
    }
    if (std::exchange(is_open_, false))
      co_await clock_.until(open_.change(clock_.now(), core, costs_));
    for (int i = 0; i < 2; ++i) co_await clock_.until(state_.change(clock_.now(), core, costs_));
    --participants_;
    if (participants_ == 0) completed_.change(clock_.now(), core, costs_);
    for (int i = 0; i < policy_.counters; ++i)
      co_await clock_.until(pool_.change(clock_.now(), core, costs_));
  }
}

std::vector<Recorded> read_times(const char* path, double ticks_per_ns) {
  std::vector<Recorded> all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Recorded one;
    words >> one.kernel;
    for (double ticks = 0; words >> ticks;) one.ns.push_back(ticks / ticks_per_ns);
    // Shorter ones are not shared.
    if (one.all_ns() > cpu::kWakeNs) all.push_back(std::move(one));
  }
  return all;
}

void print_row(const Recorded& recorded, const Policy& policy, const CoreCosts& costs) {
  std::printf("%-18s %7zu %10.1f", recorded.kernel.c_str(), recorded.ns.size(),
              recorded.all_ns() / 1e3);
  for (uint32_t threads = 2; threads <= 128; threads *= 2) {
    Launches launches(recorded, threads, policy, costs);
    std::printf(" %7.1f", recorded.all_ns() / launches.run());
  }
  std::printf("\n");
}

bool take_number(const char* argument, const char* name, double* number) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0 || argument[length] != '=') return false;
  *number = std::atof(argument + length + 1);
  return true;
}

int simulate(int argc, char** argv) {
  Policy policy;
  CoreCosts costs;
  double ticks_per_ns = 1;
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--no-limit") {
      policy.limits = false;
    } else if (argument == "--serial-wake") {
      policy.wakes_tree = false;
    } else if (argument == "--scan-all") {
      policy.scans_all = true;
    } else if (argument == "--more-counters") {
      policy.counters = 3;
    } else if (argument == "--cold") {
      policy.is_cold = true;
    } else if (!take_number(argv[i], "--ticks-per-ns", &ticks_per_ns) &&
               !take_number(argv[i], "--near", &costs.near_line) &&
               !take_number(argv[i], "--far", &costs.far_line) &&
               !take_number(argv[i], "--wake-call", &costs.wake_call) &&
               !take_number(argv[i], "--wake-delay", &costs.wake_delay) &&
               !take_number(argv[i], "--far-share", &policy.far_share)) {
      std::fprintf(stderr, "bench_schedule: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  std::printf("%-18s %7s %10s speed-up by 2, 4 ... 128 threads\n", "kernel", "blocks", "us alone");
  for (const Recorded& recorded : read_times(argv[1], ticks_per_ns))
    print_row(recorded, policy, costs);
  return 0;
}

}  // namespace
}  // namespace km::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_schedule TIMES [OPTION...]\n");
    return 2;
  }
  return km::bench::simulate(argc, argv);
}
