#include "core/memory/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/memory/host_memory.h"
#include "core/memory/slice.h"
#include "core/queue/copy.h"
#include "unit/core/fake_device.h"

namespace km::test {
namespace {

using ::testing::HasSubstr;

class MemoryTest : public FakeDeviceTest {
 protected:
  Ref<Slice> new_slice(uint64_t count) {
    Result<Ref<Slice>> slice = Slice::create(*context_, nullptr, count, 4, KM_SLICE_ZEROED);
    EXPECT_TRUE(slice);
    return std::move(*slice);
  }
  void fill_all(Stream& stream, Slice& slice) {
    const DevicePlace place{&slice.memory(), slice.address()};
    EXPECT_TRUE(fill(stream, place, 1, 4, slice.size_bytes() / 4));
  }
};

TEST_F(MemoryTest, QueuedWorkKeepsMemory) {
  fake_set_deferred(true);
  Ref<Slice> slice = new_slice(16);
  fill_all(*stream_, *slice);
  slice = nullptr;
  EXPECT_EQ(fake_counters().memories, 1);
  EXPECT_TRUE(stream_->synchronize(*require_may_block(), KMB_WAIT_FOREVER));
  EXPECT_EQ(fake_counters().memories, 0);
}

TEST_F(MemoryTest, EveryStreamThatUsesItCounts) {
  fake_set_deferred(true);
  Ref<Slice> slice = new_slice(16);
  std::vector<Ref<Stream>> streams;
  for (int i = 0; i < 40; ++i) {
    streams.push_back(std::move(*Stream::create(*context_, KM_STREAM_DEFAULT, 0)));
    fill_all(*streams.back(), *slice);
  }
  slice = nullptr;
  for (Ref<Stream>& stream : streams) {
    EXPECT_EQ(fake_counters().memories, 1);
    EXPECT_TRUE(stream->synchronize(*require_may_block(), KMB_WAIT_FOREVER));
  }
  EXPECT_EQ(fake_counters().memories, 0);
}

TEST_F(MemoryTest, IdleStreamsAreForgotten) {
  Ref<Slice> slice = new_slice(16);
  for (int i = 0; i < 1000; ++i) {
    Ref<Stream> stream = std::move(*Stream::create(*context_, KM_STREAM_DEFAULT, 0));
    fill_all(*stream, *slice);
  }
  EXPECT_LT(fake_counters().streams, 20);
}

TEST_F(MemoryTest, StreamOrderedDestroyWaitsForUnknownUses) {
  fake_set_deferred(true);
  Ref<Slice> used = new_slice(16);
  Ref<Slice> freed = new_slice(16);
  fill_all(*stream_, *used);  // any work
  EXPECT_TRUE(freed->mark_last_use(*stream_));
  freed = nullptr;
  EXPECT_EQ(fake_counters().memories, 2);
  EXPECT_TRUE(stream_->synchronize(*require_may_block(), KMB_WAIT_FOREVER));
  EXPECT_EQ(fake_counters().memories, 1);
}

TEST_F(MemoryTest, ViewsShareAndKeep) {
  Ref<Slice> slice = new_slice(16);
  Ref<Slice> view = std::move(*slice->view(4, 8));
  Ref<Slice> inner = std::move(*view->view(2, 1));
  EXPECT_EQ(inner->address(), slice->address() + 24);
  EXPECT_EQ(view->view(4, 5).error().status, KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(view->view(UINT64_MAX, 2).error().status, KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_TRUE(view->view(8, 0));
  slice = nullptr;
  view = nullptr;
  EXPECT_EQ(fake_counters().memories, 1);
}

TEST_F(MemoryTest, FindsByAddress) {
  Ref<Slice> slice = new_slice(16);
  const uint64_t address = slice->address();
  Result<FoundSlice> found = find_slice(*context_, address + 63);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset_bytes, 63u);
  EXPECT_EQ(found->slice->size_bytes(), 64u);
  EXPECT_EQ(found->slice->info().element_size_bytes, 4u);
  slice = nullptr;
  EXPECT_TRUE(find_slice(*context_, address));  // the found one keeps the memory
  found = make_error(KM_SUCCESS, "let go");
  EXPECT_EQ(find_slice(*context_, address).error().status, KM_ERROR_NOT_FOUND);
}

TEST_F(MemoryTest, RangesAreChecked) {
  Ref<Slice> slice = new_slice(16);
  EXPECT_TRUE(find_device_range(*context_, slice->address() + 60, 4, "address"));
  const Result<FoundMemory> beyond =
      find_device_range(*context_, slice->address() + 60, 5, "address");
  EXPECT_EQ(beyond.error().status, KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_THAT(beyond.error().message, HasSubstr("it has 64 bytes, and this is offset 60"));
  EXPECT_FALSE(find_device_range(*context_, slice->address(), UINT64_MAX, "address"));
  EXPECT_EQ(find_device_range(*context_, 1, 1, "address").error().status, KM_ERROR_OUT_OF_BOUNDS);
}

TEST_F(MemoryTest, HostMemoryOverlapsAreRefusedWithoutRelease) {
  alignas(64) char bytes[256];
  int released = 0;
  const auto release = [](void* count) { ++*static_cast<int*>(count); };
  Ref<Slice> whole = std::move(*Slice::from_host(*context_, bytes, 256, 1));
  whole->memory().set_release(release, &released);
  const Result<Ref<Slice>> part = Slice::from_host(*context_, bytes + 16, 1, 1);
  EXPECT_EQ(part.error().status, KM_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(part.error().message, HasSubstr("overlap"));
  EXPECT_EQ(released, 0);
  whole = nullptr;
  EXPECT_EQ(released, 1);
  EXPECT_TRUE(Slice::from_host(*context_, bytes + 16, 1, 1));
}

TEST_F(MemoryTest, PinnedMemoryIsKnownByItsWholeRange) {
  Ref<HostMemory> host = std::move(*HostMemory::create(*context_, 100));
  const char* pointer = static_cast<const char*>(host->pointer());
  EXPECT_TRUE(find_pinned_memory(*context_, pointer, 100));
  EXPECT_TRUE(find_pinned_memory(*context_, pointer + 99, 1));
  EXPECT_FALSE(find_pinned_memory(*context_, pointer + 99, 2));
  EXPECT_FALSE(find_pinned_memory(*context_, pointer + 100, 0));
  EXPECT_TRUE(find_device_memory(*context_, reinterpret_cast<uint64_t>(pointer) + 5));
}

TEST_F(MemoryTest, AsynchronousCopiesKeepPinnedMemory) {
  fake_set_deferred(true);
  Ref<HostMemory> host = std::move(*HostMemory::create(*context_, 64));
  Ref<Slice> slice = new_slice(16);
  EXPECT_TRUE(upload(*stream_, {&slice->memory(), slice->address()}, host->pointer(), 64));
  host = nullptr;
  EXPECT_EQ(fake_counters().memories, 2);
  EXPECT_TRUE(stream_->synchronize(*require_may_block(), KMB_WAIT_FOREVER));
  EXPECT_EQ(fake_counters().memories, 1);
}

TEST_F(MemoryTest, ResetLosesChildrenButKeepsTheirMemory) {
  Ref<Slice> slice = new_slice(16);
  const uint64_t address = slice->address();
  EXPECT_FALSE(slice->is_lost());
  EXPECT_TRUE(context_->reset(*require_may_block()));
  EXPECT_TRUE(slice->is_lost());
  EXPECT_TRUE(stream_->is_lost());
  EXPECT_TRUE((*slice->view(0, 1))->is_lost());
  EXPECT_FALSE(find_slice(*context_, address));
  EXPECT_EQ(fake_counters().memories, 1);
  *reinterpret_cast<uint32_t*>(address) = 1;  // still mapped
  Ref<Slice> fresh = new_slice(4);
  EXPECT_TRUE(find_slice(*context_, fresh->address()));
}

TEST_F(MemoryTest, SearchesSurviveConcurrentFrees) {
  std::atomic<uint64_t> address{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> finders;
  for (int t = 0; t < 2; ++t) {
    finders.emplace_back([&] {
      while (!done.load()) {
        const FoundMemory found = find_device_memory(*context_, address.load());
        EXPECT_EQ(found ? found->size_bytes() : 64, 64u);
        const Result<FoundSlice> kept = find_slice(*context_, address.load());
        EXPECT_EQ(kept ? kept->offset_bytes : 0, 0u);
      }
    });
  }
  for (int i = 0; i < 5000; ++i) {
    Ref<Slice> slice = new_slice(16);
    address = slice->address();
  }
  done = true;
  for (std::thread& finder : finders) finder.join();
}

}  // namespace
}  // namespace km::test
