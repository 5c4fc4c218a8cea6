#include "unit/cpu/support.h"

#include <map>
#include <mutex>

namespace km::cpu::test {

Pool* pool_of(uint32_t threads) {
  static std::mutex mutex;
  static std::map<uint32_t, Pool*> pools;
  std::lock_guard lock(mutex);
  Pool*& pool = pools[threads];
  if (pool == nullptr) {
    PoolOptions options;
    options.threads = threads;
    Result<Pool*> started = Pool::start(options);
    EXPECT_TRUE(started);
    pool = *started;
  }
  return pool;
}

}  // namespace km::cpu::test
