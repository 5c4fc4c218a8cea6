// Many cycles of every object of the facade leave nothing behind.
#include <unistd.h>

#include <cstdio>

#include "support.h"

namespace {

using infinicore::graph::GraphTensor;
using infinicore::graph::KernelOperator;
using infinicore_test::kBytes;
using infinicore_test::Runtime;

#ifdef KM_TEST_SANITIZED
constexpr int kCycles = 2000;
#else
constexpr int kCycles = 100000;
#endif

long resident_bytes() {
  long total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) return -1;
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_F(Runtime, NothingIsLeftAfterManyCycles) {
  infinicore::setWarningHandler([](const char*) noexcept {});
  const km::function function =
      km::module::load_ptx(runtime.nativeContext(), infinicore_test::kPtx).function("add_to");
  const auto cycle = [&] {
    infinicore::Runtime own(cpu);
    own.startGraphRecording();
    const auto memory = own.allocateMemory(kBytes);
    const auto pinned = own.allocatePinnedHostMemory(64);
    own.memcpyH2D(memory->data(), pinned->data(), 64);
    own.addGraphOperator(std::make_shared<KernelOperator>(own.nativeStream(), function, 1, 32, 0,
                                                          GraphTensor(memory), 1u));
    const auto graph = own.stopGraphRecording();
    graph->execute();
    const infinirtEvent_t event = own.createEvent();
    own.recordEvent(event);
    own.destroyEvent(event);
    EXPECT_THROW(own.memcpyD2D(nullptr, memory->data(), 1), infinicore::Error);
    own.syncStream();
  };
  for (int i = 0; i < kCycles / 10; ++i) cycle();
  runtime.syncDevice();
  [[maybe_unused]] const long resident = resident_bytes();
  for (int i = 0; i < kCycles; ++i) cycle();
  runtime.syncDevice();
  infinicore::setWarningHandler(nullptr);
#ifndef KM_TEST_SANITIZED  // which keep what is freed
  EXPECT_LT(resident_bytes() - resident, 2 << 20);
#endif
}

}  // namespace
