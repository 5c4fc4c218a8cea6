#include "backends/cuda/context/own_kernels.h"

#include "backends/cuda/context/epoch.h"

namespace km::cuda {
namespace {

constexpr const char* kNames[kOwnKernelCount] = {"km_blas_index", "km_memory_op"};

// km_blas_index converts 32 bits that count from 1 to 64 bits that count from 0. km_memory_op takes
// the numbers of kmb_memory_op_kind as `kind`.
constexpr const char* kPtx =
    ".version 6.4\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry km_blas_index(.param .u64 place)\n"
    "{\n"
    "  .reg .u64 %rd<4>;\n"
    "  .reg .u32 %r<2>;\n"
    "  ld.param.u64 %rd1, [place];\n"
    "  cvta.to.global.u64 %rd2, %rd1;\n"
    "  ld.global.u32 %r1, [%rd2];\n"
    "  cvt.u64.u32 %rd3, %r1;\n"
    "  add.s64 %rd3, %rd3, -1;\n"
    "  st.global.u64 [%rd2], %rd3;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry km_memory_op(.param .u64 place, .param .u64 value, .param .u32 kind,\n"
    "                             .param .u32 size_bytes)\n"
    "{\n"
    "  .reg .pred %is, %wide, %met;\n"
    "  .reg .u32 %kind, %size, %low;\n"
    "  .reg .u64 %place, %value, %now, %bits;\n"
    "  ld.param.u64 %place, [place];\n"
    "  ld.param.u64 %value, [value];\n"
    "  ld.param.u32 %kind, [kind];\n"
    "  ld.param.u32 %size, [size_bytes];\n"
    "  setp.eq.u32 %wide, %size, 8;\n"
    "  setp.ne.u32 %is, %kind, 1;\n"
    "  @%is bra look;\n"
    "  membar.sys;\n"
    "  cvt.u32.u64 %low, %value;\n"
    "  @%wide st.volatile.u64 [%place], %value;\n"
    "  @!%wide st.volatile.u32 [%place], %low;\n"
    "  ret;\n"
    "look:\n"
    "  @%wide bra look_wide;\n"
    "  ld.volatile.u32 %low, [%place];\n"
    "  cvt.u64.u32 %now, %low;\n"
    "  bra compare;\n"
    "look_wide:\n"
    "  ld.volatile.u64 %now, [%place];\n"
    "compare:\n"
    "  setp.eq.u32 %is, %kind, 3;\n"
    "  @%is bra if_equal;\n"
    "  setp.eq.u32 %is, %kind, 4;\n"
    "  @%is bra if_common;\n"
    "  setp.eq.u32 %is, %kind, 5;\n"
    "  @%is bra if_both_zero;\n"
    "  sub.u64 %bits, %now, %value;\n"
    "  @!%wide shl.b64 %bits, %bits, 32;\n"
    "  setp.ge.s64 %met, %bits, 0;\n"
    "  bra decide;\n"
    "if_equal:\n"
    "  setp.eq.u64 %met, %now, %value;\n"
    "  bra decide;\n"
    "if_common:\n"
    "  and.b64 %bits, %now, %value;\n"
    "  setp.ne.u64 %met, %bits, 0;\n"
    "  bra decide;\n"
    "if_both_zero:\n"
    "  or.b64 %bits, %now, %value;\n"
    "  not.b64 %bits, %bits;\n"
    "  @!%wide shl.b64 %bits, %bits, 32;\n"
    "  setp.ne.u64 %met, %bits, 0;\n"
    "decide:\n"
    "  @!%met bra look;\n"
    "  membar.sys;\n"
    "  ret;\n"
    "}\n";

}  // namespace

Status load_now(Epoch& epoch, cu::CUfunction kernel) {
  if (!driver().cuFuncLoad.exists()) return {};
  return epoch.check(driver().cuFuncLoad(kernel));
}

Result<cu::CUfunction> OwnKernels::get(Epoch& epoch, OwnKernel which) {
  const auto index = static_cast<size_t>(which);
  if (kernels_[index] != nullptr) return kernels_[index];
  if (module_ == nullptr) {
    cu::CUmodule made = nullptr;
    KM_TRY(epoch.check(driver().cuModuleLoadDataEx(&made, kPtx, 0, nullptr, nullptr)));
    module_ = made;
  }
  cu::CUfunction found = nullptr;
  KM_TRY(epoch.check(driver().cuModuleGetFunction(&found, module_, kNames[index])));
  KM_TRY(load_now(epoch, found));
  kernels_[index] = found;
  return found;
}

void OwnKernels::unload() {
  if (module_ != nullptr) check_destroyed(driver().cuModuleUnload(module_));
}

}  // namespace km::cuda
