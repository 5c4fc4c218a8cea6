// StreamOrder: which operations of streams are ordered, by hand-made sequences of calls.
#include "backends/cpu/order/stream_order.h"

#include <gtest/gtest.h>

namespace km::cpu {
namespace {

constexpr uint64_t kMemory = 0x7f0000010000, kBytes = 3 * ByteSet::kBytes;

class StreamOrderTest : public testing::Test {
 protected:
  void SetUp() override {
    order_.follow(kMemory, kBytes);
    a_ = order_.open();
    b_ = order_.open();
  }
  /// Queues an operation and runs it: it accesses bytes of the memory.
  size_t run(uint32_t stream, Touch touch, uint64_t offset = 0, uint64_t size_bytes = 4) {
    return end(order_.queue(stream, ++tickets_[stream]), touch, offset, size_bytes);
  }
  size_t end(const StreamOrder::Operation& operation, Touch touch, uint64_t offset = 0,
             uint64_t size_bytes = 4, uint32_t node = 0, bool has_fences = false) {
    auto origin = std::make_shared<AccessOrigin>();
    origin->operation = operation;
    origin->node = node;
    origin->has_fences = has_fences;
    std::vector<PageTouches> pages = order_.pages_of(kMemory + offset, size_bytes, touch);
    last_ = order_.access(origin, pages);
    order_.end(*operation);
    return last_.size();
  }
  StreamOrder::Operation queue(uint32_t stream) { return order_.queue(stream, ++tickets_[stream]); }

  StreamOrder order_;
  uint32_t a_ = 0, b_ = 0;
  std::map<uint32_t, uint64_t> tickets_;
  std::vector<StreamConflict> last_;
};

TEST_F(StreamOrderTest, TwoStreamsAreUnordered) {
  EXPECT_EQ(run(a_, Touch::write, 8, 16), 0U);
  EXPECT_EQ(run(b_, Touch::read, 0, 12), 1U);
  EXPECT_EQ(last_[0].address, kMemory + 8);
  EXPECT_EQ(last_[0].size_bytes, 4U);
  EXPECT_EQ(last_[0].first.touch, Touch::write);
  EXPECT_EQ(last_[0].second.touch, Touch::read);
}

TEST_F(StreamOrderTest, AStreamIsOrdered) {
  EXPECT_EQ(run(a_, Touch::write), 0U);
  EXPECT_EQ(run(a_, Touch::read), 0U);
  EXPECT_EQ(run(a_, Touch::write), 0U);
}

TEST_F(StreamOrderTest, KindsThatDoNotConflict) {
  EXPECT_EQ(run(a_, Touch::read), 0U);
  EXPECT_EQ(run(b_, Touch::read), 0U);
  EXPECT_EQ(run(a_, Touch::strong_write, 64), 0U);
  EXPECT_EQ(run(b_, Touch::strong_write, 64), 0U);
  EXPECT_EQ(run(b_, Touch::strong_read, 64), 0U);
}

TEST_F(StreamOrderTest, AnAtomicConflictsWithAPlainAccess) {
  EXPECT_EQ(run(a_, Touch::strong_write), 0U);
  EXPECT_EQ(run(b_, Touch::read), 1U);
}

TEST_F(StreamOrderTest, OtherBytesDoNotConflict) {
  EXPECT_EQ(run(a_, Touch::write, 0, 4), 0U);
  EXPECT_EQ(run(b_, Touch::write, 4, 4), 0U);
  EXPECT_EQ(run(a_, Touch::write, 4095, 2), 0U);
  EXPECT_EQ(run(b_, Touch::write, 4097, 1), 0U);
  EXPECT_EQ(run(b_, Touch::write, 4096, 1), 1U);
}

TEST_F(StreamOrderTest, AnEventOrdersWhatWasBeforeIt) {
  run(a_, Touch::write, 0);
  const StreamOrder::Clock event = order_.clock_of(a_);
  run(a_, Touch::write, 64);
  order_.wait(b_, *event);
  EXPECT_EQ(run(b_, Touch::read, 0), 0U);
  EXPECT_EQ(run(b_, Touch::read, 64), 1U);
}

TEST_F(StreamOrderTest, EventsOrderByWayOfOtherStreams) {
  const uint32_t c = order_.open();
  run(a_, Touch::write);
  order_.wait(c, *order_.clock_of(a_));
  order_.wait(b_, *order_.clock_of(c));
  EXPECT_EQ(run(b_, Touch::write), 0U);
}

TEST_F(StreamOrderTest, TheHostOrders) {
  run(a_, Touch::write);
  const StreamOrder::Operation early = queue(b_);
  order_.wait_on_host(*order_.clock_of(a_));
  EXPECT_EQ(run(order_.open(), Touch::read), 0U);
  EXPECT_EQ(end(early, Touch::read), 1U);  // queued before the wait
}

TEST_F(StreamOrderTest, TheFirstIsTheOneThatWasQueuedFirst) {
  const StreamOrder::Operation first = queue(a_);
  EXPECT_EQ(run(b_, Touch::write), 0U);
  EXPECT_EQ(end(first, Touch::read), 1U);
  EXPECT_EQ(last_[0].first.touch, Touch::read);
  EXPECT_EQ(last_[0].second.touch, Touch::write);
}

TEST_F(StreamOrderTest, CallbacksTellTheHost) {
  run(a_, Touch::write);
  const StreamOrder::Operation callback = queue(a_);
  const StreamOrder::Operation waiting = queue(b_);
  order_.meet_host(*callback);
  order_.end_callback(*waiting);
  EXPECT_EQ(run(b_, Touch::read), 0U);
}

TEST_F(StreamOrderTest, ValuesOrder) {
  run(a_, Touch::write, 64);
  const StreamOrder::Operation write = queue(a_), wait = queue(b_);
  const StreamOrder::Operation reader = queue(b_), other = queue(order_.open());
  order_.publish(*write, kMemory);
  order_.receive(*wait, kMemory);
  EXPECT_EQ(end(reader, Touch::read, 64), 0U);  // queued before the wait was over
  EXPECT_EQ(end(other, Touch::read, 64), 1U);
}

TEST_F(StreamOrderTest, GraphsOrderTheirNodesByEdges) {
  const std::vector<uint32_t> none, after_first{0}, after_third{1};
  const std::vector<std::span<const uint32_t>> edges{none, after_first, none, after_third};
  const auto nodes = std::make_shared<const NodeOrder>(edges);
  const StreamOrder::Operation graph = queue(a_);
  graph->nodes = nodes;
  EXPECT_EQ(end(graph, Touch::write, 0, 4, 0), 0U);
  EXPECT_EQ(end(graph, Touch::write, 0, 4, 1), 0U);
  EXPECT_EQ(end(graph, Touch::write, 0, 4, 3), 0U);
  EXPECT_EQ(end(graph, Touch::read, 0, 4, 2), 1U);
  EXPECT_EQ(run(a_, Touch::write), 0U);
}

TEST_F(StreamOrderTest, KernelsThatMayMeetAreLeftAlone) {
  const StreamOrder::Operation first = queue(a_), second = queue(b_);
  const auto access = [&](const StreamOrder::Operation& operation, bool has_fences) {
    auto origin = std::make_shared<AccessOrigin>();
    origin->operation = operation;
    origin->has_fences = has_fences;
    std::vector<PageTouches> pages = order_.pages_of(kMemory, 4, Touch::strong_write);
    pages[0].of(Touch::write) = ByteSet::of_run(64, 68);
    return order_.access(origin, pages).size();
  };
  EXPECT_EQ(access(first, true), 0U);
  EXPECT_EQ(access(second, true), 0U);
  EXPECT_EQ(access(queue(order_.open()), false), 2U);
}

TEST_F(StreamOrderTest, FreedMemoryIsForgotten) {
  run(a_, Touch::write, 0, 5000);
  order_.renew(kMemory, 4);
  EXPECT_EQ(run(b_, Touch::write, 0, 4), 0U);
  EXPECT_EQ(run(b_, Touch::write, 0, 5), 1U);
  order_.forget(kMemory, kBytes);
  EXPECT_TRUE(order_.pages_of(kMemory, 4, Touch::write).empty());
}

TEST_F(StreamOrderTest, OtherMemoryIsNotFollowed) {
  EXPECT_TRUE(order_.pages_of(kMemory - 4096, 4096, Touch::write).empty());
  const std::vector<PageTouches> pages = order_.pages_of(kMemory - 4096, 4100, Touch::write);
  ASSERT_EQ(pages.size(), 1U);
  EXPECT_EQ(pages[0].of(Touch::write).count(), 4U);
}

TEST_F(StreamOrderTest, ManyStreamsComeAndGo) {
  for (int i = 0; i < 1000; ++i) {
    const uint32_t stream = order_.open();
    EXPECT_EQ(run(stream, Touch::write), 0U) << i;
    order_.close(stream);
    order_.wait_on_host(*order_.clock_of(stream));
  }
  run(a_, Touch::write);
  EXPECT_EQ(run(b_, Touch::write), 1U);
}

TEST(ByteSetTest, SetsOfBytes) {
  const ByteSet run = ByteSet::of_run(60, 130);
  ByteSet::Words even;
  even.fill(0x5555555555555555);
  const ByteSet evens = ByteSet::of_words(even);
  EXPECT_EQ(run.count(), 70U);
  EXPECT_EQ(evens.count(), 2048U);
  const ByteSet both = run.common(evens);
  EXPECT_EQ(both.count(), 35U);
  EXPECT_EQ(both.first(), 60U);
  EXPECT_TRUE(both.contains(128));
  EXPECT_FALSE(both.contains(129));
  EXPECT_FALSE(both.contains(130));
  ByteSet left = ByteSet::of_run(60, 130);
  left.remove(evens);
  EXPECT_EQ(left.count(), 35U);
  EXPECT_EQ(left.first(), 61U);
  left.add(evens);
  EXPECT_EQ(left.count(), 2048U + 35U);
  left.remove(ByteSet::of_run(0, ByteSet::kBytes));
  EXPECT_TRUE(left.is_empty());
  left.add(run);
  EXPECT_EQ(left.count(), 70U);
  left.remove(ByteSet::of_run(100, 4096));
  EXPECT_EQ(left.count(), 40U);
}

TEST(StreamClockTest, Joins) {
  StreamClock one, other;
  one.raise(3, 5);
  one.raise(1, 2);
  other.raise(3, 4);
  other.raise(7, 1);
  EXPECT_FALSE(one.holds(other));
  one.join(other);
  EXPECT_TRUE(one.holds(other));
  EXPECT_EQ(one.at(1), 2U);
  EXPECT_EQ(one.at(3), 5U);
  EXPECT_EQ(one.at(7), 1U);
  EXPECT_EQ(one.at(2), 0U);
  EXPECT_TRUE(one.holds(3, 5));
  EXPECT_FALSE(one.holds(3, 6));
  one.drop(3);
  EXPECT_EQ(one.at(3), 0U);
  EXPECT_EQ(one.size(), 2U);
}

}  // namespace
}  // namespace km::cpu
