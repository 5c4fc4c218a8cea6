// Devices, streams, memory, copies and events of the Runtime.
#include <chrono>
#include <thread>

#include "support.h"

namespace {

using infinicore::Device;
using infinicore_test::kBytes;
using infinicore_test::Runtime;
using infinicore_test::status_of;
using infinicore_test::Words;
using namespace std::chrono_literals;

// Keeps a stream busy until it is let go.
class Gate {
 public:
  explicit Gate(const km::stream& stream) {
    stream.add_callback([this](km_status) noexcept {
      while (!is_open_) std::this_thread::yield();
      is_passed_ = true;
    });
  }
  ~Gate() {
    is_open_ = true;
    while (!is_passed_) std::this_thread::yield();
  }
  void open() { is_open_ = true; }

 private:
  std::atomic<bool> is_open_{false}, is_passed_{false};
};

TEST_F(Runtime, MemoryOutlivesItsRuntime) {
  std::shared_ptr<infinicore::Memory> memory, pinned;
  {
    infinicore::Runtime other(cpu);
    memory = other.allocateMemory(kBytes);
    pinned = other.allocatePinnedHostMemory(64);
    const Words sevens(kBytes / 4, 7);
    other.memcpyH2D(memory->data(), sevens.data(), kBytes);
    other.syncStream();
  }
  std::memset(pinned->data(), 1, pinned->size());
  EXPECT_EQ(words(*memory), Words(kBytes / 4, 7));
}

TEST_F(Runtime, RuntimesOfADeviceShareMemoryAndEvents) {
  infinicore::Runtime other(cpu);
  const auto memory = zeros();
  const infinirtEvent_t done = runtime.createEvent();
  runtime.recordEvent(done);
  other.streamWaitEvent(other.stream(), done);
  const auto copy = other.allocateMemory(kBytes);
  other.memcpyD2D(copy->data(), memory->data(), kBytes, false);
  EXPECT_EQ(words(*copy), Words(kBytes / 4, 0));
  other.destroyEvent(done);
}

TEST_F(Runtime, SaysItsDeviceAndStreamAndBecomesCurrent) {
  EXPECT_EQ(runtime.device(), cpu);
  EXPECT_EQ(runtime.device().toString(), "cpu:0");
  EXPECT_NE(runtime.stream(), nullptr);
  infinicore::Runtime other(cpu);
  EXPECT_EQ(infinicore::context::getStream(), other.stream());
  EXPECT_EQ(runtime.activate()->device(), cpu);
  EXPECT_EQ(infinicore::context::getStream(), runtime.stream());
  std::thread([&] {
    EXPECT_EQ(status_of([] { infinicore::context::getDevice(); }), KM_ERROR_NOT_PERMITTED);
  }).join();
}

TEST_F(Runtime, WaitsForTheStreamAndForTheDevice) {
  infinicore::Runtime other(cpu);
  std::atomic<bool> is_done{false};
  const auto finish = [&](km_status) noexcept {
    std::this_thread::sleep_for(20ms);
    is_done = true;
  };
  runtime.nativeStream().add_callback(finish);
  runtime.syncStream();
  EXPECT_TRUE(is_done.exchange(false));
  other.nativeStream().add_callback(finish);
  runtime.syncDevice();
  EXPECT_TRUE(is_done);
}

TEST_F(Runtime, BlocksAreReusedAndTrimmed) {
  auto memory = runtime.allocateMemory(1 << 20);
  const auto* first = memory->data();
  EXPECT_EQ(memory->size(), std::size_t{1} << 20);
  EXPECT_FALSE(memory->is_pinned());
  memory.reset();
  runtime.syncStream();
  memory = runtime.allocateMemory(1 << 20);
  EXPECT_EQ(memory->data(), first);
  memory.reset();
  runtime.syncStream();
  runtime.trimMemory();
  EXPECT_EQ(runtime.allocator().info().reserved_bytes, 0u);
  EXPECT_EQ(runtime.allocateMemory(0)->size(), 0u);
}

std::atomic<int> warnings{0};

TEST_F(Runtime, PinnedMemoryOfACpuIsOrdinaryAndWarnsOfIt) {
  infinicore::setWarningHandler([](const char* text) noexcept {
    if (std::strstr(text, "allocatePinnedHostMemory") != nullptr) ++warnings;
  });
  const auto memory = runtime.allocatePinnedHostMemory(kBytes);
  infinicore::setWarningHandler(nullptr);
  EXPECT_EQ(warnings, 1);
  EXPECT_FALSE(memory->is_pinned());
  ASSERT_EQ(memory->size(), kBytes);
  std::memset(memory->data(), 2, kBytes);
}

TEST_F(Runtime, CopiesFromPinnedMemoryAreAsynchronous) {
  constexpr std::size_t kLarge = 1 << 20;
  const auto source = runtime.allocatePinnedHostMemory(kLarge);
  const auto memory = runtime.allocateMemory(kLarge);
  const auto copy = runtime.allocateMemory(kLarge);
  std::memset(source->data(), 1, kLarge);
  {
    Gate gate(runtime.nativeStream());
    runtime.memcpyH2D(memory->data(), source->data(), kLarge, true);
    runtime.memcpyD2D(copy->data(), memory->data(), kLarge, true);
    std::memset(source->data(), 2, kLarge);  // before the stream reads it
    gate.open();
    runtime.syncStream();
  }
  EXPECT_EQ(words(*copy), Words(kLarge / 4, 0x02020202));
}

TEST_F(Runtime, CopiesWithoutAsyncAreDoneWhenTheyReturn) {
  const auto memory = runtime.allocateMemory(kBytes);
  const Words fives(kBytes / 4, 5);
  runtime.memcpyH2D(memory->data(), fives.data(), kBytes, false);
  EXPECT_EQ(km_stream_query(runtime.stream()), KM_SUCCESS);
  const auto copy = runtime.allocateMemory(kBytes);
  runtime.memcpyD2D(copy->data(), memory->data(), kBytes, false);
  EXPECT_EQ(km_stream_query(runtime.stream()), KM_SUCCESS);
}

TEST_F(Runtime, DownloadsAreSynchronous) {
  const auto memory = runtime.allocateMemory(kBytes);
  const auto pinned = runtime.allocatePinnedHostMemory(kBytes);
  const Words nines(kBytes / 4, 9);
  runtime.memcpyH2D(memory->data(), nines.data(), kBytes);
  runtime.memcpyD2H(pinned->data(), memory->data(), kBytes);
  EXPECT_EQ(std::memcmp(pinned->data(), nines.data(), kBytes), 0);
}

TEST_F(Runtime, CopiesAreChecked) {
  const auto memory = runtime.allocateMemory(kBytes);
  char host[kBytes + 1] = {};
  EXPECT_EQ(status_of([&] { runtime.memcpyH2D(memory->data() + 1, host, memory->size()); }),
            KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { runtime.memcpyH2D(host, host, 1); }), KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { runtime.memcpyD2H(host, nullptr, 1); }), KM_ERROR_OUT_OF_BOUNDS);
}

TEST_F(Runtime, EventsMarkAndTimeWork) {
  const infinirtEvent_t start = runtime.createEvent(), end = runtime.createEvent();
  runtime.recordEvent(start);
  {
    Gate gate(runtime.nativeStream());
    runtime.recordEvent(end, runtime.stream());
    EXPECT_FALSE(runtime.queryEvent(end));
    std::this_thread::sleep_for(3ms);
    gate.open();
    // Waits for the end by itself.
    EXPECT_GE(runtime.elapsedTime(start, end), 3.0f);
  }
  EXPECT_TRUE(runtime.queryEvent(end));
  runtime.synchronizeEvent(end);
  runtime.destroyEvent(start);
  runtime.destroyEvent(end);
  EXPECT_EQ(status_of([&] { runtime.queryEvent(end); }), KM_ERROR_INVALID_HANDLE);
  runtime.destroyEvent(nullptr);
}

TEST_F(Runtime, AnEventThatWasNeverRecordedCountsAsReached) {
  const infinirtEvent_t event = runtime.createEvent();
  EXPECT_TRUE(runtime.queryEvent(event));
  runtime.synchronizeEvent(event);
  runtime.streamWaitEvent(nullptr, event);
  EXPECT_EQ(status_of([&] { runtime.elapsedTime(event, event); }), KM_ERROR_INVALID_ARGUMENT);
  runtime.destroyEvent(event);
}

TEST_F(Runtime, EventsHaveFlags) {
  const infinirtEvent_t quick =
      runtime.createEventWithFlags(INFINIRT_EVENT_DISABLE_TIMING | INFINIRT_EVENT_BLOCKING_SYNC);
  runtime.recordEvent(quick);
  runtime.synchronizeEvent(quick);
  EXPECT_EQ(status_of([&] { runtime.elapsedTime(quick, quick); }), KM_ERROR_INVALID_ARGUMENT);
  runtime.destroyEvent(quick);
  EXPECT_EQ(status_of([&] { runtime.createEventWithFlags(8); }), KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Runtime, AStreamWaitsForAnEventOfAnother) {
  infinicore::Runtime other(cpu);
  const auto memory = zeros();
  const infinirtEvent_t written = runtime.createEvent();
  const Words fours(kBytes / 4, 4);
  Words seen(kBytes / 4);
  {
    Gate gate(runtime.nativeStream());
    runtime.memcpyH2D(memory->data(), fours.data(), kBytes);
    runtime.recordEvent(written);
    other.streamWaitEvent(other.stream(), written);
    const auto copy = other.allocateMemory(kBytes);
    other.memcpyD2D(copy->data(), memory->data(), kBytes);
    EXPECT_EQ(km_stream_query(other.stream()), KM_NOT_READY);
    gate.open();
    other.memcpyD2H(seen.data(), copy->data(), kBytes);
  }
  EXPECT_EQ(seen, fours);
  runtime.destroyEvent(written);
}

TEST_F(Runtime, TimesAreFinerThanAMicrosecond) {
  const infinirtEvent_t start = runtime.createEvent(), end = runtime.createEvent();
  bool has_fraction = false;
  for (int i = 0; i < 100 && !has_fraction; ++i) {
    runtime.recordEvent(start);
    runtime.recordEvent(end);
    const double microseconds = static_cast<double>(runtime.elapsedTime(start, end)) * 1000;
    const auto nanoseconds = static_cast<std::int64_t>(microseconds * 1000 + 0.5);
    has_fraction = nanoseconds % 1000 != 0;
  }
  EXPECT_TRUE(has_fraction);
  runtime.destroyEvent(start);
  runtime.destroyEvent(end);
}

TEST_F(Runtime, ErrorsKeepTheirCode) {
  try {
    runtime.allocateMemory(std::size_t{1} << 60);
    FAIL() << "there is no such memory";
  } catch (const infinicore::Error& error) {
    EXPECT_EQ(error.status(), KM_ERROR_OUT_OF_DEVICE_MEMORY);
    EXPECT_EQ(error.category(), KM_ERROR_CATEGORY_RESOURCE);
  }
  EXPECT_EQ(runtime.allocateMemory(kBytes)->size(), kBytes);
}

TEST_F(Runtime, StreamsOfADeviceRunBesideEachOther) {
  infinicore::Runtime other(cpu);
  EXPECT_NE(other.stream(), runtime.stream());
  Gate gate(runtime.nativeStream());
  const auto memory = other.allocateMemory(kBytes);
  const Words ones(kBytes / 4, 1);
  other.memcpyH2D(memory->data(), ones.data(), kBytes, false);
  EXPECT_EQ(km_stream_query(runtime.stream()), KM_NOT_READY);
}

TEST(Devices, ASecondDeviceIsUsedWithoutTheFirst) {
  // The test runs with KM_CPU_DEVICES=2.
  infinicore::Runtime second(Device(Device::Type::CPU, 1));
  EXPECT_EQ(second.nativeContext().device().info().ordinal, 1u);
  const auto memory = second.allocateMemory(kBytes);
  EXPECT_EQ(memory->device(), Device(Device::Type::CPU, 1));
  const Words twos(kBytes / 4, 2);
  second.memcpyH2D(memory->data(), twos.data(), kBytes);
  Words seen(kBytes / 4);
  second.memcpyD2H(seen.data(), memory->data(), kBytes);
  EXPECT_EQ(seen, twos);
  EXPECT_EQ(status_of([] { infinicore::Runtime none(Device(Device::Type::CPU, 9)); }),
            KM_ERROR_NO_DEVICE);
}

TEST_F(Runtime, ObjectsGoInAnyOrderAlsoWhenSomethingThrows) {
  const auto before = runtime.allocator().info().used_block_count;
  EXPECT_THROW(
      {
        const auto memory = runtime.allocateMemory(kBytes);
        runtime.startGraphRecording();
        const auto inside = runtime.allocateMemory(kBytes);
        runtime.memcpyH2D(nullptr, memory.get(), 1);
      },
      infinicore::Error);
  runtime.cancelGraphRecording();
  runtime.syncStream();
  EXPECT_EQ(runtime.allocator().info().used_block_count, before);
}

TEST_F(Runtime, TheLibraryOfOperatorsIsALiveHandle) {
  ASSERT_NE(runtime.infiniopHandle(), nullptr);
  EXPECT_NE(runtime.infiniopHandle(), infinicore::Runtime(cpu).infiniopHandle());
  // It takes calls: a scaling of no elements.
  const auto memory = zeros();
  const float two = 2;
  const km_blas_vector x =
      km::vec<float>(km::device_address{infinicore::graph::GraphTensor(memory).address()}).native;
  const km_status status = km_blas_scal(runtime.infiniopHandle(), KM_DATA_TYPE_F32, 0, &two, &x);
  EXPECT_TRUE(status == KM_SUCCESS || status == KM_ERROR_BLAS_UNAVAILABLE) << status;
}

}  // namespace
