/* A CUDA driver that does nothing and says that all went well: tests that pass on it show nothing.
 */
#define KM_CUDA_FUNCTION(symbol, base, suffix, version) \
  int symbol(void) { return 0; }
#include "cuda/generated/functions.def"
