// Wrapped by kernelmill_add_kernels.
#include "factor.h"

extern "C" __global__ void saxpy(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] += FACTOR * x[i];
}
