#include "unit/cpu/support.h"

#include <map>
#include <mutex>

namespace km::cpu::test {

ThreadPool* pool_of(uint32_t threads) {
  static std::mutex mutex;
  static std::map<uint32_t, ThreadPool*> pools;
  std::lock_guard lock(mutex);
  ThreadPool*& pool = pools[threads];
  if (pool == nullptr) {
    ThreadPoolOptions options;
    options.threads = threads;
    Result<ThreadPool*> started = ThreadPool::start(options);
    EXPECT_TRUE(started);
    pool = *started;
  }
  return pool;
}

}  // namespace km::cpu::test
