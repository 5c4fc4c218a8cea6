/* Without a driver every call says so, and the names of errors are still there. */
#include "support.h"

int main(void) {
  int value = -1;
  void* memory = NULL;
  EXPECT(cudaErrorInsufficientDriver, cudaGetDeviceCount(&value));
  EXPECT(cudaErrorInsufficientDriver, cudaMalloc(&memory, 4));
  EXPECT(cudaErrorInsufficientDriver, launch_fill(NULL, 0, 0, NULL));
  EXPECT(cudaErrorInsufficientDriver, cudaGetLastError());
  OK(cudaDriverGetVersion(&value));
  if (value != 0) return 1;
  OK(cudaRuntimeGetVersion(&value));
  return value / 1000 == KM_CUDART_MAJOR ? 0 : 1;
}
