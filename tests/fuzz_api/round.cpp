#include "round.h"

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

namespace km::fuzz {
namespace {

constexpr uint64_t kRescueNs = 3'000'000'000;
constexpr size_t kRescuerThread = 15;
constexpr uint64_t kTendEvery = 64, kScriptEvery = 50;  // calls
// A library may keep memory for reuse. What is lost with each of some call is more than this.
constexpr uint64_t kGrowthBytes = 3 << 20;
constexpr uint64_t kGrowthFiles = 4, kGrowthThreads = 4;
constexpr uint64_t kGrowthCalls = 10'000;  // fewer tell nothing
// What is kept for each thread, or grows to the most that was under way at once, ends to grow; a
// leak shows in each of these further phases, by half of the bounds at least.
constexpr unsigned kFurtherPhases = 3;

struct Resources {
  uint64_t heap_bytes, library_bytes, files, threads;
};

/// Names what has grown by more than its bound divided by `share`; empty: nothing has.
std::string grown(const Resources& before, const Resources& after, uint64_t share) {
  const auto text = [](const char* what, uint64_t from, uint64_t to) {
    return std::string(what) + " grew from " + std::to_string(from) + " to " + std::to_string(to);
  };
  if (after.heap_bytes > before.heap_bytes + kGrowthBytes / share) {
    return text("bytes allocated", before.heap_bytes, after.heap_bytes);
  }
  if (after.files > before.files + kGrowthFiles / share) {
    return text("open files", before.files, after.files);
  }
  if (after.threads > before.threads + kGrowthThreads / share) {
    return text("threads", before.threads, after.threads);
  }
  return "";
}

uint64_t count_entries(const char* folder) {
  DIR* const opened = opendir(folder);
  uint64_t count = 0;
  while (opened != nullptr && readdir(opened) != nullptr) ++count;
  if (opened != nullptr) closedir(opened);
  return count;
}

Resources measure(const Api& api) {
  malloc_trim(0);
  const struct mallinfo2 info = mallinfo2();
  return {info.uordblks + info.hblkhd, api.allocated(), count_entries("/proc/self/fd"),
          count_entries("/proc/self/task")};
}

/// Notices that no call ends for a while: calls that release handles are not in the journal, and
/// may wait too.
class Standstill {
 public:
  bool lasts(uint64_t calls) {
    const uint64_t now = now_ns();
    if (calls != calls_) since_ns_ = now;
    calls_ = calls;
    return now - since_ns_ > kRescueNs;
  }

 private:
  uint64_t calls_ = 0, since_ns_ = now_ns();
};

/// Ends waits that only the program itself could end, while it lives.
class Rescuer {
 public:
  Rescuer(Caller& caller, Journal& journal)
      : thread_([this, &caller, &journal] {
          Standstill standstill;
          while (!stop_.load()) {
            usleep(100'000);
            const bool stands = standstill.lasts(journal.calls.load());
            if (stands || find_hanging(journal, kRescueNs) != nullptr) caller.rescue();
          }
        }) {}
  ~Rescuer() {
    stop_.store(true);
    thread_.join();
  }
  Rescuer(const Rescuer&) = delete;
  Rescuer& operator=(const Rescuer&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class Round {
 public:
  Round(Api& api, Journal& journal, const RoundOptions& options)
      : api_(api),
        journal_(journal),
        options_(options),
        // Callbacks may still run when the round is over.
        shared_(*new Shared(api.handle_type_count())) {
    set_callback_world(api, shared_, journal, options_.caller);
  }

  void run() {
    Caller caller(api_, shared_, journal_, options_.caller, kRescuerThread);
    const Rescuer rescuer(caller, journal_);
    run_phase(0);
    const Resources middle = measure(api_);
    Resources end = run_and_measure(1, middle);
    if (options_.calls < 2 * kGrowthCalls || grown(middle, end, 1).empty()) return;
    for (unsigned phase = 2; phase < 2 + kFurtherPhases; ++phase) {
      const Resources before = std::exchange(end, run_and_measure(phase, end));
      if (grown(before, end, 2).empty()) return;
    }
    const std::string what = grown(middle, end, 1);
    if (what.empty()) return;  // another thing each time
    journal_.find(what + " over " + std::to_string(1 + kFurtherPhases) +
                  " phases, in each of them, without a live handle at their ends");
  }

 private:
  Resources run_and_measure(unsigned phase, const Resources& before) {
    run_phase(phase);
    const Resources after = measure(api_);
    const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf("phase %u: heap %llu %llu own %llu %llu files %llu %llu threads %llu %llu\n", phase,
                number(before.heap_bytes), number(after.heap_bytes), number(before.library_bytes),
                number(after.library_bytes), number(before.files), number(after.files),
                number(before.threads), number(after.threads));
    return after;
  }

  /// Makes half as many calls as the round has; afterwards no handle lives.
  void run_phase(unsigned phase) {
    const uint64_t each = options_.calls / options_.threads / 2;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < options_.threads; ++i) {
      threads.emplace_back([this, i, first = phase * each, each] { run_thread(i, first, each); });
    }
    for (std::thread& thread : threads) thread.join();
    api_.release_all(shared_);
  }

  void run_thread(size_t thread, uint64_t first, uint64_t count) {
    CallMemory memory;
    Values values(shared_, memory, thread);
    api_.begin_thread(values);
    Caller caller(api_, shared_, journal_, options_.caller, thread);
    for (uint64_t i = first; i < first + count && !journal_.has_finding.load(); ++i) {
      if (i % kTendEvery == 0) caller.tend(i);
      if (i % kScriptEvery == 0) caller.run_script(i);
      caller.make_call(i, 0);
    }
  }

  Api& api_;
  Journal& journal_;
  const RoundOptions& options_;
  Shared& shared_;
};

}  // namespace

void run_round(Api& api, Journal& journal, const RoundOptions& options) {
  Round(api, journal, options).run();
}

}  // namespace km::fuzz
