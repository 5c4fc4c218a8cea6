// The tests of <infinicore/context/runtime.hpp> share a Runtime on the CPU, and operators.
#pragma once

#include <gtest/gtest.h>
#include <infinicore/context/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace infinicore_test {

// add_to(data, n): data[i] += n for a block of 32 threads; store_far(data).
inline constexpr char kPtx[] = R"ptx(
.version 7.0
.target sm_70
.address_size 64
.visible .entry add_to(.param .u64 data, .param .u32 n)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r3, [%rd4];
  add.s32 %r4, %r3, %r1;
  st.global.u32 [%rd4], %r4;
  ret;
}
.visible .entry store_far(.param .u64 data)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [data];
  add.s64 %rd2, %rd1, 70368744177664;
  mov.u32 %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}
)ptx";

using Words = std::vector<std::uint32_t>;
constexpr std::uint32_t kThreads = 32;
constexpr std::size_t kBytes = kThreads * 4;

// An operator of a program's own: it adds a number to 32 words, and counts the calls of run().
class AddOperator : public infinicore::graph::GraphOperator {
 public:
  AddOperator(infinicore::Runtime& runtime, infinicore::graph::GraphTensor tensor,
              std::uint32_t number)
      : runtime_(runtime),
        tensor_(std::move(tensor)),
        number_(number),
        function_(km::module::load_ptx(runtime.nativeContext(), kPtx).function("add_to")) {}

  void run() const override {
    ++calls;
    runtime_.nativeStream().launch_kernel(function_, 1, kThreads, 0, tensor_.address(), number_);
  }

  mutable std::atomic<int> calls{0};

 private:
  infinicore::Runtime& runtime_;
  infinicore::graph::GraphTensor tensor_;
  std::uint32_t number_;
  km::function function_;
};

struct Runtime : testing::Test {
  infinicore::Device cpu{infinicore::Device::Type::CPU, 0};
  infinicore::Runtime runtime{cpu};

  std::shared_ptr<infinicore::Memory> zeros(std::size_t size = kBytes) {
    auto memory = runtime.allocateMemory(size);
    const std::vector<char> nothing(size);
    runtime.memcpyH2D(memory->data(), nothing.data(), size);
    return memory;
  }
  Words words(infinicore::Memory& memory) {
    Words found(memory.size() / 4);
    runtime.memcpyD2H(found.data(), memory.data(), memory.size());
    return found;
  }
  std::shared_ptr<AddOperator> add(const std::shared_ptr<infinicore::Memory>& memory,
                                   std::uint32_t number) {
    return std::make_shared<AddOperator>(runtime, infinicore::graph::GraphTensor(memory), number);
  }
};

template <class Call>
km_status status_of(Call call) {
  try {
    call();
  } catch (const infinicore::Error& error) {
    return error.status();
  }
  return KM_SUCCESS;
}

}  // namespace infinicore_test
