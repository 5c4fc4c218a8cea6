// Streams, events, copies, memory and callbacks, through the backend's table.
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "backend/interface.h"
#include "backends/cpu/config/config.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/memory/address_space.h"
#include "backends/cpu/plugin/plugin.h"
#include "unit/cpu/support.h"

namespace km::cpu::test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

/// A context of the first device of the backend.
class BackendTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    kmb_error error;
    static const km_status started = backend_table().initialize(nullptr, &error);
    ASSERT_EQ(started, KM_SUCCESS);
  }
  void SetUp() override {
    ASSERT_EQ(api.device_open(0, &device_, &error_), KM_SUCCESS);
    ASSERT_EQ(api.context_create(device_, &context_, &error_), KM_SUCCESS);
    stream_ = open_stream();
  }
  void TearDown() override {
    for (kmb_stream* stream : streams_) api.stream_destroy(stream);
    api.context_destroy(context_);
  }
  kmb_stream* open_stream() {
    kmb_stream* stream = nullptr;
    EXPECT_EQ(api.stream_create(context_, 0, 0, &stream, &error_), KM_SUCCESS);
    streams_.push_back(stream);
    return stream;
  }
  kmb_event* make_event(km_event_flags flags = 0) {
    kmb_event* event = nullptr;
    EXPECT_EQ(api.event_create(context_, flags, &event, &error_), KM_SUCCESS);
    return event;
  }
  kmb_memory_info allocate(uint64_t size_bytes, kmb_memory** out_memory, uint32_t zeroed = 0,
                           kmb_stream* stream = nullptr) {
    kmb_memory_info info = {};
    EXPECT_EQ(api.memory_create(context_, stream, size_bytes, zeroed, out_memory, &info, &error_),
              KM_SUCCESS)
        << error_.message;
    return info;
  }
  km_status synchronize(kmb_stream* stream) {
    return api.stream_synchronize(stream, KMB_WAIT_FOREVER, &error_);
  }

  const kmb_backend& api = backend_table();
  kmb_error error_ = {};
  kmb_device* device_ = nullptr;
  kmb_context* context_ = nullptr;
  kmb_stream* stream_ = nullptr;
  std::vector<kmb_stream*> streams_;
};

/// Keeps a stream busy until it is opened.
class Gate {
 public:
  void close(const kmb_backend& api, kmb_stream* stream) {
    kmb_error error;
    ASSERT_EQ(api.stream_add_callback(stream, wait, this, &error), KM_SUCCESS);
  }
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  static void wait(void* self, km_status) {
    auto* gate = static_cast<Gate*>(self);
    std::unique_lock lock(gate->mutex_);
    gate->changed_.wait(lock, [gate] { return gate->open_; });
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST_F(BackendTest, TheTableIsComplete) {
  EXPECT_EQ(api.abi_major, KMB_ABI_MAJOR);
  EXPECT_EQ(api.size, sizeof(kmb_backend));
  constexpr size_t kOptional = offsetof(kmb_backend, comm_group_begin);  // and what follows
  for (size_t at = offsetof(kmb_backend, initialize); at < kOptional; at += sizeof(void*)) {
    void* entry = nullptr;
    memcpy(&entry, reinterpret_cast<const char*>(&api) + at, sizeof entry);
    EXPECT_NE(entry, nullptr) << "at byte " << at;
  }
}

TEST_F(BackendTest, TheDeviceDescribesItself) {
  km_device_info info = {};
  ASSERT_EQ(api.device_info(device_, &info, &error_), KM_SUCCESS);
  EXPECT_STREQ(info.uri, "cpu:0");
  EXPECT_STREQ(info.backend, "cpu");
  EXPECT_GT(strlen(info.name), 3u);
  EXPECT_EQ(info.warp_size, 32u);
  EXPECT_GE(info.threads, 1u);
  EXPECT_GT(info.total_memory_bytes, uint64_t{64} << 20);
  for (int32_t number = 1; number <= 161; ++number) {
    int64_t value = -2;
    EXPECT_EQ(api.device_attribute(device_, KM_DEVICE_ATTRIBUTE_CUDA + number, &value, &error_),
              KM_SUCCESS);
    EXPECT_GE(value, -1) << number;
  }
  int64_t value = 77;
  EXPECT_EQ(api.device_attribute(device_, 9999, &value, &error_), KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(value, 77);
  kmb_device* none = nullptr;
  EXPECT_EQ(api.device_open(99, &none, &error_), KM_ERROR_NO_DEVICE);
}

TEST_F(BackendTest, CopiesOfAllSizesGoBothWays) {
  for (size_t size : {1ul, 100ul, 65536ul, 65537ul, 3000001ul, 40000000ul}) {
    kmb_memory* memory = nullptr;
    kmb_memory_info info = allocate(size, &memory);
    std::vector<uint8_t> source(size), back(size);
    for (size_t i = 0; i < size; ++i) source[i] = static_cast<uint8_t>(i * 31 + (i >> 9));
    uint64_t ticket = 0;
    for (uint32_t pinned : {0u, 1u}) {
      std::fill(back.begin(), back.end(), 0);
      ASSERT_EQ(api.copy_to_device(stream_, info.address, source.data(), size, pinned, nullptr,
                                   &ticket, &error_),
                KM_SUCCESS);
      ASSERT_EQ(api.copy_to_host(stream_, back.data(), info.address, size, pinned, nullptr, &ticket,
                                 &error_),
                KM_SUCCESS);
      if (pinned != 0) {
        ASSERT_EQ(synchronize(stream_), KM_SUCCESS);
      }
      ASSERT_EQ(source, back) << size << " bytes";
    }
    api.memory_destroy(memory, nullptr, 0);
  }
}

TEST_F(BackendTest, AStagedSourceMayChangeAtOnce) {
  kmb_memory* memory = nullptr;
  kmb_memory_info info = allocate(1000, &memory);
  Gate gate;
  gate.close(api, stream_);
  std::vector<uint8_t> source(1000, 1), back(1000);
  uint64_t ticket = 0;
  ASSERT_EQ(
      api.copy_to_device(stream_, info.address, source.data(), 1000, 0, nullptr, &ticket, &error_),
      KM_SUCCESS);
  std::fill(source.begin(), source.end(), 2);
  gate.open();
  ASSERT_EQ(
      api.copy_to_host(stream_, back.data(), info.address, 1000, 0, nullptr, &ticket, &error_),
      KM_SUCCESS);
  EXPECT_EQ(back, std::vector<uint8_t>(1000, 1));
  api.memory_destroy(memory, nullptr, 0);
}

TEST_F(BackendTest, BadHostPointersAreErrorsNotCrashes) {
  GuardedRange range = GuardedRange::make(4096);
  kmb_memory* memory = nullptr;
  kmb_memory_info info = allocate(1 << 20, &memory);
  uint64_t ticket = 7;
  for (uint64_t size : {uint64_t{8192}, uint64_t{200000}}) {
    EXPECT_EQ(
        api.copy_to_device(stream_, info.address, range.data(), size, 0, nullptr, &ticket, &error_),
        KM_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(error_.message, HasSubstr("no accessible memory at 0x"));
    EXPECT_EQ(
        api.copy_to_host(stream_, range.data(), info.address, size, 0, nullptr, &ticket, &error_),
        KM_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_EQ(ticket, 7u);
  EXPECT_EQ(synchronize(stream_), KM_SUCCESS);
  api.memory_destroy(memory, nullptr, 0);
}

TEST_F(BackendTest, FillsAndCopiesOnTheDevice) {
  constexpr size_t kCount = 3000000;
  kmb_memory *first = nullptr, *second = nullptr;
  kmb_memory_info a = allocate(kCount * 4, &first), b = allocate(kCount * 4, &second);
  uint64_t ticket = 0;
  ASSERT_EQ(api.fill(stream_, a.address, 0xdeadbeef, 4, kCount, &ticket, &error_), KM_SUCCESS);
  ASSERT_EQ(api.fill(stream_, a.address + 8, 0x1234, 2, 3, &ticket, &error_), KM_SUCCESS);
  ASSERT_EQ(api.copy_on_device(stream_, b.address, a.address, kCount * 4, &ticket, &error_),
            KM_SUCCESS);
  ASSERT_EQ(synchronize(stream_), KM_SUCCESS);
  const auto* words = static_cast<const uint32_t*>(b.host_pointer);
  EXPECT_EQ(words[0], 0xdeadbeef);
  EXPECT_EQ(words[2], 0x12341234u);
  EXPECT_EQ(words[3], 0xdead1234u);
  EXPECT_EQ(words[kCount - 1], 0xdeadbeef);
  api.memory_destroy(first, nullptr, 0);
  api.memory_destroy(second, nullptr, 0);
}

TEST_F(BackendTest, ZeroedMemoryIsZeroAlsoWhenItIsUsedAgain) {
  for (uint64_t size : {uint64_t{5000}, uint64_t{2} << 20, uint64_t{9} << 20}) {
    for (kmb_stream* stream : {static_cast<kmb_stream*>(nullptr), stream_}) {
      for (int turn = 0; turn < 3; ++turn) {
        kmb_memory* memory = nullptr;
        kmb_memory_info info = allocate(size, &memory, 1, stream);
        ASSERT_EQ(synchronize(stream_), KM_SUCCESS);
        auto* bytes = static_cast<uint8_t*>(info.host_pointer);
        uint64_t sum = std::accumulate(bytes, bytes + size, uint64_t{0});
        EXPECT_EQ(sum, 0u);
        memset(bytes, 0xff, size);
        api.memory_destroy(memory, nullptr, 0);
      }
    }
  }
}

TEST_F(BackendTest, MemoryIsFreedAfterItsLastUse) {
  std::atomic<int> released{0};
  std::vector<uint8_t> host(4096);
  kmb_memory* memory = nullptr;
  kmb_memory_info info = {};
  auto release = [](void* count) { static_cast<std::atomic<int>*>(count)->fetch_add(1); };
  ASSERT_EQ(api.memory_from_host(context_, host.data(), host.size(), release, &released, &memory,
                                 &info, &error_),
            KM_SUCCESS);
  EXPECT_EQ(info.host_pointer, host.data());
  Gate gate;
  gate.close(api, stream_);
  uint64_t ticket = 0;
  ASSERT_EQ(api.fill(stream_, info.address, 5, 1, host.size(), &ticket, &error_), KM_SUCCESS);
  kmb_use use = {stream_, ticket};
  api.memory_destroy(memory, &use, 1);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(released.load(), 0);
  gate.open();
  ASSERT_EQ(synchronize(stream_), KM_SUCCESS);
  for (int i = 0; i < 1000 && released.load() == 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(released.load(), 1);
  EXPECT_EQ(host[4095], 5);
}

TEST_F(BackendTest, QueriesAndTimeLimitsDoNotWaitLonger) {
  EXPECT_EQ(api.stream_synchronize(stream_, 0, &error_), KM_SUCCESS);
  Gate gate;
  gate.close(api, stream_);
  EXPECT_EQ(api.stream_synchronize(stream_, 0, &error_), KM_NOT_READY);
  uint64_t begin = now_ns();
  EXPECT_EQ(api.stream_synchronize(stream_, 20000000, &error_), KM_TIMEOUT);
  EXPECT_GE(now_ns() - begin, 20000000u);
  gate.open();
  EXPECT_EQ(synchronize(stream_), KM_SUCCESS);
}

TEST_F(BackendTest, CallbacksRunOnceInOrderOffTheWorkers) {
  struct Seen {
    std::vector<int> order;
    std::string thread;
  } seen;
  struct Call {
    Seen* seen;
    int number;
  };
  std::vector<Call> calls;
  for (int i = 0; i < 50; ++i) calls.push_back({&seen, i});
  for (Call& call : calls) {
    ASSERT_EQ(api.stream_add_callback(
                  stream_,
                  [](void* data, km_status status) {
                    auto* c = static_cast<Call*>(data);
                    EXPECT_EQ(status, KM_SUCCESS);
                    c->seen->order.push_back(c->number);
                    char name[32] = {};
                    pthread_getname_np(pthread_self(), name, sizeof name);
                    c->seen->thread = name;
                  },
                  &call, &error_),
              KM_SUCCESS);
  }
  ASSERT_EQ(synchronize(stream_), KM_SUCCESS);
  ASSERT_EQ(seen.order.size(), 50u);
  EXPECT_TRUE(std::is_sorted(seen.order.begin(), seen.order.end()));
  EXPECT_EQ(seen.thread, "km-callback");
}

TEST_F(BackendTest, EventsOrderStreams) {
  kmb_stream* other = open_stream();
  kmb_event* event = make_event();
  kmb_memory* memory = nullptr;
  kmb_memory_info info = allocate(64, &memory, 1);
  auto* word = static_cast<std::atomic<uint32_t>*>(info.host_pointer);
  Gate gate;
  gate.close(api, stream_);
  uint64_t ticket = 0;
  ASSERT_EQ(api.fill(stream_, info.address, 7, 4, 1, &ticket, &error_), KM_SUCCESS);
  ASSERT_EQ(api.event_record(event, stream_, &error_), KM_SUCCESS);
  ASSERT_EQ(api.stream_wait_event(other, event, &error_), KM_SUCCESS);
  ASSERT_EQ(api.copy_on_device(other, info.address + 4, info.address, 4, &ticket, &error_),
            KM_SUCCESS);
  EXPECT_EQ(api.stream_synchronize(other, 5000000, &error_), KM_TIMEOUT);
  EXPECT_EQ(api.event_synchronize(event, 0, &error_), KM_NOT_READY);
  EXPECT_EQ(word[1].load(), 0u);
  gate.open();
  EXPECT_EQ(synchronize(other), KM_SUCCESS);
  EXPECT_EQ(word[1].load(), 7u);
  EXPECT_EQ(api.event_synchronize(event, KMB_WAIT_FOREVER, &error_), KM_SUCCESS);
  api.event_destroy(event);
  api.memory_destroy(memory, nullptr, 0);
}

TEST_F(BackendTest, AWaitKeepsToTheRecordingItSaw) {
  kmb_stream* other = open_stream();
  kmb_event* event = make_event();
  Gate gate;
  ASSERT_EQ(api.event_record(event, other, &error_), KM_SUCCESS);
  ASSERT_EQ(api.stream_wait_event(stream_, event, &error_), KM_SUCCESS);
  gate.close(api, other);
  ASSERT_EQ(api.event_record(event, other, &error_), KM_SUCCESS);
  EXPECT_EQ(synchronize(stream_), KM_SUCCESS);  // the second recording is not its business
  gate.open();
  EXPECT_EQ(synchronize(other), KM_SUCCESS);
  api.event_destroy(event);
}

TEST_F(BackendTest, ElapsedTimes) {
  kmb_event *start = make_event(), *end = make_event(), *untimed = make_event(1);
  int64_t elapsed = 42;
  EXPECT_EQ(api.event_elapsed(start, end, &elapsed, &error_), KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(api.event_synchronize(start, KMB_WAIT_FOREVER, &error_), KM_SUCCESS);
  ASSERT_EQ(api.event_record(start, stream_, &error_), KM_SUCCESS);
  Gate gate;
  gate.close(api, stream_);
  ASSERT_EQ(api.event_record(end, stream_, &error_), KM_SUCCESS);
  EXPECT_EQ(api.event_elapsed(start, end, &elapsed, &error_), KM_NOT_READY);
  EXPECT_EQ(elapsed, 42);
  std::this_thread::sleep_for(5ms);
  gate.open();
  ASSERT_EQ(synchronize(stream_), KM_SUCCESS);
  EXPECT_EQ(api.event_elapsed(start, end, &elapsed, &error_), KM_SUCCESS);
  EXPECT_GE(elapsed, 5000000);
  EXPECT_EQ(api.event_elapsed(untimed, end, &elapsed, &error_), KM_ERROR_INVALID_ARGUMENT);
  for (kmb_event* event : {start, end, untimed}) api.event_destroy(event);
}

TEST_F(BackendTest, ResetEndsWaitsForEventsOfOtherContexts) {
  kmb_context* busy = nullptr;
  ASSERT_EQ(api.context_create(device_, &busy, &error_), KM_SUCCESS);
  kmb_stream* busy_stream = nullptr;
  ASSERT_EQ(api.stream_create(busy, 0, 0, &busy_stream, &error_), KM_SUCCESS);
  kmb_event* event = make_event();
  Gate gate;
  gate.close(api, busy_stream);
  ASSERT_EQ(api.event_record(event, busy_stream, &error_), KM_SUCCESS);
  ASSERT_EQ(api.stream_wait_event(stream_, event, &error_), KM_SUCCESS);
  EXPECT_EQ(api.context_reset(context_, &error_), KM_SUCCESS);
  EXPECT_EQ(synchronize(stream_), KM_SUCCESS);
  gate.open();
  EXPECT_EQ(synchronize(busy_stream), KM_SUCCESS);
  api.event_destroy(event);
  api.stream_destroy(busy_stream);
  api.context_destroy(busy);
}

TEST_F(BackendTest, QueuedCallbacksGetTheStatusOfAReset) {
  Gate gate;
  gate.close(api, stream_);
  km_status seen = KM_SUCCESS;
  ASSERT_EQ(
      api.stream_add_callback(
          stream_, [](void* out, km_status status) { *static_cast<km_status*>(out) = status; },
          &seen, &error_),
      KM_SUCCESS);
  std::thread opener([&] {
    std::this_thread::sleep_for(10ms);
    gate.open();
  });
  EXPECT_EQ(api.context_reset(context_, &error_), KM_SUCCESS);
  opener.join();
  EXPECT_EQ(seen, KM_ERROR_CONTEXT_LOST);
}

TEST_F(BackendTest, StreamsAreDestroyedWithWorkQueued) {
  std::atomic<int> runs{0};
  Gate gate;
  for (int i = 0; i < 20; ++i) {
    kmb_stream* stream = nullptr;
    ASSERT_EQ(api.stream_create(context_, 0, 0, &stream, &error_), KM_SUCCESS);
    if (i == 0) gate.close(api, stream);
    ASSERT_EQ(
        api.stream_add_callback(
            stream, [](void* n, km_status) { static_cast<std::atomic<int>*>(n)->fetch_add(1); },
            &runs, &error_),
        KM_SUCCESS);
    api.stream_destroy(stream);
  }
  gate.open();
  for (int i = 0; i < 2000 && runs.load() < 20; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(runs.load(), 20);
}

TEST_F(BackendTest, TheMemoryFigureFallsAndOutOfMemoryIsAStatus) {
  uint64_t before = 0, after = 0, total = 0;
  kmb_memory* memory = nullptr;
  for (int rounds = 0; after + (32 << 20) > before; ++rounds) {
    ASSERT_LT(rounds, 50);  // other programs take and free memory, too
    ASSERT_EQ(api.context_memory_info(context_, &before, &total, &error_), KM_SUCCESS);
    allocate(32 << 20, &memory);
    ASSERT_EQ(api.context_memory_info(context_, &after, &total, &error_), KM_SUCCESS);
    api.memory_destroy(memory, nullptr, 0);
  }
  kmb_memory_info info = {1, nullptr, 2, 3};
  for (uint64_t size : {total + 1, uint64_t{1} << 60, UINT64_MAX}) {
    memory = nullptr;
    EXPECT_EQ(api.memory_create(context_, nullptr, size, 0, &memory, &info, &error_),
              KM_ERROR_OUT_OF_DEVICE_MEMORY);
    EXPECT_THAT(error_.message, HasSubstr("asked for"));
    EXPECT_EQ(memory, nullptr);
    EXPECT_EQ(info.address, 1u);
  }
}

TEST_F(BackendTest, IdleWorkersUseNoTime) {
  ASSERT_EQ(synchronize(stream_), KM_SUCCESS);
  std::this_thread::sleep_for(20ms);
  timespec begin, end;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  std::this_thread::sleep_for(200ms);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  int64_t used = (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
  EXPECT_LT(used, 5000000);
}

TEST_F(BackendTest, GraphNodesOfUnknownKindsAreErrors) {
  const km_graph_node_kind unknown[] = {KM_GRAPH_NODE_INVALID, KM_GRAPH_NODE_CHILD, 99};
  for (const km_graph_node_kind kind : unknown) {
    kmb_graph_node node{};
    node.kind = kind;
    kmb_graph* graph = nullptr;
    EXPECT_EQ(api.graph_create(context_, &node, 1, &graph, &error_), KM_ERROR_NOT_SUPPORTED);
    EXPECT_THAT(error_.message, HasSubstr("kind " + std::to_string(kind)));
    EXPECT_EQ(graph, nullptr);
  }
}

TEST_F(BackendTest, GraphsWithNodesOfTheHostAreNotUploaded) {
  kmb_graph_node nodes[2]{};
  nodes[0].kind = KM_GRAPH_NODE_EMPTY;
  nodes[1].kind = KM_GRAPH_NODE_HOST;
  nodes[1].host.callback = [](void*, km_status) {};
  kmb_graph* graph = nullptr;
  ASSERT_EQ(api.graph_create(context_, nodes, 2, &graph, &error_), KM_SUCCESS);
  EXPECT_EQ(api.graph_upload(graph, 7, nodes, 2, &error_), KM_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("kind " + std::to_string(KM_GRAPH_NODE_HOST)));
  EXPECT_EQ(api.graph_upload(graph, 7, nodes, 1, &error_), KM_SUCCESS);
  api.graph_destroy(graph);
}

}  // namespace
}  // namespace km::cpu::test
