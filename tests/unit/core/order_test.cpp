#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/graph/graph_exec.h"
#include "core/graph/graph_work.h"
#include "core/launch/launch.h"
#include "core/memory/submission.h"
#include "core/queue/copy.h"
#include "core/stream/access_list.h"
#include "unit/core/fake_device.h"

namespace km::test {
namespace {

constexpr AccessKind kRead = AccessKind::kRead, kWrite = AccessKind::kWrite;

/// An ordered context beside the one without order; work waits until somebody asks for it.
class OrderTest : public FakeDeviceTest {
 protected:
  void SetUp() override {
    FakeDeviceTest::SetUp();
    Ref<Device> device = Ref<Device>::share(context_->device());
    ordered_ = std::move(*Context::create(std::move(device), KM_CONTEXT_ORDERED));
    for (Ref<Stream>& stream : streams_) stream = new_stream();
    slice_ = std::move(*Slice::create(*ordered_, nullptr, 64, 4, KM_SLICE_ZEROED));
    fake_set_deferred(true);
    fake_counters().ticket_waits = 0;
  }
  void TearDown() override {
    for (Ref<Stream>& stream : streams_) {
      EXPECT_TRUE(stream->drain());
      stream = nullptr;
    }
    slice_ = nullptr;
    ordered_ = nullptr;
    FakeDeviceTest::TearDown();
  }
  Ref<Stream> new_stream() { return std::move(*Stream::create(*ordered_, KM_STREAM_DEFAULT, 0)); }
  AccessList& list() { return *slice_->memory().accesses(); }
  uint64_t waits() const { return fake_counters().ticket_waits; }

  /// One operation that does nothing to bytes of the slice.
  Status use(Stream& stream, uint64_t begin, uint64_t end, AccessKind kind) {
    MemoryUse uses[] = {
        MemoryUse::of(slice_->memory(), slice_->address() + begin, end - begin, kind)};
    return submit(stream, uses, [&](Submission&, uint64_t* ticket) -> Status {
      const auto nothing = [](void*, km_status) {};
      KM_TRY(stream.queue_callback(nothing, nullptr));
      *ticket = stream.last_ticket();
      return Status();
    });
  }
  Status read(int stream) { return use(*streams_[stream], 0, 256, kRead); }
  Status write(int stream) { return use(*streams_[stream], 0, 256, kWrite); }

  Ref<Context> ordered_;
  Ref<Stream> streams_[4];
  Ref<Slice> slice_;
};

TEST_F(OrderTest, OneStreamWaitsForNothingAndKeepsNothing) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(write(0));
    ASSERT_TRUE(read(0));
  }
  EXPECT_EQ(waits(), 0u);
  EXPECT_EQ(list().size(), 2u);
}

TEST_F(OrderTest, OnlyConflictsWait) {
  ASSERT_TRUE(write(0));
  ASSERT_TRUE(read(1));
  EXPECT_EQ(waits(), 1u);
  ASSERT_TRUE(read(2));
  EXPECT_EQ(waits(), 2u);
  ASSERT_TRUE(read(0));
  EXPECT_EQ(waits(), 2u);
  ASSERT_TRUE(write(3));  // for the write and the reads, of three streams
  EXPECT_EQ(waits(), 5u);
  ASSERT_TRUE(read(0));
  EXPECT_EQ(waits(), 6u);
}

TEST_F(OrderTest, WhatIsWaitedForAlreadyIsNotWaitedForAgain) {
  ASSERT_TRUE(write(0));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(read(1));
  EXPECT_EQ(waits(), 1u);
  ASSERT_TRUE(write(0));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(read(1));
  EXPECT_EQ(waits(), 3u);  // the write for the reads, and they for it
}

TEST_F(OrderTest, PartsConflictWhereTheyShareAByte) {
  ASSERT_TRUE(use(*streams_[0], 0, 100, kWrite));
  ASSERT_TRUE(use(*streams_[1], 100, 256, kWrite));
  EXPECT_EQ(waits(), 0u);
  ASSERT_TRUE(use(*streams_[2], 99, 100, kRead));
  EXPECT_EQ(waits(), 1u);
  ASSERT_TRUE(use(*streams_[2], 99, 101, kRead));
  EXPECT_EQ(waits(), 2u);
  ASSERT_TRUE(use(*streams_[3], 100, 100, kWrite));  // of nothing
  EXPECT_EQ(waits(), 2u);
}

TEST_F(OrderTest, ManyPartsOfAStreamAreMadeFew) {
  for (uint64_t i = 0; i < 64; ++i) ASSERT_TRUE(use(*streams_[0], 4 * i, 4 * i + 3, kWrite));
  EXPECT_LE(list().size(), 16u);
  ASSERT_TRUE(use(*streams_[1], 5 * 4, 5 * 4 + 1, kRead));
  EXPECT_EQ(waits(), 1u);
  // What is over is forgotten, so that parts are told apart again.
  ASSERT_TRUE(streams_[0]->drain());
  ASSERT_TRUE(streams_[1]->drain());
  for (uint64_t i = 0; i < 32; ++i) ASSERT_TRUE(use(*streams_[2], 4 * i, 4 * i + 3, kWrite));
  EXPECT_LE(list().size(), 32u);
}

TEST_F(OrderTest, ReadersThatAreOverAreForgotten) {
  for (int i = 0; i < 1000; ++i) {
    const Ref<Stream> stream = new_stream();
    ASSERT_TRUE(use(*stream, 0, 256, kRead));
    ASSERT_TRUE(stream->drain());
  }
  EXPECT_LT(list().size(), 40u);
  EXPECT_LT(fake_counters().streams, 60);
}

TEST_F(OrderTest, ReadersThatAreBusyAreAllWaitedFor) {
  std::vector<Ref<Stream>> readers;
  for (int i = 0; i < 200; ++i) {
    readers.push_back(new_stream());
    ASSERT_TRUE(use(*readers.back(), 0, 256, kRead));
  }
  EXPECT_EQ(list().size(), 200u);
  ASSERT_TRUE(write(0));
  EXPECT_EQ(waits(), 200u);
  EXPECT_EQ(list().size(), 1u);
  ASSERT_TRUE(streams_[0]->drain());  // runs all that it waits for
  for (const Ref<Stream>& reader : readers) EXPECT_TRUE(reader->is_idle());
}

TEST_F(OrderTest, MemoryOutlivesUsesOnAllStreams) {
  ASSERT_TRUE(read(0));
  ASSERT_TRUE(read(1));
  ASSERT_TRUE(write(2));
  slice_ = nullptr;
  EXPECT_EQ(fake_counters().memories, 1);
  ASSERT_TRUE(streams_[2]->drain());
  ASSERT_TRUE(streams_[0]->drain());
  ASSERT_TRUE(streams_[1]->drain());
  EXPECT_TRUE(streams_[2]->synchronize(*require_may_block(), KMB_WAIT_FOREVER));
  EXPECT_EQ(fake_counters().memories, 0);
  slice_ = std::move(*Slice::create(*ordered_, nullptr, 64, 4, KM_SLICE_ZEROED));
}

TEST_F(OrderTest, OperationsThatFailDoNotCount) {
  for (int call = 0; call < 3; ++call) {
    ASSERT_TRUE(write(0));
    fake_fail_call(call, KM_ERROR_OUT_OF_DEVICE_MEMORY);
    const Status failed = read(1);
    fake_fail_call(-1, KM_SUCCESS);
    EXPECT_EQ(static_cast<bool>(failed), call == 2);  // the wait, the operation, and no call more
    // Nothing is locked, and nothing is lost.
    ASSERT_TRUE(read(2));
    ASSERT_TRUE(write(3));
    for (Ref<Stream>& stream : streams_) ASSERT_TRUE(stream->drain());
  }
}

TEST_F(OrderTest, TheSameMemoryTwiceIsOneLock) {
  const auto use_of = [&](uint64_t begin, AccessKind kind) {
    return MemoryUse::of(slice_->memory(), slice_->address() + begin, 64, kind);
  };
  for (int i = 0; i < 3; ++i) {
    for (Ref<Stream>& stream : streams_) {
      MemoryUse uses[] = {use_of(0, kRead), use_of(64, kWrite), use_of(0, kRead)};
      ASSERT_TRUE(submit(*stream, uses, [&](Submission&, uint64_t* ticket) {
        EXPECT_FALSE(list().lock().try_lock());
        *ticket = 0;
        return Status();
      }));
      ASSERT_TRUE(list().lock().try_lock());
      list().lock().unlock();
    }
  }
}

TEST_F(OrderTest, RepeatedUsesAreThoseOfTheSameStreamRangeAndKind) {
  const Ref<Slice> other = std::move(*Slice::create(*ordered_, nullptr, 64, 4, 0));
  const auto use_of = [](Slice& slice, uint64_t size_bytes, AccessKind kind) {
    return MemoryUse::of(slice.memory(), slice.address(), size_bytes, kind);
  };
  const auto is_repeated = [&](int stream, std::vector<MemoryUse> uses) {
    RepeatedUses repeated(uses);
    const bool taken = repeated.take(streams_[stream]->number());
    EXPECT_EQ(list().lock().try_lock(), !taken);
    if (!taken) list().lock().unlock();
    return taken;  // without end(): nothing is noted, and nothing stays locked
  };
  const MemoryUse written = use_of(*slice_, 256, kWrite), read = use_of(*slice_, 256, kRead);
  EXPECT_FALSE(is_repeated(0, {written}));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(write(0));
  EXPECT_TRUE(is_repeated(0, {written}));
  EXPECT_TRUE(is_repeated(0, {MemoryUse(), written}));
  EXPECT_FALSE(is_repeated(0, {read}));
  EXPECT_FALSE(is_repeated(0, {use_of(*slice_, 255, kWrite)}));
  EXPECT_FALSE(is_repeated(1, {written}));
  EXPECT_FALSE(is_repeated(0, {written, written}));  // one lock
  EXPECT_FALSE(is_repeated(0, {written, use_of(*other, 256, kWrite)}));
  ASSERT_TRUE(this->read(0));
  EXPECT_FALSE(is_repeated(0, {read, written}));
  ASSERT_TRUE(list().lock().try_lock());
  EXPECT_FALSE(RepeatedUses(std::span(&written, 1)).take(streams_[0]->number()));
  list().lock().unlock();
}

TEST_F(OrderTest, RepeatedUsesAreWaitedForByOthers) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(write(0));
  MemoryUse uses[] = {MemoryUse::of(slice_->memory(), slice_->address(), 256, kWrite)};
  {
    RepeatedUses repeated(uses);
    ASSERT_TRUE(repeated.take(streams_[0]->number()));
    ASSERT_TRUE(streams_[0]->queue_callback([](void*, km_status) {}, nullptr));
    repeated.end(streams_[0]->last_ticket());
  }
  const uint64_t ticket = streams_[0]->last_ticket();
  ASSERT_TRUE(read(1));
  EXPECT_EQ(waits(), 1u);
  ASSERT_TRUE(streams_[1]->drain());
  EXPECT_TRUE(streams_[0]->is_over(ticket));
}

TEST_F(OrderTest, WhatACallIsAboutToQueueIsWaitedFor) {
  // The entry announces that only its end tells the ticket, as calls of drivers are.
  MemoryUse uses[] = {MemoryUse::of(slice_->memory(), slice_->address(), 256, kRead)};
  std::thread other;
  std::atomic<bool> is_over{false};
  ASSERT_TRUE(submit(*streams_[0], uses, [&](Submission& submission, uint64_t* ticket) {
    submission.queued()->call(submission.queued()->user_data, 0);
    EXPECT_TRUE(read(1));  // does not conflict
    EXPECT_EQ(waits(), 0u);
    other = std::thread([&] {
      EXPECT_TRUE(write(2));
      is_over = true;
    });
    usleep(20000);
    EXPECT_FALSE(is_over);
    EXPECT_TRUE(streams_[0]->queue_callback([](void*, km_status) {}, nullptr));
    *ticket = streams_[0]->last_ticket();
    return Status();
  }));
  other.join();
  EXPECT_TRUE(is_over);
  EXPECT_EQ(waits(), 2u);
  // One that fails leaves nothing behind that others would wait for.
  EXPECT_FALSE(submit(*streams_[3], uses, [&](Submission& submission, uint64_t*) -> Status {
    submission.queued()->call(submission.queued()->user_data, 0);
    return make_error(KM_ERROR_INTERNAL, "failed");
  }));
  ASSERT_TRUE(write(0));
}

TEST_F(OrderTest, ATicketThatIsToldEarlyEndsTheSubmission) {
  std::vector<uint32_t> words(1 << 15);
  ASSERT_TRUE(write(0));
  // The fake backend runs what the copy waits for, and tells the ticket before.
  ASSERT_TRUE(download(*streams_[1], {&slice_->memory(), slice_->address()}, words.data(), 256));
  EXPECT_EQ(waits(), 1u);
  EXPECT_TRUE(streams_[0]->is_idle());
  ASSERT_TRUE(list().lock().try_lock());
  list().lock().unlock();
}

TEST_F(OrderTest, GraphsUseEachRangeOnce) {
  const Ref<Graph> graph = make_ref<Graph>(*ordered_);
  for (uint64_t i = 0; i < 32; ++i) {
    const DevicePlace place{&slice_->memory(), slice_->address() + 4 * i};
    ASSERT_TRUE(graph->add({}, *fill_work(place, 1, 4, 1)));
  }
  const Ref<GraphExec> exec = std::move(*GraphExec::create(*graph));
  ASSERT_TRUE(exec->launch(*streams_[0]));
  EXPECT_EQ(list().size(), 1u);
  ASSERT_TRUE(use(*streams_[1], 128, 256, kWrite));
  EXPECT_EQ(waits(), 0u);
  ASSERT_TRUE(use(*streams_[1], 124, 256, kRead));
  EXPECT_EQ(waits(), 1u);
}

TEST_F(OrderTest, KernelsOfBackendsWithoutUploadsLaunchNoGraphs) {
  const Ref<Graph> graph = make_ref<Graph>(*ordered_);
  const DevicePlace place{&slice_->memory(), slice_->address()};
  ASSERT_TRUE(graph->add({}, *fill_work(place, 1, 4, 1)));
  const Ref<GraphExec> exec = std::move(*GraphExec::create(*graph));
  const Status enabled = exec->enable_device_launch(7);
  ASSERT_FALSE(enabled);
  EXPECT_EQ(enabled.error().status, KM_ERROR_NOT_SUPPORTED);
  EXPECT_TRUE(exec->upload(*streams_[0]));  // nothing is to be done
}

TEST_F(OrderTest, ContextsWithoutTheFlagKeepNothing) {
  const Ref<Slice> plain = std::move(*Slice::create(*context_, nullptr, 64, 4, 0));
  EXPECT_EQ(plain->memory().accesses(), nullptr);
  EXPECT_FALSE(context_->is_ordered());
  EXPECT_TRUE(ordered_->is_ordered());
}

TEST(AccessRange, ConflictsAreOfWritersAndOfDifferentKinds) {
  const AccessRange read{0, 10, kRead}, write{5, 15, kWrite}, beside{10, 20, kWrite};
  const AccessRange launch{0, UINT64_MAX, AccessKind::kLaunch};
  EXPECT_TRUE(read.conflicts_with(write));
  EXPECT_TRUE(write.conflicts_with(read));
  EXPECT_TRUE(write.conflicts_with(write));
  EXPECT_FALSE(read.conflicts_with(read));
  EXPECT_FALSE(read.conflicts_with(beside));
  EXPECT_TRUE(launch.conflicts_with(read));
  EXPECT_TRUE(launch.conflicts_with(write));
  EXPECT_FALSE(launch.conflicts_with(launch));
}

}  // namespace
}  // namespace km::test
