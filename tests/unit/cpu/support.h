// Kernels written by hand, run through the pool without the code generator.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <string>

#include "backends/cpu/device/context.h"
#include "backends/cpu/execution/executor.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/runtime/runtime_table.h"
#include "backends/cpu/stream/context_streams.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/stream/thread_pool.h"
#include "backends/cpu/threads/futex.h"
#include "backends/cpu/threads/sanitizers.h"

/// Code whose faults belong to kernels: all of it lies in one section.
#define KM_TEST_CODE __attribute__((section("km_test_code"), noinline, used)) KM_NO_SANITIZE

extern "C" const char __start_km_test_code[], __stop_km_test_code[];

namespace km::cpu::test {

struct TestCode final : CodeUnit {
  explicit TestCode(simt::GridEntry entry, const char* name = "test") : name_(name) {
    grid_entry = entry;
    set_range();
  }
  explicit TestCode(simt::FiberEntry entry, const char* name = "test") : name_(name) {
    fiber_entry = entry;
    set_range();
  }
  std::string kernel_name() const override { return name_; }
  std::string position_of(uint64_t, uint32_t) const override { return "test.ptx:7"; }
  std::vector<std::string> callers_of(uint32_t) const override { return {}; }

 private:
  void set_range() {
    begin = reinterpret_cast<uint64_t>(__start_km_test_code);
    end = reinterpret_cast<uint64_t>(__stop_km_test_code);
    stack_bytes = 16 << 10;
  }
  std::string name_;
};

using Dim = std::array<uint32_t, 3>;

/// Queues a launch; `arguments` is what record->params points to.
template <class Arguments>
uint64_t launch(Stream* stream, const TestCode& code, Dim grid, Dim block,
                const Arguments& arguments, uint64_t shared_bytes = 0) {
  Command* command = new_command(stream, CommandKind::kernel);
  LaunchRun& run = command->run;
  uint8_t* params = command->allocate_params(sizeof arguments);
  memcpy(params, &arguments, sizeof arguments);
  run.record.params = params;
  run.record.runtime = &runtime_table();
  for (size_t i = 0; i < 3; ++i) {
    run.record.grid[i] = grid[i];
    run.record.block[i] = block[i];
  }
  run.record.host = &run;
  run.unit = &code;
  run.block_count = uint64_t{grid[0]} * grid[1] * grid[2];
  run.shared_bytes = shared_bytes;
  run.stop = stream->context()->stop_word();
  run.owner = stream->context();
  run.relief = stream->context()->pool();
  run.output = &stream->context()->output();
  run.assertions = &stream->context()->failed_assertions();
  return stream->submit(command);
}

template <class T>
T argument(const simt::LaunchRecord* record) {
  T value;
  memcpy(&value, record->params, sizeof value);
  return value;
}

/// A pool for each number of threads; pools live for ever.
ThreadPool* pool_of(uint32_t threads);

class CpuTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(install_fault_handler());
    context_ = Context::make(nullptr, pool_of(threads()));
    stream_ = Stream::open(context_, 0);
  }
  void TearDown() override {
    for (Stream* stream : opened_) stream->close();
    stream_->close();
    context_->release();
  }
  uint32_t threads() const { return GetParam(); }
  Stream* open_stream(int32_t priority = 0) {
    opened_.push_back(Stream::open(context_, priority));
    return opened_.back();
  }
  void synchronize(Stream* stream) { ASSERT_TRUE(stream->wait(stream->submitted(), kForever)); }

  Context* context_ = nullptr;
  Stream* stream_ = nullptr;
  std::vector<Stream*> opened_;
};

}  // namespace km::cpu::test
