#include "dropin/cupti/correlation/calls.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/assert.h"

namespace km::cupti {
namespace {

std::atomic<uint32_t> g_correlations{0};

}  // namespace

uint32_t ThreadCalls::begin(uint64_t now_ns) {
  const uint32_t correlation = g_correlations.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::lock_guard lock(mutex_);
  if (calls_.size() == kMost) calls_.pop_front();
  calls_.push_back({now_ns, UINT64_MAX, {correlation, {}}});
  return correlation;
}

void ThreadCalls::note(const Launched& launched) {
  const std::lock_guard lock(mutex_);
  if (!calls_.empty()) calls_.back().known.launched = launched;
}

void ThreadCalls::end(uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(!calls_.empty(), "a call that ends has begun");
  calls_.back().end_ns = now_ns;
}

QueuingCall ThreadCalls::at(uint64_t moment_ns) {
  const std::lock_guard lock(mutex_);
  const auto after =
      std::upper_bound(calls_.begin(), calls_.end(), moment_ns,
                       [](uint64_t moment, const Call& call) { return moment < call.begin_ns; });
  if (after == calls_.begin()) return {};
  const Call& call = *std::prev(after);
  return moment_ns <= call.end_ns ? call.known : QueuingCall();
}

AllCalls& AllCalls::instance() {
  union Forever {
    AllCalls calls;
    Forever() : calls() {}
    ~Forever() {}  // other threads may make calls during exit
  };
  static Forever forever;
  return forever.calls;
}

ThreadCalls& AllCalls::here() {
  thread_local ThreadCalls* own = nullptr;
  if (own == nullptr) {
    const std::lock_guard lock(mutex_);
    // Calls of an earlier thread with the same id stay: their operations may not have ended.
    std::shared_ptr<ThreadCalls>& calls = threads_[thread_id()];
    if (calls == nullptr) calls = std::make_shared<ThreadCalls>();
    own = calls.get();
  }
  return *own;
}

QueuingCall AllCalls::at(uint32_t thread, uint64_t moment_ns) {
  std::shared_ptr<ThreadCalls> calls;
  {
    const std::lock_guard lock(mutex_);
    const auto found = threads_.find(thread);
    if (found == threads_.end()) return {};
    calls = found->second;
  }
  return calls->at(moment_ns);
}

uint32_t thread_id() noexcept {
  thread_local const auto id = static_cast<uint32_t>(syscall(SYS_gettid));
  return id;
}

}  // namespace km::cupti
