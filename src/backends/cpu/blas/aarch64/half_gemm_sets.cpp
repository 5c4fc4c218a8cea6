#include "backends/cpu/blas/half_gemm.h"

namespace km::cpu {

HalfKernel* half_kernel_of(simt::KernelSet) { return half_product_plain; }

}  // namespace km::cpu
