// A program that is linked with libcudart.so.12 and finds it by a path of its own.
#include <stdio.h>

int cudaRuntimeGetVersion(int* version);

int main(void) {
  int version = 0;
  if (cudaRuntimeGetVersion(&version) != 0) return 1;
  printf("%d\n", version);
  return 0;
}
