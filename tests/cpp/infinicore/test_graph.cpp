// Recording and replay.
#include <algorithm>
#include <thread>

#include "support.h"

namespace {

using infinicore::graph::GraphOperator;
using infinicore::graph::GraphTensor;
using infinicore::graph::KernelOperator;
using infinicore_test::kBytes;
using infinicore_test::kThreads;
using infinicore_test::Runtime;
using infinicore_test::status_of;
using infinicore_test::Words;

TEST_F(Runtime, RecordsOperatorsAndReplaysThem) {
  const auto memory = zeros();
  EXPECT_FALSE(runtime.isGraphRecording());
  runtime.startGraphRecording();
  EXPECT_TRUE(runtime.isGraphRecording());
  runtime.addGraphOperator(add(memory, 1));
  runtime.addGraphOperator(add(memory, 10));
  const auto graph = runtime.stopGraphRecording();
  EXPECT_FALSE(runtime.isGraphRecording());
  EXPECT_EQ(graph->operator_count(), 2u);
  EXPECT_EQ(graph->device_segment_count(), 1u);
  for (int i = 0; i < 3; ++i) graph->execute();
  EXPECT_EQ(words(*memory), Words(kThreads, 33));
}

TEST_F(Runtime, ARecordingCanBeCancelled) {
  const auto memory = zeros();
  const auto op = add(memory, 1);
  runtime.startGraphRecording();
  runtime.addGraphOperator(op);
  runtime.cancelGraphRecording();
  EXPECT_FALSE(runtime.isGraphRecording());
  EXPECT_EQ(op->calls, 0);
  EXPECT_EQ(op.use_count(), 1);
  runtime.cancelGraphRecording();
  runtime.startGraphRecording();
  EXPECT_EQ(runtime.stopGraphRecording()->operator_count(), 0u);
}

TEST_F(Runtime, WrongOrdersAreRefused) {
  const auto memory = zeros();
  EXPECT_EQ(status_of([&] { runtime.stopGraphRecording(); }), KM_ERROR_NOT_PERMITTED);
  EXPECT_EQ(status_of([&] { runtime.addGraphOperator(add(memory, 1)); }), KM_ERROR_NOT_PERMITTED);
  runtime.startGraphRecording();
  EXPECT_EQ(status_of([&] { runtime.startGraphRecording(); }), KM_ERROR_NOT_PERMITTED);
  EXPECT_EQ(status_of([&] { runtime.addGraphOperator(nullptr); }), KM_ERROR_INVALID_ARGUMENT);
  runtime.cancelGraphRecording();
}

TEST_F(Runtime, NothingRunsBeforeTheFirstExecuteAndEachRunsOnce) {
  const auto memory = zeros();
  const auto op = add(memory, 1);
  runtime.startGraphRecording();
  runtime.addGraphOperator(op);
  const auto graph = runtime.stopGraphRecording();
  EXPECT_EQ(op->calls, 1);
  EXPECT_EQ(words(*memory), Words(kThreads, 0));
  graph->execute();
  EXPECT_EQ(words(*memory), Words(kThreads, 1));
  graph->execute();
  EXPECT_EQ(words(*memory), Words(kThreads, 2));
  EXPECT_EQ(op->calls, 1);  // what the host does in run() is not repeated
}

// Work of the host, which is to be done each time.
class HostOperator : public GraphOperator {
 public:
  explicit HostOperator(infinicore::Runtime& runtime) : runtime_(runtime) {}
  void run() const override {
    runtime_.syncStream();
    ++calls;
  }
  bool is_host_break() const override { return true; }
  mutable int calls = 0;

 private:
  infinicore::Runtime& runtime_;
};

TEST_F(Runtime, HostBreaksRunEachTimeBetweenPartsOfTheDevice) {
  const auto memory = zeros();
  const auto host = std::make_shared<HostOperator>(runtime);
  runtime.startGraphRecording();
  runtime.addGraphOperator(add(memory, 1));
  runtime.addGraphOperator(host);
  runtime.addGraphOperator(add(memory, 2));
  runtime.addGraphOperator(add(memory, 3));
  const auto graph = runtime.stopGraphRecording();
  EXPECT_EQ(host->calls, 0);
  EXPECT_EQ(graph->device_segment_count(), 2u);
  graph->execute();
  graph->execute();
  EXPECT_EQ(host->calls, 2);
  EXPECT_EQ(words(*memory), Words(kThreads, 12));
}

class WaitingOperator : public GraphOperator {
 public:
  explicit WaitingOperator(infinicore::Runtime& runtime) : runtime_(runtime) {}
  void run() const override { km_stream_synchronize(runtime_.stream()); }

 private:
  infinicore::Runtime& runtime_;
};

class ThrowingOperator : public GraphOperator {
 public:
  void run() const override { throw std::runtime_error("my own"); }
};

TEST_F(Runtime, AnOperatorThatCannotBeCapturedIsNamedAndTheStreamIsAsBefore) {
  runtime.startGraphRecording();
  runtime.addGraphOperator(add(zeros(), 1));
  runtime.addGraphOperator(std::make_shared<WaitingOperator>(runtime));
  try {
    runtime.stopGraphRecording();
    FAIL() << "waiting was captured";
  } catch (const infinicore::Error& error) {
    EXPECT_EQ(error.status(), KM_ERROR_CAPTURE_INVALIDATED);
    EXPECT_NE(std::string(error.what()).find("operator 1"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(runtime.isGraphRecording());
  runtime.syncStream();
  runtime.startGraphRecording();
  runtime.addGraphOperator(std::make_shared<ThrowingOperator>());
  EXPECT_THROW(runtime.stopGraphRecording(), std::runtime_error);
  runtime.syncStream();
}

TEST_F(Runtime, BlocksOfARecordingStayReservedForTheGraph) {
  runtime.startGraphRecording();
  auto memory = runtime.allocateMemory(kBytes);
  const auto* address = memory->data();
  const Words zero(kThreads, 0);
  runtime.memcpyH2D(memory->data(), zero.data(), kBytes, false);
  runtime.addGraphOperator(add(memory, 5));
  auto graph = runtime.stopGraphRecording();
  memory.reset();
  runtime.syncStream();
  runtime.trimMemory();
  for (int i = 0; i < 8; ++i) {
    EXPECT_NE(runtime.allocateMemory(kBytes)->data(), address) << "a block of a graph was reused";
  }
  graph->execute();
  runtime.syncStream();
  graph.reset();
  runtime.syncStream();
  EXPECT_EQ(runtime.allocator().info().used_block_count, 0u);
}

TEST_F(Runtime, BlocksFromBeforeTheRecordingAreKeptByTheGraph) {
  auto memory = zeros();
  const auto* address = memory->data();
  runtime.startGraphRecording();
  runtime.addGraphOperator(std::make_shared<KernelOperator>(
      runtime.nativeStream(),
      km::module::load_ptx(runtime.nativeContext(), infinicore_test::kPtx).function("add_to"), 1,
      kThreads, 0, GraphTensor(memory), 2u));
  const auto graph = runtime.stopGraphRecording();
  memory.reset();
  EXPECT_NE(runtime.allocateMemory(kBytes)->data(), address);
  graph->execute();
  runtime.syncStream();
}

TEST_F(Runtime, AGraphOutlivesItsRuntime) {
  std::shared_ptr<infinicore::graph::Graph> graph;
  const auto memory = zeros();
  runtime.syncStream();
  {
    infinicore::Runtime other(cpu);
    other.startGraphRecording();
    other.addGraphOperator(std::make_shared<KernelOperator>(
        other.nativeStream(),
        km::module::load_ptx(other.nativeContext(), infinicore_test::kPtx).function("add_to"), 1,
        kThreads, 0, GraphTensor(memory), 2u));
    graph = other.stopGraphRecording();
  }
  graph->execute();
  runtime.syncDevice();
  EXPECT_EQ(words(*memory), Words(kThreads, 2));
}

TEST_F(Runtime, TensorsLieWithinTheirBlock) {
  const auto memory = zeros();
  const GraphTensor tensor(memory, {2, 3}, 4, 8);
  EXPECT_EQ(tensor.data(), memory->data() + 8);
  EXPECT_EQ(tensor.size(), 24u);
  EXPECT_EQ(tensor.shape(), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(status_of([&] { GraphTensor(memory, {kThreads}, 4, 1); }), KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { GraphTensor(memory, {SIZE_MAX, 2}, 4); }), KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { GraphTensor(nullptr); }), KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Runtime, AFaultOfAnOperatorIsThrownUntilAllRuntimesOfTheDeviceAreGone) {
  // A device of its own, since the error sticks to what all Runtimes of a device share.
  const infinicore::Device device(infinicore::Device::Type::CPU, 1);
  {
    infinicore::Runtime second(device);
    const auto memory = second.allocateMemory(kBytes);
    second.startGraphRecording();
    second.addGraphOperator(std::make_shared<KernelOperator>(
        second.nativeStream(),
        km::module::load_ptx(second.nativeContext(), infinicore_test::kPtx).function("store_far"),
        1, 1, 0, GraphTensor(memory)));
    const auto graph = second.stopGraphRecording();
    graph->execute();
    EXPECT_EQ(status_of([&] { second.syncStream(); }), KM_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(status_of([&] { infinicore::Runtime third(device); }), KM_ERROR_ILLEGAL_ADDRESS);
    runtime.syncStream();  // the other device goes on
  }
  infinicore::Runtime fresh(device);
  fresh.syncDevice();
}

TEST_F(Runtime, EightThreadsUseRuntimesOfOneDevice) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      infinicore::Runtime own(cpu);
      for (int round = 0; round < 20; ++round) {
        const auto memory = own.allocateMemory(kBytes);
        const Words zero(kThreads, 0);
        own.memcpyH2D(memory->data(), zero.data(), kBytes);
        own.startGraphRecording();
        own.addGraphOperator(
            std::make_shared<infinicore_test::AddOperator>(own, GraphTensor(memory), 3u));
        const auto graph = own.stopGraphRecording();
        graph->execute();
        graph->execute();
        Words seen(kThreads);
        own.memcpyD2H(seen.data(), memory->data(), kBytes);
        right += seen == Words(kThreads, 6) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8 * 20);
}

}  // namespace
