#include "dropin/toolchain/device_runtime.h"

namespace km::toolchain {
namespace {

// A grid's handle is the address of its workspace, whose second word counts arrivals. Each block
// adds 1, except that the first block adds the amount that makes the sum 2^31, so that the top bit
// flips when all blocks have arrived. A conditional node's handle is the address of its value.
constexpr std::string_view kPtx = R"(.version 6.0
.target sm_60
.address_size 64
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  mov.u32 %r1, %envreg2;
  mov.u32 %r2, %envreg1;
  mov.b64 %rd1, {%r1, %r2};
  st.param.b64 [handle], %rd1;
  ret;
}
.visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p<6>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  setp.eq.u64 %p1, %rd1, 0;
  mov.u32 %r1, 1;
  @%p1 bra done;
  mov.u32 %r1, 0;
  bar.sync 0;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %tid.y;
  mov.u32 %r4, %tid.z;
  or.b32 %r5, %r2, %r3;
  or.b32 %r5, %r5, %r4;
  setp.ne.u32 %p2, %r5, 0;
  @%p2 bra met;
  mov.u32 %r6, %ctaid.x;
  mov.u32 %r7, %ctaid.y;
  mov.u32 %r8, %ctaid.z;
  or.b32 %r9, %r6, %r7;
  or.b32 %r9, %r9, %r8;
  mov.u32 %r10, %nctaid.x;
  mov.u32 %r11, %nctaid.y;
  mov.u32 %r12, %nctaid.z;
  mul.lo.u32 %r13, %r10, %r11;
  mul.lo.u32 %r13, %r13, %r12;
  sub.u32 %r14, 0x80000001, %r13;
  setp.eq.u32 %p3, %r9, 0;
  selp.u32 %r15, %r14, 1, %p3;
  membar.gl;
  atom.add.u32 %r16, [%rd1+4], %r15;
wait:
  ld.volatile.u32 %r17, [%rd1+4];
  xor.b32 %r18, %r17, %r16;
  setp.ge.s32 %p4, %r18, 0;
  @%p4 bra wait;
  membar.gl;
met:
  bar.sync 0;
done:
  st.param.b32 [error], %r1;
  ret;
}
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  st.u32 [%rd1], %r1;
  ret;
}
)";

}  // namespace

/// Recognises the runtime by names in the archive's index that only it defines.
bool is_device_runtime(std::string_view archive) {
  constexpr size_t kHeadBytes = 4096;
  return archive.starts_with("!<arch>\n") &&
         archive.substr(0, kHeadBytes).find("cuda_device_runtime") != archive.npos;
}

bool is_device_runtime_text(std::string_view ptx) {
  return ptx.find("cuda_device_runtime_cu_") != ptx.npos;
}

std::string_view device_runtime_ptx() { return kPtx; }

bool is_device_runtime_function(std::string_view name) {
  return name.starts_with("cuda") || name.starts_with("__cudaCDP2");
}

}  // namespace km::toolchain
