// The document's usage example, as it stands there: what it leaves out (op1, op2, the name async)
// is given. It runs on the CPU, and on a GPU where there is one; infinicore.cuda has one of our
// own.
#include "support.h"

namespace {

using infinicore_test::AddOperator;
using infinicore_test::kBytes;
using namespace infinicore;

// The example as a function: the steps 2 to 6 of the document.
void use(Runtime& runtime, std::shared_ptr<graph::GraphOperator> op1,
         std::shared_ptr<graph::GraphOperator> op2) {
  bool async = false;
  auto device_buffer = runtime.allocateMemory(1024 * 1024);
  auto pinned_buffer = runtime.allocatePinnedHostMemory(1024);

  float host_data[256] = {};
  runtime.memcpyH2D(device_buffer->data(), host_data, sizeof(host_data), async = true);
  EXPECT_TRUE(async);

  runtime.syncStream();

  auto start = runtime.createEvent();
  auto end = runtime.createEvent();

  runtime.recordEvent(start);
  runtime.recordEvent(end);

  float elapsed_ms = runtime.elapsedTime(start, end);
  EXPECT_GE(elapsed_ms, 0.0f);

  runtime.destroyEvent(start);
  runtime.destroyEvent(end);

  runtime.startGraphRecording();
  runtime.addGraphOperator(op1);
  runtime.addGraphOperator(op2);
  auto optimized_graph = runtime.stopGraphRecording();
  optimized_graph->execute();
}

bool has_gpu() {
  std::uint32_t gpus = 0;
  return km_device_count("cuda", &gpus) == KM_SUCCESS && gpus > 0;
}

void run_on(Device device) {
  Runtime runtime(device);
  const auto memory = runtime.allocateMemory(kBytes);
  const infinicore_test::Words zeros(kBytes / 4);
  runtime.memcpyH2D(memory->data(), zeros.data(), kBytes);
  use(runtime, std::make_shared<AddOperator>(runtime, graph::GraphTensor(memory), 3),
      std::make_shared<AddOperator>(runtime, graph::GraphTensor(memory), 4));
  infinicore_test::Words found(kBytes / 4);
  runtime.memcpyD2H(found.data(), memory->data(), kBytes);
  EXPECT_EQ(found, infinicore_test::Words(kBytes / 4, 7));
}

TEST(Example, TheExampleOfTheDocumentRunsToItsEnd) {
  run_on(Device(Device::Type::CPU, 0));
  if (has_gpu()) run_on(Device(Device::Type::CUDA, 0));
}

TEST(Example, AGpuThatIsNotThereIsAnErrorAndNothingFallsBack) {
  const km_status status = infinicore_test::status_of([] {
    Device gpu_device(Device::Type::CUDA, 0);
    Runtime runtime(gpu_device);
  });
  if (has_gpu()) {
    EXPECT_EQ(status, KM_SUCCESS);
  } else {
    EXPECT_TRUE(status == KM_ERROR_BACKEND_UNAVAILABLE || status == KM_ERROR_NO_DEVICE) << status;
  }
}

// The signatures of the document.
static_assert(std::is_same_v<decltype(std::declval<const Runtime&>().device()), Device>);
static_assert(std::is_same_v<decltype(std::declval<Runtime&>().activate()), Runtime*>);
static_assert(std::is_same_v<decltype(std::declval<const Runtime&>().stream()), infinirtStream_t>);
static_assert(
    std::is_same_v<decltype(std::declval<const Runtime&>().infiniopHandle()), infiniopHandle_t>);
static_assert(std::is_same_v<decltype(&Runtime::syncStream), void (Runtime::*)()>);
static_assert(std::is_same_v<decltype(&Runtime::syncDevice), void (Runtime::*)()>);
using Allocate = std::shared_ptr<Memory> (Runtime::*)(std::size_t);
static_assert(std::is_same_v<decltype(&Runtime::allocateMemory), Allocate>);
static_assert(std::is_same_v<decltype(&Runtime::allocatePinnedHostMemory), Allocate>);
using Copy = void (Runtime::*)(void*, const void*, std::size_t, bool);
static_assert(std::is_same_v<decltype(&Runtime::memcpyH2D), Copy>);
static_assert(std::is_same_v<decltype(&Runtime::memcpyD2D), Copy>);
static_assert(std::is_same_v<decltype(&Runtime::memcpyD2H),
                             void (Runtime::*)(void*, const void*, std::size_t)>);
static_assert(std::is_same_v<decltype(&Runtime::createEvent), infinirtEvent_t (Runtime::*)()>);
static_assert(std::is_same_v<decltype(&Runtime::createEventWithFlags),
                             infinirtEvent_t (Runtime::*)(std::uint32_t)>);
static_assert(std::is_same_v<decltype(&Runtime::recordEvent),
                             void (Runtime::*)(infinirtEvent_t, infinirtStream_t)>);
static_assert(std::is_same_v<decltype(&Runtime::queryEvent), bool (Runtime::*)(infinirtEvent_t)>);
static_assert(
    std::is_same_v<decltype(&Runtime::synchronizeEvent), void (Runtime::*)(infinirtEvent_t)>);
static_assert(std::is_same_v<decltype(&Runtime::destroyEvent), void (Runtime::*)(infinirtEvent_t)>);
static_assert(std::is_same_v<decltype(&Runtime::elapsedTime),
                             float (Runtime::*)(infinirtEvent_t, infinirtEvent_t)>);
static_assert(std::is_same_v<decltype(&Runtime::streamWaitEvent),
                             void (Runtime::*)(infinirtStream_t, infinirtEvent_t)>);
static_assert(std::is_same_v<decltype(&Runtime::isGraphRecording), bool (Runtime::*)() const>);
static_assert(std::is_same_v<decltype(&Runtime::startGraphRecording), void (Runtime::*)()>);
static_assert(std::is_same_v<decltype(&Runtime::addGraphOperator),
                             void (Runtime::*)(std::shared_ptr<graph::GraphOperator>)>);
static_assert(std::is_same_v<decltype(&Runtime::stopGraphRecording),
                             std::shared_ptr<graph::Graph> (Runtime::*)()>);

}  // namespace
