#include "dropin/cublas/frame/kernels_ptx.h"

namespace km::cublas {
namespace {

constexpr char kPtx[] =
#include "dropin/cublas/generated/products.ptx.inc"
    ;

}  // namespace

library::KernelModule& product_kernels() {
  static library::KernelModule module(kPtx);
  return module;
}

const char* kernel_suffix(km_data_type type) {
  constexpr const char* kSuffixes[] = {nullptr, "f32", "f64", "c32", "c64"};
  return type >= 0 && type <= KM_DATA_TYPE_C64 ? kSuffixes[type] : nullptr;
}

}  // namespace km::cublas
