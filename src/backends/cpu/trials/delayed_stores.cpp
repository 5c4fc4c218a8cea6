#include "backends/cpu/trials/delayed_stores.h"

#include "backends/cpu/fault/guarded_memory.h"
#include "base/assert.h"

namespace km::cpu {
namespace {

/// Makes the store. It is lost if its memory was freed in the meantime.
void write(const DelayedStores::Store& store) {
  guarded_copy(reinterpret_cast<void*>(store.address), store.bytes.data(), store.size_bytes, false,
               nullptr);
}

}  // namespace

void DelayedStores::make(size_t index) {
  KM_ASSERT(index < stores_.size(), "a store is made that was not delayed");
  write(stores_[index]);
  stores_.erase(stores_.begin() + static_cast<ptrdiff_t>(index));
}

template <typename Test>
void DelayedStores::make_if(const Test& test) {
  std::erase_if(stores_, [&](const Store& store) {
    const bool is_due = test(store);
    if (is_due) write(store);
    return is_due;
  });
}

void DelayedStores::make_all(const Thread& thread) {
  make_if([&](const Store& store) { return store.thread == thread; });
}

void DelayedStores::make_before(const Thread& thread, uint64_t address, uint64_t size_bytes) {
  make_if([&](const Store& store) {
    const bool overlaps =
        store.address < address + size_bytes && address < store.address + store.size_bytes;
    return overlaps && store.thread == thread;
  });
}

void DelayedStores::make_own(uint32_t block) {
  make_if([&](const Store& store) { return store.is_of_block && store.thread.block == block; });
}

void DelayedStores::make_all() {
  make_if([](const Store&) { return true; });
}

void DelayedStores::make_block(uint32_t block) {
  make_if([&](const Store& store) { return store.thread.block == block; });
}

}  // namespace km::cpu
