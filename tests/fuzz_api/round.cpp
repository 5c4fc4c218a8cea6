#include "round.h"

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#include <thread>

namespace km::fuzz {
namespace {

constexpr uint64_t kRescueNs = 3'000'000'000;
constexpr size_t kRescuerThread = 15;
constexpr uint64_t kTendEvery = 64, kScriptEvery = 50;  // calls
// A library may keep memory for reuse. What is lost with each of some call is more than this.
constexpr uint64_t kGrowthBytes = 3 << 20;
constexpr uint64_t kGrowthCalls = 10'000;  // fewer tell nothing

struct Resources {
  uint64_t heap_bytes, library_bytes, files, threads;
};

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

/// Ends waits that only the program itself could end, while it lives.
class Rescuer {
 public:
  Rescuer(Caller& caller, Journal& journal)
      : thread_([this, &caller, &journal] {
          while (!stop_.load()) {
            usleep(100'000);
            if (find_hanging(journal, kRescueNs) != nullptr) caller.rescue();
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
    run_phase(1);
    const Resources end = measure(api_);
    if (options_.calls >= 2 * kGrowthCalls) compare(middle, end);
  }

 private:
  /// Half of the calls; afterwards no handle lives.
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

  void compare(const Resources& before, const Resources& after) {
    if (journal_.has_finding.load()) return;
    const auto grown = [this](const char* what, uint64_t a, uint64_t b, uint64_t most) {
      if (b <= a + most) return;
      journal_.find(std::string(what) + " grew from " + std::to_string(a) + " to " +
                    std::to_string(b) + " from the middle to the end, without a live handle");
    };
    grown("bytes allocated", before.heap_bytes, after.heap_bytes, kGrowthBytes);
    grown("open files", before.files, after.files, 4);
    grown("threads", before.threads, after.threads, 4);
    std::printf("heap %llu %llu own %llu %llu files %llu %llu threads %llu %llu\n",
                static_cast<unsigned long long>(before.heap_bytes),
                static_cast<unsigned long long>(after.heap_bytes),
                static_cast<unsigned long long>(before.library_bytes),
                static_cast<unsigned long long>(after.library_bytes),
                static_cast<unsigned long long>(before.files),
                static_cast<unsigned long long>(after.files),
                static_cast<unsigned long long>(before.threads),
                static_cast<unsigned long long>(after.threads));
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
