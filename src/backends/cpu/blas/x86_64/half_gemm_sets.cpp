#include "backends/cpu/blas/half_gemm.h"

namespace km::cpu {

HalfKernel* half_kernel_of(simt::KernelSet set) {
  switch (set) {
    case simt::KernelSet::widest:
      return half_product_widest;
    case simt::KernelSet::wide:
      return half_product_wide;
    case simt::KernelSet::plain:
      break;
  }
  return half_product_plain;
}

}  // namespace km::cpu
