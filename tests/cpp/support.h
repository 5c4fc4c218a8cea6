// What the tests of <kernelmill/kernelmill.hpp> share: a device with a stream and a few kernels.
#pragma once

#include <gtest/gtest.h>
#include <kernelmill/kernelmill.hpp>

#include <string>

namespace km_test {

// noop(), fill_index(out, base, n), store_far(out), trap(), and the variable counters[4].
inline constexpr char kPtx[] = R"ptx(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counters[4];
.visible .entry noop()
{
  ret;
}
.visible .entry fill_index(.param .u64 out, .param .u32 base, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [base];
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p1, %r6, %r2;
  @%p1 bra done;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r6, 4;
  add.s64 %rd4, %rd2, %rd3;
  add.s32 %r7, %r6, %r1;
  st.global.u32 [%rd4], %r7;
done:
  ret;
}
.visible .entry store_far(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  add.s64 %rd2, %rd1, 70368744177664;
  mov.u32 %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}
.visible .entry trap()
{
  trap;
}
)ptx";

inline km::module load(const km::context& context) {
  return km::module::load_ptx(context, kPtx, "test.ptx");
}

struct Fixture : testing::Test {
  km::context context{"cpu"};
  km::stream stream{context};
};

// The error that a call throws; fails the test where it throws none.
template <class Call>
km::error error_of(Call call) {
  try {
    call();
  } catch (const km::error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return km::error(KM_SUCCESS);
}

template <class Call>
km_status status_of(Call call) {
  return error_of(call).status();
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace km_test
